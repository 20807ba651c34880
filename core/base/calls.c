/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.c: one word has the calls under way and the end, so that a call either begins before the
 * end and is waited for, or sees it. */

#include "core/base/calls.h"
#include "core/base/fork.h"
#include "core/base/platform.h"
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
    ENDED = 1,
    CALL  = 2,
    /* A library that hangs must not keep the process. */
    WAIT_MAX_MS = 2000,
    /* Held calls, one of them, and one of another library, for memory of both. */
    DEPTH_MAX = 3,
};

/* Calls that this thread is in: exit() may be called in one, by a handler of a signal. The first
 * DEPTH_MAX have their names recorded. */
static _Thread_local unsigned depth;
static _Thread_local const struct msp_calls *inside[DEPTH_MAX];
static _Thread_local const struct msp_calls *held;

/* Those whose end is watched, for fork. Pairs with itself. */
static _Atomic(struct msp_calls *) watched;

static unsigned count_own(const struct msp_calls *calls)
{
    unsigned own = 0;
    unsigned i;

    for (i = 0; (i < depth) && (i < DEPTH_MAX); i++) {
        own += (inside[i] == calls);
    }
    return own;
}

bool msp_calls_begin(struct msp_calls *calls)
{
    /* Pairs with end_all(). */
    if (MSP_UNLIKELY((atomic_fetch_add(&calls->word, CALL) & ENDED) != 0) && (held != calls)) {
        atomic_fetch_sub(&calls->word, CALL);
        return false;
    }
    if (MSP_LIKELY(depth < DEPTH_MAX)) {
        inside[depth] = calls;
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
    for (waited_ms = 0;
         (getpid() == calls->pid) && (atomic_load(&calls->word) / CALL > count_own(calls)) &&
         (waited_ms < WAIT_MAX_MS);
         waited_ms++) {
        nanosleep(&(struct timespec){.tv_nsec = 1000 * 1000}, NULL);
    }
}

void msp_calls_watch_exit(struct msp_calls *calls)
{
    msp_fork_prepare();
    if (!atomic_exchange(&calls->is_watched, true)) {
        calls->pid  = getpid();
        calls->next = atomic_load(&watched);
        while (!atomic_compare_exchange_weak(&watched, &calls->next, calls)) {
        }
    }
    (void)on_exit(end_all, calls);
}

/* The child has this thread alone. Where no handler runs (_Fork()), it has another number. */
static void keep_own(void)
{
    struct msp_calls *calls;

    for (calls = atomic_load(&watched); calls != NULL; calls = calls->next) {
        unsigned ended = atomic_load(&calls->word) & ENDED;

        atomic_store(&calls->word, ended | (count_own(calls) * CALL));
        calls->pid = getpid(); /* theirs no more */
    }
}

MSP_FORK_ITEM(calls) = {.rank = MSP_RANK_OPTION_PROBLEMS, .after_child = keep_own};
