/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_LOCK_H
#define MEMSPAN_SHMEM_LOCK_H

/* Locks of the whole job: a symmetric long, 0 at first; whoever asks waits in line. */

#include "shmem/rma.h"

/* Wait for it. Fatal, in the checked mode, when this PE has it already. */
void memspan_lock_set(const char *call, long *lock);
/* Completes what was put before (the default context), and hands it to the next in line. */
void memspan_lock_clear(const char *call, long *lock);
/* True when it was taken; false when somebody has it. */
bool memspan_lock_try(const char *call, long *lock);

#endif /* MEMSPAN_SHMEM_LOCK_H */
