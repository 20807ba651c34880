/* SPDX-License-Identifier: BSD-3-Clause */
/* partitions.c: rows of our library alone, by a program each: calls of handlers, puts on a queue,
 * and the costs of partitions. One partition and eight take turns, kinds of memory take turns, and
 * each measurement is a job of its own with its partitions in the environment. A kind that this
 * machine does not have is waived, with the library's reason. */

#include "bench/rma/rma.h"
#include <string.h>

enum { PARTITIONS = 8 };

static const struct {
    const char *point;
    const char *traits; /* of partition 2 */
} kinds[] = {{"stencil-normal", "size=16M:kind=NORMALMEM"},
             {"stencil-huge", "size=16M:kind=NORMALMEM:pgsize=2M:policy=MANDATORY"},
             {"stencil-fast", "size=16M:kind=FASTMEM:policy=PREFERRED"},
             {"stencil-pinned", "size=16M:kind=PINNED:policy=MANDATORY"},
             {"stencil-managed", "size=16M:kind=MANAGED:policy=MANDATORY"},
             {"stencil-coherent", "size=16M:kind=COHERENT:policy=MANDATORY"},
             {"stencil-device", "size=16M:kind=DEVICE:policy=MANDATORY"},
             {"stencil-libomp", "size=16M:kind=LIBOMP:policy=MANDATORY"}};

enum { KIND_COUNT = sizeof(kinds) / sizeof(kinds[0]) };

static char *failure_of(struct bench_run *run, enum rma_row row, size_t peer)
{
    return run->failures[RMA_APART][row][peer];
}

static bool run_once(struct bench_run *run, size_t peer, const struct rma_job *job, char *failure,
                     struct bench_child *child_p)
{
    if (rma_peer_run(run, peer, job, child_p)) {
        bench_run_add_output(run, RMA_APART, peer, child_p->output);
        return true;
    }
    (void)snprintf(failure, sizeof(child_p->failure), "%s", child_p->failure);
    return false;
}

/* One partition against eight; which is first changes with the round. */
static void measure_choice(struct bench_run *run, size_t round, size_t peer, const char *program)
{
    char *failure = failure_of(run, RMA_PARTITION, peer);
    struct bench_child child;

    for (size_t i = 0; (i < 2) && (failure[0] == '\0'); i++) {
        int count = ((round + i) % 2 == 0) ? 1 : PARTITIONS;
        char settings[512];
        size_t used = 0;
        char words[32];
        const struct rma_job job = {.program = program, .words = words, .settings = settings};

        for (int p = 1; p <= count; p++) {
            used += (size_t)snprintf(settings + used, sizeof(settings) - used,
                                     "SHMEM_SYMMETRIC_PARTITION%d=size=8M ", p);
        }
        (void)snprintf(words, sizeof(words), "%d%s", count, run->quick ? " quick" : "");
        (void)run_once(run, peer, &job, failure, &child);
    }
}

/* The stencil in a program with an OpenMP runtime that has devices, which KIND=LIBOMP is of; built
 * once. NULL: it cannot be built, and why is in regions_failures. */
static char regions_failures[BENCH_PEERS_MAX][256];

static const char *program_with_regions(struct bench_run *run, size_t peer)
{
    static char programs[BENCH_PEERS_MAX][128];
    struct bench_child child;
    char name[64];

    if ((programs[peer][0] == '\0') && (regions_failures[peer][0] == '\0')) {
        (void)snprintf(name, sizeof(name), "%s-regions", run->peers[peer].name);
        if (!rma_peer_compile_regions(run, peer, "stencil", name, programs[peer],
                                      sizeof(programs[0]), &child)) {
            (void)snprintf(regions_failures[peer], sizeof(regions_failures[0]),
                           "no program with target regions: %.200s", child.failure);
        }
    }
    return (regions_failures[peer][0] == '\0') ? programs[peer] : NULL;
}

