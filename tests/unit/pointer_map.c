/* SPDX-License-Identifier: BSD-3-Clause */
/* The pointer map alone, with addresses that nobody has to have mapped. */

#include "core/pointer_map.h"
#include <criterion/criterion.h>

/* The map never looks into a chunk. */
static struct memspan_chunk *chunk(uintptr_t n)
{
    return (struct memspan_chunk *)(n << 6);
}

static void *at(uintptr_t granule)
{
    return (void *)(granule << MEMSPAN_GRANULE_SHIFT);
}

Test(pointer_map, finds_what_was_entered_and_nothing_beside_it)
{
    char *base = at(0x12345);

    cr_assert(memspan_map_insert(base, 3 * MEMSPAN_GRANULE_BYTES, chunk(1)));
    cr_expect_eq(memspan_map_find(base), chunk(1));
    cr_expect_eq(memspan_map_find(base + 3 * MEMSPAN_GRANULE_BYTES - 1), chunk(1));
    cr_expect_null(memspan_map_find(base - 1));
    cr_expect_null(memspan_map_find(base + 3 * MEMSPAN_GRANULE_BYTES));
    memspan_map_remove(base, 3 * MEMSPAN_GRANULE_BYTES);
    cr_expect_null(memspan_map_find(base));
}

Test(pointer_map, spans_leaves)
{
    char *base = at((uintptr_t)5 << MEMSPAN_LEAF_SHIFT);

    cr_assert(
        memspan_map_insert(base - MEMSPAN_GRANULE_BYTES, 2 * MEMSPAN_GRANULE_BYTES, chunk(2)));
    cr_expect_eq(memspan_map_find(base - 1), chunk(2));
    cr_expect_eq(memspan_map_find(base), chunk(2));
}

Test(pointer_map, a_taken_granule_changes_nothing)
{
    char *base = at(0x777);

    cr_assert(memspan_map_insert(base + 2 * MEMSPAN_GRANULE_BYTES, 1, chunk(3)));
    cr_expect_not(memspan_map_insert(base, 4 * MEMSPAN_GRANULE_BYTES, chunk(4)));
    cr_expect_null(memspan_map_find(base), "what was entered before the taken granule stayed");
    cr_expect_null(memspan_map_find(base + MEMSPAN_GRANULE_BYTES));
    cr_expect_eq(memspan_map_find(base + 2 * MEMSPAN_GRANULE_BYTES), chunk(3));
    cr_expect_null(memspan_map_find(base + 3 * MEMSPAN_GRANULE_BYTES));
}

Test(pointer_map, refuses_what_it_cannot_hold)
{
    cr_expect_not(memspan_map_insert((char *)at(1) + 64, 100, chunk(5)), "not on a boundary");
    cr_expect_not(memspan_map_insert(at(1), 0, chunk(5)), "nothing");
    cr_expect_not(memspan_map_insert(at(1), SIZE_MAX, chunk(5)), "more than there are addresses");
    cr_expect_not(memspan_map_insert(at((uintptr_t)1 << 32), 1, chunk(5)), "beyond 48 bits");
    cr_expect_null(memspan_map_find(at(1)));
    cr_expect_null(memspan_map_find((void *)UINTPTR_MAX));
    cr_expect_null(memspan_map_find(NULL));
}
