/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles of destroyed allocators: every call refuses them, also during the destruction. */

#include "api.h"
#include <memspan/omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

TestSuite(stale, .fini = in_order);

static memspan_allocator_h make(void)
{
    memspan_trait_t traits[]      = {{MEMSPAN_TRAIT_POOL_SIZE, 100000},
                                     {MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB}};
    memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;

    DONE(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, traits, 2, &allocator));
    return allocator;
}

static void expect_refused(memspan_allocator_h gone)
{
    memspan_allocator_info_t info   = {.struct_size = sizeof(info)};
    memspan_allocator_stats_t stats = {.struct_size = sizeof(stats)};
    memspan_trait_t align           = {MEMSPAN_TRAIT_ALIGNMENT, 64};
    memspan_trait_t fallback[]      = {{MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_ALLOCATOR_FB},
                                       {MEMSPAN_TRAIT_FB_DATA, (uintptr_t)gone}};
    memspan_allocator_h made        = MEMSPAN_ALLOCATOR_NULL;
    void *block                     = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, 100);
    memspan_reach_t reach;

    REFUSED_NULL(memspan_alloc(gone, 100), MEMSPAN_ERR_NOT_FOUND, "allocator");
    REFUSED_NULL(memspan_aligned_alloc(gone, 64, 100), MEMSPAN_ERR_NOT_FOUND, "allocator");
    REFUSED_NULL(memspan_calloc(gone, 1, 100), MEMSPAN_ERR_NOT_FOUND, "allocator");
    REFUSED_NULL(memspan_alloc_with(gone, 100, &align, 1), MEMSPAN_ERR_NOT_FOUND, "allocator");
    REFUSED_NULL(memspan_realloc(gone, NULL, 100), MEMSPAN_ERR_NOT_FOUND, "allocator");
    REFUSED_NULL(memspan_realloc(gone, block, 1000), MEMSPAN_ERR_NOT_FOUND, "allocator");
    REFUSED(memspan_allocator_describe(gone, &info), MEMSPAN_ERR_NOT_FOUND, "allocator");
    REFUSED(memspan_allocator_reach(gone, MEMSPAN_HOST, &reach), MEMSPAN_ERR_NOT_FOUND,
            "allocator");
    REFUSED(memspan_allocator_get_stats(gone, &stats), MEMSPAN_ERR_NOT_FOUND, "allocator");
    REFUSED(memspan_allocator_derive(gone, &align, 1, &made), MEMSPAN_ERR_NOT_FOUND, "allocator");
    REFUSED(memspan_allocator_destroy(gone), MEMSPAN_ERR_NOT_FOUND, "allocator");
    REFUSED(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, fallback, 2, &made),
            MEMSPAN_ERR_INVALID, "fb_data");
    /* The OpenMP names do not say which status. */
    memspan_error_clear();
    cr_expect_eq(omp_alloc(100, (omp_allocator_handle_t)(uintptr_t)gone), NULL);
    cr_expect(says("allocator"), "%s", memspan_error_text());
    memspan_error_clear();
    cr_expect_eq(omp_calloc(1, 100, (omp_allocator_handle_t)(uintptr_t)gone), NULL);
    cr_expect(says("allocator"), "%s", memspan_error_text());
    memspan_error_clear();
    cr_expect_eq(omp_realloc(block, 1000, (omp_allocator_handle_t)(uintptr_t)gone, 0), NULL);
    cr_expect(says("allocator"), "%s", memspan_error_text());
    cr_expect_eq(made, MEMSPAN_ALLOCATOR_NULL);
    DONE(memspan_free(block)); /* it was left alone */
}

Test(stale, refused_by_every_call)
{
    memspan_allocator_h gone = make();

    DONE(memspan_allocator_destroy(gone));
    expect_refused(gone);
}

Test(stale, refused_while_its_blocks_live)
{
    memspan_allocator_h gone    = make();
    unsigned char *block        = memspan_alloc(gone, 1000);
    memspan_pointer_info_t info = {.struct_size = sizeof(info)};

    memset(block, 9, 1000);
    DONE(memspan_allocator_destroy(gone));
    expect_refused(gone);
    DONE(memspan_pointer_describe(block, &info));
    cr_expect_eq(info.allocator, MEMSPAN_ALLOCATOR_NULL);
    cr_expect_eq(info.size_bytes, 1000);
    block = memspan_realloc(MEMSPAN_ALLOCATOR_NULL, block, 3000);
    cr_expect((block != NULL) && (block[999] == 9), "a block may change its size all the same");
    DONE(memspan_free(block));
    expect_refused(gone);
}

Test(stale, refused_after_its_place_was_used_again)
{
    enum { MANY = 500 };
    memspan_allocator_h gone = make();
    memspan_allocator_h others[MANY];

    DONE(memspan_allocator_destroy(gone));
    for (int i = 0; i < MANY; i++) {
        others[i] = make();
        cr_expect_neq(others[i], gone);
        if (i % 3 != 0) {
            DONE(memspan_allocator_destroy(others[i]));
        }
    }
    expect_refused(gone);
    for (int i = 0; i < MANY; i += 3) {
        DONE(memspan_allocator_destroy(others[i]));
    }
}

/* ---- destroyed while others use it ---- */

enum { THREADS = 3, ROUNDS = 150 };

struct shared {
    _Atomic(memspan_allocator_h) allocator;
    atomic_bool stop;
    atomic_ulong given;
};

