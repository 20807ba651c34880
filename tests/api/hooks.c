/* SPDX-License-Identifier: BSD-3-Clause */
/* Hooks: every event once, in the order of a block's life, and none for what the library does on
 * its way; a hook that allocates, that removes itself, that is removed while it runs. */

#include "api.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(hooks, .fini = in_order);

struct seen {
    atomic_int allocated, freeing, reallocated, taken, giving_back, fallback, failed;
    atomic_ullong live_bytes;
    memspan_hook_block_t block, old;
    memspan_hook_chunk_t chunk;
    memspan_hook_request_t request;
};

static void on_allocated(void *data, const memspan_hook_block_t *block)
{
    struct seen *seen = data;

    seen->block = *block;
    atomic_fetch_add(&seen->allocated, 1);
    atomic_fetch_add(&seen->live_bytes, block->size_bytes);
}

static void on_freeing(void *data, const memspan_hook_block_t *block)
{
    struct seen *seen = data;

    seen->block = *block;
    atomic_fetch_add(&seen->freeing, 1);
    atomic_fetch_sub(&seen->live_bytes, block->size_bytes);
}

static void on_reallocated(void *data, const memspan_hook_block_t *old,
                           const memspan_hook_block_t *block)
{
    struct seen *seen = data;

    seen->old   = *old;
    seen->block = *block;
    atomic_fetch_add(&seen->reallocated, 1);
    atomic_fetch_add(&seen->live_bytes, block->size_bytes - old->size_bytes);
}

static void on_chunk_taken(void *data, const memspan_hook_chunk_t *chunk)
{
    struct seen *seen = data;

    seen->chunk = *chunk;
    atomic_fetch_add(&seen->taken, 1);
}

static void on_chunk_giving_back(void *data, const memspan_hook_chunk_t *chunk)
{
    struct seen *seen = data;

    seen->chunk = *chunk;
    atomic_fetch_add(&seen->giving_back, 1);
}

static void on_fallback_used(void *data, const memspan_hook_request_t *request)
{
    struct seen *seen = data;

    seen->request = *request;
    atomic_fetch_add(&seen->fallback, 1);
}

static void on_failed(void *data, const memspan_hook_request_t *request)
{
    struct seen *seen = data;

    seen->request = *request;
    atomic_fetch_add(&seen->failed, 1);
}

static memspan_hooks_h watch(struct seen *seen)
{
    memspan_hooks_t table = {
        .struct_size       = sizeof(table),
        .data              = seen,
        .allocated         = on_allocated,
        .freeing           = on_freeing,
        .reallocated       = on_reallocated,
        .chunk_taken       = on_chunk_taken,
        .chunk_giving_back = on_chunk_giving_back,
        .fallback_used     = on_fallback_used,
        .failed            = on_failed,
    };
    memspan_hooks_h hooks = NULL;

    DONE(memspan_hooks_add(&table, &hooks));
    return hooks;
}

#define SEEN(seen, a, f, r)                                                                        \
    do {                                                                                           \
        cr_expect_eq(atomic_load(&(seen).allocated), (a), "%d allocated", (seen).allocated);       \
        cr_expect_eq(atomic_load(&(seen).freeing), (f), "%d freeing", (seen).freeing);             \
        cr_expect_eq(atomic_load(&(seen).reallocated), (r), "%d reallocated", (seen).reallocated); \
    } while (0)

