/* SPDX-License-Identifier: BSD-3-Clause */
/* A block that grows by realloc: 4,000 steps of 16 KiB, to 62.5 MiB. An allocator that copies at
 * each step moves 125 GB for that. */

#include "bench/alloc/worker/worker.h"

enum { STEP_BYTES = 16 << 10, PAGE_BYTES = 4096 };

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

bool worker_growth(const struct worker *worker)
{
    size_t steps   = worker->quick ? 200 : 4000;
    double plain   = grow(worker, steps, false);
    double written = grow(worker, steps, true);

    if ((plain < 0) || (written < 0)) {
        return worker_complain("a step of the row growth failed");
    }
    worker_point("growth", plain);
    worker_point("growth-write", written);
    return true;
}
