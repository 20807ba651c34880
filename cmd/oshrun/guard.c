/* SPDX-License-Identifier: BSD-3-Clause */
/* The guard reads from a pipe that is never written to: end of file means that the launcher has
 * ended. It is in a session of its own: signals of the terminal do not reach it. */

#include "cmd/common/cli.h"
#include "cmd/oshrun/oshrun.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SERVER_TIMEOUT_MS 3000

struct guard {
    size_t size_bytes;
    pid_t pid;
    int group_count;
    pid_t server_pid; /* 0: none */
    char folder[256];
    pid_t groups[];
};

static void wait_for_server(pid_t pid)
{
    struct pollfd end = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
    if (end.fd >= 0 && poll(&end, 1, SERVER_TIMEOUT_MS) == 0) {
        kill(pid, SIGKILL);
    }
}

static void watch(struct guard *guard, int read_fd)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    setsid();
    prctl(PR_SET_NAME, "oshrun guard");
    if (read_fd > 0) {
        dup2(read_fd, 0);
    }
    syscall(SYS_close_range, 1, ~0U, 0);

    char byte;
    while (read(0, &byte, 1) < 0 && errno == EINTR) {
    }
    for (int i = 0; i < guard->group_count; i++) {
        if (guard->groups[i] > 1) {
            kill(-guard->groups[i], SIGKILL);
        }
    }
    if (guard->server_pid > 0) {
        wait_for_server(guard->server_pid);
    }
    if (guard->folder[0] != '\0') {
        cli_folder_remove(guard->folder);
    }
    _exit(0);
}

struct guard *guard_open(int group_count)
{
    size_t size_bytes = sizeof(struct guard) + (size_t)group_count * sizeof(pid_t);
    int ends[2]       = {-1, -1};
    struct guard *guard =
        mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (guard == MAP_FAILED || pipe2(ends, O_CLOEXEC) != 0) {
        cli_complain("cannot create the guard's memory or pipe: %s", strerror(errno));
        return NULL;
    }
    guard->size_bytes  = size_bytes;
    guard->group_count = group_count;
    pid_t pid          = fork(); /* ends[1] stays open until the launcher ends */
    if (pid == 0) {
        close(ends[1]);
        watch(guard, ends[0]);
    }
    if (pid < 0) {
        cli_complain("cannot start the guard process: %s", strerror(errno));
        return NULL;
    }
    close(ends[0]);
    guard->pid = pid;
    return guard;
}

void guard_note(struct guard *guard, int i, pid_t group)
{
    __atomic_store_n(&guard->groups[i], group, __ATOMIC_RELAXED);
}

void guard_note_folder(struct guard *guard, const char *folder)
{
    snprintf(guard->folder, sizeof(guard->folder), "%s", folder);
}

void guard_note_server(struct guard *guard, pid_t pid)
{
    __atomic_store_n(&guard->server_pid, pid, __ATOMIC_RELAXED);
}

bool guard_owns(const struct guard *guard, pid_t pid)
{
    return pid == guard->pid;
}

void guard_close(struct guard *guard)
{
    kill(guard->pid, SIGKILL);
    while (waitpid(guard->pid, NULL, 0) < 0 && errno == EINTR) {
    }
    munmap(guard, guard->size_bytes);
}
