/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_TRANSPORT_OWN_H
#define MEMSPAN_SHMEM_TRANSPORT_OWN_H

/* Operations on this PE's own memory, also where the host can neither load nor store it: those that
 * a thread executes for other PEs, and this PE's operations on itself. Atomics on such memory are
 * the owner's alone, on a copy under one lock: kernels ask it for them, too
 * (shmem/device/device.h). All others are the processor's. @p call: for messages. */

#include "shmem/transport/transport.h"
#include <pthread.h>

/* The old bits. */
uint64_t msp_own_atomic(const char *call, void *word, const struct msp_atomic_request *request);

/* The word that a wait or test looks at; false when the host can load it. */
bool msp_own_load(const void *address, size_t size_bytes, uint64_t *value_p);

/* Puts and gets of another PE on this one's memory: a word in one piece, as threads of this PE may
 * be waiting for it. */
void msp_own_put(const char *call, void *own, const void *data, size_t size_bytes);
void msp_own_get(const char *call, void *data, void *own, size_t size_bytes);

/* The thread sanitizer does not see the order of other processes: a PE that has waited for a
 * neighbour in a group, which has waited for PEs of other hosts, has also waited for the operations
 * that the thread has executed here. Both call it, before and after. */
#if defined(__SANITIZE_THREAD__)
void msp_own_order(void);
#else
static inline void msp_own_order(void)
{
}
#endif

/* This PE's threads: [@p address, + @p size_bytes) of that segment was stored to. */
void msp_own_notify(unsigned segment, const void *address, size_t size_bytes);

/* Old bits to the place that a request names. */
void msp_own_fetched(const struct msp_atomic_request *request, uint64_t old);

/* A thread that executes for other PEs: it takes no signals, which are the program's. @p what: for
 * messages. */
memspan_status_t msp_own_thread_start(pthread_t *thread_p, void *(*run)(void *), const char *what);

#endif /* MEMSPAN_SHMEM_TRANSPORT_OWN_H */
