/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/fakes/suite/tracing.h"
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif

static struct {
    atomic_int tracing; /* enum tracing */
    atomic_bool offered;
} * shared;

void tracing_set(enum tracing tracing)
{
    if (shared == NULL) {
        void *page =
            mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (page == MAP_FAILED) {
            _exit(99);
        }
        shared = page;
    }
    atomic_store(&shared->tracing, (int)tracing);
    atomic_store(&shared->offered, false);
}

bool tracing_is_open(void)
{
    return (shared == NULL) || (atomic_load(&shared->tracing) == TRACING_OPEN);
}

bool tracing_is_offered(void)
{
    return (shared != NULL) && atomic_load(&shared->offered);
}

int __real_prctl(int option, ...);
int __wrap_prctl(int option, ...);
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

int __wrap_prctl(int option, ...)
{
    unsigned long with[4];
    va_list args;
    int i;

    va_start(args, option);
    for (i = 0; i < 4; i++) {
        with[i] = va_arg(args, unsigned long);
    }
    va_end(args);
    if ((option == PR_SET_PTRACER) && (shared != NULL)) {
        atomic_store(&shared->offered, with[0] == PR_SET_PTRACER_ANY);
    }
    return __real_prctl(option, with[0], with[1], with[2], with[3]);
}

/* A process may fetch its own: pidfd and descriptor are the same then. */
static bool refuses(long process, long fd)
{
    switch ((shared == NULL) ? TRACING_OPEN : atomic_load(&shared->tracing)) {
    case TRACING_NEVER:
        return true;
    case TRACING_NAMED:
        return (process != fd) && !atomic_load(&shared->offered);
    default:
        return false;
    }
}

long __wrap_syscall(long number, ...)
{
    long with[6];
    va_list args;
    int i;

    va_start(args, number);
    for (i = 0; i < 6; i++) {
        with[i] = va_arg(args, long);
    }
    va_end(args);
    if ((number == SYS_pidfd_getfd) && refuses(with[0], with[1])) {
        errno = EPERM;
        return -1;
    }
    return __real_syscall(number, with[0], with[1], with[2], with[3], with[4], with[5]);
}
