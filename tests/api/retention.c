/* SPDX-License-Identifier: BSD-3-Clause */
/* What is kept of memory that was freed: no more than a bound while the program runs, and nothing
 * for ever. Nobody calls memspan_trim() before it is looked at. */

#include "api.h"
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

static uint64_t held(void)
{
    memspan_allocator_stats_t all = {.struct_size = sizeof(all)};

    DONE(memspan_allocator_get_stats(MEMSPAN_ALLOCATOR_NULL, &all));
    return all.held_bytes;
}

TestSuite(retention, .fini = in_order, .timeout = 60);

static void decay_after(const char *milliseconds)
{
    cr_assert_eq(setenv("MEMSPAN_DECAY_MS", milliseconds, 1), 0);
}

static void take(memspan_allocator_h allocator, void **blocks, size_t count, size_t size)
{
    for (size_t i = 0; i < count; i++) {
        blocks[i] = memspan_alloc(allocator, size);
        cr_assert_neq(blocks[i], NULL, "%s", memspan_error_text());
    }
}

static void give(void **blocks, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        DONE(memspan_free(blocks[i]));
    }
}

/* ---- a bound, however much time there is ---- */

enum { THREADS = 8, ALLOCATORS = 4 };

static memspan_allocator_h allocators[ALLOCATORS];

/* 20 MiB of each allocator, freed before the next is asked. */
static void *use_all(void *argument)
{
    enum { COUNT = 160, SIZE = 128 << 10 };
    sem_t *done = argument;
    void *blocks[COUNT];

    for (int a = 0; a < ALLOCATORS; a++) {
        take(allocators[a], blocks, COUNT, SIZE);
        give(blocks, COUNT);
    }
    sem_post(&done[0]);
    sem_wait(&done[1]); /* it lives on, and keeps what it keeps */
    return NULL;
}

Test(retention, many_threads_together_keep_little_of_what_they_have_freed)
{
    pthread_t threads[THREADS];
    sem_t done[2];

    decay_after("1000000");
    cr_assert(sem_init(&done[0], 0, 0) == 0 && sem_init(&done[1], 0, 0) == 0);
    for (int a = 0; a < ALLOCATORS; a++) {
        DONE(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, NULL, 0, &allocators[a]));
    }
    for (int t = 0; t < THREADS; t++) { /* one after the other: 20 MiB live at most */
        cr_assert_eq(pthread_create(&threads[t], NULL, use_all, done), 0);
        sem_wait(&done[0]);
    }
    cr_expect_leq(held(), 160 * MIB, "%llu MiB are held", (unsigned long long)held() / MIB);
    for (int t = 0; t < THREADS; t++) {
        sem_post(&done[1]);
    }
    for (int t = 0; t < THREADS; t++) {
        cr_assert_eq(pthread_join(threads[t], NULL), 0);
    }
    for (int a = 0; a < ALLOCATORS; a++) {
        DONE(memspan_allocator_destroy(allocators[a]));
    }
}

Test(retention, a_thread_that_frees_much_keeps_a_part_of_it)
{
    enum { COUNT = 1600, SIZE = 256 << 10 };
    void **blocks = calloc(COUNT, sizeof(*blocks));

    decay_after("1000000");
    cr_assert_neq(blocks, NULL);
    take(MEMSPAN_ALLOCATOR_DEFAULT, blocks, COUNT, SIZE);
    cr_expect_geq(held(), (uint64_t)COUNT * SIZE);
    give(blocks, COUNT);
    cr_expect_leq(held(), (uint64_t)COUNT * SIZE / 2, "%llu MiB are held",
                  (unsigned long long)held() / MIB);
    free(blocks);
}

