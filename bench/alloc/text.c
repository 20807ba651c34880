/* SPDX-License-Identifier: BSD-3-Clause */
/* text.c: a table for each row, with a line for each peer. */

#include "bench/alloc/alloc.h"
#include "bench/common/table.h"
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

static void fill_cell(char cell[BENCH_TABLE_CELL_SIZE], const struct bench_run *run, size_t point,
                      size_t p)
{
    const struct bench_point *facts   = &run->suite->points[point];
    const struct bench_figure *figure = &run->figures[0][point][p];
    struct bench_summary summary;
    const char *mark = "";
    size_t ignored;
    double best = bench_run_best(run, 0, point, ~0u, &ignored);
    char value[16];

    if (!bench_samples_summarize(&figure->medians, &summary)) {
        (void)snprintf(cell, BENCH_TABLE_CELL_SIZE,
                       (run->failures[0][facts->row][p][0] != '\0') ? "failed" : "-");
        return;
    }
    if ((figure->medians.count > 2) && (summary.max > 1.25 * summary.min)) {
        mark = "~";
    }
    bench_print_number(value, sizeof(value), summary.median);
    if (!(best > 0) || !is_cost(facts)) {
        (void)snprintf(cell, BENCH_TABLE_CELL_SIZE, "%s%s", value, mark);
        return;
    }
    (void)snprintf(cell, BENCH_TABLE_CELL_SIZE, "%s%s (%.2f)", value, mark, summary.median / best);
}

void alloc_print_row(const struct bench_run *run, enum alloc_row row)
{
    const struct bench_suite *suite                            = run->suite;
    struct bench_table_column columns[BENCH_TABLE_COLUMNS_MAX] = {{suite->rows[row].name, false}};
    size_t points[BENCH_TABLE_COLUMNS_MAX];
    size_t count = 1;
    struct bench_table table;

    for (size_t i = 0; (i < suite->point_count) && (count < BENCH_TABLE_COLUMNS_MAX); i++) {
        if (suite->points[i].row == row) {
            columns[count]  = (struct bench_table_column){suite->points[i].label, true};
            points[count++] = i;
        }
    }
    bench_table_init(&table, columns, count);
    for (size_t p = 0; p < run->peer_count; p++) {
        char(*cells)[BENCH_TABLE_CELL_SIZE];
        if (!bench_run_knows(run, row, 0, p) || ((cells = bench_table_row(&table)) == NULL)) {
            continue;
        }
        (void)snprintf(cells[0], sizeof(cells[0]), "%s", run->peers[p].name);
        for (size_t i = 1; i < count; i++) {
            fill_cell(cells[i], run, points[i], p);
        }
    }
    fprintf(run->output.text, "\n%s: %s\n", suite->rows[row].name, suite->rows[row].help);
    bench_table_print(&table, run->output.text);
    bench_table_release(&table);
    (void)fflush(run->output.text);
}
