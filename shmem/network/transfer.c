/* SPDX-License-Identifier: BSD-3-Clause */
/* transfer.c: put and get: each takes the driver's path where its memory is registered, messages
 * where they are faster or nothing else reaches it. */

#include "shmem/network/stream.h"
#include "shmem/transport/rma.h"
#include <stdlib.h>

enum { STAGE_BYTES = 256 << 10 /* of buffers that the host cannot touch, at a time */ };

/* ---- which path ---- */

static bool is_word(uint64_t offset_bytes, size_t size_bytes)
{
    return ((size_bytes == 8) || (size_bytes == 4) || (size_bytes == 2)) &&
           (offset_bytes % size_bytes == 0);
}

/* Several of them travel in one message. */
static bool is_aggregated(size_t size_bytes, unsigned flags)
{
    return ((flags & MSP_OP_NONBLOCKING) != 0) &&
           (size_bytes <= msp_network.limits.aggregate_max_bytes);
}

/* Where the owner's processor moves the bytes anyway, it moves a word in one piece. */
static bool puts_by_message(uint64_t offset_bytes, size_t size_bytes, unsigned flags)
{
    return (size_bytes <= msp_network.limits.put_message_max_bytes) ||
           is_aggregated(size_bytes, flags) ||
           (msp_network.limits.target_progresses && is_word(offset_bytes, size_bytes));
}

static bool gets_by_message(uint64_t offset_bytes, size_t size_bytes, unsigned flags)
{
    return (size_bytes <= msp_network.limits.get_message_max_bytes) ||
           is_aggregated(size_bytes, flags) ||
           (msp_network.limits.target_progresses && !msp_network.limits.gets_words &&
            is_word(offset_bytes, size_bytes));
}

/* ---- messages ---- */

static void put_by_messages(const struct msp_network_work *work, uint64_t offset_bytes,
                            const char *source, size_t size_bytes, unsigned flags)
{
    size_t at;
    size_t piece;

    for (at = 0; at < size_bytes; at += piece) {
        struct msp_network_operation *operation;

        piece = size_bytes - at;
        piece = (piece < msp_network.payload_max_bytes) ? piece : msp_network.payload_max_bytes;
        msp_network_count_message(work);
        operation                      = msp_network_message(work, MSP_NETWORK_PUT);
        operation->header.offset_bytes = offset_bytes + at;
        operation->header.size_bytes   = (uint32_t)piece;
        operation->may_wait            = (size_bytes <= msp_network.limits.aggregate_max_bytes) &&
                              msp_network_may_wait(work, flags);
        msp_network_send_data(work, operation, source + at, piece, flags);
    }
}

static void ask_for(const struct msp_network_work *work, struct msp_network_record *record,
                    uint64_t offset_bytes, size_t at, size_t size_bytes)
{
    struct msp_network_operation *operation = msp_network_message(work, MSP_NETWORK_GET);

    operation->header.offset_bytes = offset_bytes + at;
    operation->header.size_bytes   = (uint32_t)size_bytes;
    operation->header.value        = at;
    operation->header.record       = msp_network_record_ask(record);
    operation->may_wait = record->is_unwaited && msp_network_may_wait(work, MSP_OP_NONBLOCKING);
    msp_network_send(work->contact, operation, NULL, 0);
}

/* Several pieces are under way. */
static void get_by_messages(const struct msp_network_work *work, uint64_t offset_bytes, char *dest,
                            size_t size_bytes)
{
    enum { PIECES = 16 };
    struct msp_network_record *record =
        msp_network_record_take(work->target->call, work->target->pe, dest, size_bytes);
    size_t most = (msp_network.payload_max_bytes < MSP_NETWORK_ANSWER_MAX_BYTES)
                      ? msp_network.payload_max_bytes
                      : MSP_NETWORK_ANSWER_MAX_BYTES;
    size_t at;
    size_t piece;

    for (at = 0; at < size_bytes; at += piece) {
        piece = (size_bytes - at < most) ? size_bytes - at : most;
        if (atomic_load_explicit(&record->left, memory_order_relaxed) >= PIECES) {
            msp_network_unlock(work->channel);
            MSP_NETWORK_WAIT(work->channel,
                             atomic_load_explicit(&record->left, memory_order_acquire) < PIECES);
            msp_network_lock(work->channel);
        }
        ask_for(work, record, offset_bytes, at, piece);
    }
    msp_network_unlock(work->channel);
    MSP_NETWORK_WAIT(work->channel, atomic_load_explicit(&record->left, memory_order_acquire) == 0);
    msp_network_lock(work->channel);
    msp_network_record_give(record);
}

