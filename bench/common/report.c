/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/common/report.h"
#include "bench/common/file.h"
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Texts in pairs (head) or alone (notes). */
struct texts {
    char **items;
    size_t count;
    size_t capacity;
};

struct bench_report {
    const char *benchmark;
    const char *const *columns;
    size_t column_count;
    struct bench_cell *cells; /* row by row */
    size_t row_count;
    size_t row_capacity;
    struct texts head; /* key, text, key, text ... */
    struct texts notes;
};

static bool texts_add(struct texts *texts, char *text)
{
    if (text == NULL) {
        return false;
    }
    if (texts->count == texts->capacity) {
        size_t capacity = (texts->capacity == 0) ? 16 : 2 * texts->capacity;
        char **items    = realloc(texts->items, capacity * sizeof(*items));
        if (items == NULL) {
            free(text);
            return false;
        }
        texts->items    = items;
        texts->capacity = capacity;
    }
    texts->items[texts->count++] = text;
    return true;
}

static void texts_release(struct texts *texts)
{
    for (size_t i = 0; i < texts->count; i++) {
        free(texts->items[i]);
    }
    free(texts->items);
}

struct bench_report *bench_report_create(const char *benchmark, const char *const *columns,
                                         size_t column_count)
{
    struct bench_report *report = calloc(1, sizeof(*report));

    if (report != NULL) {
        report->benchmark    = benchmark;
        report->columns      = columns;
        report->column_count = column_count;
    }
    return report;
}

void bench_report_destroy(struct bench_report *report)
{
    if (report == NULL) {
        return;
    }
    for (size_t i = 0; i < report->row_count * report->column_count; i++) {
        if (report->cells[i].form == BENCH_CELL_TEXT) {
            free(report->cells[i].value.text);
        }
    }
    texts_release(&report->notes);
    texts_release(&report->head);
    free(report->cells);
    free(report);
}

static char *format_text(const char *format, va_list arguments)
{
    char *text;

    return (vasprintf(&text, format, arguments) < 0) ? NULL : text;
}

bool bench_report_head(struct bench_report *report, const char *key, const char *format, ...)
{
    va_list arguments;
    char *text;

    va_start(arguments, format);
    text = format_text(format, arguments);
    va_end(arguments);
    if ((text == NULL) || !texts_add(&report->head, strdup(key))) {
        free(text);
        return false;
    }
    if (!texts_add(&report->head, text)) {
        free(report->head.items[--report->head.count]); /* no key without its text */
        return false;
    }
    return true;
}

bool bench_report_note(struct bench_report *report, const char *format, ...)
{
    va_list arguments;
    char *text;

    va_start(arguments, format);
    text = format_text(format, arguments);
    va_end(arguments);
    return texts_add(&report->notes, text);
}

struct bench_cell *bench_report_row(struct bench_report *report)
{
    size_t row_size = report->column_count * sizeof(report->cells[0]);
    struct bench_cell *row;

    if (report->row_count == report->row_capacity) {
        size_t capacity          = (report->row_capacity == 0) ? 64 : 2 * report->row_capacity;
        struct bench_cell *cells = realloc(report->cells, capacity * row_size);
        if (cells == NULL) {
            return NULL;
        }
        report->cells        = cells;
        report->row_capacity = capacity;
    }
    row = report->cells + report->row_count++ * report->column_count;
    memset(row, 0, row_size);
    return row;
}

bool bench_cell_text(struct bench_cell *cell, const char *text)
{
    char *copy = (text == NULL) ? NULL : strdup(text);

    if (copy == NULL) {
        return text == NULL;
    }
    cell->form       = BENCH_CELL_TEXT;
    cell->value.text = copy;
    return true;
}

void bench_cell_count(struct bench_cell *cell, int64_t count)
{
    cell->form        = BENCH_CELL_COUNT;
    cell->value.count = count;
}

void bench_cell_real(struct bench_cell *cell, double real)
{
    if (!isnan(real) && !isinf(real)) {
        cell->form       = BENCH_CELL_REAL;
        cell->value.real = real;
    }
}

/* A text with commas, quotes or line ends stands in quotes, quotes in it twice. */
static void csv_text(FILE *file, const char *text)
{
    if (strpbrk(text, ",\"\r\n") == NULL) {
        fputs(text, file);
        return;
    }
    fputc('"', file);
    for (; *text != '\0'; text++) {
        if (*text == '"') {
            fputc('"', file);
        }
        fputc(*text, file);
    }
    fputc('"', file);
}

/* True for the first byte of a well-formed UTF-8 sequence; *length_p is how long it is. Driver
 * names come from outside and may hold anything; JSON may not. */
