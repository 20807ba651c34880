/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_NETWORK_OFI_OFI_H
#define MEMSPAN_SHMEM_NETWORK_OFI_OFI_H

/* The driver over libfabric. Files by noun: provider.c chooses one, driver.c is the table, queue.c
 * endpoints and completions, peer.c addresses and failures, memory.c registration, operation.c put,
 * get, send and flush, pool.c the records and copy buffers of operations.
 *
 * An operation has a record of the driver's until libfabric reports its completion. The caller's
 * request may end earlier, when its peer has failed: then the record has no request any more.
 *
 * A put may request an acknowledgement (FI_DELIVERY_COMPLETE), which costs a packet of the peer's.
 * Where the provider keeps the order of writes, only the first of several outstanding puts request
 * one, and a flush that finds others behind them sends an empty write that does (operation.c). */

#include "shmem/network/driver.h"
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

/* The interface of libfabric that this file is written for; 1.20 has registration by dma-buf. */
#if defined(FI_MR_DMABUF)
#define OFI_API_MAJOR 1
#define OFI_API_MINOR 20
#else
#define OFI_API_MAJOR 1
#define OFI_API_MINOR 11
#endif

enum {
    OFI_INLINE_BYTES    = 256,   /* copied into an operation's own record */
    OFI_COPY_BYTES      = 16384, /* of a copy buffer; also rxm's limit of messages in one piece */
    OFI_SIGNALLED_BYTES = 4096,  /* data and signal in one message */
    OFI_AGGREGATE_BYTES = 2048,  /* over tcp: the cost of the kernel's part of a send */
    OFI_COPIES_MAX      = 128,   /* copy buffers of a queue */
    OFI_PREFIX_BYTES    = 8,     /* before a message's header: its size */
    OFI_MESSAGE_BYTES   = OFI_COPY_BYTES - 2 * OFI_PREFIX_BYTES,
    OFI_RECEIVES        = 32,   /* receive buffers of the main queue */
    OFI_RECORDS_MAX     = 4096, /* operations outstanding of a queue */
    OFI_NAME_BYTES      = 256,  /* of libfabric's address of an endpoint */
};

struct ofi_pool_slab;

/* Items of one size, which grow by slabs; registered where the provider requires that of local
 * buffers. */
struct ofi_pool {
    struct ofi_pool_item *free;
    struct ofi_pool_slab *slabs;
    size_t item_bytes;
    size_t count;
    size_t count_max;
};

/* An item of a pool begins with this. */
struct ofi_pool_item {
    struct ofi_pool_item *next;
    void *descriptor; /* of the slab's registration */
};

enum ofi_kind {
    OFI_PUT,
    OFI_GET,
    OFI_SEND,
    OFI_FLUSH, /* an empty write */
    OFI_RECEIVE,
};

struct ofi_copy; /* a buffer of OFI_COPY_BYTES */

/* The context that a completion names. */
struct ofi_context {
    struct fi_context2 libfabric; /* its own while it has the operation, where it needs one */
    enum ofi_kind kind;
};

/* An operation that libfabric has. */
struct ofi_record {
    struct ofi_pool_item item;
    struct ofi_context context;
    struct ofi_record *next; /* outstanding ones of the peer */
    struct ofi_record *previous;
    struct msp_network_peer *peer;
    struct msp_network_request *request; /* NULL: no caller waits for it */
    struct ofi_copy *copy;               /* NULL: none */
    struct fid_mr *local; /* registration of the caller's buffer for this operation */
    void *dest;           /* of a get through a copy */
    size_t size_bytes;
    uint32_t epoch; /* of a put: flushes of the peer before it */
    _Alignas(16) char bytes[OFI_INLINE_BYTES];
};

struct ofi_copy {
    struct ofi_pool_item item;
    _Alignas(16) char bytes[OFI_COPY_BYTES];
};

/* A receive buffer of the main queue. */
struct ofi_receive {
    struct ofi_context context;
    bool is_posted;
    _Alignas(16) char bytes[OFI_COPY_BYTES];
};

/* A flush that waits for puts; in the caller's request. */
struct ofi_flush {
    struct ofi_flush *next;
    struct msp_network_request *request;
    uint32_t epoch; /* puts up to this one count */
    uint32_t left;  /* of them */
};

struct msp_network_queue {
    struct fid_ep *endpoint;
    struct fid_cq *completions;
    struct fid_av *addresses;
    int descriptor;
    bool is_main;
    struct ofi_pool records;
    struct ofi_pool copies;
    struct ofi_receive *receives; /* OFI_RECEIVES of them, in the main queue */
    struct fid_mr *receives_mr;
    unsigned unposted;               /* of them: libfabric had no space */
    bool was_armed;                  /* its thread may have slept since */
    struct msp_network_peer *closed; /* list of those that are freed with the queue */
};

struct msp_network_peer {
    struct msp_network_queue *queue;
    struct msp_network_peer *next_closed;
    int pe;
    fi_addr_t address;
    bool is_failed;
    struct ofi_record *outstanding; /* list */
    struct ofi_flush *flushes;      /* list */
    uint32_t epoch;                 /* flushes started */
    uint32_t puts;                  /* outstanding */
    bool is_unacknowledged;         /* the last put has not requested an acknowledgement */
    bool has_failed_put;            /* a copied one, which the next flush reports */
    bool has_large;                 /* a large put since the last flush */
    uint64_t last_key;              /* of the last put: where an empty write may go */
    uint64_t last_address;
    struct ofi_probe *probe; /* NULL: operations proceed (peer.c) */
    char *reason;            /* of the failure; NULL: none, or no memory */
    size_t raw_bytes;
    _Alignas(8) char raw[OFI_NAME_BYTES]; /* its address */
};

