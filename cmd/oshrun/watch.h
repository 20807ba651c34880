/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_WATCH_H
#define OSHRUN_WATCH_H

/* From the first PE's start to the last one's end: which PE failed, what that means for the others,
 * and the exit status.
 *
 * A job ends when all its PEs have exited. It is ended (SIGTERM, then SIGKILL) when a PE calls
 * shmem_global_exit(), is killed, exits with a status that is not 0 before it has finalized, or
 * exits while others wait for it; at its time limit; and on a signal of the user. The first of
 * these gives the status. */

#include "guard.h"
#include "job.h"
#include "output.h"
#include "server.h"
#include <signal.h>

struct watch {
    struct job *job;
    struct guard *guard;
    struct output *output;
    const struct server *server; /* event_fd is -1 without a server */
    int signal_fd;
    int error_fd;      /* struct start_error of PEs that could not run the program */
    double deadline_s; /* 0: none */
    double give_up_s;  /* end of the time that a forwarded signal gives the PEs; 0: none */
    double kill_at_s;  /* 0: not ending */
    int status;        /* exit status, once is_decided */
    bool is_decided;
    bool is_ending;
    int forwarded; /* the last forwarded signal that ends the job */
    double forwarded_at_s;
    int forwarded_count; /* number of these */
};

/* Block the signals that are forwarded or waited for. */
void watch_block_signals(sigset_t *before_p);

/* Run until all PEs have ended. Returns the exit status; watch->forwarded: a signal was the
 * cause. */
int watch_run(struct watch *watch);

#endif /* OSHRUN_WATCH_H */
