/* SPDX-License-Identifier: BSD-3-Clause */
/* memspan_move() on any machine: what moves and what follows, and why other blocks stay. That pages
 * change their node is shown in tests/tiers and, with a kernel of our own making, tests/unit. */

#include "api.h"
#include <stdlib.h>

enum { OWN_BYTES = 48 << 20, SHARED_BYTES = 1 << 20 };

static memspan_pointer_info_t info_of(const void *pointer)
{
    memspan_pointer_info_t info = {.struct_size = sizeof(info)};

    DONE(memspan_pointer_describe(pointer, &info));
    return info;
}

static uint64_t live_bytes(memspan_allocator_h allocator)
{
    memspan_allocator_stats_t stats = {.struct_size = sizeof(stats)};

    DONE(memspan_allocator_get_stats(allocator, &stats));
    return stats.live_bytes;
}

Test(move, what_is_no_block)
{
    char *block = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, OWN_BYTES);
    int local;

    REFUSED(memspan_move(NULL, MEMSPAN_SPACE_HIGH_BW), MEMSPAN_ERR_NOT_FOUND, "no live block");
    REFUSED(memspan_move(&local, MEMSPAN_SPACE_HIGH_BW), MEMSPAN_ERR_NOT_FOUND, "symmetric");
    REFUSED(memspan_move(block + 4096, MEMSPAN_SPACE_HIGH_BW), MEMSPAN_ERR_NOT_FOUND, "starts");
    REFUSED(memspan_move(block, MEMSPAN_CONSTANT(memspan_space_h, 77)), MEMSPAN_ERR_NOT_FOUND,
            "space");
    DONE(memspan_free(block));
    REFUSED(memspan_move(block, MEMSPAN_SPACE_HIGH_BW), MEMSPAN_ERR_NOT_FOUND, "no live block");
    in_order();
}

Test(move, a_block_keeps_all_but_its_space)
{
    memspan_allocator_h allocator;
    memspan_pointer_info_t info;
    unsigned char *block;
    unsigned char *grown;

    DONE(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, NULL, 0, &allocator));
    block = memspan_alloc(allocator, OWN_BYTES);
    cr_assert_neq(block, NULL);
    block[0]             = 1;
    block[OWN_BYTES - 1] = 2;
    DONE(memspan_move(block, MEMSPAN_SPACE_HIGH_BW));
    info = info_of(block);
    cr_expect_eq(info.space, MEMSPAN_SPACE_HIGH_BW);
    cr_expect_eq(info.allocator, allocator);
    cr_expect_eq(info.size_bytes, OWN_BYTES);
    cr_expect_neq(strstr(info.why, "moved to space"), NULL, "%s", info.why);
    cr_expect_eq(live_bytes(allocator), OWN_BYTES);
    cr_expect((block[0] == 1) && (block[OWN_BYTES - 1] == 2));
    grown = memspan_realloc(MEMSPAN_ALLOCATOR_NULL, block, 2 * (size_t)OWN_BYTES);
    cr_assert_neq(grown, NULL);
    cr_expect((grown[0] == 1) && (grown[OWN_BYTES - 1] == 2));
    cr_expect_eq(info_of(grown).space, MEMSPAN_SPACE_HIGH_BW);
    DONE(memspan_move(grown, MEMSPAN_SPACE_DEFAULT));
    cr_expect_eq(info_of(grown).space, MEMSPAN_SPACE_DEFAULT);
    DONE(memspan_free(grown));
    cr_expect_eq(live_bytes(allocator), 0);
    DONE(memspan_allocator_destroy(allocator));
    in_order();
}

/* A new block has no memory of where its record's last one went. */
Test(move, the_next_block_has_not_moved)
{
    void *block = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, OWN_BYTES);

    DONE(memspan_move(block, MEMSPAN_SPACE_HIGH_BW));
    DONE(memspan_free(block));
    block = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, OWN_BYTES);
    cr_expect_eq(info_of(block).space, MEMSPAN_SPACE_DEFAULT);
    DONE(memspan_free(block));
    in_order();
}

static void stays(memspan_allocator_h allocator, size_t size_bytes, const char *why)
{
    void *block = memspan_alloc(allocator, size_bytes);
    memspan_pointer_info_t info;

    cr_assert_neq(block, NULL, "%s", memspan_error_text());
    info = info_of(block);
    REFUSED(memspan_move(block, MEMSPAN_SPACE_DEFAULT), MEMSPAN_ERR_UNSUPPORTED, why);
    cr_expect_eq(info_of(block).space, info.space);
    DONE(memspan_free(block));
}

Test(move, blocks_that_share_pages_stay)
{
    stays(MEMSPAN_ALLOCATOR_DEFAULT, 64, "shares pages");
    stays(MEMSPAN_ALLOCATOR_DEFAULT, SHARED_BYTES, "shares pages");
    stays(MEMSPAN_ALLOCATOR_DEFAULT, SHARED_BYTES, "32 MiB");
    in_order();
}

Test(move, locked_blocks_stay)
{
    static const memspan_trait_t traits[] = {{MEMSPAN_TRAIT_PINNED, MEMSPAN_VALUE_TRUE}};
    memspan_allocator_h allocator;

    DONE(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, traits, 1, &allocator));
    stays(allocator, 16384, "locked");
    DONE(memspan_allocator_destroy(allocator));
    in_order();
}

/* An allocator of the emulated device's memory of that kind. */
static memspan_allocator_h device_allocator(memspan_kind_t kind)
{
    static const int device       = 0;
    const memspan_trait_t managed = {MEMSPAN_TRAIT_MEMORY_ACCESS, MEMSPAN_VALUE_MANAGED};
    int devices[]                 = {device, MEMSPAN_HOST};
    bool alone                    = (kind == MEMSPAN_KIND_DEVICE);
    memspan_space_h space;
    memspan_allocator_h allocator;

    DONE(memspan_space_get(devices, alone ? 1 : 2, MEMSPAN_SPACE_NULL, &space));
    DONE(memspan_allocator_create(space, &managed, alone ? 0 : 1, &allocator));
    return allocator;
}

Test(move, memory_of_devices)
{
    memspan_allocator_h device;
    memspan_allocator_h managed;
    static const int first = 0;
    memspan_space_h space;
    void *block;

    setenv("MEMSPAN_DEVICES", "emu:1", 1);
    device  = device_allocator(MEMSPAN_KIND_DEVICE);
    managed = device_allocator(MEMSPAN_KIND_MANAGED);
    stays(device, OWN_BYTES, "device memory");
    block = memspan_alloc(managed, OWN_BYTES);
    cr_assert_neq(block, NULL, "%s", memspan_error_text());
    cr_assert_eq(info_of(block).kind_given, MEMSPAN_KIND_MANAGED);
    DONE(memspan_space_get(&first, 1, MEMSPAN_SPACE_NULL, &space));
    DONE(memspan_move(block, space));
    cr_expect_eq(info_of(block).resident_device, 0);
    DONE(memspan_move(block, MEMSPAN_SPACE_DEFAULT));
    cr_expect_eq(info_of(block).resident_device, MEMSPAN_HOST);
    cr_expect_eq(info_of(block).kind_given, MEMSPAN_KIND_MANAGED);
    DONE(memspan_free(block));
    DONE(memspan_allocator_destroy(device));
    DONE(memspan_allocator_destroy(managed));
    in_order();
}