/* A nonblocking one: quiet waits for it. */
static void get_by_message_later(const struct msp_network_work *work, uint64_t offset_bytes,
                                 char *dest, size_t size_bytes)
{
    struct msp_network_record *record =
        msp_network_record_take(work->target->call, work->target->pe, dest, size_bytes);

    record->is_unwaited = true;
    record->outstanding = &work->stream->messages;
    msp_network_count_message(work);
    ask_for(work, record, offset_bytes, 0, size_bytes);
}

/* ---- the driver's puts and gets ---- */

/* A put or get of the driver's. A blocking one sets *is_done_p; quiet waits for the others. */
static struct msp_network_operation *start_transfer(const struct msp_network_work *work,
                                                    atomic_bool *is_done_p, unsigned flags)
{
    struct msp_network_operation *operation =
        msp_network_operation_take(work->channel, work->target->call, work->target->pe);

    if ((flags & MSP_OP_NONBLOCKING) != 0) {
        atomic_fetch_add_explicit(&work->stream->transfers, 1, memory_order_relaxed);
        operation->transfers = &work->stream->transfers;
    } else {
        operation->is_done = is_done_p;
    }
    return operation;
}

static void finish_transfer(const struct msp_network_work *work,
                            struct msp_network_operation *operation, enum msp_network_result result,
                            const atomic_bool *is_done, unsigned flags)
{
    msp_network_operation_started(operation, result);
    if (((flags & MSP_OP_NONBLOCKING) == 0) &&
        !atomic_load_explicit(is_done, memory_order_acquire)) {
        msp_network_unlock(work->channel);
        msp_network_wait_for(work, is_done);
        msp_network_lock(work->channel);
    }
}

static uint64_t address_of(const struct msp_network_reach *reach, uint64_t offset_bytes)
{
    return reach->address + (offset_bytes - reach->first_bytes);
}

/* Puts that shmem_fence() orders before this put are sent, and complete where this one might
 * overtake them. */
static void keep_order(const struct msp_network_work *work)
{
    struct msp_network_stream *stream = work->stream;

    msp_network_send_waiting_to(work->contact);
    /* Without the lock another thread may send messages, and call shmem_fence() behind them. */
    while (MSP_UNLIKELY(atomic_load_explicit(&stream->puts_wait, memory_order_relaxed))) {
        if (atomic_load_explicit(&stream->messages, memory_order_acquire) == 0) {
            atomic_store_explicit(&stream->puts_wait, false, memory_order_relaxed);
            break;
        }
        msp_network_unlock(work->channel);
        MSP_NETWORK_WAIT(work->channel,
                         atomic_load_explicit(&stream->messages, memory_order_acquire) == 0);
        msp_network_lock(work->channel);
    }
}

static void put_by_driver(const struct msp_network_work *work,
                          const struct msp_network_reach *reach, uint64_t offset_bytes,
                          const char *source, size_t size_bytes, unsigned flags)
{
    atomic_bool is_done                     = false;
    struct msp_network_operation *operation = start_transfer(work, &is_done, flags);
    enum msp_network_result result;

    keep_order(work);
    work->channel->counters.puts++;
    work->channel->counters.put_bytes += size_bytes;
    while ((result = msp_network.driver->put(work->contact->peer, reach->key,
                                             address_of(reach, offset_bytes), source, size_bytes,
                                             &operation->request)) == MSP_NETWORK_BUSY) {
        msp_network_relieve(work->channel);
    }
    msp_network_mark_dirty(work->channel, work->contact);
    finish_transfer(work, operation, result, &is_done, flags);
}

static void get_by_driver(const struct msp_network_work *work,
                          const struct msp_network_reach *reach, uint64_t offset_bytes, char *dest,
                          size_t size_bytes, unsigned flags)
{
    atomic_bool is_done                     = false;
    struct msp_network_operation *operation = start_transfer(work, &is_done, flags);
    enum msp_network_result result;

    work->channel->counters.gets++;
    work->channel->counters.get_bytes += size_bytes;
    while ((result = msp_network.driver->get(work->contact->peer, reach->key,
                                             address_of(reach, offset_bytes), dest, size_bytes,
                                             &operation->request)) == MSP_NETWORK_BUSY) {
        msp_network_relieve(work->channel);
    }
    finish_transfer(work, operation, result, &is_done, flags);
}

/* ---- put ---- */

/* The part of the rest that one answer of the owner covers. */
static size_t part_of(const struct msp_network_reach *reach, uint64_t offset_bytes,
                      size_t left_bytes)
{
    uint64_t covered_bytes = reach->end_bytes - offset_bytes;

    return (left_bytes < covered_bytes) ? left_bytes : (size_t)covered_bytes;
}

