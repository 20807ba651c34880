/* SPDX-License-Identifier: BSD-3-Clause */
/* core/base/text.h: sizes, integers, and how alike words are. Each answer is compared with one that
 * is found otherwise. */

#include "core/base/text.h"
#include "fuzz.h"
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <strings.h>

/* What text.h says of sizes, by the system's parser. */
static bool size_by_system(const char *text, uint64_t *size_p)
{
    static const char *const units[] = {"", "k", "m", "g", "t"};
    size_t whole                     = strspn(text, "0123456789");
    size_t length                    = whole;
    long double part;
    uint64_t value;
    char *behind;

    if (text[whole] == '.') {
        length += 1 + strspn(text + whole + 1, "0123456789");
    }
    if (!isdigit((unsigned char)text[(text[0] == '.') ? 1 : 0])) {
        return false;
    }
    errno  = 0;
    value  = (whole > 0) ? strtoull(text, NULL, 10) : 0;
    behind = strndup(text + whole, length - whole); /* without the exponent of strtold() */
    HOLDS(behind != NULL);
    part = strtold(behind, NULL);
    free(behind);
    for (unsigned i = 0; (errno == 0) && (i < sizeof(units) / sizeof(units[0])); i++) {
        const char *end = text + length + strlen(units[i]);
        if ((strncasecmp(text + length, units[i], strlen(units[i])) == 0) &&
            ((end[0] == '\0') || (strcasecmp(end, "b") == 0) ||
             ((i > 0) && (strcasecmp(end, "ib") == 0)))) {
            uint64_t more = (uint64_t)ceill(part * (long double)(UINT64_C(1) << (10 * i)));
            *size_p       = (value << (10 * i)) + more;
            return (value <= (UINT64_MAX >> (10 * i))) && (*size_p >= more);
        }
    }
    return false;
}

static bool int_by_system(const char *text, int *value_p)
{
    char *end;
    long value;

    if (!isdigit((unsigned char)text[0]) && (text[0] != '-') && (text[0] != '+')) {
        return false;
    }
    errno = 0;
    value = strtol(text, &end, 10);
    if ((errno != 0) || (*end != '\0') || (end == text) || (value < INT_MIN) || (value > INT_MAX)) {
        return false;
    }
    *value_p = (int)value;
    return true;
}

static void check_numbers(const char *text)
{
    uint64_t size     = 7;
    uint64_t size_too = 7;
    int value         = 7;
    int value_too     = 7;

    HOLDS(msp_text_to_size(text, strlen(text), &size) == size_by_system(text, &size_too));
    /* A fraction may be rounded otherwise. */
    HOLDS((size == 7) || (size - size_too + 1 <= 2));
    HOLDS(msp_text_to_int(text, strlen(text), &value) == int_by_system(text, &value_too));
    HOLDS(value == value_too);
}

/* Without a zero byte at its end; a parser that looks for one is seen by the sanitizer. */
static void check_ends(const uint8_t *data, size_t size)
{
    char *exact = malloc((size == 0) ? 1 : size);
    uint64_t bytes;
    int value;

    HOLDS(exact != NULL);
    if (size > 0) {
        memcpy(exact, data, size);
    }
    msp_text_to_size(exact, size, &bytes);
    msp_text_to_int(exact, size, &value);
    free(exact);
}

static const char *word_given;

static const char *next_word(size_t i)
{
    return (i == 0) ? "omp_default_mem_alloc" : (i == 1) ? word_given : NULL;
}

/* The text up to the first comma, and what follows it. */
static void check_words(char *a)
{
    char *comma   = strchr(a, ',');
    const char *b = (comma == NULL) ? "pool_size" : comma + 1;
    size_t a_length;
    size_t b_length = strlen(b);
    unsigned distance;

    if (comma != NULL) {
        *comma = '\0';
    }
    a_length = strlen(a);
    distance = msp_text_distance(a, b);
    HOLDS(distance == msp_text_distance(b, a));
    if ((a_length > 63) || (b_length > 63)) {
        HOLDS(distance == UINT_MAX);
    } else {
        HOLDS(distance <= ((a_length > b_length) ? a_length : b_length));
        HOLDS(distance >= ((a_length > b_length) ? a_length - b_length : b_length - a_length));
        HOLDS((distance == 0) == (strcasecmp(a, b) == 0));
    }
    word_given = b;
    if (distance == 0) {
        const char *nearest = msp_text_nearest(a, next_word);
        HOLDS((nearest != NULL) && (strcasecmp(nearest, a) == 0));
    }
}

static void check_printing(const uint8_t *data, size_t size, const char *text)
{
    size_t room    = 1 + ((size > 0) ? data[0] % 40u : 0);
    char *buffer   = malloc(room);
    size_t used    = 0;
    uint64_t bytes = 0;

    HOLDS(buffer != NULL);
    memcpy(&bytes, data, (size < sizeof(bytes)) ? size : sizeof(bytes));
    buffer[0] = '\0';
    for (int i = 0; i < 3; i++) {
        msp_text_append(buffer, room, &used, "%s/%d", text, i);
        HOLDS(used < room);
        HOLDS(strlen(buffer) == used);
    }
    HOLDS(msp_text_from_size(buffer, room, bytes) == buffer);
    HOLDS(strlen(buffer) < room);
    free(buffer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t none;
    char *text;

    data = (size == 0) ? &none : data;
    text = fuzz_string(data, size);
    check_numbers(text);
    check_ends(data, size);
    check_printing(data, size, text);
    check_words(text);
    free(text);
    return 0;
}
