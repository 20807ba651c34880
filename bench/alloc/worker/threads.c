/* SPDX-License-Identifier: BSD-3-Clause */
/* Two threads: each on its own blocks, and one that allocates what the other frees. Both start at a
 * barrier, each on a processor of its own, after warm-up.
 */

#include "bench/alloc/worker/worker.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

enum { BATCHES = 5, LIVE = 1000, RING = 1024, CRATES = 8, CRATE_SIZE = 512 };

/* One thread of a run, and its times. */
struct side {
    const struct worker *worker;
    _Atomic unsigned *arrived;
    int processor; /* -1: any */
    void **blocks;
    size_t count;
    uint64_t seed;
    bool random; /* else: pairs of 64 B */
    bool good;
    double cpu_ns;
    double start_ns; /* wall-clock */
    double end_ns;
};

/* A barrier, after each side has moved to a processor of its own: the scheduler often puts a woken
 * thread on the waker's processor, and the run would end before it moves one. */
static void synchronise(struct side *side)
{
    if (side->processor >= 0) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET((size_t)side->processor, &set);
        (void)sched_setaffinity(0, sizeof(set), &set);
    }
    (void)atomic_fetch_add(side->arrived, 1);
    while (atomic_load(side->arrived) < 2) {
        (void)sched_yield(); /* where there is one processor only */
    }
}

static void choose_processors(const cpu_set_t *allowed, struct side sides[2])
{
    int found = 0;

    for (int i = 0; (i < CPU_SETSIZE) && (found < 2); i++) {
        if (CPU_ISSET((size_t)i, allowed)) {
            sides[found++].processor = i;
        }
    }
}

WORKER_LOOP static bool work(struct side *side, size_t count, struct worker_dice *dice)
{
    kind_allocator allocator = side->worker->allocator;

    for (size_t i = 0; i < count; i++) {
        size_t slot = side->random ? worker_below(dice, LIVE) : 0;
        size_t size = side->random ? 16 + worker_below(dice, 4081) : 64;
        void *block;

        if (side->blocks[slot] != NULL) {
            kind_give(allocator, side->blocks[slot]);
        }
        block = kind_take(allocator, size);
        if (block == NULL) {
            return worker_complain("an allocation of the row threads failed");
        }
        side->blocks[slot] = block;
    }
    return true;
}

static void *run_side(void *argument)
{
    struct side *side       = argument;
    struct worker_dice dice = {side->seed};

    side->good = work(side, side->count / 8 + LIVE, &dice);
    synchronise(side);
    side->start_ns = (double)cli_clock_ns();
    side->cpu_ns   = worker_now_ns();
    side->good     = work(side, side->count, &dice) && side->good;
    side->cpu_ns   = worker_now_ns() - side->cpu_ns;
    side->end_ns   = (double)cli_clock_ns();
    for (size_t i = 0; i < LIVE; i++) {
        if (side->blocks[i] != NULL) {
            kind_give(side->worker->allocator, side->blocks[i]);
            side->blocks[i] = NULL;
        }
    }
    return NULL;
}

/* Runs one function for each side: the first in a thread of its own, the second here. */
static bool run_both(struct side sides[2], void *(*first)(void *), void *(*second)(void *))
{
    _Atomic unsigned arrived = 0;
    pthread_t thread;
    cpu_set_t before;
    bool kept = (sched_getaffinity(0, sizeof(before), &before) == 0);

    sides[0].arrived = sides[1].arrived = &arrived;
    sides[0].processor = sides[1].processor = -1;
    if (kept && (CPU_COUNT(&before) >= 2)) {
        choose_processors(&before, sides);
    }
    if (pthread_create(&thread, NULL, first, &sides[0]) != 0) {
        return worker_complain("no second thread");
    }
    (void)second(&sides[1]);
    (void)pthread_join(thread, NULL);
    if (kept) {
        (void)sched_setaffinity(0, sizeof(before), &before);
    }
    return sides[0].good && sides[1].good;
}

static double wall_ns(const struct side sides[2])
{
    double start = (sides[0].start_ns < sides[1].start_ns) ? sides[0].start_ns : sides[1].start_ns;
    double end   = (sides[0].end_ns > sides[1].end_ns) ? sides[0].end_ns : sides[1].end_ns;

    return end - start;
}

/* By the clock the least disturbed batch counts: other processes only slow a batch down. */
static double highest(const double *values, size_t count)
{
    double high = values[0];

    for (size_t i = 1; i < count; i++) {
        high = (values[i] > high) ? values[i] : high;
    }
    return high;
}

