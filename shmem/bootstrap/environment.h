/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_BOOTSTRAP_ENVIRONMENT_H
#define MEMSPAN_SHMEM_BOOTSTRAP_ENVIRONMENT_H

/* Launchers' variables in the environment. These variables are theirs, not ours: they are in no
 * table of options, and are read when a job is opened, never kept. */

#include "core/base/variable.h"

/* What a launcher that is not talking to us says of the job. */
struct msp_bootstrap_claim {
    const char *variable; /* where it says so; NULL: no launcher left a trace */
    const char *launcher; /* in words */
    const char *remedy;   /* how to start programs by it so that they find each other */
    int pe_count;         /* 0: it does not say */
};
struct msp_bootstrap_claim msp_bootstrap_find_claim(void);

#endif /* MEMSPAN_SHMEM_BOOTSTRAP_ENVIRONMENT_H */
