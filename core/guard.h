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
#include "core/pool.h"
#include "core/watch.h"

/* Begin, when the environment asks for it. */
void memspan_guard_start(void);

memspan_status_t memspan_guard_alloc(struct memspan_provider *provider, size_t size_bytes,
                                     size_t align_bytes, const memspan_part_t *parts,
                                     size_t part_count, const struct memspan_block_owner *owner,
                                     bool *zeroed_p, void **address_p);
memspan_status_t memspan_guard_free(void *address, struct memspan_block_owner *owner_p);
bool memspan_guard_find(const void *address, struct memspan_block_view *view_p);

/* Let the pools have the memory of all freed blocks: uses of it are not found any more. */
void memspan_guard_trim(void);

/* @p call ("free", "realloc") was given an address that starts no block: say what it is. Ends the
 * program unless the user wants it to go on. */
void memspan_guard_refused(const void *address, const char *call);

/* For a debugger: print what is known of the memory at or near @p address. */
void memspan_guard_tell(const void *address);

void memspan_guard_before_fork(void);
void memspan_guard_after_fork(void);

/* ---- the pool's calls, guarded when the guard is on ---- */

static inline memspan_status_t memspan_block_alloc(struct memspan_provider *provider,
                                                   size_t size_bytes, size_t align_bytes,
                                                   const memspan_part_t *parts, size_t part_count,
                                                   const struct memspan_block_owner *owner,
                                                   bool *zeroed_p, void **address_p)
{
    if (MEMSPAN_UNLIKELY(memspan_guarding())) {
        return memspan_guard_alloc(provider, size_bytes, align_bytes, parts, part_count, owner,
                                   zeroed_p, address_p);
    }
    return memspan_pool_alloc(provider->pool, size_bytes, align_bytes, parts, part_count, owner,
                              zeroed_p, address_p);
}

static inline memspan_status_t memspan_block_free(void *address,
                                                  struct memspan_block_owner *owner_p)
{
    return MEMSPAN_UNLIKELY(memspan_guarding()) ? memspan_guard_free(address, owner_p)
                                                : memspan_pool_free(address, owner_p);
}

static inline bool memspan_block_find(const void *address, struct memspan_block_view *view_p)
{
    return MEMSPAN_UNLIKELY(memspan_guarding()) ? memspan_guard_find(address, view_p)
                                                : memspan_pool_find(address, view_p);
}

/* Guarded blocks always move, so that a use of the old address is found. */
static inline bool memspan_block_retag(void *address, const struct memspan_block_owner *owner)
{
    return !MEMSPAN_UNLIKELY(memspan_guarding()) && memspan_pool_retag(address, owner);
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
