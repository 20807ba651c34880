/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/common/bench.h"
#include "cmd/common/cli.h"
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void bench_report_init(struct bench_report *report, const char *benchmark)
{
    *report =
        (struct bench_report){.head = json_object(), .rows = json_array(), .notes = json_array()};
    report->document =
        json_pack("{s:i, s:s, s:O, s:O, s:O}", "schema", BENCH_REPORT_SCHEMA, "benchmark",
                  benchmark, "head", report->head, "rows", report->rows, "notes", report->notes);
    report->broken = (report->document == NULL);
}

void bench_report_release(struct bench_report *report)
{
    json_decref(report->document);
    json_decref(report->head);
    json_decref(report->rows);
    json_decref(report->notes);
    json_decref(report->columns);
}

/* Drivers' texts need not be UTF-8, JSON must: bytes of such a text become "?". */
static json_t *make_text(const char *text)
{
    json_t *string = json_string(text);
    char *copy     = ((string == NULL) && (text != NULL)) ? strdup(text) : NULL;

    if (copy == NULL) {
        return string;
    }
    for (char *at = copy; *at != '\0'; at++) {
        *at = ((unsigned char)*at < 0x80) ? *at : '?';
    }
    string = json_string(copy);
    free(copy);
    return string;
}

static json_t *format_text(const char *format, va_list arguments)
{
    json_t *string = NULL;
    char *text;

    if (vasprintf(&text, format, arguments) >= 0) {
        string = make_text(text);
        free(text);
    }
    return string;
}

void bench_report_head(struct bench_report *report, const char *key, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    report->broken |= json_object_set_new(report->head, key, format_text(format, arguments)) != 0;
    va_end(arguments);
}

void bench_report_note(struct bench_report *report, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    report->broken |= json_array_append_new(report->notes, format_text(format, arguments)) != 0;
    va_end(arguments);
}

void bench_report_row(struct bench_report *report)
{
    report->row = json_object();
    report->broken |= json_array_append_new(report->rows, report->row) != 0;
    if (report->columns == NULL) {
        report->columns = json_incref(report->row);
    }
}

void bench_report_drop(struct bench_report *report)
{
    (void)json_array_remove(report->rows, json_array_size(report->rows) - 1);
}

static void put(struct bench_report *report, const char *column, json_t *value)
{
    report->broken |= json_object_set_new(report->row, column, value) != 0;
}

void bench_put_text(struct bench_report *report, const char *column, const char *text)
{
    put(report, column, (text == NULL) ? json_null() : make_text(text));
}

void bench_put_count(struct bench_report *report, const char *column, int64_t count)
{
    put(report, column, json_integer(count));
}

void bench_put_real(struct bench_report *report, const char *column, double real)
{
    put(report, column, isfinite(real) ? json_real(real) : json_null());
}

static void csv_value(FILE *file, const json_t *value)
{
    if (json_is_string(value)) {
        cli_put_csv(file, json_string_value(value));
    } else if (json_is_integer(value)) {
        fprintf(file, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    } else if (json_is_real(value)) {
        fprintf(file, "%.10g", json_real_value(value));
    }
}

/* A line: the names of the columns, or the values of @p row. */
static void csv_line(FILE *file, json_t *columns, json_t *row)
{
    const char *separator = "";
    const char *column;
    json_t *ignored;

    json_object_foreach(columns, column, ignored)
    {
        fputs(separator, file);
        if (row == NULL) {
            cli_put_csv(file, column);
        } else {
            csv_value(file, json_object_get(row, column));
        }
        separator = ",";
    }
    fputs("\n", file);
}

/* NULL after a message. */
static FILE *open_file(const struct bench_report *report, const char *path)
{
    if (report->broken) {
        cli_complain("not enough memory for the report");
        return NULL;
    }
    return bench_file_open(path);
}

bool bench_report_write_csv(const struct bench_report *report, const char *path)
{
    FILE *file = open_file(report, path);
    json_t *row;
    size_t i;

    if (file == NULL) {
        return false;
    }
    csv_line(file, report->columns, NULL);
    json_array_foreach(report->rows, i, row)
    {
        csv_line(file, report->columns, row);
    }
    return bench_file_close(file, path);
}

bool bench_report_write_json(const struct bench_report *report, const char *path)
{
    FILE *file = open_file(report, path);

    if (file == NULL) {
        return false;
    }
    (void)json_dumpf(report->document, file, JSON_INDENT(2) | JSON_REAL_PRECISION(10));
    fputc('\n', file);
    return bench_file_close(file, path);
}
