/* SPDX-License-Identifier: BSD-3-Clause */
/* network.c: operations of programs and of the library become puts, gets and messages.
 *
 * A stream for each context counts its messages without a reply, and its transfers that have not
 * ended. A channel lists the peers with puts that no flush covers: quiet flushes these. */

#include "shmem/network/network.h"
#include "shmem/bootstrap.h"
#include "shmem/network/alive.h"
#include "shmem/network/card.h"
#include "shmem/network/choice.h"
#include "shmem/network/progress.h"
#include "shmem/network/region.h"
#include "shmem/transport/order.h"
#include "shmem/transport/rma.h"
#include <shmem/types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WINDOW           = 512, /* messages of a context without a reply */
    SENDS_A_POLL     = 32,
    BLOCK_MAX_BYTES  = 1024,      /* of strided copies, larger ones are puts and gets each */
    STAGE_BYTES      = 256 << 10, /* of buffers that the host cannot touch, at a time */
    ANSWER_MAX_BYTES = 8 << 10,   /* of a get by messages, each */
};

struct msp_network msp_network;

/* ---- streams ---- */

static memspan_status_t open_stream(unsigned context, long options)
{
    struct msp_network_stream *stream = atomic_load(&msp_network_streams[context]);

    if (stream == NULL) {
        stream = calloc(1, sizeof *stream);
        if (stream == NULL) {
            return memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for a context");
        }
        atomic_store_explicit(&msp_network_streams[context], stream, memory_order_release);
    }
    stream->is_private = ((options & (SHMEM_CTX_PRIVATE | SHMEM_CTX_SERIALIZED)) != 0);
    atomic_store(&stream->channel, stream->is_private ? NULL : msp_network.main);
    return MEMSPAN_OK;
}

static void close_stream(unsigned context)
{
    struct msp_network_stream *stream   = atomic_load(&msp_network_streams[context]);
    struct msp_network_channel *channel = atomic_load(&stream->channel);

    if ((channel != NULL) && !channel->is_main) {
        msp_network_channel_leave(channel);
    }
    atomic_store(&stream->channel, NULL);
}

static struct msp_network_stream *stream_of(const struct msp_context *context)
{
    return atomic_load_explicit(&msp_network_streams[context - msp_contexts], memory_order_acquire);
}

/* A private context that can have no queue of its own shares the main one. */
static __attribute__((noinline, cold)) struct msp_network_channel *
find_channel(struct msp_network_stream *stream)
{
    struct msp_network_channel *channel = NULL;

    if (msp_network_channel_open(false, &channel) != MEMSPAN_OK) {
        msp_debug_note("a private context has no queue of its own: %s",
                       memspan_error_last()->message);
        channel = msp_network.main;
    }
    atomic_store(&stream->channel, channel);
    return channel;
}

static struct msp_network_channel *channel_of(struct msp_network_stream *stream)
{
    struct msp_network_channel *channel =
        atomic_load_explicit(&stream->channel, memory_order_acquire);

    return MSP_LIKELY(channel != NULL) ? channel : find_channel(stream);
}

/* One operation under way: its channel is locked from begin() to end(). */
struct work {
    const struct msp_target *target;
    struct msp_network_stream *stream;
    struct msp_network_channel *channel;
    struct msp_network_contact *contact;
};

static struct work begin(const struct msp_target *target)
{
    struct work work = {.target = target, .stream = stream_of(target->context)};

    work.channel = channel_of(work.stream);
    msp_network_lock(work.channel);
    work.contact = msp_network_contact_open(target->call, work.channel, target->pe);
    return work;
}

static void end(const struct work *work)
{
    msp_network_unlock(work->channel);
}

static void wait_until_done(const struct work *work, const atomic_bool *is_done)
{
    MSP_NETWORK_WAIT(work->channel, atomic_load_explicit(is_done, memory_order_acquire));
}

/* ---- which path ---- */

static bool is_word(uint64_t offset_bytes, size_t size_bytes)
{
    return ((size_bytes == 8) || (size_bytes == 4) || (size_bytes == 2)) &&
           (offset_bytes % size_bytes == 0);
}

/* Where the owner's processor moves the bytes anyway, it stores a word in one piece. */
static bool is_message(uint64_t offset_bytes, size_t size_bytes, size_t most_bytes)
{
    return (size_bytes <= most_bytes) ||
           (msp_network.limits.target_progresses && is_word(offset_bytes, size_bytes));
}

