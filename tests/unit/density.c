/* SPDX-License-Identifier: BSD-3-Clause */
/* Which blocks are advised to have huge pages, by how the blocks before them were touched. Each
 * test is a process of its own, which has allocated nothing yet. */

#include "tests/unit/map_flag.h"
#include <criterion/criterion.h>
#include <memspan/memspan.h>
#include <unistd.h>

enum { MIB = 1 << 20, MIDDLE = 3 * MIB, LARGE = 40 * MIB, MANY = 40 };

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

static void need_huge_pages(void)
{
    if (access("/sys/kernel/mm/transparent_hugepage/enabled", R_OK) != 0) {
        cr_skip("the kernel has no transparent huge pages");
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

Test(density, large_blocks_that_come_at_once)
{
    cr_expect(is_huge(take(LARGE), LARGE));
    cr_expect(is_huge(take(LARGE), LARGE));
}

Test(density, large_blocks_touched_here_and_there)
{
    unsigned char *block;

    cr_expect(is_huge(take_sparse(LARGE), LARGE));
    block = take_sparse(LARGE);
    cr_expect(!is_huge(block, LARGE));
    block = take(LARGE);
    cr_expect(!is_huge(block, LARGE));
    /* Untouched, then touched in full. */
    cr_expect(!is_huge(take_full(LARGE), LARGE));
    cr_expect(is_huge(take_full(LARGE), LARGE));
    cr_expect(is_huge(take_full(LARGE), LARGE));
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

static bool is_huge_when_grown(bool in_full)
{
    unsigned char *block = grow(take_full(MIB / 16), 3 * MIB / 2, in_full);

    return is_huge(grow(block, MIDDLE, in_full), MIDDLE);
}

Test(density, blocks_that_grow)
{
    cr_expect(is_huge_when_grown(true));
    cr_expect(!is_huge_when_grown(false));
}

/* One that is gone says nothing. */
Test(density, large_block_freed)
{
    take_sparse(LARGE);
    free_taken();
    cr_expect(is_huge(take(LARGE), LARGE));
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
