/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_NETWORK_UCX_H
#define MEMSPAN_SHMEM_NETWORK_UCX_H

/* The network driver over UCX's protocol layer, UCP. A queue is a worker, a peer an endpoint, a
 * message an active message.
 *
 * Failures. Endpoints detect failed peers where a transport can (UCP_ERR_HANDLING_MODE_PEER). UCX
 * then leaves out transports that cannot, which are those of shared memory. When nothing remains
 * (UCX_TLS=sm), endpoints are without detection, and the caller's liveness messages must find out.
 */

#include "shmem/network/driver.h"
#include <ucp/api/ucp.h>

enum {
    MSP_UCX_MESSAGE         = 1,        /* the id of our active message */
    MSP_UCX_MESSAGE_MAX     = 65 << 10, /* eager at every transport */
    MSP_UCX_PUT_MESSAGE_MAX = 64 << 10, /* over TCP: a put and its flush are two round trips */
    MSP_UCX_SIGNALLED_MAX   = 4 << 10,  /* not over TCP: data and signal in one message */
    MSP_UCX_AGGREGATE_MAX   = 2 << 10,  /* over TCP: the cost of the kernel's part of a send */
    MSP_UCX_COPY_MAX        = 1 << 10,  /* puts of so many bytes are copied when they must wait */
    MSP_UCX_COPIES          = 64,       /* of each queue */
    MSP_UCX_CLOSE_MAX_MS    = 1000,     /* of all endpoints of a queue */
    MSP_UCX_ARM_INTERVAL_MS = 2,        /* where descriptors lose events */
    MSP_UCX_TEXT            = 256,
};

/* A put that waits, and whose caller does not. */
struct msp_ucx_copy {
    struct msp_ucx_copy *next;       /* of the unused */
    struct msp_network_queue *queue; /* outlives the peer, which may close before UCX completes */
    char bytes[MSP_UCX_COPY_MAX];
};

struct msp_network_queue {
    ucp_worker_h worker;
    int descriptor;
    bool is_main;
    unsigned closing; /* endpoints */
    struct msp_ucx_copy *copies;
    struct msp_ucx_copy *unused;
};

struct msp_network_peer {
    struct msp_network_queue *queue;
    ucp_ep_h endpoint;
    int pe;
    bool is_failed;
    ucs_status_t failure;
};

/* The driver's state. */
struct msp_ucx {
    const struct msp_network_services *services;
    struct msp_network_limits limits;
    ucp_context_h context;
    ucp_err_handling_mode_t error_mode;
    uint64_t memory_types;
    bool loses_events;
    bool is_trying; /* UCX's text for a failure is not worth a line of the log */
    char transports[MSP_UCX_TEXT];
};

extern struct msp_ucx msp_ucx;

/* context.c */
memspan_status_t msp_ucx_open(const struct msp_network_job *job,
                              struct msp_network_limits *limits_p);
void msp_ucx_close(void);
void msp_ucx_describe(char *text, size_t text_bytes);

/* queue.c */
memspan_status_t msp_ucx_queue_open(bool is_main, struct msp_network_queue **queue_p);
void msp_ucx_queue_close(struct msp_network_queue *queue);
memspan_status_t msp_ucx_queue_address(struct msp_network_queue *queue, void *address,
                                       size_t *address_bytes_p);
unsigned msp_ucx_queue_progress(struct msp_network_queue *queue);
int msp_ucx_queue_descriptor(struct msp_network_queue *queue);
bool msp_ucx_queue_arm(struct msp_network_queue *queue, int *timeout_ms_p);

/* peer.c */
memspan_status_t msp_ucx_peer_open(struct msp_network_queue *queue, int pe, const void *address,
                                   size_t address_bytes, struct msp_network_peer **peer_p);
void msp_ucx_peer_close(struct msp_network_peer *peer, bool is_failed);
void msp_ucx_peer_describe(struct msp_network_peer *peer, char *text, size_t text_bytes);

/* memory.c */
memspan_status_t msp_ucx_memory_register(const struct msp_network_region *region, void *key,
                                         size_t *key_bytes_p, struct msp_network_memory **memory_p);
void msp_ucx_memory_release(struct msp_network_memory *memory);
memspan_status_t msp_ucx_key_open(struct msp_network_peer *peer, const void *key, size_t key_bytes,
                                  struct msp_network_key **key_p);
void msp_ucx_key_close(struct msp_network_peer *peer, struct msp_network_key *key);

/* operation.c */
enum msp_network_result msp_ucx_put(struct msp_network_peer *peer, struct msp_network_key *key,
                                    uint64_t address, const void *source, size_t size_bytes,
                                    struct msp_network_request *request);
enum msp_network_result msp_ucx_get(struct msp_network_peer *peer, struct msp_network_key *key,
                                    uint64_t address, void *dest, size_t size_bytes,
                                    struct msp_network_request *request);
enum msp_network_result msp_ucx_send(struct msp_network_peer *peer, const void *header,
                                     size_t header_bytes, const void *payload, size_t payload_bytes,
                                     struct msp_network_request *request);
enum msp_network_result msp_ucx_flush(struct msp_network_peer *peer,
                                      struct msp_network_request *request);

/* An error record of UCX's status: @p call did not do the work that @p format describes. */
memspan_status_t msp_ucx_fail(ucs_status_t status, const char *call, const char *hint,
                              const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif /* MEMSPAN_SHMEM_NETWORK_UCX_H */
