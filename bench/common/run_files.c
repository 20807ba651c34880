/* SPDX-License-Identifier: BSD-3-Clause */
/* run_files.c: a run as CSV and JSON, a row for each point, placement and peer, and as a drawing.
 */

#include "bench/common/bench.h"
#include <math.h>
#include <string.h>

enum { DRAWN_MAX = 16 };

static void put_note(void *report, const char *text)
{
    bench_report_note(report, "%s", text);
}

static void put_notes(struct bench_report *report, const struct bench_run *run)
{
    const struct bench_suite *suite = run->suite;

    if (suite->make_notes != NULL) {
        suite->make_notes(run, put_note, report);
        return;
    }
    for (size_t i = 0; i < suite->point_count; i++) {
        if (run->waived[i][0] != '\0') {
            bench_report_note(report, "%s: waived: %s", suite->points[i].name, run->waived[i]);
        }
    }
    for (size_t p = 0; p < run->peer_count; p++) {
        const struct bench_peer *peer = &run->peers[p];
        if ((run->chosen & (1u << p)) == 0) {
            continue;
        }
        bench_report_note(report, "%s: %s%s; %s", peer->name, peer->present ? "" : "not measured: ",
                          peer->present ? peer->library : peer->why, peer->origin);
        for (size_t i = 0; i < suite->placement_count * suite->row_count; i++) {
            size_t placement    = i / suite->row_count;
            size_t row          = i % suite->row_count;
            const char *failure = run->failures[placement][row][p];
            if (failure[0] != '\0') {
                bench_report_note(report, "%s, %s%s: failed: %s", peer->name, suite->rows[row].name,
                                  suite->placements[placement].note, failure);
            }
        }
    }
}

void bench_run_put_row(struct bench_report *report, const struct bench_run *run, unsigned placement,
                       size_t point, size_t p)
{
    const struct bench_suite *suite   = run->suite;
    const struct bench_figure *figure = &run->figures[placement][point][p];
    struct bench_summary summary      = {.median = NAN, .min = NAN, .max = NAN};
    const char *given                 = (run->peers[p].role == BENCH_OURS) ? run->given[point] : "";
    double value                      = bench_run_value(run, placement, point, p);
    unsigned others                   = bench_peers_of(run, BENCH_OTHER);
    size_t ours  = (run->peers[p].role == BENCH_OURS) ? p : bench_run_ours(run);
    size_t limit = (suite->limit_of == NULL) ? run->peer_count : suite->limit_of(run, ours);
    size_t ignored;

    (void)bench_samples_summarize(&figure->medians, &summary);
    bench_put_text(report, "date", run->output.machine.date);
    bench_put_text(report, "machine", run->output.machine.machine);
    bench_put_text(report, "row", suite->rows[suite->points[point].row].name);
    bench_put_text(report, "point", suite->points[point].name);
    bench_put_text(report, "placement", suite->placements[placement].name);
    bench_put_text(report, "peer", run->peers[p].name);
    bench_put_text(report, "version", run->peers[p].version);
    bench_put_text(report, "unit", suite->points[point].unit);
    bench_put_text(report, "better", suite->points[point].more ? "more" : "less");
    bench_put_count(report, "rounds", (int64_t)figure->medians.count);
    bench_put_real(report, "best", value);
    bench_put_real(report, "median", summary.median);
    bench_put_real(report, "median_min", summary.min);
    bench_put_real(report, "median_max", summary.max);
    bench_put_real(report, "ratio_to_best_peer",
                   value / bench_run_best(run, placement, point, others, &ignored));
    bench_put_real(
        report, "ratio_to_limit",
        (limit == run->peer_count) ? NAN : value / bench_run_value(run, placement, point, limit));
    bench_put_text(report, "given", (given[0] == '\0') ? NULL : given);
    bench_put_text(report, "result", bench_run_result(run, placement, point, p));
}

static bool concerns(const struct bench_run *run, unsigned placement, size_t point, size_t p)
{
    size_t row = run->suite->points[point].row;

    return bench_run_has(run, row, placement) && ((run->chosen & (1u << p)) != 0) &&
           (!run->suite->rows[row].ours_only || (run->peers[p].role == BENCH_OURS)) &&
           ((run->suite->has_row == NULL) || run->suite->has_row(run, placement, point, p));
}

void bench_run_report(const struct bench_run *run, struct bench_report *report_p)
{
    const struct bench_suite *suite = run->suite;

    bench_output_report(&run->output, report_p, suite->name);
    suite->put_head(report_p, run);
    put_notes(report_p, run);
    bench_report_row(report_p); /* its columns stand in a report without rows too */
    suite->put_row(report_p, run, 0, 0, 0);
    bench_report_drop(report_p);
    for (size_t i = 0; i < suite->point_count * suite->placement_count * run->peer_count; i++) {
        size_t p           = i % run->peer_count;
        unsigned placement = (unsigned)(i / run->peer_count % suite->placement_count);
        size_t point       = i / run->peer_count / suite->placement_count;
        if (concerns(run, placement, point, p)) {
            bench_report_row(report_p);
            suite->put_row(report_p, run, placement, point, p);
        }
    }
}

