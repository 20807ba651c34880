/* SPDX-License-Identifier: BSD-3-Clause */
/* pool.c: what a pool gives to queues, gets back from them, and takes from the driver. */

#include "tests/queue/queue.h"
#include <stdlib.h>

TestSuite(queue_pool, .init = set_up, .fini = tear_down);

/* Two queues that use blocks of a size in turn wait for each other at no time. */
Test(queue_pool, queues_are_independent_while_the_pool_has_memory)
{
    memspan_queue_h one = open_on(0);
    memspan_queue_h two = open_on(0);
    unsigned char *first;
    unsigned char *second;
    unsigned before;

    first = memspan_alloc_on(allocator, SMALL, one);
    DONE(memspan_fill_on(one, first, 7, SMALL));
    DONE(memspan_free_on(first, one));
    before = calls();
    second = memspan_alloc_on(allocator, SMALL, two);
    cr_expect_eq(calls(), before, "%u driver calls", calls() - before);
    cr_expect_neq(second, first);
    DONE(memspan_free_on(second, two));
    cr_expect_eq(info_of(two).reused_after_wait + info_of(two).reused_after_event, 0);
    DONE(memspan_queue_close(one));
    DONE(memspan_queue_close(two));
}

/* Kept for sizes that no request has: it goes back while the pool has free memory, too. */
Test(queue_pool, what_is_kept_for_other_sizes_goes_back)
{
    enum { MANY = 30, OTHER = 100000, LOOKS = 20 };
    memspan_queue_h one = open_on(0);
    memspan_queue_h two = open_on(0);
    void *blocks[MANY];
    int i;

    for (i = 0; i < MANY; i++) {
        blocks[i] = memspan_alloc_on(allocator, OTHER, one);
    }
    for (i = 0; i < MANY; i++) {
        DONE(memspan_free_on(blocks[i], one));
    }
    cr_expect_geq(info_of(one).kept_bytes, MANY * OTHER);
    DONE(memspan_queue_synchronize(one));
    for (i = 0; (i < LOOKS) && (info_of(one).kept_bytes > OTHER); i++) { /* its event is late */
        blocks[i] = memspan_alloc_on(allocator, SMALL, two);
    }
    cr_expect_leq(info_of(one).kept_bytes, MANY * OTHER / 2);
    while (--i >= 0) {
        DONE(memspan_free_on(blocks[i], two));
    }
    DONE(memspan_queue_close(one));
    DONE(memspan_queue_close(two));
}

/* Memory that the driver commits: the pool holds little more than the program's. */
Test(queue_pool, a_pool_takes_little_more_than_it_gives)
{
    enum { MANY = 400, OTHER = 100000 };
    memspan_queue_h queue           = open_on(0);
    memspan_allocator_stats_t stats = {.struct_size = sizeof(stats)};
    memspan_allocator_h unlimited;
    void *blocks[MANY];
    memspan_space_h space;
    int device = 0;
    int i;

    DONE(memspan_space_get(&device, 1, MEMSPAN_SPACE_DEFAULT, &space));
    DONE(memspan_allocator_create(space, NULL, 0, &unlimited));
    for (i = 0; i < MANY; i++) {
        blocks[i] = memspan_alloc_on(unlimited, OTHER, queue);
        cr_assert_neq(blocks[i], NULL);
    }
    DONE(memspan_allocator_get_stats(unlimited, &stats));
    cr_expect_leq(stats.held_bytes, stats.live_bytes + stats.live_bytes / 6, "%llu of %llu bytes",
                  (unsigned long long)stats.held_bytes, (unsigned long long)stats.live_bytes);
    for (i = 0; i < MANY; i++) {
        DONE(memspan_free_on(blocks[i], queue));
    }
    DONE(memspan_queue_close(queue));
    DONE(memspan_allocator_destroy(unlimited));
}

static memspan_allocator_h make_limited(size_t pool_size)
{
    memspan_trait_t traits[] = {{MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB},
                                {MEMSPAN_TRAIT_POOL_SIZE, pool_size}};
    int device               = 0;
    memspan_space_h space;
    memspan_allocator_h made;

    DONE(memspan_space_get(&device, 1, MEMSPAN_SPACE_DEFAULT, &space));
    DONE(memspan_allocator_create(space, traits, 2, &made));
    return made;
}

