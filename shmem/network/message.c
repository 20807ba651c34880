/* SPDX-License-Identifier: BSD-3-Clause */
/* message.c: requests of other PEs to this one, and replies.
 *
 * receive() runs while the main queue is progressed, under its lock, and starts no operations: it
 * executes, and leaves replies in a list or as counts of pending acknowledgements. */

#include "shmem/network/message.h"
#include "shmem/control/memory.h"
#include "shmem/control/wait.h"
#include "shmem/network/peer.h"
#include "shmem/network/record.h"
#include "shmem/network/region.h"
#include "shmem/network/stage.h"
#include "shmem/network/stream.h"
#include "shmem/transport/atomic.h"
#include "shmem/transport/own.h"
#include "shmem/transport/rma.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JOINED_MAX_BYTES = 4 << 10 /* of the data of two replies, which is copied once more */ };

#define SERVICE "an operation of another PE on memory of this one"

struct msp_network_stream *_Atomic msp_network_streams[MSP_CONTEXT_MAX] MSP_SPARSE;

/* A reply with data. */
struct msp_network_reply {
    struct msp_network_reply *next;
    int pe;
    size_t data_bytes;
    struct msp_network_header header;
    char data[];
};

/* Guarded by the main channel's lock. */
static struct msp_network_reply *replies;
static struct msp_network_reply **replies_end = &replies;
static struct msp_network_contact *ack_pending; /* whose messages are not acknowledged */
static bool has_unconnected;
static atomic_bool is_ack_pending; /* ack_pending is not empty */

/* ---- replies ---- */

static struct msp_network_reply *new_reply(const struct msp_network_header *header,
                                           size_t data_bytes)
{
    struct msp_network_reply *reply = malloc(sizeof *reply + data_bytes);

    if (reply == NULL) {
        msp_fatal("no memory for a reply of %zu bytes to PE %d", data_bytes, header->pe);
    }
    reply->next       = NULL;
    reply->pe         = header->pe;
    reply->data_bytes = data_bytes;
    reply->header     = (struct msp_network_header){.kind    = MSP_NETWORK_REPLY,
                                                    .pe      = msp_job.pe,
                                                    .context = header->context,
                                                    .record  = header->record};
    return reply;
}

static void queue_reply(struct msp_network_reply *reply)
{
    *replies_end = reply;
    replies_end  = &reply->next;
}

static void add_pending_ack(int pe, unsigned context)
{
    struct msp_network_contact *contact = msp_network_contact_find(msp_network.main, pe);
    unsigned i;

    if (!contact->is_ack_pending) {
        contact->is_ack_pending   = true;
        contact->next_ack_pending = ack_pending;
        ack_pending               = contact;
        atomic_store_explicit(&is_ack_pending, true, memory_order_relaxed);
    }
    for (i = 0; (i < contact->ack_count) && (contact->acks[i].context != context); i++) {
    }
    if (i == sizeof contact->acks / sizeof contact->acks[0]) {
        const struct msp_network_header header = {.pe = pe, .context = (uint16_t)context};
        struct msp_network_reply *reply        = new_reply(&header, 0);

        reply->header.kind        = MSP_NETWORK_ACK;
        reply->header.ack_context = (uint16_t)context;
        reply->header.ack_count   = 1;
        queue_reply(reply);
        return;
    }
    if (i == contact->ack_count) {
        contact->acks[i].context = context;
        contact->acks[i].count   = 0;
        contact->ack_count++;
    }
    contact->acks[i].count++;
}

bool msp_network_try_to_send(struct msp_network_contact *contact,
                             const struct msp_network_header *header, const void *data,
                             size_t data_bytes, void *owned, atomic_bool *is_done)
{
    struct msp_network_operation *operation =
        msp_network_operation_take(contact->channel, "a reply", contact->pe);
    enum msp_network_result result;

    operation->header       = *header;
    operation->header.token = contact->token;
    result                  = msp_network.driver->send(contact->peer, &operation->header,
                                                       msp_network_header_bytes(&operation->header), data,
                                                       data_bytes, &operation->request);
    if (result == MSP_NETWORK_BUSY) {
        operation->next        = contact->channel->idle;
        contact->channel->idle = operation;
        return false;
    }
    msp_network_alive_count(header);
    operation->owned   = owned;
    operation->is_done = is_done;
    msp_network_operation_started(operation, result);
    return true;
}