Test(hooks, a_block_s_life)
{
    struct seen seen      = {0};
    memspan_hooks_h hooks = watch(&seen);
    void *block           = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, 1000);
    void *moved;

    SEEN(seen, 1, 0, 0);
    cr_expect_eq(seen.block.struct_size, sizeof(seen.block));
    cr_expect_eq(seen.block.address, block);
    cr_expect_eq(seen.block.size_bytes, 1000);
    cr_expect_eq(seen.block.allocator, MEMSPAN_ALLOCATOR_DEFAULT);
    cr_expect_eq(seen.block.space, MEMSPAN_SPACE_DEFAULT);
    cr_expect_eq(seen.block.kind, MEMSPAN_KIND_HOST);
    cr_expect_eq(seen.block.device, MEMSPAN_HOST);
    cr_expect_eq(seen.block.fallback, 0);

    cr_assert_eq(memspan_realloc(MEMSPAN_ALLOCATOR_NULL, block, 1001), block);
    SEEN(seen, 1, 0, 1);
    cr_expect_eq(seen.old.size_bytes, 1000);
    cr_expect_eq(seen.block.size_bytes, 1001);
    cr_expect_eq(seen.old.address, block);
    cr_expect_eq(seen.block.address, block);

    moved = memspan_realloc(MEMSPAN_ALLOCATOR_LARGE_CAP, block, 300000);
    cr_assert_neq(moved, block);
    SEEN(seen, 1, 0, 2);
    cr_expect_eq(seen.old.address, block);
    cr_expect_eq(seen.old.allocator, MEMSPAN_ALLOCATOR_DEFAULT);
    cr_expect_eq(seen.block.address, moved);
    cr_expect_eq(seen.block.allocator, MEMSPAN_ALLOCATOR_LARGE_CAP);

    DONE(memspan_free(moved));
    SEEN(seen, 1, 1, 2);
    cr_expect_eq(seen.block.address, moved);
    cr_expect_eq(seen.live_bytes, 0);
    DONE(memspan_hooks_remove(hooks));
}

/* Each allocating call and each way to free is one event. */
Test(hooks, every_call)
{
    memspan_trait_t trait = {MEMSPAN_TRAIT_ALIGNMENT, 4096};
    struct seen seen      = {0};
    memspan_hooks_h hooks = watch(&seen);
    void *blocks[5];

    blocks[0] = memspan_alloc(MEMSPAN_ALLOCATOR_NULL, 10);
    blocks[1] = memspan_aligned_alloc(MEMSPAN_ALLOCATOR_NULL, 256, 20);
    blocks[2] = memspan_calloc(MEMSPAN_ALLOCATOR_NULL, 3, 10);
    blocks[3] = memspan_alloc_with(MEMSPAN_ALLOCATOR_NULL, 40, &trait, 1);
    blocks[4] = memspan_realloc(MEMSPAN_ALLOCATOR_NULL, NULL, 50);
    SEEN(seen, 5, 0, 0);
    cr_expect_eq(seen.live_bytes, 150);
    cr_expect_eq(memspan_realloc(MEMSPAN_ALLOCATOR_NULL, blocks[4], 0), NULL);
    for (int i = 0; i < 4; i++) {
        DONE(memspan_free(blocks[i]));
    }
    SEEN(seen, 5, 5, 0);
    cr_expect_eq(seen.live_bytes, 0);

    /* What is refused is no event. */
    cr_expect_eq(memspan_free(&seen), MEMSPAN_ERR_NOT_FOUND);
    cr_expect_eq(memspan_free(blocks[0]), MEMSPAN_ERR_NOT_FOUND);
    DONE(memspan_free(NULL));
    cr_expect_eq(memspan_alloc(MEMSPAN_ALLOCATOR_NULL, 0), NULL);
    SEEN(seen, 5, 5, 0);
    DONE(memspan_hooks_remove(hooks));
    DONE(memspan_free(memspan_alloc(MEMSPAN_ALLOCATOR_NULL, 10)));
    SEEN(seen, 5, 5, 0);
}

Test(hooks, chunks)
{
    enum { LARGE = 64 << 20 };
    struct seen seen      = {0};
    memspan_hooks_h hooks = watch(&seen);
    void *block           = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, LARGE);

    cr_expect_eq(seen.taken, 1);
    cr_expect_eq(seen.chunk.struct_size, sizeof(seen.chunk));
    cr_expect_str_eq(seen.chunk.backend, "host");
    cr_expect_eq(seen.chunk.device, MEMSPAN_HOST);
    cr_expect_eq(seen.chunk.kind, MEMSPAN_KIND_HOST);
    cr_expect_geq(seen.chunk.size_bytes, LARGE);
    cr_expect_geq(seen.chunk.held_bytes, seen.chunk.size_bytes);
    cr_expect_gt(seen.chunk.duration_ns, 0);
    DONE(memspan_free(block));
    (void)memspan_trim();
    cr_expect_eq(seen.giving_back, 1);
    cr_expect_geq(seen.chunk.size_bytes, LARGE);
    DONE(memspan_hooks_remove(hooks));
}

