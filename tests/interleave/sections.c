/* SPDX-License-Identifier: BSD-3-Clause */
/* sections.c: a thread's own section, and who stops all of them (core/engine/thread.h). */

#include "core/engine/thread.h"
#include "scenario.h"
#include <memspan/allocator.h>
#include <stddef.h>

/* Changed in sections, and by who has stopped them: never by both at once. */
static int heaps;
static atomic_int here;

static void know_threads(void)
{
    msp_thread_get();
}

static void know_no_barrier(void)
{
    scenario_without_membarrier = true;
    msp_thread_get();
}

/* Another thread may go on in the midst of it. */
static void change_heaps(void)
{
    heaps++;
    atomic_load_explicit(&here, memory_order_relaxed);
    heaps++;
}

static void enter_twice(void)
{
    struct msp_thread *t = msp_thread_get();
    int i;

    for (i = 0; i < 2; i++) {
        msp_thread_enter(t);
        change_heaps();
        msp_thread_leave();
    }
}

static void enter_fast(void)
{
    struct msp_thread *t = msp_thread_get();
    int i;

    for (i = 0; i < 2; i++) {
        if (msp_thread_enter_fast() == t) {
            change_heaps();
        }
        msp_thread_leave();
    }
}

static void stop(void)
{
    msp_thread_stop_all();
    change_heaps();
    msp_thread_resume_all();
}

static void stop_twice(void)
{
    stop();
    stop();
}

static void watch(void)
{
    msp_thread_set_watched(true);
    msp_thread_set_watched(false);
}

#define ALONE "no thread is in a section while another has stopped them"

static const struct scenario scenarios[] = {
    {"enter-stop", ALONE, know_threads, {enter_twice, stop}, NULL, 0, false, NULL},
    {"enter-fast-stop", ALONE, know_threads, {enter_fast, stop}, NULL, 0, false, NULL},
    {"enter-fast-stop-twice", ALONE, know_threads, {enter_fast, stop_twice}, NULL, 0, false, NULL},
    {"enter-stop-refused", ALONE, know_no_barrier, {enter_twice, stop}, NULL, 0, true, NULL},
    {"enter-fast-stop-refused", ALONE, know_no_barrier, {enter_fast, stop}, NULL, 0, true, NULL},
    {"stop-stop", ALONE, know_threads, {stop, stop, enter_fast}, NULL, 0, false, NULL},
    {"enter-watch", ALONE, know_threads, {enter_fast, watch, stop}, NULL, 0, false, NULL},
};
SCENARIO_TABLE(scenarios)