/* False: the driver is busy. */
static bool acknowledge(struct msp_network_contact *contact, unsigned *count_p)
{
    while (contact->ack_count > 0) {
        const struct msp_network_header header = {
            .kind        = MSP_NETWORK_ACK,
            .pe          = msp_job.pe,
            .ack_context = (uint16_t)contact->acks[contact->ack_count - 1].context,
            .ack_count   = (uint16_t)contact->acks[contact->ack_count - 1].count};

        if (!msp_network_try_to_send(contact, &header, NULL, 0, NULL, NULL)) {
            return false;
        }
        contact->ack_count--;
        ++*count_p;
    }
    contact->is_ack_pending = false;
    return true;
}

bool msp_network_is_ack_pending(void)
{
    return atomic_load_explicit(&is_ack_pending, memory_order_relaxed);
}

unsigned msp_network_acknowledge(void)
{
    struct msp_network_contact **place = &ack_pending;
    unsigned count                     = 0;

    while (*place != NULL) {
        struct msp_network_contact *contact = *place;

        if (contact->peer == NULL) {
            has_unconnected = true;
            place           = &contact->next_ack_pending;
        } else if (acknowledge(contact, &count)) {
            *place = contact->next_ack_pending;
        } else {
            break;
        }
    }
    atomic_store_explicit(&is_ack_pending, ack_pending != NULL, memory_order_relaxed);
    return count;
}

/* The first replies of the list are small, and for one PE: *end_p is the first that is not among
 * them. NULL: the first one goes alone. */
static struct msp_network_aggregate *join_replies(const struct msp_network_reply *first,
                                                  struct msp_network_reply **end_p)
{
    struct msp_network_aggregate *aggregate = NULL;
    struct msp_network_reply *reply         = first->next;

    if ((reply == NULL) || (reply->pe != first->pe) ||
        (first->data_bytes + reply->data_bytes > JOINED_MAX_BYTES) ||
        !msp_network_aggregate_add(&aggregate, &first->header, first->data, first->data_bytes)) {
        return NULL;
    }
    while ((reply != NULL) && (reply->pe == first->pe) &&
           msp_network_aggregate_add(&aggregate, &reply->header, reply->data, reply->data_bytes)) {
        reply = reply->next;
    }
    *end_p = reply;
    return aggregate;
}

/* From @p reply on, up to *end_p. False: the driver is busy. */
static bool send_replies(struct msp_network_contact *contact, struct msp_network_reply *reply,
                         struct msp_network_reply **end_p)
{
    const struct msp_network_header header  = {.kind = MSP_NETWORK_AGGREGATE, .pe = msp_job.pe};
    struct msp_network_aggregate *aggregate = join_replies(reply, end_p);

    if (aggregate == NULL) {
        *end_p = reply->next;
        return msp_network_try_to_send(contact, &reply->header, reply->data, reply->data_bytes,
                                       reply, NULL);
    }
    if (!msp_network_try_to_send(contact, &header, aggregate->items, aggregate->size_bytes,
                                 aggregate, NULL)) {
        free(aggregate);
        return false;
    }
    while (reply != *end_p) {
        struct msp_network_reply *next = reply->next;

        free(reply);
        reply = next;
    }
    return true;
}

unsigned msp_network_reply(void)
{
    struct msp_network_reply **place_of_reply = &replies;
    unsigned count                            = 0;

    while (*place_of_reply != NULL) {
        struct msp_network_reply *reply     = *place_of_reply;
        struct msp_network_contact *contact = msp_network_contact_find(msp_network.main, reply->pe);
        struct msp_network_reply *end;

        if (contact->peer == NULL) {
            has_unconnected = true;
            place_of_reply  = &reply->next;
            continue;
        }
        if (!send_replies(contact, reply, &end)) {
            break;
        }
        *place_of_reply = end;
        if (end == NULL) {
            replies_end = place_of_reply;
        }
        count++;
    }
    return count;
}

bool msp_network_has_unconnected(void)
{
    return has_unconnected;
}

/* The first that waits for a reply and is not connected; -1: there is none. */
static int find_unconnected(void)
{
    struct msp_network_channel *channel = msp_network.main;
    const struct msp_network_contact *contact;
    const struct msp_network_reply *reply;

    for (contact = ack_pending; contact != NULL; contact = contact->next_ack_pending) {
        if (contact->peer == NULL) {
            return contact->pe;
        }
    }
    for (reply = replies; reply != NULL; reply = reply->next) {
        if (msp_network_contact_find(channel, reply->pe)->peer == NULL) {
            return reply->pe;
        }
    }
    return -1;
}

