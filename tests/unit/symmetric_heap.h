/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_UNIT_SYMMETRIC_HEAP_H
#define MEMSPAN_TESTS_UNIT_SYMMETRIC_HEAP_H

/* Calls that must succeed, for the tests of symmetric heaps. */

#include "core/symmetric/symmetric_heap.h"
#include <criterion/criterion.h>

enum { MIB = 1 << 20, ALIGN = 16, BASE_ALIGN = 65536 };

static inline struct msp_symmetric_heap *create(size_t size)
{
    struct msp_symmetric_heap *heap = NULL;

    cr_assert_eq(msp_symmetric_heap_create(size, BASE_ALIGN, &heap), MEMSPAN_OK, "%s",
                 memspan_error_text());
    return heap;
}

static inline void expect_whole(struct msp_symmetric_heap *heap)
{
    cr_assert_eq(msp_symmetric_heap_check(heap), MEMSPAN_OK, "%s", memspan_error_text());
}

static inline size_t alloc(struct msp_symmetric_heap *heap, size_t size, size_t align)
{
    size_t offset = SIZE_MAX;

    cr_assert_eq(msp_symmetric_heap_alloc(heap, size, align, &offset), MEMSPAN_OK, "%s",
                 memspan_error_text());
    return offset;
}

static inline void free_at(struct msp_symmetric_heap *heap, size_t offset)
{
    cr_assert_eq(msp_symmetric_heap_free(heap, offset), MEMSPAN_OK, "%s", memspan_error_text());
}

static inline size_t resize(struct msp_symmetric_heap *heap, size_t offset, size_t size)
{
    size_t to = SIZE_MAX;

    cr_assert_eq(msp_symmetric_heap_resize(heap, offset, size, ALIGN, &to), MEMSPAN_OK, "%s",
                 memspan_error_text());
    return to;
}

static inline struct msp_symmetric_measure measure(struct msp_symmetric_heap *heap)
{
    struct msp_symmetric_measure m;

    msp_symmetric_heap_measure(heap, &m);
    return m;
}

/* Numbers that every process has alike. */
static inline size_t chance(uint64_t *state, size_t least, size_t most)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return least + (size_t)(*state % (most - least + 1));
}

#endif /* MEMSPAN_TESTS_UNIT_SYMMETRIC_HEAP_H */
