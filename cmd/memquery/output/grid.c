/* SPDX-License-Identifier: BSD-3-Clause */
/* grid.c: columns. Cells are kept until all widths are known. */

#include "cmd/memquery/output/grid.h"
#include "cmd/memquery/output/text.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void grid_open(struct grid *grid, const char *align)
{
    *grid =
        (struct grid){.column_count = strlen(align), .align = text_calloc(strlen(align) + 1, 1)};
    strcpy(grid->align, align);
}

void grid_add(struct grid *grid, const char *format, ...)
{
    char cell[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(cell, sizeof(cell), format, args);
    va_end(args);
    text_clean(cell);

    grid->cells = text_grow(grid->cells, grid->cell_count, sizeof(grid->cells[0]));
    grid->cells[grid->cell_count] = text_calloc(strlen(cell) + 2, 1);
    strcpy(grid->cells[grid->cell_count++], (cell[0] == '\0') ? "-" : cell);
}

static int width_of(const struct grid *grid, size_t column)
{
    size_t widest = 0;

    for (size_t i = column; i < grid->cell_count; i += grid->column_count) {
        size_t width = strlen(grid->cells[i]);

        widest = (width > widest) ? width : widest;
    }
    return (int)widest;
}

void grid_free(struct grid *grid)
{
    for (size_t i = 0; i < grid->cell_count; i++) {
        free(grid->cells[i]);
    }
    free(grid->cells);
    free(grid->align);
    *grid = (struct grid){0};
}

void grid_close(struct grid *grid, FILE *out)
{
    int *widths = text_calloc(grid->column_count, sizeof(widths[0]));

    for (size_t i = 0; i < grid->column_count; i++) {
        widths[i] = (grid->align[i] == 'r') ? width_of(grid, i) : -width_of(grid, i);
    }
    for (size_t i = 0; i < grid->cell_count; i++) {
        size_t column = i % grid->column_count;

        if (column + 1 == grid->column_count) {
            fprintf(out, "%s\n", grid->cells[i]);
        } else {
            fprintf(out, "%*s  ", widths[column], grid->cells[i]);
        }
    }
    free(widths);
    grid_free(grid);
}
