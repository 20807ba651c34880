/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_TRANSPORT_RMA_H
#define MEMSPAN_SHMEM_TRANSPORT_RMA_H

/* Put and get: copies where the other PE's memory is mapped here, complete when they return (but
 * for the order in which others see them: order.h); a target's (transport.h) elsewhere.
 *
 * Sizes are bytes; PE numbers are the job's (context.h translates). @p call is the routine that the
 * program called, for messages. */

#include "shmem/context.h"
#include "shmem/transport/copy.h"
#include "shmem/transport/peer.h"
#include "shmem/transport/transport.h"
#include <string.h>

/* Out of line: through a target, with flags of msp_operation_flag. */
void msp_put_slow(const char *call, const struct msp_context *context, void *dest,
                  const void *source, size_t size_bytes, int pe, unsigned flags)
    __attribute__((cold));
void msp_get_slow(const char *call, const struct msp_context *context, void *dest,
                  const void *source, size_t size_bytes, int pe, unsigned flags)
    __attribute__((cold));

/* The host may load and store this PE's own memory there: it is not a device's. */
bool msp_rma_host_may_touch(const void *own);
static inline bool msp_rma_host_touches(const void *own)
{
    return MSP_LIKELY(!msp_job_has_device_memory()) || msp_rma_host_may_touch(own);
}

/* One instruction for one word: others may poll it. */
static inline void msp_rma_copy(void *to, const void *from, size_t size_bytes)
{
    if (size_bytes == 8) {
        memcpy(to, from, 8);
    } else if (size_bytes == 4) {
        memcpy(to, from, 4);
    } else if (size_bytes == 2) {
        memcpy(to, from, 2);
    } else {
        msp_copy_block(to, from, size_bytes);
    }
}

/* After a get: the PE's next loads are no older than the data it got, also on processors that load
 * out of order. A program that has got a flag then gets the data put before it. x86-64 loads in
 * order; a fence for the compiler alone would cost the copy its tail call. */
static inline void msp_rma_got(void)
{
#ifndef __x86_64__
    atomic_thread_fence(memory_order_acquire);
#endif
}

/* Between places in this process, either of which may be a device's. Fatal, for @p call, when the
 * driver fails. */
void msp_rma_move(const char *call, void *to, const void *from, size_t size_bytes);

/* The same of blocks, by one call of the driver; each stride is at least @p block_bytes. */
void msp_rma_move_blocks(const char *call, void *to, ptrdiff_t to_stride, const void *from,
                         ptrdiff_t from_stride, size_t block_bytes, size_t block_count);

/* Blocks of this process's memory, a device's or not, to one run of the host's: where they are
 * close to each other, by one copy of the driver. At least one block. */
void msp_rma_gather(const char *call, char *to, const char *from, ptrdiff_t stride_bytes,
                    size_t block_bytes, size_t block_count);

static inline void msp_put(const char *call, const struct msp_context *context, void *dest,
                           const void *source, size_t size_bytes, int pe, unsigned flags)
{
    unsigned index;
    void *to = msp_peer_resolve(dest, size_bytes, pe, &index);

    if (MSP_LIKELY((to != NULL) && msp_rma_host_touches(source))) {
        msp_rma_copy(to, source, size_bytes);
        msp_peer_notify(index, dest, size_bytes);
        return;
    }
    msp_put_slow(call, context, dest, source, size_bytes, pe, flags);
}

static inline void msp_get(const char *call, const struct msp_context *context, void *dest,
                           const void *source, size_t size_bytes, int pe, unsigned flags)
{
    unsigned index;
    const void *from = msp_peer_resolve(source, size_bytes, pe, &index);

    if (MSP_LIKELY((from != NULL) && msp_rma_host_touches(dest))) {
        msp_rma_copy(dest, from, size_bytes);
        msp_rma_got();
        return;
    }
    msp_get_slow(call, context, dest, source, size_bytes, pe, flags);
}

/* @p block_count blocks of @p block_bytes; from one to the next @p dest_stride_bytes and
 * @p source_stride_bytes (at least block_bytes, so that iput is the case of one element). */
void msp_put_strided(const char *call, const struct msp_context *context, void *dest,
                     const void *source, ptrdiff_t dest_stride_bytes, ptrdiff_t source_stride_bytes,
                     size_t block_bytes, size_t block_count, int pe);
void msp_get_strided(const char *call, const struct msp_context *context, void *dest,
                     const void *source, ptrdiff_t dest_stride_bytes, ptrdiff_t source_stride_bytes,
                     size_t block_bytes, size_t block_count, int pe);

/* Where this process has @p pe's copy of @p address in its address space; NULL: nowhere. Also where
 * the host's PEs are not one run of numbers. */
void *msp_rma_mapped(const struct msp_segment *segment, const void *address, int pe);

/* shmem_ptr(): where this process may load and store @p address of @p pe; NULL: nowhere. */
void *msp_rma_pointer(const void *address, int pe);

/* shmem_addr_accessible(). */
bool msp_rma_reaches(const void *address, int pe);

/* The segment of a valid address. A wrong address, size or PE ends the job with a message for @p
 * call. */
const struct msp_segment *msp_rma_require(const char *call, const void *address, size_t size_bytes,
                                          int pe);

#endif /* MEMSPAN_SHMEM_TRANSPORT_RMA_H */
