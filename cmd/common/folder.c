/* SPDX-License-Identifier: BSD-3-Clause */
/* folder.c: the guard reads from a pipe that is never written to: its end means that this process
 * has ended. It is in a session of its own, where signals of the terminal do not reach it. It makes
 * the folder itself: at no time is there one that is not removed. */

#include "cmd/common/cli.h"
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
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

struct answer {
    int problem; /* errno; 0: it is made */
    char end[6]; /* instead of the X */
};

__attribute__((noreturn)) static void guard(char *path, int answer_fd, int end_fd)
{
    struct answer answer = {0};
    sigset_t all;
    char byte;

    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    (void)setsid();
    (void)prctl(PR_SET_NAME, "folder guard");
    answer.problem = (mkdtemp(path) != NULL) ? 0 : errno;
    memcpy(answer.end, path + strlen(path) - sizeof(answer.end), sizeof(answer.end));
    (void)!write(answer_fd, &answer, sizeof(answer));
    if (answer.problem != 0) {
        _exit(1);
    }
    (void)dup2(end_fd, 0);
    (void)syscall(SYS_close_range, 1, ~0U, 0);
    while ((read(0, &byte, 1) < 0) && (errno == EINTR)) {
    }
    cli_folder_remove(path);
    _exit(0);
}

static bool start(char *path, const int answers[2], const int ends[2])
{
    struct answer answer = {.problem = EAGAIN};
    pid_t pid            = fork();
    ssize_t size;

    if (pid == 0) {
        (void)close(answers[0]);
        (void)close(ends[1]);
        guard(path, answers[1], ends[0]);
    }
    (void)close(answers[1]);
    do {
        size = (pid < 0) ? 0 : read(answers[0], &answer, sizeof(answer));
    } while ((size < 0) && (errno == EINTR));
    if (answer.problem == 0) {
        memcpy(path + strlen(path) - sizeof(answer.end), answer.end, sizeof(answer.end));
        return true;
    }
    if (pid > 0) {
        (void)waitpid(pid, NULL, 0);
    }
    errno = answer.problem;
    return false;
}

bool cli_folder_make(char *path)
{
    int answers[2];
    int ends[2];
    bool good;
    int problem;

    if (pipe2(answers, O_CLOEXEC) != 0) {
        return false;
    }
    if (pipe2(ends, O_CLOEXEC) != 0) {
        problem = errno;
        (void)close(answers[0]);
        (void)close(answers[1]);
        errno = problem;
        return false;
    }
    good    = start(path, answers, ends);
    problem = errno;
    (void)close(answers[0]);
    (void)close(ends[0]);
    if (!good) {
        (void)close(ends[1]); /* otherwise it stays open until this process ends */
    }
    errno = problem;
    return good;
}