static memspan_allocator_h limited(size_t bytes, uintptr_t fallback)
{
    memspan_trait_t traits[]  = {{MEMSPAN_TRAIT_POOL_SIZE, bytes},
                                 {MEMSPAN_TRAIT_FALLBACK, fallback}};
    memspan_allocator_h small = MEMSPAN_ALLOCATOR_NULL;

    DONE(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, traits, 2, &small));
    return small;
}

Test(hooks, fallbacks_and_failures)
{
    memspan_allocator_h falls = limited(64, MEMSPAN_VALUE_DEFAULT_MEM_FB);
    memspan_allocator_h fails = limited(64, MEMSPAN_VALUE_NULL_FB);
    struct seen seen          = {0};
    memspan_hooks_h hooks     = watch(&seen);
    void *block               = memspan_alloc(falls, 1000);

    cr_expect_eq(seen.fallback, 1);
    SEEN(seen, 1, 0, 0);
    cr_expect_eq(seen.request.asked, falls);
    cr_expect_eq(seen.request.given, MEMSPAN_ALLOCATOR_DEFAULT);
    cr_expect_eq(seen.request.size_bytes, 1000);
    cr_expect_eq(seen.request.address, block);
    cr_expect_eq(seen.block.allocator, MEMSPAN_ALLOCATOR_DEFAULT);
    cr_expect_eq(seen.block.fallback, 1);
    DONE(memspan_free(block));

    REFUSED_NULL(memspan_alloc(fails, 1000), MEMSPAN_ERR_LIMIT, "pool_size");
    cr_expect_eq(seen.failed, 1);
    cr_expect_eq(seen.fallback, 1);
    SEEN(seen, 1, 1, 0);
    cr_expect_eq(seen.request.asked, fails);
    cr_expect_eq(seen.request.given, MEMSPAN_ALLOCATOR_NULL);
    cr_expect_eq(seen.request.address, NULL);
    DONE(memspan_hooks_remove(hooks));
    DONE(memspan_allocator_destroy(falls));
    DONE(memspan_allocator_destroy(fails));
}

/* Of a destroyed allocator the handle is 0. */
Test(hooks, blocks_that_outlive_their_allocator)
{
    memspan_allocator_h gone = limited(4096, MEMSPAN_VALUE_NULL_FB);
    struct seen seen         = {0};
    memspan_hooks_h hooks    = watch(&seen);
    void *block              = memspan_alloc(gone, 100);

    cr_expect_eq(seen.block.allocator, gone);
    DONE(memspan_allocator_destroy(gone));
    DONE(memspan_free(block));
    SEEN(seen, 1, 1, 0);
    cr_expect_eq(seen.block.allocator, MEMSPAN_ALLOCATOR_NULL);
    cr_expect_eq(seen.block.size_bytes, 100);
    DONE(memspan_hooks_remove(hooks));
}

/* ---- what a hook does ---- */

static void allocate_inside(void *data, const memspan_hook_block_t *block)
{
    void *own = memspan_alloc(MEMSPAN_ALLOCATOR_NULL, block->size_bytes);

    cr_expect_neq(own, NULL);
    own = memspan_realloc(MEMSPAN_ALLOCATOR_NULL, own, 2 * block->size_bytes);
    DONE(memspan_free(own));
    atomic_fetch_add((atomic_int *)data, 1);
}

