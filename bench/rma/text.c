/* SPDX-License-Identifier: BSD-3-Clause */
/* text.c: a table for each row, with a line for each point and a column for each peer. */

#include "bench/common/table.h"
#include "bench/rma/rma.h"

void rma_print_peers(const struct bench_run *run)
{
    FILE *text = run->output.text;

    for (size_t p = 0; p < run->peer_count; p++) {
        const struct bench_peer *peer = &run->peers[p];
        if (!peer->present) {
            continue;
        }
        fprintf(text, "# peer     %-8s %s\n", peer->name, peer->version);
        if ((peer->library[0] == '\0') && (rma_peers[p].launcher[0] != '\0')) {
            fprintf(text, "#          %-8s %s\n", "", rma_peers[p].launcher);
        }
        if (peer->library[0] != '\0') {
            fprintf(text, "#          %-8s %s\n", "", peer->library);
            fprintf(text, "#          %-8s %s (%s); %s\n", "", rma_peers[p].compiler,
                    rma_peers[p].built_by, rma_peers[p].launcher);
        }
    }
}

static void fill_figure(char cell[BENCH_TABLE_CELL_SIZE], const struct bench_run *run,
                        enum rma_placement placement, size_t point, size_t peer)
{
    char best[12];
    char median[12];

    if (run->figures[placement][point][peer].medians.count == 0) {
        size_t row = run->suite->points[point].row;
        (void)snprintf(cell, BENCH_TABLE_CELL_SIZE, "%s",
                       (run->failures[placement][row][peer][0] != '\0') ? "failed" : "-");
        return;
    }
    bench_print_number(best, sizeof(best), bench_run_value(run, placement, point, peer));
    bench_print_number(median, sizeof(median), bench_run_median(run, placement, point, peer));
    (void)snprintf(cell, BENCH_TABLE_CELL_SIZE, "%s (%s)", best, median);
}

/* How many times better than the best peer. */
static void fill_better(char cell[BENCH_TABLE_CELL_SIZE], const struct bench_run *run,
                        enum rma_placement placement, size_t point)
{
    bool more   = run->suite->points[point].more;
    double ours = bench_run_value(run, placement, point, RMA_MEMSPAN);
    size_t ignored;
    double peer = bench_run_best(run, placement, point, bench_peers_of(run, BENCH_OTHER), &ignored);

    bench_print_number(cell, BENCH_TABLE_CELL_SIZE, more ? ours / peer : peer / ours);
}

/* How many times the limit's cost. */
static void fill_ratio(char cell[BENCH_TABLE_CELL_SIZE], const struct bench_run *run,
                       enum rma_placement placement, size_t point, size_t peer)
{
    bool more    = run->suite->points[point].more;
    double ours  = bench_run_value(run, placement, point, peer);
    double limit = bench_run_value(run, placement, point, rma_limit_of(run, peer));

    bench_print_number(cell, BENCH_TABLE_CELL_SIZE, more ? limit / ours : ours / limit);
}

/* Of ours that have a limit; its name heads the column where that is not the machine's. */
static size_t list_ratios(const struct bench_run *run, size_t ratios[BENCH_PEERS_MAX],
                          char titles[BENCH_PEERS_MAX][72])
{
    size_t count = 0;

    for (size_t p = 0; p < run->peer_count; p++) {
        size_t limit = rma_limit_of(run, p);

        if ((run->peers[p].role != BENCH_OURS) || !bench_run_uses(run, p) ||
            (limit == run->peer_count)) {
            continue;
        }
        (void)snprintf(titles[count], sizeof(titles[0]), "%s", "x limit");
        if (limit != RMA_LIMIT) {
            (void)snprintf(titles[count], sizeof(titles[0]), "%s / %s", run->peers[p].name,
                           run->peers[limit].name);
        }
        ratios[count++] = p;
    }
    return count;
}

void rma_print_row(const struct bench_run *run, size_t row, enum rma_placement placement)
{
    const struct bench_suite *suite                            = run->suite;
    struct bench_table_column columns[BENCH_TABLE_COLUMNS_MAX] = {{"#", false}, {"unit", false}};
    char titles[BENCH_PEERS_MAX][72];
    size_t peers[BENCH_PEERS_MAX];
    size_t ratios[BENCH_PEERS_MAX];
    size_t ratio_count = list_ratios(run, ratios, titles);
    size_t count       = 0;
    struct bench_table table;

    for (size_t p = 0; p < run->peer_count; p++) {
        if (bench_run_knows(run, row, placement, p)) {
            columns[2 + count] = (struct bench_table_column){run->peers[p].name, true};
            peers[count++]     = p;
        }
    }
    if (count == 0) {
        return;
    }
    columns[2 + count] = (struct bench_table_column){"x better than peers", true};
    for (size_t r = 0; r < ratio_count; r++) {
        columns[3 + count + r] = (struct bench_table_column){titles[r], true};
    }
    bench_table_init(&table, columns, 3 + count + ratio_count);
    for (size_t i = 0; i < suite->point_count; i++) {
        char(*cells)[BENCH_TABLE_CELL_SIZE];
        if ((suite->points[i].row != row) || ((cells = bench_table_row(&table)) == NULL)) {
            continue;
        }
        (void)snprintf(cells[0], sizeof(cells[0]), "%s", suite->points[i].label);
        (void)snprintf(cells[1], sizeof(cells[1]), "%s", suite->points[i].unit);
        for (size_t p = 0; p < count; p++) {
            fill_figure(cells[2 + p], run, placement, i, peers[p]);
        }
        fill_better(cells[2 + count], run, placement, i);
        for (size_t r = 0; r < ratio_count; r++) {
            fill_ratio(cells[3 + count + r], run, placement, i, ratios[r]);
        }
    }
    fprintf(run->output.text, "\n%s%s: %s\n", suite->rows[row].name,
            suite->placements[placement].note, suite->rows[row].help);
    bench_table_print(&table, run->output.text);
    bench_table_release(&table);
    (void)fflush(run->output.text);
}
