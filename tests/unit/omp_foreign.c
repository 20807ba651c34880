/* SPDX-License-Identifier: BSD-3-Clause */
/* Recognising the records that runtimes write before their blocks, and nothing else. */

#include "core/omp/openmp.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Without the C library's words around its blocks. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const bool other_malloc = true;
#else
static const bool other_malloc = false;
#endif

/* What libgomp writes at @p raw for a request of @p size with @p pad bytes between record and
 * block. */
static uintptr_t *record_libgomp(char *raw, size_t size, size_t pad, uintptr_t allocator)
{
    uintptr_t *block = (uintptr_t *)(raw + 32 + pad);

    block[-4] = (uintptr_t)raw;
    block[-3] = 32 + pad + size;
    block[-2] = allocator;
    block[-1] = 0;
    return block;
}

static uintptr_t *like_libgomp(size_t size, size_t pad, uintptr_t allocator)
{
    return record_libgomp(calloc(1, 32 + pad + size), size, pad, allocator);
}

/* The same of libomp. */
static uintptr_t *like_libomp(size_t size, uintptr_t allocator)
{
    char *raw        = calloc(1, 40 + 8 + size);
    uintptr_t *block = (uintptr_t *)(raw + 40 + 8);

    block[-5] = (uintptr_t)raw;
    block[-4] = size + 40 + 8;
    block[-3] = size;
    block[-2] = (uintptr_t)block;
    block[-1] = allocator;
    return block;
}

Test(omp_foreign, reading_never_faults)
{
    char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char buffer[16];

    mprotect(page + 4096, 4096, PROT_NONE);
    memset(page, 7, 4096);
    cr_expect(msp_omp_read_safely(page + 4080, buffer, 16));
    cr_expect_eq(buffer[15], 7);
    cr_expect_not(msp_omp_read_safely(page + 4081, buffer, 16));
    cr_expect_not(msp_omp_read_safely(page + 5000, buffer, 16));
    cr_expect_not(msp_omp_read_safely(NULL, buffer, 16));
    cr_expect_not(msp_omp_read_safely((void *)UINTPTR_MAX, buffer, 16));
}

Test(omp_foreign, libgomp)
{
    struct msp_omp_block block = {.family = MSP_OMP_FAMILY_COUNT};
    uintptr_t *p               = like_libgomp(100, 0, 1);
    uintptr_t *q               = like_libgomp(100, 1000 - 1000 % 16, 8);

    cr_expect(msp_omp_block_is_libgomp(p, &block));
    cr_expect_eq(block.size_bytes, 100);
    cr_expect_eq(block.allocator, 1);
    cr_expect(msp_omp_block_is_libgomp(q, &block));
    cr_expect_eq(block.size_bytes, 100);
    cr_expect_not(msp_omp_block_is_libomp(p, &block));
    p[-2] = 0;
    cr_expect_not(msp_omp_block_is_libgomp(p, &block), "no allocator");
    p[-2] = 1000;
    cr_expect_not(msp_omp_block_is_libgomp(p, &block), "no such allocator");
    p[-2] = 1;
    p[-3] = 32;
    cr_expect_not(msp_omp_block_is_libgomp(p, &block), "smaller than its own record");
    p[-3] = (uintptr_t)1 << 45;
    cr_expect_not(msp_omp_block_is_libgomp(p, &block), "larger than the malloc block");
    p[-3] = 132;
    if (!other_malloc) {
        p[-5] ^= (uintptr_t)1 << 40;
        cr_expect_not(msp_omp_block_is_libgomp(p, &block), "no chunk ends there");
        p[-5] ^= (uintptr_t)1 << 40;
    }
    p[-4] += 16;
    cr_expect_not(msp_omp_block_is_libgomp(p, &block), "begins after itself");
    p[-4] -= 16;
    free((void *)p[-4]);
    free((void *)q[-4]);
}