Test(hooks, a_hook_that_allocates)
{
    atomic_int calls      = 0;
    memspan_hooks_t table = {.struct_size = sizeof(table),
                             .data        = &calls,
                             .allocated   = allocate_inside,
                             .freeing     = allocate_inside};
    struct seen seen      = {0};
    memspan_hooks_h first, second;
    void *block;

    DONE(memspan_hooks_add(&table, &first));
    second = watch(&seen);
    block  = memspan_alloc(MEMSPAN_ALLOCATOR_NULL, 100);
    DONE(memspan_free(block));
    cr_expect_eq(calls, 2);
    SEEN(seen, 1, 1, 0);
    DONE(memspan_hooks_remove(first));
    DONE(memspan_hooks_remove(second));
}

static void *kept;

static void enter_from_chunk_hook(void *data, const memspan_hook_chunk_t *chunk)
{
    memspan_allocator_stats_t all = {.struct_size = sizeof(all)};

    (void)chunk;
    REFUSED_NULL(memspan_alloc(MEMSPAN_ALLOCATOR_NULL, 10), MEMSPAN_ERR_CONFLICT, "hook");
    REFUSED_NULL(memspan_calloc(MEMSPAN_ALLOCATOR_NULL, 1, 10), MEMSPAN_ERR_CONFLICT, "hook");
    REFUSED_NULL(memspan_realloc(MEMSPAN_ALLOCATOR_NULL, kept, 99999), MEMSPAN_ERR_CONFLICT,
                 "hook");
    REFUSED(memspan_free(kept), MEMSPAN_ERR_CONFLICT, "hook");
    DONE(memspan_allocator_get_stats(MEMSPAN_ALLOCATOR_NULL, &all));
    cr_expect_eq(all.live_count, (uint64_t)(*(int *)data));
}

Test(hooks, a_chunk_hook_may_ask_but_not_allocate)
{
    int live              = 2; /* a block is counted before its chunk is taken */
    memspan_hooks_t table = {
        .struct_size = sizeof(table), .data = &live, .chunk_taken = enter_from_chunk_hook};
    memspan_hooks_h hooks;
    void *large;

    kept = memspan_alloc(MEMSPAN_ALLOCATOR_NULL, 100);
    DONE(memspan_hooks_add(&table, &hooks));
    large = memspan_alloc(MEMSPAN_ALLOCATOR_NULL, 64 << 20);
    cr_expect_neq(large, NULL);
    DONE(memspan_free(large));
    DONE(memspan_free(kept));
    DONE(memspan_hooks_remove(hooks));
}

static memspan_hooks_h own_name;

static void remove_self(void *data, const memspan_hook_block_t *block)
{
    (void)block;
    atomic_fetch_add((atomic_int *)data, 1);
    DONE(memspan_hooks_remove(own_name));
}

Test(hooks, a_hook_that_removes_itself)
{
    atomic_int calls      = 0;
    memspan_hooks_t table = {
        .struct_size = sizeof(table), .data = &calls, .allocated = remove_self};

    DONE(memspan_hooks_add(&table, &own_name));
    DONE(memspan_free(memspan_alloc(MEMSPAN_ALLOCATOR_NULL, 10)));
    DONE(memspan_free(memspan_alloc(MEMSPAN_ALLOCATOR_NULL, 10)));
    cr_expect_eq(calls, 1);
    REFUSED(memspan_hooks_remove(own_name), MEMSPAN_ERR_NOT_FOUND, "hooks");
}

/* ---- threads ---- */

enum { THREADS = 3, ROUNDS = 2000 };

static void *churn(void *unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        void *block = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, (size_t)(i % 700) + 1);

        block = memspan_realloc(MEMSPAN_ALLOCATOR_NULL, block, (size_t)(i % 1100) + 1);
        memspan_free(block);
    }
    return NULL;
}

static void count_allocated(void *data, const memspan_hook_block_t *block)
{
    struct seen *seen = data;

    atomic_fetch_add(&seen->allocated, 1);
    atomic_fetch_add(&seen->live_bytes, block->size_bytes);
}

