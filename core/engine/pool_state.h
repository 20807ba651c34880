/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_ENGINE_POOL_STATE_H
#define MEMSPAN_CORE_ENGINE_POOL_STATE_H

/* The state of a pool, for pool.c, its blocks, and pool_pages.c, the pages of those that are free.
 * The functions here are called with the lock held, but for purge_surplus(). */

#include "core/base/lock.h"
#include "core/engine/pool.h"

enum { MSP_POOL_WAITING_SIZES = 8 }; /* in units */

struct msp_pool {
    struct msp_provider *provider;
    msp_lock_t lock;
    struct msp_fit fit;
    size_t divided_bytes; /* in chunks that are divided */
    size_t exact_bytes;   /* of them, in chunks taken for one block */
    size_t empty_bytes;   /* of them, in chunks without a block */
    size_t grown_bytes;   /* divided_bytes when the pool's growth was last reported */
    size_t held_dirty;    /* bytes of free blocks that were too small to give their pages back */
    uint64_t settled_at_ms;
    _Atomic int64_t waiting_bytes; /* in heaps: blocks kept, and free objects of slabs */

    struct msp_record *waiting[MSP_POOL_WAITING_SIZES]; /* freed, and not for the fit */
    unsigned turns;
};

static inline struct msp_chunk *msp_chunk_of_range(struct msp_range *range)
{
    return (struct msp_chunk *)((unsigned char *)range - offsetof(struct msp_chunk, range));
}

/* Bytes that may wait in empty chunks: at least a chunk of the largest size, or a quarter of the
 * bytes in use, and less under a memory limit. Pages that count against a limit never wait. */
size_t msp_pool_retention_bytes(const struct msp_pool *pool);

/* Whether free blocks, those of empty chunks included, keep more pages than empty chunks may. */
bool msp_pool_is_over(const struct msp_pool *pool);

/* Blocks of many sizes leave something in every chunk, and no chunk is ever empty: the largest free
 * blocks give their pages back, at any age, until a quarter less is kept than @p keep_bytes. */
void msp_pool_purge_surplus(struct msp_pool *pool, size_t keep_bytes);

/* The pool is full: chunks whose pages went back are in use again. */
void msp_pool_refill(struct msp_pool *pool);

#endif /* MEMSPAN_CORE_ENGINE_POOL_STATE_H */
