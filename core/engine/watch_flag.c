/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/engine/watch_flag.h"
#include "core/engine/thread.h"
#include <time.h>

_Atomic(const struct msp_chunk_watcher *) msp_chunk_watcher;
atomic_uint msp_watch_flags;

void msp_watch_set(unsigned flag, bool on)
{
    bool watched;

    if (on) {
        atomic_fetch_or(&msp_watch_flags, flag);
    } else {
        atomic_fetch_and(&msp_watch_flags, ~flag);
    }
    if (flag == MSP_WATCH_FOLLOW) {
        return;
    }
    do { /* another thread may set flags meanwhile */
        watched = !msp_is_unwatched();
        msp_thread_set_watched(watched);
    } while (!msp_is_unwatched() != watched);
}

uint64_t msp_watch_now(void)
{
    struct timespec now;

    if (!msp_watching()) {
        return 0;
    }
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}
