/* SPDX-License-Identifier: BSD-3-Clause */
/* What is asked when an allocator says no: chains, their ends, alignment on the way, and chains
 * that no longer are what they were. */

#include "api.h"
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(fallbacks, .fini = in_order);

static memspan_allocator_h make(size_t pool_size, size_t align, memspan_trait_value_t fallback,
                                memspan_allocator_h next)
{
    memspan_trait_t traits[]      = {{MEMSPAN_TRAIT_POOL_SIZE, pool_size},
                                     {MEMSPAN_TRAIT_ALIGNMENT, align},
                                     {MEMSPAN_TRAIT_FALLBACK, fallback},
                                     {MEMSPAN_TRAIT_FB_DATA, (uintptr_t)next}};
    memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;

    DONE(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, traits,
                                  (fallback == MEMSPAN_VALUE_ALLOCATOR_FB) ? 4 : 3, &allocator));
    return allocator;
}

static memspan_allocator_h owner_of(const void *block)
{
    memspan_pointer_info_t info = {.struct_size = sizeof(info)};

    DONE(memspan_pointer_describe(block, &info));
    return info.allocator;
}

static memspan_allocator_stats_t stats_of(memspan_allocator_h allocator)
{
    memspan_allocator_stats_t stats = {.struct_size = sizeof(stats)};

    DONE(memspan_allocator_get_stats(allocator, &stats));
    return stats;
}

Test(fallbacks, each_of_a_chain_gives_what_it_can)
{
    memspan_allocator_h last     = make(1 << 20, 16, MEMSPAN_VALUE_DEFAULT_MEM_FB, NULL);
    memspan_allocator_h middle   = make(10000, 16, MEMSPAN_VALUE_ALLOCATOR_FB, last);
    memspan_allocator_h first    = make(1000, 16, MEMSPAN_VALUE_ALLOCATOR_FB, middle);
    static const size_t sizes[]  = {996, 997, 9996, 9997, (1 << 20) - 4, (1 << 20) - 3};
    memspan_allocator_h owners[] = {first, middle, middle, last, last, MEMSPAN_ALLOCATOR_DEFAULT};

    for (int i = 0; i < 6; i++) {
        void *blocks[] = {memspan_alloc(first, sizes[i]), NULL};

        cr_assert(blocks[0] != NULL, "%s", memspan_error_text());
        cr_expect_eq(owner_of(blocks[0]), owners[i], "%zu bytes", sizes[i]);
        DONE(memspan_free(blocks[0]));
        blocks[1] = memspan_calloc(first, sizes[i], 1);
        cr_expect_eq(owner_of(blocks[1]), owners[i]);
        DONE(memspan_free(blocks[1]));
    }
    cr_expect_eq(stats_of(first).failed_count, 10);
    cr_expect_eq(stats_of(first).fallback_count, 10);
    cr_expect_eq(stats_of(middle).failed_count, 6);
    cr_expect_eq(stats_of(last).failed_count, 2);
    DONE(memspan_allocator_destroy(first));
    DONE(memspan_allocator_destroy(middle));
    DONE(memspan_allocator_destroy(last));
}

/* The guarantees of the requested allocator, and of all fallbacks on the way, hold for the block.
 */
Test(fallbacks, alignment_is_kept)
{
    memspan_allocator_h last    = make(1 << 24, 16, MEMSPAN_VALUE_DEFAULT_MEM_FB, NULL);
    memspan_allocator_h middle  = make(10000, 64, MEMSPAN_VALUE_ALLOCATOR_FB, last);
    memspan_allocator_h first   = make(1000, 4096, MEMSPAN_VALUE_ALLOCATOR_FB, middle);
    static const size_t sizes[] = {100, 5000, 20000, 20 << 20};

    for (size_t align = 1; align <= (2 << 20); align *= 8) {
        for (int i = 0; i < 4; i++) {
            size_t wanted = (align > 4096) ? align : 4096;
            void *blocks[4];

            for (int k = 0; k < 4; k++) {
                blocks[k] = memspan_aligned_alloc(first, align, sizes[i] + 3 * (size_t)k);
                cr_assert(blocks[k] != NULL);
                cr_expect_eq((uintptr_t)blocks[k] % wanted, 0, "%p for %zu, block of %zu",
                             blocks[k], wanted, sizes[i]);
            }
            for (int k = 0; k < 4; k++) {
                DONE(memspan_free(blocks[k]));
            }
        }
    }
    DONE(memspan_allocator_destroy(first));
    DONE(memspan_allocator_destroy(middle));
    DONE(memspan_allocator_destroy(last));
}

Test(fallbacks, a_long_chain)
{
    enum { LINKS = 40 };
    memspan_allocator_h chain[LINKS];
    void *block;

    for (size_t i = 0; i < LINKS; i++) {
        chain[i] = make(100 + 100 * (LINKS - i), 16,
                        (i == 0) ? MEMSPAN_VALUE_NULL_FB : MEMSPAN_VALUE_ALLOCATOR_FB,
                        (i == 0) ? NULL : chain[i - 1]);
    }
    block = memspan_alloc(chain[LINKS - 1], 100 * LINKS + 90);
    cr_assert(block != NULL, "%s", memspan_error_text());
    cr_expect_eq(owner_of(block), chain[0]);
    DONE(memspan_free(block));
    REFUSED_NULL(memspan_alloc(chain[LINKS - 1], 100 * LINKS + 100), MEMSPAN_ERR_LIMIT,
                 "pool_size");
    for (size_t i = 0; i < LINKS; i++) {
        DONE(memspan_allocator_destroy(chain[i]));
    }
}

