/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks that change their size, zero bytes, alignment: contents and promises kept. */

#include "api.h"
#include <memspan/omp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

TestSuite(resize, .fini = in_order);

static unsigned char byte_at(size_t i)
{
    return (unsigned char)(i * 7 + (i >> 8) * 13 + 1);
}

static void write_from(unsigned char *block, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        block[i] = byte_at(i);
    }
}

static void expect_kept(const unsigned char *block, size_t size)
{
    size_t i;

    for (i = 0; (i < size) && (block[i] == byte_at(i)); i++) {
    }
    cr_assert_eq(i, size, "byte %zu of %zu is another", i, size);
}

Test(resize, contents_are_kept_up_and_down)
{
    unsigned char *block = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, 1);
    void *others[64]     = {NULL};
    unsigned seed        = 77;
    size_t size          = 1;

    block[0] = byte_at(0);
    for (int i = 0; i < 2000; i++) {
        unsigned r  = (seed = seed * 1664525u + 1013904223u) >> 4;
        size_t to   = 1 + r % ((i % 50 == 0) ? 3000000u : ((i % 5 == 0) ? 70000u : 3000u));
        size_t both = (to < size) ? to : size;

        block = memspan_realloc(MEMSPAN_ALLOCATOR_NULL, block, to);
        cr_assert(block != NULL);
        expect_kept(block, (both < 70000) ? both : 70000);
        write_from(block, both, to);
        size = to;
        (void)memspan_free(others[i % 64]); /* so that neighbours come and go */
        others[i % 64] = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, 1 + r % 4000);
    }
    for (int i = 0; i < 64; i++) {
        DONE(memspan_free(others[i]));
    }
    DONE(memspan_free(block));
}

Test(resize, a_little_less_stays_where_it_is)
{
    static const size_t sizes[] = {64, 1000, 40000, 500000, 5 << 20};

    for (int i = 0; i < 5; i++) {
        void *block = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, sizes[i]);

        cr_expect_eq(memspan_realloc(MEMSPAN_ALLOCATOR_NULL, block, sizes[i] - sizes[i] / 32 - 1),
                     block, "%zu bytes", sizes[i]);
        cr_expect_eq(memspan_realloc(MEMSPAN_ALLOCATOR_NULL, block, sizes[i]), block,
                     "and back to %zu", sizes[i]);
        DONE(memspan_free(block));
    }
}

/* The bytes beyond the new size are free: a description says so, and other blocks may have them.
 */
Test(resize, what_is_given_up_can_be_had)
{
    memspan_trait_t traits[]      = {{MEMSPAN_TRAIT_POOL_SIZE, 2 * 100004},
                                     {MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB}};
    memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;
    memspan_pointer_info_t info   = {.struct_size = sizeof(info)};
    unsigned char *block;
    void *other;

    DONE(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, traits, 2, &allocator));
    block = memspan_alloc(allocator, 200004);
    write_from(block, 0, 200004);
    cr_assert_eq(memspan_alloc(allocator, 1), NULL);
    block = memspan_realloc(allocator, block, 100000);
    cr_assert(block != NULL);
    DONE(memspan_pointer_describe(block, &info));
    cr_expect_eq(info.size_bytes, 100000);
    other = memspan_alloc(allocator, 100000);
    cr_expect(other != NULL, "%s", memspan_error_text());
    memset(other, 0, 100000);
    expect_kept(block, 100000);
    DONE(memspan_free(other));
    DONE(memspan_free(block));
    DONE(memspan_allocator_destroy(allocator));
}

/* Small blocks fill what they are cut from, to its end and not beyond. */
Test(resize, small_blocks_side_by_side)
{
    enum { BYTES = 640 << 10 };
    static unsigned char *blocks[BYTES / 16];

    for (size_t size = 16; size <= 4096; size += (size < 512) ? 16 : 256) {
        size_t count = BYTES / size;

        for (size_t i = 0; i < count; i++) {
            blocks[i] = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, size);
            memset(blocks[i], (int)i, size);
        }
        for (size_t i = 0; i < count; i++) {
            for (size_t k = 0; k < size; k += 8) {
                cr_assert_eq(blocks[i][k], (unsigned char)i, "byte %zu of block %zu of %zu bytes",
                             k, i, size);
            }
        }
        for (size_t i = 0; i < count; i++) {
            DONE(memspan_free(blocks[i]));
        }
    }
}

