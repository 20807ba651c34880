/* SPDX-License-Identifier: BSD-3-Clause */
/* pipeline.c: large blocks to or from memory of devices that the network does not register: in
 * pieces, several of which are under way. A piece passes through a staging buffer at each end that
 * is a device's; between the ends it is the driver's put or get. So the copies of both devices and
 * the network work at the same time.
 *
 * The staging area of a peer is in its control memory (stage.h), so it is registered and reached as
 * all memory is. A put takes a lease of some slots there; each piece is put into a slot, and a
 * message makes the owner copy it to the device. A get is the reverse. The owner's reply to that
 * message makes the slot free for the next piece. */

#include "shmem/network/peer.h"
#include "shmem/network/stage.h"
#include "shmem/network/stream.h"
#include "shmem/transport/rma.h"
#include <string.h>

enum {
    MIN_BYTES       = 64 << 10,  /* below it a lease costs more than it saves */
    PIECE_MIN_BYTES = 256 << 10, /* but of the last piece */
    SLOTS           = MSP_NETWORK_STAGE_SLOTS,
};

/* One piece under way. */
struct slot {
    size_t at;
    size_t size_bytes;
    atomic_bool is_done;               /* the driver has read, or written, this end */
    atomic_bool is_flushed;            /* a put into the peer's slot has taken effect */
    struct msp_network_record *record; /* of messages to the owner; NULL: there were none */
    struct msp_network_stage *local;   /* NULL: this end is the host's */
};

struct flow {
    const struct msp_target *target;
    struct msp_network_channel *channel;
    struct msp_network_contact *contact;
    uint64_t lease; /* where the leased slots begin in the peer's control memory */
    bool is_staged; /* the peer's memory is reached through them */
    struct slot slots[SLOTS];
};

/* ---- waiting ---- */

static void wait_until(const struct flow *flow, const atomic_bool *is_done)
{
    if (!atomic_load_explicit(is_done, memory_order_acquire)) {
        msp_network_unlock(flow->channel);
        MSP_NETWORK_WAIT(flow->channel, atomic_load_explicit(is_done, memory_order_acquire));
        msp_network_lock(flow->channel);
    }
}

static bool is_replied(const struct msp_network_record *record)
{
    return (record == NULL) || (atomic_load_explicit(&record->left, memory_order_acquire) == 0);
}

static void wait_for_reply(const struct flow *flow, const struct msp_network_record *record)
{
    if (!is_replied(record)) {
        msp_network_unlock(flow->channel);
        MSP_NETWORK_WAIT(flow->channel, is_replied(record));
        msp_network_lock(flow->channel);
    }
}

/* ---- messages ---- */

/* A message about memory of the peer; with a record it is replied to, else it is counted. */
static void send(const struct flow *flow, enum msp_network_kind kind, const struct slot *slot,
                 struct msp_network_record *record)
{
    const struct msp_target *target = flow->target;
    unsigned context                = (unsigned)(target->context - msp_contexts);
    struct msp_network_operation *operation =
        msp_network_operation_take(flow->channel, target->call, target->pe);

    operation->header =
        (struct msp_network_header){.kind      = (uint8_t)kind,
                                    .operation = MSP_NETWORK_NO_SIGNAL,
                                    .pe        = msp_job.pe,
                                    .context   = (uint16_t)context,
                                    .segment   = (uint16_t)(target->segment - msp_segments),
                                    .value     = flow->lease};
    if (slot != NULL) {
        operation->header.offset_bytes = target->offset_bytes + slot->at;
        operation->header.size_bytes   = (uint32_t)slot->size_bytes;
        operation->header.value += (uint64_t)(slot - flow->slots) * MSP_NETWORK_STAGE_BYTES;
    }
    if (record != NULL) {
        operation->header.record = msp_network_record_ask(record);
    } else {
        atomic_fetch_add_explicit(&atomic_load(&msp_network_streams[context])->messages, 1,
                                  memory_order_relaxed);
    }
    msp_network_send(flow->contact, operation, NULL, 0);
}

