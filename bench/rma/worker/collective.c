/* SPDX-License-Identifier: BSD-3-Clause */
/* Barriers, collectives and reductions, in the forms with an active set, which every version has.
 *
 * Two sets of work arrays take turns, so that no barrier is needed between two calls: a PE that has
 * left one call knows that all have left the one before. The root of a broadcast gets no answer, so
 * roots take turns too. */

#include "worker.h"
#include <string.h>

enum { TURNS = 2 };

static long turn;
static long broadcast_sync[TURNS][SHMEM_BCAST_SYNC_SIZE];
static long collect_sync[TURNS][SHMEM_COLLECT_SYNC_SIZE];
static long alltoall_sync[TURNS][SHMEM_ALLTOALL_SYNC_SIZE];
static long sum_sync[TURNS][SHMEM_REDUCE_SYNC_SIZE];
static int sum_work[TURNS][WORKER_INTS / 2 + 1 + SHMEM_REDUCE_MIN_WRKDATA_SIZE];

static void barrier(const struct worker *worker, const struct worker_job *job, size_t operations)
{
    (void)worker;
    (void)job;
    for (size_t i = 0; i < operations; i++) {
        shmem_barrier_all();
    }
}

static void sync_all(const struct worker *worker, const struct worker_job *job, size_t operations)
{
    (void)worker;
    (void)job;
    for (size_t i = 0; i < operations; i++) {
        shmem_sync_all();
    }
}

static void broadcast(const struct worker *worker, const struct worker_job *job, size_t operations)
{
    for (size_t i = 0; i < operations; i++, turn++) {
        shmem_broadcast64(worker->target, worker->source, job->size_bytes / 8,
                          (int)(turn % worker->pe_count), 0, 0, worker->pe_count,
                          broadcast_sync[turn % TURNS]);
    }
}

static void fcollect(const struct worker *worker, const struct worker_job *job, size_t operations)
{
    for (size_t i = 0; i < operations; i++, turn++) {
        shmem_fcollect64(worker->target, worker->source, job->size_bytes / 8, 0, 0,
                         worker->pe_count, collect_sync[turn % TURNS]);
    }
}

static void alltoall(const struct worker *worker, const struct worker_job *job, size_t operations)
{
    for (size_t i = 0; i < operations; i++, turn++) {
        shmem_alltoall64(worker->target, worker->source, job->size_bytes / 8, 0, 0,
                         worker->pe_count, alltoall_sync[turn % TURNS]);
    }
}

static void sum(const struct worker *worker, const struct worker_job *job, size_t operations)
{
    for (size_t i = 0; i < operations; i++, turn++) {
        shmem_int_sum_to_all((int *)(void *)worker->target, (int *)(void *)worker->source,
                             (int)(job->size_bytes / sizeof(int)), 0, 0, worker->pe_count,
                             sum_work[turn % TURNS], sum_sync[turn % TURNS]);
    }
}

static void set_sync(long *sync, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sync[i] = SHMEM_SYNC_VALUE;
    }
}

static void begin(void)
{
    for (int i = 0; i < TURNS; i++) {
        set_sync(broadcast_sync[i], SHMEM_BCAST_SYNC_SIZE);
        set_sync(collect_sync[i], SHMEM_COLLECT_SYNC_SIZE);
        set_sync(alltoall_sync[i], SHMEM_ALLTOALL_SYNC_SIZE);
        set_sync(sum_sync[i], SHMEM_REDUCE_SYNC_SIZE);
    }
    turn = 0;
    shmem_barrier_all();
}

/* Words of the source encode their sender and position. */
static void fill(const struct worker *worker, size_t words)
{
    int64_t *source = (int64_t *)(void *)worker->source;

    memset(worker->target, 0xff, WORKER_ROOM);
    for (size_t i = 0; i < words; i++) {
        source[i] = (int64_t)(1000000 * (worker->pe + 1)) + (int64_t)i;
    }
    shmem_barrier_all();
}

