/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_START_H
#define OSHRUN_START_H

/* Starting PEs: what they find in their environment, where they run, and that they do not outlive
 * this process. */

#include "job.h"
#include "output.h"
#include <signal.h>
#include <sys/resource.h>

struct starter {
    const struct job *job;
    const struct output *output;
    const char *path;         /* of the program */
    char *const *environment; /* of this process, without what names other jobs */
    struct rlimit files;      /* RLIMIT_NOFILE, likewise */
    sigset_t signals;         /* blocked in this process before it started anything */
    int error_fd;             /* a PE that cannot run the program says why: struct start_error */
    int error_pe_fd;
};

struct start_error {
    int pe;
    int code; /* errno */
};

/* The file that would be run: found as a shell finds it. Ends this process, saying why, when there
 * is none. */
const char *start_find(const char *program);

/* The environment without what launchers around this one have left for their own processes, and
 * with the settings of the command line. NULL without memory. */
char **start_environment(char **settings);

/* Fork PE number pe; the variables are added to its environment. False, having said why. */
bool start_pe(const struct starter *starter, struct pe *record, int pe, char *const *variables);

#endif /* OSHRUN_START_H */
