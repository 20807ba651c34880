/* SPDX-License-Identifier: BSD-3-Clause */
/* operation.c: peers, put, get, send and flush. */

#include "shmem/network/tcp/tcp.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ASKING_PUTS = 4 }; /* outstanding to a peer, before more request none */

/* ---- operations that wait for answers ---- */

static struct msp_tcp_wait *add_wait(struct msp_tcp_waits *waits,
                                     struct msp_network_request *request)
{
    struct msp_tcp_wait *wait = (void *)request->driver;

    _Static_assert(sizeof *wait <= sizeof request->driver, "it fits");
    *wait       = (struct msp_tcp_wait){.request = request};
    *waits->end = wait;
    waits->end  = &wait->next;
    return wait;
}

static void end_first(struct msp_tcp_waits *waits, memspan_status_t status)
{
    struct msp_tcp_wait *wait           = waits->first;
    struct msp_network_request *request = wait->request;

    waits->first = wait->next;
    if (waits->first == NULL) {
        waits->end = &waits->first;
    }
    request->complete(request, status); /* may free it */
}

static enum msp_network_result refuse_peer(const struct msp_network_peer *peer)
{
    (void)msp_tcp_fail(MEMSPAN_ERR_UNREACHABLE, NULL, 0, NULL, "PE %d is not reached any more: %s",
                       peer->pe, peer->reason);
    return MSP_NETWORK_FAILED;
}

static void abandon(struct msp_network_peer *peer, struct msp_tcp_waits *waits)
{
    while (waits->first != NULL) {
        (void)refuse_peer(peer);
        end_first(waits, MEMSPAN_ERR_UNREACHABLE);
    }
}

void msp_tcp_peer_lose(struct msp_network_peer *peer, const char *reason)
{
    peer->link = NULL;
    snprintf(peer->reason, sizeof peer->reason, "%s", reason);
    abandon(peer, &peer->gets);
    abandon(peer, &peer->flushes);
}

void msp_tcp_peer_acknowledge(struct msp_network_peer *peer, uint64_t puts)
{
    while ((peer->flushes.first != NULL) && (peer->flushes.first->until <= puts)) {
        end_first(&peer->flushes, MEMSPAN_OK);
    }
}

bool msp_tcp_peer_expects(const struct msp_network_peer *peer, uint64_t size_bytes, char **dest_p)
{
    const struct msp_tcp_wait *get = peer->gets.first;

    if ((get == NULL) || (get->until != size_bytes)) {
        return false;
    }
    *dest_p = get->dest;
    return true;
}

void msp_tcp_peer_arrived(struct msp_network_peer *peer)
{
    if (peer->gets.first != NULL) {
        end_first(&peer->gets, MEMSPAN_OK);
    }
}

/* ---- peers ---- */

static memspan_status_t connect_peer(struct msp_network_peer *peer,
                                     const struct msp_tcp_address *address)
{
    memspan_status_t status =
        msp_tcp_address_choose(peer->pe, address, &peer->to, peer->where, sizeof peer->where);
    int fd;

    if (status != MEMSPAN_OK) {
        return status;
    }
    peer->key  = address->key;
    peer->link = msp_tcp_link_find(peer->queue, peer->pe);
    if (peer->link != NULL) {
        peer->link->peer = peer;
        return MEMSPAN_OK;
    }
    fd = msp_tcp_call(&peer->to);
    if (fd < 0) {
        return msp_tcp_fail(MEMSPAN_ERR_UNREACHABLE, "connect", errno, NULL,
                            "PE %d is not reached: %s", peer->pe, peer->where);
    }
    peer->link = msp_tcp_link_open(peer->queue, fd, peer);
    if (peer->link == NULL) {
        close(fd);
        return msp_tcp_fail(MEMSPAN_ERR_NO_MEMORY, NULL, 0, NULL, "no memory for PE %d", peer->pe);
    }
    (void)msp_tcp_link_push(peer->link);
    return MEMSPAN_OK;
}

memspan_status_t msp_tcp_peer_open(struct msp_network_queue *queue, int pe, const void *address,
                                   size_t address_bytes, struct msp_network_peer **peer_p)
{
    struct msp_network_peer *peer = calloc(1, sizeof *peer);
    struct msp_tcp_address read   = {0};
    memspan_status_t status;

    if (peer == NULL) {
        return msp_tcp_fail(MEMSPAN_ERR_NO_MEMORY, NULL, 0, NULL, "no memory for PE %d", pe);
    }
    memcpy(&read, address, (address_bytes < sizeof read) ? address_bytes : sizeof read);
    peer->queue       = queue;
    peer->pe          = pe;
    peer->gets.end    = &peer->gets.first;
    peer->flushes.end = &peer->flushes.first;
    status            = connect_peer(peer, &read);
    if (status != MEMSPAN_OK) {
        free(peer);
        return status;
    }
    *peer_p = peer;
    return MEMSPAN_OK;
}

