/* SPDX-License-Identifier: BSD-3-Clause */
/* The same numbers for programs: a line a point, placement and peer, as CSV or JSON; and a figure.
 */

#include "bench/common/plot_svg.h"
#include "bench/common/report.h"
#include "bench/rma/rma.h"
#include <math.h>
#include <string.h>

/* X(symbol, name) */
#define COLUMN_MAP(X)                                                                              \
    X(DATE, "date")                                                                                \
    X(MACHINE, "machine")                                                                          \
    X(ROW, "row")                                                                                  \
    X(POINT, "point")                                                                              \
    X(PLACEMENT, "placement")                                                                      \
    X(PEER, "peer")                                                                                \
    X(VERSION, "version")                                                                          \
    X(UNIT, "unit")                                                                                \
    X(BETTER, "better")                                                                            \
    X(ROUNDS, "rounds")                                                                            \
    X(BEST, "best")                                                                                \
    X(MEDIAN, "median")                                                                            \
    X(MIN, "median_min")                                                                           \
    X(MAX, "median_max")                                                                           \
    X(TO_PEER, "ratio_to_best_peer")                                                               \
    X(TO_LIMIT, "ratio_to_limit")                                                                  \
    X(GIVEN, "given")                                                                              \
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

static const char *result_of(const struct rma_run *run, enum rma_placement placement, size_t point,
                             size_t p)
{
    if (!run->peers.list[p].present) {
        return "absent";
    }
    if (run->figures[placement][point][p].medians.count != 0) {
        return "measured";
    }
    if ((p == RMA_MEMSPAN) && (run->waived[point][0] != '\0')) {
        return "waived";
    }
    return (run->failures[placement][rma_points[point].row][p][0] != '\0') ? "failed" : "none";
}

static void add_numbers(struct bench_cell *cells, const struct rma_run *run,
                        enum rma_placement placement, size_t point, size_t p)
{
    const struct rma_figure *figure = &run->figures[placement][point][p];
    struct bench_summary summary;
    size_t ignored;

    bench_cell_count(&cells[COLUMN_ROUNDS], (int64_t)figure->medians.count);
    if (!bench_samples_summarize(&figure->medians, &summary)) {
        return;
    }
    bench_cell_real(&cells[COLUMN_BEST], figure->best);
    bench_cell_real(&cells[COLUMN_MEDIAN], summary.median);
    bench_cell_real(&cells[COLUMN_MIN], summary.min);
    bench_cell_real(&cells[COLUMN_MAX], summary.max);
    bench_cell_real(&cells[COLUMN_TO_PEER],
                    figure->best / rma_best_peer(run, placement, point, &ignored));
    bench_cell_real(&cells[COLUMN_TO_LIMIT],
                    figure->best / rma_best(run, placement, point, RMA_LIMIT));
}

static bool add_line(struct bench_report *report, const struct rma_run *run,
                     enum rma_placement placement, size_t point, size_t p)
{
    const struct rma_point *facts = &rma_points[point];
    const struct rma_peer *peer   = &run->peers.list[p];
    const char *given             = (p == RMA_MEMSPAN) ? run->given[point] : "";
    struct bench_cell *cells      = bench_report_row(report);

    if (cells == NULL) {
        return false;
    }
    add_numbers(cells, run, placement, point, p);
    return bench_cell_text(&cells[COLUMN_DATE], run->machine.date) &&
           bench_cell_text(&cells[COLUMN_MACHINE], run->machine.machine) &&
           bench_cell_text(&cells[COLUMN_ROW], rma_rows[facts->row].name) &&
           bench_cell_text(&cells[COLUMN_POINT], facts->name) &&
           bench_cell_text(&cells[COLUMN_PLACEMENT], rma_placement_names[placement]) &&
           bench_cell_text(&cells[COLUMN_PEER], peer->name) &&
           bench_cell_text(&cells[COLUMN_VERSION], peer->version) &&
           bench_cell_text(&cells[COLUMN_UNIT], facts->unit) &&
           bench_cell_text(&cells[COLUMN_BETTER], facts->more ? "more" : "less") &&
           bench_cell_text(&cells[COLUMN_GIVEN], (given[0] == '\0') ? NULL : given) &&
           bench_cell_text(&cells[COLUMN_RESULT], result_of(run, placement, point, p));
}

static bool add_notes(struct bench_report *report, const struct rma_run *run)
{
    bool good = true;

    for (size_t i = 0; good && (i < rma_point_count); i++) {
        good = (run->waived[i][0] == '\0') ||
               bench_report_note(report, "%s: waived: %s", rma_points[i].name, run->waived[i]);
    }
    for (size_t p = 0; p < run->peers.count; p++) {
        const struct rma_peer *peer = &run->peers.list[p];
        if (!rma_chosen(&run->plan->peers, p)) {
            continue;
        }
        good = good && bench_report_note(report, "%s: %s%s; %s; %s", peer->name,
                                         peer->present ? "" : "not measured: ",
                                         peer->present ? peer->library : peer->why, peer->compiler,
                                         peer->launcher);
        for (size_t i = 0; good && (i < RMA_PLACE_COUNT * (size_t)RMA_ROW_COUNT); i++) {
            size_t row          = i / RMA_PLACE_COUNT;
            size_t placement    = i % RMA_PLACE_COUNT;
            const char *failure = run->failures[placement][row][p];
            good                = (failure[0] == '\0') ||
                   bench_report_note(report, "%s, %s, %s: failed: %s", peer->name,
                                     rma_rows[row].name, rma_placement_names[placement], failure);
        }
    }
    return good;
}

