/* SPDX-License-Identifier: BSD-3-Clause */
/* The same numbers for programs: a line a point and peer, as CSV or JSON; and a figure. */

#include "bench/alloc/alloc.h"
#include "bench/common/plot_svg.h"
#include "bench/common/report.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* X(symbol, name) */
#define COLUMN_MAP(X)                                                                              \
    X(DATE, "date")                                                                                \
    X(MACHINE, "machine")                                                                          \
    X(BUILD, "build")                                                                              \
    X(ROW, "row")                                                                                  \
    X(POINT, "point")                                                                              \
    X(PEER, "peer")                                                                                \
    X(VERSION, "version")                                                                          \
    X(UNIT, "unit")                                                                                \
    X(BETTER, "better")                                                                            \
    X(ROUNDS, "rounds")                                                                            \
    X(MEDIAN, "median")                                                                            \
    X(MIN, "min")                                                                                  \
    X(MAX, "max")                                                                                  \
    X(TO_BEST, "ratio_to_best")                                                                    \
    X(TO_MEMSPAN, "ratio_to_memspan")                                                              \
    X(RESULT, "result")

enum column {
#define COLUMN_ENUM(symbol, name) COLUMN_##symbol,
    COLUMN_MAP(COLUMN_ENUM)
#undef COLUMN_ENUM
        COLUMN_COUNT
};

static const char *const columns[] = {
#define COLUMN_NAME(symbol, name) name,
    COLUMN_MAP(COLUMN_NAME)
#undef COLUMN_NAME
};

static const char *result_of(const struct alloc_run *run, size_t point, size_t p)
{
    if (!run->peers.list[p].present) {
        return "absent";
    }
    if (run->samples[point][p].count != 0) {
        return "measured";
    }
    return (run->failures[alloc_points[point].row][p][0] != '\0') ? "failed" : "none";
}

static double ratio(double value, double to)
{
    return ((to == 0) || isnan(to)) ? NAN : value / to;
}

static void add_numbers(struct bench_cell *cells, const struct alloc_run *run, size_t point,
                        size_t p)
{
    struct bench_summary summary;
    size_t ignored;

    bench_cell_count(&cells[COLUMN_ROUNDS], (int64_t)run->samples[point][p].count);
    if (!bench_samples_summarize(&run->samples[point][p], &summary)) {
        return;
    }
    bench_cell_real(&cells[COLUMN_MEDIAN], summary.median);
    bench_cell_real(&cells[COLUMN_MIN], summary.min);
    bench_cell_real(&cells[COLUMN_MAX], summary.max);
    bench_cell_real(&cells[COLUMN_TO_BEST],
                    ratio(summary.median, alloc_best(run, point, NULL, &ignored)));
    bench_cell_real(
        &cells[COLUMN_TO_MEMSPAN],
        ratio(summary.median, bench_samples_median(&run->samples[point][ALLOC_MEMSPAN])));
}

static bool add_line(struct bench_report *report, const struct alloc_run *run, size_t point,
                     size_t p)
{
    const struct alloc_point *facts = &alloc_points[point];
    const struct alloc_peer *peer   = &run->peers.list[p];
    const struct alloc_peer *ours   = &run->peers.list[ALLOC_MEMSPAN];
    struct bench_cell *cells        = bench_report_row(report);

    if (cells == NULL) {
        return false;
    }
    add_numbers(cells, run, point, p);
    return bench_cell_text(&cells[COLUMN_DATE], run->machine.date) &&
           bench_cell_text(&cells[COLUMN_MACHINE], run->machine.machine) &&
           bench_cell_text(&cells[COLUMN_BUILD],
                           (peer->build[0] != '\0') ? peer->build : ours->build) &&
           bench_cell_text(&cells[COLUMN_ROW], alloc_rows[facts->row].name) &&
           bench_cell_text(&cells[COLUMN_POINT], facts->name) &&
           bench_cell_text(&cells[COLUMN_PEER], peer->name) &&
           bench_cell_text(&cells[COLUMN_VERSION], peer->version) &&
           bench_cell_text(&cells[COLUMN_UNIT], facts->unit) &&
           bench_cell_text(&cells[COLUMN_BETTER], facts->more ? "more" : "less") &&
           bench_cell_text(&cells[COLUMN_RESULT], result_of(run, point, p));
}

static bool add_notes(struct bench_report *report, const struct alloc_run *run)
{
    bool good = true;

    for (size_t p = 0; p < run->peers.count; p++) {
        const struct alloc_peer *peer = &run->peers.list[p];
        if (!alloc_chosen(&run->plan->peers, p)) {
            continue;
        }
        good = good && bench_report_note(report, "%s: %s%s%s", peer->name,
                                         peer->present ? peer->library : "not measured: ",
                                         peer->present ? " " : "",
                                         peer->present ? peer->version : peer->why);
        for (size_t r = 0; good && (r < ALLOC_ROW_COUNT); r++) {
            good = (run->failures[r][p][0] == '\0') ||
                   bench_report_note(report, "%s, %s: failed: %s", peer->name, alloc_rows[r].name,
                                     run->failures[r][p]);
        }
    }
    return good;
}

