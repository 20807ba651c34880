/* SPDX-License-Identifier: BSD-3-Clause */
/* grid.c: columns. Cells are kept until all widths are known. What stands behind two blanks in the
 * last column is a remark: below the table where it would be folded at the end of a long line. */

#include "cmd/memquery/output/output.h"
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { LAST_MOST = 40 }; /* of the last column, for which others are left out */

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

static size_t length_without_remark(const char *cell)
{
    const char *remark = strstr(cell, "  ");

    return (remark == NULL) ? strlen(cell) : (size_t)(remark - cell);
}

static int width_of(const struct grid *grid, size_t column)
{
    size_t widest = 0;

    for (size_t i = column; i < grid->cell_count; i += grid->column_count) {
        size_t width = length_without_remark(grid->cells[i]);

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

/* Where the last column begins. */
static int start_of_last(const struct grid *grid, const int *widths)
{
    int start = 0;

    for (size_t i = 0; i + 1 < grid->column_count; i++) {
        start += (widths[i] > 0) ? widths[i] + 2 : 0;
    }
    return start;
}

/* What is too wide becomes narrower: widths of columns that are left out are 0. */
static void leave_out(const struct grid *grid, int *widths)
{
    size_t last = grid->column_count - 1;
    int total =
        start_of_last(grid, widths) + ((widths[last] < LAST_MOST) ? widths[last] : LAST_MOST);

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

/* A remark is folded where it stands only if that leaves a third of the line; as in fit.c. */
static bool remarks_go_below(const struct grid *grid, int start)
{
    bool too_wide = false;

    for (size_t i = grid->column_count - 1; i < grid->cell_count; i += grid->column_count) {
        too_wide = too_wide || (start + (int)strlen(grid->cells[i]) > limit);
    }
    return (limit > 0) && too_wide && (start > limit * 2 / 3);
}

static void print_remarks(const struct grid *grid, FILE *out)
{
    for (size_t i = grid->column_count - 1; i < grid->cell_count; i += grid->column_count) {
        const char *remark = strstr(grid->cells[i], "  ");

        if (remark != NULL) {
            fprintf(out, "%s %s: %s\n", grid->cells[i + 1 - grid->column_count],
                    grid->cells[i + 2 - grid->column_count], remark + 2);
        }
    }
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
    bool below;

    for (size_t i = 0; i < grid->column_count; i++) {
        widths[i] = width_of(grid, i);
    }
    leave_out(grid, widths);
    below = (grid->column_count > 1) && remarks_go_below(grid, start_of_last(grid, widths));
    for (size_t i = 0; i < grid->cell_count; i++) {
        size_t column = i % grid->column_count;

        if (column + 1 == grid->column_count) {
            fprintf(out, "%.*s\n",
                    (int)(below ? length_without_remark(grid->cells[i]) : strlen(grid->cells[i])),
                    grid->cells[i]);
        } else if (widths[column] > 0) {
            fprintf(out, "%*s  ", is_right(grid, column) ? widths[column] : -widths[column],
                    grid->cells[i]);
        }
    }
    if (grid->cell_count >= grid->column_count) {
        name_left_out(grid, widths, out);
    }
    if (below) {
        print_remarks(grid, out);
    }
    free(widths);
    grid_free(grid);
}
