/* SPDX-License-Identifier: BSD-3-Clause */
/* A block that grows by realloc: 4,000 steps of 16 KiB, to 62.5 MiB. An allocator that copies at
 * each step moves 125 GB for that. And blocks that grow by 400 steps of 1 KiB, where a large one
 * was freed before: then glibc grows them at the end of its heap. */

#include "bench/alloc/worker/worker.h"

enum {
    STEP_BYTES       = 16 << 10,
    PAGE_BYTES       = 4096,
    SMALL_STEP_BYTES = 1 << 10,
    SMALL_STEPS      = 400,
    LARGE_BYTES      = 8 << 20
};

/* Microseconds a step; negative where a step failed. */
static double grow(const struct worker *worker, size_t steps, bool written)
{
    char *block  = NULL;
    double start = worker_now_ns();

    for (size_t i = 0; i < steps; i++) {
        char *now = (i == 0) ? kind_take(worker->allocator, STEP_BYTES)
                             : kind_grow(worker->allocator, block, (i + 1) * STEP_BYTES);

        if (now == NULL) {
            return -1;
        }
        block = now;
        worker_escape(block);
        for (size_t at = 0; written && (at < STEP_BYTES); at += PAGE_BYTES) {
            ((volatile char *)block)[i * STEP_BYTES + at] = 1;
        }
    }
    kind_give(worker->allocator, block);
    return (worker_now_ns() - start) / 1000 / (double)steps;
}

/* Nanoseconds a step; negative where a step failed. */
static double grow_small(const struct worker *worker, size_t blocks)
{
    void *large = kind_take(worker->allocator, LARGE_BYTES);
    double start;

    if (large == NULL) {
        return -1;
    }
    kind_give(worker->allocator, large);
    start = worker_now_ns();
    for (size_t i = 0; i < blocks; i++) {
        char *block = kind_take(worker->allocator, SMALL_STEP_BYTES);

        for (size_t step = 2; (block != NULL) && (step <= SMALL_STEPS); step++) {
            block = kind_grow(worker->allocator, block, step * SMALL_STEP_BYTES);
            if (block == NULL) {
                break;
            }
            ((volatile char *)block)[step * SMALL_STEP_BYTES - 1] = 1;
        }
        if (block == NULL) {
            return -1;
        }
        kind_give(worker->allocator, block);
    }
    return (worker_now_ns() - start) / (double)blocks / (SMALL_STEPS - 1);
}

bool worker_growth(const struct worker *worker)
{
    size_t steps   = worker->quick ? 200 : 4000;
    double plain   = grow(worker, steps, false);
    double written = grow(worker, steps, true);
    double small   = grow_small(worker, worker->quick ? 5 : 500);

    if ((plain < 0) || (written < 0) || (small < 0)) {
        return worker_complain("a step of the row growth failed");
    }
    worker_point("growth", plain);
    worker_point("growth-write", written);
    worker_point("growth-small", small);
    return true;
}
