/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_TRANSPORT_ATOMIC_H
#define MEMSPAN_SHMEM_TRANSPORT_ATOMIC_H

/* Atomic operations on one word of another PE: the processor's own where it is mapped here. All
 * operations on one word go the same way: what is not mapped is done by its owner's service, for
 * the owner too.
 *
 *     unsigned index;
 *     long *to = msp_segment_peer(dest, sizeof *dest, pe, &index);
 *     if (to != NULL) { old = __atomic_fetch_add(to, value, __ATOMIC_ACQ_REL);
 *                       msp_doorbell_notify_at(index, dest, sizeof *dest);
 *                       return old; }
 *     return (long)msp_atomic_slow(call, context, MSP_ATOMIC_ADD, dest, sizeof *dest,
 * value, 0, pe);
 */

#include "shmem/transport/rma.h"
#include "shmem/transport/transport.h"

/* The word's old bits. @p size_bytes is 4 or 8 (1 and 2 are for old names of short types). Fatal
 * when the address, the PE or the alignment is wrong. */
uint64_t msp_atomic_slow(const char *call, const struct msp_context *context,
                         enum msp_atomic operation, const void *dest, size_t size_bytes,
                         uint64_t value, uint64_t condition, int pe) __attribute__((cold));

/* The same operation on a word of this process's memory. */
uint64_t msp_atomic_apply(enum msp_atomic operation, void *word, size_t size_bytes, uint64_t value,
                          uint64_t condition);

/* Signals: set or add on a uint64_t. @p adds: SHMEM_SIGNAL_ADD. */
static inline void msp_signal(const char *call, const struct msp_context *context, uint64_t *signal,
                              uint64_t value, bool adds, int pe)
{
    unsigned index;
    uint64_t *to = msp_segment_peer(signal, sizeof *signal, pe, &index);

    if (MSP_LIKELY(to != NULL)) {
        if (adds) {
            __atomic_fetch_add(to, value, __ATOMIC_ACQ_REL);
        } else {
            __atomic_store_n(to, value, __ATOMIC_RELEASE);
        }
        msp_doorbell_notify_at((int)index, signal, sizeof *signal);
        return;
    }
    (void)msp_atomic_slow(call, context, adds ? MSP_ATOMIC_ADD : MSP_ATOMIC_SET, signal,
                          sizeof *signal, value, 0, pe);
}

#endif /* MEMSPAN_SHMEM_TRANSPORT_ATOMIC_H */