static bool utf8_sequence(const unsigned char *text, size_t *length_p)
{
    size_t length = (text[0] < 0x80)                       ? 1
                    : (text[0] >= 0xc2 && text[0] <= 0xdf) ? 2
                    : (text[0] >= 0xe0 && text[0] <= 0xef) ? 3
                    : (text[0] >= 0xf0 && text[0] <= 0xf4) ? 4
                                                           : 0;

    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80) {
            return false;
        }
    }
    if ((text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xed && text[1] > 0x9f) ||
        (text[0] == 0xf0 && text[1] < 0x90) || (text[0] == 0xf4 && text[1] > 0x8f)) {
        return false;
    }
    *length_p = length;
    return length != 0;
}

static void json_text(FILE *file, const char *text)
{
    const unsigned char *bytes = (const unsigned char *)text;
    size_t length;

    fputc('"', file);
    while (*bytes != '\0') {
        if (!utf8_sequence(bytes, &length)) {
            fputs("\\ufffd", file);
            bytes++;
            continue;
        }
        if (*bytes < 0x20 || *bytes == 0x7f) {
            fprintf(file, "\\u%04x", *bytes);
        } else {
            if (*bytes == '"' || *bytes == '\\') {
                fputc('\\', file);
            }
            fwrite(bytes, 1, length, file);
        }
        bytes += length;
    }
    fputc('"', file);
}

static void number(FILE *file, const struct bench_cell *cell)
{
    if (cell->form == BENCH_CELL_COUNT) {
        fprintf(file, "%" PRId64, cell->value.count);
    } else {
        fprintf(file, "%.10g", cell->value.real);
    }
}

static void csv_cell(FILE *file, const struct bench_cell *cell)
{
    if (cell->form == BENCH_CELL_TEXT) {
        csv_text(file, cell->value.text);
    } else if (cell->form != BENCH_CELL_NONE) {
        number(file, cell);
    }
}

static void json_cell(FILE *file, const struct bench_cell *cell)
{
    if (cell->form == BENCH_CELL_NONE) {
        fputs("null", file);
    } else if (cell->form == BENCH_CELL_TEXT) {
        json_text(file, cell->value.text);
    } else {
        number(file, cell);
    }
}

bool bench_report_write_csv(const struct bench_report *report, const char *path)
{
    FILE *file = bench_file_open(path);

    if (file == NULL) {
        return false;
    }
    for (size_t i = 0; i < report->column_count; i++) {
        fputs((i == 0) ? "" : ",", file);
        csv_text(file, report->columns[i]);
    }
    fputs("\n", file);
    for (size_t i = 0; i < report->row_count * report->column_count; i++) {
        csv_cell(file, &report->cells[i]);
        fputs(((i + 1) % report->column_count == 0) ? "\n" : ",", file);
    }
    return bench_file_close(file, path);
}

static void json_head(FILE *file, const struct bench_report *report)
{
    for (size_t i = 0; i < report->head.count; i += 2) {
        fputs((i == 0) ? "\n    " : ",\n    ", file);
        json_text(file, report->head.items[i]);
        fputs(": ", file);
        json_text(file, report->head.items[i + 1]);
    }
}

static void json_row(FILE *file, const struct bench_report *report, const struct bench_cell *row)
{
    for (size_t i = 0; i < report->column_count; i++) {
        fputs((i == 0) ? "{" : ", ", file);
        json_text(file, report->columns[i]);
        fputs(": ", file);
        json_cell(file, &row[i]);
    }
    fputs("}", file);
}

bool bench_report_write_json(const struct bench_report *report, const char *path)
{
    FILE *file = bench_file_open(path);

    if (file == NULL) {
        return false;
    }
    fprintf(file, "{\n  \"schema\": %d,\n  \"benchmark\": ", BENCH_REPORT_SCHEMA);
    json_text(file, report->benchmark);
    fputs(",\n  \"head\": {", file);
    json_head(file, report);
    fputs("\n  },\n  \"rows\": [", file);
    for (size_t i = 0; i < report->row_count; i++) {
        fputs((i == 0) ? "\n    " : ",\n    ", file);
        json_row(file, report, report->cells + i * report->column_count);
    }
    fputs("\n  ],\n  \"notes\": [", file);
    for (size_t i = 0; i < report->notes.count; i++) {
        fputs((i == 0) ? "\n    " : ",\n    ", file);
        json_text(file, report->notes.items[i]);
    }
    fputs("\n  ]\n}\n", file);
    return bench_file_close(file, path);
}