/* ---- zero ---- */

static void expect_zero(const unsigned char *block, size_t size)
{
    size_t i;

    for (i = 0; (i < size) && (block[i] == 0); i++) {
    }
    cr_assert_eq(i, size, "byte %zu of %zu from calloc is not zero", i, size);
}

Test(resize, zero_where_dirty_bytes_were)
{
    static const size_t sizes[] = {1, 16, 40, 64, 100, 777, 4096, 5000, 32768, 100000, 3 << 20};
    unsigned char *blocks[50];

    for (size_t k = 0; k < sizeof(sizes) / sizeof(*sizes); k++) {
        int count = (sizes[k] > 100000) ? 3 : 50;

        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < count; i++) {
                blocks[i] = memspan_calloc(MEMSPAN_ALLOCATOR_DEFAULT, 1, sizes[k]);
                expect_zero(blocks[i], sizes[k]);
                memset(blocks[i], 0xa5, sizes[k]);
            }
            for (int i = 0; i < count; i++) {
                DONE(memspan_free(blocks[(i * 7) % count]));
            }
        }
    }
}

/* Fresh pages of the system are zero: clearing them would make them all present. */
Test(resize, fresh_pages_are_not_cleared)
{
    size_t size          = (size_t)96 << 20;
    size_t page          = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *block = memspan_calloc(MEMSPAN_ALLOCATOR_DEFAULT, 1, size);
    unsigned char *there = calloc(1, size / page + 1);
    size_t present       = 0;

    cr_assert((block != NULL) && (there != NULL));
    cr_assert_eq((uintptr_t)block % page, 0);
    cr_assert_eq(mincore(block, size, there), 0);
    for (size_t i = 0; i < size / page; i++) {
        present += there[i] & 1;
    }
    cr_expect(present < size / page / 16, "%zu of %zu pages are present", present, size / page);
    cr_expect_eq(block[size - 1], 0);
    free(there);
    DONE(memspan_free(block));
}

/* ---- alignment ---- */

static void expect_aligned(const void *block, size_t align)
{
    cr_assert(block != NULL, "alignment %zu: %s", align, memspan_error_text());
    cr_assert_eq((uintptr_t)block % ((align < 16) ? 16 : align), 0, "%p for %zu", block, align);
}

Test(resize, every_power_of_two)
{
    static const size_t sizes[] = {1, 17, 64, 1000, 4096, 10000, 70000, 600000, 5 << 20};

    for (size_t align = 1; align <= (2 << 20); align *= 2) {
        for (size_t k = 0; k < sizeof(sizes) / sizeof(*sizes); k++) {
            memspan_trait_t trait = {MEMSPAN_TRAIT_ALIGNMENT, align};
            void *blocks[6]       = {
                      memspan_aligned_alloc(MEMSPAN_ALLOCATOR_DEFAULT, align, sizes[k]),
                      memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, 24),
                      memspan_alloc_with(MEMSPAN_ALLOCATOR_DEFAULT, sizes[k], &trait, 1),
                      omp_aligned_alloc(align, sizes[k], omp_default_mem_alloc),
                      memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, 400),
                      omp_aligned_calloc(align, 1, sizes[k], omp_default_mem_alloc),
            };

            for (int i = 0; i < 6; i++) {
                expect_aligned(blocks[i], ((i == 1) || (i == 4)) ? 16 : align);
                ((unsigned char *)blocks[i])[0] = 1;
            }
            for (int i = 0; i < 6; i++) {
                DONE(memspan_free(blocks[i]));
            }
        }
    }
}

/* The alignment trait holds for resized blocks as well. */
Test(resize, alignment_of_the_allocator_is_kept)
{
    for (size_t align = 32; align <= 65536; align *= 2) {
        memspan_trait_t trait         = {MEMSPAN_TRAIT_ALIGNMENT, align};
        memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;
        void *blocks[4]               = {NULL};

        DONE(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, &trait, 1, &allocator));
        for (size_t size = 1; size < 2000000; size = size * 3 + 5) {
            for (int i = 0; i < 4; i++) {
                blocks[i] = memspan_realloc(allocator, blocks[i], size + (size_t)i);
                expect_aligned(blocks[i], align);
            }
        }
        for (int i = 0; i < 4; i++) {
            DONE(memspan_free(blocks[i]));
        }
        DONE(memspan_allocator_destroy(allocator));
    }
}
