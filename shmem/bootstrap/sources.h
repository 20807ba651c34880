/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_BOOTSTRAP_SOURCES_H
#define MEMSPAN_SHMEM_BOOTSTRAP_SOURCES_H

/* Sources of the PEs of a job, in the order in which they are tried: the channel of our own
 * launcher (memspan/launch.h), PMIx (mpirun, prterun, Slurm), none: a job of one. */

#include "shmem/bootstrap.h"

extern const struct msp_bootstrap msp_bootstrap_launch;
extern const struct msp_bootstrap msp_bootstrap_pmix;
extern const struct msp_bootstrap msp_bootstrap_single;

/* The exit status of a process for that status: its low byte, but never 0 for a status other than
 * 0. */
static inline int msp_bootstrap_exit_code(int status)
{
    int code = status & 0xff;
    return status != 0 && code == 0 ? 1 : code;
}

#endif /* MEMSPAN_SHMEM_BOOTSTRAP_SOURCES_H */
