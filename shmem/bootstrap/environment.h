/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_BOOTSTRAP_ENVIRONMENT_H
#define MEMSPAN_SHMEM_BOOTSTRAP_ENVIRONMENT_H

/* Launchers' variables in the environment. These variables are theirs, not ours: they are in no
 * table of options, and are read when a job is opened, never kept. */

#include "core/base/variable.h"

/* The description of the job by a launcher without a channel to this process. */
struct msp_bootstrap_claim {
    const char *variable; /* where it has it so; NULL: no launcher left a trace */
    const char *launcher; /* in words */
    const char *remedy;   /* how to start programs by it so that they find each other */
    int pe_count;         /* 0: not given */
};
struct msp_bootstrap_claim msp_bootstrap_find_claim(void);

#endif /* MEMSPAN_SHMEM_BOOTSTRAP_ENVIRONMENT_H */
