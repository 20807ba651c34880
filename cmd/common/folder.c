/* SPDX-License-Identifier: BSD-3-Clause */
/* folder.c: the guard reads from a pipe that is never written to: its end means that this process
 * has ended. It is in a session of its own, where signals of the terminal do not reach it. */

#include "cmd/common/folder.h"
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    (void)remove(path);
    return 0;
}

void cli_folder_remove(const char *folder)
{
    (void)nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

static void guard(const char *folder, int end_fd)
{
    sigset_t all;
    char byte;

    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    (void)setsid();
    (void)prctl(PR_SET_NAME, "folder guard");
    (void)dup2(end_fd, 0);
    (void)syscall(SYS_close_range, 1, ~0U, 0);
    while ((read(0, &byte, 1) < 0) && (errno == EINTR)) {
    }
    cli_folder_remove(folder);
    _exit(0);
}

bool cli_folder_guard(const char *folder)
{
    int ends[2];
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC) != 0) {
        return false;
    }
    pid = fork();
    if (pid == 0) {
        (void)close(ends[1]);
        guard(folder, ends[0]);
    }
    (void)close(ends[0]);
    return pid > 0; /* ends[1] stays open until this process ends */
}
