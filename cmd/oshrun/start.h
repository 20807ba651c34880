/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_START_H
#define OSHRUN_START_H

/* Start of PEs: environment, binding, and that they do not outlive the launcher. */

#include "job.h"
#include "output.h"
#include <signal.h>
#include <sys/resource.h>

struct starter {
    const struct job *job;
    const struct output *output;
    const char *path;         /* path of the program */
    char *const *environment; /* of the launcher, without variables of other jobs */
    struct rlimit files;      /* RLIMIT_NOFILE of the PEs */
    sigset_t signals;         /* signal mask of the PEs */
    int error_fd;             /* a PE that cannot run the program sends struct start_error */
    int error_pe_fd;
};

struct start_error {
    int pe;
    int code; /* errno */
};

/* Find the program as a shell does. Ends the process with a message when there is none. */
const char *start_find(const char *program);

/* The environment without variables that other launchers have set for their own processes, and
 * with those of the command line. NULL without memory. */
char **start_environment(char **settings);

/* Fork PE number pe with additional variables. False after a message. */
bool start_pe(const struct starter *starter, struct pe *record, int pe, char *const *variables);

#endif /* OSHRUN_START_H */
