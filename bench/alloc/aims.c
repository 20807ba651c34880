/* SPDX-License-Identifier: BSD-3-Clause */
/* What the engine aims at, beside what this run measured. */

#include "bench/alloc/alloc.h"
#include "bench/common/table.h"
#include <math.h>
#include <string.h>

enum aim_form {
    AIM_AT_MOST,  /* our value */
    AIM_AT_LEAST, /* our value */
    AIM_TIMES,    /* ours over the best peer's, at most */
    AIM_FASTER,   /* the best peer's over ours, at least */
    AIM_RATE      /* ours over the best peer's, at least: throughput */
};

struct aim {
    const char *what;
    const char *point;
    const char *against; /* another point of ours instead of a peer's; NULL: the same point */
    size_t ours;         /* ALLOC_MEMSPAN or ALLOC_MEMSPAN_CUSTOM */
    enum aim_form form;
    double bound;
    const char *families; /* whose; NULL: for orientation, everyone's */
};

#define DEFAULT ALLOC_MEMSPAN
#define CUSTOM  ALLOC_MEMSPAN_CUSTOM
static const struct aim aims[] = {
    {"pair 64 B", "pair-64", NULL, DEFAULT, AIM_TIMES, 1.3, "mimalloc"},
    {"pair 64 B, custom", "pair-64", NULL, CUSTOM, AIM_TIMES, 1.3, "mimalloc"},
    {"pair 64 B, custom", "pair-64", NULL, CUSTOM, AIM_FASTER, 3, "libgomp-custom"},
    {"pair 64 B, custom", "pair-64", NULL, CUSTOM, AIM_FASTER, 6, "libomp-custom"},
    {"random, 10,000 live", "random", NULL, DEFAULT, AIM_TIMES, 1.1, "jemalloc,mimalloc"},
    {"random, custom", "random", NULL, CUSTOM, AIM_TIMES, 1.1, "jemalloc,mimalloc"},
    {"random, written", "random-write", NULL, DEFAULT, AIM_TIMES, 1.1, "jemalloc,mimalloc"},
    {"2 threads, CPU", "threads", NULL, DEFAULT, AIM_RATE, 1, "mimalloc"},
    {"2 threads, clock", "threads-wall", NULL, DEFAULT, AIM_RATE, 1, "mimalloc"},
    {"2 threads, pairs", "threads-pair", NULL, DEFAULT, AIM_RATE, 1, "mimalloc"},
    {"producer/consumer, clock", "producer-consumer", NULL, DEFAULT, AIM_RATE, 1,
     "jemalloc,mimalloc"},
    {"producer/consumer, CPU", "producer-consumer-cpu", NULL, DEFAULT, AIM_TIMES, 1, "mimalloc"},
    {"bytes per 64 B object", "footprint", NULL, DEFAULT, AIM_AT_MOST, 66, NULL},
    {"bytes, custom", "footprint", NULL, CUSTOM, AIM_AT_MOST, 66, NULL},
    {"usable of pool_size, %", "limit-usable", NULL, DEFAULT, AIM_AT_LEAST, 94, NULL},
    {"the same by 2 threads, %", "limit-usable-threads", NULL, DEFAULT, AIM_AT_LEAST, 94, NULL},
    {"wrong refusals per M", "limit-wrong", NULL, DEFAULT, AIM_AT_MOST, 0, NULL},
    {"overshoot, B", "limit-overshoot", NULL, DEFAULT, AIM_AT_MOST, 0, NULL},
    {"refusal", "limit-refusal", NULL, DEFAULT, AIM_TIMES, 1, "libgomp"},
    {"refusal of all of it, ns", "limit-refusal-large", NULL, DEFAULT, AIM_AT_MOST, 5, NULL},
    {"init + destroy", "init-destroy", NULL, DEFAULT, AIM_TIMES, 1, "libgomp"},
    {"the same with a block", "init-alloc-destroy", NULL, DEFAULT, AIM_TIMES, 1, "libgomp"},
    {"start-up added, ms", "start-up-added", NULL, DEFAULT, AIM_AT_MOST, 0.3,
     "jemalloc,mimalloc,memkind,libgomp,libomp"},
    {"device mix to 64 KiB, ns", "device-mix-64k", NULL, DEFAULT, AIM_AT_MOST, 20, "umf"},
    {"device mix to 1 MiB, ns", "device-mix-1m", NULL, DEFAULT, AIM_AT_MOST, 20, "umf"},
    {"fill, uniform, %", "fill", NULL, DEFAULT, AIM_AT_LEAST, 97, NULL},
    {"fill, log-uniform, %", "fill-log", NULL, DEFAULT, AIM_AT_LEAST, 97, NULL},
    {"lookup, 1 region, ns", "lookup-1", NULL, DEFAULT, AIM_AT_MOST, 2, NULL},
    {"lookup, 64 regions, ns", "lookup-64", NULL, DEFAULT, AIM_AT_MOST, 2, NULL},
    {"lookup, 10,000, ns", "lookup-10000", NULL, DEFAULT, AIM_AT_MOST, 2, NULL},
    {"kept by 16 threads, MiB", "kept", NULL, DEFAULT, AIM_TIMES, 1, "jemalloc,mimalloc"},
    {"3 s later, MiB", "kept-later", NULL, DEFAULT, AIM_TIMES, 1, "jemalloc,mimalloc"},
    {"kept of phases, MiB", "phases", NULL, DEFAULT, AIM_TIMES, 1, "jemalloc,mimalloc"},
    {"3 s later, MiB", "phases-later", NULL, DEFAULT, AIM_TIMES, 1, "jemalloc,mimalloc"},
    {"growth by realloc", "growth-write", NULL, DEFAULT, AIM_TIMES, 2, "libgomp"},
    {"lookup, 10,000 against 1", "lookup-10000", "lookup-1", DEFAULT, AIM_TIMES, 1.25, NULL},
};

