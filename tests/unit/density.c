/* SPDX-License-Identifier: BSD-3-Clause */
/* Which blocks are advised to have huge pages, by how the blocks before them were touched, and what
 * becomes resident. Each test is a process of its own, which has allocated nothing yet. */

#include "core/base/option.h"
#include "core/base/platform.h"
#include "tests/unit/map_flag.h"
#include <criterion/criterion.h>
#include <memspan/memspan.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MIB = 1 << 20, MIDDLE = 3 * MIB, LARGE = 40 * MIB, SPARSE = 256 * MIB, MANY = 40 };

static unsigned char *taken[1 << 13];
static size_t taken_count;

static unsigned char *take(size_t size_bytes)
{
    unsigned char *block = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, size_bytes);

    cr_assert(block != NULL, "%s", memspan_error_text());
    cr_assert_lt(taken_count, sizeof taken / sizeof taken[0]);
    taken[taken_count++] = block;
    return block;
}

static void free_taken(void)
{
    while (taken_count > 0) {
        cr_expect_eq(memspan_free(taken[--taken_count]), MEMSPAN_OK);
    }
}

/* Past the first 2 MiB, which may have pages of their own. */
static bool is_huge(const unsigned char *block, size_t size_bytes)
{
    return has_map_flag(block + size_bytes - 1, " hg");
}

static unsigned char *take_full(size_t size_bytes)
{
    return memset(take(size_bytes), 1, size_bytes);
}

static unsigned char *take_sparse(size_t size_bytes)
{
    unsigned char *block = take(size_bytes);

    block[0] = block[size_bytes / 2] = block[size_bytes - 1] = 1;
    return block;
}

static size_t resident_pages(const unsigned char *block, size_t size_bytes)
{
    static unsigned char resident[SPARSE / 4096];
    size_t pages = size_bytes / msp_page_size();
    size_t count = 0;
    size_t i;

    cr_assert_eq(mincore((void *)(uintptr_t)block, size_bytes, resident), 0);
    for (i = 0; i < pages; i++) {
        count += resident[i] & 1;
    }
    return count;
}

static void need_huge_pages(void)
{
    char mode[64] = "";
    FILE *file    = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "re");

    if ((file == NULL) || (fgets(mode, sizeof mode, file) == NULL)) {
        cr_skip("the kernel has no transparent huge pages");
    }
    fclose(file);
    if (strstr(mode, "[always]") != NULL) {
        cr_skip("the kernel gives huge pages without advice");
    }
}

TestSuite(density, .init = need_huge_pages, .fini = free_taken);

Test(density, middle_blocks_that_come_at_once)
{
    unsigned char *blocks[MANY];
    int i;

    for (i = 0; i < MANY; i++) {
        blocks[i] = take(MIDDLE);
    }
    for (i = 0; i < MANY; i++) {
        cr_expect(!is_huge(blocks[i], MIDDLE), "block %d", i);
    }
}

Test(density, middle_blocks_touched_in_full_and_then_not)
{
    int i;

    take_full(MIDDLE);
    for (i = 1; i < MANY; i++) {
        cr_assert(is_huge(take_full(MIDDLE), MIDDLE) || (i < 2), "block %d", i);
    }
    for (i = 0; i < 2 * MANY; i++) {
        take_sparse(MIDDLE);
    }
    cr_expect(!is_huge(take_sparse(MIDDLE), MIDDLE));
}

/* Every step that a program may have, and none: nothing is ever resident beyond what was touched.
 */
Test(density, large_blocks_touched_by_steps)
{
    static const size_t steps[] = {1 * MIB, 2 * MIB, 4 * MIB, 5 * MIB, 8 * MIB, 16 * MIB, 32 * MIB};
    size_t s;
    int round;

    for (s = 0; s < sizeof steps / sizeof steps[0]; s++) {
        for (round = 0; round < 3; round++) {
            unsigned char *block = take(SPARSE);
            size_t at;

            for (at = 0; at < SPARSE; at += steps[s]) {
                block[at] = 1;
            }
            cr_expect_leq(resident_pages(block, SPARSE), SPARSE / steps[s] + 1,
                          "step %zu, block %d", steps[s], round);
            free_taken();
        }
    }
}

Test(density, large_blocks_touched_at_random)
{
    static const int counts[] = {30, 100, 1000};
    size_t c;
    int i;

    srandom(7);
    for (c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        unsigned char *block = take(SPARSE);

        for (i = 0; i < counts[c]; i++) {
            block[(size_t)random() % SPARSE] = 1;
        }
        cr_expect_leq(resident_pages(block, SPARSE), (size_t)counts[c]);
    }
}

/* As much as was full at once may have huge pages, and no more. */
Test(density, large_blocks_touched_in_full)
{
    cr_expect(!is_huge(take_full(LARGE), LARGE));
    cr_expect(is_huge(take_full(LARGE), LARGE));
    cr_expect(!is_huge(take_full(LARGE), LARGE));
    free_taken();
    cr_expect(is_huge(take(LARGE), LARGE));
    cr_expect(is_huge(take(LARGE), LARGE));
    cr_expect(!is_huge(take(LARGE), LARGE));
    cr_expect(!is_huge(take(SPARSE), SPARSE), "of its size nothing is known");
}

