/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_LOCK_H
#define MEMSPAN_SHMEM_LOCK_H

/* Locks of the whole job: a symmetric long, 0 at first. PEs wait in a queue, each at its own copy
 * of the word: the lock is fair, and waiters do not disturb its holder. @p call: for messages. */

#include "shmem/transport/rma.h"

/* Wait in the queue. */
void msp_lock_set(const char *call, long *lock);

/* Completes earlier puts (of the default context), and passes the lock to the next in the queue. */
void msp_lock_clear(const char *call, long *lock);

/* True when it was taken; false when another PE has it. */
bool msp_lock_try(const char *call, long *lock);

#endif /* MEMSPAN_SHMEM_LOCK_H */