Test(retention, slabs_without_objects_go_back_when_their_objects_are_freed)
{
    enum { COUNT = 100000, SIZE = 4096 };
    void **blocks = calloc(COUNT, sizeof(*blocks));

    decay_after("1000000");
    cr_assert_neq(blocks, NULL);
    take(MEMSPAN_ALLOCATOR_DEFAULT, blocks, COUNT, SIZE);
    cr_expect_geq(held(), (uint64_t)COUNT * SIZE);
    give(blocks, COUNT);
    cr_expect_leq(held(), (uint64_t)COUNT * SIZE / 2, "%llu MiB are held",
                  (unsigned long long)held() / MIB);
    free(blocks);
}

/* ---- one allocates, another frees ---- */

enum { CRATE = 4000, CRATES = 60, OBJECT = 1000 };

static void *crate[CRATE];
static sem_t filled, emptied;

static void *free_crates(void *argument)
{
    (void)argument;
    for (int i = 0; i < CRATES; i++) {
        sem_wait(&filled);
        give(crate, CRATE);
        sem_post(&emptied);
    }
    return NULL;
}

Test(retention, what_another_thread_frees_is_used_again)
{
    pthread_t thread;

    decay_after("1000000");
    cr_assert(sem_init(&filled, 0, 0) == 0 && sem_init(&emptied, 0, 0) == 0);
    cr_assert_eq(pthread_create(&thread, NULL, free_crates, NULL), 0);
    for (int i = 0; i < CRATES; i++) {
        take(MEMSPAN_ALLOCATOR_DEFAULT, crate, CRATE, OBJECT);
        sem_post(&filled);
        sem_wait(&emptied);
    }
    cr_expect_leq(held(), (uint64_t)4 * CRATE * OBJECT, "%llu MiB are held",
                  (unsigned long long)held() / MIB);
    cr_assert_eq(pthread_join(thread, NULL), 0);
}

/* ---- nothing for ever ---- */

static void *free_and_wait(void *argument)
{
    enum { COUNT = 250, SIZE = 96 << 10, SMALL = 2000 };
    static void *blocks[COUNT];
    static void *objects[SMALL];
    sem_t *done = argument;

    take(MEMSPAN_ALLOCATOR_DEFAULT, blocks, COUNT, SIZE);
    take(MEMSPAN_ALLOCATOR_DEFAULT, objects, SMALL, OBJECT);
    give(blocks, COUNT);
    give(objects, SMALL);
    sem_post(&done[0]);
    sem_wait(&done[1]);
    return NULL;
}

static void wait_ms(long milliseconds)
{
    nanosleep(&(struct timespec){0, milliseconds * 1000000}, NULL);
}

/* The other thread does nothing any more: whoever allocates a little gives back for it. */
Test(retention, what_an_idle_thread_keeps_goes_back_when_the_decay_time_is_over)
{
    enum { SIZE = 20000, PAIRS = 100, TRIES = 500 };
    uint64_t least = UINT64_MAX;
    pthread_t thread;
    sem_t done[2];

    decay_after("40");
    cr_assert(sem_init(&done[0], 0, 0) == 0 && sem_init(&done[1], 0, 0) == 0);
    DONE(memspan_free(memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, SIZE)));
    cr_assert_eq(pthread_create(&thread, NULL, free_and_wait, done), 0);
    sem_wait(&done[0]);
    for (int i = 0; (i < TRIES) && (least > 17 * MIB); i++) {
        for (int n = 0; n < PAIRS; n++) {
            DONE(memspan_free(memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, SIZE)));
        }
        least = (held() < least) ? held() : least;
        wait_ms(10);
    }
    cr_expect_leq(least, 17 * MIB, "%llu KiB are held", (unsigned long long)least / 1024);
    sem_post(&done[1]);
    cr_assert_eq(pthread_join(thread, NULL), 0);
}

/* Nothing is kept where nothing is to be kept. */
Test(retention, no_time_keeps_nothing)
{
    enum { COUNT = 250, SIZE = 96 << 10 };
    static void *blocks[COUNT];

    decay_after("0");
    take(MEMSPAN_ALLOCATOR_DEFAULT, blocks, COUNT, SIZE);
    give(blocks, COUNT);
    cr_expect_leq(held(), 1 * MIB, "%llu KiB are held", (unsigned long long)held() / 1024);
}
