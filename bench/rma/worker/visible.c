/* SPDX-License-Identifier: BSD-3-Clause */
/* Latency of a value until the other PE sees it: its waiter sends one back. The figure is half a
 * round trip. */

#include "worker.h"
#include <stdio.h>

enum { WAYS = 2 };

/* The last value sent each way, since start. */
static long count;
static long static_word;

static void wait_for(long *word, long value)
{
    shmem_long_wait_until(word, SHMEM_CMP_GE, value);
}

static void with_p(const struct worker *worker, const struct worker_job *job, size_t operations)
{
    long *word = (long *)(void *)job->target;

    for (size_t i = 0; i < operations; i++) {
        count++;
        if (worker->pe == 0) {
            shmem_long_p(word, count, 1);
            wait_for(word, count);
        } else if (worker->pe == 1) {
            wait_for(word, count);
            shmem_long_p(word, count, 0);
        }
    }
}

static void with_put(const struct worker *worker, const struct worker_job *job, size_t operations)
{
    long *word  = (long *)(void *)job->target;
    long *value = (long *)(void *)worker->source;

    for (size_t i = 0; i < operations; i++) {
        *value = ++count;
        if (worker->pe == 0) {
            shmem_putmem(word, value, sizeof(*value), 1);
            wait_for(word, count);
        } else if (worker->pe == 1) {
            wait_for(word, count);
            shmem_putmem(word, value, sizeof(*value), 0);
        }
    }
}

/* As programs without signals do: data, fence, flag. */
static void with_data(const struct worker *worker, const struct worker_job *job, size_t operations)
{
    long *word = (long *)(void *)job->target;

    for (size_t i = 0; i < operations; i++) {
        count++;
        if (worker->pe == 1) {
            wait_for(word, count);
        }
        if (worker->pe < 2) {
            shmem_putmem(word + 8, worker->source, 1024, 1 - worker->pe);
            shmem_fence();
            shmem_long_p(word, count, 1 - worker->pe);
        }
        if (worker->pe == 0) {
            wait_for(word, count);
        }
    }
}

/* The same for any size. */
static void with_size(const struct worker *worker, const struct worker_job *job, size_t operations)
{
    for (size_t i = 0; i < operations; i++) {
        count++;
        if (worker->pe == 1) {
            wait_for(&static_word, count);
        }
        if (worker->pe < 2) {
            shmem_putmem(job->target, worker->source, job->size_bytes, 1 - worker->pe);
            shmem_fence();
            shmem_long_p(&static_word, count, 1 - worker->pe);
        }
        if (worker->pe == 0) {
            wait_for(&static_word, count);
        }
    }
}

bool worker_ping_pong(const struct worker *worker)
{
    if (worker->pe_count < 2) {
        return worker_complain(worker, "ping-pong", "it takes two");
    }
    static_word = 0;
    count       = 0;
    shmem_barrier_all();
    for (size_t size = 1; size <= WORKER_ROOM; size *= 2) {
        char point[32];
        const struct worker_job job = {.point      = point,
                                       .run        = with_size,
                                       .size_bytes = size,
                                       .target     = worker->target,
                                       .all        = true,
                                       .unit       = WORKER_US,
                                       .messages   = WAYS};

        (void)snprintf(point, sizeof(point), "ping-pong-%zu", size);
        worker_measure(worker, &job);
    }
    return true;
}

bool worker_visible(const struct worker *worker)
{
    const struct worker_job jobs[] = {
        {.point = "visible-p", .run = with_p, .target = worker->target},
        {.point = "visible-data", .run = with_p, .target = (char *)&static_word},
        {.point = "visible-put", .run = with_put, .target = worker->target},
        {.point = "visible-1k", .run = with_data, .target = worker->target}};

    if (worker->pe_count < 2) {
        return worker_complain(worker, "visible", "it takes two");
    }
    for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
        struct worker_job job = jobs[i];

        *(long *)(void *)job.target = 0;
        count                       = 0;
        job.all                     = true;
        job.messages                = WAYS;
        shmem_barrier_all();
        worker_measure(worker, &job);
    }
    return true;
}
