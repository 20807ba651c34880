/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts that every benchmark shares, each by itself: numbers that are known beforehand, and
 * texts that would break a careless writer. */

#include "bench/common/bench.h"
#include "cmd/common/cli.h"
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char cli_name[] = "modules";

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
    static const struct {
        double ns;
        const char *text;
    } times[] = {{0, "0 ns"},       {999, "999 ns"},   {1000, "1.00 us"},
                 {9996, "10.0 us"}, {99960, "100 us"}, {999600, "1.00 ms"},
                 {1.5e9, "1.50 s"}, {1e12, "1000 s"},  {NAN, "-"}};

    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        cr_assert_str_eq(bench_time_text(times[i].ns).text, times[i].text);
    }
    cr_assert_str_eq(cli_size_text(24 << 20).text, "24 MiB");
    cr_assert_str_eq(cli_size_text(1536).text, "1.5 KiB");
    cr_assert_str_eq(cli_size_text(0).text, "0 B");
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

static void make_report(struct bench_report *report)
{
    bench_report_init(report, "test");
    bench_report_head(report, "command", "%s", "a \"b\" \\");
    bench_report_note(report, "note %d\n", 1);
    bench_report_row(report);
    bench_put_text(report, "name", "plain");
    bench_put_count(report, "count", -5);
    bench_put_real(report, "real", 0.5);
    bench_put_text(report, "none", NULL);
    bench_report_row(report);
    bench_put_text(report, "name", "a,\"b\"\n\x01\xc3\xa9");
    bench_put_real(report, "count", INFINITY);
    bench_put_real(report, "real", NAN);
    bench_put_text(report, "none", "\xff\xc3\xa9");
}

Test(report, csv_quotes_what_needs_it)
{
    char path[] = "/tmp/bench-csv-XXXXXX";
    struct bench_report report;

    make_report(&report);
    close(mkstemp(path));
    cr_assert(bench_report_write_csv(&report, path));
    cr_expect_str_eq(read_all(path), "name,count,real,none\n"
                                     "plain,-5,0.5,\n"
                                     "\"a,\"\"b\"\"\n\x01\xc3\xa9\",,,???\n");
    bench_report_drop(&report);
    bench_report_drop(&report);
    cr_assert(bench_report_write_csv(&report, path));
    cr_expect_str_eq(read_all(path), "name,count,real,none\n", "the columns stay");
    unlink(path);
    bench_report_release(&report);
}

/* Numbers as they stand in CSV, every key in every row, texts that are UTF-8 whatever came in. */
Test(report, json_holds_the_same)
{
    char path[] = "/tmp/bench-json-XXXXXX";
    struct bench_report report;
    json_t *expected;
    json_t *found;

    make_report(&report);
    close(mkstemp(path));
    cr_assert(bench_report_write_json(&report, path));
    found = json_load_file(path, 0, NULL);
    expected =
        json_pack("{s:i, s:s, s:{s:s}, s:[{s:s, s:i, s:f, s:n}, {s:s, s:n, s:n, s:s}], s:[s]}",
                  "schema", 1, "benchmark", "test", "head", "command", "a \"b\" \\", "rows", "name",
                  "plain", "count", -5, "real", 0.5, "none", "name", "a,\"b\"\n\x01\xc3\xa9",
                  "count", "real", "none", "???", "notes", "note 1\n");
    cr_assert_not_null(found);
    cr_assert_not_null(expected);
    cr_expect(json_equal(found, expected));
    unlink(path);
    json_decref(found);
    json_decref(expected);
    bench_report_release(&report);
}

Test(report, refuses_what_cannot_be_written)
{
    struct bench_report report;

    make_report(&report);
    cr_redirect_stderr();
    cr_assert_not(bench_report_write_csv(&report, "/no/such/file"));
    cr_assert_not(bench_report_write_json(&report, "/dev/full"));
    report.broken = true;
    cr_assert_not(bench_report_write_csv(&report, "/dev/null"), "memory ran out");
    bench_report_release(&report);
}

/* A point of a known verdict: rounds, then median, least and largest of both runs. */
struct compared {
    const char *point;
    const char *peer;
    const char *better;
    int rounds;
    double old[3];
    double new[3];
    const char *line; /* of the table; NULL: none */
};

