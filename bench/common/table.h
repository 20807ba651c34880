/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BENCH_TABLE_H
#define MEMSPAN_BENCH_TABLE_H

/* A table in text: cells are texts, columns are as wide as their widest cell. */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define BENCH_TABLE_COLUMNS_MAX 20
#define BENCH_TABLE_CELL_SIZE   32

struct bench_table_column {
    const char *title;
    bool right; /* aligned to the right */
};

struct bench_table {
    const struct bench_table_column *columns;
    size_t column_count;
    char (*cells)[BENCH_TABLE_CELL_SIZE]; /* row by row */
    size_t row_count;
    size_t row_capacity;
};

/* @p columns must outlive the table. */
void bench_table_init(struct bench_table *table, const struct bench_table_column *columns,
                      size_t column_count);
void bench_table_release(struct bench_table *table);

/* A new row of empty cells: an array of column_count texts, valid until the next row; NULL when
 * memory runs out. */
char (*bench_table_row(struct bench_table *table))[BENCH_TABLE_CELL_SIZE];

void bench_table_print(const struct bench_table *table, FILE *stream);

/* Three significant digits and a unit: "12.3 us". NAN: "-". */
void bench_table_time(char cell[BENCH_TABLE_CELL_SIZE], double ns);

/* "24 MiB" (powers of 1024): exact where it is whole, else one decimal. */
void bench_table_bytes(char cell[BENCH_TABLE_CELL_SIZE], double bytes);

#endif /* MEMSPAN_BENCH_TABLE_H */
