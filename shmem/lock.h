/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_LOCK_H
#define MEMSPAN_SHMEM_LOCK_H

/* Locks of the whole job: a symmetric long, 0 at first. Those who wait stand in a queue and each
 * waits at its own copy of the word, so that a long queue is served in order and does not slow down
 * who holds the lock. @p call: for messages. */

#include "shmem/transport/rma.h"

/* Wait in the queue. */
void msp_lock_set(const char *call, long *lock);

/* Completes what was put before (the default context), and hands it to the next in the queue. */
void msp_lock_clear(const char *call, long *lock);

/* True when it was taken; false when somebody has it. */
bool msp_lock_try(const char *call, long *lock);

#endif /* MEMSPAN_SHMEM_LOCK_H */
