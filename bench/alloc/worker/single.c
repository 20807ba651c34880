/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of one thread on host memory: pair, random, init. */

#include "bench/alloc/worker/worker.h"
#include <stdio.h>

enum { BATCHES = 5 };

WORKER_LOOP static double pair_batch(kind_allocator allocator, size_t size_bytes, size_t count)
{
    double start = worker_now_ns();

    for (size_t i = 0; i < count; i++) {
        void *block = kind_take(allocator, size_bytes);
        worker_escape(block);
        kind_give(allocator, block);
    }
    return (worker_now_ns() - start) / (double)count;
}

static const struct {
    const char *name;
    size_t size_bytes;
    size_t count;
} pairs[] = {{"pair-16", 16, 200000},     {"pair-64", 64, 200000},
             {"pair-256", 256, 200000},   {"pair-1k", 1024, 200000},
             {"pair-4k", 4096, 200000},   {"pair-64k", 65536, 50000},
             {"pair-1m", 1048576, 50000}, {NULL, 0, 0}};

bool worker_pair(const struct worker *worker)
{
    for (size_t p = 0; pairs[p].name != NULL; p++) {
        size_t count = worker->quick ? 200 : pairs[p].count;
        double values[BATCHES];
        void *block = kind_take(worker->allocator, pairs[p].size_bytes);

        if (block == NULL) {
            return worker_complain("an allocation of the row pair failed");
        }
        kind_give(worker->allocator, block);
        (void)pair_batch(worker->allocator, pairs[p].size_bytes, count / 4);
        for (size_t i = 0; i < BATCHES; i++) {
            values[i] = pair_batch(worker->allocator, pairs[p].size_bytes, count);
        }
        worker_point(pairs[p].name, worker_median(values, BATCHES));
    }
    return true;
}

/* One operation: a block of the set is freed and another of 16..4096 B takes its place. With
 * @p write its first word is written, as a program would. */
WORKER_LOOP static bool random_batch(kind_allocator allocator, void **blocks, size_t live,
                                     size_t count, struct worker_dice *dice, bool write)
{
    for (size_t i = 0; i < count; i++) {
        size_t slot = worker_below(dice, live);
        size_t size = 16 + worker_below(dice, 4081);
        void *block;

        kind_give(allocator, blocks[slot]);
        block = kind_take(allocator, size);
        if (block == NULL) {
            return worker_complain("an allocation of the row random failed");
        }
        if (write) {
            *(volatile uint64_t *)block = i;
        }
        blocks[slot] = block;
    }
    return true;
}

bool worker_random(const struct worker *worker)
{
    static const char *const names[] = {"random", "random-write"};
    size_t live                      = worker->quick ? 200 : 10000;
    size_t count                     = worker->quick ? 200 : 100000;
    void **blocks                    = worker_blocks(live);
    struct worker_dice dice          = {12345};
    double values[BATCHES];

    if (blocks == NULL) {
        return false;
    }
    for (size_t i = 0; i < live; i++) {
        blocks[i] = kind_take(worker->allocator, 16 + worker_below(&dice, 4081));
    }
    if (!random_batch(worker->allocator, blocks, live, 10 * live, &dice, false)) {
        return false;
    }
    for (size_t n = 0; n < 2; n++) {
        for (size_t i = 0; i < BATCHES; i++) {
            double start = worker_now_ns();
            if (!random_batch(worker->allocator, blocks, live, count, &dice, n == 1)) {
                return false;
            }
            values[i] = (worker_now_ns() - start) / (double)count;
        }
        worker_point(names[n], worker_median(values, BATCHES));
    }
    return true;
}

WORKER_LOOP static bool init_batch(size_t count, bool use)
{
    for (size_t i = 0; i < count; i++) {
        kind_allocator allocator;
        if (!kind_make((size_t)64 << 20, &allocator)) {
            return worker_complain("no allocator");
        }
        if (use) {
            void *block = kind_take(allocator, 64);
            if (block == NULL) {
                return worker_complain("a fresh allocator refuses 64 bytes");
            }
            worker_escape(block);
            kind_give(allocator, block);
        }
        kind_unmake(allocator);
    }
    return true;
}

bool worker_init(const struct worker *worker)
{
    static const char *const names[] = {"init-destroy", "init-alloc-destroy"};
    size_t count                     = worker->quick ? 100 : 20000;
    double values[BATCHES];

    if (!KIND_LIMITS) {
        return true;
    }
    for (size_t n = 0; n < 2; n++) {
        if (!init_batch(count / 4, n == 1)) {
            return false;
        }
        for (size_t i = 0; i < BATCHES; i++) {
            double start = worker_now_ns();
            if (!init_batch(count, n == 1)) {
                return false;
            }
            values[i] = (worker_now_ns() - start) / (double)count;
        }
        worker_point(names[n], worker_median(values, BATCHES));
    }
    return worker_init_threads(worker);
}