static const struct compared compared[] = {
    {"same", "memspan", "less", 5, {100, 99, 101}, {102.9, 102, 103}, "1.029  same"},
    {"slow", "memspan", "less", 5, {100, 90, 110}, {120, 111, 130}, "1.200  slower"},
    {"near", "memspan", "less", 5, {100, 90, 115}, {120, 111, 130}, "1.200  noise"},
    {"fast", "memspan", "less", 5, {100, 90, 110}, {50, 40, 89}, "0.500  faster"},
    {"rate", "memspan", "more", 5, {100, 90, 110}, {50, 40, 89}, "2.000  slower"},
    {"once", "memspan", "less", 1, {100, 100, 100}, {200, 200, 200}, "2.000  noise"},
    {"slow", "glibc", "less", 5, {100, 90, 110}, {120, 111, 130}, "1.200  slower"},
    {"none", "memspan", "less", 0, {NAN, NAN, NAN}, {120, 111, 130}, NULL},
};

enum { COMPARED_COUNT = sizeof(compared) / sizeof(compared[0]) };

static void put_compared(struct bench_report *report, const struct compared *row,
                         const double *figure)
{
    bench_report_row(report);
    bench_put_text(report, "point", row->point);
    bench_put_text(report, "peer", row->peer);
    bench_put_text(report, "better", row->better);
    bench_put_count(report, "rounds", row->rounds);
    bench_put_real(report, "median", figure[0]);
    bench_put_real(report, "min", figure[1]);
    bench_put_real(report, "max", figure[2]);
}

/* Rows from @p first to @p end of both runs: what is printed, and whether one of ours is slower. */
static bool compare(size_t first, size_t end, char **text_p)
{
    static struct bench_run run = {
        .compare    = "old.json",
        .peer_count = 2,
        .peers = {{.name = "glibc", .role = BENCH_OTHER}, {.name = "memspan", .role = BENCH_OURS}}};
    struct bench_report old;
    struct bench_report new;
    size_t size;
    bool slower;

    bench_report_init(&old, "test");
    bench_report_init(&new, "test");
    bench_report_head(&old, "machine", "another");
    for (size_t i = end; i-- > first;) { /* in any order */
        put_compared(&old, &compared[i], compared[i].old);
    }
    for (size_t i = first; i < end; i++) {
        put_compared(&new, &compared[i], compared[i].new);
    }
    run.output.text = open_memstream(text_p, &size);
    slower          = bench_compare_print(&run, &new, old.document);
    fclose(run.output.text);
    bench_report_release(&old);
    bench_report_release(&new);
    return slower;
}

Test(compare, verdicts)
{
    char *text;

    for (size_t i = 0; i < COMPARED_COUNT; i++) {
        bool ours  = strcmp(compared[i].peer, "memspan") == 0;
        bool worse = (compared[i].line != NULL) && (strstr(compared[i].line, "slower") != NULL);

        cr_expect_eq(compare(i, i + 1, &text), ours && worse, "%s", compared[i].point);
        cr_expect((compared[i].line != NULL) ? (strstr(text, compared[i].line) != NULL)
                                             : (strstr(text, "of 0 in both") != NULL),
                  "%s: %s", compared[i].point, text);
        free(text);
    }
    cr_assert(compare(0, COMPARED_COUNT, &text));
    cr_assert(strstr(text, "3 slower (2 of ours), 1 faster, 2 within noise, 1 the same, of 7"),
              "%s", text);
    cr_assert(strstr(text, "on another machine"));
    free(text);
}

Test(compare, refuses_what_is_no_report)
{
    static const char *const bad[] = {"", "[1]", "{\"benchmark\": \"alloc\"}",
                                      "{\"benchmark\": \"rma\", \"rows\": []}",
                                      "{\"benchmark\": \"alloc\", \"rows\": [7]}"};
    char path[]                    = "/tmp/bench-old-XXXXXX";

    close(mkstemp(path));
    cr_redirect_stderr();
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        FILE *file = fopen(path, "we");

        fputs(bad[i], file);
        fclose(file);
        cr_expect_null(bench_compare_open(path, "alloc"), "%s", bad[i]);
    }
    unlink(path);
    cr_expect_null(bench_compare_open(path, "alloc"));
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