/* What the first of ours cannot is waived: the machine has it not. The others must then. */
static void measure_kind(struct bench_run *run, size_t kind, size_t peer, const char *program)
{
    size_t point  = bench_point(run->suite, kinds[kind].point);
    bool is_first = peer == (size_t)__builtin_ctz(bench_peers_of(run, BENCH_OURS) & run->chosen);
    bool waives   = is_first && (kind > 0); /* every machine has ordinary memory */
    char *failure = waives ? run->waived[point] : failure_of(run, RMA_STENCIL, peer);
    char settings[160];
    char words[64];
    struct rma_job job = {.program = program, .words = words, .settings = settings};
    struct bench_child child;

    if ((run->waived[point][0] != '\0') || (failure[0] != '\0')) {
        return;
    }
    if (strcmp(kinds[kind].point, "stencil-libomp") == 0) {
        job.program = program_with_regions(run, peer);
        if (job.program == NULL) {
            (void)snprintf(failure, sizeof(run->waived[0]), "%s", regions_failures[peer]);
            return;
        }
    }
    (void)snprintf(settings, sizeof(settings),
                   "SHMEM_SYMMETRIC_PARTITION1=size=4M SHMEM_SYMMETRIC_PARTITION2=%s",
                   kinds[kind].traits);
    (void)snprintf(words, sizeof(words), "%s 2%s", kinds[kind].point, run->quick ? " quick" : "");
    if (run_once(run, peer, &job, failure, &child)) {
        bench_child_field(&child, "given", run->given[point], sizeof(run->given[point]));
    }
}

/* The points of a row that the program cannot measure here, for the reason that it prints, are
 * waived. */
static void measure_row(struct bench_run *run, size_t peer, enum rma_row row, const char *program)
{
    const struct rma_job job = {
        .program = program, .words = run->quick ? "quick" : "", .settings = ""};
    struct bench_child child;
    char reason[sizeof(run->waived[0])] = "";

    if (!run_once(run, peer, &job, failure_of(run, row, peer), &child)) {
        return;
    }
    bench_child_field(&child, "waived", reason, sizeof(reason));
    for (size_t i = 0; (reason[0] != '\0') && (i < run->suite->point_count); i++) {
        if (run->suite->points[i].row == row) {
            (void)snprintf(run->waived[i], sizeof(run->waived[i]), "%s", reason);
        }
    }
}

/* Whether the row is measured in this round; the first one builds its program. */
static bool prepare(struct bench_run *run, size_t round, size_t peer, enum rma_row row,
                    char *program, size_t program_size)
{
    struct bench_child child;
    char name[64];

    if (!bench_run_has(run, row, RMA_APART) || !bench_run_uses(run, peer) ||
        (failure_of(run, row, peer)[0] != '\0')) {
        return false;
    }
    (void)snprintf(name, sizeof(name), "%s-%s", run->peers[peer].name, run->suite->rows[row].name);
    if ((round > 0) || rma_peer_compile(run, peer, run->suite->rows[row].name, name, program,
                                        program_size, &child)) {
        return true;
    }
    (void)snprintf(failure_of(run, row, peer), sizeof(run->failures[0][0][0]),
                   "it is not built: %.200s", child.failure);
    return false;
}

static void measure_peer(struct bench_run *run, size_t round, size_t peer)
{
    static char choices[BENCH_PEERS_MAX][128];
    static char stencils[BENCH_PEERS_MAX][128];
    static char calls[BENCH_PEERS_MAX][128];
    static char queues[BENCH_PEERS_MAX][128];
    char *choice  = choices[peer];
    char *stencil = stencils[peer];

    if (prepare(run, round, peer, RMA_PARTITION, choice, sizeof(choices[0]))) {
        measure_choice(run, round, peer, choice);
    }
    if (prepare(run, round, peer, RMA_CALL, calls[peer], sizeof(calls[0]))) {
        measure_row(run, peer, RMA_CALL, calls[peer]);
    }
    if (prepare(run, round, peer, RMA_QUEUE, queues[peer], sizeof(queues[0]))) {
        measure_row(run, peer, RMA_QUEUE, queues[peer]);
    }
    if (prepare(run, round, peer, RMA_STENCIL, stencil, sizeof(stencils[0]))) {
        for (size_t i = 0; i < KIND_COUNT; i++) {
            measure_kind(run, (round + i) % KIND_COUNT, peer, stencil);
        }
    }
}

void rma_measure_partitions(struct bench_run *run, size_t round)
{
    unsigned ours = bench_peers_of(run, BENCH_OURS);

    for (size_t p = 0; p < run->peer_count; p++) {
        if ((ours & (1u << p)) != 0) {
            measure_peer(run, round, p);
        }
    }
}
