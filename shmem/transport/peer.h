/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_TRANSPORT_PEER_H
#define MEMSPAN_SHMEM_TRANSPORT_PEER_H

/* The fast path: memory of a PE of this host that is mapped here. Every operation begins so:
 *
 *     unsigned index;
 *     long *to = msp_peer_resolve(dest, sizeof *dest, pe, &index);
 *     if (MSP_LIKELY(to != NULL)) {
 *         ... the processor's own load, store or atomic ...
 *         msp_peer_notify(index, dest, sizeof *dest);
 *     }
 *
 * and takes a target (transport.h) where there is no such address, which also reports wrong
 * arguments. */

#include "shmem/control/memory.h"
#include "shmem/transport/transport.h"

/* Where [@p address, + @p size_bytes) of @p pe is in this process's memory; NULL: nowhere. *index_p
 * is the PE's local index. */
static MSP_ALWAYS_INLINE void *msp_peer_resolve(const void *address, size_t size_bytes, int pe,
                                                unsigned *index_p)
{
    const struct msp_segment *segment = msp_segment_near(address);
    unsigned index                    = (unsigned)(pe - msp_job.first_local);
    size_t offset;

    *index_p = index;
    if (MSP_UNLIKELY(segment == NULL)) {
        return NULL;
    }
    offset = (size_t)((uintptr_t)address - (uintptr_t)segment->base);
    if (MSP_LIKELY((index < segment->reach_count) && (offset < segment->size_bytes) &&
                   (size_bytes <= segment->size_bytes - offset))) {
        return (void *)((uintptr_t)address + (uintptr_t)segment->to_window +
                        (index * segment->stride_bytes));
    }
    return NULL;
}

/* [@p address, + @p size_bytes), this PE's address, was stored to in the copy of that PE. */
static MSP_ALWAYS_INLINE void msp_peer_notify(unsigned index, const void *address,
                                              size_t size_bytes)
{
    msp_doorbell_notify_at((int)index, address, size_bytes);
}

/* The same for a target on a PE of this host. */
static inline void msp_target_notify(const struct msp_target *target, size_t size_bytes)
{
    msp_peer_notify((unsigned)msp_job_local_index(target->pe),
                    target->segment->base + target->offset_bytes, size_bytes);
}

#endif /* MEMSPAN_SHMEM_TRANSPORT_PEER_H */
