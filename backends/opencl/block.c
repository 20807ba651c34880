/* SPDX-License-Identifier: BSD-3-Clause */
/* block.c: the live blocks of a platform, by ascending address. There are few: the library takes
 * memory in large pieces. */

#include "backends/opencl/opencl.h"
#include <stdlib.h>
#include <string.h>

/* Index of the first block that ends after @p address. */
static size_t find_place(const struct opencl_platform *platform, const char *address)
{
    size_t low  = 0;
    size_t high = platform->block_count;

    while (low < high) {
        size_t middle                    = low + (high - low) / 2;
        const struct opencl_block *block = platform->blocks[middle];
        if (address >= block->base + block->size_bytes) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

struct opencl_block *opencl_block_find(const struct opencl_platform *platform, const void *address)
{
    size_t i = find_place(platform, address);

    if ((i < platform->block_count) && ((const char *)address >= platform->blocks[i]->base)) {
        return platform->blocks[i];
    }
    return NULL;
}

static memspan_status_t grow(struct opencl_platform *platform)
{
    size_t capacity = (platform->block_capacity == 0) ? 16 : 2 * platform->block_capacity;
    struct opencl_block **blocks =
        realloc(platform->blocks, capacity * sizeof(platform->blocks[0]));

    if (blocks == NULL) {
        return opencl_refuse(platform->state, MEMSPAN_ERR_NO_MEMORY, NULL,
                             "no host memory for a table of %zu blocks", capacity);
    }
    platform->blocks         = blocks;
    platform->block_capacity = capacity;
    return MEMSPAN_OK;
}

memspan_status_t opencl_block_insert(struct opencl_platform *platform, struct opencl_block *block)
{
    size_t i = find_place(platform, block->base);
    memspan_status_t status;

    if ((i < platform->block_count) &&
        (platform->blocks[i]->base < block->base + block->size_bytes)) {
        return opencl_refuse(platform->state, MEMSPAN_ERR_INVALID, NULL,
                             "%zu bytes at %p overlap %zu bytes at %p that OpenCL already knows",
                             block->size_bytes, (void *)block->base,
                             platform->blocks[i]->size_bytes, (void *)platform->blocks[i]->base);
    }
    if (platform->block_count == platform->block_capacity) {
        status = grow(platform);
        if (status != MEMSPAN_OK) {
            return status;
        }
    }
    memmove(&platform->blocks[i + 1], &platform->blocks[i],
            (platform->block_count - i) * sizeof(platform->blocks[0]));
    platform->blocks[i] = block;
    platform->block_count++;
    platform->generation++;
    return MEMSPAN_OK;
}

void opencl_block_remove(struct opencl_platform *platform, const struct opencl_block *block)
{
    size_t i = find_place(platform, block->base);

    if ((i >= platform->block_count) || (platform->blocks[i] != block)) {
        return;
    }
    platform->block_count--;
    memmove(&platform->blocks[i], &platform->blocks[i + 1],
            (platform->block_count - i) * sizeof(platform->blocks[0]));
    platform->generation++;
}
