/* SPDX-License-Identifier: BSD-3-Clause */
/* records.c: records that others read without a lock while they are made, ended and used again:
 * allocators, the pointer map; and calls of a library that ends. */

#include "core/base/calls.h"
#include "core/engine/pointer_map.h"
#include "scenario.h"
#include <memspan/memspan.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

/* ---- allocators ---- */

enum { SIZE = 4000 };

static memspan_allocator_h old;
static _Atomic(memspan_allocator_h) published;

static memspan_allocator_h make(size_t limit_bytes)
{
    const memspan_trait_t traits[] = {{MEMSPAN_TRAIT_POOL_SIZE, limit_bytes},
                                      {MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB}};
    memspan_allocator_h made       = MEMSPAN_ALLOCATOR_NULL;

    EXPECT(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, traits, 2, &made) == MEMSPAN_OK);
    return made;
}

static void make_old(void)
{
    old = make(1 << 20);
}

static void make_ended(void)
{
    make_old();
    EXPECT(memspan_allocator_destroy(old) == MEMSPAN_OK);
}

/* The record is used again, by an allocator from which nothing can be had. */
static void replace(void)
{
    memspan_allocator_h made;

    EXPECT(memspan_allocator_destroy(old) == MEMSPAN_OK);
    made = make(16);
    EXPECT(memspan_alloc(made, SIZE) == NULL);
    EXPECT(memspan_allocator_destroy(made) == MEMSPAN_OK);
}

/* What the old handle gives is of the old allocator. */
static void use_old(void)
{
    void *block = memspan_alloc(old, SIZE);

    if (block != NULL) {
        EXPECT(memspan_free(block) == MEMSPAN_OK);
    }
}

static void ask_old(void)
{
    memspan_allocator_stats_t stats = {.struct_size = sizeof stats};

    (void)memspan_allocator_get_stats(old, &stats);
}

/* Both at once: one of them ends it. */
static void destroy_old(void)
{
    (void)memspan_allocator_destroy(old);
}

static void publish(void)
{
    atomic_store_explicit(&published, make(1 << 20), memory_order_release);
}

static void use_ended(void)
{
    EXPECT(memspan_alloc(old, SIZE) == NULL);
}

static void use_published(void)
{
    memspan_allocator_h made = atomic_load_explicit(&published, memory_order_acquire);

    if (made != MEMSPAN_ALLOCATOR_NULL) {
        void *block = memspan_alloc(made, SIZE);

        EXPECT(block != NULL);
        EXPECT(memspan_free(block) == MEMSPAN_OK);
    }
}

static void add_up(void)
{
    EXPECT(memspan_check() == MEMSPAN_OK);
}

/* ---- the pointer map ---- */

/* One at a low address, one whose root is made first. */
#define LOW  ((char *)UINT64_C(0x0000123400000000))
#define HIGH ((char *)UINT64_C(0x00f1234500000000))

static struct record {
    _Alignas(32) char *start;
} records[3];

static void insert(char *address, unsigned i)
{
    records[i].start = address;
    EXPECT(msp_map_insert(address, MSP_GRANULE_BYTES, msp_map_entry(&records[i], 0, 0)));
}

/* There are a root and a leaf for the low addresses: their orders would hide that of entries. */
static void insert_beside(void)
{
    insert(LOW + MSP_GRANULE_BYTES, 2);
}

static void insert_both(void)
{
    insert(LOW, 0);
    insert(HIGH, 1);
}

static void find(char *address)
{
    uintptr_t entry = msp_map_find(address);

    if (entry != 0) {
        struct record *record = msp_entry_record(entry);

        EXPECT((record->start == LOW) || (record->start == HIGH));
    }
}

static void find_low(void)
{
    find(LOW);
}

static void find_high(void)
{
    find(HIGH);
}

/* The granule is given to another record. */
static void insert_again(void)
{
    insert(LOW, 0);
    msp_map_remove(LOW, MSP_GRANULE_BYTES);
    EXPECT(msp_map_find(LOW) == 0);
}

/* ---- calls of a library, and exit ---- */

static struct msp_calls calls;
static int library; /* its state; the destructor ends it */

static void end_library(int status, void *argument)
{
    (void)status;
    (void)argument;
    library = 0;
}

static void watch_library(void)
{
    library = 1;
    (void)on_exit(end_library, NULL); /* its own; ours runs before */
    msp_calls_watch_exit(&calls);
}

static void call_library(void)
{
    int i;

    for (i = 0; i < 2; i++) {
        if (msp_calls_begin(&calls)) {
            EXPECT(library == 1);
            library = 1;
            msp_calls_end(&calls);
        }
    }
}

static void end_process(void)
{
    exit(0);
}

static const struct scenario scenarios[] = {
    {"allocator-reuse",
     "an old handle gives nothing of a new allocator",
     make_old,
     {replace, use_old},
     add_up,
     0,
     false,
     NULL},
    {"allocator-query",
     "a query of an allocator that ends is whole",
     make_old,
     {replace, ask_old},
     add_up,
     0,
     false,
     NULL},
    {"allocator-destroy-twice",
     "an allocator ends once",
     make_old,
     {destroy_old, destroy_old, use_old},
     add_up,
     0,
     false,
     NULL},
    {"allocator-publish",
     "who has the handle can use it",
     make_ended,
     {publish, use_published, use_ended},
     add_up,
     0,
     false,
     NULL},
    {"map-insert",
     "who finds an entry sees its record",
     insert_beside,
     {insert_both, find_low, find_high},
     NULL,
     0,
     false,
     NULL},
    {"map-first",
     "who finds an entry sees its record",
     NULL,
     {insert_both, find_low, find_high},
     NULL,
     0,
     false,
     NULL},
    {"map-remove",
     "an entry is there or not",
     insert_beside,
     {insert_again, find_low},
     NULL,
     0,
     false,
     NULL},
    {"calls-exit",
     "no call is under way when the library ends",
     watch_library,
     {call_library, end_process},
     NULL,
     0,
     false,
     NULL},
};
SCENARIO_TABLE(scenarios)
