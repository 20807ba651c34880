/* SPDX-License-Identifier: BSD-3-Clause */
/* operation.c: put, get, send and flush.
 *
 * Small buffers of the caller's are copied, so that the call is DONE when libfabric has the
 * operation. Larger ones are used in place: by their own registration, or by one for this
 * operation, where the provider requires local buffers to be registered (its cache makes that
 * cheap).
 *
 * Acknowledgements. A flush waits until all puts before it are complete, and a put that requests an
 * acknowledgement is complete when it is in the target's memory. With ofi.is_lazy the others are
 * complete when they have left; since writes arrive in order, the acknowledgement of a later one is
 * theirs too. The flush sends an empty write for it where no put of the program's has requested
 * one. One put and a flush so cost one packet and its acknowledgement; many puts and a flush do not
 * cost an acknowledgement each. */

#include "shmem/network/ofi/ofi.h"
#include <stdlib.h>
#include <string.h>

enum { ASKING_PUTS = 4 }; /* outstanding to a peer, before more request none */

static void link_record(struct msp_network_peer *peer, struct ofi_record *record)
{
    record->previous = NULL;
    record->next     = peer->outstanding;
    if (record->next != NULL) {
        record->next->previous = record;
    }
    peer->outstanding = record;
}

static void unlink_record(struct ofi_record *record)
{
    if (record->next != NULL) {
        record->next->previous = record->previous;
    }
    if (record->previous != NULL) {
        record->previous->next = record->next;
    } else {
        record->peer->outstanding = record->next;
    }
}

/* NULL: all are in use. */
static struct ofi_record *record_take(struct msp_network_peer *peer, enum ofi_kind kind,
                                      struct msp_network_request *request)
{
    struct ofi_record *record = ofi_pool_take(&peer->queue->records);

    if (record != NULL) {
        record->context.kind = kind;
        record->peer         = peer;
        record->request      = request;
        record->copy         = NULL;
        record->local        = NULL;
        record->dest         = NULL;
        record->epoch        = peer->epoch;
    }
    return record;
}

/* Back, with its contents. */
static void record_give(struct ofi_record *record)
{
    struct msp_network_queue *queue = record->peer->queue;

    if (record->copy != NULL) {
        ofi_pool_give(&queue->copies, record->copy);
    }
    if (record->local != NULL) {
        (void)fi_close(&record->local->fid);
    }
    ofi_pool_give(&queue->records, record);
}

static enum msp_network_result fail_of_peer(const struct msp_network_peer *peer)
{
    (void)ofi.services->fail(MEMSPAN_ERR_UNREACHABLE, NULL, 0, NULL, NULL,
                             "ofi: PE %d is not reached any more: %s", peer->pe,
                             (peer->reason != NULL) ? peer->reason : "connection lost");
    return MSP_NETWORK_FAILED;
}

/* After a call of libfabric's that did not take an operation. */
static enum msp_network_result refused(struct msp_network_peer *peer, const char *call,
                                       ssize_t code)
{
    if (code == -FI_EAGAIN) {
        ofi_peer_stalls(peer);
        return peer->is_failed ? fail_of_peer(peer) : MSP_NETWORK_BUSY;
    }
    if (ofi_error_is_connection((int)-code)) {
        ofi_peer_fail(peer, (int)-code);
        return fail_of_peer(peer);
    }
    (void)ofi_fail(MEMSPAN_ERR_DRIVER, call, code, NULL, "ofi: an operation to PE %d is not taken",
                   peer->pe);
    return MSP_NETWORK_FAILED;
}

static enum msp_network_result not_taken(struct ofi_record *record, const char *call, ssize_t code)
{
    struct msp_network_peer *peer = record->peer;

    record_give(record);
    return refused(peer, call, code);
}

static void taken(struct ofi_record *record)
{
    if (record->peer->probe != NULL) {
        ofi_peer_proceeds(record->peer);
    }
    link_record(record->peer, record);
}

/* ---- completions ---- */

/* A put that has returned DONE has failed: the next flush reports it, once. */
static memspan_status_t flush_status(struct msp_network_peer *peer)
{
    if (!peer->has_failed_put) {
        return MEMSPAN_OK;
    }
    peer->has_failed_put = false;
    return ofi.services->fail(MEMSPAN_ERR_DRIVER, NULL, 0, NULL, NULL,
                              "ofi: a put to PE %d before this flush has failed", peer->pe);
}

