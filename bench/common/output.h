/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BENCH_COMMON_OUTPUT_H
#define MEMSPAN_BENCH_COMMON_OUTPUT_H

/* Where a benchmark writes: text for people, and files. "-" is standard output; a file is complete
 * or removed. */

#include "bench/common/machine.h"
#include "bench/common/report.h"
#include "cmd/common/cli.h"
#include <stdbool.h>
#include <stdio.h>

struct bench_output {
    const char *csv; /* paths; NULL: not asked for */
    const char *json;
    const char *svg;
    FILE *text; /* standard output, or standard error where a file has that */
    char command[4096];
    struct bench_machine machine;
};

/* The options of every benchmark, in a table of struct cli_option. */
#define BENCH_OUTPUT_OPTIONS(output, rows, drawing)                                                \
    {.names = "--csv",                                                                             \
     .form  = CLI_TEXT,                                                                            \
     .value = &(output).csv,                                                                       \
     .shape = "FILE",                                                                              \
     .help  = "write " rows " as CSV (\"-\": standard output)"},                                    \
        {.names = "--json",                                                                        \
         .form  = CLI_TEXT,                                                                        \
         .value = &(output).json,                                                                  \
         .shape = "FILE",                                                                          \
         .help  = "write the same as JSON"},                                                        \
        {.names = "--svg",                                                                         \
         .form  = CLI_TEXT,                                                                        \
         .value = &(output).svg,                                                                   \
         .shape = "FILE",                                                                          \
         .help  = "draw " drawing},                                                                 \
    {                                                                                              \
        .names = "--help | -h", .form = CLI_HELP, .help = "this text"                              \
    }

/* Before the measurements: check that the files can be written, note the command and the machine.
 * False after a message. */
bool bench_output_open(struct bench_output *output, int argument_count, char *const *arguments);

/* The first lines: title, command, date, machine. */
void bench_output_head(const struct bench_output *output, const char *title);

/* Begin a report with the same facts. */
void bench_output_report(const struct bench_output *output, struct bench_report *report_p,
                         const char *benchmark);

/* Write the report as CSV and JSON where they were asked for. False after a message. */
bool bench_output_write(const struct bench_output *output, const struct bench_report *report);

/* Open a file; NULL after a message. */
FILE *bench_file_open(const char *path);

/* Close it. False after a message; a file that could not be written completely is removed. */
bool bench_file_close(FILE *file, const char *path);

#endif /* MEMSPAN_BENCH_COMMON_OUTPUT_H */
