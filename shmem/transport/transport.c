/* SPDX-License-Identifier: BSD-3-Clause */
/* transport.c: opening the transport to other hosts, and dispatch. */

#include "shmem/transport/transport.h"
#include "shmem/control/memory.h"
#include "shmem/network/network.h"
#include "shmem/transport/call.h"
#include "shmem/transport/order.h"
#include "shmem/transport/owner.h"
#include "shmem/transport/rma.h"
#include <string.h>

/* ---- start and end ---- */

memspan_status_t msp_transport_open(void)
{
    memspan_status_t status;

    msp_segments[MSP_SEGMENT_CONTROL] =
        (struct msp_segment){.base         = msp_control_slot(msp_job.local_index),
                             .size_bytes   = sizeof(struct msp_control_offsets),
                             .partition    = -1,
                             .host_touches = true,
                             .fd           = -1};
    status = msp_transport_network.open();
    if (status != MEMSPAN_OK) {
        return status;
    }
    msp_job.transport = &msp_transport_network;
    return msp_job.transport->segment_register(MSP_SEGMENT_CONTROL);
}

void msp_transport_close(void (*synchronise)(void))
{
    if ((msp_job.transport != NULL) && (synchronise != NULL)) {
        msp_job.transport->order(msp_context_internal(), true);
        if (!msp_job.transport->leave()) {
            synchronise();
            msp_job.transport->order(msp_context_internal(), true);
        }
    }
    if (msp_job.transport != NULL) {
        msp_job.transport->close();
    }
    msp_job.transport = NULL;
    memset(&msp_segments[MSP_SEGMENT_CONTROL], 0, sizeof msp_segments[0]);
    atomic_store(&msp_order_pending, false);
}

/* ---- targets ---- */

struct msp_target msp_target_resolve(const char *call, const struct msp_context *context,
                                     const void *address, size_t size_bytes, int pe)
{
    const struct msp_segment *segment = msp_rma_require(call, address, size_bytes, pe);
    struct msp_target target = {.call = call, .context = context, .segment = segment, .pe = pe};

    target.offset_bytes = (uint64_t)((const char *)address - segment->base);
    target.direct       = msp_rma_mapped(segment, address, pe);
    if (target.direct != NULL) {
        target.transport = &msp_transport_smp;
    } else if (msp_job_local_index(pe) >= 0) {
        target.direct = msp_driver_share_address(&target);
        target.transport =
            (target.direct != NULL) ? &msp_transport_driver_share : &msp_transport_owner;
    } else {
        target.transport = msp_job.transport;
    }
    return target;
}

struct msp_target msp_target_at(const char *call, unsigned segment, uint64_t offset_bytes, int pe)
{
    struct msp_target target = {.call         = call,
                                .context      = msp_context_internal(),
                                .transport    = msp_job.transport,
                                .segment      = &msp_segments[segment],
                                .offset_bytes = offset_bytes,
                                .pe           = pe};

    if (target.transport == NULL) {
        msp_fatal("%s: no transport reaches PE %d", call, pe);
    }
    return target;
}

static void post(const struct msp_target *target, enum msp_atomic operation, uint64_t value)
{
    msp_target_atomic(target,
                      &(struct msp_atomic_request){
                          .operation = operation, .size_bytes = sizeof value, .value = value},
                      0);
}

void msp_target_store(const struct msp_target *target, uint64_t value)
{
    post(target, MSP_ATOMIC_SET, value);
}

void msp_target_add(const struct msp_target *target, uint64_t value)
{
    post(target, MSP_ATOMIC_ADD, value);
}

/* ---- dispatch ---- */

static struct msp_target moved(const struct msp_target *target, ptrdiff_t distance_bytes)
{
    struct msp_target there = *target;

    there.offset_bytes += (uint64_t)distance_bytes;
    if (there.direct != NULL) {
        there.direct += distance_bytes;
    }
    return there;
}

void msp_target_put(const struct msp_target *target, const void *source, size_t size_bytes,
                    unsigned flags)
{
    if (size_bytes != 0) {
        target->transport->put(target, source, size_bytes, flags);
    }
}

void msp_target_get(const struct msp_target *target, void *dest, size_t size_bytes, unsigned flags)
{
    if (size_bytes != 0) {
        target->transport->get(target, dest, size_bytes, flags);
    }
}

void msp_target_put_blocks(const struct msp_target *target, const void *source,
                           const struct msp_blocks *blocks)
{
    size_t i;

    for (i = 0; i < blocks->block_count; i++) {
        struct msp_target there = moved(target, (ptrdiff_t)i * blocks->target_stride_bytes);

        msp_target_put(&there, (const char *)source + ((ptrdiff_t)i * blocks->local_stride_bytes),
                       blocks->block_bytes, 0);
    }
}

void msp_target_put_strided(const struct msp_target *target, const void *source,
                            const struct msp_blocks *blocks)
{
    if (target->transport->put_strided == NULL) {
        msp_target_put_blocks(target, source, blocks);
        return;
    }
    target->transport->put_strided(target, source, blocks);
}

void msp_target_get_blocks(const struct msp_target *target, void *dest,
                           const struct msp_blocks *blocks)
{
    size_t i;

    for (i = 0; i < blocks->block_count; i++) {
        struct msp_target there = moved(target, (ptrdiff_t)i * blocks->target_stride_bytes);

        msp_target_get(&there, (char *)dest + ((ptrdiff_t)i * blocks->local_stride_bytes),
                       blocks->block_bytes, 0);
    }
}

void msp_target_get_strided(const struct msp_target *target, void *dest,
                            const struct msp_blocks *blocks)
{
    if (target->transport->get_strided == NULL) {
        msp_target_get_blocks(target, dest, blocks);
        return;
    }
    target->transport->get_strided(target, dest, blocks);
}

void msp_target_put_signal(const struct msp_target *target, const void *source, size_t size_bytes,
                           const struct msp_target *signal, uint64_t value, bool adds,
                           unsigned flags)
{
    if ((target->transport == signal->transport) && (target->transport->put_signal != NULL)) {
        target->transport->put_signal(target, source, size_bytes, signal, value, adds, flags);
        return;
    }
    msp_target_put(target, source, size_bytes, 0);
    /* Another path overtakes operations that are only ordered on this one. */
    target->transport->order(target->context, target->transport != signal->transport);
    post(signal, adds ? MSP_ATOMIC_ADD : MSP_ATOMIC_SET, value);
}

void msp_target_atomic(const struct msp_target *target, const struct msp_atomic_request *request,
                       unsigned flags)
{
    target->transport->atomic(target, request, flags);
}

/* ---- order ---- */

atomic_bool msp_order_pending;

/* Nothing orders memory of this host that is served with memory of it that is mapped, but that the
 * former is complete. */
void msp_order_slow(const struct msp_context *context, bool completes)
{
    if (context != msp_context_internal()) {
        msp_call_order(context, completes);
    }
    msp_transport_owner.order(context, completes);
    if (msp_job.transport != NULL) {
        msp_job.transport->order(context, completes);
    }
}
