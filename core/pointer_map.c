/* SPDX-License-Identifier: BSD-3-Clause */
/* pointer_map.c: growth of the map. Readers take no lock; writers take map_lock. A leaf covers 4
 * GiB of addresses in 512 KiB, of which only the pages in use are ever touched; leaves are kept. */

#include "core/pointer_map.h"
#include <pthread.h>
#include <sys/mman.h>

MEMSPAN_SPARSE _Atomic(struct memspan_map_leaf *)
    memspan_map_root[1 << (MEMSPAN_ADDRESS_BITS - MEMSPAN_GRANULE_SHIFT - MEMSPAN_LEAF_SHIFT)];

static pthread_mutex_t map_lock = PTHREAD_MUTEX_INITIALIZER;

static _Atomic uintptr_t *slot_of(uintptr_t granule, bool make)
{
    _Atomic(struct memspan_map_leaf *) *place = &memspan_map_root[granule >> MEMSPAN_LEAF_SHIFT];
    struct memspan_map_leaf *leaf             = atomic_load_explicit(place, memory_order_relaxed);

    if ((leaf == NULL) && make) {
        /* Not malloc: calloc of this size would be a mapping as well, and this is surely zero. */
        leaf =
            mmap(NULL, sizeof(*leaf), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (leaf == MAP_FAILED) {
            return NULL;
        }
        atomic_store_explicit(place, leaf, memory_order_release);
    }
    return (leaf == NULL) ? NULL : &leaf->entries[granule & ((1 << MEMSPAN_LEAF_SHIFT) - 1)];
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

bool memspan_map_insert(void *address, size_t size_bytes, uintptr_t entry)
{
    uintptr_t start = (uintptr_t)address;
    uintptr_t first = start >> MEMSPAN_GRANULE_SHIFT;
    uintptr_t last  = (start + size_bytes - 1) >> MEMSPAN_GRANULE_SHIFT;
    uintptr_t granule;
    bool inserted = true;

    if ((size_bytes == 0) || ((start & (MEMSPAN_GRANULE_BYTES - 1)) != 0) ||
        (start + size_bytes < start) || (((start + size_bytes - 1) >> MEMSPAN_ADDRESS_BITS) != 0)) {
        return false;
    }
    pthread_mutex_lock(&map_lock);
    for (granule = first; inserted && (granule <= last); granule++) {
        _Atomic uintptr_t *slot = slot_of(granule, true);
        inserted = (slot != NULL) && (atomic_load_explicit(slot, memory_order_relaxed) == 0);
        if (inserted) {
            bool whole = (granule < last) || ((size_bytes & (MEMSPAN_GRANULE_BYTES - 1)) == 0);
            atomic_store_explicit(slot, whole ? entry : (entry | MEMSPAN_ENTRY_PARTIAL),
                                  memory_order_release);
        }
    }
    if (!inserted && (granule - 1 > first)) {
        clear(first, granule - 2); /* the one before last was not ours */
    }
    pthread_mutex_unlock(&map_lock);
    return inserted;
}

void memspan_map_replace(void *address, size_t size_bytes, uintptr_t entry)
{
    uintptr_t granule = (uintptr_t)address >> MEMSPAN_GRANULE_SHIFT;
    uintptr_t last    = ((uintptr_t)address + size_bytes - 1) >> MEMSPAN_GRANULE_SHIFT;

    for (; granule <= last; granule++) {
        atomic_store_explicit(slot_of(granule, false), entry, memory_order_release);
    }
}

void memspan_map_remove(void *address, size_t size_bytes)
{
    pthread_mutex_lock(&map_lock);
    clear((uintptr_t)address >> MEMSPAN_GRANULE_SHIFT,
          ((uintptr_t)address + size_bytes - 1) >> MEMSPAN_GRANULE_SHIFT);
    pthread_mutex_unlock(&map_lock);
}

void memspan_map_before_fork(void)
{
    pthread_mutex_lock(&map_lock);
}

void memspan_map_after_fork(void)
{
    pthread_mutex_unlock(&map_lock);
}
