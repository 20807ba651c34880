/* SPDX-License-Identifier: BSD-3-Clause */
/* A great number of allocators with next to nothing in each: small, quick to make and end, and as
 * exact as one with a million blocks. */

#include "api.h"
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

TestSuite(many, .fini = in_order);

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { COUNT = 5000 };
static const bool under_sanitizer = true;
#else
enum { COUNT = 50000 };
static const bool under_sanitizer = false;
#endif

static long resident_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "re");
    long all   = 0;
    long pages = 0;

    cr_assert(fscanf(file, "%ld %ld", &all, &pages) == 2);
    fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

static memspan_allocator_h make(size_t pool_size, memspan_trait_value_t partition)
{
    memspan_trait_t traits[]      = {{MEMSPAN_TRAIT_POOL_SIZE, pool_size},
                                     {MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB},
                                     {MEMSPAN_TRAIT_PARTITION, partition}};
    memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;

    DONE(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, traits, 3, &allocator));
    return allocator;
}

/* With one block each, plain and not plain. */
static void expect_small(memspan_trait_value_t partition)
{
    static memspan_allocator_h allocators[COUNT];
    static unsigned char *blocks[COUNT];
    memspan_allocator_stats_t s = {.struct_size = sizeof(s)};
    long before;
    long each;

    memset(allocators, 1, sizeof(allocators)); /* the tables are there before */
    memset(blocks, 1, sizeof(blocks));
    DONE(memspan_free(memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, 64)));
    before = resident_bytes();
    for (size_t i = 0; i < COUNT; i++) {
        allocators[i] = make(1 << 20, partition);
        blocks[i]     = memspan_alloc(allocators[i], 64);
        cr_assert(blocks[i] != NULL);
        memset(blocks[i], (int)i, 64);
    }
    each = (resident_bytes() - before) / COUNT;
    cr_expect(under_sanitizer || (each <= 1024), "%ld bytes each", each);
    for (size_t i = 0; i < COUNT; i++) {
        cr_assert_eq(blocks[i][63], (unsigned char)i);
        if (i % (COUNT / 10) == 0) {
            DONE(memspan_allocator_get_stats(allocators[i], &s));
            cr_expect((s.live_count == 1) && (s.live_bytes == 64) && (s.peak_bytes == 64) &&
                      (s.charged_bytes == 68) && (s.allocated_count == 1));
        }
        DONE(memspan_free(blocks[i]));
        DONE(memspan_allocator_destroy(allocators[i]));
    }
}

Test(many, with_one_block_each)
{
    expect_small(MEMSPAN_VALUE_ENVIRONMENT);
}

Test(many, with_one_block_each_and_traits_that_need_a_plan)
{
    expect_small(MEMSPAN_VALUE_INTERLEAVED);
}

/* A thread that uses all of them in turn finds each as fast as the first. */
Test(many, used_in_turns)
{
    enum { ALLOCATORS = COUNT / 50, ROUNDS = 100 };
    static memspan_allocator_h allocators[ALLOCATORS];
    memspan_allocator_stats_t s = {.struct_size = sizeof(s)};

    for (size_t i = 0; i < ALLOCATORS; i++) {
        allocators[i] = make(1 << 20, MEMSPAN_VALUE_ENVIRONMENT);
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < ALLOCATORS; i++) {
            void *block = memspan_alloc(allocators[i], 200);

            cr_assert(block != NULL);
            DONE(memspan_free(block));
        }
    }
    for (size_t i = 0; i < ALLOCATORS; i++) {
        DONE(memspan_allocator_get_stats(allocators[i], &s));
        cr_assert((s.live_count == 0) && (s.allocated_count == ROUNDS) && (s.peak_bytes >= 200),
                  "%llu allocated", (unsigned long long)s.allocated_count);
        DONE(memspan_allocator_destroy(allocators[i]));
    }
}

/* ---- exact without heaps, with them, and where some threads have one and others have not ---- */

enum { THREADS = 4 };

struct taker {
    memspan_allocator_h allocator;
    size_t taken;
    void *blocks[4096];
};

static void *take_all(void *data)
{
    struct taker *taker = data;
    size_t refused      = 0;

    while (refused < 20) {
        void *block = memspan_alloc(taker->allocator, 96);

        if (block == NULL) {
            refused++;
        } else {
            taker->blocks[taker->taken++] = block;
        }
    }
    return NULL;
}

static void expect_exact(size_t count)
{
    static struct taker takers[THREADS];
    memspan_allocator_h allocator = make(count * 100 + 99, MEMSPAN_VALUE_ENVIRONMENT);
    memspan_allocator_stats_t s   = {.struct_size = sizeof(s)};
    pthread_t threads[THREADS];
    size_t taken = 0;

    for (int i = 0; i < THREADS; i++) {
        takers[i].allocator = allocator;
        takers[i].taken     = 0;
        cr_assert_eq(pthread_create(&threads[i], NULL, take_all, &takers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        taken += takers[i].taken;
    }
    cr_expect_eq(taken, count, "%zu of %zu", taken, count);
    DONE(memspan_allocator_get_stats(allocator, &s));
    cr_expect((s.live_count == count) && (s.live_bytes == 96 * count) &&
              (s.charged_bytes == 100 * count));
    cr_expect((s.peak_bytes >= 96 * count) && (s.peak_bytes <= 100 * count + 99), "%llu",
              (unsigned long long)s.peak_bytes);
    for (int i = 0; i < THREADS; i++) {
        for (size_t k = 0; k < takers[i].taken; k++) {
            DONE(memspan_free(takers[i].blocks[k]));
        }
    }
    DONE(memspan_allocator_get_stats(allocator, &s));
    cr_expect((s.live_count == 0) && (s.charged_bytes == 0));
    DONE(memspan_allocator_destroy(allocator));
}

Test(many, limits_are_exact_from_the_first_block_on)
{
    for (int round = 0; round < 20; round++) {
        for (size_t count = 1; count < 4000; count = count * 3 + 1) {
            expect_exact(count);
        }
    }
}

/* Ended while its few blocks live on. */
Test(many, ended_before_their_blocks)
{
    static void *blocks[COUNT / 10];
    memspan_allocator_stats_t s = {.struct_size = sizeof(s)};

    for (size_t i = 0; i < COUNT / 10; i++) {
        memspan_allocator_h allocator = make(1000, MEMSPAN_VALUE_ENVIRONMENT);

        blocks[i] = memspan_alloc(allocator, 500);
        DONE(memspan_allocator_destroy(allocator));
        cr_expect_eq(memspan_alloc(allocator, 1), NULL);
    }
    DONE(memspan_allocator_get_stats(MEMSPAN_ALLOCATOR_NULL, &s));
    cr_expect_eq(s.live_count, COUNT / 10);
    for (size_t i = 0; i < COUNT / 10; i++) {
        DONE(memspan_free(blocks[i]));
    }
}