/* Million operations a second: of processor time, both threads' rates added, and of the clock. */
static bool throughput(const struct worker *worker, bool random, double *cpu_p, double *wall_p)
{
    size_t count  = worker->quick ? 2000 : random ? 400000 : 1000000;
    void **blocks = worker_blocks((size_t)2 * LIVE);
    double cpu[BATCHES];
    double wall[BATCHES];

    for (size_t i = 0; (blocks != NULL) && (i < BATCHES); i++) {
        struct side sides[2] = {
            {.worker = worker, .blocks = blocks, .count = count, .seed = 1, .random = random},
            {.worker = worker,
             .blocks = blocks + LIVE,
             .count  = count,
             .seed   = 2,
             .random = random}};
        if (!run_both(sides, run_side, run_side)) {
            return false;
        }
        cpu[i]  = 1e3 * (double)count * (1 / sides[0].cpu_ns + 1 / sides[1].cpu_ns);
        wall[i] = 2e3 * (double)count / wall_ns(sides);
    }
    *cpu_p  = worker_median(cpu, BATCHES);
    *wall_p = highest(wall, BATCHES);
    return blocks != NULL;
}

bool worker_threads(const struct worker *worker)
{
    double cpu;
    double wall;

    if (!throughput(worker, true, &cpu, &wall)) {
        return false;
    }
    worker_point("threads", cpu);
    worker_point("threads-wall", wall);
    if (!throughput(worker, false, &cpu, &wall)) {
        return false;
    }
    worker_point("threads-pair", cpu);
    return true;
}

/* ---- one allocates, the other frees ---- */

/* A ring of pointers; each side writes its own index. A side that must wait spins, then yields: the
 * processors may be oversubscribed. */
static struct {
    _Alignas(128) _Atomic size_t written;
    _Alignas(128) _Atomic size_t read;
    _Alignas(128) void *slots[RING];
} ring;

static void wait_a_little(unsigned *spins)
{
    if (++*spins % 256 == 0) {
        (void)sched_yield();
    }
}

static void *produce(void *argument)
{
    struct side *side = argument;
    unsigned spins    = 0;
    size_t limit      = RING;

    side->good = true;
    synchronise(side);
    side->start_ns = (double)cli_clock_ns();
    for (size_t i = 0; i < side->count; i++) {
        void *block = kind_take(side->worker->allocator, 64);
        side->good  = side->good && (block != NULL);
        while (i >= limit) {
            limit = atomic_load_explicit(&ring.read, memory_order_acquire) + RING;
            wait_a_little(&spins);
        }
        ring.slots[i % RING] = block;
        atomic_store_explicit(&ring.written, i + 1, memory_order_release);
    }
    side->end_ns = (double)cli_clock_ns();
    return NULL;
}

static void *consume(void *argument)
{
    struct side *side = argument;
    unsigned spins    = 0;
    size_t limit      = 0;

    side->good = true;
    synchronise(side);
    side->start_ns = (double)cli_clock_ns();
    for (size_t i = 0; i < side->count; i++) {
        while (i >= limit) {
            limit = atomic_load_explicit(&ring.written, memory_order_acquire);
            wait_a_little(&spins);
        }
        kind_give(side->worker->allocator, ring.slots[i % RING]);
        atomic_store_explicit(&ring.read, i + 1, memory_order_release);
    }
    side->end_ns = (double)cli_clock_ns();
    return NULL;
}

/* The same in crates, so that the processor time to allocate and free excludes the waits. */
static struct {
    _Alignas(128) _Atomic size_t written;
    _Alignas(128) _Atomic size_t read;
    _Alignas(128) void *blocks[CRATES][CRATE_SIZE];
} crates;

static void *fill_crates(void *argument)
{
    struct side *side = argument;
    unsigned spins    = 0;

    side->good = true;
    synchronise(side);
    for (size_t i = 0; i < side->count / CRATE_SIZE; i++) {
        void **crate = crates.blocks[i % CRATES];
        double start;
        while (i >= atomic_load_explicit(&crates.read, memory_order_acquire) + CRATES) {
            wait_a_little(&spins);
        }
        start = worker_now_ns();
        for (size_t k = 0; k < CRATE_SIZE; k++) {
            crate[k] = kind_take(side->worker->allocator, 64);
        }
        side->cpu_ns += worker_now_ns() - start;
        side->good = side->good && (crate[CRATE_SIZE - 1] != NULL);
        atomic_store_explicit(&crates.written, i + 1, memory_order_release);
    }
    return NULL;
}

static void *empty_crates(void *argument)
{
    struct side *side = argument;
    unsigned spins    = 0;

    side->good = true;
    synchronise(side);
    for (size_t i = 0; i < side->count / CRATE_SIZE; i++) {
        void **crate = crates.blocks[i % CRATES];
        double start;
        while (i >= atomic_load_explicit(&crates.written, memory_order_acquire)) {
            wait_a_little(&spins);
        }
        start = worker_now_ns();
        for (size_t k = 0; k < CRATE_SIZE; k++) {
            kind_give(side->worker->allocator, crate[k]);
        }
        side->cpu_ns += worker_now_ns() - start;
        atomic_store_explicit(&crates.read, i + 1, memory_order_release);
    }
    return NULL;
}

