/* SPDX-License-Identifier: BSD-3-Clause */
/* network.c: operations of programs and of the library become puts, gets and messages. */

#include "shmem/network/network.h"
#include "shmem/bootstrap.h"
#include "shmem/bootstrap/sources.h"
#include "shmem/network/message.h"
#include "shmem/network/peer.h"
#include "shmem/network/region.h"
#include "shmem/network/stage.h"
#include "shmem/network/stream.h"
#include "shmem/option.h"
#include "shmem/transport/choice.h"
#include "shmem/transport/order.h"
#include "shmem/transport/rma.h"
#include <shmem/types.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { BLOCK_MAX_BYTES = 1024 /* of strided copies; larger ones are puts and gets each */ };

struct msp_network msp_network;

/* ---- atomics and signals ---- */

static void atomic(const struct msp_target *target, const struct msp_atomic_request *request,
                   unsigned flags)
{
    struct msp_network_work work = msp_network_begin(target);
    struct msp_network_operation *operation;
    struct msp_network_record *record = NULL;
    bool is_later                     = ((flags & MSP_OP_NONBLOCKING) != 0);
    bool is_answered                  = true;

    if (request->fetch == NULL) {
        is_answered = msp_network_count_flag(&work);
    } else {
        record =
            msp_network_record_take(target->call, target->pe, request->fetch, request->size_bytes);
    }
    if ((record != NULL) && is_later) {
        record->is_unwaited = true;
        record->outstanding = &work.stream->messages;
        msp_network_count_message(&work);
    }
    operation                       = msp_network_message(&work, MSP_NETWORK_ATOMIC);
    operation->header.is_unanswered = !is_answered;
    operation->header.operation     = (uint8_t)request->operation;
    operation->header.word_bytes    = (uint8_t)request->size_bytes;
    operation->header.value         = request->value;
    operation->header.condition     = request->condition;
    operation->header.record        = (record != NULL) ? msp_network_record_ask(record) : 0;
    operation->may_wait =
        ((record == NULL) || is_later) && is_answered && msp_network_may_wait(&work, flags);
    if (record == NULL) {
        msp_network_send_at_once(&work, operation, NULL, 0);
    } else {
        msp_network_send(work.contact, operation, NULL, 0);
    }
    msp_network_end(&work);
    if ((record != NULL) && !is_later) {
        MSP_NETWORK_WAIT(work.channel,
                         atomic_load_explicit(&record->left, memory_order_acquire) == 0);
        msp_network_record_give(record);
    }
}

static void put_signal(const struct msp_target *target, const void *source, size_t size_bytes,
                       const struct msp_target *signal, uint64_t value, bool adds, unsigned flags)
{
    struct msp_network_work work;
    struct msp_network_operation *operation;
    bool is_one = (size_bytes <= msp_network.limits.signalled_max_bytes) &&
                  (size_bytes <= msp_network.payload_max_bytes) && msp_rma_host_touches(source);
    bool is_answered;

    if (!is_one) {
        msp_network_put(target, source, size_bytes, flags);
        msp_network_order(target->context, false);
    }
    work                                  = msp_network_begin(target);
    is_answered                           = msp_network_count_flag(&work);
    operation                             = msp_network_message(&work, MSP_NETWORK_PUT);
    operation->header.is_unanswered       = !is_answered;
    operation->header.size_bytes          = is_one ? (uint32_t)size_bytes : 0;
    operation->header.signal_segment      = (uint16_t)(signal->segment - msp_segments);
    operation->header.signal_offset_bytes = signal->offset_bytes & MSP_NETWORK_SIGNAL_OFFSET_MAX;
    operation->header.operation           = adds ? MSP_ATOMIC_ADD : MSP_ATOMIC_SET;
    operation->header.value               = value;
    if (is_one) {
        msp_network_send_data(&work, operation, source, size_bytes, flags);
    } else if ((flags & MSP_OP_NONBLOCKING) == 0) {
        msp_network_send_at_once(&work, operation, NULL, 0);
    } else {
        msp_network_send(work.contact, operation, NULL, 0);
    }
    msp_network_end(&work);
}

/* ---- strided ---- */

static bool is_packed(const struct msp_blocks *blocks)
{
    return (blocks->block_bytes <= BLOCK_MAX_BYTES) &&
           (blocks->block_bytes <= msp_network.payload_max_bytes);
}

static char *new_pack(const struct msp_target *target, size_t size_bytes)
{
    char *packed = malloc(size_bytes);

    if (packed == NULL) {
        msp_fatal("%s: no memory for %zu bytes on their path", target->call, size_bytes);
    }
    return packed;
}

