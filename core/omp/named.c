/* SPDX-License-Identifier: BSD-3-Clause */
/* named.c: ranges of host memory and allocators that the program has named. */

#include "core/allocator.h"
#include "core/base/error.h"
#include "core/omp/mapped.h"
#include <stdlib.h>

/* Host memory that memspan_map_symmetric() named, and allocators whose memory it is; all memory
 * before the first call. */
static struct range {
    uintptr_t begin;
    size_t size_bytes;
} * ranges;
static size_t range_count;
static memspan_allocator_h *allocators;
static size_t allocator_count;
static bool all = true;

static bool is_of_allocator(const void *begin)
{
    memspan_allocator_h allocator =
        (allocator_count > 0) ? msp_allocator_of_block(begin) : MEMSPAN_ALLOCATOR_NULL;
    size_t i;

    for (i = 0; (allocator != MEMSPAN_ALLOCATOR_NULL) && (i < allocator_count); i++) {
        if (allocators[i] == allocator) {
            return true;
        }
    }
    return false;
}

bool msp_omp_named_has(const void *begin, size_t size_bytes)
{
    size_t i;

    for (i = 0; !all && (i < range_count); i++) {
        size_t before = (uintptr_t)begin - ranges[i].begin;
        if ((before < ranges[i].size_bytes) && (size_bytes <= ranges[i].size_bytes - before)) {
            return true;
        }
    }
    return all || is_of_allocator(begin);
}

memspan_status_t msp_omp_named_add(uintptr_t begin, size_t size_bytes)
{
    struct range *longer;
    size_t i;

    for (i = 0; i < range_count; i++) {
        if (ranges[i].begin == begin) {
            return (ranges[i].size_bytes == size_bytes)
                       ? MEMSPAN_OK
                       : memspan_error(MEMSPAN_ERR_INVALID, "%p is named with %zu bytes, not %zu",
                                       (void *)begin, ranges[i].size_bytes, size_bytes);
        }
    }
    longer = realloc(ranges, (range_count + 1) * sizeof *ranges);
    if (longer == NULL) {
        return memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory to name a variable");
    }
    ranges                = longer;
    ranges[range_count++] = (struct range){begin, size_bytes};
    all                   = false;
    return MEMSPAN_OK;
}

memspan_status_t msp_omp_named_remove(uintptr_t begin)
{
    size_t i;

    for (i = 0; (i < range_count) && (ranges[i].begin != begin); i++) {
    }
    if (i == range_count) {
        return memspan_error(MEMSPAN_ERR_NOT_FOUND, "no variable at %p was named", (void *)begin);
    }
    ranges[i] = ranges[--range_count];
    return MEMSPAN_OK;
}

memspan_status_t msp_omp_named_add_allocator(memspan_allocator_h allocator)
{
    memspan_allocator_h *longer =
        realloc((void *)allocators, (allocator_count + 1) * sizeof *allocators);

    if (longer == NULL) {
        return memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory to name an allocator");
    }
    allocators                    = longer;
    allocators[allocator_count++] = allocator;
    all                           = false;
    return MEMSPAN_OK;
}
