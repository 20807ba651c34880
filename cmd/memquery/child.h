/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMQUERY_CHILD_H
#define MEMQUERY_CHILD_H

/* One piece of work in a process of its own, under a time limit. */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* How a child ended. */
enum child_end {
    CHILD_ANSWERED, /* its whole answer is here */
    CHILD_CRASHED,  /* a signal ended it */
    CHILD_LEFT,     /* it ended without an answer: somebody called exit() */
    CHILD_HUNG,     /* the time was up */
    CHILD_NOT_MADE  /* the system gave no process or pipe; a message was printed */
};

struct bytes {
    char *data; /* not terminated */
    size_t size_bytes;
};

struct child_result {
    enum child_end end;
    int code;           /* what the work returned; signal number; exit status */
    double limit_s;     /* the time it had */
    struct bytes out;   /* what it answered; empty unless CHILD_ANSWERED */
    struct bytes error; /* the end of what it wrote to standard output and standard error */
};

/* The work: prints its answer to @p out and returns a code. */
typedef int (*child_work_t)(void *context, FILE *out);

/* Run @p work in a child. No process is left behind: the child leads a process group, and whatever
 * is still in it is killed at the end, also when a signal ends this process meanwhile. */
void child_run(child_work_t work, void *context, double limit_s, struct child_result *result_p);

void child_result_free(struct child_result *result);

#endif /* MEMQUERY_CHILD_H */
