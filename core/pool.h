/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_POOL_H
#define MEMSPAN_CORE_POOL_H

/* A pool divides the chunks of one provider into blocks. Every record is outside the managed bytes:
 * nothing is ever read or written through an address that is handed out, so one pool serves memory
 * that the host may not touch.
 *
 * One lock a pool guards its blocks. No driver is called with it held: empty chunks are set aside
 * and go back in memspan_pool_settle(). */

#include "core/fit.h"
#include "core/provider.h"

struct memspan_pool;

/* From here on a block that grows becomes a chunk of its own, where the driver resizes those. */
#define MEMSPAN_APART_BYTES ((size_t)1 << 20)

struct memspan_pool *memspan_pool_create(struct memspan_provider *provider);

/* What a block is wanted for. */
struct memspan_block_request {
    size_t size_bytes;  /* > 0 */
    size_t align_bytes; /* power of two */
    const memspan_part_t *parts;
    size_t part_count;
    struct memspan_account *account; /* this and the next two are kept with the block */
    size_t requested_bytes;
    bool fallback;
    bool apart;    /* a chunk of its own, whatever its size */
    bool zeroed;   /* zero bytes wanted from the driver, where it is asked for this block alone */
    bool thorough; /* nothing else is to be had: look everywhere */
};

/* A block; *record_p is in use as MEMSPAN_USE_BLOCK. */
memspan_status_t memspan_pool_alloc(struct memspan_pool *pool,
                                    const struct memspan_block_request *request,
                                    struct memspan_record **record_p);

/* Give a block back that its owner has marked as no block of anybody. May call the driver. */
void memspan_pool_free(struct memspan_record *record);

/* The same for a list of them, linked by kept_after, all of one pool; calls no driver. */
void memspan_pool_free_list(struct memspan_pool *pool, struct memspan_record *first);

/* Memory for a slab, a power of two of whole granules, on a boundary of its size. Calls no driver
 * on the way back. */
memspan_status_t memspan_pool_take_slab(struct memspan_pool *pool, size_t size_bytes,
                                        struct memspan_record **record_p, bool *zeroed_p);
void memspan_pool_give_slab(struct memspan_record *record);

/* Another size for a block without copying it: where it stands or, if that is a chunk of its own
 * and
 * @p may_move, elsewhere. Its record from now on; NULL: it cannot be, and nothing has changed. */
struct memspan_record *memspan_pool_resize(struct memspan_record *record, size_t size_bytes,
                                           size_t align_bytes, bool may_move);

/* The record of what holds @p pointer, which is in @p chunk: a block in use, or anything at all if
 * nothing in use is there; NULL at the chunk's end. No lock. */
struct memspan_record *memspan_pool_find(struct memspan_chunk *chunk, const void *pointer);

/* While it is held, no block of the pool is cut, joined, given or taken. */
void memspan_pool_lock(struct memspan_pool *pool);
void memspan_pool_unlock(struct memspan_pool *pool);

static inline struct memspan_chunk *memspan_chunk_of(const struct memspan_record *record)
{
    return (struct memspan_chunk *)((unsigned char *)record->range -
                                    offsetof(struct memspan_chunk, range));
}

static inline struct memspan_pool *memspan_pool_of(const struct memspan_record *record)
{
    return memspan_chunk_of(record)->provider->pool;
}

static inline size_t memspan_block_capacity(const struct memspan_record *record)
{
    return (record->size == 0) ? memspan_chunk_of(record)->size_bytes
                               : memspan_record_bytes(record);
}

/* A record's number in the fit of its pool; of a block in use, or under the lock. */
static inline uint32_t memspan_pool_id(const struct memspan_record *record)
{
    return memspan_range_record(record->range, record->offset);
}

const struct memspan_provider *memspan_pool_provider(const struct memspan_pool *pool);
const struct memspan_fit *memspan_pool_fit(const struct memspan_pool *pool);

/* Give chunks back to the driver that have been empty for the decay time, or are too many. */
void memspan_pool_settle(struct memspan_pool *pool);

/* Whether the pool has half as much again in divided chunks as when this was true last, and enough
 * of them to care; only of memory whose pages can go back. */
bool memspan_pool_has_grown(struct memspan_pool *pool);

/* Give every empty chunk back; returns the bytes. */
size_t memspan_pool_trim(struct memspan_pool *pool);

/* Give pages of free blocks back that were used once and have been free since round @p round of the
 * decay, or before; returns the bytes. */
size_t memspan_pool_purge(struct memspan_pool *pool, uint32_t round);

/* Bytes more (or less) that wait in threads' heaps: no program has them. */
void memspan_pool_count_waiting(struct memspan_pool *pool, int64_t bytes);

struct memspan_pool_measure {
    uint64_t held_bytes; /* of the driver, blocks that are chunks included */
    uint64_t free_bytes; /* in no block, those that wait in heaps included */
    uint64_t largest_free_bytes;
};
void memspan_pool_measure(struct memspan_pool *pool, struct memspan_pool_measure *measure_p);

/* Walk all invariants. */
memspan_status_t memspan_pool_check(struct memspan_pool *pool);

#endif /* MEMSPAN_CORE_POOL_H */