static void count_freeing(void *data, const memspan_hook_block_t *block)
{
    struct seen *seen = data;

    atomic_fetch_add(&seen->freeing, 1);
    atomic_fetch_sub(&seen->live_bytes, block->size_bytes);
}

static void count_reallocated(void *data, const memspan_hook_block_t *old,
                              const memspan_hook_block_t *block)
{
    struct seen *seen = data;

    atomic_fetch_add(&seen->reallocated, 1);
    atomic_fetch_add(&seen->live_bytes, block->size_bytes - old->size_bytes);
}

static memspan_hooks_t counting(struct seen *seen)
{
    return (memspan_hooks_t){.struct_size = sizeof(memspan_hooks_t),
                             .data        = seen,
                             .allocated   = count_allocated,
                             .freeing     = count_freeing,
                             .reallocated = count_reallocated};
}

Test(hooks, threads_are_counted_exactly)
{
    struct seen seen      = {0};
    memspan_hooks_t table = counting(&seen);
    pthread_t threads[THREADS];
    memspan_hooks_h hooks;

    DONE(memspan_hooks_add(&table, &hooks));
    for (int i = 0; i < THREADS; i++) {
        cr_assert_eq(pthread_create(&threads[i], NULL, churn, NULL), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    SEEN(seen, THREADS * ROUNDS, THREADS * ROUNDS, THREADS * ROUNDS);
    cr_expect_eq(seen.live_bytes, 0);
    DONE(memspan_hooks_remove(hooks));
}

/* The data is freed as soon as remove() returns, while other threads allocate. */
Test(hooks, no_thread_is_inside_after_removal)
{
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++) {
        cr_assert_eq(pthread_create(&threads[i], NULL, churn, NULL), 0);
    }
    for (int i = 0; i < 200; i++) {
        struct seen *seen     = calloc(1, sizeof(*seen));
        memspan_hooks_t table = counting(seen);
        memspan_hooks_h hooks;

        DONE(memspan_hooks_add(&table, &hooks));
        sched_yield();
        DONE(memspan_hooks_remove(hooks));
        memset(seen, 0xff, sizeof(*seen));
        for (size_t c = 0; c < 20; c++) {
            cr_assert_eq(atomic_load(&seen->allocated), -1, "a hook ran after its removal");
        }
        free(seen);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
}

static atomic_bool entered, leave;

static void dawdle(void *data, const memspan_hook_block_t *block)
{
    (void)data;
    (void)block;
    atomic_store(&entered, true);
    while (!atomic_load(&leave)) {
        sched_yield();
    }
}

static void *allocate_once(void *unused)
{
    (void)unused;
    memspan_free(memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, 10));
    return NULL;
}

static void *let_go(void *unused)
{
    (void)unused;
    usleep(50000);
    atomic_store(&leave, true);
    return NULL;
}

Test(hooks, removal_waits_for_a_hook_that_runs)
{
    memspan_hooks_t table = {.struct_size = sizeof(table), .allocated = dawdle};
    memspan_hooks_h hooks;
    pthread_t in, out;

    DONE(memspan_hooks_add(&table, &hooks));
    cr_assert_eq(pthread_create(&in, NULL, allocate_once, NULL), 0);
    while (!atomic_load(&entered)) {
        sched_yield();
    }
    cr_assert_eq(pthread_create(&out, NULL, let_go, NULL), 0);
    DONE(memspan_hooks_remove(hooks));
    cr_expect(atomic_load(&leave), "remove() did not wait");
    pthread_join(in, NULL);
    pthread_join(out, NULL);
}

/* In a child, a hook that another thread of the parent was in does not hold up the removal. */
Test(hooks, a_child_keeps_the_hooks, .timeout = 30)
{
    memspan_hooks_t table = {.struct_size = sizeof(table), .allocated = dawdle};
    struct seen seen      = {0};
    memspan_hooks_h slow, hooks;
    pthread_t in;
    int status = -1;
    pid_t child;

    DONE(memspan_hooks_add(&table, &slow));
    cr_assert_eq(pthread_create(&in, NULL, allocate_once, NULL), 0);
    while (!atomic_load(&entered)) {
        sched_yield();
    }
    hooks = watch(&seen);
    child = fork();
    if (child == 0) {
        alarm(10);
        if (memspan_hooks_remove(slow) != MEMSPAN_OK) {
            _exit(2);
        }
        memspan_free(memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, 10));
        _exit(((seen.allocated == 1) && (seen.freeing == 1)) ? 0 : 3);
    }
    cr_assert_gt(child, 0);
    waitpid(child, &status, 0);
    cr_expect(WIFEXITED(status) && (WEXITSTATUS(status) == 0), "status 0x%x", (unsigned)status);
    atomic_store(&leave, true);
    pthread_join(in, NULL);
    DONE(memspan_hooks_remove(slow));
    DONE(memspan_hooks_remove(hooks));
}

