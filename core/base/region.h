/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_BASE_REGION_H
#define MEMSPAN_CORE_BASE_REGION_H

/* Target regions of the program, for a backend whose devices stand in for those of the OpenMP
 * runtime: it opens its memory while a region runs. Only where the runtime's devices are the host's
 * own processors, so that a region runs in this process. */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct msp_region_watcher {
    void (*begin)(void *state, int ordinal); /* any thread; may be nested */
    void (*end)(void *state, int ordinal);
    /* A region that was given these has ended, and the program has yet to wait for it. */
    void (*unwaited)(void *state, int ordinal, void *const *operands, size_t operand_count);
    void (*waited)(void *state); /* it has now, for all regions */
    void *state;
    int device_count; /* they stand for the runtime's devices 0 .. device_count - 1 */
};

extern _Atomic(const struct msp_region_watcher *) msp_region_watchers;

/* This library's definitions come before the runtime's: the program's regions pass through it. */
bool msp_region_is_seen(void);

/* Begin to watch; @p watcher stays valid for the rest of the process. False when there is another
 * already, or this library would not see the program's regions: it was loaded behind the runtime.
 */
bool msp_region_watch(const struct msp_region_watcher *watcher);
void msp_region_unwatch(const struct msp_region_watcher *watcher);

static inline const struct msp_region_watcher *msp_region_watched(void)
{
    return atomic_load_explicit(&msp_region_watchers, memory_order_acquire);
}

/* Around the runtime's work on its device @p number. Returns the argument for leave(). */
static inline const struct msp_region_watcher *msp_region_enter(int number)
{
    const struct msp_region_watcher *w = msp_region_watched();

    if ((w == NULL) || (number < 0) || (number >= w->device_count)) {
        return NULL;
    }
    w->begin(w->state, number);
    return w;
}

static inline void msp_region_leave(const struct msp_region_watcher *entered, int number)
{
    if (entered != NULL) {
        entered->end(entered->state, number);
    }
}

#endif /* MEMSPAN_CORE_BASE_REGION_H */
