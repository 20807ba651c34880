/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_ENGINE_POINTER_MAP_H
#define MEMSPAN_CORE_ENGINE_POINTER_MAP_H

/* From an address to its slab or chunk: a radix map of two dependent loads, without locks and at a
 * cost that does not grow with its contents. It lives outside the memory it describes.
 *
 * Addresses have 57 bits and are canonical: bit 56 is repeated above. Below 2^48, where host memory
 * and most drivers' memory is, one root leads to the leaves. Above it (Intel's discrete GPUs give
 * out 0xff00..., processors with five levels of page tables more than 2^48) a root stands for each
 * value of bits 48 to 56: a third load. An address that is not canonical is in no root, so that a
 * wild pointer is never taken for the block whose lower bits it has.
 *
 * An entry is the address of a chunk's or a slab's record, with the most needed facts in the bits
 * that alignment leaves free: the kind of memory, and whether all of the granule belongs to the
 * record. */

#include "core/base/platform.h"
#include <memspan/device.h>
#include <stdatomic.h>

struct msp_chunk;
struct msp_slab;

/* Chunks and slabs start on granule boundaries, and no granule holds two of them. */
enum {
    MSP_GRANULE_SHIFT = 16,
    MSP_LEAF_SHIFT    = 16,
    MSP_ROOT_BITS     = 48, /* of the addresses below one root */
    MSP_ADDRESS_BITS  = 57,
};
#define MSP_GRANULE_BYTES ((size_t)1 << MSP_GRANULE_SHIFT)

enum {
    MSP_ENTRY_SLAB       = 1,  /* a slab's; else a chunk's */
    MSP_ENTRY_PARTIAL    = 2,  /* the granule's end is not of it: compare with its size */
    MSP_ENTRY_KIND_SHIFT = 2,  /* memspan_kind_t, 3 bits */
    MSP_ENTRY_BITS       = 31, /* all of these; records stand on 32 bytes at least */
};

static inline uintptr_t msp_map_entry(const void *record, memspan_kind_t kind, unsigned flags)
{
    MSP_ASSERT(((uintptr_t)record & MSP_ENTRY_BITS) == 0);
    return (uintptr_t)record | ((uintptr_t)kind << MSP_ENTRY_KIND_SHIFT) | flags;
}

static inline void *msp_entry_record(uintptr_t entry)
{
    return (void *)(entry & ~(uintptr_t)MSP_ENTRY_BITS);
}

static inline memspan_kind_t msp_entry_kind(uintptr_t entry)
{
    return (memspan_kind_t)((entry >> MSP_ENTRY_KIND_SHIFT) & 7);
}

struct msp_map_leaf {
    _Atomic uintptr_t entries[1 << MSP_LEAF_SHIFT];
};

struct msp_map_root {
    _Atomic(struct msp_map_leaf *)
        leaves[1 << (MSP_ROOT_BITS - MSP_GRANULE_SHIFT - MSP_LEAF_SHIFT)];
};

extern struct msp_map_root msp_map_low;
/* By bits 48 to 56; the first is never used: it is msp_map_low. */
extern _Atomic(struct msp_map_root *) msp_map_high[1 << (MSP_ADDRESS_BITS - MSP_ROOT_BITS)];

static inline bool msp_map_is_canonical(uintptr_t address)
{
    const unsigned above = 64 - MSP_ADDRESS_BITS;

    return (uintptr_t)((intptr_t)(address << above) >> above) == address;
}

/* Both ends can be addressed, and lie on the same side of the addresses that nothing has. */
bool msp_map_is_range(uintptr_t start, size_t size_bytes);

/* The place of the root of a canonical address at or above 2^48. */
static inline _Atomic(struct msp_map_root *) *msp_map_high_place(uintptr_t address)
{
    return &msp_map_high[(address >> MSP_ROOT_BITS) &
                         ((1 << (MSP_ADDRESS_BITS - MSP_ROOT_BITS)) - 1)];
}

/* The entry of the granule of @p pointer; 0 if it has none. */
static inline uintptr_t msp_map_find(const void *pointer)
{
    uintptr_t address               = (uintptr_t)pointer;
    uintptr_t granule               = address >> MSP_GRANULE_SHIFT;
    const struct msp_map_root *root = &msp_map_low;
    struct msp_map_leaf *leaf;

    if (MSP_UNLIKELY((address >> MSP_ROOT_BITS) != 0)) {
        root = msp_map_is_canonical(address)
                   ? atomic_load_explicit(msp_map_high_place(address), memory_order_acquire)
                   : NULL;
        if (root == NULL) {
            return 0;
        }
        granule &= ((uintptr_t)1 << (MSP_ROOT_BITS - MSP_GRANULE_SHIFT)) - 1;
    }
    /* Acquire pairs with the releases in pointer_map.c: the contents of a root, of a leaf and of a
     * record are seen. */
    leaf = atomic_load_explicit(&root->leaves[granule >> MSP_LEAF_SHIFT], memory_order_acquire);
    if (MSP_UNLIKELY(leaf == NULL)) {
        return 0;
    }
    return atomic_load_explicit(&leaf->entries[granule & ((1 << MSP_LEAF_SHIFT) - 1)],
                                memory_order_acquire);
}

/* Register [address, address + size_bytes). False when there is no memory for a leaf, the address
 * is not on a granule boundary, the range is not canonical, or a granule is taken; then nothing is
 * changed. */
bool msp_map_insert(void *address, size_t size_bytes, uintptr_t entry);

/* Register something else for whole granules that are registered. No lock: they are the caller's.
 */
void msp_map_replace(void *address, size_t size_bytes, uintptr_t entry);

/* Register [address, address + to_bytes) under @p entry, where [address, address + from_bytes) is
 * registered under another. False, and nothing changed, as with insert(). */
bool msp_map_resize(void *address, size_t from_bytes, size_t to_bytes, uintptr_t entry);

void msp_map_remove(void *address, size_t size_bytes);

#endif /* MEMSPAN_CORE_ENGINE_POINTER_MAP_H */
