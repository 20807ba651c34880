/* SPDX-License-Identifier: BSD-3-Clause */
/* daemon.c: finding and ending a launcher that hangs. */

#include "shmem/bootstrap/sources.h"
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    GENERATIONS_MAX = 8, /* from a PE to its daemon: scripts and debuggers are between */
    SIGNALS         = 3, /* mpirun takes a second one within five seconds for an order */
    PAUSE_MS        = 250,
};

enum relation { STRANGER, OF_THE_JOB, OF_MANY_JOBS };

/* By the names of their processes (at most 15 characters). Slurm ends its steps by itself. */
static enum relation recognise(const char *name)
{
    static const struct {
        const char *name;
        enum relation relation;
    } rows[] = {
        {"orted", OF_THE_JOB},   {"mpirun", OF_THE_JOB},         {"mpiexec", OF_THE_JOB},
        {"orterun", OF_THE_JOB}, {"mpirun.openmpi", OF_THE_JOB}, {"prterun", OF_THE_JOB},
        {"prted", OF_MANY_JOBS}, {"prte", OF_MANY_JOBS},
    };
    size_t i;

    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(name, rows[i].name) == 0) {
            return rows[i].relation;
        }
    }
    return STRANGER;
}

/* "PID (name) S PARENT ...": the name may have anything in it. False: there is no such process. */
static bool read_process(int pid, char *name, size_t name_bytes, int *parent_p)
{
    char path[64];
    char text[512];
    ssize_t length;
    char *first;
    char *last;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    fd     = open(path, O_RDONLY | O_CLOEXEC);
    length = (fd >= 0) ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0) {
        close(fd);
    }
    text[(length > 0) ? length : 0] = '\0';
    first                           = strchr(text, '(');
    last                            = strrchr(text, ')');
    if ((first == NULL) || (last == NULL) || (sscanf(last + 1, " %*c %9d", parent_p) != 1)) {
        return false;
    }
    snprintf(name, name_bytes, "%.*s", (int)(last - first - 1), first + 1);
    return true;
}

/* 0: none. */
static int find_daemon(enum relation *relation_p)
{
    int pid = (int)getppid();
    int i;

    for (i = 0; (i < GENERATIONS_MAX) && (pid > 1); i++) {
        char name[64];
        int parent = 0;

        if (!read_process(pid, name, sizeof name, &parent)) {
            return 0;
        }
        *relation_p = recognise(name);
        if (*relation_p != STRANGER) {
            return pid;
        }
        pid = parent;
    }
    return 0;
}

/* It has none of this process's descriptors: their readers are not to wait for it. mpirun may take
 * signals that come together for one, or hang in the handler, where it calls exit(). */
static void watch(int pid, unsigned after_s)
{
    const struct timespec pause = {0, PAUSE_MS * 1000000L};
    unsigned looks              = after_s * 1000 / PAUSE_MS;
    unsigned i;

    syscall(SYS_close_range, 0, ~0U, 0);
    prctl(PR_SET_NAME, "memspan end");
    for (i = 0; i < 2 * looks; i++) {
        int number = ((i >= looks) && (i < looks + SIGNALS)) ? SIGTERM : 0;

        if (kill(pid, number) != 0) {
            return;
        }
        nanosleep(&pause, NULL);
    }
    (void)kill(pid, SIGKILL);
}

/* Not fork(), which waits for locks that the end of this process may hold. A daemon ends a job by
 * killing groups of processes: the watcher leaves that of this PE before the daemon is signalled.
 * One of many jobs, which is not to be ended where it has ended this job, does kill the watcher. */
void msp_bootstrap_end_daemon(unsigned after_s)
{
    enum relation relation = STRANGER;
    int pid                = find_daemon(&relation);
    pid_t watcher          = 0;

    if (pid <= 1) {
        return;
    }
    watcher = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (watcher == 0) {
        watch(pid, after_s);
        _exit(0);
    }
    if ((watcher > 0) && (relation == OF_THE_JOB)) {
        (void)setpgid(watcher, watcher);
    }
}
