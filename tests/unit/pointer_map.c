/* SPDX-License-Identifier: BSD-3-Clause */
/* The pointer map alone, with addresses that need not be mapped. */

#include "core/engine/pointer_map.h"
#include <criterion/criterion.h>

/* The map never looks into what it leads to. */
static uintptr_t chunk(uintptr_t n)
{
    return msp_map_entry((void *)(n << 6), MEMSPAN_KIND_MANAGED, 0);
}

static void *at(uintptr_t granule)
{
    return (void *)(granule << MSP_GRANULE_SHIFT);
}

Test(pointer_map, finds_what_was_entered_and_nothing_beside_it)
{
    char *base = at(0x12345);

    cr_assert(msp_map_insert(base, 3 * MSP_GRANULE_BYTES, chunk(1)));
    cr_expect_eq(msp_map_find(base), chunk(1));
    cr_expect_eq(msp_map_find(base + 3 * MSP_GRANULE_BYTES - 1), chunk(1));
    cr_expect_eq(msp_map_find(base - 1), 0);
    cr_expect_eq(msp_map_find(base + 3 * MSP_GRANULE_BYTES), 0);
    msp_map_remove(base, 3 * MSP_GRANULE_BYTES);
    cr_expect_eq(msp_map_find(base), 0);
}

Test(pointer_map, spans_leaves)
{
    char *base = at((uintptr_t)5 << MSP_LEAF_SHIFT);

    cr_assert(msp_map_insert(base - MSP_GRANULE_BYTES, 2 * MSP_GRANULE_BYTES, chunk(2)));
    cr_expect_eq(msp_map_find(base - 1), chunk(2));
    cr_expect_eq(msp_map_find(base), chunk(2));
}

Test(pointer_map, a_taken_granule_changes_nothing)
{
    char *base = at(0x777);

    cr_assert(msp_map_insert(base + 2 * MSP_GRANULE_BYTES, 1, chunk(3)));
    cr_expect_not(msp_map_insert(base, 4 * MSP_GRANULE_BYTES, chunk(4)));
    cr_expect_eq(msp_map_find(base), 0, "what was entered before the taken granule stayed");
    cr_expect_eq(msp_map_find(base + MSP_GRANULE_BYTES), 0);
    cr_expect_eq(msp_map_find(base + 2 * MSP_GRANULE_BYTES), chunk(3) | MSP_ENTRY_PARTIAL);
    cr_expect_eq(msp_map_find(base + 3 * MSP_GRANULE_BYTES), 0);
}

Test(pointer_map, an_entry_keeps_its_kind_and_its_record)
{
    uintptr_t entry = msp_map_entry(at(9), MEMSPAN_KIND_DEVICE, MSP_ENTRY_SLAB);

    cr_assert(msp_map_insert(at(0x888), 2 * MSP_GRANULE_BYTES, chunk(6)));
    msp_map_replace(at(0x889), MSP_GRANULE_BYTES, entry);
    cr_expect_eq(msp_map_find(at(0x888)), chunk(6));
    cr_expect_eq(msp_map_find(at(0x889)), entry);
    cr_expect_eq(msp_entry_record(entry), at(9));
    cr_expect_eq(msp_entry_kind(entry), MEMSPAN_KIND_DEVICE);
    cr_expect_eq(msp_entry_kind(chunk(6)), MEMSPAN_KIND_MANAGED);
}

Test(pointer_map, refuses_what_it_cannot_hold)
{
    cr_expect_not(msp_map_insert((char *)at(1) + 64, 100, chunk(5)), "not on a boundary");
    cr_expect_not(msp_map_insert(at(1), 0, chunk(5)), "nothing");
    cr_expect_not(msp_map_insert(at(1), SIZE_MAX, chunk(5)), "more than there are addresses");
    cr_expect_not(msp_map_insert((void *)(UINTPTR_MAX - 0xffff), 0x20000, chunk(5)), "wraps");
    cr_expect_eq(msp_map_find(at(1)), 0);
    cr_expect_eq(msp_map_find((void *)UINTPTR_MAX), 0);
    cr_expect_eq(msp_map_find(NULL), 0);
}

/* Addresses of drivers and kernels above 2^48: five levels of page tables, Intel's DG2 and PVC. */
static const uintptr_t high[] = {UINT64_C(0x0001000000000000), UINT64_C(0x00ab123456780000),
                                 UINT64_C(0xffffd556aa3f0000), UINT64_C(0xff00ffffffbf0000),
                                 UINT64_C(0xffffffffffff0000)};

