/* SPDX-License-Identifier: BSD-3-Clause */
/* A block that grows by realloc, step by step: it is seldom copied, whatever it is made of, and
 * what it is charged, counts and holds is exact all the while. */

#include "api.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

TestSuite(growth, .fini = in_order);

enum { STEP = 16 << 10, MIB = 1 << 20 };

/* They map terabytes for themselves. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const bool under_sanitizer = true;
#else
static const bool under_sanitizer = false;
#endif

/* The block written up to its end, step by step; how often it was elsewhere afterwards. */
static int grow(memspan_allocator_h allocator, unsigned char **block_p, size_t steps)
{
    int moves = 0;

    for (size_t i = 0; i < steps; i++) {
        unsigned char *block = memspan_realloc(allocator, *block_p, (i + 1) * STEP);

        cr_assert(block != NULL, "step %zu: %s", i, memspan_error_text());
        moves += (block != *block_p);
        memset(block + i * STEP, (int)(i % 251), STEP);
        *block_p = block;
    }
    return moves;
}

static void expect_steps(const unsigned char *block, size_t steps)
{
    for (size_t i = 0; i < steps; i++) {
        for (size_t at = i * STEP; at < (i + 1) * STEP; at += 1024) {
            cr_assert_eq(block[at], (unsigned char)(i % 251), "byte %zu", at);
        }
    }
}

static void expect_few_moves(const memspan_trait_t *traits, size_t count, size_t steps, int most)
{
    memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;
    unsigned char *block          = NULL;
    int moves;

    DONE(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, traits, count, &allocator));
    moves = grow(allocator, &block, steps);
    cr_expect(moves <= most, "%d moves in %zu steps", moves, steps);
    expect_steps(block, steps);
    DONE(memspan_free(block));
    DONE(memspan_allocator_destroy(allocator));
}

Test(growth, moves_seldom)
{
    memspan_trait_t interleaved = {MEMSPAN_TRAIT_PARTITION, MEMSPAN_VALUE_INTERLEAVED};
    memspan_trait_t limited[2]  = {{MEMSPAN_TRAIT_POOL_SIZE, 80 * MIB},
                                   {MEMSPAN_TRAIT_ALIGNMENT, 64}};

    expect_few_moves(NULL, 0, 3000, 60);
    expect_few_moves(&interleaved, 1, 3000, 60);
    expect_few_moves(limited, 2, 3000, 60);
}

Test(growth, pinned_moves_seldom_and_locks_what_it_has)
{
    memspan_trait_t traits[2]     = {{MEMSPAN_TRAIT_PINNED, 1},
                                     {MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB}};
    memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;
    memspan_allocator_stats_t s   = {.struct_size = sizeof(s)};
    unsigned char *block          = NULL;
    struct rlimit limit;

    DONE(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, traits, 2, &allocator));
    if ((getrlimit(RLIMIT_MEMLOCK, &limit) != 0) || (limit.rlim_cur < 6 * MIB)) {
        cr_skip_test("this process may lock %zu bytes", (size_t)limit.rlim_cur);
    }
    cr_expect_leq(grow(allocator, &block, 300), 16);
    expect_steps(block, 300);
    DONE(memspan_allocator_get_stats(allocator, &s));
    cr_expect_eq(s.held_bytes, (uint64_t)300 * STEP, "pages that count against a limit: %llu",
                 (unsigned long long)s.held_bytes);
    DONE(memspan_free(block));
    DONE(memspan_allocator_get_stats(allocator, &s));
    cr_expect_eq(s.held_bytes, 0);
    DONE(memspan_allocator_destroy(allocator));
}

/* Two that grow in turns are in each other's way. */
Test(growth, two_side_by_side)
{
    unsigned char *blocks[2] = {NULL, NULL};
    int moves                = 0;

    for (size_t i = 0; i < 1000; i++) {
        for (int k = 0; k < 2; k++) {
            unsigned char *now = memspan_realloc(MEMSPAN_ALLOCATOR_NULL, blocks[k], (i + 1) * STEP);

            cr_assert(now != NULL);
            moves += (now != blocks[k]);
            memset(now + i * STEP, (int)(i % 251), STEP);
            blocks[k] = now;
        }
    }
    cr_expect_leq(moves, 150);
    for (int k = 0; k < 2; k++) {
        expect_steps(blocks[k], 1000);
        DONE(memspan_free(blocks[k]));
    }
}

Test(growth, alignment_is_kept)
{
    memspan_trait_t trait         = {MEMSPAN_TRAIT_ALIGNMENT, 4 * MIB};
    memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;
    unsigned char *block          = NULL;

    DONE(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, &trait, 1, &allocator));
    for (size_t size = 1; size < 64 * MIB; size = size * 2 + 1) {
        block = memspan_realloc(allocator, block, size);
        cr_assert_eq((uintptr_t)block % (4 * MIB), 0, "%zu bytes at %p", size, (void *)block);
    }
    DONE(memspan_free(block));
    DONE(memspan_allocator_destroy(allocator));
}

/* ---- what is counted ---- */

