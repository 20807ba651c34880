/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that end: what they kept for themselves comes back, and blocks live on without them. */

#include "api.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { BLOCKS = 600, THREADS = 4 };

static uint64_t held(void)
{
    memspan_allocator_stats_t all = {.struct_size = sizeof(all)};

    DONE(memspan_allocator_get_stats(MEMSPAN_ALLOCATOR_NULL, &all));
    return all.held_bytes;
}

static void nothing_is_left(void)
{
    in_order();
    memspan_trim();
    cr_expect_eq(held(), 0, "%llu bytes are held", (unsigned long long)held());
    DONE(memspan_check());
}

TestSuite(exits, .fini = nothing_is_left);

static size_t size_of(int i)
{
    static const size_t sizes[] = {8, 24, 64, 100, 500, 2000, 9000, 40000};

    return sizes[i % 8] + (size_t)(i % 5);
}

struct thread {
    unsigned char *blocks[BLOCKS];
    int from, step; /* which it frees */
};

static void *allocate(void *argument)
{
    struct thread *t = argument;

    for (int i = 0; i < BLOCKS; i++) {
        t->blocks[i] = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, size_of(i));
        if (t->blocks[i] != NULL) {
            memset(t->blocks[i], i, size_of(i));
        }
    }
    return NULL;
}

static void *release(void *argument)
{
    struct thread *t = argument;

    for (int i = t->from; i < BLOCKS; i += t->step) {
        if ((t->blocks[i] == NULL) || (t->blocks[i][0] != (unsigned char)i) ||
            (t->blocks[i][size_of(i) - 1] != (unsigned char)i) ||
            (memspan_free(t->blocks[i]) != MEMSPAN_OK)) {
            return (void *)"a block is missing, changed, or cannot be freed";
        }
    }
    return NULL;
}

static void *allocate_and_release(void *argument)
{
    (void)allocate(argument);
    return release(argument);
}

static void run_all(void *(*work)(void *), struct thread *threads)
{
    pthread_t ids[THREADS];
    void *problem;

    for (int i = 0; i < THREADS; i++) {
        cr_assert_eq(pthread_create(&ids[i], NULL, work, &threads[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(ids[i], &problem);
        cr_expect(problem == NULL, "%s", (const char *)problem);
    }
}

Test(exits, caches_come_back)
{
    static struct thread threads[THREADS];

    for (int i = 0; i < THREADS; i++) {
        threads[i].step = 1;
    }
    for (int round = 0; round < 3; round++) {
        run_all(allocate_and_release, threads);
        memspan_trim();
        cr_expect_eq(held(), 0, "round %d", round);
    }
}

/* Freed by several threads at once; the threads that allocated them have ended. */
Test(exits, blocks_outlive_their_thread)
{
    static struct thread owners[THREADS];
    static struct thread others[THREADS];

    for (int round = 0; round < 5; round++) {
        run_all(allocate, owners);
        DONE(memspan_check());
        for (int i = 0; i < THREADS; i++) {
            others[i]      = owners[i];
            others[i].from = 0;
            others[i].step = 2;
        }
        run_all(release, others);
        for (int i = 0; i < THREADS; i++) { /* the other half, each block by another again */
            others[i]      = owners[(i + 1) % THREADS];
            others[i].from = 1;
            others[i].step = 2;
        }
        run_all(release, others);
        DONE(memspan_check());
    }
}

/* All blocks of one thread that has ended, freed by all threads at once. */
Test(exits, many_free_what_one_took)
{
    static struct thread owner;
    static struct thread parts[THREADS];
    pthread_t id;

    for (int round = 0; round < 10; round++) {
        cr_assert_eq(pthread_create(&id, NULL, allocate, &owner), 0);
        pthread_join(id, NULL);
        for (int i = 0; i < THREADS; i++) {
            parts[i]      = owner;
            parts[i].from = i;
            parts[i].step = THREADS;
        }
        run_all(release, parts);
    }
}

static void *touch_and_go(void *argument)
{
    void *block = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, *(size_t *)argument);

    return (void *)(uintptr_t)((block == NULL) || (memspan_free(block) != MEMSPAN_OK));
}

/* A thousand short threads need no more memory than a few. */
Test(exits, short_lives_leave_nothing)
{
    static const size_t sizes[] = {16, 200, 3000, 50000};
    uint64_t early              = 0;
    pthread_t id;
    void *wrong;

    for (int i = 0; i < 1000; i++) {
        size_t size = sizes[i % 4];

        cr_assert_eq(pthread_create(&id, NULL, touch_and_go, &size), 0);
        pthread_join(id, &wrong);
        cr_assert(wrong == NULL);
        if (i == 20) {
            early = held();
        }
    }
    cr_expect(held() <= early + (8 << 20), "%llu bytes are held, after 20 threads it was %llu",
              (unsigned long long)held(), (unsigned long long)early);
}

/* ---- one takes, another frees ---- */

enum { IN_FLIGHT = 512, PASSED_ON = 200000 };

struct pipeline {
    _Atomic(void *) places[IN_FLIGHT];
    const char *problem;
};

static void *consume(void *argument)
{
    struct pipeline *p = argument;

    for (int i = 0; i < PASSED_ON; i++) {
        void *block;

        while ((block = atomic_exchange(&p->places[i % IN_FLIGHT], NULL)) == NULL) {
            sched_yield();
        }
        if (memspan_free(block) != MEMSPAN_OK) {
            p->problem = "a block cannot be freed";
        }
    }
    return NULL;
}

/* What was freed elsewhere serves again: no more is held than for what is on its way. */
Test(exits, what_others_free_is_used_again)
{
    static struct pipeline p;
    pthread_t consumer;
    uint64_t most = 0;

    cr_assert_eq(pthread_create(&consumer, NULL, consume, &p), 0);
    for (int i = 0; i < PASSED_ON; i++) {
        void *block = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, 200);

        while (atomic_load(&p.places[i % IN_FLIGHT]) != NULL) {
            sched_yield();
        }
        atomic_store(&p.places[i % IN_FLIGHT], block);
        if (i % 20000 == 0) {
            most = (held() > most) ? held() : most;
        }
    }
    pthread_join(consumer, NULL);
    cr_expect(p.problem == NULL, "%s", p.problem);
    cr_expect(most <= 8 << 20, "%llu bytes were held for %d blocks of 200",
              (unsigned long long)most, IN_FLIGHT);
}

/* ---- destructors of other people's thread-specific data ---- */

static pthread_key_t key;
static atomic_int destructions;

/* Runs while the thread ends, perhaps after the library's own. Comes again a few times. */
static void free_late(void *block)
{
    int *round = block;
    int left   = *round;
    int *again = (left > 0) ? memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, 100) : NULL;

    atomic_fetch_add(&destructions, memspan_free(block) == MEMSPAN_OK);
    if (again != NULL) {
        *again = left - 1;
        pthread_setspecific(key, again);
    }
}

static void *leave_to_destructor(void *argument)
{
    int *block = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, 100);

    (void)argument;
    *block = 2;
    pthread_setspecific(key, block);
    (void)memspan_free(memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, 1000));
    return NULL;
}

Test(exits, destructors_may_use_memory)
{
    static struct thread threads[THREADS];

    cr_assert_eq(pthread_key_create(&key, free_late), 0);
    for (int round = 0; round < 10; round++) {
        run_all(leave_to_destructor, threads);
    }
    cr_expect_eq(atomic_load(&destructions), 10 * THREADS * 3);
    pthread_key_delete(key);
}
