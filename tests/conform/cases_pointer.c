/* SPDX-License-Identifier: BSD-3-Clause */
/* Any address answers truthfully: inside, at the edges, before and after its life, and foreign. */

#include "conform.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_part_of(const void *address, const void *base)
{
    memspan_pointer_info_t info = {.struct_size = sizeof(info)};
    memspan_status_t status     = memspan_pointer_describe(address, &info);

    CHECK((status == MEMSPAN_OK) || (status == MEMSPAN_ERR_NOT_FOUND), "%s",
          memspan_status_name(status));
    return (status == MEMSPAN_OK) && (info.base == base);
}

static void every_address_of_a_block(void)
{
    static const size_t sizes[] = {1, 24, 100, 5000, 100000, (size_t)6 << 20};
    struct conform_memory m;

    for (int k = 0; conform_kind(k, &m); k++) {
        for (size_t s = 0; s < 6; s++) {
            char *block                 = memspan_alloc(m.allocator, sizes[s]);
            size_t places[]             = {0, sizes[s] / 2, sizes[s] / 3, sizes[s] - 1};
            memspan_pointer_info_t info = {.struct_size = sizeof(info)};

            CHECK(block != NULL);
            for (int p = 0; p < 4; p++) {
                CHECK_OK(memspan_pointer_describe(block + places[p], &info));
                CHECK((info.base == block) && (info.size_bytes == sizes[s]) &&
                          (info.allocator == m.allocator) && (info.kind_given == m.kind),
                      "%s: %zu of %zu", memspan_kind_name(m.kind), places[p], sizes[s]);
                CHECK(memchr(info.why, 0, sizeof(info.why)) != NULL);
            }
            CHECK(!is_part_of(block + sizes[s], block), "one past the end");
            CHECK(!is_part_of(block - 1, block), "one before");
            CHECK_OK(memspan_free(block));
            CHECK(!is_part_of(block, block), "%s: %zu bytes, freed", memspan_kind_name(m.kind),
                  sizes[s]);
            CHECK_STATUS(memspan_pointer_describe(block, &info), MEMSPAN_ERR_NOT_FOUND);
        }
        conform_done(&m);
    }
}

static void foreign_memory_is_not_guessed(void)
{
    memspan_pointer_info_t info = {.struct_size = sizeof(info)};
    memspan_reach_t reach       = {0};
    char on_stack               = 0;
    void *from_malloc           = malloc(64);
    const void *addresses[]     = {NULL,
                                   &on_stack,
                                   from_malloc,
                                   (const void *)&is_part_of,
                                   (void *)8,
                                   (void *)UINTPTR_MAX,
                                   (void *)((uintptr_t)1 << 47),
                                   (void *)((uintptr_t)1 << 63)};

    for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
        memspan_status_t status = memspan_pointer_describe(addresses[i], &info);

        if ((status == MEMSPAN_OK) && (addresses[i] != NULL)) {
            CHECK(info.allocator == MEMSPAN_ALLOCATOR_NULL, "a driver's word, not ours");
            continue;
        }
        CHECK((status == MEMSPAN_ERR_NOT_FOUND) ||
                  ((addresses[i] == NULL) && (status == MEMSPAN_ERR_INVALID)),
              "%s for %p", memspan_status_name(status), addresses[i]);
        CHECK(memspan_pointer_reach(addresses[i], MEMSPAN_HOST, &reach) != MEMSPAN_OK);
    }
    free(from_malloc);
}

static void only_starts_of_live_blocks_are_freed(void)
{
    struct conform_memory m;
    char on_stack[64];
    void *from_malloc = malloc(64);

    for (int k = 0; conform_kind(k, &m); k++) {
        for (size_t size = 40; size < ((size_t)20 << 20); size *= 50) {
            char *block = memspan_alloc(m.allocator, size);

            CHECK(block != NULL);
            CHECK_STATUS(memspan_free(block + 1), MEMSPAN_ERR_NOT_FOUND);
            CHECK_STATUS(memspan_free(block + 16), MEMSPAN_ERR_NOT_FOUND);
            CHECK_STATUS(memspan_free(block + size / 2), MEMSPAN_ERR_NOT_FOUND);
            CHECK_STATUS(memspan_free(block + size), MEMSPAN_ERR_NOT_FOUND);
            conform_write(&m, block, size, 3);
            CHECK_BYTES(conform_holds(&m, block, size, 3), "still there");
            CHECK_OK(memspan_free(block));
            CHECK_STATUS(memspan_free(block), MEMSPAN_ERR_NOT_FOUND);
            CHECK(memspan_error_last()->message[0] != '\0');
            CHECK(memspan_realloc(m.allocator, block, 10) == NULL, "freed memory has no contents");
        }
        CHECK_STATUS(memspan_free(on_stack), MEMSPAN_ERR_NOT_FOUND);
        CHECK_STATUS(memspan_free(from_malloc), MEMSPAN_ERR_NOT_FOUND);
        CHECK_STATUS(memspan_free((void *)16), MEMSPAN_ERR_NOT_FOUND);
        CHECK(memspan_realloc(m.allocator, from_malloc, 10) == NULL);
        CHECK_OK(memspan_free(NULL));
        CHECK_OK(memspan_check());
        conform_done(&m);
    }
    free(from_malloc);
}

static void double_free_of_a_neighbour_harms_no_block(void)
{
    enum { COUNT = 64 };
    struct conform_memory m;
    void *blocks[COUNT];

    for (int k = 0; conform_kind(k, &m); k++) {
        for (int i = 0; i < COUNT; i++) {
            blocks[i] = memspan_alloc(m.allocator, 48);
            CHECK(blocks[i] != NULL);
            conform_write(&m, blocks[i], 48, (unsigned)i);
        }
        for (int i = 0; i < COUNT; i += 2) {
            CHECK_OK(memspan_free(blocks[i]));
            CHECK_STATUS(memspan_free(blocks[i]), MEMSPAN_ERR_NOT_FOUND);
        }
        CHECK(conform_stats(m.allocator).live_count == COUNT / 2);
        for (int i = 1; i < COUNT; i += 2) {
            CHECK_BYTES(conform_holds(&m, blocks[i], 48, (unsigned)i));
            CHECK_OK(memspan_free(blocks[i]));
        }
        conform_done(&m);
    }
}

const struct conform_case conform_pointer_cases[] = {
    {"every_address_of_a_block", every_address_of_a_block},
    {"foreign_memory_is_not_guessed", foreign_memory_is_not_guessed},
    {"only_starts_of_live_blocks_are_freed", only_starts_of_live_blocks_are_freed},
    {"double_free_of_a_neighbour_harms_no_block", double_free_of_a_neighbour_harms_no_block},
    {NULL, NULL},
};
