/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.c: one word has the calls under way and the end, so that a call either begins before the
 * end and is waited for, or sees it. */

#include "core/base/calls.h"
#include "core/base/platform.h"
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
    ENDED = 1,
    CALL  = 2,
    /* A library that hangs must not keep the process. */
    WAIT_MAX_MS = 2000,
};

/* Calls that this thread is in: exit() may be called in one, by a handler of a signal. */
static _Thread_local unsigned depth;
static _Thread_local const struct msp_calls *held;

bool msp_calls_begin(struct msp_calls *calls)
{
    /* Pairs with end_all(). */
    if (MSP_UNLIKELY((atomic_fetch_add(&calls->word, CALL) & ENDED) != 0) && (held != calls)) {
        atomic_fetch_sub(&calls->word, CALL);
        return false;
    }
    depth++;
    return true;
}

void msp_calls_end(struct msp_calls *calls)
{
    depth--;
    atomic_fetch_sub(&calls->word, CALL);
}

bool msp_calls_hold(struct msp_calls *calls)
{
    if (!msp_calls_begin(calls)) {
        return false;
    }
    held = calls;
    return true;
}

void msp_calls_release(struct msp_calls *calls)
{
    held = NULL;
    msp_calls_end(calls);
}

static void end_all(int status, void *argument)
{
    struct msp_calls *calls = argument;
    int waited_ms;

    (void)status;
    held = NULL;
    atomic_fetch_or(&calls->word, ENDED);
    for (waited_ms = 0; (getpid() == calls->pid) && (atomic_load(&calls->word) / CALL > depth) &&
                        (waited_ms < WAIT_MAX_MS);
         waited_ms++) {
        nanosleep(&(struct timespec){.tv_nsec = 1000 * 1000}, NULL);
    }
}

void msp_calls_watch_exit(struct msp_calls *calls)
{
    calls->pid = getpid();
    (void)on_exit(end_all, calls);
}
