/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_DEBUG_WATCH_H
#define MEMSPAN_CORE_DEBUG_WATCH_H

/* Events of allocations, for a program's hooks, the trace and the guard.
 *
 * The calls below are made at the level of the public calls: an event for the program's request,
 * none for the library's own steps (the second block of a reallocation that moves).
 *
 * Events are reported with no lock of the library held. The order of those of one address is that
 * of its life in every thread: a block is reported before the program has its address, and its end
 * before another thread can be given the address. */

#include "core/engine/store.h"
#include "core/engine/watch_flag.h"

/* Called before an allocator's first plan is made, hence before its first block: the environment's
 * requests for watching take effect. Any number of times, on any thread. */
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

/* A request that @p asked could not serve came from @p given. */
void msp_watch_fallback(struct msp_allocator *asked, struct msp_allocator *given, size_t size_bytes,
                        void *address);

/* A request that @p asked could not serve was refused by its fallbacks too. */
void msp_watch_failed(struct msp_allocator *asked, size_t size_bytes);

/* The process is about to be ended: recorded events are written. */
void msp_watch_ending(void);

#endif /* MEMSPAN_CORE_DEBUG_WATCH_H */
