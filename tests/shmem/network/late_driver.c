/* SPDX-License-Identifier: BSD-3-Clause */
/* late_driver.c: a network driver whose puts pass messages, as libfabric's do: its receiver handles
 * a message LATE_MS after it has come. With LATE_SENDS=MS it reads the data of a large message for
 * that long, too. All else is the driver's that it is built with. */

#include "tests/shmem/network/wrapped.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LATE_MS = 20, LARGE_BYTES = 8000 };

struct late {
    struct late *next;
    int64_t due_ns;
    size_t header_bytes;
    size_t payload_bytes;
    _Alignas(16) char bytes[];
};

/* A message whose data is still read: what the caller waits for, and the driver below. */
struct unread {
    struct msp_network_request below; /* first */
    struct msp_network_request *request;
    struct unread *next;
    int64_t due_ns;
    bool is_sent;
};

static const struct msp_network_services *services;
static const struct msp_network_driver *real;
static struct msp_network_services late_services;
static struct msp_network_driver late;

/* Used while the main queue progresses. */
static struct msp_network_queue *main_queue;
static struct late *first;
static struct late **end = &first;
static struct unread *unread;
static int64_t unread_ms;

static int64_t now_ns(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return ((int64_t)time.tv_sec * 1000000000) + time.tv_nsec;
}

/* The payload stands at an aligned place behind the header. */
static size_t payload_at(size_t header_bytes)
{
    return (header_bytes + 15) & ~(size_t)15;
}

static void keep(const void *header, size_t header_bytes, const void *payload, size_t payload_bytes)
{
    struct late *message = malloc(sizeof *message + payload_at(header_bytes) + payload_bytes);

    if (message == NULL) {
        abort();
    }
    message->next          = NULL;
    message->due_ns        = now_ns() + (LATE_MS * INT64_C(1000000));
    message->header_bytes  = header_bytes;
    message->payload_bytes = payload_bytes;
    memcpy(message->bytes, header, header_bytes);
    if (payload_bytes != 0) {
        memcpy(message->bytes + payload_at(header_bytes), payload, payload_bytes);
    }
    *end = message;
    end  = &message->next;
}

static memspan_status_t open_real(const struct msp_network_job *job,
                                  struct msp_network_limits *limits_p)
{
    memspan_status_t status = real->open(job, limits_p);

    limits_p->puts_pass_messages = true;
    return status;
}

static memspan_status_t open_queue(bool is_main, struct msp_network_queue **queue_p)
{
    memspan_status_t status = real->queue_open(is_main, queue_p);

    main_queue = (is_main && (status == MEMSPAN_OK)) ? *queue_p : main_queue;
    return status;
}

static void sent_below(struct msp_network_request *request, memspan_status_t status)
{
    if (status != MEMSPAN_OK) {
        abort();
    }
    ((struct unread *)request)->is_sent = true;
}

static enum msp_network_result send_late(struct msp_network_peer *peer, const void *header,
                                         size_t header_bytes, const void *payload,
                                         size_t payload_bytes, struct msp_network_request *request)
{
    struct unread *message;
    enum msp_network_result result;

    if ((unread_ms == 0) || (payload_bytes < LARGE_BYTES)) {
        return real->send(peer, header, header_bytes, payload, payload_bytes, request);
    }
    message = calloc(1, sizeof *message);
    if (message == NULL) {
        abort();
    }
    message->below.complete = sent_below;
    result = real->send(peer, header, header_bytes, payload, payload_bytes, &message->below);
    if ((result != MSP_NETWORK_DONE) && (result != MSP_NETWORK_STARTED)) {
        free(message);
        return result;
    }
    message->is_sent = (result == MSP_NETWORK_DONE);
    message->request = request;
    message->due_ns  = now_ns() + (unread_ms * INT64_C(1000000));
    message->next    = unread;
    unread           = message;
    return MSP_NETWORK_STARTED;
}

static unsigned complete_sends(void)
{
    struct unread **link = &unread;
    unsigned count       = 0;

    while (*link != NULL) {
        struct unread *message = *link;

        if (message->is_sent && (message->due_ns <= now_ns())) {
            *link = message->next;
            message->request->complete(message->request, MEMSPAN_OK);
            free(message);
            count++;
        } else {
            link = &message->next;
        }
    }
    return count;
}

static unsigned progress(struct msp_network_queue *queue)
{
    unsigned count = real->queue_progress(queue);

    if (queue == main_queue) {
        count += complete_sends();
    }
    while ((queue == main_queue) && (first != NULL) && (first->due_ns <= now_ns())) {
        struct late *message = first;

        first = message->next;
        end   = (first == NULL) ? &first : end;
        services->receive(message->bytes, message->header_bytes,
                          message->bytes + payload_at(message->header_bytes),
                          message->payload_bytes);
        free(message);
        count++;
    }
    return count;
}

static bool arm(struct msp_network_queue *queue, int *timeout_ms_p)
{
    if ((queue == main_queue) && ((first != NULL) || (unread != NULL))) {
        *timeout_ms_p = 1;
    }
    return real->queue_arm(queue, timeout_ms_p);
}

const struct msp_network_driver *memspan_network_driver(const struct msp_network_services *given)
{
    services              = given;
    late_services         = *given;
    late_services.receive = keep;
    real                  = open_wrapped(&late_services);
    if (real == NULL) {
        return NULL;
    }
    late                = *real;
    late.open           = open_real;
    late.queue_open     = open_queue;
    late.queue_progress = progress;
    late.queue_arm      = arm;
    late.send           = send_late;
    unread_ms           = (getenv("LATE_SENDS") != NULL) ? atol(getenv("LATE_SENDS")) : 0;
    return &late;
}
