/* SPDX-License-Identifier: BSD-3-Clause */
/* run.c: each peer once a round, in turn; the next round begins with the next peer. One start of a
 * peer's program measures all rows; where a row ends it, it is started again for the rows after it.
 */

#include "bench/rma/rma.h"
#include <stdlib.h>
#include <string.h>

enum { STARTS = 5 }; /* of each peer, a round */

static void fail(struct bench_run *run, enum rma_placement placement, size_t row, size_t peer,
                 const struct bench_child *child)
{
    (void)snprintf(run->failures[placement][row][peer], sizeof(run->failures[0][0][0]), "%s",
                   child->failure);
}

/* ---- rows of the worker ---- */

/* The row that the worker was in when it ended: the last that it named. */
static size_t last_row(const struct bench_run *run, const char *output, size_t first)
{
    size_t last = first;

    for (size_t row = first; row < RMA_START; row++) {
        char line[32];
        (void)snprintf(line, sizeof(line), "row %s\n", run->suite->rows[row].name);
        if (strstr(output, line) != NULL) {
            last = row;
        }
    }
    return last;
}

/* The rows to measure from *@p first_p on, as the worker's words; *first_p becomes the first one.
 * False where there is none. */
static bool list_rows(const struct bench_run *run, enum rma_placement placement, size_t peer,
                      size_t *first_p, char *words, size_t words_size)
{
    bool any    = false;
    size_t used = (size_t)snprintf(words, words_size, "%s", run->quick ? "quick" : "");

    for (size_t row = *first_p; row < RMA_START; row++) {
        if (!bench_run_has(run, row, placement) ||
            (run->failures[placement][row][peer][0] != '\0')) {
            continue;
        }
        *first_p = any ? *first_p : row;
        any      = true;
        used +=
            (size_t)snprintf(words + used, words_size - used, " %s", run->suite->rows[row].name);
    }
    return any;
}

static void measure_peer(struct bench_run *run, enum rma_placement placement, size_t p)
{
    size_t row = 0;
    char words[256];

    while (list_rows(run, placement, p, &row, words, sizeof(words))) {
        const struct rma_job job = {.words = words, .one_processor = placement == RMA_TOGETHER};
        struct bench_child child;
        bool good = rma_peer_run(run, p, &job, &child);

        bench_run_add_output(run, placement, p, child.output);
        if (good) {
            return;
        }
        row = last_row(run, child.output, row);
        fail(run, placement, row, p, &child);
    }
}

/* ---- start-up: the time of whole programs ---- */

static void start_once(struct bench_run *run, size_t p, struct bench_samples *walls,
                       struct bench_samples *inits)
{
    const struct rma_job job = {.words = "hello"};
    struct bench_child child;
    char init_ms[32] = "";

    if (!rma_peer_run(run, p, &job, &child)) {
        fail(run, RMA_APART, RMA_START, p, &child);
        return;
    }
    (void)bench_samples_add(walls, child.wall_ns / 1e6);
    bench_child_field(&child, "start-init", init_ms, sizeof(init_ms));
    if (init_ms[0] != '\0') {
        (void)bench_samples_add(inits, strtod(init_ms, NULL));
    }
}

static void add_summary(struct bench_run *run, const char *point, size_t peer,
                        const struct bench_samples *samples)
{
    struct bench_summary summary;

    if (bench_samples_summarize(samples, &summary)) {
        bench_run_add(run, RMA_APART, bench_point(run->suite, point), peer, summary.min,
                      summary.median);
    }
}

static void measure_starts(struct bench_run *run, size_t round)
{
    static struct bench_samples walls[BENCH_PEERS_MAX];
    static struct bench_samples inits[BENCH_PEERS_MAX];

    memset(walls, 0, sizeof(walls));
    memset(inits, 0, sizeof(inits));
    for (size_t i = 0; i < (run->quick ? 1 : STARTS) * run->peer_count; i++) {
        size_t p = (round + i) % run->peer_count;
        if (bench_run_uses(run, p) && (run->peers[p].role != BENCH_BESIDE) &&
            (run->failures[RMA_APART][RMA_START][p][0] == '\0')) {
            start_once(run, p, &walls[p], &inits[p]);
        }
    }
    for (size_t p = 0; p < run->peer_count; p++) {
        add_summary(run, "start-wall", p, &walls[p]);
        add_summary(run, "start-init", p, &inits[p]);
    }
}

static void measure_round(struct bench_run *run, size_t round)
{
    for (enum rma_placement placement = RMA_APART; placement <= RMA_TOGETHER; placement++) {
        for (size_t i = 0; i < run->peer_count; i++) {
            size_t p = (round + i) % run->peer_count;
            if (bench_run_uses(run, p)) {
                measure_peer(run, placement, p);
            }
        }
    }
    if (bench_run_has(run, RMA_START, RMA_APART)) {
        measure_starts(run, round);
    }
    rma_measure_partitions(run, round);
}

void rma_measure(struct bench_run *run)
{
    for (size_t round = 0; round < run->rounds; round++) {
        measure_round(run, round);
    }
    rma_peers_release();
    for (enum rma_placement placement = RMA_APART; placement <= RMA_TOGETHER; placement++) {
        for (size_t row = 0; row < RMA_ROW_COUNT; row++) {
            if (bench_run_has(run, row, placement)) {
                bench_run_print_row(run, row, placement);
                if (rma_osu) {
                    rma_print_osu(run, row, placement);
                }
            }
        }
    }
}