bool worker_handover(const struct worker *worker)
{
    size_t count = worker->quick ? 4096 : 1 << 19;
    double wall[BATCHES];
    double cpu[BATCHES];

    for (size_t i = 0; i < BATCHES; i++) {
        struct side sides[2] = {{.worker = worker, .count = count},
                                {.worker = worker, .count = count}};
        atomic_store(&ring.written, 0);
        atomic_store(&ring.read, 0);
        if (!run_both(sides, produce, consume)) {
            return worker_complain("an allocation of the row producer-consumer failed");
        }
        wall[i] = 1e3 * (double)count / wall_ns(sides);
    }
    for (size_t i = 0; i < BATCHES; i++) {
        struct side sides[2] = {{.worker = worker, .count = count},
                                {.worker = worker, .count = count}};
        atomic_store(&crates.written, 0);
        atomic_store(&crates.read, 0);
        if (!run_both(sides, fill_crates, empty_crates)) {
            return worker_complain("an allocation of the row producer-consumer failed");
        }
        cpu[i] = (sides[0].cpu_ns + sides[1].cpu_ns) / (double)count;
    }
    worker_point("producer-consumer", highest(wall, BATCHES));
    worker_point("producer-consumer-cpu", worker_median(cpu, BATCHES));
    return true;
}

/* ---- allocators of their own, and one that the threads share ---- */

/* One of its side's allocators is made, used once and destroyed. */
static bool make_and_end(const struct side *side)
{
    kind_allocator allocator;
    void *block = kind_make((size_t)64 << 20, &allocator) ? kind_take(allocator, 64) : NULL;

    (void)side;
    if (block == NULL) {
        return worker_complain("a fresh allocator refuses 64 bytes");
    }
    *(volatile char *)block = 1;
    kind_give(allocator, block);
    kind_unmake(allocator);
    return true;
}

/* A pair of side->seed bytes. */
static bool use_shared(const struct side *side)
{
    void *block = kind_take(side->worker->allocator, side->seed);

    if (block == NULL) {
        return worker_complain("an allocation of the row team failed");
    }
    worker_escape(block);
    kind_give(side->worker->allocator, block);
    return true;
}

/* Also a side that has failed comes to the barrier: the other one waits there. */
__attribute__((always_inline)) static inline void *repeat(struct side *side,
                                                          bool (*once)(const struct side *))
{
    side->good = true;
    for (size_t i = 0; side->good && (i < side->count / 8); i++) {
        side->good = once(side);
    }
    synchronise(side);
    side->cpu_ns = worker_now_ns();
    for (size_t i = 0; side->good && (i < side->count); i++) {
        side->good = once(side);
    }
    side->cpu_ns = worker_now_ns() - side->cpu_ns;
    return NULL;
}

static void *repeat_making(void *side)
{
    return repeat(side, make_and_end);
}

static void *repeat_using(void *side)
{
    return repeat(side, use_shared);
}

/* The median of batches: processor time of one thread for one operation. */
static bool measure_cpu(const struct worker *worker, void *(*function)(void *), size_t count,
                        size_t size_bytes, const char *name)
{
    double values[BATCHES];

    for (size_t i = 0; i < BATCHES; i++) {
        struct side sides[2] = {{.worker = worker, .count = count, .seed = size_bytes},
                                {.worker = worker, .count = count, .seed = size_bytes}};

        if (!run_both(sides, function, function)) {
            return false;
        }
        values[i] = (sides[0].cpu_ns + sides[1].cpu_ns) / 2 / (double)count;
    }
    worker_point(name, worker_median(values, BATCHES));
    return true;
}

bool worker_init_threads(const struct worker *worker)
{
    return measure_cpu(worker, repeat_making, worker->quick ? 100 : 20000, 64, "init-threads");
}

bool worker_team(const struct worker *worker)
{
    struct worker team = *worker;
    size_t count       = worker->quick ? 200 : 100000;
    bool good          = true;

    if (KIND_LIMITS) {
        if (!kind_make_team((size_t)64 << 20, &team.allocator)) {
            return worker_complain("no allocator of a team");
        }
        good = measure_cpu(&team, repeat_using, count, 64, "team-64") &&
               measure_cpu(&team, repeat_using, count, 4096, "team-4k") &&
               measure_cpu(&team, repeat_using, count / 4, 65536, "team-64k");
        kind_unmake(team.allocator);
    }
    return good;
}
