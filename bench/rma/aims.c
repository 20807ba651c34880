/* SPDX-License-Identifier: BSD-3-Clause */
/* What the library aims at, beside what this run measured: best against best, since what lies above
 * the best was somebody else's. */

#include "bench/common/table.h"
#include "bench/rma/rma.h"
#include <math.h>
#include <string.h>

enum aim_form {
    AIM_FASTER,   /* the best peer's over ours, at least */
    AIM_LIMIT,    /* ours over the limit's, at most */
    AIM_AT_MOST,  /* our value */
    AIM_BARRIERS, /* ours, at most two of our barriers and so many ns */
    AIM_POINT     /* ours over another point of ours, at most: medians, both were interleaved */
};

struct aim {
    const char *what;
    const char *point;
    enum aim_form form;
    double bound;
    enum rma_placement placement;
    const char *against; /* AIM_POINT: the other point */
};

#define APART    RMA_PLACE_APART
#define TOGETHER RMA_PLACE_TOGETHER
static const struct aim aims[] = {
    {"8 B put + quiet", "put-8", AIM_FASTER, 2.5, APART, NULL},
    {"the same, data segment", "put-data-8", AIM_FASTER, 2.5, APART, NULL},
    {"8 B get", "get-8", AIM_FASTER, 2, APART, NULL},
    {"fetch_add", "fetch-add", AIM_FASTER, 2, APART, NULL},
    {"put 8 KiB", "put-8k", AIM_LIMIT, 1.05, APART, NULL},
    {"put 64 KiB", "put-64k", AIM_LIMIT, 1.05, APART, NULL},
    {"put 1 MiB", "put-1m", AIM_LIMIT, 1.05, APART, NULL},
    {"put 4 MiB", "put-4m", AIM_LIMIT, 1.05, APART, NULL},
    {"get 8 KiB", "get-8k", AIM_LIMIT, 1.05, APART, NULL},
    {"get 64 KiB", "get-64k", AIM_LIMIT, 1.05, APART, NULL},
    {"get 1 MiB", "get-1m", AIM_LIMIT, 1.05, APART, NULL},
    {"get 4 MiB", "get-4m", AIM_LIMIT, 1.05, APART, NULL},
    {"barrier, two round trips", "barrier", AIM_LIMIT, 1.3, APART, NULL},
    {"int sum 1", "sum-1", AIM_FASTER, 1, APART, NULL},
    {"int sum 1,024", "sum-1024", AIM_FASTER, 1, APART, NULL},
    {"int sum 131,072", "sum-131072", AIM_FASTER, 1, APART, NULL},
    {"alltoall 8 B", "alltoall-8", AIM_FASTER, 1, APART, NULL},
    {"alltoall 64 KiB", "alltoall-64k", AIM_FASTER, 1, APART, NULL},
    {"malloc + free, 64 B", "malloc-64", AIM_BARRIERS, 50, APART, NULL},
    {"visible, raw flags", "visible-p", AIM_LIMIT, 1.2, APART, NULL},
    {"start, ms", "start-wall", AIM_AT_MOST, 20, APART, NULL},
    {"resident, MiB", "rss", AIM_AT_MOST, 12, APART, NULL},
    {"one processor: barrier, ns", "barrier", AIM_AT_MOST, 20000, TOGETHER, NULL},
    {"one processor: sum 1, ns", "sum-1", AIM_AT_MOST, 40000, TOGETHER, NULL},
    {"one processor: visible, ns", "visible-p", AIM_AT_MOST, 20000, TOGETHER, NULL},
    {"eight partitions against one", "partition-8", AIM_POINT, 1.02, APART, "partition-1"},
};

static const struct bench_table_column columns[] = {
    {"what", false},  {"aim", false},        {"ours", true},   {"beside", true},
    {"whose", false}, {"ours/beside", true}, {"result", false}};

enum { COLUMN_COUNT = sizeof(columns) / sizeof(columns[0]) };

static void number(char cell[BENCH_TABLE_CELL_SIZE], double value)
{
    if (isnan(value)) {
        (void)snprintf(cell, BENCH_TABLE_CELL_SIZE, "-");
    } else {
        (void)snprintf(cell, BENCH_TABLE_CELL_SIZE, (fabs(value) < 999.5) ? "%.3g" : "%.0f", value);
    }
}

