/* SPDX-License-Identifier: BSD-3-Clause */
/* partitions.c: what partitions cost, by programs for our library alone. One partition and eight
 * take turns, kinds of memory take turns, and each measurement is a job of its own with its
 * partitions in the environment. A kind that this machine does not have is waived, with the
 * library's reason. */

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

static char *failure_of(struct bench_run *run, enum rma_row row)
{
    return run->failures[RMA_APART][row][RMA_MEMSPAN];
}

static bool run_once(struct bench_run *run, const char *program, const char *words,
                     const char *settings, char *failure, struct bench_child *child_p)
{
    const struct rma_job job = {.program = program, .words = words, .settings = settings};

    if (rma_peer_run(run, RMA_MEMSPAN, &job, child_p)) {
        bench_run_add_output(run, RMA_APART, RMA_MEMSPAN, child_p->output);
        return true;
    }
    (void)snprintf(failure, sizeof(child_p->failure), "%s", child_p->failure);
    return false;
}

/* One partition against eight; which is first changes with the round. */
static void measure_choice(struct bench_run *run, size_t round, const char *program)
{
    char *failure = failure_of(run, RMA_PARTITION);
    struct bench_child child;

    for (size_t i = 0; (i < 2) && (failure[0] == '\0'); i++) {
        int count = ((round + i) % 2 == 0) ? 1 : PARTITIONS;
        char settings[512];
        size_t used = 0;
        char words[32];

        for (int p = 1; p <= count; p++) {
            used += (size_t)snprintf(settings + used, sizeof(settings) - used,
                                     "SHMEM_SYMMETRIC_PARTITION%d=size=8M ", p);
        }
        (void)snprintf(words, sizeof(words), "%d%s", count, run->quick ? " quick" : "");
        (void)run_once(run, program, words, settings, failure, &child);
    }
}

static void measure_kind(struct bench_run *run, size_t kind, const char *program)
{
    size_t point = bench_point(run->suite, kinds[kind].point);
    struct bench_child child;
    char settings[160];
    char words[64];

    if (run->waived[point][0] != '\0') {
        return;
    }
    (void)snprintf(settings, sizeof(settings),
                   "SHMEM_SYMMETRIC_PARTITION1=size=4M SHMEM_SYMMETRIC_PARTITION2=%s",
                   kinds[kind].traits);
    (void)snprintf(words, sizeof(words), "%s 2%s", kinds[kind].point, run->quick ? " quick" : "");
    if (run_once(run, program, words, settings, run->waived[point], &child)) {
        bench_child_field(&child, "given", run->given[point], sizeof(run->given[point]));
    } else if (kind == 0) { /* every machine has ordinary memory */
        (void)snprintf(failure_of(run, RMA_STENCIL), sizeof(child.failure), "%s", child.failure);
    }
}

/* Whether the row is measured in this round; the first one builds its program. */
static bool prepare(struct bench_run *run, size_t round, enum rma_row row, char *program,
                    size_t program_size)
{
    struct bench_child child;

    if (!bench_run_has(run, row, RMA_APART) || !bench_run_uses(run, RMA_MEMSPAN) ||
        (failure_of(run, row)[0] != '\0')) {
        return false;
    }
    if ((round > 0) ||
        rma_peer_compile(run, RMA_MEMSPAN, run->suite->rows[row].name, run->suite->rows[row].name,
                         program, program_size, &child)) {
        return true;
    }
    (void)snprintf(failure_of(run, row), sizeof(run->failures[0][0][0]), "it is not built: %.200s",
                   child.failure);
    return false;
}

void rma_measure_partitions(struct bench_run *run, size_t round)
{
    static char choice[128];
    static char stencil[128];

    if (prepare(run, round, RMA_PARTITION, choice, sizeof(choice))) {
        measure_choice(run, round, choice);
    }
    if (prepare(run, round, RMA_STENCIL, stencil, sizeof(stencil))) {
        for (size_t i = 0; i < KIND_COUNT; i++) {
            measure_kind(run, (round + i) % KIND_COUNT, stencil);
        }
    }
}