/* A put that was started in @p epoch has taken effect, or failed. */
static void flushes_count(struct msp_network_peer *peer, uint32_t epoch)
{
    struct ofi_flush **link = &peer->flushes;

    while (*link != NULL) {
        struct ofi_flush *flush = *link;
        /* Numbers may wrap: the sign of their difference decides which is later. */
        if ((int32_t)(flush->epoch - epoch) > 0) {
            flush->left--;
        }
        if (flush->left != 0) {
            link = &flush->next;
            continue;
        }
        struct msp_network_request *request = flush->request;
        *link                               = flush->next; /* complete() may free it */
        request->complete(request, flush_status(peer));
    }
}

static memspan_status_t operation_failed(const struct ofi_record *record, int error,
                                         const char *words)
{
    static const char *const names[] = {"put", "get", "message", "flush", "receive"};

    return ofi.services->fail(MEMSPAN_ERR_DRIVER, "fi_cq_readerr", -error, words, NULL,
                              "ofi: a %s of %zu bytes, PE %d: %s", names[record->context.kind],
                              record->size_bytes, record->peer->pe, fi_strerror(error));
}

void ofi_record_complete(struct ofi_record *record, int error, const char *words)
{
    struct msp_network_peer *peer = record->peer;
    const uint32_t epoch          = record->epoch;
    const bool is_put = (record->context.kind == OFI_PUT) || (record->context.kind == OFI_FLUSH);
    memspan_status_t status = MEMSPAN_OK;

    unlink_record(record);
    if ((error != 0) && !peer->is_failed) {
        if (ofi_error_is_connection(error)) {
            link_record(peer, record); /* abandoned with the others */
            ofi_peer_fail(peer, error);
            unlink_record(record);
        } else {
            status = operation_failed(record, error, words);
            peer->has_failed_put |= is_put && (record->request == NULL);
        }
    }
    struct msp_network_request *request = record->request;
    if ((error == 0) && (record->dest != NULL) && (request != NULL)) {
        const void *bytes = (record->copy != NULL) ? record->copy->bytes : record->bytes;
        memcpy(record->dest, bytes, record->size_bytes);
    }
    record_give(record);
    if (request != NULL) {
        request->complete(request, status);
    }
    if (is_put && !peer->is_failed) {
        peer->puts--;
        flushes_count(peer, epoch);
    }
}

void ofi_records_abandon(struct msp_network_peer *peer, memspan_status_t status)
{
    for (struct ofi_record *record = peer->outstanding; record != NULL; record = record->next) {
        struct msp_network_request *request = record->request;
        record->request                     = NULL;
        if (request != NULL) {
            (void)fail_of_peer(peer);
            request->complete(request, status);
        }
    }
    while (peer->flushes != NULL) {
        struct msp_network_request *request = peer->flushes->request;
        peer->flushes                       = peer->flushes->next;
        (void)fail_of_peer(peer);
        request->complete(request, status);
    }
}

/* ---- local buffers ---- */

/* Where an operation reads or writes, and its descriptor. */
struct ofi_local {
    void *buffer;
    void *descriptor;
};

/* A buffer of the caller's, in place. */
static enum msp_network_result local_in_place(struct ofi_record *record, const void *buffer,
                                              void *descriptor, struct ofi_local *local_p)
{
    local_p->buffer     = (void *)(uintptr_t)buffer;
    local_p->descriptor = descriptor;
    if (!ofi.needs_local || (descriptor != NULL)) {
        return MSP_NETWORK_DONE;
    }
    const int code = ofi_local_register(local_p->buffer, record->size_bytes, &record->local);
    if (code == -FI_EAGAIN) {
        return MSP_NETWORK_BUSY;
    }
    if (code != 0) {
        record->local = NULL;
        (void)ofi_fail(MEMSPAN_ERR_LIMIT, "fi_mr_reg", code, "ulimit -l unlimited",
                       "ofi: a local buffer of %zu bytes at %p cannot be registered",
                       record->size_bytes, buffer);
        return MSP_NETWORK_FAILED;
    }
    local_p->descriptor = fi_mr_desc(record->local);
    return MSP_NETWORK_DONE;
}

/* Space of the driver's own. */
static enum msp_network_result local_copy(struct ofi_record *record, size_t size_bytes,
                                          struct ofi_local *local_p)
{
    if (size_bytes <= sizeof record->bytes) {
        local_p->buffer     = record->bytes;
        local_p->descriptor = record->item.descriptor;
        return MSP_NETWORK_DONE;
    }
    record->copy = ofi_pool_take(&record->peer->queue->copies);
    if (record->copy == NULL) {
        return MSP_NETWORK_BUSY;
    }
    local_p->buffer     = record->copy->bytes;
    local_p->descriptor = record->copy->item.descriptor;
    return MSP_NETWORK_DONE;
}

static enum msp_network_result get_copy(struct ofi_record *record, void *dest,
                                        struct ofi_local *local_p)
{
    record->dest = dest;
    return local_copy(record, record->size_bytes, local_p);
}