/* A live one, too, once it is seen: the kernel may collapse its pages. */
Test(density, large_block_that_stays)
{
    unsigned char *sparse = take_sparse(LARGE);
    unsigned char *full   = take_full(LARGE);

    take(LARGE);
    cr_expect(is_huge(full, LARGE));
    cr_expect(!is_huge(sparse, LARGE));
}

Test(density, large_blocks_that_turn_sparse)
{
    int small = 0;
    int i;

    take_full(LARGE);
    free_taken();
    for (i = 0; i < 8; i++) {
        small += is_huge(take_sparse(LARGE), LARGE) ? 0 : 1;
        free_taken();
    }
    cr_expect_geq(small, 1, "none of eight blocks is measured");
    for (i = 0; i < 8; i++) {
        cr_expect(!is_huge(take_sparse(LARGE), LARGE), "block %d", i);
        free_taken();
    }
    take_full(LARGE);
    free_taken();
    cr_expect(is_huge(take(LARGE), LARGE));
}

Test(density, user_has_decided)
{
    setenv("MEMSPAN_HUGE_PAGES", "on", 1);
    msp_option_reload();
    cr_expect(is_huge(take(LARGE), LARGE));
    cr_expect(is_huge(take(MIDDLE), MIDDLE));
}

/* A block of less than a huge page is a chunk of its own once it has grown. */
static unsigned char *grow(unsigned char *block, size_t size_bytes, bool in_full)
{
    block = memspan_realloc(MEMSPAN_ALLOCATOR_NULL, block, size_bytes);
    cr_assert(block != NULL, "%s", memspan_error_text());
    taken[taken_count - 1] = block;
    if (in_full) {
        memset(block, 1, size_bytes);
    }
    return block;
}

static unsigned char *grow_twice(size_t last_bytes, bool in_full)
{
    unsigned char *block = grow(take_full(MIB / 16), 3 * MIB / 2, in_full);

    return grow(block, last_bytes, in_full);
}

Test(density, blocks_that_grow)
{
    cr_expect(is_huge(grow_twice(MIDDLE, true), MIDDLE));
    cr_expect(!is_huge(grow_twice(MIDDLE, false), MIDDLE));
    cr_expect(!is_huge(grow_twice(LARGE, true), LARGE), "a block that grew 26 times at once");
}

Test(density, small_objects)
{
    enum { SIZE = 4096, COUNT = 8 * MIB / SIZE };
    bool huge = false;
    int i;

    for (i = 0; i < COUNT; i++) {
        huge = huge || is_huge(take(SIZE), SIZE);
    }
    cr_expect(huge);
}

/* Pages of a chunk that went back to the system: those that come again may be huge. */
Test(density, chunk_used_again)
{
    enum { SIZE = 64 << 10, COUNT = 256 };
    unsigned char *blocks[COUNT];
    int i;

    for (i = 0; i < COUNT; i++) {
        blocks[i] = take_full(SIZE);
    }
    cr_assert(is_huge(blocks[COUNT - 1], SIZE));
    for (i = 0; i < COUNT; i += 2) {
        cr_expect_eq(memspan_free(blocks[i]), MEMSPAN_OK);
    }
    memspan_trim();
    cr_expect(!is_huge(blocks[COUNT - 1], SIZE), "the kernel would fill the holes");
    taken_count = 0;
    for (i = 1; i < COUNT; i += 2) {
        taken[taken_count++] = blocks[i];
    }
    for (i = 0; i < 4 * COUNT; i++) {
        take_full(SIZE);
    }
    cr_expect(is_huge(blocks[COUNT - 1], SIZE), "the chunk is full again");
}

/* The pool grows while pages of slabs have gone back: nothing fills them again. */
Test(density, chunk_with_slabs_that_have_holes)
{
    enum { SIZE = 2048, COUNT = 4096, LIVE_SHARE = 64 };
    static unsigned char *objects[COUNT];
    int i;

    for (i = 0; i < COUNT; i++) {
        objects[i] = take_full(SIZE);
    }
    cr_assert(is_huge(objects[COUNT - 1], SIZE));
    taken_count = 0;
    for (i = 0; i < COUNT; i++) {
        if (i % LIVE_SHARE == LIVE_SHARE - 1) {
            taken[taken_count++] = objects[i];
        } else {
            cr_expect_eq(memspan_free(objects[i]), MEMSPAN_OK);
        }
    }
    memspan_trim();
    cr_expect(!is_huge(objects[COUNT - 1], SIZE));
    for (i = 0; i < 256; i++) {
        take_full(64 << 10);
    }
    cr_expect(!is_huge(objects[COUNT - 1], SIZE), "the kernel would fill the holes");
}
