/* SPDX-License-Identifier: BSD-3-Clause */
/* descriptor.c: pidfd_getfd() needs the right to attach to the other process (ptrace). The same
 * user has it, unless Yama (kernel.yama.ptrace_scope) or a container's seccomp filter is in the
 * way. */

#include "backends/gpu/common.h"
#include "core/base/file.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif

bool gpu_scope_allows(const char *path)
{
    char text[16];

    /* 0: the same user may; 1: the process named by PR_SET_PTRACER; 2 and 3: privileged processes.
     */
    return (msp_file_read(path, text, sizeof(text)) <= 0) || (atoi(text) < 2);
}

/* Whether the kernel has the call and no filter refuses it: a process may always fetch its own. */
static bool can_fetch(void)
{
    int process = (int)syscall(SYS_pidfd_open, getpid(), 0u);
    int fd      = (process < 0) ? -1 : (int)syscall(SYS_pidfd_getfd, process, process, 0u);

    if (fd >= 0) {
        close(fd);
    }
    if (process >= 0) {
        close(process);
    }
    return fd >= 0;
}

bool gpu_offers_fds(void)
{
    return (prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 1) &&
           gpu_scope_allows("/proc/sys/kernel/yama/ptrace_scope") && can_fetch();
}

/* Repeated at each export: the program may have named a debugger of its own since. Kernels without
 * Yama answer EINVAL, and need no permission. */
void gpu_offer_fds(void)
{
    (void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
}

memspan_status_t gpu_fetch_fd(const memspan_services_t *services, const char *backend, pid_t pid,
                              int theirs, int *fd_p)
{
    int process = (int)syscall(SYS_pidfd_open, pid, 0u);
    int fd      = (process < 0) ? -1 : (int)syscall(SYS_pidfd_getfd, process, theirs, 0u);
    int error   = errno;

    if (process >= 0) {
        close(process);
    }
    if (fd < 0) {
        return services->fail(
            (error == EPERM) ? MEMSPAN_ERR_PERMISSION : MEMSPAN_ERR_NOT_FOUND, backend,
            (process < 0) ? "pidfd_open" : "pidfd_getfd", error, strerror(error),
            "both processes must be of one user and one PID namespace; kernel.yama.ptrace_scope "
            "must be 0 or 1, and a container must allow pidfd_getfd (SYS_PTRACE)",
            "the memory of process %d cannot be fetched", (int)pid);
    }
    *fd_p = fd;
    return MEMSPAN_OK;
}