/* ---- messages ---- */

static struct msp_network_operation *message(const struct work *work, enum msp_network_kind kind)
{
    const struct msp_target *target = work->target;
    struct msp_network_operation *operation =
        msp_network_operation_take(work->channel, target->call, target->pe);

    operation->header =
        (struct msp_network_header){.kind         = (uint8_t)kind,
                                    .operation    = MSP_NETWORK_NO_SIGNAL,
                                    .pe           = msp_job.pe,
                                    .context      = (uint16_t)(target->context - msp_contexts),
                                    .segment      = (uint16_t)(target->segment - msp_segments),
                                    .offset_bytes = target->offset_bytes};
    return operation;
}

/* Before a message that is counted: not too many are without a reply, and replies are seen. */
static void count_message(const struct work *work)
{
    struct msp_network_stream *stream = work->stream;

    if (MSP_UNLIKELY(++work->channel->sends % SENDS_A_POLL == 0) ||
        (atomic_load_explicit(&stream->messages, memory_order_relaxed) >= WINDOW)) {
        msp_network_unlock(work->channel);
        msp_network_poll(work->channel);
        MSP_NETWORK_WAIT(work->channel,
                         atomic_load_explicit(&stream->messages, memory_order_acquire) < WINDOW);
        msp_network_lock(work->channel);
    }
    atomic_fetch_add_explicit(&stream->messages, 1, memory_order_relaxed);
}

/* A message with data of the program's: a blocking call waits until the driver has taken it. */
static void send_data(const struct work *work, struct msp_network_operation *operation,
                      const void *data, size_t data_bytes, unsigned flags)
{
    atomic_bool is_done = false;

    if ((flags & MSP_OP_NONBLOCKING) != 0) {
        atomic_fetch_add_explicit(&work->stream->transfers, 1, memory_order_relaxed);
        operation->transfers = &work->stream->transfers;
        msp_network_send(work->contact, operation, data, data_bytes);
        return;
    }
    operation->is_done = &is_done;
    msp_network_send(work->contact, operation, data, data_bytes);
    if (!atomic_load_explicit(&is_done, memory_order_acquire)) {
        msp_network_unlock(work->channel);
        wait_until_done(work, &is_done);
        msp_network_lock(work->channel);
    }
}

static void put_by_messages(const struct work *work, uint64_t offset_bytes, const char *source,
                            size_t size_bytes, unsigned flags)
{
    size_t at;
    size_t piece;

    for (at = 0; at < size_bytes; at += piece) {
        struct msp_network_operation *operation;

        piece = size_bytes - at;
        piece = (piece < msp_network.payload_max_bytes) ? piece : msp_network.payload_max_bytes;
        count_message(work);
        operation                      = message(work, MSP_NETWORK_PUT);
        operation->header.offset_bytes = offset_bytes + at;
        operation->header.size_bytes   = piece;
        operation->header.block_count  = 1;
        send_data(work, operation, source + at, piece, flags);
    }
}

static void ask_for(const struct work *work, struct msp_network_record *record,
                    uint64_t offset_bytes, size_t at, size_t size_bytes)
{
    struct msp_network_operation *operation = message(work, MSP_NETWORK_GET);

    operation->header.offset_bytes = offset_bytes + at;
    operation->header.size_bytes   = size_bytes;
    operation->header.block_count  = 1;
    operation->header.condition    = at;
    operation->header.record       = (uint64_t)(uintptr_t)record;
    msp_network_send(work->contact, operation, NULL, 0);
}

/* Several pieces are under way. */
static void get_by_messages(const struct work *work, uint64_t offset_bytes, char *dest,
                            size_t size_bytes)
{
    enum { PIECES = 16 };
    struct msp_network_record record = {.dest = dest};
    size_t most = (msp_network.payload_max_bytes < ANSWER_MAX_BYTES) ? msp_network.payload_max_bytes
                                                                     : ANSWER_MAX_BYTES;
    size_t at;
    size_t piece;

    atomic_init(&record.left, 0);
    for (at = 0; at < size_bytes; at += piece) {
        piece = (size_bytes - at < most) ? size_bytes - at : most;
        if (atomic_load_explicit(&record.left, memory_order_relaxed) >= PIECES) {
            msp_network_unlock(work->channel);
            MSP_NETWORK_WAIT(work->channel,
                             atomic_load_explicit(&record.left, memory_order_acquire) < PIECES);
            msp_network_lock(work->channel);
        }
        atomic_fetch_add_explicit(&record.left, 1, memory_order_relaxed);
        ask_for(work, &record, offset_bytes, at, piece);
    }
    msp_network_unlock(work->channel);
    MSP_NETWORK_WAIT(work->channel, atomic_load_explicit(&record.left, memory_order_acquire) == 0);
    msp_network_lock(work->channel);
}

