/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_JOB_H
#define OSHRUN_JOB_H

/* The job: the file that the PEs share with the launcher (memspan/launch.h), and the state of
 * each PE. */

#include "options.h"
#include <memspan/launch.h>
#include <sys/types.h>

struct pe {
    pid_t pid; /* and process group; 0: not started, or reaped */
    pid_t last_pid;
    bool has_ended;
    int wait_status;
    uint32_t last_state; /* at its end: enum memspan_launch_state */
    double ended_at_s;
    enum memspan_launch_state pmix_state; /* the same, from the PMIx server */
};

struct job {
    const struct options *options;
    struct memspan_launch_header *header;
    int fd; /* of the job file; PEs inherit it under this number */
    int pe_count;
    int alive_count;
    struct pe *pes;
};

/* Creates the job file. False after a message. */
bool job_open(struct job *job, const struct options *options);

/* State of a PE by the job file and by the PMIx server: attached if either says so. */
enum memspan_launch_state job_state(const struct job *job, int pe);

/* Signal every running PE and its process group. */
void job_signal(const struct job *job, int signal);

/* Seconds of the monotonic clock. */
double now_s(void);

#endif /* OSHRUN_JOB_H */
