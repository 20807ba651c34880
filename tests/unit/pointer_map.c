/* SPDX-License-Identifier: BSD-3-Clause */
/* The pointer map alone, with addresses that nobody has to have mapped. */

#include "core/pointer_map.h"
#include <criterion/criterion.h>

/* The map never looks into what it leads to. */
static uintptr_t chunk(uintptr_t n)
{
    return memspan_map_entry((void *)(n << 6), MEMSPAN_KIND_MANAGED, 0);
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
    cr_expect_eq(memspan_map_find(base - 1), 0);
    cr_expect_eq(memspan_map_find(base + 3 * MEMSPAN_GRANULE_BYTES), 0);
    memspan_map_remove(base, 3 * MEMSPAN_GRANULE_BYTES);
    cr_expect_eq(memspan_map_find(base), 0);
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
    cr_expect_eq(memspan_map_find(base), 0, "what was entered before the taken granule stayed");
    cr_expect_eq(memspan_map_find(base + MEMSPAN_GRANULE_BYTES), 0);
    cr_expect_eq(memspan_map_find(base + 2 * MEMSPAN_GRANULE_BYTES),
                 chunk(3) | MEMSPAN_ENTRY_PARTIAL);
    cr_expect_eq(memspan_map_find(base + 3 * MEMSPAN_GRANULE_BYTES), 0);
}

Test(pointer_map, an_entry_keeps_its_kind_and_its_record)
{
    uintptr_t entry = memspan_map_entry(at(9), MEMSPAN_KIND_DEVICE, MEMSPAN_ENTRY_SLAB);

    cr_assert(memspan_map_insert(at(0x888), 2 * MEMSPAN_GRANULE_BYTES, chunk(6)));
    memspan_map_replace(at(0x889), MEMSPAN_GRANULE_BYTES, entry);
    cr_expect_eq(memspan_map_find(at(0x888)), chunk(6));
    cr_expect_eq(memspan_map_find(at(0x889)), entry);
    cr_expect_eq(memspan_entry_record(entry), at(9));
    cr_expect_eq(memspan_entry_kind(entry), MEMSPAN_KIND_DEVICE);
    cr_expect_eq(memspan_entry_kind(chunk(6)), MEMSPAN_KIND_MANAGED);
}

Test(pointer_map, refuses_what_it_cannot_hold)
{
    cr_expect_not(memspan_map_insert((char *)at(1) + 64, 100, chunk(5)), "not on a boundary");
    cr_expect_not(memspan_map_insert(at(1), 0, chunk(5)), "nothing");
    cr_expect_not(memspan_map_insert(at(1), SIZE_MAX, chunk(5)), "more than there are addresses");
    cr_expect_not(memspan_map_insert(at((uintptr_t)1 << 32), 1, chunk(5)), "beyond 48 bits");
    cr_expect_eq(memspan_map_find(at(1)), 0);
    cr_expect_eq(memspan_map_find((void *)UINTPTR_MAX), 0);
    cr_expect_eq(memspan_map_find(NULL), 0);
}
