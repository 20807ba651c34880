/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CMD_COMMON_CHILD_H
#define CMD_COMMON_CHILD_H

/* One child process: a program, or a function that may crash or hang. Its output is captured, its
 * time limited, its end described. */

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

/* How a child ended. */
enum cli_end {
    CLI_EXITED,     /* a program, with any status; a function, with its whole answer */
    CLI_KILLED,     /* by a signal */
    CLI_LEFT,       /* a function that called exit() instead of returning */
    CLI_TIMED_OUT,  /* killed at its limit */
    CLI_NOT_STARTED /* the system gave no process or pipe */
};

/* The work of a child that is a function: prints its answer to @p out and returns a code. */
typedef int (*cli_work_t)(void *context, FILE *out);

struct cli_child {
    const char *path;            /* a program, with its arguments and environment; or NULL: work */
    char *const *arguments;      /* argv, NULL at its end */
    char *const *environment;    /* NULL: this process's */
    const cpu_set_t *processors; /* of the program; NULL: this process's */
    cli_work_t work;
    void *context;
    double limit_s;
    double grace_s; /* at the limit: from SIGTERM to SIGKILL; 0: SIGKILL at once */
};

struct cli_bytes {
    char *data; /* a NUL follows; NULL where nothing was written */
    size_t size_bytes;
};

struct cli_result {
    enum cli_end end;
    int code; /* exit status, or what the work returned; signal number; errno */
    double limit_s;
    double wall_s;          /* from before its start to after its end */
    double cpu_s;           /* of it and of the children that it waited for */
    struct cli_bytes out;   /* standard output; of a function its answer, empty unless CLI_EXITED */
    struct cli_bytes error; /* standard error, of a function standard output too; the last 64 KiB */
};

/* Run a child to its end. It leads a process group, which is killed at its end, and also when a
 * signal ends this process meanwhile. */
void cli_child_run(const struct cli_child *child, struct cli_result *result_p);

void cli_result_free(struct cli_result *result);

/* "killed by signal 11 (Segmentation fault)", "exited with status 3", "ran past its limit of 10 s",
 * "cannot be started: No such file or directory". Returns @p text. */
const char *cli_result_text(const struct cli_result *result, char *text, size_t size_bytes);

/* The same of a status that waitpid() gave. */
const char *cli_status_text(int status, char *text, size_t size_bytes);

/* In a child: lead a process group and die with the parent. False where it is dead already. */
bool cli_follow_parent(pid_t parent);

#endif /* CMD_COMMON_CHILD_H */
