/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_JOB_H
#define OSHRUN_JOB_H

/* The job: its file, which the PEs share with this process (memspan/launch.h), and what this
 * process knows of each of them. */

#include "options.h"
#include <memspan/launch.h>
#include <sys/types.h>

struct pe {
    pid_t pid; /* and process group; 0 when it was not started, or has been waited for */
    pid_t last_pid;
    bool is_gone;
    int wait_status;
    uint32_t last_state; /* when it went: enum memspan_launch_state */
    double gone_at_s;
    enum memspan_launch_state pmix_state; /* the same, as the PMIx server saw it */
};

struct job {
    const struct options *options;
    struct memspan_launch_header *header;
    int fd; /* the job file's; PEs inherit it under this number */
    int pe_count;
    int alive_count;
    struct pe *pes;
};

/* Makes the job file. False, having said why. */
bool job_open(struct job *job, const struct options *options);

/* Where a PE is, by what it says in the job file and to the PMIx server: inside, when it is inside
 * for one of them. */
enum memspan_launch_state job_state(const struct job *job, int pe);

/* To every living PE and what it has started. */
void job_signal(const struct job *job, int signal);

/* Seconds of a clock that only goes forward. */
double now_s(void);

#endif /* OSHRUN_JOB_H */
