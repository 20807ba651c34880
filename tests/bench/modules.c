/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts that every benchmark shares, each by itself: numbers that are known beforehand, and
 * texts that would break a careless writer. */

#include "bench/common/options.h"
#include "bench/common/plot_svg.h"
#include "bench/common/report.h"
#include "bench/common/stats.h"
#include "bench/common/table.h"
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct bench_samples make_samples(const double *values, size_t count)
{
    struct bench_samples samples = {.count = 0};

    for (size_t i = 0; i < count; i++) {
        cr_assert(bench_samples_add(&samples, values[i]));
    }
    return samples;
}

Test(stats, known_numbers)
{
    struct bench_samples samples = make_samples((const double[]){9, 2, 4, 4, 5, 5, 7, 4}, 8);
    struct bench_summary summary;

    cr_assert(bench_samples_summarize(&samples, &summary));
    cr_assert_float_eq(summary.min, 2, 1e-12);
    cr_assert_float_eq(summary.median, 4.5, 1e-12);
    cr_assert_float_eq(summary.max, 9, 1e-12);
    cr_assert_float_eq(summary.p99, 9, 1e-12);
    cr_assert_float_eq(summary.mean, 5, 1e-12);
    cr_assert_float_eq(summary.stddev, sqrt(32.0 / 7), 1e-12);
    cr_assert_float_eq(samples.values[0], 9, 1e-12, "the samples stay in their order");
}

Test(stats, odd_single_none_and_too_many)
{
    struct bench_samples samples = make_samples((const double[]){3, 1, 2}, 3);
    struct bench_samples none    = {.count = 0};
    struct bench_summary summary = {.median = 77};

    cr_assert_float_eq(bench_samples_median(&samples), 2, 1e-12);
    samples = make_samples((const double[]){5}, 1);
    cr_assert(bench_samples_summarize(&samples, &summary));
    cr_assert_float_eq(summary.stddev, 0, 1e-12);
    summary.median = 77;
    cr_assert_not(bench_samples_summarize(&none, &summary));
    cr_assert_float_eq(summary.median, 77, 1e-12, "nothing is written without a sample");
    cr_assert(isnan(bench_samples_median(&none)));
    while (none.count < BENCH_ROUNDS_MAX) {
        cr_assert(bench_samples_add(&none, 1));
    }
    cr_assert_not(bench_samples_add(&none, 1));
}

Test(table, texts)
{
    char cell[BENCH_TABLE_CELL_SIZE];
    static const struct {
        double ns;
        const char *text;
    } times[] = {{0, "0 ns"},       {999, "999 ns"},   {1000, "1.00 us"},
                 {9996, "10.0 us"}, {99960, "100 us"}, {999600, "1.00 ms"},
                 {1.5e9, "1.50 s"}, {1e12, "1000 s"},  {NAN, "-"}};

    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        bench_table_time(cell, times[i].ns);
        cr_assert_str_eq(cell, times[i].text);
    }
    bench_table_bytes(cell, 24.0 * 1024 * 1024);
    cr_assert_str_eq(cell, "24 MiB");
    bench_table_bytes(cell, 1536);
    cr_assert_str_eq(cell, "1.5 KiB");
    bench_table_bytes(cell, 0);
    cr_assert_str_eq(cell, "0 B");
}

/* What a file holds; freed by the process's end. */
static char *read_all(const char *path)
{
    static char text[8192];
    FILE *file = fopen(path, "r");
    size_t length;

    cr_assert_not_null(file);
    length       = fread(text, 1, sizeof(text) - 1, file);
    text[length] = '\0';
    fclose(file);
    return text;
}

static struct bench_report *make_report(void)
{
    static const char *const columns[] = {"name", "count", "real", "none"};
    struct bench_report *report        = bench_report_create("test", columns, 4);
    struct bench_cell *row;

