/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_ENGINE_POOL_H
#define MEMSPAN_CORE_ENGINE_POOL_H

/* A pool divides the chunks of one provider into blocks. Every record is outside the managed bytes:
 * nothing is ever read or written through an address that is allocated, so one pool serves memory
 * that the host may not touch.
 *
 * One lock a pool guards its blocks. No driver is called with it held: empty chunks are set aside
 * and go back in msp_pool_settle(). */

#include "core/engine/fit.h"
#include "core/engine/provider.h"

struct msp_pool;

/* From here on a block that grows becomes a chunk of its own, where the driver resizes those. */
#define MSP_APART_BYTES ((size_t)1 << 20)

struct msp_pool *msp_pool_create(struct msp_provider *provider);

/* A block; *record_p is in use as MSP_USE_BLOCK. */
memspan_status_t msp_pool_alloc(struct msp_pool *pool, const struct msp_request *request,
                                struct msp_record **record_p);

/* Give a block back that its owner has marked as unused. May call the driver. */
void msp_pool_free(struct msp_record *record);

/* The same for a list of them, linked by kept_after, all of one pool; calls no driver. */
void msp_pool_free_list(struct msp_pool *pool, struct msp_record *first);

/* Memory for a slab, a power of two of whole granules, on a boundary of its size. Calls no driver
 * on the way back. */
memspan_status_t msp_pool_take_slab(struct msp_pool *pool, size_t size_bytes,
                                    struct msp_record **record_p);
void msp_pool_give_slab(struct msp_record *record);

/* Another size for a block without copying it: where it stands or, if that is a chunk of its own
 * and
 * @p may_move, elsewhere. Its record from now on; NULL: it cannot be, and nothing has changed. */
struct msp_record *msp_pool_resize(struct msp_record *record, size_t size_bytes, size_t align_bytes,
                                   bool may_move);

/* The record of the block that holds @p pointer, which is in @p chunk: a block in use, or any
 * record if nothing in use is there; NULL at the chunk's end. No lock. */
struct msp_record *msp_pool_find(struct msp_chunk *chunk, const void *pointer);

/* While it is held, no block of the pool is cut, joined, given or taken. */
void msp_pool_lock(struct msp_pool *pool);
void msp_pool_unlock(struct msp_pool *pool);

void msp_pool_before_fork(struct msp_pool *pool);
void msp_pool_after_fork(struct msp_pool *pool);

static inline struct msp_chunk *msp_chunk_of(const struct msp_record *record)
{
    return (struct msp_chunk *)((unsigned char *)record->range - offsetof(struct msp_chunk, range));
}

static inline struct msp_pool *msp_pool_of(const struct msp_record *record)
{
    return msp_chunk_of(record)->provider->pool;
}

static inline size_t msp_block_capacity(const struct msp_record *record)
{
    return (record->size == 0) ? msp_chunk_of(record)->size_bytes : msp_record_bytes(record);
}

/* A record's number in the fit of its pool; of a block in use, or under the lock. */
static inline uint32_t msp_pool_id(const struct msp_record *record)
{
    return msp_range_record(record->range, record->offset);
}

const struct msp_provider *msp_pool_provider(const struct msp_pool *pool);
const struct msp_fit *msp_pool_fit(const struct msp_pool *pool);

/* Give chunks back to the driver that have been empty for the decay time, or are too many. */
void msp_pool_settle(struct msp_pool *pool);

/* Whether the pool has half as much again in divided chunks as when this was true last, and enough
 * of them to care; only of memory whose pages can go back. */
bool msp_pool_has_grown(struct msp_pool *pool);

/* Give every empty chunk back; returns the bytes. */
size_t msp_pool_trim(struct msp_pool *pool);

/* Give pages of free blocks back that were used once and have been free since round @p round of the
 * decay, or before; returns the bytes. */
size_t msp_pool_purge(struct msp_pool *pool, uint32_t round);

/* Bytes more (or less) that wait in threads' heaps: no program has them. */
void msp_pool_count_waiting(struct msp_pool *pool, int64_t bytes);

struct msp_pool_measure {
    uint64_t held_bytes; /* of the driver, blocks that are chunks included */
    uint64_t free_bytes; /* in no block, those that wait in heaps included */
    uint64_t largest_free_bytes;
};
void msp_pool_measure(struct msp_pool *pool, struct msp_pool_measure *measure_p);

/* Walk all invariants. */
memspan_status_t msp_pool_check(struct msp_pool *pool);

#endif /* MEMSPAN_CORE_ENGINE_POOL_H */
