/* SPDX-License-Identifier: BSD-3-Clause */
/* pool_size: what fits is never refused and what does not is never given, whatever happened before
 * and whatever other threads do. A block counts with its size and 4 bytes more. */

#include "api.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { OVERHEAD = 4, BLOCKS_MAX = 4096 };

static void nothing_is_left(void)
{
    memspan_allocator_stats_t all = {.struct_size = sizeof(all)};

    in_order();
    memspan_trim();
    DONE(memspan_allocator_get_stats(MEMSPAN_ALLOCATOR_NULL, &all));
    cr_expect_eq(all.held_bytes, 0, "%llu bytes are held", (unsigned long long)all.held_bytes);
}

TestSuite(limits, .fini = nothing_is_left);

static memspan_allocator_h limited(size_t pool_size, memspan_trait_value_t hint)
{
    memspan_trait_t traits[]      = {{MEMSPAN_TRAIT_POOL_SIZE, pool_size},
                                     {MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB},
                                     {MEMSPAN_TRAIT_SYNC_HINT, hint}};
    memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;

    DONE(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, traits, 3, &allocator));
    return allocator;
}

static uint64_t charged(memspan_allocator_h allocator)
{
    memspan_allocator_stats_t stats = {.struct_size = sizeof(stats)};

    DONE(memspan_allocator_get_stats(allocator, &stats));
    return stats.charged_bytes;
}

/* How many blocks fit; they are freed again. */
static size_t count_fits(memspan_allocator_h allocator, size_t size)
{
    static void *blocks[BLOCKS_MAX];
    size_t count = 0;

    while ((count < BLOCKS_MAX) && ((blocks[count] = memspan_alloc(allocator, size)) != NULL)) {
        count++;
    }
    cr_assert(count < BLOCKS_MAX);
    cr_expect_eq(memspan_error_last()->status, MEMSPAN_ERR_LIMIT, "%s", memspan_error_text());
    for (size_t i = 0; i < count; i++) {
        DONE(memspan_free(blocks[i]));
    }
    return count;
}

static void expect_exact(size_t n, size_t size, void (*history)(memspan_allocator_h allocator))
{
    size_t whole = n * (size + OVERHEAD);

    for (size_t less = 0; less < 2; less++) {
        memspan_allocator_h allocator = limited(whole - less, MEMSPAN_VALUE_CONTENDED);

        if (history != NULL) {
            history(allocator);
        }
        cr_expect_eq(charged(allocator), 0, "%llu", (unsigned long long)charged(allocator));
        cr_expect_eq(count_fits(allocator, size), n - less,
                     "pool_size=%zu, blocks of %zu: not %zu of them", whole - less, size, n - less);
        DONE(memspan_allocator_destroy(allocator));
    }
}

static void expect_exact_for_all(void (*history)(memspan_allocator_h allocator))
{
    static const size_t sizes[] = {1, 15, 16, 17, 60, 100, 1000, 4092, 4096, 20000, 300000};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        expect_exact((sizes[i] > 10000) ? 3 : 257, sizes[i], history);
    }
}

Test(limits, exact_at_the_start)
{
    expect_exact_for_all(NULL);
}

/* ---- histories ---- */

struct load {
    memspan_allocator_h allocator;
    void *blocks[64];
    unsigned seed;
};

static void *allocate_some(void *argument)
{
    struct load *load = argument;

    for (int i = 0; i < 64; i++) {
        load->blocks[i] = memspan_alloc(load->allocator, 1 + (load->seed * 977 + i * 131) % 300);
    }
    return NULL;
}

static void *free_all(void *argument)
{
    struct load *load = argument;

    for (int i = 0; i < 64; i++) {
        (void)memspan_free(load->blocks[i]); /* NULL: did not fit */
    }
    return NULL;
}

static void run(void *(*work)(void *), void *argument)
{
    pthread_t thread;

    cr_assert_eq(pthread_create(&thread, NULL, work, argument), 0);
    pthread_join(thread, NULL);
}

/* Allocated here, freed there, by a thread that then ends. */
static void freed_elsewhere(memspan_allocator_h allocator)
{
    struct load load = {.allocator = allocator};

    for (load.seed = 0; load.seed < 4; load.seed++) {
        (void)allocate_some(&load);
        run(free_all, &load);
        run(allocate_some, &load);
        (void)free_all(&load);
        run(allocate_some, &load);
        run(free_all, &load);
    }
}

Test(limits, exact_after_frees_on_other_threads)
{
    expect_exact_for_all(freed_elsewhere);
}

static void resized(memspan_allocator_h allocator)
{
    for (size_t size = 1; size < 200; size += 7) {
        void *block = memspan_alloc(allocator, size);
        void *now;

        for (size_t to = 1; to < 100000; to = to * 5 + 3) {
            now   = memspan_realloc(allocator, block, (to * 31 + size) % 2000 + 1);
            block = (now != NULL) ? now : block;
        }
        now = memspan_realloc(allocator, block, (size_t)1 << 40); /* refused */
        cr_expect_eq(now, NULL);
        DONE(memspan_free(block));
    }
}

