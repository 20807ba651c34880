/* SPDX-License-Identifier: BSD-3-Clause */
/* grid.c: columns. Cells are kept until all widths are known. */

#include "cmd/memquery/output/grid.h"
#include "cmd/memquery/output/text.h"
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { LAST_LEAST = 12 }; /* of the last column, which is folded */

static int limit;

void grid_limit(int width)
{
    limit = width;
}

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

/* No row but the head has a word there. */
static bool is_empty(const struct grid *grid, size_t column)
{
    for (size_t i = column + grid->column_count; i < grid->cell_count; i += grid->column_count) {
        if (strcmp(grid->cells[i], "-") != 0) {
            return false;
        }
    }
    return true;
}

static bool is_right(const struct grid *grid, size_t column)
{
    return (grid->align[column] == 'r') || (grid->align[column] == 'R');
}

static bool is_minor(const struct grid *grid, size_t column)
{
    return (grid->align[column] == 'L') || (grid->align[column] == 'R');
}

/* What is too wide becomes narrower: widths of columns that are left out are 0. */
static void leave_out(const struct grid *grid, int *widths)
{
    size_t last = grid->column_count - 1;
    int total   = (widths[last] < LAST_LEAST) ? widths[last] : LAST_LEAST;

    for (size_t i = 0; i < last; i++) {
        total += widths[i] + 2;
    }
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = last; (i-- > 1) && (limit > 0) && (total > limit);) {
            if ((widths[i] > 0) && ((pass == 0) ? is_empty(grid, i) : is_minor(grid, i))) {
                total -= widths[i] + 2;
                widths[i] = 0;
            }
        }
    }
}

static void name_left_out(const struct grid *grid, const int *widths, FILE *out)
{
    const char *before = "not shown at this width:";

    for (size_t i = 0; i < grid->column_count; i++) {
        if (widths[i] == 0) {
            fprintf(out, "%s %s", before, grid->cells[i]);
            before = "";
        }
    }
    fputs((before[0] == '\0') ? "\n" : "", out);
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
        widths[i] = width_of(grid, i);
    }
    leave_out(grid, widths);
    for (size_t i = 0; i < grid->cell_count; i++) {
        size_t column = i % grid->column_count;

        if (column + 1 == grid->column_count) {
            fprintf(out, "%s\n", grid->cells[i]);
        } else if (widths[column] > 0) {
            fprintf(out, "%*s  ", is_right(grid, column) ? widths[column] : -widths[column],
                    grid->cells[i]);
        }
    }
    if (grid->cell_count >= grid->column_count) {
        name_left_out(grid, widths, out);
    }
    free(widths);
    grid_free(grid);
}
