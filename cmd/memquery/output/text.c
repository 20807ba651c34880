/* SPDX-License-Identifier: BSD-3-Clause */
/* text.c: text helpers. memquery uses the public headers of the library alone, to prove that
 * they suffice; so these are its own. */

#include "cmd/memquery/output/output.h"
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *check(void *memory)
{
    if (memory == NULL) {
        cli_complain("out of memory");
        exit(EXIT_PROBE);
    }
    return memory;
}

void *text_calloc(size_t count, size_t size_bytes)
{
    return check(calloc((count == 0) ? 1 : count, size_bytes));
}

void *text_grow(void *array, size_t count, size_t size_bytes)
{
    size_t room = (count == 0) ? 4 : (2 * count);

    if ((count != 0) && ((count < 4) || ((count & (count - 1)) != 0))) {
        return array;
    }
    array = check(reallocarray(array, room, size_bytes));
    memset((char *)array + (count * size_bytes), 0, (room - count) * size_bytes);
    return array;
}

void text_append(char *text, size_t size_bytes, const char *format, ...)
{
    size_t used = strlen(text);
    va_list args;

    va_start(args, format);
    vsnprintf(text + used, size_bytes - used, format, args);
    va_end(args);
}

struct text_size text_from_size(uint64_t size_bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    struct text_size size;
    double value = (double)size_bytes;
    size_t unit  = 0;

    if (size_bytes == MEMSPAN_UNKNOWN) {
        snprintf(size.text, sizeof(size.text), "?");
        return size;
    }
    while ((value >= 1024) && (unit + 1 < sizeof(units) / sizeof(units[0]))) {
        value /= 1024;
        unit++;
    }
    snprintf(size.text, sizeof(size.text), "%.*f %s", (value == (double)(uint64_t)value) ? 0 : 1,
             value, units[unit]);
    return size;
}

struct text_size text_from_int(long long value)
{
    struct text_size size;

    snprintf(size.text, sizeof(size.text), "%lld", value);
    return size;
}

struct text_size text_from_gib(uint64_t size_bytes)
{
    struct text_size size;

    if (size_bytes == MEMSPAN_UNKNOWN) {
        snprintf(size.text, sizeof(size.text), "?");
    } else {
        snprintf(size.text, sizeof(size.text), "%.1f",
                 (double)size_bytes / (double)(UINT64_C(1) << 30));
    }
    return size;
}

bool text_to_size(const char *text, uint64_t *size_p)
{
    static const char letters[] = "kmgt";
    const char *letter;
    unsigned shift = 0;
    uint64_t value;
    char *end;

    if (!isdigit((unsigned char)text[0])) {
        return false;
    }
    errno = 0;
    value = strtoumax(text, &end, 10);
    if (errno != 0) {
        return false;
    }
    if ((*end != '\0') && ((letter = strchr(letters, tolower((unsigned char)*end))) != NULL)) {
        shift = 10 * (unsigned)(letter - letters + 1);
        end++;
    }
    if ((*end != '\0') || ((value << shift) >> shift != value)) {
        return false;
    }
    *size_p = value << shift;
    return true;
}

bool text_to_int(const char *text, int *value_p)
{
    char *end;
    long value;

    if (!isdigit((unsigned char)text[(text[0] == '-') ? 1 : 0])) {
        return false;
    }
    errno = 0;
    value = strtol(text, &end, 10);
    if ((errno != 0) || (*end != '\0') || (value < INT_MIN) || (value > INT_MAX)) {
        return false;
    }
    *value_p = (int)value;
    return true;
}

void text_clean(char *text)
{
    for (; *text != '\0'; text++) {
        if (((unsigned char)*text < ' ') || ((unsigned char)*text > '~')) {
            *text = '?';
        }
    }
}

void text_list_add(struct text_list *list, const char *item)
{
    list->items                = text_grow(list->items, list->count, sizeof(list->items[0]));
    list->items[list->count++] = item;
}

bool text_list_has(const struct text_list *list, const char *item)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->items[i], item) == 0) {
            return true;
        }
    }
    return false;
}

int text_unknown(const char *what, const char *word, const struct text_list *list)
{
    const char *nearest = cli_nearest(word, list->items, list->count);

    if (nearest != NULL) {
        cli_complain("unknown %s \"%s\"; did you mean \"%s\"?", what, word, nearest);
    } else {
        char known[512] = "";

        for (size_t i = 0; i < list->count; i++) {
            text_append(known, sizeof(known), "%s%s", (i == 0) ? "" : ", ", list->items[i]);
        }
        cli_complain("unknown %s \"%s\"; known: %s", what, word, known);
    }
    return EXIT_USAGE;
}