/* Blocks travel packed, as many as a message takes. */
static void put_packed(const struct msp_target *target, const char *source,
                       const struct msp_blocks *blocks)
{
    size_t most                  = msp_network.payload_max_bytes / blocks->block_bytes;
    struct msp_network_work work = msp_network_begin(target);
    size_t at;
    size_t count;

    for (at = 0; at < blocks->block_count; at += count) {
        struct msp_network_operation *operation;
        char *packed;

        count  = (blocks->block_count - at < most) ? blocks->block_count - at : most;
        packed = new_pack(target, count * blocks->block_bytes);
        msp_network_unlock(work.channel); /* a driver of a device may block */
        msp_rma_gather(target->call, packed, source + ((ptrdiff_t)at * blocks->local_stride_bytes),
                       blocks->local_stride_bytes, blocks->block_bytes, count);
        msp_network_lock(work.channel);
        msp_network_count_message(&work);
        operation = msp_network_message(&work, MSP_NETWORK_PUT);
        operation->header.offset_bytes += at * (size_t)blocks->target_stride_bytes;
        operation->header.size_bytes   = (uint32_t)blocks->block_bytes;
        operation->header.more_blocks  = count - 1;
        operation->header.stride_bytes = (uint64_t)blocks->target_stride_bytes;
        operation->owned               = packed;
        msp_network_send_at_once(&work, operation, packed, count * blocks->block_bytes);
    }
    msp_network_end(&work);
}

static void get_packed(const struct msp_target *target, char *dest, const struct msp_blocks *blocks)
{
    struct msp_network_record *record = msp_network_record_take(
        target->call, target->pe, dest, blocks->block_count * blocks->block_bytes);
    size_t most = msp_network.payload_max_bytes;
    struct msp_network_work work;
    size_t at;
    size_t count;

    record->block_bytes  = (ptrdiff_t)blocks->block_bytes;
    record->stride_bytes = blocks->local_stride_bytes;
    most = ((most < MSP_NETWORK_ANSWER_MAX_BYTES) ? most : MSP_NETWORK_ANSWER_MAX_BYTES) /
           blocks->block_bytes;
    work = msp_network_begin(target);
    for (at = 0; at < blocks->block_count; at += count) {
        struct msp_network_operation *operation = msp_network_message(&work, MSP_NETWORK_GET);

        count = (blocks->block_count - at < most) ? blocks->block_count - at : most;
        operation->header.offset_bytes += at * (size_t)blocks->target_stride_bytes;
        operation->header.size_bytes   = (uint32_t)blocks->block_bytes;
        operation->header.more_blocks  = count - 1;
        operation->header.stride_bytes = (uint64_t)blocks->target_stride_bytes;
        operation->header.value        = at * blocks->block_bytes;
        operation->header.record       = msp_network_record_ask(record);
        msp_network_send(work.contact, operation, NULL, 0);
    }
    msp_network_end(&work);
    MSP_NETWORK_WAIT(work.channel, atomic_load_explicit(&record->left, memory_order_acquire) == 0);
    msp_network_record_give(record);
}

/* Replies are executed where nothing may block. */
static void get_packed_to_device(const struct msp_target *target, char *dest,
                                 const struct msp_blocks *blocks)
{
    struct msp_blocks together = *blocks;
    char *packed               = new_pack(target, blocks->block_count * blocks->block_bytes);

    together.local_stride_bytes = (ptrdiff_t)blocks->block_bytes;
    get_packed(target, packed, &together);
    msp_rma_move_blocks(target->call, dest, blocks->local_stride_bytes, packed,
                        together.local_stride_bytes, blocks->block_bytes, blocks->block_count);
    free(packed);
}

static void put_strided(const struct msp_target *target, const void *source,
                        const struct msp_blocks *blocks)
{
    if (is_packed(blocks)) {
        put_packed(target, source, blocks);
    } else {
        msp_target_put_blocks(target, source, blocks);
    }
}

static void get_strided(const struct msp_target *target, void *dest,
                        const struct msp_blocks *blocks)
{
    if (!is_packed(blocks)) {
        msp_target_get_blocks(target, dest, blocks);
    } else if (msp_rma_host_touches(dest)) {
        get_packed(target, dest, blocks);
    } else {
        get_packed_to_device(target, dest, blocks);
    }
}

/* ---- calls of handlers ---- */

static uint64_t calls_outstanding(void)
{
    return atomic_load_explicit(&atomic_load(&msp_network_streams[MSP_CONTEXT_CALL])->messages,
                                memory_order_acquire);
}

static void call_handlers(const char *call, int pe, const void *records, size_t bytes, void *owned)
{
    const struct msp_target target = {.call      = call,
                                      .context   = &msp_contexts[MSP_CONTEXT_CALL],
                                      .transport = &msp_transport_network,
                                      .segment   = &msp_segments[MSP_SEGMENT_CONTROL],
                                      .pe        = pe};
    struct msp_network_work work   = msp_network_begin(&target);
    struct msp_network_operation *operation;

    msp_network_count_message(&work);
    operation        = msp_network_message(&work, MSP_NETWORK_CALL);
    operation->owned = owned;
    msp_network_send_at_once(&work, operation, records, bytes);
    msp_network_end(&work);
}

/* ---- segments ---- */