static bool write_report(const struct bench_run *run)
{
    struct bench_report report;
    bool good;

    bench_run_report(run, &report);
    good = bench_output_write(&run->output, &report);
    bench_report_release(&report);
    return good;
}

/* ---- the drawing: a group for each point, a bar for each peer, a panel for each placement ---- */

static struct bench_plot_bar make_bar(const struct bench_run *run,
                                      const struct bench_figure *figure, double scale)
{
    struct bench_summary summary;

    if (!bench_samples_summarize(&figure->medians, &summary)) {
        return (struct bench_plot_bar){.present = false};
    }
    if (run->suite->best) {
        return (struct bench_plot_bar){figure->best > 0, figure->best * scale, figure->best * scale,
                                       summary.median * scale};
    }
    return (struct bench_plot_bar){summary.min > 0, summary.median * scale, summary.min * scale,
                                   summary.max * scale};
}

/* The rows that were measured and have no bars; NULL where there are none. */
static const char *list_others(const struct bench_run *run, const size_t *points, size_t count,
                               char *text, size_t size)
{
    size_t used = 0;

    for (size_t r = 0; (r < run->suite->row_count) && (used < size); r++) {
        size_t i;

        for (i = 0; (i < count) && (run->suite->points[points[i]].row != r); i++) {
        }
        if ((i == count) && ((run->rows & (1u << r)) != 0)) {
            used +=
                (size_t)snprintf(text + used, size - used, "%s%s",
                                 (used == 0) ? "Not drawn, but in the table and the files: " : ", ",
                                 run->suite->rows[r].name);
        }
    }
    return (used == 0) ? NULL : text;
}

/* "FILE-NAME.svg" for "FILE.svg". */
static const char *name_figure(const char *file, const char *name, char *path, size_t size)
{
    size_t length = strlen(file);
    bool ends     = (length > 4) && (strcmp(file + length - 4, ".svg") == 0);

    (void)snprintf(path, size, "%.*s%s%s%s", (int)(ends ? length - 4 : length), file,
                   (name[0] == '\0') ? "" : "-", name, ends ? ".svg" : "");
    return path;
}

static bool write_figure(const struct bench_run *run, const struct bench_drawing *drawing)
{
    static struct bench_plot_bar bars[BENCH_PLACEMENTS_MAX][DRAWN_MAX * BENCH_PEERS_MAX];
    const struct bench_suite *suite = run->suite;
    struct bench_plot_panel panels[BENCH_PLACEMENTS_MAX];
    struct bench_plot plot = drawing->plot;
    const char *groups[DRAWN_MAX];
    const char *series[BENCH_PEERS_MAX];
    size_t points[DRAWN_MAX];
    size_t peers[BENCH_PEERS_MAX];
    char others[512];
    char path[4096];
    char y_title[128];
    char subtitle[256];

    for (size_t i = 0; drawing->points[i] != NULL; i++) {
        size_t point = bench_point(suite, drawing->points[i]);
        if ((run->rows & (1u << suite->points[point].row)) != 0) {
            points[plot.group_count] = point;
            groups[plot.group_count++] =
                drawing->by_label ? suite->points[point].label : drawing->points[i];
        }
    }
    if ((plot.group_count == 0) && (suite->drawing_count > 1)) {
        return true; /* of rows that were not chosen */
    }
    for (size_t p = 0; p < run->peer_count; p++) {
        if (bench_run_uses(run, p)) {
            peers[plot.series_count]    = p;
            series[plot.series_count++] = run->peers[p].name;
        }
    }
    for (size_t i = 0; i < suite->placement_count; i++) {
        if ((run->placements & (1u << i)) == 0) {
            continue;
        }
        for (size_t b = 0; b < plot.group_count * plot.series_count; b++) {
            bars[i][b] = make_bar(
                run, &run->figures[i][points[b / plot.series_count]][peers[b % plot.series_count]],
                (drawing->scale == 0) ? 1 : drawing->scale);
        }
        panels[plot.panel_count++] = (struct bench_plot_panel){suite->placements[i].title, bars[i]};
    }
    (void)snprintf(y_title, sizeof(y_title), "%s (logarithmic; %s is better)", plot.y_title,
                   ((plot.group_count > 0) && suite->points[points[0]].more) ? "higher" : "lower");
    (void)snprintf(subtitle, sizeof(subtitle), "%s%s", plot.subtitle,
                   run->quick ? "; a quick run: whether it works, not what it costs" : "");
    plot.y_title  = y_title;
    plot.subtitle = subtitle;
    plot.groups   = groups;
    plot.series   = series;
    plot.panels   = panels;
    plot.absent   = "none";
    if (suite->drawing_count == 1) {
        plot.note = list_others(run, points, plot.group_count, others, sizeof(others));
    }
    return bench_plot_svg_write(&plot,
                                name_figure(run->output.svg, drawing->name, path, sizeof(path)));
}

bool bench_run_write(const struct bench_run *run)
{
    bool good = true;

    if ((run->output.csv != NULL) || (run->output.json != NULL)) {
        good = write_report(run);
    }
    for (size_t i = 0; (run->output.svg != NULL) && (i < run->suite->drawing_count); i++) {
        good = write_figure(run, &run->suite->drawings[i]) && good;
    }
    return good;
}