/* A block that no longer fits moves to the fallback, with its contents. */
Test(fallbacks, growth_moves_to_the_fallback)
{
    memspan_allocator_h next  = make(100000, 16, MEMSPAN_VALUE_NULL_FB, NULL);
    memspan_allocator_h first = make(1000, 16, MEMSPAN_VALUE_ALLOCATOR_FB, next);
    unsigned char *block      = memspan_alloc(first, 600);
    unsigned char *now;

    memset(block, 7, 600);
    now = memspan_realloc(MEMSPAN_ALLOCATOR_NULL, block, 5000);
    cr_assert(now != NULL, "%s", memspan_error_text());
    cr_expect_eq(owner_of(now), next);
    cr_expect((now[0] == 7) && (now[599] == 7));
    cr_expect_eq(stats_of(first).live_count, 0);
    cr_expect_eq(stats_of(first).charged_bytes, 0);
    memset(now, 8, 5000);
    REFUSED_NULL(memspan_realloc(MEMSPAN_ALLOCATOR_NULL, now, 200000), MEMSPAN_ERR_LIMIT,
                 "pool_size");
    cr_expect((now[0] == 8) && (now[4999] == 8), "a refused realloc leaves the block as it was");
    cr_expect_eq(stats_of(next).charged_bytes, 5004);
    DONE(memspan_free(now));
    DONE(memspan_allocator_destroy(first));
    DONE(memspan_allocator_destroy(next));
}

Test(fallbacks, the_end_of_the_program_at_the_end_of_a_chain)
{
    memspan_allocator_h last  = make(1000, 16, MEMSPAN_VALUE_ABORT_FB, NULL);
    memspan_allocator_h first = make(100, 16, MEMSPAN_VALUE_ALLOCATOR_FB, last);
    void *block               = memspan_alloc(first, 900);
    int status                = 0;
    pid_t child;

    cr_expect_eq(owner_of(block), last);
    child = fork();
    if (child == 0) {
        if (freopen("/dev/null", "w", stderr) == NULL) {
            _exit(1);
        }
        signal(SIGABRT, SIG_DFL);
        (void)memspan_alloc(first, 900);
        _exit(0);
    }
    cr_assert(waitpid(child, &status, 0) == child);
    cr_expect(WIFSIGNALED(status) && (WTERMSIG(status) == SIGABRT), "status %#x", status);
    DONE(memspan_free(block));
    DONE(memspan_allocator_destroy(first));
    DONE(memspan_allocator_destroy(last));
}

Test(fallbacks, no_circle_can_be_made)
{
    memspan_allocator_h a    = make(100, 16, MEMSPAN_VALUE_NULL_FB, NULL);
    memspan_trait_t traits[] = {{MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_ALLOCATOR_FB},
                                {MEMSPAN_TRAIT_FB_DATA, (uintptr_t)a}};
    memspan_allocator_h b    = MEMSPAN_ALLOCATOR_NULL;
    memspan_allocator_h c    = MEMSPAN_ALLOCATOR_NULL;

    DONE(memspan_allocator_derive(a, traits, 2, &b)); /* b asks a, whose limit is the same */
    DONE(memspan_allocator_destroy(a));
    /* Whatever takes a's place asks b: with a's number it would be a circle. */
    traits[1].value = (uintptr_t)b;
    for (int i = 0; i < 3000; i++) {
        DONE(memspan_allocator_derive(b, traits, 2, &c));
        cr_expect_eq(memspan_alloc(c, 1000), NULL);
        cr_expect_eq(memspan_alloc(b, 1000), NULL);
        cr_expect_neq(memspan_error_last()->status, MEMSPAN_OK);
        cr_expect_neq(c, a, "a number came back after %d allocators", i);
        DONE(memspan_allocator_destroy(c));
    }
    DONE(memspan_allocator_destroy(b));
}

Test(fallbacks, to_one_that_is_gone)
{
    memspan_allocator_h next  = make(100000, 16, MEMSPAN_VALUE_NULL_FB, NULL);
    memspan_allocator_h first = make(1000, 16, MEMSPAN_VALUE_ALLOCATOR_FB, next);
    void *kept                = memspan_alloc(first, 5000);
    void *small;

    cr_expect_eq(owner_of(kept), next);
    DONE(memspan_allocator_destroy(next));
    memspan_error_clear();
    cr_expect_eq(memspan_alloc(first, 5000), NULL);
    cr_expect_neq(memspan_error_last()->status, MEMSPAN_OK);
    small = memspan_alloc(first, 500);
    cr_expect(small != NULL, "what fits needs no fallback");
    DONE(memspan_free(small));
    DONE(memspan_free(kept));
    DONE(memspan_allocator_destroy(first));
}
