/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BENCH_COMMON_REPORT_H
#define MEMSPAN_BENCH_COMMON_REPORT_H

/* The rows that a benchmark measured, as CSV and JSON of the same data. A column is a call of
 * bench_put_*(): its first use gives its place. Units are part of its name.
 *
 * CSV: RFC 4180, the first line names the columns, an unknown value is an empty field.
 * JSON: {"schema": 1, "benchmark": ..., "head": {...}, "rows": [{column: value}], "notes": [...]},
 * an unknown value is null and never a missing key. */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define BENCH_REPORT_SCHEMA 1

struct bench_report {
    json_t *document;
    json_t *head;
    json_t *rows;
    json_t *notes;
    json_t *columns; /* the first row */
    json_t *row;     /* the last one */
    bool broken;     /* memory ran out; the writers say so */
};

void bench_report_init(struct bench_report *report, const char *benchmark);
void bench_report_release(struct bench_report *report);

/* A fact of the whole run ("date", "command"). */
void bench_report_head(struct bench_report *report, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A sentence for the reader. */
void bench_report_note(struct bench_report *report, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Begin a row. All rows have the same columns in the same order. */
void bench_report_row(struct bench_report *report);

/* Drop the last row; where it was the first, its columns stay. */
void bench_report_drop(struct bench_report *report);

/* The next column of the row. A NULL text, NAN and infinity are unknown. */
void bench_put_text(struct bench_report *report, const char *column, const char *text);
void bench_put_count(struct bench_report *report, const char *column, int64_t count);
void bench_put_real(struct bench_report *report, const char *column, double real);

/* Write the file; "-" is standard output. False after a message; no broken file stays. */
bool bench_report_write_csv(const struct bench_report *report, const char *path);
bool bench_report_write_json(const struct bench_report *report, const char *path);

#endif /* MEMSPAN_BENCH_COMMON_REPORT_H */
