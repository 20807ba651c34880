/* SPDX-License-Identifier: BSD-3-Clause */
/* no_descriptors.c: no-descriptors COMMAND...: runs COMMAND in a process without pidfd_getfd(), as
 * a container may be: memory of a device is then shared by the driver's own handle. Without
 * COMMAND: says whether a process may fetch a descriptor of another here. */

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif

static int refuse_fetching(void)
{
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_getfd, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof(steps) / sizeof(steps[0]), steps};

    return ((prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) &&
            (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0))
               ? 0
               : -1;
}

/* A child asks: Yama lets a parent always. */
static int say(void)
{
    pid_t child;

    (void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    child = fork();
    if (child == 0) {
        int process = (int)syscall(SYS_pidfd_open, getppid(), 0u);
        int fd      = (int)syscall(SYS_pidfd_getfd, process, STDOUT_FILENO, 0u);

        printf("pidfd_getfd %s\n", (fd >= 0) ? "works" : strerror(errno));
        fflush(stdout);
        _exit(0);
    }
    return (waitpid(child, NULL, 0) == child) ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        return say();
    }
    if (refuse_fetching() != 0) {
        fprintf(stderr, "no-descriptors: no filter of system calls: %s\n", strerror(errno));
        return 77;
    }
    execvp(argv[1], argv + 1);
    fprintf(stderr, "no-descriptors: %s: %s\n", argv[1], strerror(errno));
    return 127;
}
