/* SPDX-License-Identifier: BSD-3-Clause */
/* pool.c: what a pool gives to queues, gets back from them, and takes from the driver. */

#include "tests/queue/queue.h"

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