/* ---- operations ---- */

static uint64_t remote_address(const struct msp_network_key *key, uint64_t address)
{
    return ofi.is_virtual ? address : address - key->base;
}

/* One fi_writemsg(). */
static ssize_t write_remote(struct msp_network_peer *peer, const struct ofi_local *local,
                            size_t size_bytes, uint64_t address, uint64_t key, uint64_t flags,
                            struct ofi_record *record)
{
    void *descriptors[1]            = {local->descriptor};
    const struct iovec iov          = {local->buffer, size_bytes};
    const struct fi_rma_iov remote  = {.addr = address, .len = size_bytes, .key = key};
    const struct fi_msg_rma message = {.msg_iov       = &iov,
                                       .desc          = descriptors,
                                       .iov_count     = 1,
                                       .addr          = peer->address,
                                       .rma_iov       = &remote,
                                       .rma_iov_count = 1,
                                       .context       = &record->context.libfabric};

    return fi_writemsg(peer->queue->endpoint, &message, FI_COMPLETION | flags);
}

/* The first few puts request one, since a flush may follow. Of large ones, whose callers wait for
 * their buffers, the first since a flush: the others' buffers are free a round trip earlier. */
static bool wants_acknowledgement(const struct msp_network_peer *peer, bool is_large)
{
    if (!ofi.is_lazy) {
        return true;
    }
    return is_large ? !peer->has_large : (peer->puts < ASKING_PUTS);
}

/* Data that the provider keeps, because the kernel has no space, is not sent without progress: a
 * copy by such a queue is complete when the kernel has it. */
static bool keeps_copies(const struct msp_network_queue *queue)
{
    return ofi.is_tcp && !queue->is_main;
}

enum msp_network_result ofi_put(struct msp_network_peer *peer, struct msp_network_key *key,
                                uint64_t address, const void *source, size_t size_bytes,
                                struct msp_network_request *request)
{
    const uint64_t remote = remote_address(key, address);
    struct ofi_local local;
    bool is_device = false;

    if (peer->is_failed) {
        return fail_of_peer(peer);
    }
    if (size_bytes == 0) {
        return MSP_NETWORK_DONE; /* shm never completes an empty write that requests one (1.17) */
    }
    struct ofi_record *record = record_take(peer, OFI_PUT, NULL);
    if (record == NULL) {
        return MSP_NETWORK_BUSY;
    }
    record->size_bytes             = size_bytes;
    void *const descriptor         = ofi_memory_descriptor(source, size_bytes, &is_device);
    const bool copies              = (size_bytes <= OFI_COPY_BYTES) && !is_device;
    const bool keeps               = copies && keeps_copies(peer->queue);
    enum msp_network_result result = copies ? local_copy(record, size_bytes, &local)
                                            : local_in_place(record, source, descriptor, &local);
    if (result != MSP_NETWORK_DONE) {
        record_give(record);
        return result;
    }
    if (copies) {
        memcpy(local.buffer, source, size_bytes);
    }
    record->request    = (copies && !keeps) ? NULL : request;
    const bool asks    = wants_acknowledgement(peer, !copies) && !(keeps && ofi.is_lazy);
    const ssize_t code = write_remote(peer, &local, size_bytes, remote, key->key,
                                      asks ? FI_DELIVERY_COMPLETE : 0, record);
    if (code != 0) {
        return not_taken(record, "fi_writemsg", code);
    }
    taken(record);
    peer->puts++;
    peer->is_unacknowledged = !asks;
    peer->has_large         = peer->has_large || !copies;
    peer->last_key          = key->key;
    peer->last_address      = remote;
    return (copies && !keeps) ? MSP_NETWORK_DONE : MSP_NETWORK_STARTED;
}

enum msp_network_result ofi_get(struct msp_network_peer *peer, struct msp_network_key *key,
                                uint64_t address, void *dest, size_t size_bytes,
                                struct msp_network_request *request)
{
    const uint64_t remote = remote_address(key, address);
    struct ofi_local local;
    bool is_device = false;

    if (peer->is_failed) {
        return fail_of_peer(peer);
    }
    struct ofi_record *record = record_take(peer, OFI_GET, request);
    if (record == NULL) {
        return MSP_NETWORK_BUSY;
    }
    record->size_bytes     = size_bytes;
    void *const descriptor = ofi_memory_descriptor(dest, size_bytes, &is_device);
    const bool copies = ofi.needs_local && (descriptor == NULL) && (size_bytes <= OFI_COPY_BYTES);
    enum msp_network_result result =
        copies ? get_copy(record, dest, &local) : local_in_place(record, dest, descriptor, &local);
    if (result != MSP_NETWORK_DONE) {
        record_give(record);
        return result;
    }
    const ssize_t code = fi_read(peer->queue->endpoint, local.buffer, size_bytes, local.descriptor,
                                 peer->address, remote, key->key, &record->context.libfabric);
    if (code != 0) {
        return not_taken(record, "fi_read", code);
    }
    taken(record);
    return MSP_NETWORK_STARTED;
}