/* About the piece in a slot, whose reply shows that the owner has copied it. */
static void ask_owner(const struct flow *flow, enum msp_network_kind kind, struct slot *slot)
{
    if (slot->record == NULL) {
        slot->record = msp_network_record_take(flow->target->call, flow->target->pe, NULL, 0);
    }
    send(flow, kind, slot, slot->record);
}

/* ---- both ends ---- */

static bool lease_slots(struct flow *flow)
{
    struct msp_network_record *record = msp_network_record_take(
        flow->target->call, flow->target->pe, &flow->lease, sizeof flow->lease);

    send(flow, MSP_NETWORK_LEASE, NULL, record);
    wait_for_reply(flow, record);
    msp_network_record_give(record);
    return flow->lease != MSP_NETWORK_NO_LEASE;
}

/* How the peer's end of a piece is reached; *piece_p becomes the part of it that one key covers.
 * False: by messages alone. */
static bool find_peer_end(const struct flow *flow, size_t at, unsigned slot, size_t *piece_p,
                          struct msp_network_reach *reach_p, uint64_t *address_p)
{
    struct msp_target place = *flow->target;
    uint64_t left_bytes;

    place.offset_bytes += at;
    if (flow->is_staged) {
        place.segment      = &msp_segments[MSP_SEGMENT_CONTROL];
        place.offset_bytes = flow->lease + ((uint64_t)slot * MSP_NETWORK_STAGE_BYTES);
    }
    msp_network_reach_find(&place, flow->channel, flow->contact, place.offset_bytes, reach_p);
    if (reach_p->key == NULL) {
        return false;
    }
    left_bytes = reach_p->end_bytes - place.offset_bytes;
    *piece_p   = (left_bytes < *piece_p) ? (size_t)left_bytes : *piece_p;
    *address_p = reach_p->address + (place.offset_bytes - reach_p->first_bytes);
    return true;
}

/* The first and last ones are small: nothing else happens while they are copied. */
static size_t piece_of(size_t at, size_t left_bytes)
{
    size_t piece = (at < left_bytes / 2) ? at : left_bytes / 2;

    piece = (piece < PIECE_MIN_BYTES) ? (size_t)PIECE_MIN_BYTES : piece;
    piece = (piece < MSP_NETWORK_STAGE_BYTES) ? piece : (size_t)MSP_NETWORK_STAGE_BYTES;
    return (piece < left_bytes) ? piece : left_bytes;
}

/* Whether this operation is one for pieces; leases slots of the peer where it has to. */
static bool begin(struct flow *flow, const struct msp_network_work *work, const void *local,
                  size_t size_bytes)
{
    const struct msp_target *target = work->target;
    bool is_device                  = !msp_rma_host_touches(local);
    struct msp_network_reach reach;
    uint64_t address;
    size_t piece = 1;
    unsigned i;

    if ((size_bytes < MIN_BYTES) || (!is_device && target->segment->host_touches)) {
        return false;
    }
    memset(flow, 0, sizeof *flow);
    flow->target  = target;
    flow->channel = work->channel;
    flow->contact = work->contact;
    if (!find_peer_end(flow, 0, 0, &piece, &reach, &address)) {
        flow->is_staged = !target->segment->host_touches && lease_slots(flow);
        if (!flow->is_staged) {
            return false;
        }
    } else if (!is_device) {
        return false; /* both ends are the driver's */
    }
    for (i = 0; i < SLOTS; i++) {
        atomic_init(&flow->slots[i].is_done, true);
        if (is_device && (i * (size_t)PIECE_MIN_BYTES < size_bytes)) {
            flow->slots[i].local = msp_network_stage_take(target->call, local);
        }
    }
    return true;
}

