/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_ENGINE_WATCH_FLAG_H
#define MEMSPAN_CORE_ENGINE_WATCH_FLAG_H

/* Whether allocations are watched: by a program's hooks, the trace, the guard. Events are
 * in core/debug/watch.h. While no flag is set an allocation pays for none of this; while
 * one is, but MSP_WATCH_FOLLOW, the engine's fast paths are closed. */

#include "core/engine/provider.h"
#include <stdatomic.h>
#include <stdbool.h>

enum msp_watch_flag {
    MSP_WATCH_HOOKS     = 1,
    MSP_WATCH_TRACE     = 2,
    MSP_WATCH_GUARD     = 4,
    MSP_WATCH_PLACEMENT = 8,
    MSP_WATCH_FOLLOW    = 16, /* of large blocks alone: the fast paths stay open */
};

extern atomic_uint msp_watch_flags; /* changed by msp_watch_set() alone */

/* True when events are to be reported. */
static inline bool msp_watching(void)
{
    return (atomic_load_explicit(&msp_watch_flags, memory_order_relaxed) &
            (MSP_WATCH_HOOKS | MSP_WATCH_TRACE | MSP_WATCH_FOLLOW)) != 0;
}

/* True when no small block is watched and nothing is guarded. */
static inline bool msp_is_unwatched(void)
{
    return (atomic_load_explicit(&msp_watch_flags, memory_order_relaxed) &
            ~(unsigned)MSP_WATCH_FOLLOW) == 0;
}

/* True when blocks are guarded. */
static inline bool msp_guarding(void)
{
    return (atomic_load_explicit(&msp_watch_flags, memory_order_relaxed) & MSP_WATCH_GUARD) != 0;
}

/* True when memory is placed by call site. */
static inline bool msp_placing(void)
{
    return (atomic_load_explicit(&msp_watch_flags, memory_order_relaxed) & MSP_WATCH_PLACEMENT) !=
           0;
}

/* True when memory is placed by its use. */
static inline bool msp_following(void)
{
    return (atomic_load_explicit(&msp_watch_flags, memory_order_relaxed) & MSP_WATCH_FOLLOW) != 0;
}

/* Set or clear a flag (enum msp_watch_flag). */
void msp_watch_set(unsigned flag, bool on);

/* Nanoseconds of a clock; 0 while events are not reported. */
uint64_t msp_watch_now(void);

/* Receives events of chunks: msp_watch_start() sets it before the first flag is set. */
struct msp_chunk_watcher {
    /* A driver gave a chunk. started_ns: msp_watch_now() before the call. The provider's held_bytes
     * count the chunk already. */
    void (*taken)(const struct msp_chunk *chunk, uint64_t started_ns);
    /* It is about to get it back; held_bytes still count it. */
    void (*giving_back)(const struct msp_chunk *chunk);
};
extern _Atomic(const struct msp_chunk_watcher *) msp_chunk_watcher;

#endif /* MEMSPAN_CORE_ENGINE_WATCH_FLAG_H */
