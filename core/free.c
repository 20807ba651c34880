/* SPDX-License-Identifier: BSD-3-Clause */
/* free.c: blocks of any allocator go back. The fast path is in heap.h; the others begin anew, from
 * the entry of the pointer map. */

#include "core/allocator.h"
#include "core/debug/guard.h"
#include "core/debug/watch.h"
#include "core/engine/heap.h"
#include "core/engine/pointer_map.h"
#include "core/engine/store.h"

memspan_status_t msp_free_slow(uintptr_t entry, void *pointer)
{
    if (msp_is_unwatched() && ((entry & MSP_ENTRY_SLAB) != 0)) {
        return msp_store_give(entry, pointer, false);
    }
    if ((pointer == NULL) || ((entry != 0) && msp_heap_free_middle(entry, pointer))) {
        return MEMSPAN_OK;
    }
    if (MSP_UNLIKELY(msp_watching())) {
        if (msp_watch_refuses()) {
            return MEMSPAN_ERR_CONFLICT;
        }
        msp_watch_freeing(pointer);
    }
    return msp_block_give_at(entry, pointer, false);
}

memspan_status_t memspan_free(void *pointer)
{
    uintptr_t entry;
    memspan_status_t status;

    if (MSP_LIKELY(msp_heap_free_fast(pointer))) {
        return MEMSPAN_OK;
    }
    entry = msp_map_find(pointer);
    if (msp_heap_free_at(entry, pointer)) {
        return MEMSPAN_OK;
    }
    if ((entry != 0) && msp_heap_free_middle(entry, pointer)) {
        return MEMSPAN_OK;
    }
    status = msp_free_slow(entry, pointer);
    if (MSP_UNLIKELY(status == MEMSPAN_ERR_NOT_FOUND)) {
        msp_block_refused(pointer, "free");
    }
    return status;
}

memspan_status_t memspan_free_sized(memspan_allocator_h handle, void *pointer, size_t size_bytes)
{
    (void)handle;
    (void)size_bytes;
    return memspan_free(pointer);
}
