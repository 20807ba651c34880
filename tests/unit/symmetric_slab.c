/* SPDX-License-Identifier: BSD-3-Clause */
/* Small objects of a symmetric heap: how close they stand, and whether room is found where it is.
 */

#include "symmetric_heap.h"

static void expect_filled(size_t least, size_t most, size_t align)
{
    struct msp_symmetric_heap *heap = create(64 * MIB);
    struct msp_symmetric_measure m;
    uint64_t state = 5;
    size_t offset;

    while (msp_symmetric_heap_alloc(heap, chance(&state, least, most), align, &offset) ==
           MEMSPAN_OK) {
    }
    m = measure(heap);
    cr_expect_geq(m.live_bytes, m.size_bytes / 100 * 98, "%zu to %zu bytes fill %zu %%", least,
                  most, m.live_bytes / (m.size_bytes / 100));
    expect_whole(heap);
    msp_symmetric_heap_destroy(heap);
}

Test(symmetric_slab, can_be_filled)
{
    expect_filled(24, 24, 8);
    expect_filled(64, 64, 16);
    expect_filled(33000, 33000, 16);
    expect_filled(1100000, 1100000, 16);
    expect_filled(256, 300000, 16);
}

Test(symmetric_slab, small_objects_stand_close)
{
    struct msp_symmetric_heap *heap = create(64 * MIB);
    const size_t sizes[][3] = {{1, 1, 16},       {24, 8, 24},    {24, 16, 32},   {33, 8, 40},
                               {64, 64, 64},     {65, 16, 80},   {129, 16, 144}, {144, 32, 160},
                               {1000, 16, 1024}, {20, 128, 128}, {257, 256, 512}};
    size_t i;

    for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        size_t first = alloc(heap, sizes[i][0], sizes[i][1]);
        cr_expect_eq(alloc(heap, sizes[i][0], sizes[i][1]) - first, sizes[i][2], "%zu bytes on %zu",
                     sizes[i][0], sizes[i][1]);
    }
    expect_whole(heap);
    msp_symmetric_heap_destroy(heap);
}

static void fill_with_blocks(struct msp_symmetric_heap *heap)
{
    size_t offset;

    while (msp_symmetric_heap_alloc(heap, 2000, ALIGN, &offset) == MEMSPAN_OK) {
    }
    while (msp_symmetric_heap_alloc(heap, 1, 2048, &offset) == MEMSPAN_OK) {
    }
    cr_assert_leq(measure(heap).largest_free_bytes, 7 * MSP_UNIT_BYTES);
    while (measure(heap).largest_free_bytes > 0) {
        alloc(heap, measure(heap).largest_free_bytes, 1);
    }
}

Test(symmetric_slab, what_is_smaller_than_the_last_room_still_finds_some)
{
    struct msp_symmetric_heap *heap = create(MIB);
    struct msp_symmetric_block block;
    size_t offset;

    alloc(heap, 200, ALIGN); /* a slab with room, */
    fill_with_blocks(heap);
    cr_assert_eq(measure(heap).largest_free_bytes, 0); /* and nothing else */
    offset = alloc(heap, 16, ALIGN);
    cr_assert_eq(msp_symmetric_heap_find(heap, offset, &block), MEMSPAN_OK);
    cr_expect_eq(block.capacity_bytes, 208);
    cr_expect_eq(block.size_bytes, 16);
    expect_whole(heap);
    msp_symmetric_heap_destroy(heap);
}

Test(symmetric_slab, room_on_another_boundary_is_none)
{
    struct msp_symmetric_heap *heap = create(MIB);
    size_t object                   = alloc(heap, 24, 8);
    size_t offset;

    fill_with_blocks(heap);
    cr_expect_eq(msp_symmetric_heap_alloc(heap, 16, 16, &offset), MEMSPAN_ERR_NO_MEMORY);
    cr_expect_eq(alloc(heap, 16, 8), object + 24);
    msp_symmetric_heap_destroy(heap);
}

Test(symmetric_slab, a_small_heap_is_not_cut_into_slabs)
{
    struct msp_symmetric_heap *tiny  = create(MIB / 16);
    struct msp_symmetric_heap *small = create(MIB);

    cr_expect_eq(alloc(tiny, 16, ALIGN) + MSP_UNIT_BYTES, alloc(tiny, 16, ALIGN));
    cr_expect_eq(alloc(small, 16, ALIGN) + 16, alloc(small, 16, ALIGN));
    cr_expect_eq(alloc(small, 300, ALIGN) + 2 * MSP_UNIT_BYTES, alloc(small, 300, ALIGN));
    msp_symmetric_heap_destroy(tiny);
    msp_symmetric_heap_destroy(small);
}

/* Slabs that are full, have room again, are empty: of one class, in three orders. */
Test(symmetric_slab, many_objects_of_a_size_come_and_go)
{
    enum { COUNT = 500, EACH_BYTES = 32, SLAB_OBJECTS = 4096 / EACH_BYTES };
    struct msp_symmetric_heap *heap = create(MIB);
    size_t offsets[COUNT];
    unsigned round;
    unsigned i;

    for (round = 0; round < 3; round++) {
        for (i = 0; i < COUNT; i++) {
            offsets[i] = alloc(heap, EACH_BYTES, ALIGN);
        }
        expect_whole(heap);
        cr_expect_eq(heap->range.used_count, (COUNT + SLAB_OBJECTS - 1) / SLAB_OBJECTS);
        for (i = 0; i < COUNT; i++) {
            free_at(heap, offsets[(round == 0)   ? i
                                  : (round == 1) ? COUNT - 1 - i
                                                 : (i * 7 + 3) % COUNT]);
            expect_whole(heap);
        }
        cr_expect_eq(heap->range.used_count, 1, "one slab is kept");
        cr_expect_eq(measure(heap).largest_free_bytes, MIB);
    }
    msp_symmetric_heap_destroy(heap);
}

/* The last free piece of a heap is the kept slab of another size. */
Test(symmetric_slab, a_kept_slab_becomes_one_of_another_size)
{
    struct msp_symmetric_heap *heap = create(MIB);
    struct msp_symmetric_block block;
    size_t object = alloc(heap, 64, ALIGN);

    alloc(heap, MIB - 4096, ALIGN);
    free_at(heap, object);
    cr_assert_eq(heap->fit.free_units, 0);
    cr_assert_eq(msp_symmetric_heap_find(heap, alloc(heap, 24, 8), &block), MEMSPAN_OK);
    cr_expect_eq(block.capacity_bytes, 24);
    expect_whole(heap);
    msp_symmetric_heap_destroy(heap);
}
