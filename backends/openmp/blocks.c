/* SPDX-License-Identifier: BSD-3-Clause */
/* blocks.c: the live blocks, so that a copy finds the device of an address.
 *
 * Blocks are coarse and few; a sorted array is enough. Invariant: ascending, no two overlap (the
 * runtime gives addresses that are valid everywhere they were promised, and device memory of two
 * devices that happens to have the same address is refused when it is added). */

#include "backends/openmp/openmp.h"
#include <stdlib.h>
#include <string.h>

bool openmp_blocks_init(struct openmp_blocks *blocks)
{
    return pthread_rwlock_init(&blocks->lock, NULL) == 0;
}

void openmp_blocks_free(struct openmp_blocks *blocks)
{
    free(blocks->ranges);
    pthread_rwlock_destroy(&blocks->lock);
}

/* Index of the first range that ends after @p address. */
static size_t find_index(const struct openmp_blocks *blocks, const char *address)
{
    size_t low  = 0;
    size_t high = blocks->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (blocks->ranges[middle].address + blocks->ranges[middle].size_bytes <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool reserve_range(struct openmp_blocks *blocks)
{
    size_t capacity = (blocks->capacity == 0) ? 16 : blocks->capacity * 2;
    void *ranges;

    if (blocks->count < blocks->capacity) {
        return true;
    }
    ranges = realloc(blocks->ranges, capacity * sizeof(*blocks->ranges));
    if (ranges == NULL) {
        return false;
    }
    blocks->ranges   = ranges;
    blocks->capacity = capacity;
    return true;
}

bool openmp_blocks_add(struct openmp_blocks *blocks, const struct openmp_range *range)
{
    bool added = false;
    size_t i;

    pthread_rwlock_wrlock(&blocks->lock);
    i = find_index(blocks, range->address);
    if (((i == blocks->count) ||
         (blocks->ranges[i].address >= range->address + range->size_bytes)) &&
        reserve_range(blocks)) {
        memmove(&blocks->ranges[i + 1], &blocks->ranges[i],
                (blocks->count - i) * sizeof(*blocks->ranges));
        blocks->ranges[i] = *range;
        blocks->count++;
        added = true;
    }
    pthread_rwlock_unlock(&blocks->lock);
    return added;
}

void openmp_blocks_remove(struct openmp_blocks *blocks, const void *address)
{
    size_t i;

    pthread_rwlock_wrlock(&blocks->lock);
    i = find_index(blocks, address);
    if ((i < blocks->count) && (blocks->ranges[i].address == address)) {
        blocks->count--;
        memmove(&blocks->ranges[i], &blocks->ranges[i + 1],
                (blocks->count - i) * sizeof(*blocks->ranges));
    }
    pthread_rwlock_unlock(&blocks->lock);
}

bool openmp_blocks_find(struct openmp_blocks *blocks, const void *address,
                        struct openmp_range *range_p)
{
    bool found = false;
    size_t i;

    pthread_rwlock_rdlock(&blocks->lock);
    i = find_index(blocks, address);
    if ((i < blocks->count) && (blocks->ranges[i].address <= (const char *)address)) {
        *range_p = blocks->ranges[i];
        found    = true;
    }
    pthread_rwlock_unlock(&blocks->lock);
    return found;
}