    cr_assert_not_null(report);
    cr_assert(bench_report_head(report, "command", "%s", "a \"b\" \\"));
    cr_assert(bench_report_note(report, "note %d\n", 1));
    row = bench_report_row(report);
    cr_assert(bench_cell_text(&row[0], "plain"));
    bench_cell_count(&row[1], -5);
    bench_cell_real(&row[2], 0.5);
    row = bench_report_row(report);
    cr_assert(bench_cell_text(&row[0], "a,\"b\"\n\x01\xff\xc3\xa9"));
    bench_cell_real(&row[2], NAN);
    cr_assert(bench_cell_text(&row[3], NULL));
    return report;
}

Test(report, csv_quotes_what_needs_it)
{
    struct bench_report *report = make_report();
    char path[]                 = "/tmp/bench-csv-XXXXXX";

    close(mkstemp(path));
    cr_assert(bench_report_write_csv(report, path));
    cr_expect_str_eq(read_all(path), "name,count,real,none\n"
                                     "plain,-5,0.5,\n"
                                     "\"a,\"\"b\"\"\n\x01\xff\xc3\xa9\",,,\n");
    unlink(path);
    bench_report_destroy(report);
}

Test(report, json_escapes_and_replaces)
{
    struct bench_report *report = make_report();
    char path[]                 = "/tmp/bench-json-XXXXXX";

    close(mkstemp(path));
    cr_assert(bench_report_write_json(report, path));
    cr_expect_str_eq(
        read_all(path),
        "{\n  \"schema\": 1,\n  \"benchmark\": \"test\",\n  \"head\": {\n"
        "    \"command\": \"a \\\"b\\\" \\\\\"\n  },\n  \"rows\": [\n"
        "    {\"name\": \"plain\", \"count\": -5, \"real\": 0.5, \"none\": null},\n"
        "    {\"name\": \"a,\\\"b\\\"\\u000a\\u0001\\ufffd\xc3\xa9\", \"count\": null, "
        "\"real\": null, \"none\": null}\n"
        "  ],\n  \"notes\": [\n    \"note 1\\u000a\"\n  ]\n}\n");
    unlink(path);
    bench_report_destroy(report);
}

Test(report, a_file_that_cannot_be_written_is_an_error)
{
    struct bench_report *report = make_report();

    cr_redirect_stderr();
    cr_assert_not(bench_report_write_csv(report, "/nonesuch/file"));
    cr_assert_not(bench_report_write_json(report, "/dev/full"));
    bench_report_destroy(report);
}

Test(plot, escapes_and_counts_bars)
{
    static const char *const groups[] = {"1", "10"};
    static const char *const series[] = {"a<b", "c&d"};
    struct bench_plot_bar bars[]      = {
             {true, 2, 1, 3}, {false, 0, 0, 0}, {true, 20, 20, 20}, {true, 4, 4, 4}};
    struct bench_plot_panel panel = {"panel", bars};
    struct bench_plot plot        = {.title        = "t\xff",
                                     .subtitle     = "s",
                                     .x_title      = "x",
                                     .y_title      = "y",
                                     .groups       = groups,
                                     .group_count  = 2,
                                     .series       = series,
                                     .series_count = 2,
                                     .panels       = &panel,
                                     .panel_count  = 1};
    char path[]                   = "/tmp/bench-svg-XXXXXX";
    const char *text;
    size_t bar_count = 0;

    close(mkstemp(path));
    cr_assert(bench_plot_svg_write(&plot, path));
    text = read_all(path);
    unlink(path);
    cr_assert_not_null(strstr(text, "a&lt;b"));
    cr_assert_not_null(strstr(text, "c&amp;d"));
    cr_assert_not_null(strstr(text, ">t?<"));
    cr_assert_not_null(strstr(text, ">waived<"));
    cr_assert_null(strstr(text, "nan"));
    for (const char *at = text; (at = strstr(at, "<rect ")) != NULL; at++) {
        bar_count++;
    }
    cr_assert_eq(bar_count, 1 + 2 + 3, "the ground, two of the legend, three bars");
}