void msp_network_connect_waiting(void)
{
    struct msp_network_channel *channel = msp_network.main;
    int pe;

    msp_network_lock(channel);
    while ((pe = find_unconnected()) >= 0) {
        (void)msp_network_contact_open("a reply", channel, pe);
    }
    has_unconnected = false;
    (void)msp_network_acknowledge();
    (void)msp_network_reply();
    msp_network_unlock(channel);
}

/* ---- executing ---- */

/* A PE of the job has sent it, which then does not do as others do. */
static _Noreturn void refuse_message(const struct msp_network_header *header, const char *what)
{
    msp_fatal("PE %d has sent a malformed message: %s (kind %u)", header->pe, what, header->kind);
}

static char *own_address(const struct msp_network_header *header, unsigned index,
                         uint64_t offset_bytes, uint64_t size_bytes)
{
    const struct msp_segment *segment = &msp_segments[index];
    uint64_t extent_bytes;

    msp_own_order();
    extent_bytes = (index == MSP_SEGMENT_CONTROL) ? segment->size_bytes : segment->stride_bytes;
    if ((offset_bytes > extent_bytes) || (size_bytes > extent_bytes - offset_bytes)) {
        msp_fatal("PE %d operates on memory of this PE that does not exist (any more)", header->pe);
    }
    return segment->base + offset_bytes;
}

/* From the first byte of the first block to the last of the last. UINT64_MAX: no memory has it. */
static uint64_t span_of(const struct msp_network_header *header)
{
    uint64_t span;

    return (__builtin_mul_overflow(header->more_blocks, header->stride_bytes, &span) ||
            __builtin_add_overflow(span, header->size_bytes, &span))
               ? UINT64_MAX
               : span;
}

static uint64_t apply(const struct msp_network_header *header, unsigned segment,
                      uint64_t offset_bytes, unsigned size_bytes)
{
    void *word = own_address(header, segment, offset_bytes, size_bytes);
    uint64_t old;

    if ((uintptr_t)word % size_bytes != 0) {
        refuse_message(header, "an atomic operation on no word");
    }
    old =
        msp_own_atomic(SERVICE, word,
                       &(struct msp_atomic_request){.operation = (enum msp_atomic)header->operation,
                                                    .size_bytes = size_bytes,
                                                    .value      = header->value,
                                                    .condition  = header->condition});

    if (header->operation != MSP_ATOMIC_FETCH) {
        msp_own_notify(segment, word, size_bytes);
    }
    return old;
}

static void execute_put(const struct msp_network_header *header, const char *payload)
{
    uint64_t i;

    if (header->size_bytes != 0) {
        char *own    = own_address(header, header->segment, header->offset_bytes, span_of(header));
        bool is_host = msp_rma_host_touches(own);

        if (!is_host) {
            msp_rma_move_blocks(SERVICE, own, (ptrdiff_t)header->stride_bytes, payload,
                                header->size_bytes, header->size_bytes,
                                (size_t)header->more_blocks + 1);
        }
        for (i = 0; is_host && (i <= header->more_blocks); i++) {
            msp_own_put(SERVICE, own + (i * header->stride_bytes),
                        payload + (i * header->size_bytes), header->size_bytes);
        }
        msp_own_notify(header->segment, own, span_of(header));
    }
    if (header->operation != MSP_NETWORK_NO_SIGNAL) {
        (void)apply(header, header->signal_segment, header->signal_offset_bytes, sizeof(uint64_t));
    }
}

static struct msp_network_reply *execute_get(const struct msp_network_header *header)
{
    char *own = own_address(header, header->segment, header->offset_bytes, span_of(header));
    struct msp_network_reply *reply =
        new_reply(header, (header->more_blocks + 1) * header->size_bytes);
    uint64_t i;

    reply->header.value = header->value;
    if (!msp_rma_host_touches(own)) {
        msp_rma_gather(SERVICE, reply->data, own, (ptrdiff_t)header->stride_bytes,
                       header->size_bytes, (size_t)header->more_blocks + 1);
        return reply;
    }
    for (i = 0; i <= header->more_blocks; i++) {
        msp_own_get(SERVICE, reply->data + (i * header->size_bytes),
                    own + (i * header->stride_bytes), header->size_bytes);
    }
    return reply;
}

static struct msp_network_reply *execute_atomic(const struct msp_network_header *header)
{
    uint64_t old = apply(header, header->segment, header->offset_bytes, header->word_bytes);
    struct msp_network_reply *reply;

    if (header->record == 0) {
        return NULL;
    }
    reply = new_reply(header, header->word_bytes);
    msp_bits_to(reply->data, old, header->word_bytes);
    return reply;
}