/* Locked blocks share a page: no malloc block, and no start of a page. */
Test(omp_foreign, libgomp_shares_locked_pages)
{
    struct msp_omp_block block = {.family = MSP_OMP_FAMILY_COUNT};
    uintptr_t *locking         = calloc(8, sizeof(uintptr_t));
    char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uintptr_t *p;

    cr_assert((locking != NULL) && (page != MAP_FAILED));
    locking[1] = 8;
    locking[5] = (uintptr_t)1 << 24;
    p          = record_libgomp(page + 256, 64, 0, (uintptr_t)locking);
    cr_expect(msp_omp_block_is_libgomp(p, &block));
    cr_expect_eq(block.size_bytes, 64);
    locking[5] = 0;
    cr_expect_eq(msp_omp_block_is_libgomp(p, &block), other_malloc, "not of a mapping allocator");
    locking[5] = (uintptr_t)MEMSPAN_VALUE_NEAREST << 25;
    cr_expect(msp_omp_block_is_libgomp(p, &block), "of the nearest node");
    p = record_libgomp(page, 64, 0, 1);
    cr_expect_eq(msp_omp_block_is_libgomp(p, &block), other_malloc, "a page of another mapping");
    p     = record_libgomp(page + 256, 64, 0, 1);
    p[-2] = MSP_OMP_GNU_PINNED;
    cr_expect(msp_omp_block_is_libgomp(p, &block), "the predefined one");
    p[-4] = 0;
    p[-3] = (uintptr_t)p + 64;
    cr_expect_not(msp_omp_block_is_libgomp(p, &block), "from the null pointer on");
    p = record_libgomp(page + 256 + 32, 64, 0, MSP_OMP_GNU_PINNED);
    cr_expect_eq(msp_omp_block_is_libgomp(p, &block), other_malloc, "between two granules");
    munmap(page, 4096);
    free(locking);
}

Test(omp_foreign, libomp)
{
    struct msp_omp_block block = {.family = MSP_OMP_FAMILY_COUNT};
    uintptr_t *p               = like_libomp(100, 2);

    cr_expect(msp_omp_block_is_libomp(p, &block));
    cr_expect_eq(block.size_bytes, 100);
    cr_expect_eq(block.allocator, 2);
    cr_expect_not(msp_omp_block_is_libgomp(p, &block));
    p[-2] += 8;
    cr_expect_not(msp_omp_block_is_libomp(p, &block), "another block's record");
    p[-2] -= 8;
    p[-3] = 10000;
    cr_expect_not(msp_omp_block_is_libomp(p, &block), "asked for more than there is");
    free((void *)p[-5]);
}

Test(omp_foreign, anything_else_is_nobodys)
{
    struct msp_omp_block block = {.family = MSP_OMP_FAMILY_COUNT};
    char *heap                 = calloc(1, 4096);
    char stack[256]            = {0};
    uintptr_t i;

    for (i = 0; i < 128; i++) {
        cr_expect_not(msp_omp_foreign_recognise(heap + i, &block));
        cr_expect_not(msp_omp_foreign_recognise(stack + i, &block));
        cr_expect_not(msp_omp_foreign_recognise((void *)i, &block));
        cr_expect_not(msp_omp_foreign_recognise((void *)(UINTPTR_MAX - i), &block));
    }
    free(heap);
}

Test(omp_foreign, handles)
{
    uintptr_t *gomp   = calloc(8, sizeof(uintptr_t));
    uintptr_t kmp[8]  = {0, 0, 64, MEMSPAN_VALUE_NULL_FB, 0, 0, 0, 0};
    uintptr_t none[8] = {0};

    gomp[1] = 16;
    cr_expect(msp_omp_foreign_is_allocator((uintptr_t)gomp));
    gomp[1] = 48;
    cr_expect_not(msp_omp_foreign_is_allocator((uintptr_t)gomp));
    cr_expect(msp_omp_foreign_is_allocator((uintptr_t)kmp));
    kmp[3] = 0;
    cr_expect_not(msp_omp_foreign_is_allocator((uintptr_t)kmp));
    cr_expect_not(msp_omp_foreign_is_allocator((uintptr_t)none));
    cr_expect_not(msp_omp_foreign_is_allocator(1));
    cr_expect_not(msp_omp_foreign_is_allocator(0x123456789));
    free(gomp);
}
