/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMQUERY_FIT_H
#define MEMQUERY_FIT_H

/* Text folded to the width of the terminal. */

#include <stddef.h>
#include <stdio.h>

/* Columns of the terminal on standard output, or COLUMNS; 0 where it is no terminal. */
int fit_width(void);

/* Write the text in lines of at most @p width columns (0: unchanged), broken between words. The
 * rest of a line is indented to its last column where that leaves room, otherwise by four
 * blanks. */
void fit_write(FILE *file, const char *text, size_t size_bytes, int width);

#endif /* MEMQUERY_FIT_H */
