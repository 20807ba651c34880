/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/common/table.h"
#include "cmd/common/cli.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

void bench_table_init(struct bench_table *table, const struct bench_table_column *columns,
                      size_t column_count)
{
    memset(table, 0, sizeof(*table));
    table->columns      = columns;
    table->column_count = column_count;
}

void bench_table_release(struct bench_table *table)
{
    free(table->cells);
    table->cells     = NULL;
    table->row_count = 0;
}

char (*bench_table_row(struct bench_table *table))[BENCH_TABLE_CELL_SIZE]
{
    size_t row_size = table->column_count * sizeof(table->cells[0]);

    if (table->row_count == table->row_capacity) {
        size_t capacity = (table->row_capacity == 0) ? 32 : 2 * table->row_capacity;
        void *cells     = realloc(table->cells, capacity * row_size);
        if (cells == NULL) {
            return NULL;
        }
        table->cells        = cells;
        table->row_capacity = capacity;
    }
    memset(table->cells + table->row_count * table->column_count, 0, row_size);
    return table->cells + table->row_count++ * table->column_count;
}

static int column_width(const struct bench_table *table, size_t column)
{
    size_t width = strlen(table->columns[column].title);

    for (size_t row = 0; row < table->row_count; row++) {
        size_t length = strlen(table->cells[row * table->column_count + column]);
        width         = (length > width) ? length : width;
    }
    return (int)width;
}

static void print_cell(FILE *stream, const char *text, int width, bool right, bool last)
{
    /* No blanks at a line's end. */
    int padding = right ? width : (last ? 0 : -width);

    fprintf(stream, "%*s", padding, text);
    fputs(last ? "\n" : "  ", stream);
}

/* Columns of the stream's terminal, or what COLUMNS says of it; 0 where it is none. */
static size_t terminal_width(FILE *stream)
{
    const char *columns = cli_environment(CLI_COLUMNS);
    struct winsize size = {0};
    char *end           = NULL;
    long width          = 0;

    if (!isatty(fileno(stream))) {
        return 0;
    }
    if (columns != NULL) {
        width = strtol(columns, &end, 10);
    }
    if ((end == NULL) || (*end != '\0') || (width <= 0)) {
        width = (ioctl(fileno(stream), TIOCGWINSZ, &size) == 0) ? size.ws_col : 0;
    }
    return (width > 0) ? (size_t)width : 0;
}

/* The column behind the last that fits beside the first one. */
static size_t last_fitting(const struct bench_table *table, const int *widths, size_t first,
                           size_t width)
{
    size_t used = (size_t)widths[0];
    size_t i;

    for (i = (first == 0) ? 1 : first; i < table->column_count; i++) {
        used += 2 + (size_t)widths[i];
        if ((width > 0) && (used > width) && (i > first) && (i > 1)) {
            break;
        }
    }
    return i;
}

/* A line of the first column and those from @p first to @p end; @p row -1 is the titles. */
static void print_line(const struct bench_table *table, const int *widths, long row, size_t first,
                       size_t end, FILE *stream)
{
    for (size_t i = 0; i < end; i = ((i == 0) && (first > 0)) ? first : (i + 1)) {
        print_cell(stream,
                   (row < 0) ? table->columns[i].title
                             : table->cells[(size_t)row * table->column_count + i],
                   widths[i], table->columns[i].right, i + 1 == end);
    }
}

/* A table wider than the terminal is printed in parts, each with the first column. */
void bench_table_print(const struct bench_table *table, FILE *stream)
{
    size_t width = terminal_width(stream);
    size_t first = 0;
    int widths[BENCH_TABLE_COLUMNS_MAX];

    for (size_t i = 0; i < table->column_count; i++) {
        widths[i] = column_width(table, i);
    }
    while (first < table->column_count) {
        size_t end = last_fitting(table, widths, first, width);

        if (first > 0) {
            fputc('\n', stream);
        }
        for (long row = -1; row < (long)table->row_count; row++) {
            print_line(table, widths, row, first, end, stream);
        }
        first = end;
    }
}

void bench_table_time(char cell[BENCH_TABLE_CELL_SIZE], double ns)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    size_t unit                      = 0;

    if (isnan(ns)) {
        (void)snprintf(cell, BENCH_TABLE_CELL_SIZE, "-");
        return;
    }
    while ((ns >= 999.5) && (unit < 3)) {
        ns /= 1000;
        unit++;
    }
    (void)snprintf(cell, BENCH_TABLE_CELL_SIZE, "%.*f %s",
                   (unit == 0 || ns >= 99.95) ? 0 : ((ns >= 9.995) ? 1 : 2), ns, units[unit]);
}

void bench_table_bytes(char cell[BENCH_TABLE_CELL_SIZE], double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t unit                      = 0;

    while ((bytes >= 1024) && (unit < 4)) {
        bytes /= 1024;
        unit++;
    }
    (void)snprintf(cell, BENCH_TABLE_CELL_SIZE, "%.*f %s", (bytes == floor(bytes)) ? 0 : 1, bytes,
                   units[unit]);
}