static struct msp_network_reply *answer_key(const struct msp_network_header *header)
{
    struct msp_network_reply *reply   = new_reply(header, sizeof(struct msp_network_answer));
    struct msp_network_answer *answer = (struct msp_network_answer *)(void *)reply->data;
    struct msp_network_chunk chunk    = {.offset_bytes = header->offset_bytes, .size_bytes = 1};
    memspan_status_t status =
        msp_network_region_find(header->segment, header->offset_bytes, &chunk);

    *answer = (struct msp_network_answer){.status       = (int32_t)status,
                                          .key_bytes    = (uint32_t)chunk.key_bytes,
                                          .offset_bytes = chunk.offset_bytes,
                                          .size_bytes   = chunk.size_bytes,
                                          .address      = chunk.address};
    if (status == MEMSPAN_OK) {
        memcpy(answer->bytes, chunk.key, chunk.key_bytes);
    } else {
        snprintf((char *)answer->bytes, sizeof answer->bytes, "%s", memspan_error_last()->message);
        answer->key_bytes = (uint32_t)strlen((const char *)answer->bytes);
    }
    return reply;
}

static struct msp_network_reply *answer_ping(const struct msp_network_header *header)
{
    struct msp_network_reply *reply = new_reply(header, 0);

    msp_network_alive_count(header);
    reply->header.kind  = MSP_NETWORK_PONG;
    reply->header.value = msp_wait_state(msp_job.local_index);
    msp_network_deadlock_heard(msp_network_contact_find(msp_network.main, header->pe),
                               header->value);
    return reply;
}

static struct msp_network_reply *lease_slots(const struct msp_network_header *header)
{
    struct msp_network_reply *reply = new_reply(header, sizeof(uint64_t));
    uint64_t lease                  = msp_network_stage_lease();

    memcpy(reply->data, &lease, sizeof lease);
    return reply;
}

static struct msp_network_reply *execute_stage(const struct msp_network_header *header)
{
    bool to_device = (header->kind == MSP_NETWORK_UNSTAGE);
    char *own      = own_address(header, header->segment, header->offset_bytes, header->size_bytes);

    msp_network_stage_copy(SERVICE, to_device, own, header->value, header->size_bytes);
    if (to_device) {
        msp_own_notify(header->segment, own, header->size_bytes);
    }
    return new_reply(header, 0);
}

struct msp_network_reply *msp_network_execute(const struct msp_network_header *header,
                                              const char *payload)
{
    switch (header->kind) {
    case MSP_NETWORK_GET:
        return execute_get(header);
    case MSP_NETWORK_ATOMIC:
        return execute_atomic(header);
    case MSP_NETWORK_KEY:
        return answer_key(header);
    case MSP_NETWORK_PING:
        return answer_ping(header);
    case MSP_NETWORK_LEASE:
        return lease_slots(header);
    case MSP_NETWORK_RELEASE:
        msp_network_stage_release(header->value);
        return NULL;
    case MSP_NETWORK_STAGE:
    case MSP_NETWORK_UNSTAGE:
        return execute_stage(header);
    case MSP_NETWORK_PUT:
        execute_put(header, payload);
        return NULL;
    default:
        refuse_message(header, "nothing to execute");
    }
}

void msp_network_answer(const struct msp_network_header *header, struct msp_network_reply *reply)
{
    if (reply != NULL) {
        queue_reply(reply);
    } else if (header->is_unanswered == 0) {
        add_pending_ack(header->pe, header->context);
    }
}

bool msp_network_has_unsent_replies(void)
{
    return (replies != NULL) || (ack_pending != NULL);
}

bool msp_network_is_all_answered(void)
{
    return !msp_network_has_unsent_replies() && (msp_network.main->in_flight == 0);
}

/* ---- receiving ---- */

static void finish_record(const struct msp_network_header *header, const char *payload,
                          size_t payload_bytes)
{
    struct msp_network_record *record =
        msp_network_record_find(header->record, header->pe, header->value, payload_bytes);
    _Atomic uint64_t *outstanding;
    bool is_unwaited;
    char *dest;
    size_t at;

    if (record == NULL) {
        refuse_message(header, "a reply that was not asked for");
    }
    outstanding = record->outstanding;
    is_unwaited = record->is_unwaited;
    if (record->block_bytes == 0) {
        if (payload_bytes != 0) {
            msp_rma_copy(record->dest + header->value, payload, payload_bytes);
        }
    } else {
        dest =
            record->dest + ((ptrdiff_t)header->value / record->block_bytes * record->stride_bytes);
        for (at = 0; at < payload_bytes; at += (size_t)record->block_bytes) {
            msp_rma_copy(dest, payload + at, (size_t)record->block_bytes);
            dest += record->stride_bytes;
        }
    }
    if ((atomic_fetch_sub_explicit(&record->left, 1, memory_order_acq_rel) == 1) && is_unwaited) {
        msp_network_record_give(record);
    }
    if (outstanding != NULL) {
        atomic_fetch_sub_explicit(outstanding, 1, memory_order_release);
    }
}