static void release_segment(unsigned segment)
{
    msp_network_region_remove(segment);
    msp_network_reach_forget(segment);
}

/* ---- start and end ---- */

static memspan_status_t make_token(void)
{
    if (getrandom(&msp_network.token, sizeof msp_network.token, 0) != sizeof msp_network.token) {
        return memspan_error(MEMSPAN_ERR_DRIVER, "getrandom: no random number");
    }
    return MEMSPAN_OK;
}

static memspan_status_t open_main(void)
{
    unsigned char address[MSP_NETWORK_ADDRESS_MAX];
    size_t address_bytes    = sizeof address;
    memspan_status_t status = msp_network_channel_open(true, true, &msp_network.main);

    if (status == MEMSPAN_OK) {
        status =
            msp_network.driver->queue_address(msp_network.main->queue, address, &address_bytes);
    }
    if (status == MEMSPAN_OK) {
        status = make_token();
    }
    if (status == MEMSPAN_OK) {
        status = msp_network_card_put(msp_network.driver->name, msp_network.token, address,
                                      address_bytes);
    }
    if (status == MEMSPAN_OK) {
        status = msp_network_stream_open(MSP_CONTEXT_DEFAULT, 0);
    }
    if (status == MEMSPAN_OK) {
        status = msp_network_stream_open(MSP_CONTEXT_INTERNAL, 0);
    }
    if (status == MEMSPAN_OK) {
        status = msp_network_stream_open(MSP_CONTEXT_CALL, 0);
    }
    return (status == MEMSPAN_OK) ? msp_network_progress_open() : status;
}

static void close_driver(void)
{
    int i;

    msp_network_worker_close();
    msp_network_progress_close();
    if (msp_network.driver != NULL) {
        msp_network_message_close();
        msp_network_channel_close_all();
        msp_network_region_close();
        msp_network_stage_close();
        msp_network_record_close();
        msp_network.driver->close();
    }
    for (i = 0; i < MSP_CONTEXT_MAX; i++) {
        free(atomic_exchange(&msp_network_streams[i], NULL));
    }
    msp_network_card_close();
    msp_network.driver = NULL;
    msp_network.main   = NULL;
}

/* A PE that has closed looks to the others like one that has failed: they expect it from here on.
 * Until all are here, each one serves the others. */
static bool leave(void)
{
    memspan_status_t status;

    atomic_store(&msp_network.is_closing, true);
    msp_bootstrap_watch = msp_network_alive_look;
    status              = msp_job.bootstrap->barrier();
    msp_bootstrap_watch = NULL;
    return status != MEMSPAN_ERR_OFF;
}

static memspan_status_t open_all(void)
{
    const struct msp_network_job job = {.pe          = msp_job.pe,
                                        .pe_count    = msp_job.pe_count,
                                        .local_count = msp_job.local_count,
                                        .tcp_interfaces =
                                            msp_shmem_option_text(MEMSPAN_SHMEM_TCP_INTERFACE),
                                        .is_one_network    = msp_job.is_one_network,
                                        .network_namespace = msp_bootstrap_network_namespace()};
    memspan_status_t status;

    atomic_store(&msp_network.is_closing, false);
    msp_network_alive_reset();
    status = msp_transport_choice_open(&msp_network_services, &job, &msp_network.limits,
                                       &msp_network.driver);
    if (status != MEMSPAN_OK) {
        return status;
    }
    msp_network.payload_max_bytes =
        msp_network.limits.message_max_bytes - sizeof(struct msp_network_header);
    status = msp_network_region_open(msp_network.driver, &msp_network.limits);
    if (status == MEMSPAN_OK) {
        status = open_main();
    }
    if (status != MEMSPAN_OK) {
        close_driver();
        return status;
    }
    atomic_store(&msp_order_pending, true);
    msp_transport_network.name = msp_network.driver->name;
    /* Hardware that stores without the target's processor does not notify its doorbell. */
    msp_transport_network.call_max_bytes = msp_network.payload_max_bytes;
    msp_transport_network.is_silent      = !msp_network.limits.target_progresses;
    msp_transport_network.is_uncounted   = msp_network.limits.has_uncounted_puts;
    return MEMSPAN_OK;
}

struct msp_transport msp_transport_network = {
    .name              = "network",
    .open              = open_all,
    .leave             = leave,
    .close             = close_driver,
    .segment_register  = msp_network_region_add,
    .segment_release   = release_segment,
    .context_open      = msp_network_stream_open,
    .context_close     = msp_network_stream_close,
    .put               = msp_network_put,
    .get               = msp_network_get,
    .put_strided       = put_strided,
    .get_strided       = get_strided,
    .put_signal        = put_signal,
    .atomic            = atomic,
    .order             = msp_network_order,
    .call              = call_handlers,
    .calls_outstanding = calls_outstanding,
    .execute_calls     = msp_network_execute_calls,
    .progress          = msp_network_progress,
    .left              = msp_network_left,
    .sleeping          = msp_network_sleeping,
    .watch             = msp_network_alive_look,
};
