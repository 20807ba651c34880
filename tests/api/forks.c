/* SPDX-License-Identifier: BSD-3-Clause */
/* fork() in a process whose other threads allocate and free all the time: the child has one thread,
 * no lock that is never released, and memory that works. */

#include "api.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 3, BLOCKS = 200, CHILDREN = 30 };

TestSuite(forks, .fini = in_order);

struct worker {
    atomic_bool *stop;
    memspan_allocator_h limited;
    unsigned seed;
};

static void *work(void *argument)
{
    struct worker *w        = argument;
    memspan_trait_t trait   = {MEMSPAN_TRAIT_ALIGNMENT, 64};
    void *blocks[BLOCKS]    = {NULL};
    memspan_allocator_h own = MEMSPAN_ALLOCATOR_NULL;

    while (!atomic_load(w->stop)) {
        unsigned r = (w->seed = w->seed * 1664525u + 1013904223u) >> 8;
        int k      = (int)(r % BLOCKS);

        (void)memspan_free(blocks[k]);
        blocks[k] = memspan_alloc((r % 2 == 0) ? w->limited : MEMSPAN_ALLOCATOR_DEFAULT,
                                  (r % 64 == 0) ? 3 << 20 : 1 + r % 5000);
        if (r % 100 == 0) {
            (void)memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, &trait, 1, &own);
            (void)memspan_allocator_destroy(own);
        }
        if (r % 500 == 0) {
            (void)memspan_trim();
        }
    }
    for (int i = 0; i < BLOCKS; i++) {
        (void)memspan_free(blocks[i]);
    }
    return NULL;
}

/* 0: all well. */
static int work_in_child(unsigned char **inherited)
{
    memspan_trait_t trait         = {MEMSPAN_TRAIT_POOL_SIZE, 100 * 104};
    memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;
    void *blocks[101];
    atomic_bool stop     = true;
    struct worker worker = {&stop, MEMSPAN_ALLOCATOR_DEFAULT, 1};
    pthread_t thread;

    for (int i = 0; i < BLOCKS; i++) { /* the parent's, of before */
        if ((inherited[i][0] != (unsigned char)i) || (memspan_free(inherited[i]) != MEMSPAN_OK)) {
            return 1;
        }
    }
    if (memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, &trait, 1, &allocator) != MEMSPAN_OK) {
        return 2;
    }
    for (int i = 0; i < 100; i++) {
        blocks[i] = memspan_calloc(allocator, 1, 100);
        if (blocks[i] == NULL) {
            return 3;
        }
    }
    for (int i = 0; i < 100; i++) {
        if (memspan_free(blocks[i]) != MEMSPAN_OK) {
            return 4;
        }
    }
    if (memspan_allocator_destroy(allocator) != MEMSPAN_OK) {
        return 5;
    }
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
    /* (The sanitizers' own locks do not survive fork.) */
    if ((pthread_create(&thread, NULL, work, &worker) != 0) || (pthread_join(thread, NULL) != 0)) {
        return 6;
    }
#else
    (void)thread;
    (void)worker;
#endif
    memspan_trim();
    return (memspan_check() == MEMSPAN_OK) ? 0 : 7;
}

static void fork_one(unsigned char **inherited, bool twice)
{
    pid_t child = fork();
    int status  = 0;

    if (child == 0) {
        alarm(30); /* a child that waits for ever has failed */
        if (twice) {
            child = fork();
            if (child != 0) {
                _exit((waitpid(child, &status, 0) == child) && (status == 0) ? 0 : 8);
            }
            alarm(30);
        }
        _exit(work_in_child(inherited));
    }
    cr_assert(waitpid(child, &status, 0) == child);
    cr_assert_eq(status, 0, "the child ended with status %#x", status);
}

Test(forks, while_others_allocate)
{
    memspan_trait_t traits[]   = {{MEMSPAN_TRAIT_POOL_SIZE, 64 << 20},
                                  {MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB}};
    memspan_allocator_h shared = MEMSPAN_ALLOCATOR_NULL;
    unsigned char *inherited[BLOCKS];
    struct worker workers[THREADS];
    pthread_t threads[THREADS];
    atomic_bool stop = false;

    DONE(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, traits, 2, &shared));
    for (int i = 0; i < BLOCKS; i++) {
        inherited[i] = memspan_alloc((i % 2 == 0) ? shared : MEMSPAN_ALLOCATOR_DEFAULT,
                                     1 + (size_t)(i * i) % 9000);
        inherited[i][0] = (unsigned char)i;
    }
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){&stop, shared, i + 1};
        cr_assert_eq(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < CHILDREN; i++) {
        fork_one(inherited, i % 4 == 3);
    }
    atomic_store(&stop, true);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    for (int i = 0; i < BLOCKS; i++) {
        DONE(memspan_free(inherited[i])); /* the children's frees were theirs */
    }
    DONE(memspan_allocator_destroy(shared));
    memspan_trim();
}