static void end(struct flow *flow)
{
    unsigned i;

    if (flow->is_staged) {
        send(flow, MSP_NETWORK_RELEASE, NULL, NULL);
    }
    for (i = 0; i < SLOTS; i++) {
        if (flow->slots[i].local != NULL) {
            msp_network_stage_give(flow->slots[i].local);
        }
        if (flow->slots[i].record != NULL) {
            msp_network_record_give(flow->slots[i].record);
        }
    }
}

/* ---- put ---- */

static void start_put(const struct flow *flow, struct slot *slot,
                      const struct msp_network_reach *reach, uint64_t address, const char *source)
{
    struct msp_network_operation *operation =
        msp_network_operation_take(flow->channel, flow->target->call, flow->target->pe);
    enum msp_network_result result;

    atomic_store_explicit(&slot->is_done, false, memory_order_relaxed);
    operation->is_done = &slot->is_done;
    flow->channel->counters.puts++;
    flow->channel->counters.put_bytes += slot->size_bytes;
    while ((result = msp_network.driver->put(flow->contact->peer, reach->key, address, source,
                                             slot->size_bytes, &operation->request)) ==
           MSP_NETWORK_BUSY) {
        msp_network_relieve(flow->channel);
    }
    msp_network_mark_dirty(flow->channel, flow->contact);
    msp_network_operation_started(operation, result);
}

static void start_flush(const struct flow *flow, struct slot *slot)
{
    struct msp_network_operation *operation =
        msp_network_operation_take(flow->channel, flow->target->call, flow->target->pe);
    enum msp_network_result result;

    atomic_store_explicit(&slot->is_flushed, false, memory_order_relaxed);
    operation->is_done = &slot->is_flushed;
    while ((result = msp_network.driver->flush(flow->contact->peer, &operation->request)) ==
           MSP_NETWORK_BUSY) {
        msp_network_relieve(flow->channel);
    }
    msp_network_operation_started(operation, result);
}

/* The owner copies the piece when it is in the slot. */
static void send_copy(const struct flow *flow, struct slot *slot)
{
    if (!msp_network.limits.is_ordered) {
        wait_until(flow, &slot->is_flushed);
    }
    ask_owner(flow, MSP_NETWORK_UNSTAGE, slot);
}

/* The bytes of a piece where the driver reads them. */
static const char *stage_source(const struct flow *flow, const struct slot *slot,
                                const char *source)
{
    if (slot->local == NULL) {
        return source + slot->at;
    }
    msp_network_unlock(flow->channel);
    msp_rma_move(flow->target->call, slot->local->memory, source + slot->at, slot->size_bytes);
    msp_network_lock(flow->channel);
    return slot->local->memory;
}

size_t msp_network_pipeline_put(const struct msp_network_work *work, const char *source,
                                size_t size_bytes)
{
    struct slot *unsent = NULL; /* its flush is under way */
    struct flow flow;
    unsigned next = 0;
    size_t at     = 0;

    if (!begin(&flow, work, source, size_bytes)) {
        return 0;
    }
    while (at < size_bytes) {
        struct slot *slot = &flow.slots[next];
        size_t piece      = piece_of(at, size_bytes - at);
        struct msp_network_reach reach;
        uint64_t address;

        if (!find_peer_end(&flow, at, next, &piece, &reach, &address)) {
            break;
        }
        wait_until(&flow, &slot->is_done);
        wait_for_reply(&flow, slot->record);
        slot->at         = at;
        slot->size_bytes = piece;
        start_put(&flow, slot, &reach, address, stage_source(&flow, slot, source));
        if (flow.is_staged && msp_network.limits.is_ordered) {
            send_copy(&flow, slot);
        } else if (flow.is_staged) {
            start_flush(&flow, slot);
            if (unsent != NULL) {
                send_copy(&flow, unsent);
            }
            unsent = slot;
        }
        at += piece;
        next = (next + 1) % SLOTS;
    }
    if (unsent != NULL) {
        send_copy(&flow, unsent);
    }
    for (next = 0; next < SLOTS; next++) {
        wait_until(&flow, &flow.slots[next].is_done);
        wait_for_reply(&flow, flow.slots[next].record);
    }
    end(&flow);
    return at;
}

