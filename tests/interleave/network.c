/* SPDX-License-Identifier: BSD-3-Clause */
/* network.c: records of requests, which threads take from a list without a lock. */

#include "scenario.h"
#include "shmem/network/record.h"
#include <sched.h>
#include <stddef.h>

static struct msp_network_record *asked;
static uint32_t number;

static struct msp_network_record *take(int pe)
{
    return msp_network_record_take("shmem_getmem", pe, NULL, 8);
}

/* A chunk of records, of which some have been used. */
static void make_some(void)
{
    struct msp_network_record *first  = take(1);
    struct msp_network_record *second = take(1);

    msp_network_record_give(first);
    msp_network_record_give(second);
}

static void use(int pe)
{
    struct msp_network_record *record = take(pe);

    /* Another thread that has the same record writes there too. */
    EXPECT(record->pe == pe);
    record->size_bytes = (uint64_t)pe;
    msp_network_record_give(record);
}

static void use_twice(void)
{
    use(1);
    use(2);
}

/* The list's first one goes, and comes back with another behind it. */
static void use_two(void)
{
    struct msp_network_record *first  = take(3);
    struct msp_network_record *second = take(4);

    EXPECT(first != second);
    msp_network_record_give(first);
    msp_network_record_give(second);
}

static void ask_one(void)
{
    make_some();
    asked  = take(5);
    number = msp_network_record_ask(asked);
}

/* The reply comes, and once more. */
static void reply_twice(void)
{
    struct msp_network_record *found = msp_network_record_find(number, 5, 0, 8);

    EXPECT(found == asked);
    found->size_bytes = 0; /* handled */
    atomic_fetch_sub_explicit(&found->left, 1, memory_order_release);
    EXPECT(msp_network_record_find(number, 5, 0, 8) == NULL);
}

/* The caller waits for it, and the record is used again. */
static void await(void)
{
    while (atomic_load_explicit(&asked->left, memory_order_acquire) != 0) {
        sched_yield();
    }
    EXPECT(asked->size_bytes == 0);
    msp_network_record_give(asked);
    use(6);
}

#define ALONE "each record has one user"

static const struct scenario scenarios[] = {
    {"record-two", ALONE, make_some, {use_twice, use_two}, NULL, 3, false, NULL},
    {"record-three", ALONE, make_some, {use_twice, use_twice, use_two}, NULL, 0, false, NULL},
    {"record-grow", ALONE, NULL, {use_two, use_two}, NULL, 0, false, NULL},
    {"record-reply", "a reply is taken once", ask_one, {reply_twice, await}, NULL, 0, false, NULL},
};
SCENARIO_TABLE(scenarios)
