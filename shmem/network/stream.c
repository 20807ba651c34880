/* SPDX-License-Identifier: BSD-3-Clause */
/* stream.c: contexts, their outstanding operations, and order. */

#include "shmem/network/stream.h"
#include <shmem/types.h>
#include <stdlib.h>

enum {
    WINDOW          = 512, /* messages of a context without a reply */
    SENDS_A_POLL    = 32,
    FLAGS_AN_ANSWER = 16, /* of the library's flags to a PE, one is acknowledged */
};

/* ---- streams ---- */

memspan_status_t msp_network_stream_open(unsigned context, long options)
{
    struct msp_network_stream *stream = atomic_load(&msp_network_streams[context]);

    if (stream == NULL) {
        stream = calloc(1, sizeof *stream);
        if (stream == NULL) {
            return memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for a context");
        }
        atomic_store_explicit(&msp_network_streams[context], stream, memory_order_release);
    }
    stream->is_private    = ((options & (SHMEM_CTX_PRIVATE | SHMEM_CTX_SERIALIZED)) != 0);
    stream->is_serialized = ((options & SHMEM_CTX_PRIVATE) == 0);
    atomic_store(&stream->channel, stream->is_private ? NULL : msp_network.main);
    return MEMSPAN_OK;
}

void msp_network_stream_close(unsigned context)
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

    if (msp_network_channel_open(false, stream->is_serialized, &channel) != MEMSPAN_OK) {
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

struct msp_network_work msp_network_begin(const struct msp_target *target)
{
    struct msp_network_work work = {.target = target, .stream = stream_of(target->context)};

    work.channel = channel_of(work.stream);
    msp_network_lock(work.channel);
    msp_network_use(work.channel, true);
    work.contact = msp_network_contact_open(target->call, work.channel, target->pe);
    return work;
}

/* ---- messages ---- */

struct msp_network_operation *msp_network_message(const struct msp_network_work *work,
                                                  enum msp_network_kind kind)
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

/* Not too many messages are without a reply, and replies are seen. */
static void limit_outstanding(const struct msp_network_work *work)
{
    struct msp_network_stream *stream = work->stream;

    if (MSP_UNLIKELY(work->channel->sends >= SENDS_A_POLL) ||
        (atomic_load_explicit(&stream->messages, memory_order_relaxed) >= WINDOW)) {
        work->channel->sends = 0;
        msp_network_unlock(work->channel);
        msp_network_poll(work->channel);
        MSP_NETWORK_WAIT(work->channel,
                         atomic_load_explicit(&stream->messages, memory_order_acquire) < WINDOW);
        msp_network_lock(work->channel);
    }
}

void msp_network_count_message(const struct msp_network_work *work)
{
    limit_outstanding(work);
    atomic_fetch_add_explicit(&work->stream->messages, 1, memory_order_relaxed);
}

/* The next step of the library's protocols shows that their flags have arrived: acknowledging each
 * one takes a send of both PEs in every barrier. Some are, so that a PE does not run ahead of
 * another without limit. Where the worker executes messages, the order counts those outstanding. */
bool msp_network_count_flag(const struct msp_network_work *work)
{
    if ((work->target->context != msp_context_internal()) || msp_job_has_device_memory() ||
        (++work->contact->flags % FLAGS_AN_ANSWER == 0)) {
        msp_network_count_message(work);
        return true;
    }
    limit_outstanding(work);
    return false;
}

void msp_network_send_data(const struct msp_network_work *work,
                           struct msp_network_operation *operation, const void *data,
                           size_t data_bytes, unsigned flags)
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
        msp_network_wait_for(work, &is_done);
        msp_network_lock(work->channel);
    }
}

void msp_network_send_at_once(const struct msp_network_work *work,
                              struct msp_network_operation *operation, const void *data,
                              size_t data_bytes)
{
    if (work->channel->is_main) {
        msp_network_send(work->contact, operation, data, data_bytes);
    } else {
        msp_network_send_data(work, operation, data, data_bytes, 0);
    }
}

/* ---- order ---- */

/* Flushes the channel's puts to each peer. *left: flushes that have not ended. Locked. */
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
    msp_network_send_waiting(channel);
    if (channel->dirty != NULL) {
        clean(channel);
        start_flushes(channel, &left);
    }
    msp_network_unlock(channel);
    MSP_NETWORK_WAIT(channel, atomic_load_explicit(&stream->messages, memory_order_acquire) == 0);
    MSP_NETWORK_WAIT(channel,
                     (atomic_load_explicit(&left, memory_order_acquire) == 0) &&
                         (atomic_load_explicit(&stream->transfers, memory_order_acquire) == 0));
    msp_network_use(channel, false);
}

/* Messages of a queue are executed in order, but those that are left to the worker. */
static bool is_in_order(const struct msp_network_stream *stream)
{
    return msp_network.limits.is_ordered &&
           (!msp_job_has_device_memory() || (atomic_load(&stream->messages) == 0));
}

void msp_network_order(const struct msp_context *context, bool completes)
{
    struct msp_network_stream *stream = stream_of(context);

    if (stream == NULL) {
        return;
    }
    if (completes || !is_in_order(stream)) {
        complete_stream(stream);
    } else {
        atomic_store_explicit(&stream->flush_next, true, memory_order_relaxed);
        atomic_store_explicit(&stream->puts_wait, msp_network.limits.puts_pass_messages,
                              memory_order_relaxed);
    }
}