/* A plan of options with one of each form. */
struct values {
    bool flag;
    bool cleared;
    size_t count;
    struct bench_counts counts;
    int device;
    struct bench_choice choice;
    const char *text;
    struct bench_texts texts;
};

static bool parse(struct values *values, int argument_count, char *const *arguments)
{
    static const char *const words[] = {"one", "two"};
    struct bench_option options[]    = {
           {.name = "flag", .form = BENCH_OPTION_SET, .value = &values->flag},
           {.name = "no-flag", .form = BENCH_OPTION_CLEAR, .value = &values->cleared},
           {.name  = "count",
            .form  = BENCH_OPTION_COUNT,
            .value = &values->count,
            .shape = "COUNT",
            .max   = 1u << 30},
           {.name  = "counts",
            .form  = BENCH_OPTION_COUNTS,
            .value = &values->counts,
            .shape = "COUNTS",
            .max   = SIZE_MAX},
           {.name = "device", .form = BENCH_OPTION_DEVICE, .value = &values->device, .shape = "D"},
           {.name = "choice", .form = BENCH_OPTION_CHOICE, .value = &values->choice, .shape = "W"},
           {.name = "text", .form = BENCH_OPTION_TEXT, .value = &values->text, .shape = "T"},
           {.name = "texts", .form = BENCH_OPTION_TEXTS, .value = &values->texts, .shape = "T"}};

    values->choice = (struct bench_choice){words, 2, 0};
    return bench_options_parse(options, sizeof(options) / sizeof(options[0]), argument_count,
                               arguments);
}

Test(options, every_form)
{
    struct values values = {.cleared = true, .device = 7};
    char *arguments[]    = {"--flag",    "--count=2k", "--counts", "1,3m",
                            "--no-flag", "--device",   "host",     "--choice=two,one",
                            "--text",    "--flag",     "--count",  "5"};

    cr_assert(parse(&values, sizeof(arguments) / sizeof(arguments[0]), arguments));
    cr_assert(values.flag);
    cr_assert_not(values.cleared);
    cr_assert_eq(values.count, 5, "the last of two settles it");
    cr_assert_eq(values.counts.count, 2);
    cr_assert_eq(values.counts.values[1], 3u << 20);
    cr_assert_eq(values.device, -1);
    cr_assert_eq(values.choice.mask, 3);
    cr_assert_str_eq(values.text, "--flag", "a value may look like an option");
}

Test(options, texts_are_collected)
{
    struct values values = {.flag = false};
    char *arguments[]    = {"--texts", "a,b", "--texts=c", "--texts", "--texts"};
    char *many[2 * BENCH_TEXTS_MAX + 2];

    cr_assert(parse(&values, sizeof(arguments) / sizeof(arguments[0]), arguments));
    cr_assert_eq(values.texts.count, 3);
    cr_assert_str_eq(values.texts.values[0], "a,b");
    cr_assert_str_eq(values.texts.values[1], "c");
    cr_assert_str_eq(values.texts.values[2], "--texts");
    for (int i = 0; i <= BENCH_TEXTS_MAX; i++) {
        many[2 * i]     = "--texts";
        many[2 * i + 1] = "x";
    }
    values.texts.count = 0;
    cr_assert(parse(&values, 2 * BENCH_TEXTS_MAX, many));
    cr_redirect_stderr();
    values.texts.count = 0;
    cr_assert_not(parse(&values, 2 * BENCH_TEXTS_MAX + 2, many), "one too many");
}

Test(options, refusals)
{
    static char *bad[] = {
        "flag",        "--flags",        "--fla",       "-flag",      "--flag=1",    "--count",
        "--count=",    "--count=k",      "--count=1k1", "--count=2g", "--counts=1,", "--counts=1,1",
        "--device=-2", "--choice=three", "--choice=on", "--text=",    "--texts=",    "--"};

    cr_redirect_stderr();
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct values values = {.flag = false};
        cr_assert_not(parse(&values, 1, &bad[i]), "'%s' was accepted", bad[i]);
    }
}