/* ---- get ---- */

static void start_get(const struct flow *flow, struct slot *slot,
                      const struct msp_network_reach *reach, uint64_t address, char *dest)
{
    struct msp_network_operation *operation =
        msp_network_operation_take(flow->channel, flow->target->call, flow->target->pe);
    char *to = (slot->local != NULL) ? slot->local->memory : dest + slot->at;
    enum msp_network_result result;

    atomic_store_explicit(&slot->is_done, false, memory_order_relaxed);
    operation->is_done = &slot->is_done;
    flow->channel->counters.gets++;
    flow->channel->counters.get_bytes += slot->size_bytes;
    while ((result = msp_network.driver->get(flow->contact->peer, reach->key, address, to,
                                             slot->size_bytes, &operation->request)) ==
           MSP_NETWORK_BUSY) {
        msp_network_relieve(flow->channel);
    }
    msp_network_operation_started(operation, result);
}

/* Slot @p slot gets the piece from *asked_p on from the device, if there is one. */
static void request_piece(struct flow *flow, unsigned slot, size_t *asked_p, size_t size_bytes)
{
    struct slot *into = &flow->slots[slot];

    if (flow->is_staged && (*asked_p < size_bytes)) {
        into->at         = *asked_p;
        into->size_bytes = piece_of(*asked_p, size_bytes - *asked_p);
        *asked_p += into->size_bytes;
        ask_owner(flow, MSP_NETWORK_STAGE, into);
    }
}

/* The get of a piece is over, and it is where it belongs. */
static void finish_get(const struct flow *flow, struct slot *slot, char *dest)
{
    wait_until(flow, &slot->is_done);
    if (slot->local != NULL) {
        msp_network_unlock(flow->channel);
        msp_rma_move(flow->target->call, dest + slot->at, slot->local->memory, slot->size_bytes);
        msp_network_lock(flow->channel);
    }
}

/* Of the piece at *at_p, when the owner has filled its slot. False: by messages alone. */
static bool start_next_get(struct flow *flow, unsigned number, char *dest, size_t size_bytes,
                           size_t *at_p)
{
    struct slot *slot = &flow->slots[number];
    size_t piece      = piece_of(*at_p, size_bytes - *at_p);
    struct msp_network_reach reach;
    uint64_t address;

    wait_for_reply(flow, slot->record);
    if (!find_peer_end(flow, *at_p, number, &piece, &reach, &address)) {
        return false;
    }
    slot->at         = *at_p;
    slot->size_bytes = piece;
    start_get(flow, slot, &reach, address, dest);
    *at_p += piece;
    return true;
}

size_t msp_network_pipeline_get(const struct msp_network_work *work, char *dest, size_t size_bytes)
{
    struct flow flow;
    size_t asked    = 0;
    size_t at       = 0;
    unsigned begun  = 0; /* gets, */
    unsigned done   = 0; /* and how many of them are over */
    bool is_reached = true;
    unsigned next;

    if (!begin(&flow, work, dest, size_bytes)) {
        return 0;
    }
    for (next = 0; next < SLOTS; next++) {
        request_piece(&flow, next, &asked, size_bytes);
    }
    while ((is_reached && (at < size_bytes)) || (done < begun)) {
        next = begun % SLOTS;
        if (is_reached && (at < size_bytes) && (begun - done < SLOTS) &&
            ((begun == done) || is_replied(flow.slots[next].record))) {
            is_reached = start_next_get(&flow, next, dest, size_bytes, &at);
            begun += is_reached ? 1 : 0;
        } else {
            next = done++ % SLOTS;
            finish_get(&flow, &flow.slots[next], dest);
            request_piece(&flow, next, &asked, size_bytes);
        }
    }
    for (next = 0; next < SLOTS; next++) {
        wait_for_reply(&flow, flow.slots[next].record); /* of a get that broke off */
    }
    end(&flow);
    return at;
}