Test(limits, exact_after_reallocs)
{
    expect_exact_for_all(resized);
}

static void refused(memspan_allocator_h allocator)
{
    for (int i = 0; i < 200; i++) {
        cr_expect_eq(memspan_alloc(allocator, (size_t)1 << 30), NULL);
        cr_expect_eq(memspan_calloc(allocator, SIZE_MAX, 2), NULL);
        cr_expect_eq(memspan_aligned_alloc(allocator, 64, SIZE_MAX - 3), NULL);
        cr_expect_eq(memspan_aligned_alloc(allocator, 48, 10), NULL);
    }
}

Test(limits, exact_after_refusals)
{
    expect_exact_for_all(refused);
}

/* Blocks that the heap keeps, each more than the credit that it may have. */
Test(limits, exact_for_blocks_that_are_kept)
{
    enum { LARGE = 300000, LITTLE = 20000 };
    size_t pool_size              = 3 * (LARGE + OVERHEAD) + (LITTLE + OVERHEAD) - 1;
    memspan_allocator_h allocator = limited(pool_size, MEMSPAN_VALUE_CONTENDED);

    for (int i = 0; i < 100; i++) {
        void *large[3];
        void *little;

        for (int k = 0; k < 3; k++) {
            large[k] = memspan_alloc(allocator, LARGE);
            cr_assert_neq(large[k], NULL, "round %d: %s", i, memspan_error_text());
        }
        DONE(memspan_free(large[2]));
        little = memspan_alloc(allocator, LITTLE);
        cr_assert_neq(little, NULL, "round %d: %s", i, memspan_error_text());
        cr_assert_eq(memspan_alloc(allocator, LARGE), NULL, "round %d", i);
        cr_assert_eq(memspan_error_last()->status, MEMSPAN_ERR_LIMIT);
        DONE(memspan_free(little));
        large[2] = memspan_alloc(allocator, LARGE);
        cr_assert_neq(large[2], NULL, "round %d: %s", i, memspan_error_text());
        for (int k = 0; k < 3; k++) {
            DONE(memspan_free(large[k]));
        }
    }
    cr_expect_eq(charged(allocator), 0, "%llu", (unsigned long long)charged(allocator));
    cr_expect_eq(count_fits(allocator, LARGE), 3);
    DONE(memspan_allocator_destroy(allocator));
}

/* Blocks of two allocators in turns, so that each is freed into a heap that was not used last. */
Test(limits, exact_for_allocators_in_turns)
{
    enum { LARGE = 300000 };
    memspan_allocator_h allocators[2];

    for (int k = 0; k < 2; k++) {
        allocators[k] = limited(3 * (LARGE + OVERHEAD), MEMSPAN_VALUE_CONTENDED);
    }
    for (int i = 0; i < 200; i++) {
        void *blocks[4];

        for (int k = 0; k < 4; k++) {
            blocks[k] = memspan_alloc(allocators[k % 2], LARGE - 1000 * k);
            cr_assert_neq(blocks[k], NULL, "round %d: %s", i, memspan_error_text());
        }
        for (int k = 0; k < 4; k++) {
            DONE(memspan_free(blocks[k]));
        }
    }
    for (int k = 0; k < 2; k++) {
        cr_expect_eq(charged(allocators[k]), 0);
        cr_expect_eq(count_fits(allocators[k], LARGE), 3);
        DONE(memspan_allocator_destroy(allocators[k]));
    }
}

/* ---- several threads ---- */

struct idler {
    memspan_allocator_h allocator;
    atomic_int stage;
};

static void *use_and_idle(void *argument)
{
    struct idler *idler = argument;
    struct load load    = {.allocator = idler->allocator, .seed = 5};

    for (int i = 0; i < 50; i++) {
        (void)allocate_some(&load);
        (void)free_all(&load);
    }
    atomic_store(&idler->stage, 1);
    while (atomic_load(&idler->stage) != 2) {
        sched_yield();
    }
    return NULL;
}

/* A thread that had much and has nothing now must not keep anything of the limit for itself. */
Test(limits, idle_threads_hold_nothing)
{
    enum { IDLERS = 3 };
    struct idler idlers[IDLERS];
    pthread_t threads[IDLERS];
    memspan_allocator_h allocator = limited(100 * (500 + OVERHEAD), MEMSPAN_VALUE_CONTENDED);

    for (int i = 0; i < IDLERS; i++) {
        idlers[i] = (struct idler){.allocator = allocator};
        cr_assert_eq(pthread_create(&threads[i], NULL, use_and_idle, &idlers[i]), 0);
    }
    for (int i = 0; i < IDLERS; i++) {
        while (atomic_load(&idlers[i].stage) != 1) {
            sched_yield();
        }
    }
    cr_expect_eq(count_fits(allocator, 500), 100);
    for (int i = 0; i < IDLERS; i++) {
        atomic_store(&idlers[i].stage, 2);
        pthread_join(threads[i], NULL);
    }
    cr_expect_eq(count_fits(allocator, 500), 100);
    DONE(memspan_allocator_destroy(allocator));
}