struct msp_network_memory {
    struct msp_network_memory *next;
    struct fid_mr *region;
    const char *base;
    size_t size_bytes;
    bool is_device;
};

struct msp_network_key {
    uint64_t base;
    uint64_t size_bytes;
    uint64_t key;
    bool is_mapped; /* fi_mr_map_raw() made it */
};

/* The process's driver: libfabric is opened once. */
struct ofi_driver {
    const struct msp_network_services *services;
    struct msp_network_job job;
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_ep *main_endpoint;        /* the main queue's: FI_MR_ENDPOINT */
    struct msp_network_memory *memories; /* list, newest first; memory.c has its lock */
    size_t inject_bytes; /* messages that libfabric copies, at most OFI_INLINE_BYTES */
    bool needs_local;    /* FI_MR_LOCAL */
    bool is_virtual;     /* FI_MR_VIRT_ADDR: remote addresses, not offsets */
    bool takes_device;
    bool is_tcp;
    bool is_lazy; /* not every put requests an acknowledgement */
};
extern struct ofi_driver ofi;

/* ---- provider.c ---- */

memspan_status_t ofi_provider_choose(struct fi_info **info_p);
bool ofi_provider_is(const char *prefix);
/* It is one over sockets of the kernel. */
bool ofi_provider_is_kernel(void);
/* The address in words. */
void ofi_address_text(const void *address, size_t address_bytes, char *text, size_t text_bytes);

/* ---- driver.c ---- */

/* An error record of a call of libfabric's that returned @p code (negative). */
memspan_status_t ofi_fail(memspan_status_t status, const char *call, long code, const char *hint,
                          const char *format, ...) __attribute__((format(printf, 5, 6)));

/* ---- pool.c ---- */

void ofi_pool_init(struct ofi_pool *pool, size_t item_bytes, size_t count_max);
void ofi_pool_release(struct ofi_pool *pool);
/* NULL: none, or no memory. */
void *ofi_pool_take(struct ofi_pool *pool);
void ofi_pool_give(struct ofi_pool *pool, void *item);

/* ---- memory.c ---- */

/* The descriptor of registered memory that has all of it; NULL: none, or none is needed. */
void *ofi_memory_descriptor(const void *buffer, size_t size_bytes, bool *is_device_p);
/* Registers a local buffer; libfabric's code. */
int ofi_local_register(void *base, size_t size_bytes, struct fid_mr **region_p);
memspan_status_t ofi_memory_register(const struct msp_network_region *region, void *key,
                                     size_t *key_bytes_p, struct msp_network_memory **memory_p);
void ofi_memory_release(struct msp_network_memory *memory);
memspan_status_t ofi_key_open(struct msp_network_peer *peer, const void *key, size_t key_bytes,
                              struct msp_network_key **key_p);
void ofi_key_close(struct msp_network_peer *peer, struct msp_network_key *key);

/* ---- queue.c ---- */

memspan_status_t ofi_queue_open(bool is_main, struct msp_network_queue **queue_p);
void ofi_queue_close(struct msp_network_queue *queue);
memspan_status_t ofi_queue_address(struct msp_network_queue *queue, void *address,
                                   size_t *address_bytes_p);
unsigned ofi_queue_progress(struct msp_network_queue *queue);
int ofi_queue_descriptor(struct msp_network_queue *queue);
bool ofi_queue_arm(struct msp_network_queue *queue, int *timeout_ms_p);

/* ---- peer.c ---- */

memspan_status_t ofi_peer_open(struct msp_network_queue *queue, int pe, const void *address,
                               size_t address_bytes, struct msp_network_peer **peer_p);
void ofi_peer_close(struct msp_network_peer *peer, bool is_failed);
void ofi_peer_describe(struct msp_network_peer *peer, char *text, size_t text_bytes);
/* Space for its address, then size in *address_bytes_p: the form that peer_open() reads. */
memspan_status_t ofi_address_pack(struct fid_ep *endpoint, void *address, size_t *address_bytes_p);
/* libfabric reports that the connection is lost: reported once, and its requests complete. */
void ofi_peer_fail(struct msp_network_peer *peer, int error);
bool ofi_error_is_connection(int error);
/* libfabric has no space for an operation of it. */
void ofi_peer_stalls(struct msp_network_peer *peer);
/* It has taken one, or completed one. */
void ofi_peer_proceeds(struct msp_network_peer *peer);

/* ---- operation.c ---- */

enum msp_network_result ofi_put(struct msp_network_peer *peer, struct msp_network_key *key,
                                uint64_t address, const void *source, size_t size_bytes,
                                struct msp_network_request *request);
enum msp_network_result ofi_get(struct msp_network_peer *peer, struct msp_network_key *key,
                                uint64_t address, void *dest, size_t size_bytes,
                                struct msp_network_request *request);
enum msp_network_result ofi_send(struct msp_network_peer *peer, const void *header,
                                 size_t header_bytes, const void *payload, size_t payload_bytes,
                                 struct msp_network_request *request);
enum msp_network_result ofi_flush(struct msp_network_peer *peer,
                                  struct msp_network_request *request);
/* Where the payload of a message starts. */
static inline size_t ofi_message_payload(size_t header_bytes)
{
    return OFI_PREFIX_BYTES + ((header_bytes + 7) & ~(size_t)7);
}
/* libfabric reports the end of it. @p error: 0, or of FI_E*. */
void ofi_record_complete(struct ofi_record *record, int error, const char *words);
/* All requests of a peer that has failed. */
void ofi_records_abandon(struct msp_network_peer *peer, memspan_status_t status);

#endif /* MEMSPAN_SHMEM_NETWORK_OFI_OFI_H */
