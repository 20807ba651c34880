/* SPDX-License-Identifier: BSD-3-Clause */
/* What partitions cost: programs for our library alone. One partition and eight take turns, kinds
 * of memory take turns, and each measurement is a job of its own with the partitions that it needs
 * in its environment. A kind that this machine has not is waived, with the library's own words. */

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

/* "1" and "8" are the last words of the points' names. */
static void list_partitions(char *settings, size_t settings_size, int count)
{
    size_t used = 0;

    for (int i = 1; i <= count; i++) {
        used += (size_t)snprintf(settings + used, settings_size - used,
                                 "SHMEM_SYMMETRIC_PARTITION%d=size=8M ", i);
    }
}

static bool build(struct rma_run *run, const char *name, char *program, size_t program_size,
                  char *failure, size_t failure_size)
{
    static struct bench_child child;

    (void)snprintf(program, program_size, "%s/%s", run->peers.folder, name);
    if (rma_peer_compile(&run->peers, &run->peers.list[RMA_MEMSPAN], name, program,
                         run->plan->timeout_s, &child)) {
        return true;
    }
    (void)snprintf(failure, failure_size, "it is not built: %s", child.failure);
    return false;
}

static bool run_once(struct rma_run *run, const struct rma_job *job, char *failure,
                     size_t failure_size, struct bench_child *child_p)
{
    if (rma_peer_run(&run->peers.list[RMA_MEMSPAN], job, child_p)) {
        rma_add_points(run, RMA_PLACE_APART, RMA_MEMSPAN, child_p->output);
        return true;
    }
    (void)snprintf(failure, failure_size, "%s", child_p->failure);
    return false;
}

/* One partition against eight; who is first changes with the round. */
static void measure_choice(struct rma_run *run, size_t round, const char *program)
{
    char *failure = run->failures[RMA_PLACE_APART][RMA_PARTITION][RMA_MEMSPAN];
    static struct bench_child child;

    for (size_t i = 0; (i < 2) && (failure[0] == '\0'); i++) {
        int count = ((round + i) % 2 == 0) ? 1 : PARTITIONS;
        char settings[512];
        char words[32];
        struct rma_job job = {.program   = program,
                              .words     = words,
                              .settings  = settings,
                              .pe_count  = 2,
                              .timeout_s = run->plan->timeout_s};

        list_partitions(settings, sizeof(settings), count);
        (void)snprintf(words, sizeof(words), "%d%s", count, run->plan->quick ? " quick" : "");
        (void)run_once(run, &job, failure, sizeof(run->failures[0][0][0]), &child);
    }
}

static void measure_kind(struct rma_run *run, size_t kind, const char *program)
{
    size_t point = rma_point_find(kinds[kind].point, strlen(kinds[kind].point));
    static struct bench_child child;
    const char *given;
    char settings[160];
    char words[64];
    struct rma_job job = {.program   = program,
                          .words     = words,
                          .settings  = settings,
                          .pe_count  = 2,
                          .timeout_s = run->plan->timeout_s};

    (void)snprintf(settings, sizeof(settings),
                   "SHMEM_SYMMETRIC_PARTITION1=size=4M SHMEM_SYMMETRIC_PARTITION2=%s",
                   kinds[kind].traits);
    (void)snprintf(words, sizeof(words), "%s 2%s", kinds[kind].point,
                   run->plan->quick ? " quick" : "");
    if (!run_once(run, &job, run->waived[point], sizeof(run->waived[point]), &child)) {
        return;
    }
    given = strstr(child.output, "given ");
    if (given != NULL) {
        (void)snprintf(run->given[point], sizeof(run->given[point]), "%.*s",
                       (int)strcspn(given + 6, "\n"), given + 6);
    }
}

/* Ordinary memory is everywhere: that is no kind that a machine may lack. */
static void judge_kinds(struct rma_run *run)
{
    size_t normal = rma_point_find(kinds[0].point, strlen(kinds[0].point));

    if (run->waived[normal][0] != '\0') {
        (void)snprintf(run->failures[RMA_PLACE_APART][RMA_STENCIL][RMA_MEMSPAN],
                       sizeof(run->failures[0][0][0]), "%s", run->waived[normal]);
    }
}

static bool takes_part(const struct rma_run *run, enum rma_row row)
{
    return rma_is_measured(run, row, RMA_PLACE_APART) &&
           rma_chosen(&run->plan->peers, RMA_MEMSPAN) && run->peers.list[RMA_MEMSPAN].present &&
           (run->failures[RMA_PLACE_APART][row][RMA_MEMSPAN][0] == '\0');
}

void rma_measure_partitions(struct rma_run *run, size_t round)
{
    static char programs[RMA_ROW_COUNT][128];

    for (int row = RMA_PARTITION; row <= RMA_STENCIL; row++) {
        char *failure = run->failures[RMA_PLACE_APART][row][RMA_MEMSPAN];

        if (!takes_part(run, (enum rma_row)row) ||
            ((round == 0) && !build(run, rma_rows[row].name, programs[row], sizeof(programs[row]),
                                    failure, sizeof(run->failures[0][0][0])))) {
            continue;
        }
        if (row == RMA_PARTITION) {
            measure_choice(run, round, programs[row]);
            continue;
        }
        for (size_t i = 0; i < KIND_COUNT; i++) {
            size_t kind = (round + i) % KIND_COUNT;
            if (run->waived[rma_point_find(kinds[kind].point, strlen(kinds[kind].point))][0] ==
                '\0') {
                measure_kind(run, kind, programs[row]);
            }
        }
        judge_kinds(run);
    }
}
