/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/base/text.h"
#include <ctype.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool unit_shift(const char *text, size_t length, unsigned *shift_p)
{
    static const char letters[] = "kmgt";
    const char *letter;

    *shift_p = 0;
    if (length == 0) {
        return true;
    }
    letter = memchr(letters, tolower((unsigned char)text[0]), sizeof(letters) - 1);
    if (letter != NULL) {
        *shift_p = 10 * (unsigned)(letter - letters + 1);
        text++;
        length--;
    }
    return (length == 0) || ((length == 1) && (strncasecmp(text, "b", 1) == 0)) ||
           ((letter != NULL) && (length == 2) && (strncasecmp(text, "ib", 2) == 0));
}

/* Digits behind a point; how many there are. From the last on: exact for sums of powers of two. */
static size_t read_fraction(const char *text, size_t length, long double *fraction_p)
{
    size_t count = 0;
    size_t i;

    while ((count < length) && isdigit((unsigned char)text[count])) {
        count++;
    }
    *fraction_p = 0;
    for (i = count; i > 0; i--) {
        *fraction_p = (*fraction_p + (long double)(text[i - 1] - '0')) / 10;
    }
    return count;
}

bool msp_text_to_size(const char *text, size_t length, uint64_t *size_p)
{
    long double fraction = 0;
    uint64_t value       = 0;
    uint64_t more;
    unsigned shift;
    size_t digits;
    size_t i;

    for (i = 0; (i < length) && isdigit((unsigned char)text[i]); i++) {
        unsigned digit = (unsigned)(text[i] - '0');
        if (value > (UINT64_MAX - digit) / 10) {
            return false;
        }
        value = value * 10 + digit;
    }
    digits = i;
    if ((i < length) && (text[i] == '.')) {
        digits += read_fraction(text + i + 1, length - i - 1, &fraction);
        i = digits + 1;
    }
    if ((digits == 0) || !unit_shift(text + i, length - i, &shift) ||
        (value > (UINT64_MAX >> shift))) {
        return false;
    }
    fraction *= (long double)(UINT64_C(1) << shift);
    more = (uint64_t)fraction;
    more += ((long double)more < fraction) ? 1 : 0;
    value <<= shift;
    if (more > UINT64_MAX - value) {
        return false;
    }
    *size_p = value + more;
    return true;
}

bool msp_text_to_int(const char *text, size_t length, int *value_p)
{
    bool negative = (length > 0) && (text[0] == '-');
    long value    = 0;
    size_t i      = ((length > 0) && ((text[0] == '-') || (text[0] == '+'))) ? 1 : 0;

    if (i == length) {
        return false;
    }
    for (; i < length; i++) {
        if (!isdigit((unsigned char)text[i])) {
            return false;
        }
        value = value * 10 + (text[i] - '0');
        if (value > (long)INT_MAX + 1) {
            return false;
        }
    }
    value = negative ? -value : value;
    if (value > INT_MAX) {
        return false;
    }
    *value_p = (int)value;
    return true;
}

unsigned msp_text_distance(const char *a, const char *b)
{
    enum { LONGEST = 63 };
    unsigned row[LONGEST + 1];
    size_t a_length = strlen(a);
    size_t b_length = strlen(b);
    size_t i;
    size_t j;

    if ((a_length > LONGEST) || (b_length > LONGEST)) {
        return UINT_MAX;
    }
    for (j = 0; j <= b_length; j++) {
        row[j] = (unsigned)j;
    }
    for (i = 1; i <= a_length; i++) {
        unsigned diagonal = row[0];
        row[0]            = (unsigned)i;
        for (j = 1; j <= b_length; j++) {
            unsigned change =
                diagonal + (tolower((unsigned char)a[i - 1]) != tolower((unsigned char)b[j - 1]));
            unsigned best = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal      = row[j];
            row[j]        = (change < best) ? change : best;
        }
    }
    return row[b_length];
}

const char *msp_text_nearest(const char *word, const char *(*next)(size_t i))
{
    const char *nearest = NULL;
    unsigned best       = UINT_MAX;
    const char *candidate;
    size_t i;

    for (i = 0; (candidate = next(i)) != NULL; i++) {
        unsigned distance = msp_text_distance(word, candidate);
        if (distance < best) {
            best    = distance;
            nearest = candidate;
        }
    }
    /* A third of the word may be wrong before a suggestion stops helping. */
    return ((nearest != NULL) && (best <= 1 + strlen(word) / 3)) ? nearest : NULL;
}

const char *msp_text_from_size(char *buffer, size_t buffer_size, uint64_t size_bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value                     = (double)size_bytes;
    size_t unit                      = 0;

    if (size_bytes == UINT64_MAX) {
        snprintf(buffer, buffer_size, "unknown");
        return buffer;
    }
    while ((value >= 1024.0) && (unit + 1 < sizeof(units) / sizeof(units[0]))) {
        value /= 1024.0;
        unit++;
    }
    if (value == (double)(uint64_t)value) {
        snprintf(buffer, buffer_size, "%.0f %s", value, units[unit]);
    } else {
        snprintf(buffer, buffer_size, (value < 9.995) ? "%.2f %s" : "%.1f %s", value, units[unit]);
    }
    return buffer;
}

void msp_text_append(char *buffer, size_t buffer_size, size_t *used, const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(buffer + *used, buffer_size - *used, format, args);
    va_end(args);
    if (n > 0) {
        *used += (size_t)n;
        if (*used >= buffer_size) {
            *used = buffer_size - 1;
        }
    }
}
