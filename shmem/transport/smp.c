/* SPDX-License-Identifier: BSD-3-Clause */
/* smp.c: operations on mapped memory that the fast path does not serve: PEs that are not one run of
 * numbers, buffers that the host cannot touch, this PE itself. Everything is complete when it
 * returns. */

#include "shmem/transport/own.h"
#include "shmem/transport/peer.h"
#include "shmem/transport/rma.h"
#include "shmem/transport/transport.h"

static void put(const struct msp_target *target, const void *source, size_t size_bytes,
                unsigned flags)
{
    (void)flags;
    msp_rma_move(target->call, target->direct, source, size_bytes);
    msp_target_notify(target, size_bytes);
}

static void get(const struct msp_target *target, void *dest, size_t size_bytes, unsigned flags)
{
    (void)flags;
    msp_rma_move(target->call, dest, target->direct, size_bytes);
}

static void put_strided(const struct msp_target *target, const void *source,
                        const struct msp_blocks *blocks)
{
    msp_rma_move_blocks(target->call, target->direct, blocks->target_stride_bytes, source,
                        blocks->local_stride_bytes, blocks->block_bytes, blocks->block_count);
    msp_target_notify(target, (blocks->block_count - 1) * (size_t)blocks->target_stride_bytes +
                                  blocks->block_bytes);
}

static void get_strided(const struct msp_target *target, void *dest,
                        const struct msp_blocks *blocks)
{
    msp_rma_move_blocks(target->call, dest, blocks->local_stride_bytes, target->direct,
                        blocks->target_stride_bytes, blocks->block_bytes, blocks->block_count);
}

static void atomic(const struct msp_target *target, const struct msp_atomic_request *request,
                   unsigned flags)
{
    (void)flags;
    msp_own_fetched(request, msp_own_atomic(target->call, target->direct, request));
    if (request->operation != MSP_ATOMIC_FETCH) {
        msp_target_notify(target, request->size_bytes);
    }
}

static void order(const struct msp_context *context, bool completes)
{
    (void)context;
    (void)completes;
}

const struct msp_transport msp_transport_smp = {
    .name        = "smp",
    .put         = put,
    .get         = get,
    .put_strided = put_strided,
    .get_strided = get_strided,
    .atomic      = atomic,
    .order       = order,
};
