/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_TRANSPORT_ORDER_H
#define MEMSPAN_SHMEM_TRANSPORT_ORDER_H

/* Fence and quiet. Mapped memory needs the processor's fences alone; outstanding operations of
 * transports are ordered and completed by msp_order_slow(). */

#include "shmem/context.h"

/* True once a transport has had operations outstanding, on any context. */
extern atomic_bool msp_order_pending MSP_HIDDEN;

void msp_order_slow(const struct msp_context *context, bool completes) __attribute__((cold));

/* Operations before it are delivered to each PE before those after it. */
static inline void msp_fence(const struct msp_context *context)
{
    atomic_thread_fence(memory_order_release);
    if (MSP_UNLIKELY(atomic_load_explicit(&msp_order_pending, memory_order_relaxed))) {
        msp_order_slow(context, false);
    }
}

/* All operations of the context are complete, and visible to all PEs. */
static inline void msp_quiet(const struct msp_context *context)
{
    atomic_thread_fence(memory_order_seq_cst);
    if (MSP_UNLIKELY(atomic_load_explicit(&msp_order_pending, memory_order_relaxed))) {
        msp_order_slow(context, true);
    }
}

#endif /* MEMSPAN_SHMEM_TRANSPORT_ORDER_H */