/* Allocates from whatever is there: given or refused, never anything else. */
static void *use(void *argument)
{
    struct shared *shared = argument;

    while (!atomic_load(&shared->stop)) {
        memspan_pointer_info_t info   = {.struct_size = sizeof(info)};
        memspan_allocator_h allocator = atomic_load(&shared->allocator);
        unsigned char *block          = memspan_alloc(allocator, 200);
        unsigned char *now;

        if (block == NULL) {
            memspan_status_t status = memspan_error_last()->status;
            if ((status != MEMSPAN_ERR_NOT_FOUND) && (status != MEMSPAN_ERR_LIMIT)) {
                return (void *)"refused for another reason";
            }
            continue;
        }
        atomic_fetch_add(&shared->given, 1);
        block[0]   = 5;
        block[199] = 6;
        if ((memspan_pointer_describe(block, &info) != MEMSPAN_OK) || (info.base != block) ||
            (info.size_bytes != 200)) {
            return (void *)"a block is not known";
        }
        if ((info.allocator != allocator) && (info.allocator != MEMSPAN_ALLOCATOR_NULL)) {
            return (void *)"a block is another allocator's";
        }
        now = memspan_realloc(MEMSPAN_ALLOCATOR_NULL, block, 700);
        if ((now == NULL) || (now[0] != 5) || (now[199] != 6) ||
            (memspan_free(now) != MEMSPAN_OK)) {
            return (void *)"a block was lost";
        }
    }
    return NULL;
}

Test(stale, destroyed_while_others_allocate)
{
    static struct shared shared;
    pthread_t threads[THREADS];
    void *problem;

    atomic_store(&shared.allocator, make());
    for (int i = 0; i < THREADS; i++) {
        cr_assert_eq(pthread_create(&threads[i], NULL, use, &shared), 0);
    }
    for (int i = 0; i < ROUNDS; i++) {
        unsigned long before = atomic_load(&shared.given);
        memspan_allocator_h old;

        while (atomic_load(&shared.given) < before + 20) { /* it is in use */
            sched_yield();
        }
        old = atomic_load(&shared.allocator);
        if (i % 2 == 0) {
            DONE(memspan_allocator_destroy(old));
            atomic_store(&shared.allocator, make());
        } else {
            atomic_store(&shared.allocator, make());
            DONE(memspan_allocator_destroy(old));
        }
    }
    atomic_store(&shared.stop, true);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &problem);
        cr_expect(problem == NULL, "%s", (const char *)problem);
    }
    DONE(memspan_allocator_destroy(atomic_load(&shared.allocator)));
}

/* Of many threads that destroy the same allocator one succeeds. */
struct race {
    memspan_allocator_h allocator;
    pthread_barrier_t barrier;
    atomic_int done;
};

static void *destroy(void *argument)
{
    struct race *race = argument;

    pthread_barrier_wait(&race->barrier);
    atomic_fetch_add(&race->done, memspan_allocator_destroy(race->allocator) == MEMSPAN_OK);
    return NULL;
}

Test(stale, destroyed_once)
{
    for (int i = 0; i < 50; i++) {
        struct race race = {.allocator = make()};
        pthread_t threads[THREADS];

        pthread_barrier_init(&race.barrier, NULL, THREADS);
        for (int k = 0; k < THREADS; k++) {
            cr_assert_eq(pthread_create(&threads[k], NULL, destroy, &race), 0);
        }
        for (int k = 0; k < THREADS; k++) {
            pthread_join(threads[k], NULL);
        }
        cr_expect_eq(atomic_load(&race.done), 1);
        pthread_barrier_destroy(&race.barrier);
    }
}

/* ---- described while its last block is freed ---- */

struct described {
    _Atomic(void *) block;
    atomic_bool stop;
};

/* Known or not, but never another's memory, and never what was freed with its allocator. */
static void *describe_it(void *argument)
{
    struct described *shared = argument;

    while (!atomic_load(&shared->stop)) {
        memspan_pointer_info_t info = {.struct_size = sizeof(info)};
        memspan_status_t status     = memspan_pointer_describe(atomic_load(&shared->block), &info);

        if ((status != MEMSPAN_OK) && (status != MEMSPAN_ERR_NOT_FOUND)) {
            return (void *)"described otherwise";
        }
        if ((status == MEMSPAN_OK) && (strstr(info.why, "host memory") == NULL) &&
            (strstr(info.why, "interleaved") == NULL)) {
            return (void *)"described by what was freed";
        }
    }
    return NULL;
}

static void describe_and_free(size_t size)
{
    static struct described shared;
    memspan_trait_t trait = {MEMSPAN_TRAIT_PARTITION, MEMSPAN_VALUE_INTERLEAVED};
    void *first           = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, size);
    pthread_t threads[2];
    void *problem;

    atomic_store(&shared.block, first);
    atomic_store(&shared.stop, false);
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(pthread_create(&threads[i], NULL, describe_it, &shared), 0);
    }
    for (int round = 0; round < 500; round++) {
        memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;
        void *block;

        DONE(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, &trait, 1, &allocator));
        block = memspan_alloc(allocator, size);
        cr_assert(block != NULL);
        atomic_store(&shared.block, block);
        DONE(memspan_allocator_destroy(allocator));
        sched_yield();
        DONE(memspan_free(block));
    }
    atomic_store(&shared.stop, true);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], &problem);
        cr_expect(problem == NULL, "%s", (const char *)problem);
    }
    DONE(memspan_free(first));
}

Test(stale, described_while_the_last_block_is_freed)
{
    describe_and_free(100);
    describe_and_free(300000);
}
