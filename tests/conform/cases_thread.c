/* SPDX-License-Identifier: BSD-3-Clause */
/* Several threads at once: take, use, copy, hand over, give back. */

#include "conform.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, ROUNDS = 400, SLOTS = 16, LARGEST = 3000 };

struct worker {
    const struct conform_memory *memory;
    _Atomic(void *) *shelf; /* blocks that any thread may take and free */
    unsigned seed;
    const char *problem; /* NULL: none */
};

static unsigned next_random(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Fill, copy to a second block, read that back: NULL, or what went wrong. */
static const char *use(const struct worker *w, void *block, size_t size, unsigned char byte)
{
    unsigned char bytes[LARGEST];
    void *second = memspan_alloc(w->memory->allocator, size);

    if (second == NULL) {
        return "no second block";
    }
    if (memspan_fill(block, byte, size) != MEMSPAN_OK) {
        return "fill failed";
    }
    if ((memspan_copy(second, block, size) != MEMSPAN_OK) ||
        (memspan_copy(bytes, second, size) != MEMSPAN_OK)) {
        return "copy failed";
    }
    if (conform_executes() &&
        ((bytes[0] != byte) || (bytes[size / 2] != byte) || (bytes[size - 1] != byte))) {
        return "other bytes came back";
    }
    return (memspan_free(second) == MEMSPAN_OK) ? NULL : "free failed";
}

static void *work(void *argument)
{
    struct worker *w = argument;
    unsigned state   = w->seed;

    for (int i = 0; (i < ROUNDS) && (w->problem == NULL); i++) {
        size_t size = 1 + next_random(&state) % LARGEST;
        void *block = memspan_alloc(w->memory->allocator, size);
        void *old;

        if (block == NULL) {
            w->problem = "no block";
            break;
        }
        if (i % 8 == 0) {
            w->problem = use(w, block, size, (unsigned char)i);
        }
        old = atomic_exchange(&w->shelf[next_random(&state) % SLOTS], block);
        if ((old != NULL) && (memspan_free(old) != MEMSPAN_OK)) {
            w->problem = "free of another thread's block failed";
        }
    }
    return NULL;
}

static void threads_share_an_allocator(void)
{
    struct conform_memory m;

    for (int k = 0; conform_kind(k, &m); k++) {
        static _Atomic(void *) shelf[SLOTS];
        struct worker workers[THREADS];
        pthread_t threads[THREADS];

        for (unsigned t = 0; t < THREADS; t++) {
            workers[t] = (struct worker){&m, shelf, t + 1, NULL};
            CHECK(pthread_create(&threads[t], NULL, work, &workers[t]) == 0);
        }
        for (int t = 0; t < THREADS; t++) {
            pthread_join(threads[t], NULL);
        }
        for (int t = 0; t < THREADS; t++) {
            CHECK(workers[t].problem == NULL, "%s: %s", memspan_kind_name(m.kind),
                  workers[t].problem);
        }
        for (int i = 0; i < SLOTS; i++) {
            CHECK_OK(memspan_free(atomic_exchange(&shelf[i], NULL)));
        }
        CHECK_OK(memspan_check());
        CHECK(conform_stats(m.allocator).live_bytes == 0);
        conform_done(&m);
    }
}

static void *make_and_break(void *argument)
{
    const char **problem = argument;
    int device           = conform_device()->number;

    for (int i = 0; (i < 100) && (*problem == NULL); i++) {
        memspan_trait_t trait         = {MEMSPAN_TRAIT_POOL_SIZE, 100000};
        memspan_space_h space         = MEMSPAN_SPACE_NULL;
        memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;
        void *block;

        if ((memspan_space_get(&device, 1, MEMSPAN_SPACE_NULL, &space) != MEMSPAN_OK) ||
            (memspan_allocator_create(space, &trait, 1, &allocator) != MEMSPAN_OK)) {
            *problem = "no space or allocator";
            break;
        }
        block = memspan_alloc(allocator, 100 + (size_t)i);
        if (i % 2 == 0) {
            (void)memspan_allocator_destroy(allocator);
        }
        if ((block == NULL) || (memspan_free(block) != MEMSPAN_OK)) {
            *problem = "no block, or it could not be freed";
        }
        if (i % 2 != 0) {
            (void)memspan_allocator_destroy(allocator);
        }
    }
    return NULL;
}

static void threads_make_their_own(void)
{
    const char *problems[THREADS] = {NULL};
    pthread_t threads[THREADS];

    (void)conform_device(); /* found before there is more than one thread */
    for (int t = 0; t < THREADS; t++) {
        CHECK(pthread_create(&threads[t], NULL, make_and_break, &problems[t]) == 0);
    }
    for (int t = 0; t < THREADS; t++) {
        pthread_join(threads[t], NULL);
    }
    for (int t = 0; t < THREADS; t++) {
        CHECK(problems[t] == NULL, "%s", problems[t]);
    }
}

static void *ask(void *argument)
{
    void **block          = argument;
    const char *problem   = NULL;
    int device            = conform_device()->number;
    memspan_reach_t reach = {0};

    for (int i = 0; (i < 2000) && (problem == NULL); i++) {
        memspan_pointer_info_t info = {.struct_size = sizeof(info)};

        if ((memspan_pointer_describe((char *)block + i % 64, &info) != MEMSPAN_OK) ||
            (info.base != block) || (memspan_pointer_reach(block, device, &reach) != MEMSPAN_OK)) {
            problem = "a live block was not found";
        }
    }
    return (void *)problem;
}

static void queries_while_others_allocate(void)
{
    memspan_allocator_h allocator = conform_allocator(conform_own_space(), NULL, 0);
    void *block                   = memspan_alloc(allocator, 64);
    pthread_t threads[2];
    void *problem;

    CHECK(block != NULL);
    for (int t = 0; t < 2; t++) {
        CHECK(pthread_create(&threads[t], NULL, ask, block) == 0);
    }
    for (int i = 0; i < 500; i++) {
        void *other = memspan_alloc(allocator, (size_t)(i * 977) % 50000 + 1);

        CHECK(other != NULL);
        CHECK_OK(memspan_free(other));
    }
    for (int t = 0; t < 2; t++) {
        pthread_join(threads[t], &problem);
        CHECK(problem == NULL, "%s", (const char *)problem);
    }
    CHECK_OK(memspan_free(block));
    CHECK_OK(memspan_allocator_destroy(allocator));
}

const struct conform_case conform_thread_cases[] = {
    {"threads_share_an_allocator", threads_share_an_allocator},
    {"threads_make_their_own", threads_make_their_own},
    {"queries_while_others_allocate", queries_while_others_allocate},
    {NULL, NULL},
};
