/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMQUERY_TEXT_H
#define MEMQUERY_TEXT_H

/* Checked allocation, sizes as text, name lists with suggestions. */

#include "cmd/common/message.h"
#include <memspan/memspan.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exit codes, as in the manual page. */
enum exit_code {
    EXIT_YES    = 0, /* printed; what was asked for is available */
    EXIT_ABSENT = 1, /* it is not available */
    EXIT_USAGE  = 2, /* malformed command line */
    EXIT_PROBE  = 3, /* a driver crashed or did not answer */
    EXIT_CONDITIONAL =
        4,           /* available as an alias, under a condition, or without all of the traits */
    EXIT_UNKNOWN = 5 /* the deciding quantity is unknown */
};

/* Zeroed memory; without memory the process ends with EXIT_PROBE. */
void *text_calloc(size_t count, size_t size_bytes);

/* The array with room for @p count + 1 elements, grown in powers of two; the rest is zero. */
void *text_grow(void *array, size_t count, size_t size_bytes);

/* Append to a text of fixed size, truncating it. */
void text_append(char *text, size_t size_bytes, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "5 B", "64 KiB", "23.5 GiB"; "?" for MEMSPAN_UNKNOWN. */
struct text_size {
    char text[24];
};
struct text_size text_from_size(uint64_t size_bytes);

/* The number in decimal. */
struct text_size text_from_int(long long value);

/* In GiB with one digit after the point, without the unit. */
struct text_size text_from_gib(uint64_t size_bytes);

/* A byte count: digits, then k, m, g or t (powers of 1024) or nothing. */
bool text_to_size(const char *text, uint64_t *size_p);

/* A decimal integer with an optional sign, without trailing text. */
bool text_to_int(const char *text, int *value_p);

/* Replace unprintable and non-ASCII bytes by '?', in place: driver texts are arbitrary. */
void text_clean(char *text);

/* A list of names, for suggestions. */
struct text_list {
    const char **items;
    size_t count;
};
void text_list_add(struct text_list *list, const char *item);
bool text_list_has(const struct text_list *list, const char *item);

/* Report an unknown @p what, with the nearest of @p list; returns EXIT_USAGE. */
int text_unknown(const char *what, const char *word, const struct text_list *list);

#endif /* MEMQUERY_TEXT_H */
