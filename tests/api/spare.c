/* SPDX-License-Identifier: BSD-3-Clause */
/* Equal allocators, made, used and destroyed one after another, are one record behind the scenes:
 * handles, limits, counters and errors are those of allocators of their own all the same. */

#include "api.h"
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(spare, .fini = in_order);

enum { LIMIT = 1 << 20, TIMES = 100, SIZE = 100, MIDDLE = 20000 };

static const memspan_trait_t traits[] = {{MEMSPAN_TRAIT_POOL_SIZE, LIMIT},
                                         {MEMSPAN_TRAIT_ALIGNMENT, 64},
                                         {MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB}};

static memspan_allocator_h make(void)
{
    memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;

    DONE(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, traits, 3, &allocator));
    return allocator;
}

/* A life with one block. */
static memspan_allocator_h live(void)
{
    memspan_allocator_h allocator = make();
    unsigned char *block          = memspan_alloc(allocator, SIZE);

    cr_assert(block != NULL, "%s", memspan_error_text());
    memset(block, 1, SIZE);
    DONE(memspan_free(block));
    DONE(memspan_allocator_destroy(allocator));
    return allocator;
}

static void live_often(int times)
{
    for (int i = 0; i < times; i++) {
        live();
    }
}

static memspan_allocator_stats_t stats_of(memspan_allocator_h allocator)
{
    memspan_allocator_stats_t s = {.struct_size = sizeof(s)};

    DONE(memspan_allocator_get_stats(allocator, &s));
    return s;
}

Test(spare, handles_of_ended_lives_are_stale)
{
    memspan_allocator_h old = MEMSPAN_ALLOCATOR_NULL;

    for (int i = 0; i < TIMES; i++) {
        memspan_allocator_h allocator = make();

        cr_assert_neq(allocator, old);
        DONE(memspan_free(memspan_alloc(allocator, SIZE)));
        if (old != MEMSPAN_ALLOCATOR_NULL) {
            cr_assert_eq(memspan_alloc(old, SIZE), NULL);
            cr_assert_eq(memspan_error_last()->status, MEMSPAN_ERR_NOT_FOUND);
            cr_assert_eq(memspan_allocator_destroy(old), MEMSPAN_ERR_NOT_FOUND);
        }
        DONE(memspan_allocator_destroy(allocator));
        cr_assert_eq(memspan_alloc(allocator, SIZE), NULL);
        cr_assert_eq(memspan_allocator_destroy(allocator), MEMSPAN_ERR_NOT_FOUND);
        old = allocator;
    }
}

Test(spare, counters_are_exact)
{
    memspan_allocator_stats_t before = stats_of(MEMSPAN_ALLOCATOR_NULL);
    memspan_allocator_stats_t after;

    for (int i = 0; i < TIMES; i++) {
        memspan_allocator_h allocator = make();
        void *blocks[3];

        for (int k = 0; k < 3; k++) {
            blocks[k] = memspan_alloc(allocator, SIZE);
            cr_assert(blocks[k] != NULL);
        }
        cr_assert_eq(memspan_alloc(allocator, LIMIT), NULL);
        DONE(memspan_free(blocks[0]));
        if (i % 10 == 9) { /* looks are no part of a life */
            memspan_allocator_stats_t s = stats_of(allocator);

            cr_expect_eq(s.live_count, 2);
            cr_expect_eq(s.live_bytes, 2 * SIZE);
            cr_expect_eq(s.allocated_count, 3);
            cr_expect_eq(s.failed_count, 1);
            cr_expect_geq(s.peak_bytes, 3 * SIZE); /* and what its heap has set aside */
        }
        DONE(memspan_free(blocks[1]));
        DONE(memspan_free(blocks[2]));
        DONE(memspan_allocator_destroy(allocator));
    }
    after = stats_of(MEMSPAN_ALLOCATOR_NULL);
    cr_expect_eq(after.allocated_count - before.allocated_count, 3 * TIMES);
    cr_expect_eq(after.freed_count - before.freed_count, 3 * TIMES);
    cr_expect_eq(after.failed_count - before.failed_count, TIMES);
    cr_expect_geq(after.peak_bytes - before.peak_bytes, 3 * SIZE * TIMES);
    cr_expect_eq(after.live_count, before.live_count);
    cr_expect_eq(after.live_bytes, before.live_bytes);
}

/* As many blocks as fit, each of its bytes and 4 more. */
static size_t fill(memspan_allocator_h allocator)
{
    void *blocks[LIMIT / 1000 + 1];
    size_t count = 0;

    while ((blocks[count] = memspan_alloc(allocator, 1000)) != NULL) {
        count++;
    }
    cr_expect_eq(memspan_error_last()->status, MEMSPAN_ERR_LIMIT);
    for (size_t i = 0; i < count; i++) {
        DONE(memspan_free(blocks[i]));
    }
    return count;
}

