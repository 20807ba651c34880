/* SPDX-License-Identifier: BSD-3-Clause */
/* Atomic operations on one word of another PE, and their sum. */

#include "worker.h"

enum { WINDOW = 64, ADDS = 1000 };

static long static_word;
static volatile long seen; /* keeps the loops */

static void fetch_add(const struct worker *worker, const struct worker_job *job, size_t operations)
{
    for (size_t i = 0; i < operations; i++) {
        seen = shmem_long_atomic_fetch_add((long *)(void *)job->target, 1, worker->peer);
    }
}

static void add_quiet(const struct worker *worker, const struct worker_job *job, size_t operations)
{
    for (size_t i = 0; i < operations; i++) {
        shmem_long_atomic_add((long *)(void *)job->target, 1, worker->peer);
        shmem_quiet();
    }
}

static void add_many(const struct worker *worker, const struct worker_job *job, size_t operations)
{
    for (size_t i = 0; i < operations; i++) {
        for (int w = 0; w < WINDOW; w++) {
            shmem_long_atomic_add((long *)(void *)job->target, 1, worker->peer);
        }
        shmem_quiet();
    }
}

static void swap(const struct worker *worker, const struct worker_job *job, size_t operations)
{
    for (size_t i = 0; i < operations; i++) {
        seen = shmem_long_atomic_swap((long *)(void *)job->target, (long)i, worker->peer);
    }
}

static void compare_swap(const struct worker *worker, const struct worker_job *job,
                         size_t operations)
{
    for (size_t i = 0; i < operations; i++) {
        seen = shmem_long_atomic_compare_swap((long *)(void *)job->target, (long)i, (long)i + 1,
                                              worker->peer);
    }
}

static void fetch(const struct worker *worker, const struct worker_job *job, size_t operations)
{
    for (size_t i = 0; i < operations; i++) {
        seen = shmem_long_atomic_fetch((long *)(void *)job->target, worker->peer);
    }
}

/* All PEs add to PE 0's word at once: none is lost. */
static bool adds_up(const struct worker *worker, long *word)
{
    bool good = true;

    *word = 0;
    shmem_barrier_all();
    for (int i = 0; i < ADDS; i++) {
        shmem_long_atomic_add(word, 1, 0);
        good = good && (shmem_long_atomic_fetch_add(word, 1, 0) < 2L * ADDS * worker->pe_count);
    }
    shmem_barrier_all();
    if (worker->pe == 0) {
        good = good && (*word == 2L * ADDS * worker->pe_count);
    }
    return worker_agree(worker, good);
}

bool worker_atomic(const struct worker *worker)
{
    const struct worker_job jobs[] = {
        {.point = "fetch-add", .run = fetch_add, .target = worker->target},
        {.point = "fetch-add-data", .run = fetch_add, .target = (char *)&static_word},
        {.point = "add", .run = add_quiet, .target = worker->target},
        {.point = "add-64", .run = add_many, .target = worker->target, .messages = WINDOW},
        {.point = "fetch", .run = fetch, .target = worker->target},
        {.point = "swap", .run = swap, .target = worker->target},
        {.point = "compare-swap", .run = compare_swap, .target = worker->target}};

    if (!adds_up(worker, (long *)(void *)worker->target) || !adds_up(worker, &static_word)) {
        return worker_complain(worker, "atomic", "the sum is not what was added");
    }
    for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
        worker_measure(worker, &jobs[i]);
    }
    return true;
}
