/* SPDX-License-Identifier: BSD-3-Clause */
/* bed.c: what a process of the conformance test does for its case. */

#include "tests/shmem/network/driver/bed.h"
#include <poll.h>
#include <sched.h>
#include <string.h>

struct bed bed = {.failed_pe = -1};

static void count(struct msp_network_request *request, memspan_status_t status)
{
    struct bed_request *mine = (struct bed_request *)(void *)request;

    mine->completions++;
    mine->status = status;
}

void bed_progress(struct msp_network_queue *queue)
{
    if (bed.driver->queue_progress(queue) == 0) {
        sched_yield();
    }
}

void bed_request_clear(struct bed_request *request)
{
    request->request.complete = count;
    request->completions      = 0;
    request->status           = MEMSPAN_OK;
}

void bed_complete(struct msp_network_queue *queue, enum msp_network_result result,
                  struct bed_request *request)
{
    CHECK(result != MSP_NETWORK_FAILED, "status %d", (int)bed.status);
    CHECK(result != MSP_NETWORK_BUSY, "an operation has not started");
    if (result == MSP_NETWORK_DONE) {
        CHECK(request->completions == 0, "DONE, and complete() all the same");
        return;
    }
    while (request->completions == 0) {
        bed_progress(queue);
    }
    CHECK(request->completions == 1, "%d completions", request->completions);
    CHECK(request->status == MEMSPAN_OK, "status %d", (int)request->status);
}

/* ---- peers ---- */

struct msp_network_peer *bed_open_peer(struct msp_network_queue *queue, int pe)
{
    struct msp_network_peer *peer = NULL;

    CHECK(bed.driver->peer_open(queue, pe, bed.shared->pes[pe].address,
                                bed.shared->pes[pe].address_bytes, &peer) == MEMSPAN_OK,
          "PE %d", pe);
    return peer;
}

struct msp_network_key *bed_open_key(struct msp_network_peer *peer, int pe)
{
    struct msp_network_key *key = NULL;

    CHECK(bed.driver->key_open(peer, bed.shared->pes[pe].key, bed.shared->pes[pe].key_bytes,
                               &key) == MEMSPAN_OK,
          "PE %d", pe);
    return key;
}

struct msp_network_peer *bed_peer(int pe)
{
    if (bed.peers[pe] == NULL) {
        bed.peers[pe] = bed_open_peer(bed.queue, pe);
    }
    return bed.peers[pe];
}

struct msp_network_key *bed_key(int pe)
{
    if (bed.keys[pe] == NULL) {
        bed.keys[pe] = bed_open_key(bed_peer(pe), pe);
    }
    return bed.keys[pe];
}

uint64_t bed_address(int pe, size_t offset)
{
    return bed.shared->pes[pe].base + offset;
}

/* ---- operations ---- */

/* Evaluates @p call until it is not BUSY. */
#define UNTIL_STARTED(result, queue, call)                                                         \
    do {                                                                                           \
        (result) = (call);                                                                         \
        if ((result) == MSP_NETWORK_BUSY) {                                                        \
            bed.driver->queue_progress(queue);                                                     \
        }                                                                                          \
    } while ((result) == MSP_NETWORK_BUSY)

void bed_put(struct msp_network_queue *queue, struct msp_network_peer *peer,
             struct msp_network_key *key, uint64_t address, const void *source, size_t size_bytes)
{
    enum msp_network_result result;
    struct bed_request request;

    bed_request_clear(&request);
    UNTIL_STARTED(result, queue,
                  bed.driver->put(peer, key, address, source, size_bytes, &request.request));
    CHECK((queue != bed.queue) || (size_bytes > bed.limits.put_done_max_bytes) ||
              (result == MSP_NETWORK_DONE),
          "a put of %zu bytes: %d", size_bytes, (int)result);
    bed_complete(queue, result, &request);
}

void bed_get(struct msp_network_queue *queue, struct msp_network_peer *peer,
             struct msp_network_key *key, uint64_t address, void *dest, size_t size_bytes)
{
    enum msp_network_result result;
    struct bed_request request;

    bed_request_clear(&request);
    UNTIL_STARTED(result, queue,
                  bed.driver->get(peer, key, address, dest, size_bytes, &request.request));
    bed_complete(queue, result, &request);
}

void bed_send(struct msp_network_peer *peer, const void *header, size_t header_bytes,
              const void *payload, size_t payload_bytes)
{
    enum msp_network_result result;
    struct bed_request request;

    bed_request_clear(&request);
    UNTIL_STARTED(
        result, bed.queue,
        bed.driver->send(peer, header, header_bytes, payload, payload_bytes, &request.request));
    bed_complete(bed.queue, result, &request);
}

void bed_flush(struct msp_network_queue *queue, struct msp_network_peer *peer)
{
    enum msp_network_result result;
    struct bed_request request;

    bed_request_clear(&request);
    UNTIL_STARTED(result, queue, bed.driver->flush(peer, &request.request));
    bed_complete(queue, result, &request);
}

/* ---- waiting ---- */

static void arrive(bool serves)
{
    const int generation = atomic_load(&bed.shared->generation);

    if (atomic_fetch_add(&bed.shared->arrived, 1) + 1 == bed.pe_count) {
        atomic_store(&bed.shared->arrived, 0);
        atomic_fetch_add(&bed.shared->generation, 1);
        return;
    }
    while (atomic_load(&bed.shared->generation) == generation) {
        if (serves) {
            bed_progress(bed.queue);
        } else {
            sched_yield();
        }
    }
}

void bed_barrier(void)
{
    arrive(true);
}

void bed_barrier_idle(void)
{
    arrive(false);
}

bool bed_sleep(int timeout_ms)
{
    const int limit_ms  = timeout_ms;
    struct pollfd event = {.fd = bed.driver->queue_descriptor(bed.queue), .events = POLLIN};

    if ((bed.driver->queue_progress(bed.queue) != 0) ||
        !bed.driver->queue_arm(bed.queue, &timeout_ms)) {
        return false;
    }
    CHECK((limit_ms < 0) || ((timeout_ms >= 0) && (timeout_ms <= limit_ms)),
          "a timeout of %d ms became %d", limit_ms, timeout_ms);
    poll(&event, (event.fd >= 0) ? 1 : 0, (event.fd >= 0) ? timeout_ms : 1);
    return true;
}

void bed_await(unsigned flag, uint64_t value)
{
    while (atomic_load(&bed.shared->flags[flag]) != value) {
        bed_progress(bed.queue);
    }
}

/* ---- bytes ---- */

uint64_t bed_random(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t x = *state;
    x          = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x          = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

unsigned char bed_byte(uint64_t seed, size_t offset)
{
    return (unsigned char)((seed * 131) + (offset * 7) + (offset >> 8) + 1);
}

void bed_fill(void *dest, size_t size_bytes, uint64_t seed)
{
    unsigned char *bytes = dest;
    size_t i;

    for (i = 0; i < size_bytes; i++) {
        bytes[i] = bed_byte(seed, i);
    }
}

void bed_verify(const void *found, size_t size_bytes, uint64_t seed, const char *what)
{
    const unsigned char *bytes = found;
    size_t i;

    for (i = 0; i < size_bytes; i++) {
        CHECK(bytes[i] == bed_byte(seed, i), "%s: byte %zu of %zu is %u, expected %u", what, i,
              size_bytes, bytes[i], bed_byte(seed, i));
    }
}