/* One live block, or none. */
static void has(memspan_allocator_h owner, const void *block, size_t size_bytes)
{
    memspan_allocator_stats_t stats = {.struct_size = sizeof(stats)};
    memspan_pointer_info_t info     = {.struct_size = sizeof(info)};

    DONE(memspan_allocator_get_stats(owner, &stats));
    cr_expect_eq(stats.live_count, (block == NULL) ? 0 : 1, "%llu blocks",
                 (unsigned long long)stats.live_count);
    cr_expect_eq(stats.live_bytes, size_bytes, "%llu bytes", (unsigned long long)stats.live_bytes);
    cr_expect_eq(stats.allocated_count - stats.freed_count, stats.live_count);
    if (block != NULL) {
        DONE(memspan_pointer_describe(block, &info));
        cr_expect_eq(info.allocator, owner);
        cr_expect_eq(info.size_bytes, size_bytes);
    }
}

/* Two allocators of one pool get the same block in turn, on one queue or on two. */
Test(queue_pool, a_kept_block_is_charged_to_who_gets_it)
{
    enum { TURNS = 12 };
    memspan_allocator_h owners[] = {allocator, make_limited((size_t)2 * BYTES)};
    memspan_queue_h queues[]     = {open_on(0), open_on(0)};
    void *first                  = memspan_alloc_on(owners[0], BYTES, queues[0]);
    void *block                  = first;
    size_t size_bytes            = BYTES;
    int i;

    for (i = 0; i < TURNS; i++) {
        has(owners[i % 2], block, size_bytes);
        has(owners[1 - i % 2], NULL, 0);
        DONE(memspan_free_on(block, queues[i / 4 % 2]));
        has(owners[i % 2], NULL, 0);
        if (i % 3 == 0) { /* refused: it stays where it is */
            cr_expect_eq(memspan_alloc_on(owners[1], (size_t)3 * BYTES, queues[0]), NULL);
        }
        size_bytes = BYTES - (size_t)i;
        block      = memspan_alloc_on(owners[1 - i % 2], size_bytes, queues[(i + 1) / 4 % 2]);
        cr_expect_eq(block, first, "turn %d", i);
    }
    DONE(memspan_free(block));
    has(owners[0], NULL, 0);
    has(owners[1], NULL, 0);
    DONE(memspan_queue_close(queues[0]));
    DONE(memspan_queue_close(queues[1]));
    DONE(memspan_allocator_destroy(owners[1]));
}

/* A driver refuses calls: a request of another queue gets memory that is ordered, or other memory.
 * What it does not get stays its queue's. */
Test(queue_pool, an_order_that_is_refused)
{
    enum { FILLS = 100 };
    memspan_queue_h one  = open_on(0);
    memspan_queue_h two  = open_on(0);
    unsigned char *copy  = malloc(BYTES);
    unsigned char *block = memspan_alloc_on(allocator, BYTES, one);
    unsigned char *other;
    unsigned char *third;
    unsigned calls_refused;
    int i;

    for (calls_refused = 0; calls_refused <= LATE_ALL; calls_refused++) {
        for (i = 0; i < FILLS; i++) {
            DONE(memspan_fill_on(one, block, 7, BYTES));
        }
        DONE(memspan_copy_on(one, copy, block, BYTES));
        DONE(memspan_free_on(block, one));
        refuse(calls_refused);
        other = memspan_alloc_on(allocator, BYTES, two);
        third = memspan_alloc_on(allocator, BYTES, two);
        refuse(0);
        cr_assert((other != NULL) && (third != NULL) && (other != third), "calls %x",
                  calls_refused);
        DONE(memspan_fill_on(two, other, 9, BYTES)); /* the driver judges the order */
        DONE(memspan_fill_on(two, third, 9, BYTES));
        DONE(memspan_queue_synchronize(one));
        cr_expect((copy[0] == 7) && (copy[BYTES - 1] == 7), "calls %x", calls_refused);
        DONE(memspan_queue_synchronize(two));
        DONE(memspan_free(other));
        DONE(memspan_free(third));
        (void)memspan_trim(); /* else the pool has a block for the next */
        block = memspan_alloc_on(allocator, BYTES, one);
    }
    DONE(memspan_free(block));
    DONE(memspan_queue_close(one));
    DONE(memspan_queue_close(two));
    free(copy);
}
