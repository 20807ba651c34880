/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BENCH_REPORT_H
#define MEMSPAN_BENCH_REPORT_H

/* What a benchmark measured, as rows of typed cells, written as CSV or JSON from the same data.
 *
 * CSV: RFC 4180, the first line names the columns, an unknown value is an empty field.
 * JSON: {"schema": 1, "benchmark": ..., "head": {...}, "rows": [{column: value}], "notes": [...]},
 * an unknown value is null and never a missing key. Units are part of the column's name. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BENCH_REPORT_SCHEMA 1

enum bench_cell_form { BENCH_CELL_NONE = 0, BENCH_CELL_TEXT, BENCH_CELL_COUNT, BENCH_CELL_REAL };

struct bench_cell {
    enum bench_cell_form form;
    union {
        char *text; /* the report's own copy */
        int64_t count;
        double real;
    } value;
};

struct bench_report;

/* @p columns are names and must outlive the report. NULL when memory runs out. */
struct bench_report *bench_report_create(const char *benchmark, const char *const *columns,
                                         size_t column_count);
void bench_report_destroy(struct bench_report *report);

/* A fact of the whole run ("date", "command"). */
bool bench_report_head(struct bench_report *report, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A sentence for the reader. */
bool bench_report_note(struct bench_report *report, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A new row of unknown values: an array with a cell a column, valid until the next row. NULL when
 * memory runs out. */
struct bench_cell *bench_report_row(struct bench_report *report);

/* Set a cell once. NAN stays unknown; so does a NULL text. */
bool bench_cell_text(struct bench_cell *cell, const char *text);
void bench_cell_count(struct bench_cell *cell, int64_t count);
void bench_cell_real(struct bench_cell *cell, double real);

/* Write the file; "-" is standard output. False after saying why on standard error; a file that
 * could not be written whole is removed. */
bool bench_report_write_csv(const struct bench_report *report, const char *path);
bool bench_report_write_json(const struct bench_report *report, const char *path);

#endif /* MEMSPAN_BENCH_REPORT_H */