Test(spare, each_life_has_the_whole_limit)
{
    for (int i = 0; i < 20; i++) {
        memspan_allocator_h allocator = make();

        cr_expect_eq(fill(allocator), LIMIT / 1004);
        DONE(memspan_allocator_destroy(allocator));
    }
}

Test(spare, a_block_outlives_its_life)
{
    memspan_allocator_h allocator;
    unsigned char *block;

    live_often(TIMES);
    allocator = make();
    block     = memspan_alloc(allocator, SIZE);
    memset(block, 7, SIZE);
    DONE(memspan_allocator_destroy(allocator));
    live_often(TIMES);
    allocator = make();
    cr_expect_eq(stats_of(allocator).live_count, 0);
    DONE(memspan_allocator_destroy(allocator));
    cr_expect((block[0] == 7) && (block[SIZE - 1] == 7));
    DONE(memspan_free(block));
    live_often(TIMES);
}

Test(spare, serves_no_other_request)
{
    static const memspan_trait_t others[][3] = {{{MEMSPAN_TRAIT_POOL_SIZE, LIMIT / 2},
                                                 {MEMSPAN_TRAIT_ALIGNMENT, 64},
                                                 {MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB}},
                                                {{MEMSPAN_TRAIT_POOL_SIZE, LIMIT},
                                                 {MEMSPAN_TRAIT_ALIGNMENT, 2048},
                                                 {MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB}}};
    memspan_allocator_h allocator;

    for (int round = 0; round < 30; round++) {
        live_often((round % 2 == 0) ? TIMES : 1);
        for (int i = 0; i < 2; i++) {
            memspan_allocator_info_t info = {.struct_size = sizeof(info)};
            void *block;

            DONE(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, others[i], 3, &allocator));
            DONE(memspan_allocator_describe(allocator, &info));
            cr_expect_eq(info.pool_size_bytes, others[i][0].value);
            block = memspan_alloc(allocator, SIZE);
            cr_expect_eq((uintptr_t)block % others[i][1].value, 0);
            DONE(memspan_free(block));
            DONE(memspan_allocator_destroy(allocator));
        }
    }
}

Test(spare, a_name_is_of_one_life)
{
    memspan_allocator_info_t info = {.struct_size = sizeof(info)};
    memspan_allocator_h allocator;

    live_often(TIMES);
    allocator = make();
    DONE(memspan_allocator_set_name(allocator, "spare"));
    DONE(memspan_free(memspan_alloc(allocator, SIZE)));
    DONE(memspan_allocator_destroy(allocator));
    for (int i = 0; i < TIMES; i++) {
        allocator = make();
        DONE(memspan_allocator_describe(allocator, &info));
        cr_expect_str_eq(info.name, "");
        DONE(memspan_allocator_destroy(allocator));
    }
}

/* Each life says once that it falls back, as the first did. */
Test(spare, each_life_warns_once)
{
    enum { LIVES = 3 * TIMES };
    static const memspan_trait_t falls[] = {{MEMSPAN_TRAIT_POOL_SIZE, 4096}};
    FILE *said                           = tmpfile();
    memspan_allocator_h allocator;
    char line[512];
    int lines = 0;

    setenv("MEMSPAN_FALLBACK", "warn", 1);
    cr_assert_neq(said, NULL);
    fflush(stderr);
    cr_assert_geq(dup2(fileno(said), STDERR_FILENO), 0);
    for (int i = 0; i < LIVES; i++) {
        DONE(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, falls, 1, &allocator));
        DONE(memspan_free(memspan_alloc(allocator, 8192)));
        DONE(memspan_free(memspan_alloc(allocator, 8192)));
        cr_expect_eq(stats_of(allocator).fallback_count, 2);
        DONE(memspan_allocator_destroy(allocator));
    }
    rewind(said);
    while (fgets(line, sizeof(line), said) != NULL) {
        lines += (strstr(line, "came from a fallback") != NULL);
    }
    cr_expect_eq(lines, LIVES, "%d warnings", lines);
    fclose(said);
}

/* ---- with other threads ---- */

static void *use(void *data)
{
    memspan_allocator_h *allocator = data;
    void *block                    = memspan_alloc(*allocator, SIZE);

    cr_assert(block != NULL, "%s", memspan_error_text());
    DONE(memspan_free(block));
    return NULL;
}

static void *destroy(void *data)
{
    DONE(memspan_allocator_destroy(*(memspan_allocator_h *)data));
    return NULL;
}

static void run(void *(*function)(void *), void *data)
{
    pthread_t thread;

    cr_assert_eq(pthread_create(&thread, NULL, function, data), 0);
    pthread_join(thread, NULL);
}

