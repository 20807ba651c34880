/* SPDX-License-Identifier: BSD-3-Clause */
/* Freed memory that stays resident: bounded for every mix of sizes, and less under a memory limit.
 * The limit is the test's (msp_memory_limits_read() is wrapped); each test is a process of its own.
 */

#include "core/base/platform.h"
#include "core/base/process.h"
#include <criterion/criterion.h>
#include <memspan/memspan.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { KIB = 1 << 10, MIB = 1 << 20, TOTAL = 192 * MIB, BLOCKS_MOST = 1 << 15 };

void __wrap_msp_memory_limits_read(struct msp_memory_limits *limits_p);

static struct msp_memory_limits limits = {(uint64_t)64 << 30, (uint64_t)64 << 30,
                                          (uint64_t)32 << 30, "the test"};
static int reads;

void __wrap_msp_memory_limits_read(struct msp_memory_limits *limits_p)
{
    *limits_p = limits;
    reads++;
}

static struct {
    unsigned char *address;
    size_t size_bytes;
} blocks[BLOCKS_MOST];
static size_t block_count;

static void fill(size_t least, size_t most)
{
    size_t bytes = 0;

    srandom(11);
    while (bytes < TOTAL) {
        size_t size = least + (size_t)random() % (most - least + 1);

        cr_assert_lt(block_count, BLOCKS_MOST);
        blocks[block_count].address    = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, size);
        blocks[block_count].size_bytes = size;
        cr_assert(blocks[block_count].address != NULL, "%s", memspan_error_text());
        memset(blocks[block_count++].address, 1, size);
        bytes += size;
    }
}

static void free_all(void)
{
    size_t i;

    for (i = 0; i < block_count; i++) {
        cr_expect_eq(memspan_free(blocks[i].address), MEMSPAN_OK);
    }
}

/* Of the pages that the blocks had; those of a chunk that went back are not mapped. */
static size_t resident_bytes(void)
{
    size_t page  = msp_page_size();
    size_t bytes = 0;
    size_t i;

    for (i = 0; i < block_count; i++) {
        uintptr_t first = msp_round_up((uintptr_t)blocks[i].address, page);
        uintptr_t end   = ((uintptr_t)blocks[i].address + blocks[i].size_bytes) & ~(page - 1);

        for (; first < end; first += page) {
            unsigned char resident = 0;

            bytes += ((mincore((void *)first, page, &resident) == 0) && (resident & 1)) ? page : 0;
        }
    }
    return bytes;
}

/* memspan-environment(7): caches, 32 MiB and an eighth of what the pools hold; chunks and pages,
 * the largest chunk or a quarter of what is in use. */
static void check_bound(size_t least, size_t most)
{
    const size_t bound = 32 * MIB + (TOTAL + 64 * MIB) / 8 + 64 * MIB;

    fill(least, most);
    free_all();
    cr_expect_leq(resident_bytes(), bound, "%zu of %d MiB", resident_bytes() / MIB, TOTAL / MIB);
}

Test(retention, one_size)
{
    check_bound(100 * KIB, 100 * KIB);
}

Test(retention, middle_sizes)
{
    check_bound(100 * KIB, 200 * KIB);
}

Test(retention, small_and_middle_sizes)
{
    check_bound(9 * KIB, 60 * KIB);
}

Test(retention, large_sizes)
{
    check_bound(8 * KIB, 3 * MIB);
}

/* Two caches, of a sixteenth of the limit each. */
Test(pressure, limit)
{
    limits.capacity_bytes = 256 * MIB;
    fill(100 * KIB, 200 * KIB);
    free_all();
    cr_expect_geq(reads, 1);
    cr_expect_leq(resident_bytes(), (size_t)2 * 256 * MIB / 16 + 2 * MIB, "%zu MiB",
                  resident_bytes() / MIB);
}

Test(pressure, limit_is_near)
{
    limits.capacity_bytes = 256 * MIB;
    fill(100 * KIB, 200 * KIB);
    limits.free_bytes = 256 * MIB / 8 - 1;
    nanosleep(&(struct timespec){0, 60000000}, NULL); /* what was read last is old now */
    free_all();
    cr_expect_leq(resident_bytes(), (size_t)4 * MIB, "%zu MiB", resident_bytes() / MIB);
}

/* Programs with little memory read no files. */
Test(pressure, small_program)
{
    void *block;
    int i;

    for (i = 0; i < 1000; i++) {
        block = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, 100 * KIB);
        cr_assert(block != NULL);
        cr_expect_eq(memspan_free(block), MEMSPAN_OK);
    }
    cr_expect_eq(reads, 0);
}