static void describe_aim(char cell[BENCH_TABLE_CELL_SIZE], const struct aim *aim)
{
    switch (aim->form) {
    case AIM_FASTER:
        (void)snprintf(cell, BENCH_TABLE_CELL_SIZE, ">= %g x faster", aim->bound);
        break;
    case AIM_LIMIT:
        (void)snprintf(cell, BENCH_TABLE_CELL_SIZE, "<= %g x limit", aim->bound);
        break;
    case AIM_AT_MOST:
        (void)snprintf(cell, BENCH_TABLE_CELL_SIZE, "<= %g", aim->bound);
        break;
    case AIM_BARRIERS:
        (void)snprintf(cell, BENCH_TABLE_CELL_SIZE, "<= 2 barriers + %g ns", aim->bound);
        break;
    case AIM_POINT:
        (void)snprintf(cell, BENCH_TABLE_CELL_SIZE, "<= %g x", aim->bound);
        break;
    }
}

/* What stands beside our value, and whose it is. */
static double find_beside(const struct rma_run *run, const struct aim *aim, size_t point,
                          const char **whose_p)
{
    size_t peer = RMA_MEMSPAN;
    double value;

    switch (aim->form) {
    case AIM_FASTER:
        value    = rma_best_peer(run, aim->placement, point, &peer);
        *whose_p = run->peers.list[peer].name;
        return value;
    case AIM_LIMIT:
        *whose_p = "limit";
        return rma_best(run, aim->placement, point, RMA_LIMIT);
    case AIM_BARRIERS:
        *whose_p = "2 barriers";
        return 2 * rma_best(run, aim->placement, rma_point_find("barrier", 7), RMA_MEMSPAN);
    case AIM_POINT:
        *whose_p = aim->against;
        return bench_samples_median(&run->figures[aim->placement][rma_point_find(
            aim->against, strlen(aim->against))][RMA_MEMSPAN]
                                         .medians);
    case AIM_AT_MOST:
        break;
    }
    *whose_p = "-";
    return NAN;
}

static double find_ours(const struct rma_run *run, const struct aim *aim, size_t point)
{
    return (aim->form == AIM_POINT)
               ? bench_samples_median(&run->figures[aim->placement][point][RMA_MEMSPAN].medians)
               : rma_best(run, aim->placement, point, RMA_MEMSPAN);
}

/* NULL where something was not measured. */
static const char *judge(const struct aim *aim, double ours, double beside)
{
    bool met = false;

    if (isnan(ours) || (isnan(beside) && (aim->form != AIM_AT_MOST))) {
        return NULL;
    }
    switch (aim->form) {
    case AIM_FASTER:
        met = beside >= aim->bound * ours;
        break;
    case AIM_LIMIT:
    case AIM_POINT:
        met = ours <= aim->bound * beside;
        break;
    case AIM_AT_MOST:
        met = ours <= aim->bound;
        break;
    case AIM_BARRIERS:
        met = ours <= beside + aim->bound;
        break;
    }
    return met ? "met" : "NOT MET";
}

void rma_print_aims(const struct rma_run *run)
{
    struct bench_table table;
    size_t judged = 0;
    size_t met    = 0;

    bench_table_init(&table, columns, COLUMN_COUNT);
    for (size_t i = 0; i < sizeof(aims) / sizeof(aims[0]); i++) {
        const struct aim *aim = &aims[i];
        size_t point          = rma_point_find(aim->point, strlen(aim->point));
        const char *whose     = "-";
        double ours           = find_ours(run, aim, point);
        double beside         = find_beside(run, aim, point, &whose);
        const char *result    = judge(aim, ours, beside);
        char(*cells)[BENCH_TABLE_CELL_SIZE];

        if (!rma_is_measured(run, rma_points[point].row, aim->placement) ||
            ((cells = bench_table_row(&table)) == NULL)) {
            continue;
        }
        (void)snprintf(cells[0], sizeof(cells[0]), "%s", aim->what);
        describe_aim(cells[1], aim);
        number(cells[2], ours);
        number(cells[3], beside);
        (void)snprintf(cells[4], sizeof(cells[4]), "%s", isnan(beside) ? "-" : whose);
        number(cells[5], (beside != 0) ? ours / beside : NAN);
        (void)snprintf(cells[6], sizeof(cells[6]), "%s",
                       (result == NULL) ? "not measured" : result);
        judged += (result != NULL) ? 1 : 0;
        met += ((result != NULL) && (strcmp(result, "met") == 0)) ? 1 : 0;
    }
    fprintf(run->text, "\naims: %zu of %zu met\n", met, judged);
    bench_table_print(&table, run->text);
    bench_table_release(&table);
}
