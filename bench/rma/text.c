/* SPDX-License-Identifier: BSD-3-Clause */
/* What rma prints for people: a table a row, a line a point, a column a peer. */

#include "bench/common/table.h"
#include "bench/rma/rma.h"
#include <math.h>
#include <string.h>
#include <unistd.h>

static const char *const variables[] = {"MEMSPAN_", "SHMEM", "SMA_", "OMPI_", "UCX_", "FI_", "LD_"};

/* Variables that may change what a library does. */
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

static void print_peer(FILE *text, const struct rma_peer *peer)
{
    fprintf(text, "# peer     %-8s %s\n", peer->name, peer->version);
    if (peer->library[0] != '\0') {
        fprintf(text, "#          %-8s %s\n", "", peer->library);
        fprintf(text, "#          %-8s %s (%s); %s\n", "", peer->compiler, peer->built_by,
                peer->launcher);
    }
}

void rma_print_head(const struct rma_run *run)
{
    const struct bench_machine *machine = &run->machine;

    fprintf(run->text, "rma: what one-sided communication costs, 2 PEs\n");
    fprintf(run->text, "# command  %s\n", run->plan->command);
    fprintf(run->text, "# date     %s\n", machine->date);
    fprintf(run->text, "# machine  %s; load %.2f\n", machine->machine, machine->load);
    fprintf(run->text, "# rounds   %zu, interleaved; best of all batches (median of rounds)\n",
            run->plan->rounds);
    if (run->plan->quick) {
        fprintf(run->text, "# quick    few operations: the figures mean nothing\n");
    }
    print_environment(run->text);
    for (size_t i = 0; i < run->peers.count; i++) {
        if (run->peers.list[i].present) {
            print_peer(run->text, &run->peers.list[i]);
        }
    }
    (void)fflush(run->text);
}

static void number(char *cell, size_t cell_size, double value)
{
    if (isnan(value)) {
        (void)snprintf(cell, cell_size, "-");
    } else {
        (void)snprintf(cell, cell_size, (fabs(value) < 999.5) ? "%.3g" : "%.0f", value);
    }
}

static void fill_figure(char cell[BENCH_TABLE_CELL_SIZE], const struct rma_run *run,
                        enum rma_placement placement, size_t point, size_t peer)
{
    const struct rma_figure *figure = &run->figures[placement][point][peer];
    char best[12];
    char median[12];

    if (figure->medians.count == 0) {
        bool failed = run->failures[placement][rma_points[point].row][peer][0] != '\0';
        (void)snprintf(cell, BENCH_TABLE_CELL_SIZE, "%s", failed ? "failed" : "-");
        return;
    }
    number(best, sizeof(best), figure->best);
    number(median, sizeof(median), bench_samples_median(&figure->medians));
    (void)snprintf(cell, BENCH_TABLE_CELL_SIZE, "%s (%s)", best, median);
}

/* How many times better than the best peer, and how many times the limit's cost. */
static void fill_ratios(char (*cells)[BENCH_TABLE_CELL_SIZE], const struct rma_run *run,
                        enum rma_placement placement, size_t point)
{
    bool more    = rma_points[point].more;
    double ours  = rma_best(run, placement, point, RMA_MEMSPAN);
    double limit = rma_best(run, placement, point, RMA_LIMIT);
    size_t ignored;
    double peer = rma_best_peer(run, placement, point, &ignored);

    number(cells[0], BENCH_TABLE_CELL_SIZE, more ? ours / peer : peer / ours);
    number(cells[1], BENCH_TABLE_CELL_SIZE, more ? limit / ours : ours / limit);
}

static bool has_figures(const struct rma_run *run, enum rma_row row, enum rma_placement placement,
                        size_t peer)
{
    for (size_t i = 0; i < rma_point_count; i++) {
        if ((rma_points[i].row == row) && (run->figures[placement][i][peer].medians.count != 0)) {
            return true;
        }
    }
    return run->failures[placement][row][peer][0] != '\0';
}

static size_t list_columns(const struct rma_run *run, enum rma_row row,
                           enum rma_placement placement,
                           struct bench_table_column columns[BENCH_TABLE_COLUMNS_MAX],
                           size_t peers[RMA_PEERS_MAX])
{
    size_t count = 0;

    for (size_t p = 0; p < run->peers.count; p++) {
        if (has_figures(run, row, placement, p)) {
            columns[2 + count] = (struct bench_table_column){run->peers.list[p].name, true};
            peers[count++]     = p;
        }
    }
    return count;
}

void rma_print_row(const struct rma_run *run, enum rma_row row, enum rma_placement placement)
{
    struct bench_table_column columns[BENCH_TABLE_COLUMNS_MAX] = {{"#", false}, {"unit", false}};
    size_t peers[RMA_PEERS_MAX];
    size_t count = list_columns(run, row, placement, columns, peers);
    struct bench_table table;

    if (count == 0) {
        return;
    }
    columns[2 + count] = (struct bench_table_column){"x better than peers", true};
    columns[3 + count] = (struct bench_table_column){"x limit", true};
    bench_table_init(&table, columns, count + 4);
    for (size_t i = 0; i < rma_point_count; i++) {
        char(*cells)[BENCH_TABLE_CELL_SIZE];
        if ((rma_points[i].row != row) || ((cells = bench_table_row(&table)) == NULL)) {
            continue;
        }
        (void)snprintf(cells[0], sizeof(cells[0]), "%s", rma_points[i].label);
        (void)snprintf(cells[1], sizeof(cells[1]), "%s", rma_points[i].unit);
        for (size_t p = 0; p < count; p++) {
            fill_figure(cells[2 + p], run, placement, i, peers[p]);
        }
        fill_ratios(cells + 2 + count, run, placement, i);
    }
    fprintf(run->text, "\n%s%s: %s\n", rma_rows[row].name,
            (placement == RMA_PLACE_TOGETHER) ? ", both PEs on one processor" : "",
            rma_rows[row].help);
    bench_table_print(&table, run->text);
    bench_table_release(&table);
    (void)fflush(run->text);
}

static void print_failures(const struct rma_run *run, size_t p)
{
    for (int placement = 0; placement < RMA_PLACE_COUNT; placement++) {
        for (size_t r = 0; r < RMA_ROW_COUNT; r++) {
            if (run->failures[placement][r][p][0] != '\0') {
                fprintf(run->text, "%s, %s%s: FAILED: %s\n", run->peers.list[p].name,
                        rma_rows[r].name,
                        (placement == RMA_PLACE_TOGETHER) ? " on one processor" : "",
                        run->failures[placement][r][p]);
            }
        }
    }
}

void rma_print_notes(const struct rma_run *run)
{
    fprintf(run->text, "\n");
    for (size_t i = 0; i < rma_point_count; i++) {
        if (run->given[i][0] != '\0') {
            fprintf(run->text, "%s: given %s\n", rma_points[i].name, run->given[i]);
        }
        if (run->waived[i][0] != '\0') {
            fprintf(run->text, "%s: waived: %s\n", rma_points[i].name, run->waived[i]);
        }
    }
    for (size_t p = 0; p < run->peers.count; p++) {
        const struct rma_peer *peer = &run->peers.list[p];
        if (!rma_chosen(&run->plan->peers, p)) {
            continue;
        }
        if (!peer->present) {
            fprintf(run->text, "%s: not measured: %s\n", peer->name, peer->why);
        }
        print_failures(run, p);
    }
}