/* A block a PE of the target: @p offset is where it stood at its sender. */
static bool block_is(const struct worker *worker, size_t block, size_t words, int sender,
                     size_t offset)
{
    const int64_t *target = (const int64_t *)(const void *)worker->target + block * words;

    for (size_t i = 0; i < words; i++) {
        if (target[i] != (int64_t)(1000000 * (sender + 1)) + (int64_t)(offset + i)) {
            return false;
        }
    }
    return true;
}

static bool check(const struct worker *worker, const struct worker_job *job)
{
    size_t words = job->size_bytes / 8;
    int root     = 0;
    bool good    = true;

    fill(worker, words * (size_t)worker->pe_count);
    root = (int)(turn % worker->pe_count);
    job->run(worker, job, 1);
    if (job->run == broadcast) {
        good = (worker->pe == root) || block_is(worker, 0, words, root, 0);
        return worker_agree(worker, good);
    }
    for (int pe = 0; pe < worker->pe_count; pe++) {
        size_t offset = (job->run == alltoall) ? words * (size_t)worker->pe : 0;
        good          = good && block_is(worker, (size_t)pe, words, pe, offset);
    }
    return worker_agree(worker, good);
}

bool worker_barrier(const struct worker *worker)
{
    const struct worker_job jobs[] = {{.point = "barrier", .run = barrier, .all = true},
                                      {.point = "sync", .run = sync_all, .all = true}};

    for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
        worker_measure(worker, &jobs[i]);
    }
    return true;
}

bool worker_collective(const struct worker *worker)
{
    static const struct worker_job jobs[] = {
        {.point = "broadcast-8", .run = broadcast, .size_bytes = 8, .all = true},
        {.point = "broadcast-64k", .run = broadcast, .size_bytes = 65536, .all = true},
        {.point = "fcollect-8", .run = fcollect, .size_bytes = 8, .all = true},
        {.point = "fcollect-64k", .run = fcollect, .size_bytes = 65536, .all = true},
        {.point = "alltoall-8", .run = alltoall, .size_bytes = 8, .all = true},
        {.point = "alltoall-64k", .run = alltoall, .size_bytes = 65536, .all = true}};

    begin();
    for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
        if (jobs[i].size_bytes * (size_t)worker->pe_count > WORKER_ROOM) {
            continue; /* more PEs than there is room for */
        }
        if (!check(worker, &jobs[i])) {
            return worker_complain(worker, jobs[i].point, "the data is not what was sent");
        }
        worker_measure(worker, &jobs[i]);
    }
    return true;
}

static bool sums_up(const struct worker *worker, const struct worker_job *job)
{
    const int *target = (const int *)(const void *)worker->target;
    int *source       = (int *)(void *)worker->source;
    int pe_count      = worker->pe_count;
    int count         = (int)(job->size_bytes / sizeof(int));
    bool good         = true;

    for (int i = 0; i < count; i++) {
        source[i] = i + worker->pe;
    }
    shmem_barrier_all();
    sum(worker, job, 1);
    for (int i = 0; i < count; i++) {
        good = good && (target[i] == pe_count * i + pe_count * (pe_count - 1) / 2);
    }
    return worker_agree(worker, good);
}

bool worker_sum(const struct worker *worker)
{
    static const struct worker_job jobs[] = {
        {.point = "sum-1", .run = sum, .size_bytes = 4, .all = true},
        {.point = "sum-1024", .run = sum, .size_bytes = 4096, .all = true},
        {.point = "sum-131072", .run = sum, .size_bytes = 4 * WORKER_INTS, .all = true}};

    begin();
    for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
        if (!sums_up(worker, &jobs[i])) {
            return worker_complain(worker, jobs[i].point, "the sum is wrong");
        }
        worker_measure(worker, &jobs[i]);
    }
    return true;
}
