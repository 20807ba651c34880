/* SPDX-License-Identifier: BSD-3-Clause */
/* run.c: each peer once a round, in turn; the next round begins with the next peer. */

#include "bench/alloc/alloc.h"
#include <math.h>
#include <string.h>

enum { STARTS = 20 }; /* processes a round of the row start-up */

static bool takes_part(const struct bench_run *run, enum alloc_row row, size_t p)
{
    return bench_run_uses(run, p) && ((alloc_peers[p].rows & (1u << row)) != 0) &&
           (run->failures[0][row][p][0] == '\0');
}

static void run_worker(struct bench_run *run, enum alloc_row row, size_t p, const char *name,
                       struct bench_child *child_p)
{
    struct bench_command command = alloc_peer_command(run, &alloc_peers[p], row);
    char *failure                = run->failures[0][row][p];

    command.arguments[0] = name;
    command.arguments[2] = run->quick ? "quick" : NULL;
    if (!bench_child_run(&command, child_p)) {
        (void)snprintf(failure, sizeof(run->failures[0][row][p]), "%s", child_p->failure);
    }
}

static void measure_once(struct bench_run *run, enum alloc_row row, size_t p)
{
    /* these have a second part: a pool must be fresh */
    static const char *const second[ALLOC_ROW_COUNT] = {
        [ALLOC_FILL] = "fill-log", [ALLOC_RETENTION] = "retention-phases"};
    const char *names[] = {run->suite->rows[row].name, second[row]};
    struct bench_child child;

    for (size_t i = 0; (i < 2) && (names[i] != NULL); i++) {
        run_worker(run, row, p, names[i], &child);
        bench_run_add_output(run, 0, p, child.output); /* also what came before a failure */
    }
}

/* ---- start-up: the time of whole processes, peers in turn within a round too ---- */

static void start_once(struct bench_run *run, size_t p, struct bench_samples *times)
{
    struct bench_child child;

    run_worker(run, ALLOC_START, p, "start", &child);
    if (child.good) {
        (void)bench_samples_add(times, child.cpu_ns / 1e6);
    }
}

/* The same process on glibc, which may not be a chosen peer. */
static void start_baseline(const struct bench_run *run, struct bench_samples *times)
{
    static const struct alloc_peer glibc = {.worker = "malloc"};
    struct bench_command command         = alloc_peer_command(run, &glibc, ALLOC_START);
    struct bench_child child;

    command.arguments[0] = "start";
    if (bench_child_run(&command, &child)) {
        (void)bench_samples_add(times, child.cpu_ns / 1e6);
    }
}

static void add_start(struct bench_run *run, const char *point, size_t p, double value)
{
    bench_run_add(run, 0, bench_point(run->suite, point), p, value, value);
}

static void measure_starts(struct bench_run *run)
{
    static struct bench_samples times[BENCH_PEERS_MAX];
    struct bench_samples baseline = {.count = 0};
    struct bench_summary summary;

    memset(times, 0, sizeof(times));
    for (size_t i = 0; i < (run->quick ? 2 : STARTS); i++) {
        start_baseline(run, &baseline);
        for (size_t p = 0; p < run->peer_count; p++) {
            if (takes_part(run, ALLOC_START, p)) {
                start_once(run, p, &times[p]);
            }
        }
    }
    for (size_t p = 0; p < run->peer_count; p++) {
        if (bench_samples_summarize(&times[p], &summary)) {
            add_start(run, "start-up", p, summary.median);
            add_start(run, "start-up-min", p, summary.min);
            add_start(run, "start-up-added", p, summary.median - bench_samples_median(&baseline));
        }
    }
}

static void measure_row(struct bench_run *run, enum alloc_row row)
{
    for (size_t round = 0; round < run->rounds; round++) {
        if (row == ALLOC_START) {
            measure_starts(run);
            continue;
        }
        for (size_t i = 0; i < run->peer_count; i++) {
            size_t p = (round + i) % run->peer_count;
            if (takes_part(run, row, p)) {
                measure_once(run, row, p);
            }
        }
    }
}

void alloc_measure(struct bench_run *run)
{
    for (enum alloc_row row = 0; row < ALLOC_ROW_COUNT; row++) {
        if (bench_run_has(run, row, 0)) {
            measure_row(run, row);
            alloc_print_row(run, row);
        }
    }
}