static bool is_of_device(unsigned segment)
{
    return (segment < MSP_SEGMENT_MAX) && !msp_segments[segment].host_touches;
}

/* It may block. */
static bool is_for_worker(const struct msp_network_header *header)
{
    if ((header->kind == MSP_NETWORK_LEASE) || (header->kind == MSP_NETWORK_RELEASE)) {
        return false;
    }
    return (header->kind == MSP_NETWORK_KEY) || (header->kind == MSP_NETWORK_STAGE) ||
           (header->kind == MSP_NETWORK_UNSTAGE) ||
           (MSP_UNLIKELY(msp_job_has_device_memory()) &&
            (is_of_device(header->segment) ||
             ((header->kind == MSP_NETWORK_PUT) && (header->operation != MSP_NETWORK_NO_SIGNAL) &&
              is_of_device(header->signal_segment))));
}

/* The sender has executed messages of one of this PE's contexts. */
static void acknowledged(const struct msp_network_header *header)
{
    struct msp_network_stream *stream =
        atomic_load_explicit(&msp_network_streams[header->ack_context], memory_order_acquire);

    if ((stream == NULL) ||
        (atomic_load_explicit(&stream->messages, memory_order_relaxed) < header->ack_count)) {
        refuse_message(header, "acknowledgements of messages that were not sent");
    }
    atomic_fetch_sub_explicit(&stream->messages, header->ack_count, memory_order_release);
}

/* One that came alone, or in an aggregate. */
static void handle(const struct msp_network_header *header, const void *payload,
                   size_t payload_bytes)
{
    if (header->ack_count != 0) {
        acknowledged(header);
    }
    if (header->kind == MSP_NETWORK_ACK) {
        return;
    }
    if (header->kind == MSP_NETWORK_REPLY) {
        finish_record(header, payload, payload_bytes);
    } else if (header->kind == MSP_NETWORK_PONG) {
        msp_network_alive_heard(header);
    } else if (header->kind == MSP_NETWORK_CALL) {
        msp_network_call_leave(header, payload, payload_bytes);
    } else if (MSP_UNLIKELY(is_for_worker(header))) {
        msp_network_worker_leave(header, payload, payload_bytes);
    } else {
        msp_network_answer(header, msp_network_execute(header, payload));
    }
}

static void handle_each(const struct msp_network_wire_limits *limits,
                        const struct msp_network_header *header, const char *items,
                        size_t items_bytes)
{
    struct msp_network_wire_item item;
    size_t at = 0;
    const char *wrong;

    while (at < items_bytes) {
        wrong = msp_network_wire_next(limits, items, items_bytes, &at, &item);
        if (wrong != NULL) {
            refuse_message(header, wrong);
        }
        handle(&item.header, item.payload, item.payload_bytes);
    }
}

/* Any process that reaches this one's port may have sent it. */
static void drop_stranger(void)
{
    static int key;

    msp_warn_once(&key, "a message that is not of this job was dropped: the network lets others "
                        "connect to its PEs");
}

void msp_network_receive(const void *header_at, size_t header_bytes, const void *payload,
                         size_t payload_bytes)
{
    const struct msp_network_wire_limits limits = {
        .pe_count = msp_job.pe_count, .answer_max_bytes = MSP_NETWORK_ANSWER_MAX_BYTES};
    struct msp_network_header header = {.pe = -1};
    const char *wrong;

    if (!msp_network_wire_is_ours(header_at, header_bytes, msp_network.token)) {
        drop_stranger();
        return;
    }
    wrong = msp_network_wire_read(&limits, false, header_at, header_bytes, payload_bytes, &header);
    if (wrong != NULL) {
        refuse_message(&header, wrong);
    }
    if (header.kind != MSP_NETWORK_AGGREGATE) {
        handle(&header, payload, payload_bytes);
        return;
    }
    if (header.ack_count != 0) {
        acknowledged(&header);
    }
    handle_each(&limits, &header, payload, payload_bytes);
}

void msp_network_message_close(void)
{
    while (replies != NULL) {
        struct msp_network_reply *reply = replies;

        replies = reply->next;
        free(reply);
    }
    replies_end = &replies;
    ack_pending = NULL;
}
