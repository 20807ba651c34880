/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMQUERY_TEXT_H
#define MEMQUERY_TEXT_H

/* Small texts: memory that is there, appending, sizes, suggestions. */

#include "cmd/common/message.h"
#include <memspan/memspan.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What memquery's exit code says. Kept in step with the manual page. */
enum exit_code {
    EXIT_YES    = 0, /* printed; what was asked about is there */
    EXIT_ABSENT = 1, /* what was asked about is not there */
    EXIT_USAGE  = 2, /* the question makes no sense */
    EXIT_PROBE  = 3, /* a driver crashed or did not answer */
    EXIT_CONDITIONAL =
        4,           /* there, but as an alias, under a condition, or without all of the traits */
    EXIT_UNKNOWN = 5 /* it may be there: the quantity that decides is not known */
};

/* Zeroed memory; ends the process with EXIT_PROBE when there is none. */
void *text_calloc(size_t count, size_t size_bytes);

/* The array with room for @p count + 1 elements, grown in powers of two; the rest is zero. */
void *text_grow(void *array, size_t count, size_t size_bytes);

/* Append to a text of fixed size; cuts what does not fit. */
void text_append(char *text, size_t size_bytes, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "5 B", "64 KiB", "23.5 GiB"; "?" for MEMSPAN_UNKNOWN. */
struct text_size {
    char text[24];
};
struct text_size text_from_size(uint64_t size_bytes);

/* The number in digits. */
struct text_size text_from_int(long long value);

/* The same always in GiB, one digit behind the point, without the unit. */
struct text_size text_from_gib(uint64_t size_bytes);

/* A byte count: digits and k, m, g or t (powers of 1024), or nothing. */
bool text_to_size(const char *text, uint64_t *size_p);

/* A decimal integer with an optional sign; the whole of the text. */
bool text_to_int(const char *text, int *value_p);

/* Replace what is not printable ASCII by '?', in place: drivers name themselves as they like. */
void text_clean(char *text);

/* A list of names that grows: what a word may be, for suggestions. */
struct text_list {
    const char **items;
    size_t count;
};
void text_list_add(struct text_list *list, const char *item);
bool text_list_has(const struct text_list *list, const char *item);

/* Say that @p word is no @p what, with the nearest of @p list; returns EXIT_USAGE. */
int text_unknown(const char *what, const char *word, const struct text_list *list);

#endif /* MEMQUERY_TEXT_H */
