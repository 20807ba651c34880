/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_DEBUG_WATCH_H
#define MEMSPAN_CORE_DEBUG_WATCH_H

/* Who watches allocations: a program's hooks, the trace, the guard.
 *
 * While no flag is set an allocation pays for none of this. While one is, the engine's fast paths
 * are passed by, and the calls below are made at the level of the public calls: an event for what
 * the program asked for, none for what the library does on its way (the second block of a
 * reallocation that moves).
 *
 * Events are reported with no lock of the library held. The order of those of one address is that
 * of its life in every thread: a block is reported before the program has its address, and its end
 * before another thread can be given the address. */

#include "core/engine/store.h"
#include <memspan/allocator.h>
#include <stdatomic.h>
#include <stdbool.h>

enum msp_watch_flag {
    MSP_WATCH_HOOKS = 1,
    MSP_WATCH_TRACE = 2,
    MSP_WATCH_GUARD = 4,
};

extern atomic_uint msp_watch_flags; /* changed by msp_watch_set() alone */

/* True when events are to be reported. */
static inline bool msp_watching(void)
{
    return (atomic_load_explicit(&msp_watch_flags, memory_order_relaxed) &
            (MSP_WATCH_HOOKS | MSP_WATCH_TRACE)) != 0;
}

/* True when nobody watches and nothing is guarded. */
static inline bool msp_is_unwatched(void)
{
    return atomic_load_explicit(&msp_watch_flags, memory_order_relaxed) == 0;
}

/* True when blocks are guarded. */
static inline bool msp_guarding(void)
{
    return (atomic_load_explicit(&msp_watch_flags, memory_order_relaxed) & MSP_WATCH_GUARD) != 0;
}

/* Set or clear a flag (enum msp_watch_flag). */
void msp_watch_set(unsigned flag, bool on);

/* Called before an allocator's first plan is made, hence before its first block: what the
 * environment asks to be watched begins. Any number of times, on any thread. */
void msp_watch_start(void);

/* ---- events; only called while msp_watching() ---- */

/* True, with an error recorded, when the calling thread is inside a chunk hook: the pool above it
 * on the stack is not to be entered again. */
bool msp_watch_refuses(void);

/* The block that starts at @p address has been allocated, cleared and counted. */
void msp_watch_allocated(void *address);

/* @p address is about to be freed. Nothing when no live block starts there: that is refused. */
void msp_watch_freeing(void *address);

/* A block got another size: in place, or at @p address, where its contents are, while the old one
 * is still live. */
void msp_watch_reallocated(const struct msp_block_view *old, void *address);

/* What @p asked could not serve came from @p given. */
void msp_watch_fallback(struct msp_allocator *asked, struct msp_allocator *given, size_t size_bytes,
                        void *address);

/* What @p asked could not serve came from nobody. */
void msp_watch_failed(struct msp_allocator *asked, size_t size_bytes);

/* A driver gave a chunk, or is about to get it back; started_ns: msp_watch_now() before it was
 * asked. The provider's held_bytes count the chunk already, or still. */
void msp_watch_chunk_taken(const struct msp_chunk *chunk, uint64_t started_ns);
void msp_watch_chunk_giving_back(const struct msp_chunk *chunk);

/* A clock's nanoseconds; 0 while nobody watches. */
uint64_t msp_watch_now(void);

/* The process is about to be ended: what was recorded is written. */
void msp_watch_ending(void);

#endif /* MEMSPAN_CORE_DEBUG_WATCH_H */
