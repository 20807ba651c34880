/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_NETWORK_STREAM_H
#define MEMSPAN_SHMEM_NETWORK_STREAM_H

#include "shmem/network/peer.h"

/* Streams: the operations of one context on its channel (peer.h), outstanding operations, and
 * order.
 *
 * A stream counts its messages without a reply, and its transfers that have not ended. Its channel
 * lists the peers with puts that no flush covers: quiet flushes these. */

/* One operation under way: its channel is locked from msp_network_begin() to msp_network_end(). */
struct msp_network_work {
    const struct msp_target *target;
    struct msp_network_stream *stream;
    struct msp_network_channel *channel;
    struct msp_network_contact *contact;
};

struct msp_network_work msp_network_begin(const struct msp_target *target);
static inline void msp_network_end(const struct msp_network_work *work)
{
    msp_network_unlock(work->channel);
}

/* struct msp_transport: context_open, context_close, order. */
memspan_status_t msp_network_stream_open(unsigned context, long options);
void msp_network_stream_close(unsigned context);
void msp_network_order(const struct msp_context *context, bool completes);

/* The functions below are called between begin and end.
 *
 * A message whose header has the fields common to all. */
struct msp_network_operation *msp_network_message(const struct msp_network_work *work,
                                                  enum msp_network_kind kind);
/* Before a message that is counted: not too many are without a reply, and replies are seen. */
void msp_network_count_message(const struct msp_network_work *work);

/* The same before one that sets a flag. False: it needs no acknowledgement. */
bool msp_network_count_flag(const struct msp_network_work *work);

/* A message with data of the program's: a blocking call waits until the driver has taken it. */
void msp_network_send_data(const struct msp_network_work *work,
                           struct msp_network_operation *operation, const void *data,
                           size_t data_bytes, unsigned flags);

/* A message of a blocking call with data of the library's, or none. One of a private or serialized
 * context has left this PE afterwards: its thread may make no further call, and no other thread
 * advances the channel. */
void msp_network_send_at_once(const struct msp_network_work *work,
                              struct msp_network_operation *operation, const void *data,
                              size_t data_bytes);

/* Not locked. */
static inline void msp_network_wait_for(const struct msp_network_work *work,
                                        const atomic_bool *is_done)
{
    MSP_NETWORK_WAIT(work->channel, atomic_load_explicit(is_done, memory_order_acquire));
}

/* ---- put and get (transfer.c) ---- */

enum { MSP_NETWORK_ANSWER_MAX_BYTES = 8 << 10 }; /* of a get by messages, each */

void msp_network_put(const struct msp_target *target, const void *source, size_t size_bytes,
                     unsigned flags);
void msp_network_get(const struct msp_target *target, void *dest, size_t size_bytes,
                     unsigned flags);

/* ---- large blocks to or from devices (pipeline.c) ---- */

/* Both return when the operation is complete at this end (put: and at the other, where that is a
 * device's), and how many bytes they have moved: the caller moves the rest by other paths. 0 where
 * these are better. */
size_t msp_network_pipeline_put(const struct msp_network_work *work, const char *source,
                                size_t size_bytes);
size_t msp_network_pipeline_get(const struct msp_network_work *work, char *dest, size_t size_bytes);

/* ---- aggregation ---- */

/* Aggregation: small messages to one PE travel in one. Over TCP a message of any size costs its
 * system call.
 *
 * A message waits in its contact's aggregate only behind one of the same context that has no
 * acknowledgement so far, and until that one arrives at the latest (Nagle's algorithm): the caller
 * that progresses the main queue sends the waiting messages, or the thread that the acknowledgement
 * wakes. So every message is sent soon without a timer, and one alone is sent at once. A message
 * that does not wait takes the waiting ones along, so that order is that of the calls. */

enum { MSP_NETWORK_AGGREGATE_BYTES = 15 << 10 };

/* In the payload of a message of kind AGGREGATE: one after the other, each on 8 bytes. */
struct msp_network_aggregate_item {
    uint32_t header_bytes; /* without the token, which the whole has */
    uint32_t payload_bytes;
};

/* From one to the next. */
static inline size_t msp_network_aggregate_item_bytes(const struct msp_network_aggregate_item *item)
{
    size_t end = sizeof *item + (size_t)item->header_bytes + item->payload_bytes;

    return (end + sizeof *item - 1) & ~(sizeof *item - 1);
}

struct msp_network_aggregate {
    size_t size_bytes;
    atomic_bool *is_done; /* set when it is sent, for a call that waits; or NULL */
    _Alignas(8) char items[MSP_NETWORK_AGGREGATE_BYTES];
};

/* Between begin and end, for a message that has just been counted: it may wait. Nonblocking ones
 * may, since a quiet will follow. Others may where several are under way; the first few, of which
 * one may be a flag for data before it, are sent at once, as are those after shmem_fence(). */
bool msp_network_may_wait(const struct msp_network_work *work, unsigned flags);

/* Adds a message to *aggregate_p, which is made where it is NULL. False: no space, or no memory. */
bool msp_network_aggregate_add(struct msp_network_aggregate **aggregate_p,
                               const struct msp_network_header *header, const void *payload,
                               size_t payload_bytes);

#endif /* MEMSPAN_SHMEM_NETWORK_STREAM_H */
