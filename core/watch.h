/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_WATCH_H
#define MEMSPAN_CORE_WATCH_H

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

#include <memspan/allocator.h>
#include <stdatomic.h>
#include <stdbool.h>

enum memspan_watch_flag {
    MEMSPAN_WATCH_HOOKS = 1,
    MEMSPAN_WATCH_TRACE = 2,
    MEMSPAN_WATCH_GUARD = 4,
};

extern atomic_uint memspan_watch_flags; /* changed by memspan_watch_set() alone */

/* True when events are to be reported. */
static inline bool memspan_watching(void)
{
    return (atomic_load_explicit(&memspan_watch_flags, memory_order_relaxed) &
            (MEMSPAN_WATCH_HOOKS | MEMSPAN_WATCH_TRACE)) != 0;
}

/* True when blocks are guarded. */
static inline bool memspan_guarding(void)
{
    return (atomic_load_explicit(&memspan_watch_flags, memory_order_relaxed) &
            MEMSPAN_WATCH_GUARD) != 0;
}

/* Set or clear a flag (enum memspan_watch_flag). */
void memspan_watch_set(unsigned flag, bool on);

/* Called before an allocator's first plan is made, hence before its first block: what the
 * environment asks to be watched begins. Any number of times, on any thread. */
void memspan_watch_start(void);

#endif /* MEMSPAN_CORE_WATCH_H */