static const struct bench_table_column columns[] = {
    {"what", false},  {"aim", false},      {"ours", true},   {"best peer", true},
    {"whose", false}, {"ours/peer", true}, {"result", false}};

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
    const char *whose = (aim->against != NULL)    ? "1 region"
                        : (aim->families == NULL) ? ""
                                                  : aim->families;

    switch (aim->form) {
    case AIM_AT_MOST:
        (void)snprintf(cell, BENCH_TABLE_CELL_SIZE, "<= %g", aim->bound);
        break;
    case AIM_AT_LEAST:
        (void)snprintf(cell, BENCH_TABLE_CELL_SIZE, ">= %g", aim->bound);
        break;
    case AIM_TIMES:
        (void)snprintf(cell, BENCH_TABLE_CELL_SIZE, "<= %g x %s", aim->bound, whose);
        break;
    case AIM_FASTER:
        (void)snprintf(cell, BENCH_TABLE_CELL_SIZE, "%g x faster", aim->bound);
        break;
    case AIM_RATE:
        (void)snprintf(cell, BENCH_TABLE_CELL_SIZE, ">= %g x %s", aim->bound, whose);
        break;
    }
}

/* NULL where something was not measured. */
static const char *judge(const struct aim *aim, double ours, double theirs)
{
    bool met = false;

    if (isnan(ours) ||
        (isnan(theirs) && (aim->form != AIM_AT_MOST) && (aim->form != AIM_AT_LEAST))) {
        return NULL;
    }
    switch (aim->form) {
    case AIM_AT_MOST:
        met = ours <= aim->bound;
        break;
    case AIM_AT_LEAST:
        met = ours >= aim->bound;
        break;
    case AIM_TIMES:
        met = ours <= aim->bound * theirs;
        break;
    case AIM_FASTER:
        met = theirs >= aim->bound * ours;
        break;
    case AIM_RATE:
        met = ours >= aim->bound * theirs;
        break;
    }
    return met ? "met" : "NOT MET";
}

/* The best peer, ours not among them. */
static double find_peer(const struct alloc_run *run, const struct aim *aim, size_t point,
                        size_t *peer_p)
{
    static const char others[] = "glibc,jemalloc,mimalloc,memkind,umf,libgomp,libomp";

    if (aim->against != NULL) {
        *peer_p = aim->ours;
        return bench_samples_median(
            &run->samples[alloc_point_find(aim->against, strlen(aim->against))][aim->ours]);
    }
    return alloc_best(run, point, (aim->families != NULL) ? aim->families : others, peer_p);
}

void alloc_print_aims(const struct alloc_run *run)
{
    struct bench_table table;
    size_t judged = 0;
    size_t met    = 0;

    bench_table_init(&table, columns, COLUMN_COUNT);
    for (size_t i = 0; i < sizeof(aims) / sizeof(aims[0]); i++) {
        const struct aim *aim = &aims[i];
        size_t point          = alloc_point_find(aim->point, strlen(aim->point));
        double ours           = bench_samples_median(&run->samples[point][aim->ours]);
        size_t peer           = 0;
        double theirs         = find_peer(run, aim, point, &peer);
        const char *result    = judge(aim, ours, theirs);
        char(*cells)[BENCH_TABLE_CELL_SIZE];

        if (!alloc_chosen(&run->plan->rows, alloc_points[point].row) ||
            ((cells = bench_table_row(&table)) == NULL)) {
            continue;
        }
        (void)snprintf(cells[0], sizeof(cells[0]), "%s", aim->what);
        describe_aim(cells[1], aim);
        number(cells[2], ours);
        number(cells[3], theirs);
        (void)snprintf(cells[4], sizeof(cells[4]), "%s",
                       isnan(theirs) ? "-" : run->peers.list[peer].name);
        number(cells[5], (theirs != 0) ? ours / theirs : NAN);
        (void)snprintf(cells[6], sizeof(cells[6]), "%s",
                       (result == NULL) ? "not measured" : result);
        judged += (result != NULL) ? 1 : 0;
        met += ((result != NULL) && (strcmp(result, "met") == 0)) ? 1 : 0;
    }
    fprintf(run->text, "\naims: %zu of %zu met\n", met, judged);
    bench_table_print(&table, run->text);
    bench_table_release(&table);
}