/* A nonblocking one: quiet waits for it. */
static void get_by_message_later(const struct work *work, char *dest, size_t size_bytes)
{
    struct msp_network_record *record = malloc(sizeof *record);

    if (record == NULL) {
        msp_fatal("%s: no memory for an outstanding operation", work->target->call);
    }
    *record = (struct msp_network_record){
        .dest = dest, .is_allocated = true, .outstanding = &work->stream->messages};
    atomic_init(&record->left, 1);
    count_message(work);
    ask_for(work, record, work->target->offset_bytes, 0, size_bytes);
}

/* ---- the driver's puts and gets ---- */

static void put_by_driver(const struct work *work, const struct msp_network_reach *reach,
                          uint64_t offset_bytes, const char *source, size_t size_bytes,
                          unsigned flags)
{
    struct msp_network_operation *operation =
        msp_network_operation_take(work->channel, work->target->call, work->target->pe);
    uint64_t address    = reach->address + (offset_bytes - reach->first_bytes);
    bool is_later       = ((flags & MSP_OP_NONBLOCKING) != 0);
    atomic_bool is_done = false;
    enum msp_network_result result;

    if (is_later) {
        atomic_fetch_add_explicit(&work->stream->transfers, 1, memory_order_relaxed);
        operation->transfers = &work->stream->transfers;
    } else {
        operation->is_done = &is_done;
    }
    work->channel->counters.puts++;
    work->channel->counters.put_bytes += size_bytes;
    while ((result = msp_network.driver->put(work->contact->peer, reach->key, address, source,
                                             size_bytes, &operation->request)) ==
           MSP_NETWORK_BUSY) {
        msp_network_relieve(work->channel);
    }
    msp_network_mark_dirty(work->channel, work->contact);
    msp_network_operation_started(operation, result);
    if (!is_later && !atomic_load_explicit(&is_done, memory_order_acquire)) {
        msp_network_unlock(work->channel);
        wait_until_done(work, &is_done);
        msp_network_lock(work->channel);
    }
}

static void get_by_driver(const struct work *work, const struct msp_network_reach *reach,
                          uint64_t offset_bytes, char *dest, size_t size_bytes, unsigned flags)
{
    struct msp_network_operation *operation =
        msp_network_operation_take(work->channel, work->target->call, work->target->pe);
    uint64_t address    = reach->address + (offset_bytes - reach->first_bytes);
    bool is_later       = ((flags & MSP_OP_NONBLOCKING) != 0);
    atomic_bool is_done = false;
    enum msp_network_result result;

    if (is_later) {
        atomic_fetch_add_explicit(&work->stream->transfers, 1, memory_order_relaxed);
        operation->transfers = &work->stream->transfers;
    } else {
        operation->is_done = &is_done;
    }
    work->channel->counters.gets++;
    work->channel->counters.get_bytes += size_bytes;
    while ((result = msp_network.driver->get(work->contact->peer, reach->key, address, dest,
                                             size_bytes, &operation->request)) ==
           MSP_NETWORK_BUSY) {
        msp_network_relieve(work->channel);
    }
    msp_network_operation_started(operation, result);
    if (!is_later && !atomic_load_explicit(&is_done, memory_order_acquire)) {
        msp_network_unlock(work->channel);
        wait_until_done(work, &is_done);
        msp_network_lock(work->channel);
    }
}

/* ---- put ---- */

/* What one answer of the owner covers of the rest. */
static size_t part_of(const struct msp_network_reach *reach, uint64_t offset_bytes,
                      size_t left_bytes)
{
    uint64_t covered_bytes = reach->end_bytes - offset_bytes;

    return (left_bytes < covered_bytes) ? left_bytes : (size_t)covered_bytes;
}

