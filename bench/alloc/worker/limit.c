/* SPDX-License-Identifier: BSD-3-Clause */
/* pool_size: the part that objects of 64 B can use, the cost of a refusal, and whether the limit
 * holds and nothing else is refused while other threads request too much. */

#include "bench/alloc/worker/worker.h"
#include <pthread.h>
#include <stdatomic.h>

enum { BATCHES = 5 };

/* A thread that requests the whole limit repeatedly: always too much beside a live block. */
struct greed {
    kind_allocator allocator;
    size_t size_bytes;
    _Atomic bool stop;
};

static void *run_greed(void *argument)
{
    struct greed *greed = argument;

    while (!atomic_load_explicit(&greed->stop, memory_order_relaxed)) {
        void *block = kind_take(greed->allocator, greed->size_bytes);
        if (block != NULL) {
            kind_give(greed->allocator, block);
        }
    }
    return NULL;
}

static size_t fill(kind_allocator allocator, void **blocks, size_t capacity)
{
    size_t taken = 0;

    while ((taken < capacity) && ((blocks[taken] = kind_take(allocator, 64)) != NULL)) {
        taken++;
    }
    return taken;
}

static void empty(kind_allocator allocator, void **blocks, size_t taken)
{
    while (taken > 0) {
        kind_give(allocator, blocks[--taken]);
    }
}

WORKER_LOOP static double refusal_ns(kind_allocator allocator, size_t size_bytes, size_t count)
{
    double values[BATCHES];

    for (size_t b = 0; b < BATCHES; b++) {
        double start = worker_now_ns();
        for (size_t i = 0; i < count; i++) {
            worker_escape(kind_take(allocator, size_bytes));
        }
        values[b] = (worker_now_ns() - start) / (double)count;
    }
    return worker_median(values, BATCHES);
}

static bool one_thread(const struct worker *worker, size_t limit, void **blocks)
{
    size_t count = worker->quick ? 500 : 100000;
    kind_allocator allocator;
    size_t taken;

    if (!kind_make(limit, &allocator)) {
        return worker_complain("no allocator");
    }
    taken = fill(allocator, blocks, 2 * limit / 64);
    worker_point("limit-usable", 100.0 * (double)taken * 64 / (double)limit);
    if (kind_take(allocator, 64) == NULL) {
        worker_point("limit-refusal", refusal_ns(allocator, 64, count));
        worker_point("limit-refusal-large", refusal_ns(allocator, limit, count));
    }
    empty(allocator, blocks, taken);
    kind_unmake(allocator);
    return true;
}

/* Refusals in a million, of a thread that holds at most an eighth of the limit. */
static bool beside_greed(const struct worker *worker, size_t limit, void **blocks)
{
    size_t live             = limit / 8 / 4096;
    size_t count            = worker->quick ? 2000 : 400000;
    struct worker_dice dice = {99};
    struct greed greed      = {.size_bytes = limit};
    size_t refused          = 0;
    pthread_t thread;
    void *first;

    if (!kind_make(limit, &greed.allocator) || ((first = kind_take(greed.allocator, 64)) == NULL) ||
        (pthread_create(&thread, NULL, run_greed, &greed) != 0)) {
        return worker_complain("the row limit cannot begin");
    }
    for (size_t i = 0; i < live + count; i++) {
        size_t slot = worker_below(&dice, live);
        if (blocks[slot] != NULL) {
            kind_give(greed.allocator, blocks[slot]);
        }
        blocks[slot] = kind_take(greed.allocator, 16 + worker_below(&dice, 4081));
        refused += (blocks[slot] == NULL) ? 1 : 0;
    }
    atomic_store(&greed.stop, true);
    (void)pthread_join(thread, NULL);
    for (size_t i = 0; i < live; i++) {
        if (blocks[i] != NULL) {
            kind_give(greed.allocator, blocks[i]);
            blocks[i] = NULL;
        }
    }
    kind_give(greed.allocator, first);
    kind_unmake(greed.allocator);
    worker_point("limit-wrong", 1e6 * (double)refused / (double)(live + count));
    return true;
}

struct filler {
    kind_allocator allocator;
    pthread_barrier_t *barrier;
    void **blocks;
    size_t capacity;
    size_t taken;
};

/* To the last byte: one refusal beside other threads may be wrong, a hundred in a row are not. */
static void *run_filler(void *argument)
{
    struct filler *filler = argument;
    size_t refused        = 0;

    (void)pthread_barrier_wait(filler->barrier);
    while ((refused < 100) && (filler->taken < filler->capacity)) {
        size_t more = fill(filler->allocator, filler->blocks + filler->taken,
                           filler->capacity - filler->taken);
        filler->taken += more;
        refused = (more == 0) ? refused + 1 : 0;
    }
    /* Both are full before either frees. Each frees its own: one peer ends the program when blocks
     * outlive their thread. */
    (void)pthread_barrier_wait(filler->barrier);
    empty(filler->allocator, filler->blocks, filler->taken);
    return NULL;
}

/* Two threads fill the pool while a third requests too much. */
static bool fill_together(const struct worker *worker, size_t limit, void **blocks)
{
    size_t capacity    = limit / 64;
    struct greed greed = {.size_bytes = limit};
    struct filler fillers[2];
    pthread_barrier_t barrier;
    pthread_t threads[2];
    double bytes;
    void *first;

    (void)worker;
    if (!kind_make(limit, &greed.allocator) || ((first = kind_take(greed.allocator, 64)) == NULL) ||
        (pthread_barrier_init(&barrier, NULL, 2) != 0)) {
        return worker_complain("the row limit cannot begin");
    }
    fillers[0] = (struct filler){greed.allocator, &barrier, blocks, capacity, 0};
    fillers[1] = (struct filler){greed.allocator, &barrier, blocks + capacity, capacity, 0};
    if ((pthread_create(&threads[0], NULL, run_greed, &greed) != 0) ||
        (pthread_create(&threads[1], NULL, run_filler, &fillers[1]) != 0)) {
        return worker_complain("no threads");
    }
    (void)run_filler(&fillers[0]);
    (void)pthread_join(threads[1], NULL);
    atomic_store(&greed.stop, true);
    (void)pthread_join(threads[0], NULL);
    bytes = 64.0 * (double)(fillers[0].taken + fillers[1].taken + 1);
    worker_point("limit-usable-threads", 100 * bytes / (double)limit);
    worker_point("limit-overshoot", (bytes > (double)limit) ? bytes - (double)limit : 0);
    kind_give(greed.allocator, first);
    kind_unmake(greed.allocator);
    return true;
}

bool worker_limit(const struct worker *worker)
{
    size_t limit  = (size_t)(worker->quick ? 1 : 64) << 20;
    void **blocks = KIND_LIMITS ? worker_blocks(2 * limit / 64) : NULL;

    if (!KIND_LIMITS) {
        return true;
    }
    return (blocks != NULL) && one_thread(worker, limit, blocks) &&
           beside_greed(worker, limit, worker_blocks(limit / 4096)) &&
           fill_together(worker, limit, blocks);
}
