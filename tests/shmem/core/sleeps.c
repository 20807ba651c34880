/* SPDX-License-Identifier: BSD-3-Clause */
/* sleeps.c: what sleeps.h says. */

#include "tests/shmem/core/sleeps.h"
#include <dlfcn.h>
#include <linux/futex.h>
#include <memspan/status.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/syscall.h>

atomic_bool sleeps_are_endless;
atomic_uint sleeps_begun;
atomic_uint yields_made;
void (*_Atomic on_sleep)(void);
void (*_Atomic on_yield)(void);

enum { ARGUMENTS = 6, OPERATION = 1, TIMEOUT = 3 };

MEMSPAN_API long syscall(long number, ...);
MEMSPAN_API int sched_yield(void);

static void call_hook(void (*hook)(void))
{
    if (hook != NULL) {
        hook();
    }
}

long syscall(long number, ...)
{
    static long (*_Atomic next)(long number, ...);
    long (*call)(long number_, ...) = atomic_load(&next);
    long arguments[ARGUMENTS];
    va_list list;
    int i;

    if (call == NULL) {
        *(void **)&call = dlsym(RTLD_NEXT, "syscall");
        atomic_store(&next, call);
    }
    va_start(list, number);
    for (i = 0; i < ARGUMENTS; i++) {
        arguments[i] = va_arg(list, long);
    }
    va_end(list);
    if ((number == SYS_futex) && ((int)arguments[OPERATION] == FUTEX_WAIT)) {
        atomic_fetch_add(&sleeps_begun, 1);
        call_hook(atomic_load(&on_sleep));
        arguments[TIMEOUT] = atomic_load(&sleeps_are_endless) ? 0 : arguments[TIMEOUT];
    }
    return call(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4],
                arguments[5]);
}

int sched_yield(void)
{
    atomic_fetch_add(&yields_made, 1);
    call_hook(atomic_load(&on_yield));
    return (int)syscall(SYS_sched_yield, 0L, 0L, 0L, 0L, 0L, 0L);
}
