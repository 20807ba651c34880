/* SPDX-License-Identifier: BSD-3-Clause */
/* table.c: columns. Cells are kept until all widths are known. Text behind two blanks in the last
 * column is a remark: below the table where it would be folded at the end of a long line. */

#include "cmd/common/cli.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { LAST_MOST = 40 }; /* of the last column, for which others are left out */

static int limit;

void cli_table_limit(int width)
{
    limit = width;
}

void cli_table_open(struct cli_table *table, const char *align)
{
    *table = (struct cli_table){.column_count = strlen(align),
                                .align        = cli_calloc(strlen(align) + 1, 1)};
    strcpy(table->align, align);
}

void cli_table_add(struct cli_table *table, const char *format, ...)
{
    char cell[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(cell, sizeof(cell), format, args);
    va_end(args);
    cli_clean(cell);

    table->cells = cli_grow(table->cells, table->cell_count, sizeof(table->cells[0]));
    table->cells[table->cell_count] = cli_calloc(strlen(cell) + 2, 1);
    strcpy(table->cells[table->cell_count++], (cell[0] == '\0') ? "-" : cell);
}

void cli_table_add_row(struct cli_table *table, const char *const *words)
{
    for (size_t i = 0; i < table->column_count; i++) {
        cli_table_add(table, "%s", words[i]);
    }
}

static size_t length_without_remark(const char *cell)
{
    const char *remark = strstr(cell, "  ");

    return (remark == NULL) ? strlen(cell) : (size_t)(remark - cell);
}

static int width_of(const struct cli_table *table, size_t column)
{
    size_t widest = 0;

    for (size_t i = column; i < table->cell_count; i += table->column_count) {
        size_t width = length_without_remark(table->cells[i]);

        widest = (width > widest) ? width : widest;
    }
    return (int)widest;
}

/* No row but the head has a word there. */
static bool is_empty(const struct cli_table *table, size_t column)
{
    for (size_t i = column + table->column_count; i < table->cell_count; i += table->column_count) {
        if (strcmp(table->cells[i], "-") != 0) {
            return false;
        }
    }
    return true;
}

static bool is_right(const struct cli_table *table, size_t column)
{
    return (table->align[column] == 'r') || (table->align[column] == 'R');
}

static bool is_minor(const struct cli_table *table, size_t column)
{
    return (table->align[column] == 'L') || (table->align[column] == 'R');
}

/* Where the last column begins. */
static int start_of_last(const struct cli_table *table, const int *widths)
{
    int start = 0;

    for (size_t i = 0; i + 1 < table->column_count; i++) {
        start += (widths[i] > 0) ? widths[i] + 2 : 0;
    }
    return start;
}

/* Columns that are too wide become narrower: widths of columns that are left out are 0. */
static void leave_out(const struct cli_table *table, int *widths)
{
    size_t last = table->column_count - 1;
    int total =
        start_of_last(table, widths) + ((widths[last] < LAST_MOST) ? widths[last] : LAST_MOST);

    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = last; (i-- > 1) && (limit > 0) && (total > limit);) {
            if ((widths[i] > 0) && ((pass == 0) ? is_empty(table, i) : is_minor(table, i))) {
                total -= widths[i] + 2;
                widths[i] = 0;
            }
        }
    }
}

static void name_left_out(const struct cli_table *table, const int *widths, FILE *out)
{
    const char *before = "not shown at this width:";

    for (size_t i = 0; i < table->column_count; i++) {
        if (widths[i] == 0) {
            fprintf(out, "%s %s", before, table->cells[i]);
            before = "";
        }
    }
    fputs((before[0] == '\0') ? "\n" : "", out);
}

/* A remark is folded where it stands only if that leaves a third of the line; as in text.c. */
static bool remarks_go_below(const struct cli_table *table, int start)
{
    bool too_wide = false;

    for (size_t i = table->column_count - 1; i < table->cell_count; i += table->column_count) {
        too_wide = too_wide || (start + (int)strlen(table->cells[i]) > limit);
    }
    return (limit > 0) && too_wide && (start > limit * 2 / 3);
}

static void print_remarks(const struct cli_table *table, FILE *out)
{
    for (size_t i = table->column_count - 1; i < table->cell_count; i += table->column_count) {
        const char *remark = strstr(table->cells[i], "  ");

        if (remark != NULL) {
            fprintf(out, "%s %s: %s\n", table->cells[i + 1 - table->column_count],
                    table->cells[i + 2 - table->column_count], remark + 2);
        }
    }
}

void cli_table_free(struct cli_table *table)
{
    for (size_t i = 0; i < table->cell_count; i++) {
        free(table->cells[i]);
    }
    free(table->cells);
    free(table->align);
    *table = (struct cli_table){0};
}

/* A row of the first column and those from @p first to @p end. */
static void print_row(const struct cli_table *table, const int *widths, size_t row, size_t first,
                      size_t end, bool without_remark, FILE *out)
{
    for (size_t i = 0; i < end; i = ((i == 0) && (first > 0)) ? first : (i + 1)) {
        const char *cell = table->cells[row * table->column_count + i];
        bool last        = (i + 1 == end);
        size_t length    = (last && without_remark) ? length_without_remark(cell) : strlen(cell);
        int padding      = is_right(table, i) ? widths[i] : (last ? 0 : -widths[i]);

        if ((widths[i] > 0) || last) {
            fprintf(out, "%*.*s%s", padding, (int)length, cell, last ? "\n" : "  ");
        }
    }
}

static int *measure_columns(const struct cli_table *table)
{
    int *widths = cli_calloc(table->column_count, sizeof(widths[0]));

    for (size_t i = 0; i < table->column_count; i++) {
        widths[i] = width_of(table, i);
    }
    return widths;
}

void cli_table_close(struct cli_table *table, FILE *out)
{
    int *widths      = measure_columns(table);
    size_t row_count = table->cell_count / table->column_count;
    bool below;

    leave_out(table, widths);
    below = (table->column_count > 1) && remarks_go_below(table, start_of_last(table, widths));
    for (size_t row = 0; row < row_count; row++) {
        print_row(table, widths, row, 0, table->column_count, below, out);
    }
    if (row_count > 0) {
        name_left_out(table, widths, out);
    }
    if (below) {
        print_remarks(table, out);
    }
    free(widths);
    cli_table_free(table);
}

/* The column behind the last that fits beside the first one. */
static size_t last_fitting(const struct cli_table *table, const int *widths, size_t first)
{
    int used = widths[0];
    size_t i;

    for (i = (first == 0) ? 1 : first; i < table->column_count; i++) {
        used += 2 + widths[i];
        if ((limit > 0) && (used > limit) && (i > first) && (i > 1)) {
            break;
        }
    }
    return i;
}

void cli_table_close_parts(struct cli_table *table, FILE *out)
{
    int *widths      = measure_columns(table);
    size_t row_count = table->cell_count / table->column_count;
    size_t end;

    for (size_t first = 0; first < table->column_count; first = end) {
        end = last_fitting(table, widths, first);
        fputs((first > 0) ? "\n" : "", out);
        for (size_t row = 0; row < row_count; row++) {
            print_row(table, widths, row, first, end, false, out);
        }
    }
    free(widths);
    cli_table_free(table);
}
