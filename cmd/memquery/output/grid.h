/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMQUERY_GRID_H
#define MEMQUERY_GRID_H

/* Rows of words in columns as wide as their widest word. */

#include <stddef.h>
#include <stdio.h>

struct grid {
    size_t column_count;
    char *align; /* one 'l' or 'r' per column; the last column is never padded */
    char **cells;
    size_t cell_count;
};

/* @p align has one letter per column. */
void grid_open(struct grid *grid, const char *align);

/* Fill the next cell, left to right, row by row. An empty word is shown as "-". */
void grid_add(struct grid *grid, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Free the grid without printing it. */
void grid_free(struct grid *grid);

/* Print the rows and free the grid. */
void grid_close(struct grid *grid, FILE *out);

#endif /* MEMQUERY_GRID_H */