static bool write_report(const struct alloc_run *run)
{
    const struct alloc_plan *plan = run->plan;
    struct bench_report *report   = bench_report_create("alloc", columns, COLUMN_COUNT);
    bool good = (report != NULL) && bench_report_head(report, "date", "%s", run->machine.date) &&
                bench_report_head(report, "machine", "%s", run->machine.machine) &&
                bench_report_head(report, "load", "%.1f", run->machine.load) &&
                bench_report_head(report, "build", "%s", run->peers.list[ALLOC_MEMSPAN].build) &&
                bench_report_head(report, "command", "%s", plan->command) && add_notes(report, run);

    for (size_t i = 0; good && (i < alloc_point_count * run->peers.count); i++) {
        size_t point = i / run->peers.count;
        size_t p     = i % run->peers.count;
        if (alloc_chosen(&plan->rows, alloc_points[point].row) && alloc_chosen(&plan->peers, p)) {
            good = add_line(report, run, point, p);
        }
    }
    good = good && ((plan->csv == NULL) || bench_report_write_csv(report, plan->csv));
    good = good && ((plan->json == NULL) || bench_report_write_json(report, plan->json));
    bench_report_destroy(report);
    return good;
}

/* ---- the figure: rows in ns, those that were measured, a group each ---- */

static const char *const drawn[] = {
    "pair-64",      "pair-4k",        "random",   "producer-consumer-cpu",
    "init-destroy", "device-mix-64k", "lookup-64"};

enum { DRAWN_COUNT = sizeof(drawn) / sizeof(drawn[0]) };

static void fill_bar(struct bench_plot_bar *bar, const struct bench_samples *samples)
{
    struct bench_summary summary;

    if (bench_samples_summarize(samples, &summary) && (summary.min > 0)) {
        *bar = (struct bench_plot_bar){true, summary.median, summary.min, summary.max};
    }
}

/* The rows that were measured and have no bars: their figures are of other units. */
static const char *list_others(const struct alloc_run *run, const size_t *points, size_t count,
                               char *text, size_t size)
{
    size_t used = 0;

    for (size_t r = 0; r < ALLOC_ROW_COUNT; r++) {
        size_t i;

        for (i = 0; (i < count) && ((size_t)alloc_points[points[i]].row != r); i++) {
        }
        if ((i == count) && alloc_chosen(&run->plan->rows, r) && (used < size)) {
            int n = snprintf(text + used, size - used, "%s%s",
                             (used == 0) ? "Not drawn, but in the table and the files: " : ", ",
                             alloc_rows[r].name);
            used += (n > 0) ? (size_t)n : 0;
        }
    }
    return (used == 0) ? NULL : text;
}

static bool write_figure(const struct alloc_run *run)
{
    char others[512];
    static struct bench_plot_bar bars[DRAWN_COUNT * ALLOC_PEERS_MAX];
    const char *groups[DRAWN_COUNT];
    size_t points[DRAWN_COUNT];
    const char *series[ALLOC_PEERS_MAX];
    size_t peers[ALLOC_PEERS_MAX];
    struct bench_plot_panel panel = {"", bars};
    struct bench_plot plot        = {.title       = "Allocation, by row and peer",
                                     .subtitle    = "bars: medians; thin lines: fastest to slowest round",
                                     .x_title     = "row",
                                     .y_title     = "thread processor time, ns",
                                     .groups      = groups,
                                     .series      = series,
                                     .panels      = &panel,
                                     .panel_count = 1,
                                     .absent      = "none"};

    for (size_t i = 0; i < DRAWN_COUNT; i++) {
        size_t point = alloc_point_find(drawn[i], strlen(drawn[i]));
        if (alloc_chosen(&run->plan->rows, alloc_points[point].row)) {
            points[plot.group_count]   = point;
            groups[plot.group_count++] = drawn[i];
        }
    }
    for (size_t p = 0; p < run->peers.count; p++) {
        if (alloc_chosen(&run->plan->peers, p) && run->peers.list[p].present) {
            peers[plot.series_count]    = p;
            series[plot.series_count++] = run->peers.list[p].name;
        }
    }
    for (size_t g = 0; g < plot.group_count; g++) {
        for (size_t s = 0; s < plot.series_count; s++) {
            fill_bar(&bars[g * plot.series_count + s], &run->samples[points[g]][peers[s]]);
        }
    }
    plot.note = list_others(run, points, plot.group_count, others, sizeof(others));
    return bench_plot_svg_write(&plot, run->plan->svg);
}

bool alloc_write_files(const struct alloc_run *run)
{
    bool good = true;

    if ((run->plan->csv != NULL) || (run->plan->json != NULL)) {
        good = write_report(run);
    }
    if (run->plan->svg != NULL) {
        good = write_figure(run) && good;
    }
    return good;
}