/* A limit that the child's vanished threads had used in part is still exact for who is left. */
Test(forks, limits_hold_in_the_child)
{
    memspan_trait_t traits[]   = {{MEMSPAN_TRAIT_POOL_SIZE, 50 * 104},
                                  {MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB}};
    memspan_allocator_h shared = MEMSPAN_ALLOCATOR_NULL;
    void *mine[20];
    int status = 0;
    pid_t child;

    DONE(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, traits, 2, &shared));
    for (int i = 0; i < 20; i++) {
        mine[i] = memspan_alloc(shared, 100);
    }
    child = fork();
    if (child == 0) {
        int count = 0;

        while ((count < 100) && (memspan_alloc(shared, 100) != NULL)) {
            count++;
        }
        _exit(count);
    }
    cr_assert(waitpid(child, &status, 0) == child);
    cr_expect(WIFEXITED(status) && (WEXITSTATUS(status) == 30), "status %#x", status);
    for (int i = 0; i < 20; i++) {
        DONE(memspan_free(mine[i]));
    }
    DONE(memspan_allocator_destroy(shared));
}

/* ---- what threads have that the child lacks ---- */

enum { THEIRS = 3000 };
static void *theirs[THEIRS];
static pthread_barrier_t both;

static void *have_blocks(void *allocator)
{
    for (int i = 0; i < THEIRS; i++) {
        theirs[i] = memspan_alloc(*(memspan_allocator_h *)allocator, 100);
    }
    pthread_barrier_wait(&both);
    pthread_barrier_wait(&both);
    return NULL;
}

static memspan_allocator_stats_t counters(memspan_allocator_h allocator)
{
    memspan_allocator_stats_t s = {.struct_size = sizeof(s)};

    return (memspan_allocator_get_stats(allocator, &s) == MEMSPAN_OK)
               ? s
               : (memspan_allocator_stats_t){.live_count = 999999};
}

/* In the child: the counters hold, their blocks can be freed, and their memory is used again. */
static int use_theirs(memspan_allocator_h allocator)
{
    memspan_allocator_stats_t s = counters(allocator);
    uint64_t held               = s.held_bytes;

    if ((s.live_count != THEIRS) || (s.allocated_count != THEIRS) ||
        (s.charged_bytes != THEIRS * 104)) {
        return 1;
    }
    for (int i = 0; i < THEIRS; i++) {
        if (memspan_free(theirs[i]) != MEMSPAN_OK) {
            return 2;
        }
    }
    s = counters(allocator);
    if ((s.live_count != 0) || (s.charged_bytes != 0) || (s.freed_count != THEIRS)) {
        return 3;
    }
    for (int i = 0; i < THEIRS; i++) {
        theirs[i] = memspan_alloc(allocator, 100);
        if (theirs[i] == NULL) {
            return 4;
        }
    }
    if (memspan_alloc(allocator, 1) != NULL) {
        return 5;
    }
    return ((counters(allocator).held_bytes > held) || (memspan_check() != MEMSPAN_OK)) ? 6 : 0;
}

Test(forks, what_vanished_threads_had_is_the_childs)
{
    memspan_trait_t traits[]      = {{MEMSPAN_TRAIT_POOL_SIZE, THEIRS * 104},
                                     {MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB}};
    memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;
    pthread_t thread;
    int status = 0;
    pid_t child;

    DONE(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, traits, 2, &allocator));
    cr_assert_eq(pthread_barrier_init(&both, NULL, 2), 0);
    cr_assert_eq(pthread_create(&thread, NULL, have_blocks, &allocator), 0);
    pthread_barrier_wait(&both);
    child = fork();
    if (child == 0) {
        _exit(use_theirs(allocator));
    }
    cr_assert(waitpid(child, &status, 0) == child);
    cr_expect(WIFEXITED(status) && (WEXITSTATUS(status) == 0), "status %#x", status);
    pthread_barrier_wait(&both);
    pthread_join(thread, NULL);
    for (int i = 0; i < THEIRS; i++) {
        DONE(memspan_free(theirs[i]));
    }
    DONE(memspan_allocator_destroy(allocator));
}
