/* SPDX-License-Identifier: BSD-3-Clause */
/* pool.c: records and copy buffers of operations.
 *
 * A pool belongs to a queue, whose functions one thread calls at a time. It grows by slabs and
 * never shrinks before its end. Slabs are registered where the provider requires that of local
 * buffers. */

#include "shmem/network/ofi/ofi.h"
#include <stdlib.h>

enum { SLAB_ITEMS = 16 };

struct ofi_pool_slab {
    struct ofi_pool_slab *next;
    struct fid_mr *region; /* NULL: not registered */
    _Alignas(64) char items[];
};

void ofi_pool_init(struct ofi_pool *pool, size_t item_bytes, size_t count_max)
{
    pool->free       = NULL;
    pool->slabs      = NULL;
    pool->item_bytes = (item_bytes + 63) & ~(size_t)63;
    pool->count      = 0;
    pool->count_max  = count_max;
}

void ofi_pool_release(struct ofi_pool *pool)
{
    while (pool->slabs != NULL) {
        struct ofi_pool_slab *slab = pool->slabs;
        pool->slabs                = slab->next;
        if (slab->region != NULL) {
            (void)fi_close(&slab->region->fid);
        }
        free(slab);
    }
    pool->free = NULL;
}

static bool grow(struct ofi_pool *pool)
{
    const size_t bytes = SLAB_ITEMS * pool->item_bytes;

    if (pool->count >= pool->count_max) {
        return false;
    }
    struct ofi_pool_slab *slab = aligned_alloc(64, sizeof *slab + bytes);
    if (slab == NULL) {
        return false;
    }
    slab->region = NULL;
    if (ofi.needs_local && (ofi_local_register(slab->items, bytes, &slab->region) != 0)) {
        free(slab);
        return false;
    }
    slab->next  = pool->slabs;
    pool->slabs = slab;
    pool->count += SLAB_ITEMS;
    for (size_t i = 0; i < SLAB_ITEMS; i++) {
        struct ofi_pool_item *item = (void *)(slab->items + (i * pool->item_bytes));
        item->descriptor           = (slab->region != NULL) ? fi_mr_desc(slab->region) : NULL;
        item->next                 = pool->free;
        pool->free                 = item;
    }
    return true;
}

void *ofi_pool_take(struct ofi_pool *pool)
{
    if ((pool->free == NULL) && !grow(pool)) {
        return NULL;
    }
    struct ofi_pool_item *item = pool->free;
    pool->free                 = item->next;
    return item;
}

void ofi_pool_give(struct ofi_pool *pool, void *item)
{
    struct ofi_pool_item *freed = item;

    freed->next = pool->free;
    pool->free  = freed;
}
