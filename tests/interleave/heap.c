/* SPDX-License-Identifier: BSD-3-Clause */
/* heap.c: blocks that one thread allocates and another frees, threads and allocators that end
 * meanwhile. Whatever the order: accounts add up, and every block is whole. */

#include "scenario.h"
#include <memspan/memspan.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 2000, FIRST_BLOCKS = 100 };

static memspan_allocator_h allocator;
static void *shared[4];

static void *take(size_t size_bytes)
{
    void *block = memspan_alloc(allocator, size_bytes);

    EXPECT(block != NULL);
    return block;
}

static void release(void *block)
{
    EXPECT(memspan_free(block) == MEMSPAN_OK);
}

/* An allocator whose blocks come from heaps, and blocks of it. */
static void set_up(memspan_allocator_h made)
{
    void *first[FIRST_BLOCKS];
    int i;

    allocator = made;
    for (i = 0; i < FIRST_BLOCKS; i++) {
        first[i] = take(SIZE);
    }
    for (i = 0; i < FIRST_BLOCKS; i++) {
        release(first[i]);
    }
    for (i = 0; i < 4; i++) {
        shared[i] = take(SIZE);
    }
}

static void use_default(void)
{
    set_up(MEMSPAN_ALLOCATOR_DEFAULT);
}

static void make_allocator(size_t blocks)
{
    const memspan_trait_t traits[] = {{MEMSPAN_TRAIT_POOL_SIZE, blocks},
                                      {MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB}};
    memspan_allocator_h made       = MEMSPAN_ALLOCATOR_NULL;

    EXPECT(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, traits, 2, &made) == MEMSPAN_OK);
    allocator = made;
}

static void use_limit(size_t blocks)
{
    make_allocator(blocks);
    set_up(allocator);
}

/* Nothing was taken from it. */
static void use_new(void)
{
    make_allocator(1 << 20);
}

static void use_own(void)
{
    use_limit(1 << 20);
}

static atomic_int given;

/* Of pool_size there is as much left as one block takes. */
static void use_full(void)
{
    use_limit(250000);
    while (memspan_alloc(allocator, SIZE) != NULL) {
    }
    release(shared[0]);
}

static uint64_t live_count(void)
{
    memspan_allocator_stats_t stats = {.struct_size = sizeof stats};

    EXPECT(memspan_allocator_get_stats(allocator, &stats) == MEMSPAN_OK);
    return stats.live_count;
}

static void add_up(void)
{
    EXPECT(memspan_check() == MEMSPAN_OK);
}

/* ---- threads ---- */

static void pair(void)
{
    release(take(SIZE));
}

static void free_0(void)
{
    release(shared[0]);
}

static void free_1(void)
{
    release(shared[1]);
}

static void destroy(void)
{
    EXPECT(memspan_allocator_destroy(allocator) == MEMSPAN_OK);
}

static void use_maybe(void)
{
    void *block = memspan_alloc(allocator, SIZE);

    if (block != NULL) {
        release(block);
    }
}

static void try_one(void)
{
    if (memspan_alloc(allocator, SIZE) != NULL) {
        atomic_fetch_add(&given, 1);
    }
}

/* None of the two has more than there is, and not both are refused. */
static void one_was_given(void)
{
    EXPECT(atomic_load(&given) == 1);
    add_up();
}

/* What the caller returns first is its own to take: both have one. */
static void take_of_another(void)
{
    release(shared[1]);
    try_one();
}

static void both_were_given(void)
{
    EXPECT(atomic_load(&given) == 2);
    add_up();
}

static void free_all_four(void)
{
    int i;

    for (i = 0; i < 4; i++) {
        release(shared[i]);
    }
}

static void count(void)
{
    EXPECT(live_count() <= 6);
}

/* Medium blocks: one thread takes and frees the same again and again, and hands one on. */
enum { MEDIUM = 20000 };

static _Atomic(void *) handed_on;

static void hand_on(void)
{
    int i;

    for (i = 0; i < 4; i++) {
        release(take(MEDIUM));
    }
    atomic_store(&handed_on, take(MEDIUM));
    release(take(MEDIUM));
    release(atomic_exchange(&handed_on, NULL));
    release(take(MEDIUM - 3000));
}