/* The same lower 57 or 48 bits, and no address of any processor or device. */
static const uintptr_t wild[] = {UINT64_C(0x0100ffffffbf0000), UINT64_C(0xfe00ffffffbf0000),
                                 UINT64_C(0x7f00ffffffbf0000), UINT64_C(0x0000ffffffbf0000),
                                 UINT64_C(0x0000d556aa3f0000), UINT64_C(0x01ffd556aa3f0000)};

Test(pointer_map, holds_canonical_addresses_above_48_bits)
{
    size_t i;

    for (i = 0; i < sizeof(high) / sizeof(high[0]); i++) {
        cr_expect_eq(msp_map_find((void *)high[i]), 0);
        cr_assert(msp_map_insert((void *)high[i], 0x8000, chunk(i + 1)), "%#lx", high[i]);
    }
    for (i = 0; i < sizeof(high) / sizeof(high[0]); i++) {
        cr_expect_eq(msp_map_find((char *)high[i] + 0x7fff), chunk(i + 1) | MSP_ENTRY_PARTIAL);
        cr_expect_eq(msp_map_find((void *)(high[i] ^ 0x100000)), 0, "%#lx", high[i]);
    }
    for (i = 0; i < sizeof(wild) / sizeof(wild[0]); i++) {
        cr_expect_eq(msp_map_find((void *)wild[i]), 0, "%#lx is another's", wild[i]);
    }
    for (i = 0; i < sizeof(high) / sizeof(high[0]); i++) {
        msp_map_remove((void *)high[i], 0x8000);
        cr_expect_eq(msp_map_find((void *)high[i]), 0);
    }
}

Test(pointer_map, spans_the_lowest_root_and_the_next)
{
    uintptr_t border = (uintptr_t)1 << MSP_ROOT_BITS;

    cr_assert(msp_map_insert((void *)(border - 0x20000), 0x40000, chunk(7)));
    cr_expect_eq(msp_map_find((void *)(border - 1)), chunk(7));
    cr_expect_eq(msp_map_find((void *)border), chunk(7));
    cr_expect_eq(msp_map_find((void *)(border + 0x20000)), 0);
}

Test(pointer_map, refuses_what_no_processor_can_address)
{
    size_t i;

    for (i = 0; i < sizeof(wild) / sizeof(wild[0]); i++) {
        if ((wild[i] >> MSP_ROOT_BITS) != 0) {
            cr_expect_not(msp_map_insert((void *)wild[i], 1, chunk(8)), "%#lx", wild[i]);
        }
    }
    cr_expect_not(msp_map_insert((void *)UINT64_C(0x00ffffffffff0000), 0x20000, chunk(8)),
                  "across the end of the lower half");
    cr_expect_not(msp_map_insert((void *)UINT64_C(0x00ffffffffff0000), UINT64_C(0xfe00000000020000),
                                 chunk(8)),
                  "from the lower half to the upper one");
}

/* What held a range has another record and size; what is behind it stays another's. */
Test(pointer_map, another_size)
{
    char *at = (char *)0x700000000000;

    cr_assert(msp_map_insert(at, 0x28000, chunk(9)));
    cr_assert(msp_map_insert(at + 0x60000, 0x10000, chunk(10)));
    cr_expect_not(msp_map_resize(at, 0x28000, 0x61000, chunk(11)), "over another's");
    cr_expect_eq(msp_map_find(at + 0x27fff), chunk(9) | MSP_ENTRY_PARTIAL);
    cr_expect_eq(msp_map_find(at + 0x30000), 0);
    cr_assert(msp_map_resize(at, 0x28000, 0x58000, chunk(11)));
    cr_expect_eq(msp_map_find(at), chunk(11));
    cr_expect_eq(msp_map_find(at + 0x2ffff), chunk(11));
    cr_expect_eq(msp_map_find(at + 0x57fff), chunk(11) | MSP_ENTRY_PARTIAL);
    cr_assert(msp_map_resize(at, 0x58000, 0x20000, chunk(12)));
    cr_expect_eq(msp_map_find(at + 0x1ffff), chunk(12));
    cr_expect_eq(msp_map_find(at + 0x20000), 0);
    cr_expect_eq(msp_map_find(at + 0x57fff), 0);
    cr_expect_eq(msp_map_find(at + 0x60000), chunk(10));
}
