/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks of 3 MiB, touched in three places or in full: huge pages that serve the second cost the
 * first 2 MiB a place. */

#include "bench/alloc/worker/worker.h"
#include <string.h>

enum { LARGE_BYTES = 3 << 20, SPARSE_BLOCKS = 200, LIVE = 32, PLACES = 3 };

static bool touch(char *block, bool in_full)
{
    if (block == NULL) {
        return false;
    }
    if (in_full) {
        memset(block, 1, LARGE_BYTES);
        worker_escape(block);
    }
    for (size_t i = 0; i < PLACES; i++) {
        ((volatile char *)block)[i * ((LARGE_BYTES - 1) / (PLACES - 1))] = 1;
    }
    return true;
}

/* Blocks touched in three places for the first time: MiB that are resident, and microseconds for
 * each. */
static bool first_touch(const struct worker *worker, size_t count, double *mib_p, double *us_p)
{
    static void *blocks[SPARSE_BLOCKS];
    double before = worker_resident_bytes();
    double start  = worker_now_ns();
    double taken;
    double live;

    for (size_t i = 0; i < count; i++) {
        blocks[i] = kind_take(worker->allocator, LARGE_BYTES);
        if (!touch(blocks[i], false)) {
            return false;
        }
    }
    taken = worker_now_ns() - start;
    live  = worker_resident_bytes() - before;
    start = worker_now_ns();
    for (size_t i = 0; i < count; i++) {
        kind_give(worker->allocator, blocks[i]);
    }
    *mib_p = live / (1 << 20);
    *us_p  = (taken + worker_now_ns() - start) / 1000 / (double)count;
    return true;
}

/* Microseconds to free the oldest of 32 blocks, allocate another and write it; negative where one
 * failed. */
static double turn(const struct worker *worker, size_t count)
{
    void *live[LIVE] = {NULL};
    double start     = 0;

    for (size_t i = 0; i < LIVE + count; i++) {
        void **slot = &live[i % LIVE];

        if (i == LIVE) {
            start = worker_now_ns();
        }
        if (*slot != NULL) {
            kind_give(worker->allocator, *slot);
        }
        *slot = kind_take(worker->allocator, LARGE_BYTES);
        if (!touch(*slot, true)) {
            return -1;
        }
    }
    start = worker_now_ns() - start;
    for (size_t i = 0; i < LIVE; i++) {
        kind_give(worker->allocator, live[i]);
    }
    return start / 1000 / (double)count;
}

bool worker_large(const struct worker *worker)
{
    double mib  = 0;
    double us   = 0;
    double full = -1;

    if (first_touch(worker, worker->quick ? 10 : SPARSE_BLOCKS, &mib, &us)) {
        full = turn(worker, worker->quick ? 10 : 500);
    }
    if (full < 0) {
        return worker_complain("an allocation of the row large failed");
    }
    worker_point("large-resident", mib);
    worker_point("large-sparse", us);
    worker_point("large-full", full);
    return true;
}