Test(growth, charge_and_limit_are_exact)
{
    memspan_trait_t traits[2]     = {{MEMSPAN_TRAIT_POOL_SIZE, 10 * MIB + 4},
                                     {MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB}};
    memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;
    memspan_allocator_stats_t s   = {.struct_size = sizeof(s)};
    unsigned char *block          = NULL;

    DONE(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, traits, 2, &allocator));
    for (size_t size = 100000; size <= 10 * MIB; size += 100000) {
        block = memspan_realloc(allocator, block, size);
        cr_assert(block != NULL, "%zu: %s", size, memspan_error_text());
        DONE(memspan_allocator_get_stats(allocator, &s));
        cr_expect_eq(s.live_bytes, size);
        cr_expect_eq(s.live_count, 1);
        cr_expect_eq(s.charged_bytes, size + 4);
        cr_expect_eq(s.peak_bytes, size, "%llu", (unsigned long long)s.peak_bytes);
    }
    block = memspan_realloc(allocator, block, 10 * MIB);
    cr_assert(block != NULL, "%s", memspan_error_text());
    memset(block, 3, 10 * MIB);
    cr_expect_eq(memspan_realloc(allocator, block, 10 * MIB + 1), NULL);
    cr_expect_eq(memspan_error_last()->status, MEMSPAN_ERR_LIMIT);
    cr_expect_eq(block[10 * MIB - 1], 3);
    block = memspan_realloc(allocator, block, 2 * MIB); /* gives back what it does not need */
    cr_assert((block != NULL) && (block[2 * MIB - 1] == 3));
    DONE(memspan_allocator_get_stats(allocator, &s));
    cr_expect_eq(s.live_bytes, 2 * MIB);
    DONE(memspan_free(block));
    DONE(memspan_allocator_destroy(allocator));
}

/* Also where the block has room and nothing but its size changes. */
Test(growth, charge_and_limit_are_exact_in_small_steps)
{
    enum { LIMIT = 200000 };
    memspan_trait_t traits[2]     = {{MEMSPAN_TRAIT_POOL_SIZE, LIMIT + 4},
                                     {MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB}};
    memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;
    memspan_allocator_stats_t s   = {.struct_size = sizeof(s)};
    unsigned char *block          = NULL;
    size_t size;

    DONE(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, traits, 2, &allocator));
    for (int i = 0; i < 100; i++) { /* from now on its threads have heaps */
        DONE(memspan_free(memspan_alloc(allocator, 20000)));
    }
    for (size = 20000; size <= LIMIT; size += 1000) {
        block = memspan_realloc(allocator, block, size);
        cr_assert(block != NULL, "%zu: %s", size, memspan_error_text());
        if (size % 7000 == 0) {
            DONE(memspan_allocator_get_stats(allocator, &s));
            cr_expect_eq(s.live_bytes, size);
            cr_expect_eq(s.live_count, 1);
            cr_expect_eq(s.peak_bytes, size);
        }
    }
    cr_expect_eq(memspan_realloc(allocator, block, LIMIT + 1), NULL);
    cr_expect_eq(memspan_error_last()->status, MEMSPAN_ERR_LIMIT);
    DONE(memspan_allocator_get_stats(allocator, &s));
    cr_expect_eq(s.live_bytes, LIMIT);
    DONE(memspan_free(block));
    DONE(memspan_allocator_destroy(allocator));
}

/* Room is no reason to stay with an allocator that was not asked. */
Test(growth, to_another_allocator_moves)
{
    memspan_trait_t trait         = {MEMSPAN_TRAIT_POOL_SIZE, MIB};
    memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;
    memspan_pointer_info_t info   = {.struct_size = sizeof(info)};
    unsigned char *block          = NULL;
    unsigned char *moved;

    DONE(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, &trait, 1, &allocator));
    for (size_t size = 20000; size <= 40000; size += 1000) {
        block = memspan_realloc(MEMSPAN_ALLOCATOR_DEFAULT, block, size);
    }
    moved = memspan_realloc(allocator, block, 40001);
    cr_assert(moved != NULL, "%s", memspan_error_text());
    DONE(memspan_pointer_describe(moved, &info));
    cr_expect_eq(info.allocator, allocator);
    cr_expect_eq(info.size_bytes, 40001);
    DONE(memspan_free(moved));
    DONE(memspan_allocator_destroy(allocator));
}

/* Nor to count a block as living that was freed. */
Test(growth, of_a_freed_block_is_refused)
{
    unsigned char *block = NULL;

    for (size_t size = 20000; size <= 40000; size += 1000) {
        block = memspan_realloc(MEMSPAN_ALLOCATOR_DEFAULT, block, size);
    }
    DONE(memspan_free(block));
    cr_expect_eq(memspan_realloc(MEMSPAN_ALLOCATOR_DEFAULT, block, 40001), NULL);
    cr_expect_eq(memspan_error_last()->status, MEMSPAN_ERR_NOT_FOUND);
}

