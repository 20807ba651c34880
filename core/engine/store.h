/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_ENGINE_STORE_H
#define MEMSPAN_CORE_ENGINE_STORE_H

/* Where the memory of a request comes from, and back: an object of a slab, a block kept from
 * before, a block of the pool, or the driver. Objects are charged here, blocks by the caller;
 * giving back takes the charge back. */

#include "core/engine/account.h"
#include "core/engine/pool.h"

/* A block as found. */
struct msp_block_view {
    struct msp_chunk *chunk;
    void *address;
    size_t capacity_bytes;
    struct msp_block_owner owner;
    bool is_object; /* of a slab: charged there */
};

/* An object, where the request may have one: charged here, but for @p paid_bytes, all or nothing.
 * NULL: a block may do; or, if *refused_p, the limit is reached, without an error recorded. */
void *msp_store_take_object(const struct msp_request *request, uint64_t paid_bytes,
                            bool *refused_p);

/* A block, which is charged. *zeroed_p, in: zero bytes requested; out: they are zero already. */
memspan_status_t msp_store_take(const struct msp_request *request, bool *zeroed_p,
                                void **address_p);

/* The fast path of an allocator's first small blocks, charged here: while it has no heaps, is
 * served as most are and unwatched. NULL: take the slow path, or, if *refused_p, its pool_size
 * is used up and it ends with that. */
void *msp_store_take_first(struct msp_allocator *allocator, size_t align_bytes, size_t size_bytes,
                           bool *refused_p);

/* Give the block that starts at @p address back; @p entry: of the pointer map. @p keep_charge: its
 * charge stays; the caller has another block for it. MEMSPAN_ERR_NOT_FOUND, with a message that
 * describes the address, when no live block starts there. */
memspan_status_t msp_store_give(uintptr_t entry, void *address, bool keep_charge);

/* The same without touching charge or count. */
memspan_status_t msp_store_drop(void *address);

/* The live block whose place holds @p address. False when there is none. No lock. */
bool msp_store_find(const void *address, struct msp_block_view *view_p);

/* The same where it may be freed at any time: the result is of one moment. */
bool msp_store_look(const void *address, struct msp_block_view *view_p);

/* Another size for the block that starts at @p address, without copying it: in its place or, if
 * @p may_move, elsewhere, on a boundary of @p align_bytes. Where it is then; NULL when it would not
 * fit, or would waste more than half of a small place, and nothing has changed. */
void *msp_store_resize(void *address, size_t size_bytes, size_t align_bytes, bool may_move);

/* The chunk that holds @p address; NULL: none of ours. No lock. */
struct msp_chunk *msp_store_chunk(const void *address);

#endif /* MEMSPAN_CORE_ENGINE_STORE_H */