/* Without a failure the link stays: the other end may use it. */
void msp_tcp_peer_close(struct msp_network_peer *peer, bool is_failed)
{
    struct msp_tcp_link *link = peer->link;

    if ((link != NULL) && is_failed) {
        msp_tcp_link_close(link);
    } else if (link != NULL) {
        link->peer = NULL;
    }
    msp_tcp_peer_lose(peer, "closed");
    free(peer);
}

void msp_tcp_peer_describe(struct msp_network_peer *peer, char *text, size_t text_bytes)
{
    snprintf(text, text_bytes, "%s", peer->where);
}

/* ---- operations ---- */

static uint32_t number_of(const struct msp_network_key *key)
{
    return (uint32_t)((uintptr_t)key - 1);
}

enum msp_network_result msp_tcp_put(struct msp_network_peer *peer, struct msp_network_key *key,
                                    uint64_t address, const void *source, size_t size_bytes,
                                    struct msp_network_request *request)
{
    struct msp_tcp_link *link = peer->link;
    const bool asks           = (link != NULL) && (link->puts - link->acknowledged < ASKING_PUTS);
    const struct msp_tcp_item item = {.frame         = {.kind       = MSP_TCP_PUT,
                                                        .asks       = asks,
                                                        .key        = number_of(key),
                                                        .size_bytes = size_bytes,
                                                        .place      = address},
                                      .payload       = source,
                                      .payload_bytes = size_bytes,
                                      .request       = request,
                                      .is_copied     = (size_bytes <= MSP_TCP_COPY_MAX),
                                      .may_be_busy   = true};
    enum msp_network_result result;

    if (link == NULL) {
        return refuse_peer(peer);
    }
    result = msp_tcp_link_send(link, &item);
    if ((result == MSP_NETWORK_DONE) || (result == MSP_NETWORK_STARTED)) {
        link->puts++;
        link->is_unasked = !asks;
    }
    return result;
}

enum msp_network_result msp_tcp_get(struct msp_network_peer *peer, struct msp_network_key *key,
                                    uint64_t address, void *dest, size_t size_bytes,
                                    struct msp_network_request *request)
{
    const struct msp_tcp_item item = {.frame       = {.kind       = MSP_TCP_GET,
                                                      .key        = number_of(key),
                                                      .size_bytes = size_bytes,
                                                      .place      = address},
                                      .is_copied   = true,
                                      .may_be_busy = true};
    struct msp_tcp_wait *wait;
    enum msp_network_result result;

    if (peer->link == NULL) {
        return refuse_peer(peer);
    }
    result = msp_tcp_link_send(peer->link, &item);
    if (result != MSP_NETWORK_DONE) {
        return result;
    }
    wait        = add_wait(&peer->gets, request);
    wait->dest  = dest;
    wait->until = size_bytes;
    return MSP_NETWORK_STARTED;
}

enum msp_network_result msp_tcp_send(struct msp_network_peer *peer, const void *header,
                                     size_t header_bytes, const void *payload, size_t payload_bytes,
                                     struct msp_network_request *request)
{
    const struct msp_tcp_item item = {.frame         = {.kind         = MSP_TCP_MESSAGE,
                                                        .header_bytes = (uint16_t)header_bytes,
                                                        .size_bytes   = payload_bytes},
                                      .header        = header,
                                      .payload       = payload,
                                      .payload_bytes = payload_bytes,
                                      .request       = request,
                                      .pad_bytes     = (size_t)-payload_bytes % sizeof(uint64_t),
                                      .is_copied     = true,
                                      .may_be_busy   = true};

    return (peer->link != NULL) ? msp_tcp_link_send(peer->link, &item) : refuse_peer(peer);
}

enum msp_network_result msp_tcp_flush(struct msp_network_peer *peer,
                                      struct msp_network_request *request)
{
    struct msp_tcp_link *link       = peer->link;
    const struct msp_tcp_item empty = {
        .frame = {.kind = MSP_TCP_PUT, .asks = 1}, .is_copied = true, .may_be_busy = true};

    if (link == NULL) {
        return refuse_peer(peer);
    }
    if (link->is_unasked) {
        const enum msp_network_result result = msp_tcp_link_send(link, &empty);

        if (result != MSP_NETWORK_DONE) {
            return result;
        }
        link->puts++;
        link->is_unasked = false;
    }
    if (link->puts == link->acknowledged) {
        return MSP_NETWORK_DONE;
    }
    add_wait(&peer->flushes, request)->until = link->puts;
    return MSP_NETWORK_STARTED;
}
