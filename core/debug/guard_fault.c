/* SPDX-License-Identifier: BSD-3-Clause */
/* guard_fault.c: the handler of SIGSEGV that belongs to the guard.
 *
 * The library has no signal handlers; this one is there because the user requested the guard, and
 * reports closed pages alone: a fault anywhere else goes to the previous handler. After the report
 * the instruction strikes again, with that earlier handler, or none, in place. The report takes
 * locks that the thread may have held when it struck; an alarm ends the program then. Where the
 * unwinder faults, the report is made without the callers. */

#include "core/base/fault.h"
#include "core/base/platform.h"
#include "core/debug/guard.h"
#include "core/debug/guard_report.h"
#include <errno.h>
#include <execinfo.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { FRAMES_MAX = 40, REPORT_S = 10 };

static struct sigaction earlier; /* whose the signal was */
static atomic_flag reporting = ATOMIC_FLAG_INIT;

/* The stack from the instruction on, without the handler's own frames. */
static size_t walk(const void *context, void **frames, void ***first_p)
{
    int count = backtrace(frames, FRAMES_MAX);
    int first = 0;

    while ((first < count) && ((uintptr_t)frames[first] != msp_fault_pc(context))) {
        first++;
    }
    if (first == count) {
        first = 0; /* unknown: show all */
    }
    *first_p = frames + first;
    return (size_t)(count - first);
}

/* The report under way, while the stack is walked. */
static struct {
    _Atomic pid_t thread; /* 0: none */
    const void *address;
    const void *context;
    const struct msp_guard_block *block;
} walking;

static void report(void *const *frames, size_t depth)
{
    atomic_store(&walking.thread, 0);
    msp_guard_report_fault(walking.address, msp_fault_access(walking.context) == MSP_FAULT_WRITE,
                           walking.block, frames, depth);
    alarm(0);
}

/* Whether a closed page was accessed, and that has been reported. */
static bool tell(const siginfo_t *info, const void *context)
{
    struct msp_guard_block block;
    void *frames[FRAMES_MAX];
    void **first;
    size_t depth;
    sigset_t signals;

    if ((info->si_code <= 0) || !msp_guard_find_closed(info->si_addr, &block)) {
        return false;
    }
    while (atomic_flag_test_and_set(&reporting)) {
        pause(); /* another thread's is being reported, and ends the program */
    }
    signal(SIGALRM, SIG_DFL);
    sigemptyset(&signals);
    sigaddset(&signals, SIGALRM);
    sigaddset(&signals, SIGSEGV);
    walking.address = info->si_addr;
    walking.context = context;
    walking.block   = &block;
    atomic_store(&walking.thread, gettid());
    pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
    alarm(REPORT_S);
    depth = walk(context, frames, &first);
    report(first, depth);
    return true;
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    int saved = errno;
    void *pc;

    if (atomic_load(&walking.thread) == gettid()) {
        pc = (void *)msp_fault_pc(walking.context);
        report(&pc, 1);
        signal(number, SIG_DFL);
    } else if (tell(info, context)) {
        sigaction(number, &earlier, NULL);
    } else {
        msp_fault_pass_on(&earlier, number, info, context);
    }
    errno = saved;
}

void msp_guard_fault_watch(void)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK};

    action.sa_sigaction = on_fault;
    sigemptyset(&action.sa_mask);
    (void)sigaction(SIGSEGV, &action, &earlier);
}
