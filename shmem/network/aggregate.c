/* SPDX-License-Identifier: BSD-3-Clause */
/* aggregate.c: sending, alone or together. */

#include "shmem/network/peer.h"
#include "shmem/network/stream.h"
#include <stdlib.h>
#include <string.h>

enum {
    ROW_MESSAGES = 4, /* of a context without acknowledgement, before blocking ones may wait */
};

/* Its own message is counted already. */
bool msp_network_may_wait(const struct msp_network_work *work, unsigned flags)
{
    struct msp_network_stream *stream = work->stream;
    uint64_t before;

    if (atomic_load_explicit(&stream->flush_next, memory_order_relaxed)) {
        atomic_store_explicit(&stream->flush_next, false, memory_order_relaxed);
        return false;
    }
    if (work->target->context == msp_context_internal()) {
        return false;
    }
    before = atomic_load_explicit(&stream->messages, memory_order_relaxed) - 1;
    if ((flags & MSP_OP_NONBLOCKING) != 0) {
        return before > 0;
    }
    /* No other thread sends the waiting messages of a private context. */
    return work->channel->is_main && (before >= ROW_MESSAGES);
}

bool msp_network_aggregate_add(struct msp_network_aggregate **aggregate_p,
                               const struct msp_network_header *header, const void *payload,
                               size_t payload_bytes)
{
    const struct msp_network_aggregate_item item = {
        .header_bytes  = (uint32_t)(msp_network_header_bytes(header) - sizeof header->token),
        .payload_bytes = (uint32_t)payload_bytes,
    };
    struct msp_network_aggregate *aggregate = *aggregate_p;
    size_t at                               = (aggregate != NULL) ? aggregate->size_bytes : 0;
    size_t end                              = at + msp_network_aggregate_item_bytes(&item);

    if ((end > sizeof aggregate->items) || (end > msp_network.payload_max_bytes)) {
        return false;
    }
    if (aggregate == NULL) {
        aggregate = malloc(sizeof *aggregate);
        if (aggregate == NULL) {
            return false;
        }
        aggregate->is_done = NULL;
        *aggregate_p       = aggregate;
    }
    memcpy(aggregate->items + at, &item, sizeof item);
    memcpy(aggregate->items + at + sizeof item, &header->token + 1, item.header_bytes);
    if (payload_bytes != 0) {
        memcpy(aggregate->items + at + sizeof item + item.header_bytes, payload, payload_bytes);
    }
    aggregate->size_bytes = end;
    return true;
}

/* Messages that the peer waits for anyway. Contacts of other channels than the main one have none.
 */
static void add_acks(struct msp_network_contact *contact, struct msp_network_header *header)
{
    if (contact->ack_count > 0) {
        contact->ack_count--;
        header->ack_context = (uint16_t)contact->acks[contact->ack_count].context;
        header->ack_count   = (uint16_t)contact->acks[contact->ack_count].count;
    }
}

/* False: the driver is busy. */
static bool send_aggregate(struct msp_network_contact *contact)
{
    struct msp_network_aggregate *aggregate = contact->aggregate;
    struct msp_network_header header        = {.kind = MSP_NETWORK_AGGREGATE, .pe = msp_job.pe};
    unsigned ack_count                      = contact->ack_count;

    if (aggregate == NULL) {
        return true;
    }
    add_acks(contact, &header);
    if (!msp_network_try_to_send(contact, &header, aggregate->items, aggregate->size_bytes,
                                 aggregate, aggregate->is_done)) {
        contact->ack_count = ack_count;
        return false;
    }
    contact->aggregate = NULL;
    contact->channel->sends++;
    return true;
}

void msp_network_send_waiting(struct msp_network_channel *channel)
{
    while ((channel->waiting != NULL) && send_aggregate(channel->waiting)) {
        channel->waiting->is_waiting = false;
        channel->waiting             = channel->waiting->next_waiting;
    }
}

void msp_network_send_waiting_to(struct msp_network_contact *contact)
{
    while (!send_aggregate(contact)) {
        msp_network_relieve(contact->channel);
    }
}

static void enlist(struct msp_network_contact *contact)
{
    if (!contact->is_waiting) {
        contact->is_waiting       = true;
        contact->next_waiting     = contact->channel->waiting;
        contact->channel->waiting = contact;
    }
}

static bool is_waited_for(const struct msp_network_aggregate *aggregate)
{
    return (aggregate != NULL) && (aggregate->is_done != NULL);
}

/* False: it has to be sent alone, and nothing waits any more. */
static bool join(struct msp_network_contact *contact, struct msp_network_operation *operation,
                 const void *payload, size_t payload_bytes)
{
    if (is_waited_for(contact->aggregate) ||
        !msp_network_aggregate_add(&contact->aggregate, &operation->header, payload,
                                   payload_bytes)) {
        msp_network_send_waiting_to(contact);
        if (!operation->may_wait ||
            !msp_network_aggregate_add(&contact->aggregate, &operation->header, payload,
                                       payload_bytes)) {
            return false;
        }
    }
    if (operation->may_wait) {
        enlist(contact);
        return true;
    }
    if (!contact->channel->is_main) {
        contact->aggregate->is_done = operation->is_done;
        operation->is_done          = NULL;
    }
    msp_network_send_waiting_to(contact);
    return true;
}

void msp_network_send(struct msp_network_contact *contact, struct msp_network_operation *operation,
                      const void *payload, size_t payload_bytes)
{
    struct msp_network_channel *channel = operation->channel;
    enum msp_network_result result;

    channel->counters.messages++;
    channel->counters.message_bytes += payload_bytes;
    if ((operation->may_wait || (contact->aggregate != NULL)) &&
        join(contact, operation, payload, payload_bytes)) {
        msp_network_operation_started(operation, MSP_NETWORK_DONE);
        return;
    }
    channel->sends++;
    operation->header.token = contact->token;
    add_acks(contact, &operation->header);
    while ((result = msp_network.driver->send(
                contact->peer, &operation->header, msp_network_header_bytes(&operation->header),
                payload, payload_bytes, &operation->request)) == MSP_NETWORK_BUSY) {
        msp_network_relieve(channel);
    }
    msp_network_operation_started(operation, result);
}
