/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_BASE_CALLS_H
#define MEMSPAN_CORE_BASE_CALLS_H

/* Calls of another library, until exit.
 *
 * The destructors of that library run in exit(), while other threads go on. Once exit has begun the
 * calls under way are waited for, and no other begins. */

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

struct msp_calls {
    atomic_uint word;       /* 2 for each call under way; 1: exit has begun */
    pid_t pid;              /* whose calls they are: a child of fork has none of the threads */
    struct msp_calls *next; /* in the list of those that are watched: they are never freed */
    atomic_bool is_watched;
};

/* Registers a handler of exit that ends the calls. Handlers run in reverse order: to be called
 * again whenever the other library may have registered one. */
void msp_calls_watch_exit(struct msp_calls *calls);

/* False: exit has begun. True: msp_calls_end() follows. */
bool msp_calls_begin(struct msp_calls *calls);
void msp_calls_end(struct msp_calls *calls);

/* Begin and end of several calls of this thread, of which exit waits for the last: work that one
 * starts and another waits for. Not nested. False: exit has begun. */
bool msp_calls_hold(struct msp_calls *calls);
void msp_calls_release(struct msp_calls *calls);

#endif /* MEMSPAN_CORE_BASE_CALLS_H */
