/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of guarded blocks, against a plain array. */

#include "core/debug/guard_report.h"
#include <criterion/criterion.h>
#include <stdlib.h>

enum { PLACES = 500, PLACE_BYTES = 256 };

static struct msp_guard_block *at[PLACES];

static unsigned char *address_of(size_t place)
{
    return (unsigned char *)(uintptr_t)(0x100000 + place * PLACE_BYTES);
}

static void enter(size_t place, size_t bytes)
{
    at[place] = msp_guard_table_new();
    cr_assert_not_null(at[place]);
    at[place]->zone.raw       = address_of(place);
    at[place]->zone.raw_bytes = bytes;
    msp_guard_table_insert(at[place]);
}

static void leave(size_t place)
{
    msp_guard_table_remove(at[place]);
    msp_guard_table_drop(at[place]);
    at[place] = NULL;
}

static void expect_as_the_array(void)
{
    const struct msp_guard_block *below = NULL;
    const struct msp_guard_block *walk  = msp_guard_table_above(NULL);
    size_t i;

    for (i = 0; i < PLACES; i++) {
        if (at[i] != NULL) {
            cr_assert_eq(walk, at[i], "the walk misses place %zu", i);
            walk  = msp_guard_table_above(walk->zone.raw);
            below = at[i];
            cr_assert_eq(msp_guard_table_find(address_of(i) + at[i]->zone.raw_bytes - 1), at[i]);
        }
        cr_assert_eq(msp_guard_table_find(address_of(i)), at[i], "place %zu", i);
        cr_assert_eq(msp_guard_table_below(address_of(i) + PLACE_BYTES - 1), below);
    }
    cr_assert_null(walk);
}

Test(guard_table, holds_what_an_array_holds)
{
    size_t step;

    srand(7);
    for (step = 0; step < 20000; step++) {
        size_t place = (size_t)rand() % PLACES;

        if (at[place] == NULL) {
            enter(place, 1 + (size_t)rand() % PLACE_BYTES);
        } else {
            leave(place);
        }
        if (step % 500 == 0) {
            expect_as_the_array();
        }
    }
    expect_as_the_array();
}

Test(guard_table, what_lies_behind_a_block_is_not_in_it)
{
    enter(3, 100);
    cr_expect_eq(msp_guard_table_find(address_of(3) + 99), at[3]);
    cr_expect_null(msp_guard_table_find(address_of(3) + 100));
    cr_expect_null(msp_guard_table_find(address_of(3) - 1));
    cr_expect_eq(msp_guard_table_below(address_of(9)), at[3]);
    cr_expect_null(msp_guard_table_below(address_of(2)));
}

/* A walk of as many steps as there are blocks would be seen here: 200,000 in order. */
Test(guard_table, stays_flat_when_addresses_come_in_order, .timeout = 20)
{
    enum { BLOCKS = 200000 };
    uintptr_t i;

    for (i = 1; i <= BLOCKS; i++) {
        struct msp_guard_block *block = msp_guard_table_new();

        cr_assert_not_null(block);
        block->zone.raw       = (unsigned char *)(i << 12);
        block->zone.raw_bytes = 4096;
        msp_guard_table_insert(block);
    }
    for (i = 1; i <= BLOCKS; i++) {
        cr_assert_not_null(msp_guard_table_find((void *)((i << 12) + 5)));
    }
}
