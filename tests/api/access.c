/* SPDX-License-Identifier: BSD-3-Clause */
/* access=thread: the limit is each thread's own. A block counts for the thread that took it,
 * whatever thread frees it; the share of a thread that has ended returns with its blocks. */

#include "api.h"
#include <pthread.h>
#include <stdatomic.h>

enum { OVERHEAD = 4, SIZE = 1000, FIT = 5, THREADS = 3 };

TestSuite(access, .fini = in_order);

static memspan_allocator_h scoped(memspan_trait_value_t access)
{
    memspan_trait_t traits[]      = {{MEMSPAN_TRAIT_POOL_SIZE, FIT * (SIZE + OVERHEAD)},
                                     {MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB},
                                     {MEMSPAN_TRAIT_ACCESS, access}};
    memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;

    DONE(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, traits, 3, &allocator));
    return allocator;
}

struct user {
    memspan_allocator_h allocator;
    pthread_barrier_t *barrier;
    void *blocks[THREADS * FIT + 1];
    int count;
};

static void fill(struct user *u)
{
    for (u->count = 0; u->count <= THREADS * FIT; u->count++) {
        u->blocks[u->count] = memspan_alloc(u->allocator, SIZE);
        if (u->blocks[u->count] == NULL) {
            break;
        }
    }
}

static void drop(struct user *u)
{
    while (u->count > 0) {
        (void)memspan_free(u->blocks[--u->count]);
    }
}

static void *fill_beside_others(void *argument)
{
    struct user *u = argument;

    fill(u);
    pthread_barrier_wait(u->barrier); /* all have what they have at once */
    return NULL;
}

static int fill_by_threads(memspan_allocator_h allocator, struct user *users)
{
    pthread_t threads[THREADS];
    pthread_barrier_t barrier;
    int total = 0;

    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        users[i] = (struct user){.allocator = allocator, .barrier = &barrier};
        cr_assert_eq(pthread_create(&threads[i], NULL, fill_beside_others, &users[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        total += users[i].count;
    }
    pthread_barrier_destroy(&barrier);
    return total;
}

static void drop_all(struct user *users)
{
    for (int i = 0; i < THREADS; i++) {
        drop(&users[i]);
    }
}

Test(access, each_thread_has_its_own_limit)
{
    struct user users[THREADS];
    memspan_allocator_h allocator = scoped(MEMSPAN_VALUE_THREAD);

    for (int round = 0; round < 3; round++) {
        (void)fill_by_threads(allocator, users);
        for (int i = 0; i < THREADS; i++) {
            cr_expect_eq(users[i].count, FIT, "thread %d had %d", i, users[i].count);
        }
        drop_all(users); /* by another thread, after they have ended */
    }
    DONE(memspan_allocator_destroy(allocator));
}

static void *drop_in_thread(void *argument)
{
    drop(argument);
    return NULL;
}

Test(access, a_block_counts_for_who_took_it)
{
    memspan_allocator_h allocator = scoped(MEMSPAN_VALUE_THREAD);
    struct user user              = {.allocator = allocator};
    pthread_t thread;

    for (int round = 0; round < 20; round++) {
        fill(&user);
        cr_assert_eq(user.count, FIT, "round %d", round);
        cr_assert_eq(pthread_create(&thread, NULL, drop_in_thread, &user), 0);
        pthread_join(thread, NULL);
    }
    DONE(memspan_allocator_destroy(allocator));
}

/* Many threads, one after the other: what belongs to them does not pile up or run out. */
Test(access, threads_come_and_go)
{
    struct user users[THREADS];
    memspan_allocator_h allocator = scoped(MEMSPAN_VALUE_THREAD);

    for (int round = 0; round < 200; round++) {
        cr_assert_eq(fill_by_threads(allocator, users), THREADS * FIT, "round %d", round);
        drop_all(users);
    }
    DONE(memspan_allocator_destroy(allocator));
}

static void one_limit_for_all(memspan_trait_value_t access)
{
    struct user users[THREADS];
    memspan_allocator_h allocator = scoped(access);

    for (int round = 0; round < 3; round++) {
        cr_expect_eq(fill_by_threads(allocator, users), FIT);
        drop_all(users);
    }
    DONE(memspan_allocator_destroy(allocator));
}

Test(access, one_limit_for_all_threads)
{
    one_limit_for_all(MEMSPAN_VALUE_ALL);
    one_limit_for_all(MEMSPAN_VALUE_DEVICE);
    one_limit_for_all(MEMSPAN_VALUE_MEMSPACE);
}

/* All threads of a process that are in no teams region are one contention group. */
Test(access, one_limit_for_a_contention_group)
{
    one_limit_for_all(MEMSPAN_VALUE_CGROUP);
}