static void put_from_host(const struct msp_network_work *work, uint64_t offset_bytes,
                          const char *source, size_t size_bytes, unsigned flags)
{
    size_t at;
    size_t part;

    if (puts_by_message(offset_bytes, size_bytes, flags)) {
        put_by_messages(work, offset_bytes, source, size_bytes, flags);
        return;
    }
    for (at = 0; at < size_bytes; at += part) {
        struct msp_network_reach reach;

        msp_network_reach_find(work->target, work->channel, work->contact, offset_bytes + at,
                               &reach);
        part = part_of(&reach, offset_bytes + at, size_bytes - at);
        if (reach.key == NULL) {
            put_by_messages(work, offset_bytes + at, source + at, part, flags);
        } else {
            put_by_driver(work, &reach, offset_bytes + at, source + at, part, flags);
        }
    }
}

static char *new_stage(const struct msp_target *target, size_t stage_bytes)
{
    char *stage = malloc(stage_bytes);

    if (stage == NULL) {
        msp_fatal("%s: no memory for %zu bytes on their path", target->call, stage_bytes);
    }
    return stage;
}

/* Through the host's memory: buffers that the driver may not read. */
static void put_from_device(const struct msp_target *target, const char *source, size_t at,
                            size_t size_bytes)
{
    size_t stage_bytes = (size_bytes < STAGE_BYTES) ? size_bytes : STAGE_BYTES;
    char *stage        = new_stage(target, stage_bytes);
    size_t piece;

    for (; at < size_bytes; at += piece) {
        struct msp_network_work work;

        piece = (size_bytes - at < stage_bytes) ? size_bytes - at : stage_bytes;
        msp_rma_move(target->call, stage, source + at, piece);
        work = msp_network_begin(target);
        put_from_host(&work, target->offset_bytes + at, stage, piece, 0);
        msp_network_end(&work);
    }
    free(stage);
}

void msp_network_put(const struct msp_target *target, const void *source, size_t size_bytes,
                     unsigned flags)
{
    struct msp_network_work work = msp_network_begin(target);
    const char *rest             = source;
    size_t at                    = 0;

    if (MSP_UNLIKELY(msp_job_has_device_memory())) {
        at = msp_network_pipeline_put(&work, source, size_bytes);
        rest += at;
        if ((at < size_bytes) && !msp_rma_host_touches(rest)) {
            msp_network_end(&work);
            put_from_device(target, source, at, size_bytes);
            return;
        }
    }
    if (at < size_bytes) {
        put_from_host(&work, target->offset_bytes + at, rest, size_bytes - at, flags);
    }
    msp_network_end(&work);
}

/* ---- get ---- */

static void get_to_host(const struct msp_network_work *work, uint64_t offset_bytes, char *dest,
                        size_t size_bytes, unsigned flags)
{
    size_t at;
    size_t part;

    if (gets_by_message(offset_bytes, size_bytes, flags)) {
        if (((flags & MSP_OP_NONBLOCKING) != 0) && (size_bytes <= MSP_NETWORK_ANSWER_MAX_BYTES)) {
            get_by_message_later(work, offset_bytes, dest, size_bytes);
        } else {
            get_by_messages(work, offset_bytes, dest, size_bytes);
        }
        return;
    }
    for (at = 0; at < size_bytes; at += part) {
        struct msp_network_reach reach;

        msp_network_reach_find(work->target, work->channel, work->contact, offset_bytes + at,
                               &reach);
        part = part_of(&reach, offset_bytes + at, size_bytes - at);
        if (reach.key == NULL) {
            get_by_messages(work, offset_bytes + at, dest + at, part);
        } else {
            get_by_driver(work, &reach, offset_bytes + at, dest + at, part, flags);
        }
    }
}

static void get_to_device(const struct msp_target *target, char *dest, size_t at, size_t size_bytes)
{
    size_t stage_bytes = (size_bytes < STAGE_BYTES) ? size_bytes : STAGE_BYTES;
    char *stage        = new_stage(target, stage_bytes);
    size_t piece;

    for (; at < size_bytes; at += piece) {
        struct msp_network_work work = msp_network_begin(target);

        piece = (size_bytes - at < stage_bytes) ? size_bytes - at : stage_bytes;
        get_to_host(&work, target->offset_bytes + at, stage, piece, 0);
        msp_network_end(&work);
        msp_rma_move(target->call, dest + at, stage, piece);
    }
    free(stage);
}

void msp_network_get(const struct msp_target *target, void *dest, size_t size_bytes, unsigned flags)
{
    struct msp_network_work work = msp_network_begin(target);
    char *rest                   = dest;
    size_t at                    = 0;

    if (MSP_UNLIKELY(msp_job_has_device_memory())) {
        at = msp_network_pipeline_get(&work, dest, size_bytes);
        rest += at;
        if ((at < size_bytes) && !msp_rma_host_touches(rest)) {
            msp_network_end(&work);
            get_to_device(target, dest, at, size_bytes);
            return;
        }
    }
    if (at < size_bytes) {
        get_to_host(&work, target->offset_bytes + at, rest, size_bytes - at, flags);
    }
    msp_network_end(&work);
}