Test(growth, a_large_block_that_shrinks_gives_memory_back)
{
    memspan_allocator_stats_t s = {.struct_size = sizeof(s)};
    unsigned char *block        = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, 200 * MIB);
    uint64_t held;

    cr_assert(block != NULL);
    memset(block, 5, 3 * MIB);
    DONE(memspan_allocator_get_stats(MEMSPAN_ALLOCATOR_DEFAULT, &s));
    held  = s.held_bytes;
    block = memspan_realloc(MEMSPAN_ALLOCATOR_NULL, block, 3 * MIB);
    cr_assert((block != NULL) && (block[0] == 5) && (block[3 * MIB - 1] == 5));
    DONE(memspan_allocator_get_stats(MEMSPAN_ALLOCATOR_DEFAULT, &s));
    cr_expect(s.held_bytes + 190 * (uint64_t)MIB <= held, "%llu of %llu bytes are still held",
              (unsigned long long)s.held_bytes, (unsigned long long)held);
    DONE(memspan_free(block));
}

/* ---- failing ---- */

/* No address space is left for a block twice as large: the old one is whole, and counted. */
Test(growth, that_fails_leaves_the_block_whole)
{
    enum { BEFORE = 64 * MIB };
    memspan_trait_t trait         = {MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB};
    memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;
    memspan_allocator_stats_t s   = {.struct_size = sizeof(s)};
    struct rlimit limit;
    unsigned char *block;
    unsigned char *now;
    long pages = 0;
    FILE *file;

    if (under_sanitizer) {
        cr_skip_test("a sanitizer needs the address space");
    }
    DONE(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, &trait, 1, &allocator));
    block = memspan_alloc(allocator, BEFORE);
    cr_assert(block != NULL);
    for (size_t at = 0; at < BEFORE; at += 4096) {
        block[at] = (unsigned char)(at >> 12);
    }
    file = fopen("/proc/self/statm", "re");
    cr_assert(fscanf(file, "%ld", &pages) == 1);
    fclose(file);
    cr_assert_eq(getrlimit(RLIMIT_AS, &limit), 0);
    limit.rlim_cur = (rlim_t)pages * 4096 + 40 * MIB;
    cr_assert_eq(setrlimit(RLIMIT_AS, &limit), 0);
    cr_expect_eq(memspan_realloc(allocator, block, 2 * BEFORE), NULL);
    cr_expect_eq(memspan_error_last()->status, MEMSPAN_ERR_NO_MEMORY);
    DONE(memspan_allocator_get_stats(allocator, &s));
    cr_expect_eq(s.live_count, 1);
    cr_expect_eq(s.live_bytes, BEFORE);
    for (size_t at = 0; at < BEFORE; at += 4096) {
        cr_assert_eq(block[at], (unsigned char)(at >> 12));
    }
    limit.rlim_cur = limit.rlim_max;
    cr_assert_eq(setrlimit(RLIMIT_AS, &limit), 0);
    now = memspan_realloc(allocator, block, 2 * BEFORE);
    cr_assert((now != NULL) && (now[BEFORE - 4096] == (unsigned char)((BEFORE - 4096) >> 12)));
    DONE(memspan_free(now));
    DONE(memspan_allocator_destroy(allocator));
}

/* ---- beside it ---- */

static atomic_bool done;
static _Atomic(unsigned char *) neighbours[64];

/* Other live blocks are always found, and nothing crashes where ranges come and go. */
static void *look_up(void *data)
{
    size_t *wrong = data;

    while (!atomic_load(&done)) {
        for (int i = 0; i < 64; i++) {
            unsigned char *at           = atomic_load(&neighbours[i]) + 70000 * (i % 4);
            memspan_pointer_info_t info = {.struct_size = sizeof(info)};

            *wrong += (memspan_pointer_kind(at) != MEMSPAN_KIND_HOST);
            *wrong += (memspan_pointer_describe(at, &info) != MEMSPAN_OK);
            (void)memspan_pointer_kind(at + 40 * MIB);
        }
    }
    return NULL;
}

Test(growth, beside_lookups)
{
    pthread_t threads[2];
    size_t wrong[2] = {0, 0};

    for (int i = 0; i < 64; i++) {
        atomic_store(&neighbours[i],
                     memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, (i % 8 == 0) ? 33 * MIB : 300000));
        cr_assert(atomic_load(&neighbours[i]) != NULL);
    }
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(pthread_create(&threads[i], NULL, look_up, &wrong[i]), 0);
    }
    for (int round = 0; round < 20; round++) {
        unsigned char *block = NULL;

        for (size_t size = MIB; size < 100 * MIB; size += 5 * MIB) {
            block = memspan_realloc(MEMSPAN_ALLOCATOR_DEFAULT, block, size);
            cr_assert(block != NULL);
            block[size - 1] = 1;
            cr_expect_eq(memspan_pointer_kind(block), MEMSPAN_KIND_HOST);
            cr_expect_eq(memspan_pointer_kind(block + size - 1), MEMSPAN_KIND_HOST);
        }
        DONE(memspan_free(block));
    }
    atomic_store(&done, true);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        cr_expect_eq(wrong[i], 0, "%zu look-ups were wrong", wrong[i]);
    }
    for (int i = 0; i < 64; i++) {
        DONE(memspan_free(atomic_load(&neighbours[i])));
    }
}