/* ---- bad input ---- */

Test(hooks, tables_that_are_none)
{
    struct {
        memspan_hooks_t known;
        void *unknown;
    } newer                   = {.known = {.struct_size = sizeof(newer), .failed = on_failed}};
    memspan_hooks_t table     = {.struct_size = sizeof(table), .failed = on_failed};
    memspan_hooks_h hooks     = NULL;
    memspan_hooks_h many[100] = {0};
    int n;

    REFUSED(memspan_hooks_add(NULL, &hooks), MEMSPAN_ERR_INVALID, "NULL");
    REFUSED(memspan_hooks_add(&table, NULL), MEMSPAN_ERR_INVALID, "NULL");
    table.struct_size = 0;
    REFUSED(memspan_hooks_add(&table, &hooks), MEMSPAN_ERR_INVALID, "struct_size");
    table.struct_size = offsetof(memspan_hooks_t, failed); /* an older table: failed is unknown */
    REFUSED(memspan_hooks_add(&table, &hooks), MEMSPAN_ERR_INVALID, "no hook");
    table = (memspan_hooks_t){.struct_size = sizeof(table)};
    REFUSED(memspan_hooks_add(&table, &hooks), MEMSPAN_ERR_INVALID, "no hook");
    DONE(memspan_hooks_add(&newer.known, &hooks));
    DONE(memspan_hooks_remove(hooks));
    newer.unknown = &newer;
    REFUSED(memspan_hooks_add(&newer.known, &hooks), MEMSPAN_ERR_UNSUPPORTED, "know");

    table.failed = on_failed;
    for (n = 0; n < 100 && (memspan_hooks_add(&table, &many[n]) == MEMSPAN_OK); n++) {
    }
    cr_expect_eq(n, 16);
    REFUSED(memspan_hooks_add(&table, &hooks), MEMSPAN_ERR_LIMIT, "16");
    while (--n >= 0) {
        DONE(memspan_hooks_remove(many[n]));
    }
}

Test(hooks, names_that_are_none)
{
    struct seen seen                 = {0};
    memspan_hooks_h hooks            = watch(&seen);
    static const uintptr_t made_up[] = {
        0, 1, 0xff, UINTPTR_MAX, 0x4d53480000000000, 0x4d53410000000000};

    for (size_t i = 0; i < sizeof(made_up) / sizeof(*made_up); i++) {
        REFUSED(memspan_hooks_remove((memspan_hooks_h)made_up[i]), MEMSPAN_ERR_NOT_FOUND, "hooks");
    }
    for (uintptr_t bit = 1; bit != 0; bit <<= 1) {
        memspan_hooks_h other = (memspan_hooks_h)((uintptr_t)hooks ^ bit);
        REFUSED(memspan_hooks_remove(other), MEMSPAN_ERR_NOT_FOUND, "hooks");
    }
    DONE(memspan_hooks_remove(hooks));
    REFUSED(memspan_hooks_remove(hooks), MEMSPAN_ERR_NOT_FOUND, "hooks");
    cr_expect_neq(watch(&seen), hooks, "a name was used again");
}