static void free_handed_on(void)
{
    release(atomic_exchange(&handed_on, NULL));
    release(take(MEDIUM - 3000));
}

static void medium_maybe(void)
{
    int i;

    for (i = 0; i < 4; i++) {
        void *block = memspan_alloc(allocator, MEDIUM);

        if (block != NULL) {
            release(block);
        }
    }
}

static void trim(void)
{
    memspan_trim();
}

/* The child has no thread that would give back a lock, or end a section. */
static void fork_and_use(void)
{
    int status  = 1;
    pid_t child = fork();

    if (child == 0) {
        void *block = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, SIZE);

        EXPECT(block != NULL);
        release(block);
        use_maybe();
        add_up();
        _exit(0);
    }
    EXPECT(waitpid(child, &status, 0) == child);
    EXPECT(status == 0);
}

/* The thread keeps a spare one, and ends with it. */
static void make_and_destroy(void)
{
    memspan_allocator_h made = MEMSPAN_ALLOCATOR_NULL;

    EXPECT(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, NULL, 0, &made) == MEMSPAN_OK);
    EXPECT(memspan_allocator_destroy(made) == MEMSPAN_OK);
}

static void reclaim(void)
{
    (void)memspan_trim();
}

static void pair_and_end(void)
{
    pair();
    free_1();
}

#define CHILD "a child can allocate and free, and its accounts add up"
#define WHOLE "memory goes back that no block is in"

static const struct scenario scenarios[] = {
    {"pairs", "accounts add up", use_default, {pair, pair}, add_up, 0, false, NULL},
    {"free-elsewhere", "accounts add up", use_default, {free_0, pair}, add_up, 0, false, NULL},
    {"free-two-elsewhere",
     "accounts add up",
     use_default,
     {free_0, free_1},
     add_up,
     0,
     false,
     NULL},
    {"destroy-free",
     "the allocator ends with its last block",
     use_own,
     {destroy, free_all_four},
     add_up,
     0,
     false,
     NULL},
    {"destroy-use",
     "a block of an ended allocator is whole",
     use_own,
     {destroy, use_maybe},
     add_up,
     0,
     false,
     NULL},
    {"last-of-a-limit",
     "one of two is refused",
     use_full,
     {try_one, try_one},
     one_was_given,
     0,
     false,
     NULL},
    {"free-at-a-limit",
     "none of two is refused",
     use_full,
     {try_one, take_of_another},
     both_were_given,
     0,
     false,
     NULL},
    {"medium-elsewhere",
     "accounts add up",
     use_default,
     {hand_on, free_handed_on},
     add_up,
     0,
     false,
     NULL},
    {"medium-trim", "accounts add up", use_own, {hand_on, trim}, add_up, 0, false, NULL},
    {"medium-destroy",
     "a block of an ended allocator is whole",
     use_own,
     {destroy, medium_maybe},
     add_up,
     0,
     false,
     NULL},
    {"first-blocks", "accounts add up", use_new, {pair, pair}, add_up, 0, false, NULL},
    {"destroy-first",
     "a block of an ended allocator is whole",
     use_new,
     {destroy, use_maybe},
     add_up,
     0,
     false,
     NULL},
    {"fork-pair", CHILD, use_default, {fork_and_use, pair}, add_up, 0, false, NULL},
    {"fork-free", CHILD, use_default, {fork_and_use, free_0}, add_up, 0, false, NULL},
    {"fork-reclaim", CHILD, use_default, {fork_and_use, reclaim}, add_up, 0, false, NULL},
    {"fork-spare", CHILD, use_default, {fork_and_use, make_and_destroy}, add_up, 0, false, NULL},
    {"fork-destroy", CHILD, use_own, {fork_and_use, destroy}, NULL, 0, false, NULL},
    {"reclaim-pair", WHOLE, use_default, {reclaim, pair_and_end}, add_up, 0, false, NULL},
    {"reclaim-free", WHOLE, use_default, {reclaim, free_0, pair}, add_up, 0, false, NULL},
    {"reclaim-reclaim", WHOLE, use_default, {reclaim, reclaim, free_1}, add_up, 0, false, NULL},
    {"count-free", "a query sees what lives", use_own, {count, free_0}, add_up, 0, false, NULL},
};
SCENARIO_TABLE(scenarios)
