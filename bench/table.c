/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/table.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

void bench_table_print(const struct bench_table *table, FILE *stream)
{
    int widths[BENCH_TABLE_COLUMNS_MAX];

    for (size_t i = 0; i < table->column_count; i++) {
        widths[i] = column_width(table, i);
        print_cell(stream, table->columns[i].title, widths[i], table->columns[i].right,
                   i + 1 == table->column_count);
    }
    for (size_t row = 0; row < table->row_count; row++) {
        for (size_t i = 0; i < table->column_count; i++) {
            print_cell(stream, table->cells[row * table->column_count + i], widths[i],
                       table->columns[i].right, i + 1 == table->column_count);
        }
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
