/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMQUERY_GRID_H
#define MEMQUERY_GRID_H

/* Rows of words in columns as wide as their widest word. On a terminal that is narrower, columns
 * without a value are left out, then minor ones from the right, and a line names them. Remarks of
 * the last column, which stand behind two blanks, follow the table where they have no room in it.
 */

#include <stddef.h>
#include <stdio.h>

struct grid {
    size_t column_count;
    char *align; /* one 'l' or 'r' per column, 'L' or 'R' a minor one; the last is never padded */
    char **cells;
    size_t cell_count;
};

/* The width of the terminal, for all grids; 0: none. */
void grid_limit(int width);

/* @p align has one letter per column. */
void grid_open(struct grid *grid, const char *align);

/* Fill the next cell, left to right, row by row. An empty word is shown as "-". */
void grid_add(struct grid *grid, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Free the grid without printing it. */
void grid_free(struct grid *grid);

/* Print the rows and free the grid. */
void grid_close(struct grid *grid, FILE *out);

#endif /* MEMQUERY_GRID_H */
