/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_DEBUG_GUARD_H
#define MEMSPAN_CORE_DEBUG_GUARD_H

/* MEMSPAN_DEBUG=guard: red zones around blocks, checked frees, a quarantine of freed blocks, leaks
 * reported at exit.
 *
 * The guard stands between charging and counting, which use the program's sizes, and the pool,
 * which gives a padded block. While msp_guarding() is false only the inline functions below exist;
 * they are the pool's own calls then. The guard goes on for the rest of the process once it is on.
 */

#include "core/base/platform.h"
#include "core/debug/watch.h"
#include "core/engine/pointer_map.h"
#include "core/engine/store.h"

/* Begin, when the environment requests it. */
void msp_guard_start(void);

memspan_status_t msp_guard_alloc(const struct msp_request *request, bool *zeroed_p,
                                 void **address_p);

/* *known_p false: no guarded block; nothing was done. The charge is the caller's to take back. */
memspan_status_t msp_guard_free(void *address, bool *known_p, struct msp_block_owner *owner_p);
bool msp_guard_find(const void *address, struct msp_block_view *view_p);

/* Let the pools have the memory of all freed blocks: uses of it are not found any more. */
void msp_guard_trim(void);

/* @p call ("free", "realloc") was given an address that starts no block: describe the address. Ends
 * the program unless the user's setting lets it go on. */
void msp_guard_refused(const void *address, const char *call);

/* For a signal handler: whether @p address lies in a page that the guard has closed, and a copy of
 * the block whose page it is. */
struct msp_guard_block;
bool msp_guard_find_closed(const void *address, struct msp_guard_block *block_p);

struct msp_guard_counts {
    uint64_t allocated; /* so far */
    uint64_t blocks;    /* in use */
    uint64_t closed;    /* of those, blocks with closed pages */
    uint64_t refused; /* so far, blocks that have patterns alone because no page could be closed */
    uint64_t quarantined; /* freed, and not used again */
    bool regions;         /* pages are closed by guard regions, else by mprotect() */
};
void msp_guard_count(struct msp_guard_counts *counts_p);

/* For a debugger: print the record of the memory at or near @p address. */
void msp_guard_describe(const void *address);

/* ---- the store's calls, guarded when the guard is on ---- */

static inline memspan_status_t msp_block_take(const struct msp_request *request, bool *zeroed_p,
                                              void **address_p)
{
    return MSP_UNLIKELY(msp_guarding()) ? msp_guard_alloc(request, zeroed_p, address_p)
                                        : msp_store_take(request, zeroed_p, address_p);
}

memspan_status_t msp_guard_give(void *address, bool keep_charge);

static inline memspan_status_t msp_block_give_at(uintptr_t entry, void *address, bool keep_charge)
{
    return MSP_UNLIKELY(msp_guarding()) ? msp_guard_give(address, keep_charge)
                                        : msp_store_give(entry, address, keep_charge);
}

static inline memspan_status_t msp_block_give(void *address, bool keep_charge)
{
    return msp_block_give_at(msp_map_find(address), address, keep_charge);
}

static inline bool msp_block_find(const void *address, struct msp_block_view *view_p)
{
    return MSP_UNLIKELY(msp_guarding()) ? msp_guard_find(address, view_p)
                                        : msp_store_find(address, view_p);
}

/* Guarded blocks always move, so that a use of the old address is found. */
static inline bool msp_block_look(const void *address, struct msp_block_view *view_p)
{
    return MSP_UNLIKELY(msp_guarding()) ? msp_guard_find(address, view_p)
                                        : msp_store_look(address, view_p);
}

static inline void *msp_block_resize(void *address, size_t size_bytes, size_t align_bytes)
{
    /* A move is reported while the block is at both places: so it is copied. */
    return MSP_UNLIKELY(msp_guarding())
               ? NULL
               : msp_store_resize(address, size_bytes, align_bytes, !msp_watching());
}

/* @p call was given an address that starts no block, and has refused it. It may be the first call
 * of all, so the environment is read first. */
static inline void msp_block_refused(const void *address, const char *call)
{
    msp_watch_start();
    if (msp_guarding()) {
        msp_guard_refused(address, call);
    }
}

#endif /* MEMSPAN_CORE_DEBUG_GUARD_H */
