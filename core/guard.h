/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_GUARD_H
#define MEMSPAN_CORE_GUARD_H

/* MEMSPAN_DEBUG=guard: blocks between fences, frees that are checked, freed blocks kept for a
 * while, leaks told at exit.
 *
 * The guard stands between what is charged and counted, which stays what the program asked for, and
 * the pool, which gives a padded block. While memspan_guarding() is false only the inline functions
 * below exist; they are the pool's own calls then. The guard goes on for the rest of the process
 * once it is on. */

#include "core/base/platform.h"
#include "core/store.h"
#include "core/watch.h"

/* Begin, when the environment asks for it. */
void memspan_guard_start(void);

memspan_status_t memspan_guard_alloc(const struct memspan_store_request *request, bool *zeroed_p,
                                     void **address_p);

/* *known_p false: no guarded block; nothing was done. The charge is the caller's to take back. */
memspan_status_t memspan_guard_free(void *address, bool *known_p,
                                    struct memspan_block_owner *owner_p);
bool memspan_guard_find(const void *address, struct memspan_block_view *view_p);

/* Let the pools have the memory of all freed blocks: uses of it are not found any more. */
void memspan_guard_trim(void);

/* @p call ("free", "realloc") was given an address that starts no block: say what it is. Ends the
 * program unless the user wants it to go on. */
void memspan_guard_refused(const void *address, const char *call);

/* For a signal handler: whether @p address lies in a page that the guard has closed, and a copy of
 * the block whose page it is. */
struct memspan_guard_block;
bool memspan_guard_find_closed(const void *address, struct memspan_guard_block *block_p);

/* For a debugger: print what is known of the memory at or near @p address. */
void memspan_guard_tell(const void *address);

void memspan_guard_before_fork(void);
void memspan_guard_after_fork(void);

/* ---- the store's calls, guarded when the guard is on ---- */

static inline memspan_status_t memspan_block_take(const struct memspan_store_request *request,
                                                  bool *zeroed_p, void **address_p)
{
    return MEMSPAN_UNLIKELY(memspan_guarding()) ? memspan_guard_alloc(request, zeroed_p, address_p)
                                                : memspan_store_take(request, zeroed_p, address_p);
}

memspan_status_t memspan_guard_give(void *address, bool keep_charge);

static inline memspan_status_t memspan_block_give(void *address, bool keep_charge)
{
    return MEMSPAN_UNLIKELY(memspan_guarding()) ? memspan_guard_give(address, keep_charge)
                                                : memspan_store_give(address, keep_charge);
}

static inline bool memspan_block_find(const void *address, struct memspan_block_view *view_p)
{
    return MEMSPAN_UNLIKELY(memspan_guarding()) ? memspan_guard_find(address, view_p)
                                                : memspan_store_find(address, view_p);
}

/* Guarded blocks always move, so that a use of the old address is found. */
static inline bool memspan_block_look(const void *address, struct memspan_block_view *view_p)
{
    return MEMSPAN_UNLIKELY(memspan_guarding()) ? memspan_guard_find(address, view_p)
                                                : memspan_store_look(address, view_p);
}

static inline void *memspan_block_resize(void *address, size_t size_bytes, size_t align_bytes)
{
    /* Who watches is told of a move while the block still is at both places: then it is copied. */
    return MEMSPAN_UNLIKELY(memspan_guarding())
               ? NULL
               : memspan_store_resize(address, size_bytes, align_bytes, !memspan_watching());
}

/* @p call was given an address that starts no block, and has refused it. It may be the first call
 * of all, so the environment is asked first. */
static inline void memspan_block_refused(const void *address, const char *call)
{
    memspan_watch_start();
    if (memspan_guarding()) {
        memspan_guard_refused(address, call);
    }
}

#endif /* MEMSPAN_CORE_GUARD_H */