/* Full, then emptied by another thread: full again at once, to the byte. */
Test(limits, what_others_free_is_there_at_once)
{
    struct load load              = {.seed = 3};
    memspan_allocator_h allocator = limited(64 * 304, MEMSPAN_VALUE_CONTENDED);
    uint64_t first;

    load.allocator = allocator;
    (void)allocate_some(&load);
    first = charged(allocator);
    for (int i = 0; i < 200; i++) {
        run(free_all, &load);
        cr_assert_eq(charged(allocator), 0);
        cr_assert_eq(count_fits(allocator, 300), 64, "round %d", i);
        (void)allocate_some(&load);
        cr_assert_eq(charged(allocator), first);
    }
    (void)free_all(&load);
    DONE(memspan_allocator_destroy(allocator));
}

enum { WORKERS = 3, SHARE = 20, ROUNDS = 6000 };

struct worker {
    memspan_allocator_h allocator;
    atomic_bool *stop;
    size_t size; /* of a block */
    int wrong;
    unsigned seed;
};

/* Takes its share and no more: never refused. */
static void *take_share(void *argument)
{
    struct worker *w    = argument;
    void *blocks[SHARE] = {NULL};

    for (int i = 0; (i < ROUNDS) && (w->wrong == 0); i++) {
        int k     = (int)((w->seed = w->seed * 1664525u + 1013904223u) >> 16) % SHARE;
        void *now = (blocks[k] == NULL) ? NULL : memspan_realloc(w->allocator, blocks[k], w->size);

        if ((blocks[k] != NULL) && (i % 3 == 0)) {
            w->wrong += (now == NULL);
            blocks[k] = now;
        } else {
            (void)memspan_free(now);
            blocks[k] = (i % 2 == 0) ? memspan_alloc(w->allocator, w->size)
                                     : memspan_calloc(w->allocator, 1, w->size);
            w->wrong += (blocks[k] == NULL);
        }
    }
    for (int k = 0; k < SHARE; k++) {
        w->wrong += (memspan_free(blocks[k]) != MEMSPAN_OK);
    }
    return NULL;
}

/* Requests one byte more than the whole, all the time: it always fails, and delays no other. */
static void *ask_too_much(void *argument)
{
    struct worker *w = argument;

    do {
        w->wrong += (memspan_alloc(w->allocator, w->size) != NULL);
    } while (!atomic_load(w->stop));
    return NULL;
}

static void share_a_pool(size_t size)
{
    size_t pool                   = WORKERS * SHARE * (size + OVERHEAD);
    atomic_bool stop              = false;
    memspan_allocator_h allocator = limited(pool, MEMSPAN_VALUE_CONTENDED);
    struct worker greedy          = {allocator, &stop, pool - OVERHEAD + 1, 0, 0};
    struct worker workers[WORKERS];
    pthread_t threads[WORKERS + 1];

    cr_assert_eq(pthread_create(&threads[WORKERS], NULL, ask_too_much, &greedy), 0);
    for (unsigned i = 0; i < WORKERS; i++) {
        workers[i] = (struct worker){allocator, &stop, size, 0, i};
        cr_assert_eq(pthread_create(&threads[i], NULL, take_share, &workers[i]), 0);
    }
    for (unsigned i = 0; i < WORKERS; i++) {
        pthread_join(threads[i], NULL);
        cr_expect_eq(workers[i].wrong, 0, "what fits was refused, blocks of %zu", size);
    }
    atomic_store(&stop, true);
    pthread_join(threads[WORKERS], NULL);
    cr_expect_eq(greedy.wrong, 0, "more than pool_size was given");
    cr_expect_eq(charged(allocator), 0);
    DONE(memspan_allocator_destroy(allocator));
}

Test(limits, one_thread_asks_for_too_much_all_the_time)
{
    share_a_pool(60);
    share_a_pool(3000);
    share_a_pool(100000);
}

/* ---- promised to one thread, or to one at a time ---- */

static void use_hint(memspan_trait_value_t hint, bool threads)
{
    memspan_allocator_h allocator = limited(40 * (100 + OVERHEAD), hint);
    struct load load              = {.allocator = allocator, .seed = 9};

    for (int i = 0; i < 20; i++) {
        (void)allocate_some(&load);
        (void)free_all(&load);
        if (threads) { /* one after the other */
            run(allocate_some, &load);
            run(free_all, &load);
        }
        cr_expect_eq(charged(allocator), 0);
        cr_expect_eq(count_fits(allocator, 100), 40);
    }
    DONE(memspan_allocator_destroy(allocator));
}

Test(limits, private_to_a_thread)
{
    use_hint(MEMSPAN_VALUE_PRIVATE, false);
}

Test(limits, one_thread_at_a_time)
{
    use_hint(MEMSPAN_VALUE_SERIALIZED, true);
}

Test(limits, little_contention)
{
    use_hint(MEMSPAN_VALUE_UNCONTENDED, true);
}
