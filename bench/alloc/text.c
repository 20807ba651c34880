/* SPDX-License-Identifier: BSD-3-Clause */
/* What alloc prints for people: a table a row, a line a peer. */

#include "bench/alloc/alloc.h"
#include "bench/common/table.h"
#include <math.h>
#include <string.h>
#include <unistd.h>

static const char *const variables[] = {"MEMSPAN_", "MALLOC_", "MIMALLOC_", "OMP_",
                                        "GOMP_",    "KMP_",    "LD_",       "MEMKIND_"};

/* Variables that may change what a worker does. */
static void print_environment(FILE *text)
{
    for (size_t i = 0; environ[i] != NULL; i++) {
        for (size_t v = 0; v < sizeof(variables) / sizeof(variables[0]); v++) {
            if (strncmp(environ[i], variables[v], strlen(variables[v])) == 0) {
                fprintf(text, "# set      %.120s\n", environ[i]);
            }
        }
    }
}

void alloc_print_head(const struct alloc_run *run)
{
    const struct bench_machine *machine = &run->machine;

    fprintf(run->text, "alloc: what allocation costs\n");
    fprintf(run->text, "# command  %s\n", run->plan->command);
    fprintf(run->text, "# date     %s\n", machine->date);
    fprintf(run->text, "# machine  %s; load %.2f\n", machine->machine, machine->load);
    fprintf(run->text, "# rounds   %zu, interleaved; medians; ns are thread processor time\n",
            run->plan->rounds);
    fprintf(run->text,
            "# (times the best of the column)   ~ rounds differ by more than a quarter\n");
    if (run->plan->quick) {
        fprintf(run->text, "# quick    few operations: the figures mean nothing\n");
    }
    print_environment(run->text);
    for (size_t i = 0; i < run->peers.count; i++) {
        const struct alloc_peer *peer = &run->peers.list[i];
        if (peer->present && !peer->custom) {
            fprintf(run->text, "# peer     %-14s %-14s %s\n", peer->name, peer->version,
                    peer->library);
        }
    }
    if (run->peers.list[ALLOC_MEMSPAN].build[0] != '\0') {
        fprintf(run->text, "# build    %s\n", run->peers.list[ALLOC_MEMSPAN].build);
    }
    (void)fflush(run->text);
}

/* Times the best says something of times, rates and sizes; not of parts, counts and differences. */
static bool is_cost(const struct alloc_point *point)
{
    const char *unit = point->unit;

    return (strcmp(point->name, "start-up-added") != 0) &&
           ((strcmp(unit, "ns") == 0) || (strcmp(unit, "us") == 0) || (strcmp(unit, "ms") == 0) ||
            (strcmp(unit, "Mops/s") == 0) || (strcmp(unit, "B") == 0));
}

static void fill_cell(char cell[BENCH_TABLE_CELL_SIZE], const struct alloc_run *run, size_t point,
                      size_t peer)
{
    struct bench_summary summary;
    size_t ignored;
    double best = alloc_best(run, point, NULL, &ignored);
    double times;
    const char *mark = "";
    char value[16];

    if (!bench_samples_summarize(&run->samples[point][peer], &summary)) {
        (void)snprintf(cell, BENCH_TABLE_CELL_SIZE,
                       (run->failures[alloc_points[point].row][peer][0] != '\0') ? "failed" : "-");
        return;
    }
    if ((run->samples[point][peer].count > 2) && (summary.max > 1.25 * summary.min)) {
        mark = "~";
    }
    (void)snprintf(value, sizeof(value), (summary.median < 999.5) ? "%.3g" : "%.0f",
                   summary.median);
    times = summary.median / best;
    if (!(best > 0) || !is_cost(&alloc_points[point])) {
        (void)snprintf(cell, BENCH_TABLE_CELL_SIZE, "%s%s", value, mark);
        return;
    }
    (void)snprintf(cell, BENCH_TABLE_CELL_SIZE, "%s%s (%.2f)", value, mark, times);
}

static bool has_samples(const struct alloc_run *run, enum alloc_row row, size_t peer)
{
    for (size_t i = 0; i < alloc_point_count; i++) {
        if ((alloc_points[i].row == row) && (run->samples[i][peer].count != 0)) {
            return true;
        }
    }
    return run->failures[row][peer][0] != '\0';
}

void alloc_print_row(const struct alloc_run *run, enum alloc_row row)
{
    struct bench_table_column columns[BENCH_TABLE_COLUMNS_MAX] = {{alloc_rows[row].name, false}};
    size_t points[BENCH_TABLE_COLUMNS_MAX];
    size_t count = 1;
    struct bench_table table;

    for (size_t i = 0; (i < alloc_point_count) && (count < BENCH_TABLE_COLUMNS_MAX); i++) {
        if (alloc_points[i].row == row) {
            columns[count]  = (struct bench_table_column){alloc_points[i].label, true};
            points[count++] = i;
        }
    }
    bench_table_init(&table, columns, count);
    for (size_t p = 0; p < run->peers.count; p++) {
        char(*cells)[BENCH_TABLE_CELL_SIZE];
        if (!has_samples(run, row, p) || ((cells = bench_table_row(&table)) == NULL)) {
            continue;
        }
        (void)snprintf(cells[0], sizeof(cells[0]), "%s", run->peers.list[p].name);
        for (size_t i = 1; i < count; i++) {
            fill_cell(cells[i], run, points[i], p);
        }
    }
    fprintf(run->text, "\n%s: %s\n", alloc_rows[row].name, alloc_rows[row].help);
    bench_table_print(&table, run->text);
    bench_table_release(&table);
    (void)fflush(run->text);
}

void alloc_print_notes(const struct alloc_run *run)
{
    for (size_t p = 0; p < run->peers.count; p++) {
        const struct alloc_peer *peer = &run->peers.list[p];
        if (!alloc_chosen(&run->plan->peers, p)) {
            continue;
        }
        if (!peer->present) {
            fprintf(run->text, "%s: not measured: %s\n", peer->name, peer->why);
        }
        for (size_t r = 0; r < ALLOC_ROW_COUNT; r++) {
            if (run->failures[r][p][0] != '\0') {
                fprintf(run->text, "%s, %s: FAILED: %s\n", peer->name, alloc_rows[r].name,
                        run->failures[r][p]);
            }
        }
    }
}
