/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_CONTROL_DOORBELL_H
#define MEMSPAN_SHMEM_CONTROL_DOORBELL_H

/* Doorbells: how a PE of this host that sleeps learns of a store.
 *
 * A thread that has waited long enough counts itself among its PE's sleepers, makes every processor
 * of the job pass a barrier (membarrier), polls once more, and sleeps on the doorbell. A PE that
 * has stored something for another looks at the sleepers afterwards, by a plain load: either that
 * load sees the sleeper, or the barrier has made the store visible before the sleeper's last poll.
 * Flags of the library and memory of the program are waited for apart, and of the latter the
 * doorbell has the addresses: a PE that sleeps in a barrier is not woken by puts. */

#include "core/base/platform.h"
#include <stdatomic.h>

/* Written when a thread sleeps, and read by all who store to this PE. */
struct msp_doorbell {
    _Alignas(MSP_CACHE_LINE_BYTES) atomic_uint sleepers; /* that wait for flags of the library */
    atomic_uint memory_sleepers;                         /* that wait for memory of the program, */
    _Atomic uint64_t watch_first;                        /* from here (segment << 48 | offset) */
    _Atomic uint64_t watch_last;                         /* to here */
    atomic_uint notifications;                           /* futex word */
    atomic_uint is_finalizing; /* in its last barrier: it starts no operations any more */
    atomic_uint sleeps;        /* waits that went to sleep, so far */
    atomic_int processor;      /* on which its last long wait was, from 1; 0: there was none */
};

struct msp_doorbells {
    struct msp_doorbell *by_index; /* by local index; NULL: there is no control memory */
    bool is_ordered;               /* membarrier() reaches every PE: no notification is lost */
};

extern struct msp_doorbells msp_doorbells MSP_HIDDEN;

void msp_doorbell_notify_slow(int local_index) __attribute__((cold));
void msp_doorbell_notify_at_slow(int local_index, const void *address, size_t size_bytes)
    __attribute__((cold));

/* A flag of the library was changed for the PE with that local index. */
static inline void msp_doorbell_notify(int local_index)
{
    struct msp_doorbell *doorbell = &msp_doorbells.by_index[local_index];

    if (MSP_UNLIKELY(atomic_load_explicit(&doorbell->sleepers, memory_order_relaxed) != 0)) {
        msp_doorbell_notify_slow(local_index);
    }
}

/* [@p address, + @p size_bytes) of its memory was stored to; this PE's address. */
static MSP_ALWAYS_INLINE void msp_doorbell_notify_at(int local_index, const void *address,
                                                     size_t size_bytes)
{
    struct msp_doorbell *doorbell = &msp_doorbells.by_index[local_index];

    if (MSP_UNLIKELY(atomic_load_explicit(&doorbell->memory_sleepers, memory_order_relaxed) != 0)) {
        msp_doorbell_notify_at_slow(local_index, address, size_bytes);
    }
}

#endif /* MEMSPAN_SHMEM_CONTROL_DOORBELL_H */
