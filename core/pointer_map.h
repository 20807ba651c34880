/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_POINTER_MAP_H
#define MEMSPAN_CORE_POINTER_MAP_H

/* From an address to what holds it: a radix map of two dependent loads, without locks and without
 * regard to how much is in it. It lives outside the memory it describes.
 *
 * An entry is the address of a chunk's or a slab's record, with what is asked most often in the
 * bits that alignment leaves free: the kind of memory, and whether all of the granule is of it. */

#include "core/base/platform.h"
#include <memspan/device.h>
#include <stdatomic.h>

struct memspan_chunk;
struct memspan_slab;

/* Chunks and slabs start on granule boundaries, and no granule holds two of them. */
enum { MEMSPAN_GRANULE_SHIFT = 16, MEMSPAN_LEAF_SHIFT = 16, MEMSPAN_ADDRESS_BITS = 48 };
#define MEMSPAN_GRANULE_BYTES ((size_t)1 << MEMSPAN_GRANULE_SHIFT)

enum {
    MEMSPAN_ENTRY_SLAB       = 1,  /* a slab's; else a chunk's */
    MEMSPAN_ENTRY_PARTIAL    = 2,  /* the granule's end is not of it: compare with its size */
    MEMSPAN_ENTRY_KIND_SHIFT = 2,  /* memspan_kind_t, 3 bits */
    MEMSPAN_ENTRY_BITS       = 31, /* all of these; records stand on 32 bytes at least */
};

static inline uintptr_t memspan_map_entry(const void *record, memspan_kind_t kind, unsigned flags)
{
    return (uintptr_t)record | ((uintptr_t)kind << MEMSPAN_ENTRY_KIND_SHIFT) | flags;
}

static inline void *memspan_entry_record(uintptr_t entry)
{
    return (void *)(entry & ~(uintptr_t)MEMSPAN_ENTRY_BITS);
}

static inline memspan_kind_t memspan_entry_kind(uintptr_t entry)
{
    return (memspan_kind_t)((entry >> MEMSPAN_ENTRY_KIND_SHIFT) & 7);
}

struct memspan_map_leaf {
    _Atomic uintptr_t entries[1 << MEMSPAN_LEAF_SHIFT];
};

extern _Atomic(struct memspan_map_leaf *)
    memspan_map_root[1 << (MEMSPAN_ADDRESS_BITS - MEMSPAN_GRANULE_SHIFT - MEMSPAN_LEAF_SHIFT)];

/* The entry of the granule of @p pointer; 0 if it has none. */
static inline uintptr_t memspan_map_find(const void *pointer)
{
    uintptr_t granule = (uintptr_t)pointer >> MEMSPAN_GRANULE_SHIFT;
    struct memspan_map_leaf *leaf;

    if (MEMSPAN_UNLIKELY(((uintptr_t)pointer >> MEMSPAN_ADDRESS_BITS) != 0)) {
        return 0;
    }
    /* Acquire pairs with the releases in pointer_map.c: a leaf's and a record's contents are seen.
     */
    leaf = atomic_load_explicit(&memspan_map_root[granule >> MEMSPAN_LEAF_SHIFT],
                                memory_order_acquire);
    if (MEMSPAN_UNLIKELY(leaf == NULL)) {
        return 0;
    }
    return atomic_load_explicit(&leaf->entries[granule & ((1 << MEMSPAN_LEAF_SHIFT) - 1)],
                                memory_order_acquire);
}

/* Register [address, address + size_bytes). False when there is no memory for a leaf, the address
 * is not on a granule boundary or beyond the map's reach, or a granule is taken; then nothing is
 * changed. */
bool memspan_map_insert(void *address, size_t size_bytes, uintptr_t entry);

/* Register something else for whole granules that are registered. No lock: they are the caller's.
 */
void memspan_map_replace(void *address, size_t size_bytes, uintptr_t entry);

void memspan_map_remove(void *address, size_t size_bytes);

void memspan_map_before_fork(void);
void memspan_map_after_fork(void);

#endif /* MEMSPAN_CORE_POINTER_MAP_H */
