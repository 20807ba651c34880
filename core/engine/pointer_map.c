/* SPDX-License-Identifier: BSD-3-Clause */
/* pointer_map.c: growth of the map. Readers take no lock; writers take map_lock. A leaf covers 4
 * GiB of addresses in 512 KiB, a root 2^48 bytes in 512 KiB, of which only the pages in use are
 * ever touched; both are kept. */

#include "core/engine/pointer_map.h"
#include "core/base/fork.h"
#include <sys/mman.h>

MSP_SPARSE struct msp_map_root msp_map_low;
_Atomic(struct msp_map_root *) msp_map_high[1 << (MSP_ADDRESS_BITS - MSP_ROOT_BITS)];

MSP_LOCK_STATIC(map_lock, MSP_RANK_POINTER_MAP);

/* Not malloc: calloc of this size would be a mapping as well, and this is surely zero. */
static void *make_table(size_t size_bytes)
{
    void *table =
        mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return (table == MAP_FAILED) ? NULL : table;
}

static struct msp_map_root *root_of(uintptr_t address, bool make)
{
    _Atomic(struct msp_map_root *) *place = msp_map_high_place(address);
    struct msp_map_root *root;

    if ((address >> MSP_ROOT_BITS) == 0) {
        return &msp_map_low;
    }
    root = atomic_load_explicit(place, memory_order_relaxed);
    if ((root == NULL) && make) {
        root = make_table(sizeof(*root));
        if (root != NULL) {
            atomic_store_explicit(place, root, memory_order_release);
        }
    }
    return root;
}

static _Atomic uintptr_t *slot_of(uintptr_t granule, bool make)
{
    const uintptr_t leaf_mask = ((uintptr_t)1 << MSP_LEAF_SHIFT) - 1;
    struct msp_map_root *root = root_of(granule << MSP_GRANULE_SHIFT, make);
    _Atomic(struct msp_map_leaf *) *place;
    struct msp_map_leaf *leaf;

    if (root == NULL) {
        return NULL;
    }
    place = &root->leaves[(granule >> MSP_LEAF_SHIFT) & leaf_mask];
    leaf  = atomic_load_explicit(place, memory_order_relaxed);
    if ((leaf == NULL) && make) {
        leaf = make_table(sizeof(*leaf));
        if (leaf != NULL) {
            atomic_store_explicit(place, leaf, memory_order_release);
        }
    }
    return (leaf == NULL) ? NULL : &leaf->entries[granule & leaf_mask];
}

static void clear(uintptr_t first, uintptr_t last)
{
    uintptr_t granule;

    for (granule = first; granule <= last; granule++) {
        _Atomic uintptr_t *slot = slot_of(granule, false);
        if (slot != NULL) {
            atomic_store_explicit(slot, 0, memory_order_release);
        }
    }
}

bool msp_map_is_range(uintptr_t start, size_t size_bytes)
{
    uintptr_t end = start + size_bytes - 1;

    return (size_bytes > 0) && (end >= start) && msp_map_is_canonical(start) &&
           msp_map_is_canonical(end) && ((intptr_t)(start ^ end) >= 0);
}

/* Enters the free granules of [start, start + size_bytes), from the granule @p first on; none of
 * them, when one is not free. map_lock held. */
static bool enter(uintptr_t start, size_t size_bytes, uintptr_t first, uintptr_t entry)
{
    uintptr_t last = (start + size_bytes - 1) >> MSP_GRANULE_SHIFT;
    uintptr_t granule;
    bool entered = true;

    for (granule = first; entered && (granule <= last); granule++) {
        _Atomic uintptr_t *slot = slot_of(granule, true);
        entered = (slot != NULL) && (atomic_load_explicit(slot, memory_order_relaxed) == 0);
        if (entered) {
            bool whole = (granule < last) || ((size_bytes & (MSP_GRANULE_BYTES - 1)) == 0);
            atomic_store_explicit(slot, whole ? entry : (entry | MSP_ENTRY_PARTIAL),
                                  memory_order_release);
        }
    }
    if (!entered && (granule - 1 > first)) {
        clear(first, granule - 2); /* the one before last was not ours */
    }
    return entered;
}

bool msp_map_insert(void *address, size_t size_bytes, uintptr_t entry)
{
    uintptr_t start = (uintptr_t)address;
    bool entered;

    if (((start & (MSP_GRANULE_BYTES - 1)) != 0) || !msp_map_is_range(start, size_bytes)) {
        return false;
    }
    msp_lock(&map_lock);
    entered = enter(start, size_bytes, start >> MSP_GRANULE_SHIFT, entry);
    msp_unlock(&map_lock);
    return entered;
}

bool msp_map_resize(void *address, size_t from_bytes, size_t to_bytes, uintptr_t entry)
{
    uintptr_t start    = (uintptr_t)address;
    uintptr_t granule  = start >> MSP_GRANULE_SHIFT;
    uintptr_t last     = (start + to_bytes - 1) >> MSP_GRANULE_SHIFT;
    uintptr_t last_was = (start + from_bytes - 1) >> MSP_GRANULE_SHIFT;
    bool done          = msp_map_is_range(start, to_bytes);

    msp_lock(&map_lock);
    done = done && ((last <= last_was) || enter(start, to_bytes, last_was + 1, entry));
    for (; done && (granule <= last) && (granule <= last_was); granule++) {
        bool whole = (granule < last) || ((to_bytes & (MSP_GRANULE_BYTES - 1)) == 0);
        atomic_store_explicit(slot_of(granule, false), whole ? entry : (entry | MSP_ENTRY_PARTIAL),
                              memory_order_release);
    }
    if (done && (last < last_was)) {
        clear(last + 1, last_was);
    }
    msp_unlock(&map_lock);
    return done;
}

void msp_map_replace(void *address, size_t size_bytes, uintptr_t entry)
{
    uintptr_t granule = (uintptr_t)address >> MSP_GRANULE_SHIFT;
    uintptr_t last    = ((uintptr_t)address + size_bytes - 1) >> MSP_GRANULE_SHIFT;

    for (; granule <= last; granule++) {
        atomic_store_explicit(slot_of(granule, false), entry, memory_order_release);
    }
}

void msp_map_remove(void *address, size_t size_bytes)
{
    msp_lock(&map_lock);
    clear((uintptr_t)address >> MSP_GRANULE_SHIFT,
          ((uintptr_t)address + size_bytes - 1) >> MSP_GRANULE_SHIFT);
    msp_unlock(&map_lock);
}
