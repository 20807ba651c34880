/* SPDX-License-Identifier: BSD-3-Clause */
/* call.c: the wrappers are as transparent as those of fork() are: a process that shares the memory
 * (CLONE_VM) needs nothing, another one is a fork. */

#include "cmd/common/cli.h"
#include "cmd/memspan-advise/preload/preload.h"
#include <dlfcn.h>
#include <errno.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static void (*leave_once)(void);

/* The next function of that name, which has a declaration here only to have its type. */
#define NEXT(name, type)                                                                           \
    static type next_##name(void)                                                                  \
    {                                                                                              \
        static type _Atomic known;                                                                 \
        type function = known;                                                                     \
        void *symbol;                                                                              \
                                                                                                   \
        if (function == NULL) {                                                                    \
            symbol = dlsym(RTLD_NEXT, #name);                                                      \
            memcpy(&function, &symbol, sizeof(function));                                          \
            known = function;                                                                      \
        }                                                                                          \
        return function;                                                                           \
    }

typedef pid_t (*fork_call)(void);
typedef int (*prctl_call)(int, ...);
typedef long (*system_call)(long, ...);
typedef int (*clone_call)(int (*)(void *), void *, int, void *, ...);
NEXT(_Fork, fork_call)
NEXT(prctl, prctl_call)
NEXT(syscall, system_call)
NEXT(clone, clone_call)

void call_open(void (*leave)(void))
{
    leave_once = leave;
    (void)next__Fork();
    (void)next_prctl();
    (void)next_syscall();
    (void)next_clone();
}

bool call_is_filtered(void)
{
    const char *before = cli_environment(CLI_LIBMEMSPAN_ADVISE_FILTERS);

    return (before != NULL) && (cli_filter_count() > atoi(before));
}

/* Before the filter counts. */
static void leave(void)
{
    if (leave_once != NULL) {
        leave_once();
    }
}

/* ---- processes ---- */

/* The work of fork()'s handlers. The program sees the call's errno. */
static long after(long made)
{
    int problem = errno;

    if (made == 0) {
        block_after_fork_in_child();
    } else {
        block_after_fork();
    }
    errno = problem;
    return made;
}

pid_t _Fork(void); /* since glibc 2.34 */

EXPORT pid_t _Fork(void)
{
    block_before_fork();
    return (pid_t)after(next__Fork()());
}

struct start {
    int (*function)(void *);
    void *argument;
};

static int start_child(void *data)
{
    struct start start = *(struct start *)data; /* in its copy of the parent's stack */

    block_after_fork_in_child();
    return start.function(start.argument);
}

EXPORT int clone(int (*function)(void *), void *stack, int flags, void *argument, ...)
{
    struct start start = {function, argument};
    pid_t *parent_p;
    pid_t *child_p;
    void *tls;
    va_list more;
    int made;

    va_start(more, argument);
    parent_p = va_arg(more, pid_t *);
    tls      = va_arg(more, void *);
    child_p  = va_arg(more, pid_t *);
    va_end(more);
    if ((flags & CLONE_VM) != 0) {
        return next_clone()(function, stack, flags, argument, parent_p, tls, child_p);
    }
    block_before_fork();
    made = next_clone()(start_child, stack, flags, &start, parent_p, tls, child_p);
    return (int)after(made); /* the child does not return from there */
}

/* ---- system calls ---- */

static bool makes_copy(long number, const long arguments[6])
{
    const struct clone_args *more;

    switch (number) {
#ifdef SYS_fork
    case SYS_fork:
        return true;
#endif
    case SYS_clone: /* with a stack of its own the child would not return from here */
        return ((arguments[0] & CLONE_VM) == 0) && (arguments[1] == 0);
    case SYS_clone3:
        more = (const void *)arguments[0]; // NOLINT
        return (more != NULL) && ((more->flags & CLONE_VM) == 0) && (more->stack == 0);
    default:
        return false;
    }
}

EXPORT long syscall(long number, ...)
{
    long a[6];
    va_list more;
    bool copies;
    long result;

    va_start(more, number);
    for (size_t i = 0; i < sizeof(a) / sizeof(a[0]); i++) {
        a[i] = va_arg(more, long);
    }
    va_end(more);
    if ((number == SYS_seccomp) && (a[0] <= SECCOMP_SET_MODE_FILTER)) {
        leave();
    }
    copies = makes_copy(number, a);
    if (copies) {
        block_before_fork();
    }
    result = next_syscall()(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    return copies ? after(result) : result;
}

EXPORT int prctl(int option, ...)
{
    unsigned long a[4];
    va_list more;

    va_start(more, option);
    for (size_t i = 0; i < sizeof(a) / sizeof(a[0]); i++) {
        a[i] = va_arg(more, unsigned long);
    }
    va_end(more);
    if (option == PR_SET_SECCOMP) {
        leave();
    }
    return next_prctl()(option, a[0], a[1], a[2], a[3]);
}