/* A limit for partitions, or their kinds with others, would be lines of nothing. */
static bool concerns(const struct rma_run *run, enum rma_placement placement, size_t point,
                     size_t p)
{
    enum rma_row row = rma_points[point].row;

    return rma_is_measured(run, row, placement) && rma_chosen(&run->plan->peers, p) &&
           ((p == RMA_MEMSPAN) || (rma_rows[row].where != RMA_OURS));
}

static bool write_report(const struct rma_run *run)
{
    const struct rma_plan *plan = run->plan;
    struct bench_report *report = bench_report_create("rma", columns, COLUMN_COUNT);
    bool good = (report != NULL) && bench_report_head(report, "date", "%s", run->machine.date) &&
                bench_report_head(report, "machine", "%s", run->machine.machine) &&
                bench_report_head(report, "load", "%.1f", run->machine.load) &&
                bench_report_head(report, "pes", "2") &&
                bench_report_head(report, "command", "%s", plan->command) && add_notes(report, run);

    for (size_t i = 0; good && (i < rma_point_count * RMA_PLACE_COUNT * run->peers.count); i++) {
        size_t p                     = i % run->peers.count;
        enum rma_placement placement = (enum rma_placement)(i / run->peers.count % RMA_PLACE_COUNT);
        size_t point                 = i / run->peers.count / RMA_PLACE_COUNT;
        if (concerns(run, placement, point, p)) {
            good = add_line(report, run, placement, point, p);
        }
    }
    good = good && ((plan->csv == NULL) || bench_report_write_csv(report, plan->csv));
    good = good && ((plan->json == NULL) || bench_report_write_json(report, plan->json));
    bench_report_destroy(report);
    return good;
}

/* ---- the figure: what is in ns, those that were measured, a group each ---- */

static const char *const drawn[] = {"put-8",      "put-data-8", "put-8k",   "get-8",
                                    "fetch-add",  "visible-p",  "barrier",  "sum-1",
                                    "sum-131072", "alltoall-8", "malloc-64"};

enum { DRAWN_COUNT = sizeof(drawn) / sizeof(drawn[0]) };

static void fill_bar(struct bench_plot_bar *bar, const struct rma_figure *figure)
{
    struct bench_summary summary;

    if (bench_samples_summarize(&figure->medians, &summary) && (figure->best > 0)) {
        *bar = (struct bench_plot_bar){true, figure->best, figure->best, summary.median};
    }
}

/* The rows that were measured and have no bars: their figures are of other units. */
static const char *list_others(const struct rma_run *run, const size_t *points, size_t count,
                               char *text, size_t size)
{
    size_t used = 0;

    for (size_t r = 0; r < RMA_ROW_COUNT; r++) {
        size_t i;

        for (i = 0; (i < count) && ((size_t)rma_points[points[i]].row != r); i++) {
        }
        if ((i == count) && rma_chosen(&run->plan->rows, r) && (used < size)) {
            int n = snprintf(text + used, size - used, "%s%s",
                             (used == 0) ? "Not drawn, but in the table and the files: " : ", ",
                             rma_rows[r].name);
            used += (n > 0) ? (size_t)n : 0;
        }
    }
    return (used == 0) ? NULL : text;
}

static bool write_figure(const struct rma_run *run)
{
    char others[512];
    static struct bench_plot_bar bars[RMA_PLACE_COUNT][DRAWN_COUNT * RMA_PEERS_MAX];
    const char *groups[DRAWN_COUNT];
    size_t points[DRAWN_COUNT];
    const char *series[RMA_PEERS_MAX];
    size_t peers[RMA_PEERS_MAX];
    struct bench_plot_panel panels[RMA_PLACE_COUNT];
    struct bench_plot plot = {.title = "One-sided communication, by operation and library, 2 PEs",
                              .subtitle = "bars: best; thin lines: to the median of the rounds",
                              .x_title  = "operation",
                              .y_title  = "time, ns",
                              .groups   = groups,
                              .series   = series,
                              .panels   = panels,
                              .absent   = "none"};

    for (size_t i = 0; i < DRAWN_COUNT; i++) {
        size_t point = rma_point_find(drawn[i], strlen(drawn[i]));
        if (rma_chosen(&run->plan->rows, rma_points[point].row)) {
            points[plot.group_count]   = point;
            groups[plot.group_count++] = drawn[i];
        }
    }
    for (size_t p = 0; p < run->peers.count; p++) {
        if (rma_chosen(&run->plan->peers, p) && run->peers.list[p].present) {
            peers[plot.series_count]    = p;
            series[plot.series_count++] = run->peers.list[p].name;
        }
    }
    for (size_t i = 0; i < RMA_PLACE_COUNT; i++) {
        if (!rma_chosen(&run->plan->placements, i)) {
            continue;
        }
        for (size_t b = 0; b < plot.group_count * plot.series_count; b++) {
            fill_bar(&bars[i][b],
                     &run->figures[i][points[b / plot.series_count]][peers[b % plot.series_count]]);
        }
        panels[plot.panel_count++] = (struct bench_plot_panel){
            (i == RMA_PLACE_APART) ? "each PE on a processor" : "both PEs on one processor",
            bars[i]};
    }
    plot.note = list_others(run, points, plot.group_count, others, sizeof(others));
    return bench_plot_svg_write(&plot, run->plan->svg);
}

bool rma_write_files(const struct rma_run *run)
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