static void compose(char *text, const void *header, size_t header_bytes, const void *payload,
                    size_t payload_bytes)
{
    const uint64_t prefix = header_bytes;

    memcpy(text, &prefix, sizeof prefix);
    memcpy(text + OFI_PREFIX_BYTES, header, header_bytes);
    if (payload_bytes != 0) {
        memcpy(text + ofi_message_payload(header_bytes), payload, payload_bytes);
    }
}

/* libfabric copies it, and reports nothing. */
static enum msp_network_result send_injected(struct msp_network_peer *peer, const void *header,
                                             size_t header_bytes, const void *payload,
                                             size_t payload_bytes)
{
    char text[OFI_INLINE_BYTES];
    const size_t bytes = ofi_message_payload(header_bytes) + payload_bytes;

    compose(text, header, header_bytes, payload, payload_bytes);
    const ssize_t code = fi_inject(peer->queue->endpoint, text, bytes, peer->address);
    if (code != 0) {
        return refused(peer, "fi_inject", code);
    }
    if (peer->probe != NULL) {
        ofi_peer_proceeds(peer);
    }
    return MSP_NETWORK_DONE;
}

enum msp_network_result ofi_send(struct msp_network_peer *peer, const void *header,
                                 size_t header_bytes, const void *payload, size_t payload_bytes,
                                 struct msp_network_request *request)
{
    const size_t bytes = ofi_message_payload(header_bytes) + payload_bytes;
    const bool keeps   = keeps_copies(peer->queue);
    struct ofi_local local;

    if (peer->is_failed) {
        return fail_of_peer(peer);
    }
    if ((bytes <= ofi.inject_bytes) && !keeps) {
        return send_injected(peer, header, header_bytes, payload, payload_bytes);
    }
    struct ofi_record *record = record_take(peer, OFI_SEND, keeps ? request : NULL);
    if (record == NULL) {
        return MSP_NETWORK_BUSY;
    }
    record->size_bytes = bytes;
    if (local_copy(record, bytes, &local) != MSP_NETWORK_DONE) {
        record_give(record);
        return MSP_NETWORK_BUSY;
    }
    compose(local.buffer, header, header_bytes, payload, payload_bytes);
    const ssize_t code = fi_send(peer->queue->endpoint, local.buffer, bytes, local.descriptor,
                                 peer->address, &record->context.libfabric);
    if (code != 0) {
        return not_taken(record, "fi_send", code);
    }
    taken(record);
    return keeps ? MSP_NETWORK_STARTED : MSP_NETWORK_DONE;
}

/* An empty write, whose acknowledgement is that of all before it. */
static enum msp_network_result acknowledge(struct msp_network_peer *peer)
{
    struct ofi_record *record = record_take(peer, OFI_FLUSH, NULL);

    if (record == NULL) {
        return MSP_NETWORK_BUSY;
    }
    const struct ofi_local local = {record->bytes, record->item.descriptor};
    record->size_bytes           = 0;
    const ssize_t code           = write_remote(peer, &local, 0, peer->last_address, peer->last_key,
                                                FI_DELIVERY_COMPLETE, record);
    if (code != 0) {
        return not_taken(record, "fi_writemsg", code);
    }
    taken(record);
    peer->puts++;
    peer->is_unacknowledged = false;
    return MSP_NETWORK_DONE;
}

enum msp_network_result ofi_flush(struct msp_network_peer *peer,
                                  struct msp_network_request *request)
{
    if (peer->is_failed) {
        return fail_of_peer(peer);
    }
    if ((peer->puts == 0) && (flush_status(peer) != MEMSPAN_OK)) {
        return MSP_NETWORK_FAILED;
    }
    if (peer->is_unacknowledged) {
        const enum msp_network_result result = acknowledge(peer);
        if (result != MSP_NETWORK_DONE) {
            return result;
        }
    }
    peer->has_large = false;
    if (peer->puts == 0) {
        return MSP_NETWORK_DONE;
    }

    struct ofi_flush *flush = (void *)request->driver;
    peer->epoch++;
    *flush = (struct ofi_flush){
        .next = peer->flushes, .request = request, .epoch = peer->epoch, .left = peer->puts};
    peer->flushes = flush;
    return MSP_NETWORK_STARTED;
}