Test(spare, others_use_and_end_it)
{
    memspan_allocator_stats_t before = stats_of(MEMSPAN_ALLOCATOR_NULL);
    memspan_allocator_stats_t after;

    for (int i = 0; i < TIMES; i++) {
        memspan_allocator_h allocator;

        live_often(10);
        allocator = make();
        DONE(memspan_free(memspan_alloc(allocator, SIZE)));
        run(use, &allocator);
        if (i % 2 == 0) {
            run(destroy, &allocator);
        } else {
            DONE(memspan_allocator_destroy(allocator));
        }
        cr_assert_eq(memspan_alloc(allocator, SIZE), NULL);
    }
    after = stats_of(MEMSPAN_ALLOCATOR_NULL);
    cr_expect_eq(after.allocated_count - before.allocated_count, 12 * TIMES);
    cr_expect_eq(after.freed_count - before.freed_count, 12 * TIMES);
    DONE(memspan_check());
}

static pthread_barrier_t barrier;

/* A thread that stays, with a heap of the allocator, which publishes nothing of such blocks. */
static void *use_and_try_again(void *data)
{
    memspan_allocator_h *allocator = data;

    for (int i = 0; i < TIMES; i++) {
        pthread_barrier_wait(&barrier);
        DONE(memspan_free(memspan_alloc(*allocator, MIDDLE)));
        DONE(memspan_free(memspan_alloc(*allocator, MIDDLE)));
        pthread_barrier_wait(&barrier);
        pthread_barrier_wait(&barrier);
        cr_expect_eq(memspan_alloc(*allocator, MIDDLE), NULL);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

Test(spare, another_thread_has_a_heap_of_it)
{
    memspan_allocator_stats_t before = stats_of(MEMSPAN_ALLOCATOR_NULL);
    memspan_allocator_h allocator;
    pthread_t thread;

    cr_assert_eq(pthread_barrier_init(&barrier, NULL, 2), 0);
    cr_assert_eq(pthread_create(&thread, NULL, use_and_try_again, &allocator), 0);
    for (int i = 0; i < TIMES; i++) {
        live_often(10);
        allocator = make();
        use(&allocator);
        pthread_barrier_wait(&barrier); /* the other uses it */
        pthread_barrier_wait(&barrier);
        DONE(memspan_allocator_destroy(allocator));
        pthread_barrier_wait(&barrier); /* the other tries to */
        pthread_barrier_wait(&barrier);
    }
    pthread_join(thread, NULL);
    cr_expect_eq(stats_of(MEMSPAN_ALLOCATOR_NULL).allocated_count - before.allocated_count,
                 13 * TIMES);
}

static void *live_in_a_thread(void *data)
{
    live_often(*(int *)data);
    return NULL;
}

Test(spare, ends_with_its_thread)
{
    memspan_allocator_stats_t before = stats_of(MEMSPAN_ALLOCATOR_NULL);
    int times                        = 10;

    for (int i = 0; i < TIMES; i++) {
        run(live_in_a_thread, &times);
    }
    cr_expect_eq(stats_of(MEMSPAN_ALLOCATOR_NULL).allocated_count - before.allocated_count,
                 10 * TIMES);
    DONE(memspan_check());
}

static atomic_bool done;

/* The sums never fall. */
static void *watch(void *data)
{
    uint64_t last = 0;
    int *wrong    = data;

    while (!atomic_load(&done)) {
        memspan_allocator_stats_t s = stats_of(MEMSPAN_ALLOCATOR_NULL);

        *wrong += (s.allocated_count < last);
        *wrong += (s.freed_count > s.allocated_count);
        last = s.allocated_count;
    }
    return NULL;
}

Test(spare, in_all_threads_at_once)
{
    enum { THREADS = 4 };
    memspan_allocator_stats_t before = stats_of(MEMSPAN_ALLOCATOR_NULL);
    pthread_t threads[THREADS];
    pthread_t watcher;
    int times = 3000;
    int wrong = 0;

    cr_assert_eq(pthread_create(&watcher, NULL, watch, &wrong), 0);
    for (int i = 0; i < THREADS; i++) {
        cr_assert_eq(pthread_create(&threads[i], NULL, live_in_a_thread, &times), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    atomic_store(&done, true);
    pthread_join(watcher, NULL);
    cr_expect_eq(wrong, 0);
    cr_expect_eq(stats_of(MEMSPAN_ALLOCATOR_NULL).allocated_count - before.allocated_count,
                 (uint64_t)THREADS * 3000);
}

Test(spare, in_a_child)
{
    int status = -1;
    pid_t child;

    live_often(TIMES);
    child = fork();
    if (child == 0) {
        live_often(TIMES);
        _exit((memspan_check() == MEMSPAN_OK) ? 0 : 1);
    }
    waitpid(child, &status, 0);
    cr_expect_eq(status, 0);
    live_often(TIMES);
}
