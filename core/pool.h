/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_POOL_H
#define MEMSPAN_CORE_POOL_H

/* A pool divides the chunks of one provider into blocks. Every record is outside the managed bytes:
 * nothing is ever read or written through an address that is handed out, so one pool serves memory
 * that the host may not touch. */

#include "core/provider.h"

struct memspan_pool;
struct memspan_allocator;

/* What is kept with a block. */
struct memspan_block_owner {
    struct memspan_allocator *allocator; /* whose counters it is in */
    size_t requested_bytes;
    bool fallback; /* given by a fallback of the allocator that was asked */
};

/* A block as found. */
struct memspan_block_view {
    struct memspan_chunk *chunk;
    void *address;
    size_t capacity_bytes;
    struct memspan_block_owner owner;
};

struct memspan_pool *memspan_pool_create(struct memspan_provider *provider);

/* A block of at least @p size_bytes (> 0) on a boundary of @p align_bytes (a power of two).
 * *zeroed_p, in: zero bytes wanted; out: they are zero already. */
memspan_status_t memspan_pool_alloc(struct memspan_pool *pool, size_t size_bytes,
                                    size_t align_bytes, const memspan_part_t *parts,
                                    size_t part_count, const struct memspan_block_owner *owner,
                                    bool *zeroed_p, void **address_p);

/* Give the block that starts at @p address back; *owner_p is what was kept with it.
 * MEMSPAN_ERR_NOT_FOUND, with a message that says what the address is, when no live block starts
 * there. */
memspan_status_t memspan_pool_free(void *address, struct memspan_block_owner *owner_p);

/* The live block that holds @p address. False when there is none. */
bool memspan_pool_find(const void *address, struct memspan_block_view *view_p);

/* Keep something else with the block that starts at @p address, if the new size fits in its place.
 * Blocks that would waste more than half do not fit. */
bool memspan_pool_retag(void *address, const struct memspan_block_owner *owner);

/* Give every chunk without blocks back; returns the bytes. */
size_t memspan_pool_trim(struct memspan_pool *pool);

/* What a pool has of its provider, and what of that is in no block. */
struct memspan_pool_measure {
    uint64_t held_bytes;
    uint64_t free_bytes;
    uint64_t largest_free_bytes; /* the largest piece of them */
};
void memspan_pool_measure(struct memspan_pool *pool, struct memspan_pool_measure *measure_p);

/* Walk all invariants. */
memspan_status_t memspan_pool_check(struct memspan_pool *pool);

void memspan_pool_before_fork(struct memspan_pool *pool);
void memspan_pool_after_fork(struct memspan_pool *pool);

#endif /* MEMSPAN_CORE_POOL_H */
