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

/* MiB of blocks touched in three places; negative where one failed. */
static double resident(const struct worker *worker, size_t count)
{
    static void *blocks[SPARSE_BLOCKS];
    double before = worker_resident_bytes();
    double after;

    for (size_t i = 0; i < count; i++) {
        blocks[i] = kind_take(worker->allocator, LARGE_BYTES);
        if (!touch(blocks[i], false)) {
            return -1;
        }
    }
    after = worker_resident_bytes();
    for (size_t i = 0; i < count; i++) {
        kind_give(worker->allocator, blocks[i]);
    }
    return (after - before) / (1 << 20);
}

/* Microseconds to free the oldest of 32 blocks, allocate another and touch it; negative where one
 * failed. */
static double turn(const struct worker *worker, size_t count, bool in_full)
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
        if (!touch(*slot, in_full)) {
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
    double mib    = resident(worker, worker->quick ? 10 : SPARSE_BLOCKS);
    double sparse = turn(worker, worker->quick ? 40 : 2000, false);
    double full   = turn(worker, worker->quick ? 10 : 500, true);

    if ((mib < 0) || (sparse < 0) || (full < 0)) {
        return worker_complain("an allocation of the row large failed");
    }
    worker_point("large-resident", mib);
    worker_point("large-sparse", sparse);
    worker_point("large-full", full);
    return true;
}
