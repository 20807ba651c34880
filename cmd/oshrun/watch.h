/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_WATCH_H
#define OSHRUN_WATCH_H

/* From the first PE's start to the last one's end: who died, what that means for the others, and
 * with what status the whole ends.
 *
 * A job ends by itself when all its PEs have exited. It is ended (SIGTERM, a moment later SIGKILL)
 * when a PE asked for it (shmem_global_exit), was killed, exited with a status that is not 0 before
 * it had finalized, or exited while others wait for it; and when its time is up or its user had
 * enough. The first of these gives the status. */

#include "guard.h"
#include "job.h"
#include "output.h"
#include "server.h"
#include <signal.h>

struct watch {
    struct job *job;
    struct guard *guard;
    struct output *output;
    const struct server *server; /* its event_fd is -1 when there is no server */
    int signal_fd;
    int error_fd;      /* PEs that could not run the program say why */
    double deadline_s; /* of the job; 0: none */
    double kill_at_s;  /* 0: not ending */
    int status;        /* of the whole, when is_decided */
    bool is_decided;
    bool is_ending;
    int forwarded;       /* the last signal that was meant to end the job, and was passed on */
    int forwarded_count; /* of such */
};

/* The signals that are passed on or waited for; all of them are blocked from here on. */
void watch_block_signals(sigset_t *before_p);

/* Until no PE is left. Returns the exit status; watch->forwarded tells whether a signal was the
 * cause. */
int watch_run(struct watch *watch);

#endif /* OSHRUN_WATCH_H */
