/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_POINTER_MAP_H
#define MEMSPAN_CORE_POINTER_MAP_H

/* From an address to the chunk that holds it: a radix map of two dependent loads, without locks and
 * without regard to how many chunks there are. It lives outside the memory it describes. */

#include "core/base/platform.h"
#include <stdatomic.h>

struct memspan_chunk;

/* Chunks start on granule boundaries, and no granule holds two of them. */
enum { MEMSPAN_GRANULE_SHIFT = 16, MEMSPAN_LEAF_SHIFT = 16, MEMSPAN_ADDRESS_BITS = 48 };
#define MEMSPAN_GRANULE_BYTES ((size_t)1 << MEMSPAN_GRANULE_SHIFT)

struct memspan_map_leaf {
    _Atomic(struct memspan_chunk *) chunks[1 << MEMSPAN_LEAF_SHIFT];
};

extern _Atomic(struct memspan_map_leaf *)
    memspan_map_root[1 << (MEMSPAN_ADDRESS_BITS - MEMSPAN_GRANULE_SHIFT - MEMSPAN_LEAF_SHIFT)];

/* The chunk registered for the granule of @p pointer; NULL if none. The address may still lie past
 * the chunk's end, inside its last granule. */
static inline struct memspan_chunk *memspan_map_find(const void *pointer)
{
    uintptr_t granule = (uintptr_t)pointer >> MEMSPAN_GRANULE_SHIFT;
    struct memspan_map_leaf *leaf;

    if (MEMSPAN_UNLIKELY(((uintptr_t)pointer >> MEMSPAN_ADDRESS_BITS) != 0)) {
        return NULL;
    }
    /* Acquire pairs with the releases in pointer_map.c: a leaf's and a chunk's contents are seen.
     */
    leaf = atomic_load_explicit(&memspan_map_root[granule >> MEMSPAN_LEAF_SHIFT],
                                memory_order_acquire);
    if (MEMSPAN_UNLIKELY(leaf == NULL)) {
        return NULL;
    }
    return atomic_load_explicit(&leaf->chunks[granule & ((1 << MEMSPAN_LEAF_SHIFT) - 1)],
                                memory_order_acquire);
}

/* Register [address, address + size_bytes). False when there is no memory for a leaf, the address
 * is not on a granule boundary or beyond the map's reach, or a granule is taken; then nothing is
 * changed. */
bool memspan_map_insert(void *address, size_t size_bytes, struct memspan_chunk *chunk);

void memspan_map_remove(void *address, size_t size_bytes);

void memspan_map_before_fork(void);
void memspan_map_after_fork(void);

#endif /* MEMSPAN_CORE_POINTER_MAP_H */
