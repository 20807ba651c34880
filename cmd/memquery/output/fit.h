/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMQUERY_FIT_H
#define MEMQUERY_FIT_H

/* Text for a terminal that is narrower than its lines. */

#include <stddef.h>
#include <stdio.h>

/* Columns of the terminal that is standard output, or what COLUMNS says of it; 0 where standard
 * output is no terminal. */
int fit_width(void);

/* Write the text with lines of at most @p width columns (0: as they are), broken between words.
 * What is left of a line stands under its last column where that leaves room, else four blanks in.
 */
void fit_write(FILE *file, const char *text, size_t size_bytes, int width);

#endif /* MEMQUERY_FIT_H */
