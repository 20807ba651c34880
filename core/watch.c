/* SPDX-License-Identifier: BSD-3-Clause */
/* watch.c: the flags that say who watches allocations. */

#include "core/watch.h"
#include <pthread.h>

atomic_uint memspan_watch_flags;

void memspan_watch_set(unsigned flag, bool on)
{
    if (on) {
        atomic_fetch_or(&memspan_watch_flags, flag);
    } else {
        atomic_fetch_and(&memspan_watch_flags, ~flag);
    }
}

static void start(void)
{
}

void memspan_watch_start(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, start);
}
