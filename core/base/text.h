/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_BASE_TEXT_H
#define MEMSPAN_CORE_BASE_TEXT_H

/* Parsing and printing of small texts: sizes, words, suggestions. No locale, no allocation. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Parse a byte count: a number, perhaps with a fraction (rounded up to bytes), then nothing or one
 * of k m g t (powers of 1024, either case), then nothing, "b" or "ib". False on anything else,
 * trailing characters and overflow included. */
bool msp_text_to_size(const char *text, size_t length, uint64_t *size_p);

/* Parse a decimal integer with an optional sign; the whole of the text must be it. */
bool msp_text_to_int(const char *text, size_t length, int *value_p);

/* How many single-character edits lead from a to b (Levenshtein), both at most 63 characters;
 * longer texts count as far away. */
unsigned msp_text_distance(const char *a, const char *b);

/* The candidate nearest to @p word, or NULL when none is near enough to be a misspelling of it.
 * @p next returns candidate i, NULL after the last. */
const char *msp_text_nearest(const char *word, const char *(*next)(size_t i));

/* "512 B", "64 KiB", "1.5 GiB": at most 3 digits and a unit. Returns @p buffer. */
const char *msp_text_from_size(char *buffer, size_t buffer_size, uint64_t size_bytes);

/* Append a formatted text at *used; never past the buffer; *used stays below its size. */
void msp_text_append(char *buffer, size_t buffer_size, size_t *used, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif /* MEMSPAN_CORE_BASE_TEXT_H */
