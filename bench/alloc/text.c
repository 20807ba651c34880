/* SPDX-License-Identifier: BSD-3-Clause */
/* text.c: a table for each row, with a line for each peer. */

#include "bench/alloc/alloc.h"
#include <string.h>

void alloc_print_peers(const struct bench_run *run)
{
    for (size_t p = 0; p < run->peer_count; p++) {
        const struct bench_peer *peer = &run->peers[p];
        if (peer->present && !alloc_peers[p].custom) {
            fprintf(run->output.text, "# peer     %-14s %-14s %s\n", peer->name, peer->version,
                    peer->library);
        }
    }
    if (alloc_peers[ALLOC_MEMSPAN].build[0] != '\0') {
        fprintf(run->output.text, "# build    %s\n", alloc_peers[ALLOC_MEMSPAN].build);
    }
}

/* Times, rates and sizes are compared with the best; parts, counts and differences are not. */
static bool is_cost(const struct bench_point *point)
{
    const char *unit = point->unit;

    return (strcmp(point->name, "start-up-added") != 0) &&
           ((strcmp(unit, "ns") == 0) || (strcmp(unit, "us") == 0) || (strcmp(unit, "ms") == 0) ||
            (strcmp(unit, "Mops/s") == 0) || (strcmp(unit, "B") == 0));
}

static void add_cell(struct cli_table *table, const struct bench_run *run, size_t point, size_t p)
{
    const struct bench_point *facts   = &run->suite->points[point];
    const struct bench_figure *figure = &run->figures[0][point][p];
    struct bench_summary summary;
    const char *mark = "";
    size_t ignored;
    double best = bench_run_best(run, 0, point, ~0u, &ignored);

    if (!bench_samples_summarize(&figure->medians, &summary)) {
        cli_table_add(table, (run->failures[0][facts->row][p][0] != '\0') ? "failed" : "-");
        return;
    }
    if ((figure->medians.count > 2) && (summary.max > 1.25 * summary.min)) {
        mark = "~";
    }
    if (!(best > 0) || !is_cost(facts)) {
        cli_table_add(table, "%s%s", bench_number_text(summary.median).text, mark);
        return;
    }
    cli_table_add(table, "%s%s (%.2f)", bench_number_text(summary.median).text, mark,
                  summary.median / best);
}

void alloc_print_row(const struct bench_run *run, enum alloc_row row)
{
    const struct bench_suite *suite         = run->suite;
    char align[BENCH_POINTS_MAX + 2]        = "l";
    const char *heads[BENCH_POINTS_MAX + 1] = {suite->rows[row].name};
    size_t points[BENCH_POINTS_MAX + 1];
    size_t count = 1;
    struct cli_table table;

    for (size_t i = 0; i < suite->point_count; i++) {
        if (suite->points[i].row == row) {
            heads[count]    = suite->points[i].label;
            align[count]    = 'r';
            points[count++] = i;
        }
    }
    cli_table_open(&table, align);
    cli_table_add_row(&table, heads);
    for (size_t p = 0; p < run->peer_count; p++) {
        if (!bench_run_knows(run, row, 0, p)) {
            continue;
        }
        cli_table_add(&table, "%s", run->peers[p].name);
        for (size_t i = 1; i < count; i++) {
            add_cell(&table, run, points[i], p);
        }
    }
    fprintf(run->output.text, "\n%s: %s\n", suite->rows[row].name, suite->rows[row].help);
    cli_table_close_parts(&table, run->output.text);
    (void)fflush(run->output.text);
}
