/* SPDX-License-Identifier: BSD-3-Clause */
/* transport.c: opening the transport to other hosts, connecting at first use, and dispatch. */

#include "shmem/transport/transport.h"
#include "shmem/bootstrap.h"
#include "shmem/control/memory.h"
#include "shmem/network/network.h"
#include "shmem/transport/driver_share.h"
#include "shmem/transport/order.h"
#include "shmem/transport/owner.h"
#include "shmem/transport/rma.h"
#include "shmem/transport/smp.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct msp_transport_limits limits;
static atomic_bool *connected; /* by PE; NULL where the transport connects by itself */
static pthread_mutex_t connect_lock = PTHREAD_MUTEX_INITIALIZER; /* held while one connects */

/* What a PE distributes at start: how it is reached, and the key of its control memory. */
struct card {
    unsigned char address[MSP_TRANSPORT_ADDRESS_MAX];
    unsigned char key[MSP_TRANSPORT_KEY_MAX];
    size_t address_bytes;
    size_t key_bytes;
};
static const char card_name[] = "memspan.transport";

/* ---- start and end ---- */

static memspan_status_t open_transport(const struct msp_transport *transport)
{
    struct card card        = {.address_bytes = sizeof card.address, .key_bytes = sizeof card.key};
    memspan_status_t status = MEMSPAN_OK;

    if (transport->connect != NULL) {
        connected = calloc((size_t)msp_job.pe_count, sizeof *connected);
        if (connected == NULL) {
            return memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for %d PEs", msp_job.pe_count);
        }
    }
    if (transport->open != NULL) {
        status = transport->open(&limits, card.address, &card.address_bytes);
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    msp_job.transport = transport;
    if (transport->segment_register != NULL) {
        status = transport->segment_register(MSP_SEGMENT_CONTROL, card.key, &card.key_bytes);
    }
    if ((status == MEMSPAN_OK) && (connected != NULL)) {
        status = msp_job.bootstrap->put(card_name, &card, sizeof card);
    }
    return (status == MEMSPAN_OK) ? msp_job.bootstrap->barrier() : status;
}

memspan_status_t msp_transport_open(void)
{
    msp_segments[MSP_SEGMENT_CONTROL] =
        (struct msp_segment){.base         = msp_control_slot(msp_job.local_index),
                             .size_bytes   = sizeof(struct msp_control_offsets),
                             .partition    = -1,
                             .host_touches = true,
                             .fd           = -1};
    return open_transport(&msp_transport_network);
}

void msp_transport_close(void)
{
    if ((msp_job.transport != NULL) && (msp_job.transport->close != NULL)) {
        msp_job.transport->order(msp_context_internal(), true);
        msp_job.transport->close();
    }
    msp_job.transport = NULL;
    free(connected);
    connected = NULL;
    memset(&limits, 0, sizeof limits);
    memset(&msp_segments[MSP_SEGMENT_CONTROL], 0, sizeof msp_segments[0]);
    atomic_store(&msp_order_pending, false);
}

/* ---- connecting ---- */

static memspan_status_t connect_to(int pe)
{
    const struct msp_transport *transport = msp_job.transport;
    struct card card;
    size_t card_bytes       = sizeof card;
    memspan_status_t status = msp_job.bootstrap->get(pe, card_name, &card, &card_bytes);

    if (status == MEMSPAN_OK) {
        status = transport->connect(pe, card.address, card.address_bytes);
    }
    if ((status == MEMSPAN_OK) && (transport->segment_connect != NULL)) {
        status = transport->segment_connect(MSP_SEGMENT_CONTROL, pe, card.key, card.key_bytes);
    }
    return status;
}

static void __attribute__((cold, noinline)) connect_slow(const struct msp_target *target)
{
    pthread_mutex_lock(&connect_lock);
    if (!atomic_load(&connected[target->pe]) && (connect_to(target->pe) != MEMSPAN_OK)) {
        pthread_mutex_unlock(&connect_lock);
        msp_fatal_error(target->call);
    }
    atomic_store(&connected[target->pe], true);
    pthread_mutex_unlock(&connect_lock);
}

static void require_connection(const struct msp_target *target)
{
    if ((target->transport == msp_job.transport) && (connected != NULL) &&
        !atomic_load(&connected[target->pe])) {
        connect_slow(target);
    }
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
        require_connection(&target);
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
    require_connection(&target);
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

/* Before each operation. */
static void prepare(const struct msp_target *target, const void *local)
{
    if ((target->transport->capabilities & MSP_TRANSPORT_HAS_THREAD) == 0) {
        msp_transport_progress();
    }
    if (MSP_UNLIKELY(msp_job_has_device_memory()) &&
        ((target->transport->capabilities & MSP_TRANSPORT_DEVICE_MEMORY) == 0) &&
        (!target->segment->host_touches || !msp_rma_host_touches(local))) {
        msp_fatal("%s: the transport %s takes no memory that the host cannot touch", target->call,
                  target->transport->name);
    }
}

/* The next piece of what is left of a put or get. */
static size_t piece_of(const struct msp_target *target, size_t left_bytes)
{
    size_t most = (target->transport == msp_job.transport) ? limits.piece_max_bytes : 0;

    return ((most == 0) || (left_bytes < most)) ? left_bytes : most;
}

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
    size_t at;
    size_t piece;

    prepare(target, source);
    for (at = 0; at < size_bytes; at += piece) {
        struct msp_target there = moved(target, (ptrdiff_t)at);

        piece = piece_of(target, size_bytes - at);
        target->transport->put(&there, (const char *)source + at, piece, flags);
    }
}

void msp_target_get(const struct msp_target *target, void *dest, size_t size_bytes, unsigned flags)
{
    size_t at;
    size_t piece;

    prepare(target, dest);
    for (at = 0; at < size_bytes; at += piece) {
        struct msp_target there = moved(target, (ptrdiff_t)at);

        piece = piece_of(target, size_bytes - at);
        target->transport->get(&there, (char *)dest + at, piece, flags);
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
    prepare(target, source);
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
    prepare(target, dest);
    target->transport->get_strided(target, dest, blocks);
}

void msp_target_put_signal(const struct msp_target *target, const void *source, size_t size_bytes,
                           const struct msp_target *signal, uint64_t value, bool adds,
                           unsigned flags)
{
    bool is_one_piece = (piece_of(target, size_bytes) == size_bytes);

    if ((target->transport == signal->transport) && (target->transport->put_signal != NULL) &&
        is_one_piece) {
        prepare(target, source);
        prepare(signal, &value);
        target->transport->put_signal(target, source, size_bytes, signal, value, adds, flags);
        return;
    }
    msp_target_put(target, source, size_bytes, 0);
    /* Another path overtakes what is only ordered on this one. */
    target->transport->order(target->context, target->transport != signal->transport);
    post(signal, adds ? MSP_ATOMIC_ADD : MSP_ATOMIC_SET, value);
}

void msp_target_atomic(const struct msp_target *target, const struct msp_atomic_request *request,
                       unsigned flags)
{
    if ((target->transport == msp_job.transport) &&
        ((limits.atomic_sizes & request->size_bytes) == 0)) {
        msp_fatal("%s: %s has no atomic operations on %u bytes", target->call,
                  target->transport->name, request->size_bytes);
    }
    prepare(target, &request->value);
    target->transport->atomic(target, request, flags);
}

/* ---- order ---- */

atomic_bool msp_order_pending;

/* Nothing orders memory of this host that is served with memory of it that is mapped, but that the
 * former is complete. */
void msp_order_slow(const struct msp_context *context, bool completes)
{
    msp_transport_owner.order(context, completes);
    if (msp_job.transport != NULL) {
        msp_job.transport->order(context, completes);
    }
}