static void put_from_host(const struct work *work, uint64_t offset_bytes, const char *source,
                          size_t size_bytes, unsigned flags)
{
    size_t most = msp_network.limits.put_message_max_bytes;
    size_t at;
    size_t part;

    if (is_message(offset_bytes, size_bytes, most)) {
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

/* Through the host's memory: what the driver may not read. */
static void put_from_device(const struct msp_target *target, const char *source, size_t size_bytes)
{
    size_t stage_bytes = (size_bytes < STAGE_BYTES) ? size_bytes : STAGE_BYTES;
    char *stage        = malloc(stage_bytes);
    size_t at;
    size_t piece;

    if (stage == NULL) {
        msp_fatal("%s: no memory for %zu bytes on their path", target->call, stage_bytes);
    }
    for (at = 0; at < size_bytes; at += piece) {
        struct work work;

        piece = (size_bytes - at < stage_bytes) ? size_bytes - at : stage_bytes;
        msp_rma_move(target->call, stage, source + at, piece);
        work = begin(target);
        put_from_host(&work, target->offset_bytes + at, stage, piece, 0);
        end(&work);
    }
    free(stage);
}

static void put(const struct msp_target *target, const void *source, size_t size_bytes,
                unsigned flags)
{
    struct work work;

    if (!msp_rma_host_touches(source)) {
        put_from_device(target, source, size_bytes);
        return;
    }
    work = begin(target);
    put_from_host(&work, target->offset_bytes, source, size_bytes, flags);
    end(&work);
}

/* ---- get ---- */

static void get_to_host(const struct work *work, uint64_t offset_bytes, char *dest,
                        size_t size_bytes, unsigned flags)
{
    size_t most = msp_network.limits.get_message_max_bytes;
    size_t at;
    size_t part;

    if (is_message(offset_bytes, size_bytes, most)) {
        if (((flags & MSP_OP_NONBLOCKING) != 0) && (size_bytes <= ANSWER_MAX_BYTES)) {
            get_by_message_later(work, dest, size_bytes);
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

static void get_to_device(const struct msp_target *target, char *dest, size_t size_bytes)
{
    size_t stage_bytes = (size_bytes < STAGE_BYTES) ? size_bytes : STAGE_BYTES;
    char *stage        = malloc(stage_bytes);
    size_t at;
    size_t piece;

    if (stage == NULL) {
        msp_fatal("%s: no memory for %zu bytes on their path", target->call, stage_bytes);
    }
    for (at = 0; at < size_bytes; at += piece) {
        struct work work = begin(target);

        piece = (size_bytes - at < stage_bytes) ? size_bytes - at : stage_bytes;
        get_to_host(&work, target->offset_bytes + at, stage, piece, 0);
        end(&work);
        msp_rma_move(target->call, dest + at, stage, piece);
    }
    free(stage);
}

static void get(const struct msp_target *target, void *dest, size_t size_bytes, unsigned flags)
{
    struct work work;

    if (!msp_rma_host_touches(dest)) {
        get_to_device(target, dest, size_bytes);
        return;
    }
    work = begin(target);
    get_to_host(&work, target->offset_bytes, dest, size_bytes, flags);
    end(&work);
}

/* ---- atomics and signals ---- */

static void atomic(const struct msp_target *target, const struct msp_atomic_request *request,
                   unsigned flags)
{
    struct work work = begin(target);
    struct msp_network_operation *operation;
    struct msp_network_record here    = {.dest = NULL};
    struct msp_network_record *record = NULL;

    if (request->fetch != NULL) {
        bool is_later = ((flags & MSP_OP_NONBLOCKING) != 0);

        record = is_later ? malloc(sizeof *record) : &here;
        if (record == NULL) {
            msp_fatal("%s: no memory for an outstanding operation", target->call);
        }
        *record =
            (struct msp_network_record){.dest         = request->fetch,
                                        .is_allocated = is_later,
                                        .outstanding  = is_later ? &work.stream->messages : NULL};
        atomic_init(&record->left, 1);
    }
    if (record != &here) {
        count_message(&work);
    }
    operation                    = message(&work, MSP_NETWORK_ATOMIC);
    operation->header.operation  = (uint8_t)request->operation;
    operation->header.word_bytes = (uint8_t)request->size_bytes;
    operation->header.value      = request->value;
    operation->header.condition  = request->condition;
    operation->header.record     = (uint64_t)(uintptr_t)record;
    msp_network_send(work.contact, operation, NULL, 0);
    end(&work);
    if (record == &here) {
        MSP_NETWORK_WAIT(work.channel, atomic_load_explicit(&here.left, memory_order_acquire) == 0);
    }
}

/* ---- order ---- */

/* Flushes what the channel has put to each peer. *left: flushes that have not ended. Locked. */
static void start_flushes(struct msp_network_channel *channel, _Atomic uint64_t *left)
{
    struct msp_network_contact *contact = channel->dirty;

    while (contact != NULL) {
        struct msp_network_operation *operation;
        enum msp_network_result result;

        if (contact->flushed != contact->puts) {
            operation          = msp_network_operation_take(channel, "shmem_quiet", contact->pe);
            operation->flushed = contact;
            operation->flushed_puts = contact->puts;
            operation->transfers    = left;
            atomic_fetch_add_explicit(left, 1, memory_order_relaxed);
            while ((result = msp_network.driver->flush(contact->peer, &operation->request)) ==
                   MSP_NETWORK_BUSY) {
                msp_network_relieve(channel);
                operation->flushed_puts = contact->puts;
            }
            msp_network_operation_started(operation, result);
        }
        contact = contact->next_dirty;
    }
}

/* Peers without puts that a flush does not cover leave the list. Locked. */
static void clean(struct msp_network_channel *channel)
{
    struct msp_network_contact **place = &channel->dirty;

    while (*place != NULL) {
        struct msp_network_contact *contact = *place;

        if (contact->flushed == contact->puts) {
            *place            = contact->next_dirty;
            contact->is_dirty = false;
        } else {
            place = &contact->next_dirty;
        }
    }
}

/* All of the stream's operations take effect. Not locked. */
static void complete_stream(struct msp_network_stream *stream)
{
    struct msp_network_channel *channel = atomic_load(&stream->channel);
    _Atomic uint64_t left               = 0;

    if (channel == NULL) {
        return; /* a private context that has done nothing */
    }
    msp_network_lock(channel);
    if (channel->dirty != NULL) {
        clean(channel);
        start_flushes(channel, &left);
    }
    msp_network_unlock(channel);
    MSP_NETWORK_WAIT(channel, atomic_load_explicit(&stream->messages, memory_order_acquire) == 0);
    MSP_NETWORK_WAIT(channel,
                     (atomic_load_explicit(&left, memory_order_acquire) == 0) &&
                         (atomic_load_explicit(&stream->transfers, memory_order_acquire) == 0));
}

/* Messages of a queue are executed in order, but those that are left to a thread. */
static bool is_in_order(const struct msp_network_stream *stream)
{
    return msp_network.limits.is_ordered &&
           (!msp_job_has_device_memory() || (atomic_load(&stream->messages) == 0));
}

static void order(const struct msp_context *context, bool completes)
{
    struct msp_network_stream *stream = stream_of(context);

    if ((stream != NULL) && (completes || !is_in_order(stream))) {
        complete_stream(stream);
    }
}

static void put_signal(const struct msp_target *target, const void *source, size_t size_bytes,
                       const struct msp_target *signal, uint64_t value, bool adds, unsigned flags)
{
    struct work work;
    struct msp_network_operation *operation;
    bool is_one = (size_bytes <= msp_network.limits.put_message_max_bytes) &&
                  (size_bytes <= msp_network.payload_max_bytes) && msp_rma_host_touches(source);

    if (!is_one) {
        put(target, source, size_bytes, flags);
        order(target->context, false);
    }
    work = begin(target);
    count_message(&work);
    operation                             = message(&work, MSP_NETWORK_PUT);
    operation->header.size_bytes          = size_bytes;
    operation->header.block_count         = is_one ? 1 : 0;
    operation->header.signal_segment      = (uint16_t)(signal->segment - msp_segments);
    operation->header.signal_offset_bytes = signal->offset_bytes;
    operation->header.operation           = adds ? MSP_ATOMIC_ADD : MSP_ATOMIC_SET;
    operation->header.value               = value;
    if (is_one) {
        send_data(&work, operation, source, size_bytes, flags);
    } else {
        msp_network_send(work.contact, operation, NULL, 0);
    }
    end(&work);
}

/* ---- strided ---- */

static bool is_packed(const struct msp_blocks *blocks, const void *local)
{
    return (blocks->block_bytes <= BLOCK_MAX_BYTES) &&
           (blocks->block_bytes <= msp_network.payload_max_bytes) && msp_rma_host_touches(local);
}

static struct msp_target block_at(const struct msp_target *target, ptrdiff_t distance_bytes)
{
    struct msp_target there = *target;

    there.offset_bytes += (uint64_t)distance_bytes;
    return there;
}

/* Blocks travel packed, as many as a message takes. */
static void put_packed(const struct msp_target *target, const char *source,
                       const struct msp_blocks *blocks)
{
    size_t most      = msp_network.payload_max_bytes / blocks->block_bytes;
    struct work work = begin(target);
    size_t at;
    size_t count;

    for (at = 0; at < blocks->block_count; at += count) {
        struct msp_network_operation *operation;
        char *packed;
        size_t i;

        count  = (blocks->block_count - at < most) ? blocks->block_count - at : most;
        packed = malloc(count * blocks->block_bytes);
        if (packed == NULL) {
            msp_fatal("%s: no memory for %zu bytes on their path", target->call,
                      count * blocks->block_bytes);
        }
        for (i = 0; i < count; i++) {
            msp_rma_copy(packed + (i * blocks->block_bytes),
                         source + ((ptrdiff_t)(at + i) * blocks->local_stride_bytes),
                         blocks->block_bytes);
        }
        count_message(&work);
        operation = message(&work, MSP_NETWORK_PUT);
        operation->header.offset_bytes += at * (size_t)blocks->target_stride_bytes;
        operation->header.size_bytes   = blocks->block_bytes;
        operation->header.block_count  = count;
        operation->header.stride_bytes = (uint64_t)blocks->target_stride_bytes;
        operation->owned               = packed;
        msp_network_send(work.contact, operation, packed, count * blocks->block_bytes);
    }
    end(&work);
}

static void get_packed(const struct msp_target *target, char *dest, const struct msp_blocks *blocks)
{
    struct msp_network_record record = {.dest         = dest,
                                        .block_bytes  = (ptrdiff_t)blocks->block_bytes,
                                        .stride_bytes = blocks->local_stride_bytes};
    size_t most                      = msp_network.payload_max_bytes;
    struct work work;
    size_t at;
    size_t count;

    most = ((most < ANSWER_MAX_BYTES) ? most : ANSWER_MAX_BYTES) / blocks->block_bytes;
    work = begin(target);
    atomic_init(&record.left, 0);
    for (at = 0; at < blocks->block_count; at += count) {
        struct msp_network_operation *operation = message(&work, MSP_NETWORK_GET);

        count = (blocks->block_count - at < most) ? blocks->block_count - at : most;
        operation->header.offset_bytes += at * (size_t)blocks->target_stride_bytes;
        operation->header.size_bytes   = blocks->block_bytes;
        operation->header.block_count  = count;
        operation->header.stride_bytes = (uint64_t)blocks->target_stride_bytes;
        operation->header.condition    = (uint64_t)((ptrdiff_t)at * blocks->local_stride_bytes);
        operation->header.record       = (uint64_t)(uintptr_t)&record;
        atomic_fetch_add_explicit(&record.left, 1, memory_order_relaxed);
        msp_network_send(work.contact, operation, NULL, 0);
    }
    end(&work);
    MSP_NETWORK_WAIT(work.channel, atomic_load_explicit(&record.left, memory_order_acquire) == 0);
}

static void put_strided(const struct msp_target *target, const void *source,
                        const struct msp_blocks *blocks)
{
    size_t i;

    if (is_packed(blocks, source)) {
        put_packed(target, source, blocks);
        return;
    }
    for (i = 0; i < blocks->block_count; i++) {
        struct msp_target there = block_at(target, (ptrdiff_t)i * blocks->target_stride_bytes);

        put(&there, (const char *)source + ((ptrdiff_t)i * blocks->local_stride_bytes),
            blocks->block_bytes, 0);
    }
}

static void get_strided(const struct msp_target *target, void *dest,
                        const struct msp_blocks *blocks)
{
    size_t i;

    if (is_packed(blocks, dest)) {
        get_packed(target, dest, blocks);
        return;
    }
    for (i = 0; i < blocks->block_count; i++) {
        struct msp_target there = block_at(target, (ptrdiff_t)i * blocks->target_stride_bytes);

        get(&there, (char *)dest + ((ptrdiff_t)i * blocks->local_stride_bytes), blocks->block_bytes,
            0);
    }
}

/* ---- segments ---- */

static memspan_status_t register_segment(unsigned segment, void *key, size_t *key_bytes_p)
{
    (void)key;
    *key_bytes_p = 0;
    return msp_network_region_add(segment);
}

static void release_segment(unsigned segment)
{
    msp_network_region_remove(segment);
    msp_network_reach_forget(segment);
}

/* ---- start and end ---- */

static memspan_status_t open_main(void)
{
    unsigned char address[MSP_NETWORK_ADDRESS_MAX];
    size_t address_bytes    = sizeof address;
    memspan_status_t status = msp_network_channel_open(true, &msp_network.main);

    if (status == MEMSPAN_OK) {
        status =
            msp_network.driver->queue_address(msp_network.main->queue, address, &address_bytes);
    }
    if (status == MEMSPAN_OK) {
        status = msp_network_card_put(msp_network.driver->name, address, address_bytes);
    }
    if (status == MEMSPAN_OK) {
        status = open_stream(MSP_CONTEXT_DEFAULT, 0);
    }
    if (status == MEMSPAN_OK) {
        status = open_stream(MSP_CONTEXT_INTERNAL, 0);
    }
    return (status == MEMSPAN_OK) ? msp_network_progress_open() : status;
}

static void close_driver(void)
{
    int i;

    msp_network_progress_close();
    if (msp_network.driver != NULL) {
        msp_network_message_close();
        msp_network_channel_close_all();
        msp_network_region_close();
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
static void close_all(void)
{
    atomic_store(&msp_network.is_closing, true);
    (void)msp_job.bootstrap->barrier();
    close_driver();
}

static memspan_status_t open_all(struct msp_transport_limits *limits_p, void *address,
                                 size_t *address_bytes_p)
{
    const struct msp_network_job job = {
        .pe = msp_job.pe, .pe_count = msp_job.pe_count, .local_count = msp_job.local_count};
    memspan_status_t status;

    (void)address;
    atomic_store(&msp_network.is_closing, false);
    msp_network_alive_reset();
    status = msp_network_choice_open(&msp_network_services, &job, &msp_network.limits,
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
    *address_bytes_p           = 0;
    *limits_p = (struct msp_transport_limits){.atomic_sizes = sizeof(uint32_t) | sizeof(uint64_t)};
    return MEMSPAN_OK;
}

struct msp_transport msp_transport_network = {
    .version      = MSP_TRANSPORT_VERSION,
    .capabilities = MSP_TRANSPORT_HAS_THREAD | MSP_TRANSPORT_NOTIFIES | MSP_TRANSPORT_DEVICE_MEMORY,
    .name         = "network",
    .open         = open_all,
    .close        = close_all,
    .segment_register = register_segment,
    .segment_release  = release_segment,
    .context_open     = open_stream,
    .context_close    = close_stream,
    .put              = put,
    .get              = get,
    .put_strided      = put_strided,
    .get_strided      = get_strided,
    .put_signal       = put_signal,
    .atomic           = atomic,
    .order            = order,
    .progress         = msp_network_progress,
    .sleeping         = msp_network_sleeping,
    .watch            = msp_network_alive_look,
};

/* ---- questions ---- */

void msp_network_describe(char *text, size_t text_bytes)
{
    char driver[128] = "";
    struct msp_network_counters counters;
    unsigned peers;

    if (msp_network.main == NULL) {
        snprintf(text, text_bytes, "none");
        return;
    }
    msp_network.driver->describe(driver, sizeof driver);
    msp_network_lock(msp_network.main);
    counters = msp_network.main->counters;
    peers    = msp_network.main->contact_count;
    msp_network_unlock(msp_network.main);
    snprintf(text, text_bytes,
             "%s: %u peers, %llu keys; %llu messages (%llu bytes), %llu puts (%llu bytes), %llu "
             "gets (%llu bytes)",
             driver, peers, (unsigned long long)counters.keys,
             (unsigned long long)counters.messages, (unsigned long long)counters.message_bytes,
             (unsigned long long)counters.puts, (unsigned long long)counters.put_bytes,
             (unsigned long long)counters.gets, (unsigned long long)counters.get_bytes);
}
