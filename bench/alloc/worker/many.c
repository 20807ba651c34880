/* SPDX-License-Identifier: BSD-3-Clause */
/* many.c: many threads, and many allocators. Sixteen threads on however few processors: each on
 * blocks of its own, or on common ones, where most blocks are freed by another thread than the one
 * that allocated them, as tasks do; one thread that uses 64 allocators by chance. */

#include "bench/alloc/worker/worker.h"
#include <pthread.h>
#include <stdatomic.h>

enum { BATCHES = 5, THREADS = 16, LIVE = 256, ALLOCATORS = 64, LEAST = 16, BEYOND = 2033 };

/* Blocks that are live, each in a slot. */
typedef _Atomic(void *) slot;

struct member {
    const kind_allocator *allocators;
    size_t allocator_count; /* a slot's is that of its number */
    slot *slots;
    size_t slot_count;
    size_t count;
    uint64_t seed;
    bool good;
    double ns; /* of processor time */
    pthread_t thread;
};

static void *run_member(void *argument)
{
    struct member *m        = argument;
    struct worker_dice dice = {m->seed};
    double start            = worker_now_ns();

    m->good = true;
    for (size_t i = 0; i < m->count; i++) {
        size_t n                 = worker_below(&dice, m->slot_count);
        kind_allocator allocator = m->allocators[n % m->allocator_count];
        void *block              = kind_take(allocator, LEAST + worker_below(&dice, BEYOND));

        m->good = m->good && (block != NULL);
        block   = atomic_exchange(&m->slots[n], block);
        if (block != NULL) {
            kind_give(allocator, block);
        }
    }
    m->ns = worker_now_ns() - start;
    return NULL;
}

static void empty(const kind_allocator *allocators, size_t allocator_count, slot *slots,
                  size_t count)
{
    for (size_t i = 0; i < count; i++) {
        void *block = atomic_exchange(&slots[i], NULL);

        if (block != NULL) {
            kind_give(allocators[i % allocator_count], block);
        }
    }
}

/* Nanoseconds of an allocation and a free; negative: something failed. */
static double run_threads(const struct worker *worker, slot *slots, bool common)
{
    size_t count = worker->quick ? 100 : 20000;
    struct member members[THREADS];
    double ns   = 0;
    bool good   = true;
    int started = 0;

    for (int t = 0; t < THREADS; t++) {
        members[t] = (struct member){.allocators      = &worker->allocator,
                                     .allocator_count = 1,
                                     .slots           = common ? slots : slots + (size_t)t * LIVE,
                                     .slot_count      = common ? (size_t)THREADS * LIVE : LIVE,
                                     .count           = count,
                                     .seed            = (uint64_t)t + 1};
        if (pthread_create(&members[t].thread, NULL, run_member, &members[t]) != 0) {
            break;
        }
        started++;
    }
    for (int t = 0; t < started; t++) {
        (void)pthread_join(members[t].thread, NULL);
        ns += members[t].ns;
        good = good && members[t].good;
    }
    empty(&worker->allocator, 1, slots, (size_t)THREADS * LIVE);
    return (good && (started == THREADS)) ? ns / ((double)count * THREADS) : -1;
}

/* Each with a pool_size. */
static double run_allocators(const struct worker *worker, slot *slots)
{
    kind_allocator allocators[ALLOCATORS];
    struct member m = {.allocators = allocators,
                       .slots      = slots,
                       .slot_count = (size_t)THREADS * LIVE,
                       .count      = worker->quick ? 1000 : 200000,
                       .seed       = 1};

    while ((m.allocator_count < ALLOCATORS) &&
           kind_make((size_t)64 << 20, &allocators[m.allocator_count])) {
        m.allocator_count++;
    }
    if (m.allocator_count == ALLOCATORS) {
        (void)run_member(&m);
        empty(allocators, ALLOCATORS, slots, m.slot_count);
    }
    for (size_t i = 0; i < m.allocator_count; i++) {
        kind_unmake(allocators[i]);
    }
    return m.good ? m.ns / (double)m.count : -1;
}

bool worker_many(const struct worker *worker)
{
    static const char *const names[] = {"many-threads", "many-tasks", "many-allocators"};
    slot *slots                      = (slot *)worker_blocks((size_t)THREADS * LIVE);
    double values[BATCHES];

    for (int n = 0; (slots != NULL) && (n < (KIND_LIMITS ? 3 : 2)); n++) {
        for (int i = 0; i < BATCHES; i++) {
            values[i] =
                (n == 2) ? run_allocators(worker, slots) : run_threads(worker, slots, n == 1);
            if (values[i] < 0) {
                return worker_complain("the row many failed");
            }
        }
        worker_point(names[n], worker_median(values, BATCHES));
    }
    return slots != NULL;
}
