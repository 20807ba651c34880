/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_NETWORK_TCP_H
#define MEMSPAN_SHMEM_NETWORK_TCP_H

/* The network driver over the kernel's TCP, for hosts whose network is nothing else: it needs no
 * library, and an operation costs the calls of the kernel that it needs alone. driver.c has the
 * table, address.c interfaces, queue.c polling, link.c connections and what travels on them,
 * operation.c peers, put, get, send and flush.
 *
 * A link is a connection. Two main queues have one between them, for both directions: TCP's own
 * acknowledgements then travel with our answers, which saves each message a packet. Any other queue
 * connects to the main queue of each PE that it has operations for. A link opens when the end that
 * was connected to says so; where two PEs connect to each other at once, the link of the lower PE
 * opens, and what was to travel on the other one moves to it.
 *
 * What arrives on a link is executed in order, by the processor of the owner: puts are received
 * into their memory, gets are sent from it. Acknowledgements are cumulative; the first few
 * outstanding puts ask for one, and a flush that finds others behind them sends an empty put. */

#include "shmem/network/driver.h"
#include <netinet/in.h>

enum {
    MSP_TCP_MESSAGE_MAX   = 65 << 10, /* header and payload */
    MSP_TCP_SIGNALLED_MAX = 64 << 10,
    MSP_TCP_COPY_MAX      = 16 << 10, /* what is copied where the kernel has no room */
    MSP_TCP_COPIES_MAX    = 1 << 20,  /* bytes of copies that wait on one link */
    MSP_TCP_WORDS_MAX     = 256,      /* gets of so many bytes are read by whole words */
    MSP_TCP_AGGREGATE_MAX = 2 << 10,
    MSP_TCP_RECEIVE_BYTES = 68 << 10, /* holds the largest message */
    MSP_TCP_AT_ONCE_BYTES = 16 << 10, /* received before it is known what it is */
    MSP_TCP_HEADER_MAX    = 256,
    MSP_TCP_TEXT          = 96,
};

enum msp_tcp_kind {
    MSP_TCP_HELLO,   /* place: the target's secret; size: the PE that connects; asks: to share */
    MSP_TCP_WELCOME, /* the link opens */
    MSP_TCP_MESSAGE, /* header, payload, both in multiples of 8 bytes on the wire */
    MSP_TCP_PUT,     /* size bytes follow for the memory key at place */
    MSP_TCP_GET,
    MSP_TCP_DATA, /* of the oldest get: size bytes follow */
    MSP_TCP_ACK,  /* place: puts of the link that have taken effect */
    MSP_TCP_BYE,  /* the queue of that end closes: no failure */
};

/* Before each item of a link. All PEs of a job have one byte order (card.c compares versions). */
struct msp_tcp_frame {
    uint8_t kind;
    uint8_t asks; /* a PUT: for an acknowledgement */
    uint16_t header_bytes;
    uint32_t key;
    uint64_t size_bytes;
    uint64_t place;
};

_Static_assert(sizeof(struct msp_tcp_frame) + MSP_TCP_HEADER_MAX + MSP_TCP_MESSAGE_MAX <=
                   MSP_TCP_RECEIVE_BYTES,
               "the largest message is taken in one piece");

/* What the kernel had no room for. */
struct msp_tcp_rest {
    struct msp_tcp_rest *next;
    struct msp_network_request *request; /* completes when it is sent; or NULL */
    const char *payload;                 /* behind head, in place */
    size_t payload_bytes;
    size_t head_bytes;
    size_t sent_bytes; /* of both */
    char head[];
};

struct msp_tcp_link {
    struct msp_tcp_link *next; /* of the queue */
    struct msp_network_queue *queue;
    struct msp_network_peer *peer; /* NULL: this end has no operations for it */
    int pe;                        /* at the other end; -1: it has not said so */
    int fd;                        /* -1: lost, freed by the next progress */
    bool is_own;                   /* this end has connected */
    bool is_shared;                /* between main queues */
    bool is_open;
    bool owes_hello;
    bool is_leaving;            /* the other end gives it up */
    uint64_t secret;            /* of the other end, for the greeting */
    bool watches_room;          /* the descriptor waits for room, too */
    struct msp_tcp_rest *rests; /* in order */
    struct msp_tcp_rest **rests_end;
    size_t copied_bytes;   /* in rests */
    uint64_t executed;     /* puts of the other end */
    uint64_t puts;         /* of this end */
    uint64_t acknowledged; /* of them */
    bool is_unasked;       /* the last put has not asked */
    /* The body that is being received; then what has been received in advance. */
    struct msp_tcp_frame frame;
    char *to;
    size_t left_bytes;
    size_t start; /* in bytes[] */
    size_t end;
    _Alignas(16) char bytes[MSP_TCP_RECEIVE_BYTES];
};

struct msp_network_queue {
    int epoll_fd;  /* all links, level-triggered, and the listener, edge-triggered */
    int listen_fd; /* of the main queue; -1 */
    bool is_main;
    bool has_callers; /* connections wait to be accepted */
    unsigned polls;
    struct msp_tcp_link *links;
    struct msp_tcp_link *recent; /* where something arrived last; NULL */
    unsigned rests;              /* links with something to send */
    bool has_lost;
};

/* A get or a flush that waits for its answer; in the caller's request. */
struct msp_tcp_wait {
    struct msp_tcp_wait *next;
    struct msp_network_request *request;
    char *dest;     /* of a get */
    uint64_t until; /* a flush: puts that have taken effect; a get: bytes */
};

struct msp_tcp_waits {
    struct msp_tcp_wait *first;
    struct msp_tcp_wait **end;
};

struct msp_network_peer {
    struct msp_network_queue *queue;
    struct msp_tcp_link *link; /* NULL: lost */
    int pe;
    struct msp_tcp_waits gets;
    struct msp_tcp_waits flushes;
    char where[MSP_TCP_TEXT];
    char reason[MSP_TCP_TEXT]; /* of the loss */
};

/* Addresses of a main queue, as cards have them. */
enum { MSP_TCP_PLACES = 12 };
struct msp_tcp_place {
    uint8_t is_v6;
    uint8_t prefix_bits;
    uint8_t bytes[16];
};
struct msp_tcp_address {
    uint64_t secret;
    uint64_t network; /* equal where the loopback interface is the same */
    uint16_t port;
    uint16_t count;
    struct msp_tcp_place places[MSP_TCP_PLACES];
};

struct msp_tcp {
    const struct msp_network_services *services;
    struct msp_network_job job;
    uint64_t secret;
};
extern struct msp_tcp msp_tcp;

/* driver.c. An error record of @p code of errno; 0: none. */
memspan_status_t msp_tcp_fail(memspan_status_t status, const char *call, int code, const char *hint,
                              const char *format, ...) __attribute__((format(printf, 5, 6)));
/* Registered memory of this process. NULL: it is not in @p key. Any thread. */
char *msp_tcp_memory_at(uint32_t key, uint64_t address, uint64_t size_bytes);

/* address.c. Whether this host has the interfaces that the user has named, and an address. */
memspan_status_t msp_tcp_address_check(void);
memspan_status_t msp_tcp_address_own(struct msp_tcp_address *address_p);
/* The place of @p peer's that this host reaches. */
memspan_status_t msp_tcp_address_choose(int pe, const struct msp_tcp_address *peer,
                                        struct sockaddr_storage *to_p, char *text,
                                        size_t text_bytes);

/* queue.c */
memspan_status_t msp_tcp_queue_open(bool is_main, struct msp_network_queue **queue_p);
void msp_tcp_queue_close(struct msp_network_queue *queue);
memspan_status_t msp_tcp_queue_address(struct msp_network_queue *queue, void *address,
                                       size_t *address_bytes_p);
unsigned msp_tcp_queue_progress(struct msp_network_queue *queue);
int msp_tcp_queue_descriptor(struct msp_network_queue *queue);
bool msp_tcp_queue_arm(struct msp_network_queue *queue, int *timeout_ms_p);

/* link.c. @p pe: this end has connected to that PE; -1: it was connected to. NULL: no memory, or no
 * room in the queue's epoll; @p fd stays the caller's. */
struct msp_tcp_link *msp_tcp_link_open(struct msp_network_queue *queue, int fd, int pe,
                                       uint64_t secret);
/* One that the queue may send operations to that PE on; NULL: none. */
struct msp_tcp_link *msp_tcp_link_find(struct msp_network_queue *queue, int pe);
/* It stays in the queue's list until the next progress. Its peer hears nothing. */
void msp_tcp_link_close(struct msp_tcp_link *link);
/* The connection is lost: @p code of errno, 0: the other end has closed it. */
void msp_tcp_link_lose(struct msp_tcp_link *link, int code);
/* Nonzero: something has arrived. */
unsigned msp_tcp_link_receive(struct msp_tcp_link *link);
/* What waits for room, as much as there is. Nonzero: some of it. */
unsigned msp_tcp_link_push(struct msp_tcp_link *link);
/* Where something can be sent as soon as there is room, the descriptor wakes for room, too. */
void msp_tcp_link_watch(struct msp_tcp_link *link);

/* What is sent as one. */
struct msp_tcp_item {
    struct msp_tcp_frame frame;
    const void *header;
    const void *payload;
    size_t payload_bytes;
    size_t pad_bytes;
    struct msp_network_request *request; /* completes when it is sent: a payload in place, or a
                                            copy that a queue other than the main one keeps */
    bool is_copied;                      /* where the kernel has no room; or in place */
    bool may_be_busy;                    /* beyond MSP_TCP_COPIES_MAX, or without memory */
};
enum msp_network_result msp_tcp_link_send(struct msp_tcp_link *link,
                                          const struct msp_tcp_item *item);

/* operation.c */
memspan_status_t msp_tcp_peer_open(struct msp_network_queue *queue, int pe, const void *address,
                                   size_t address_bytes, struct msp_network_peer **peer_p);
void msp_tcp_peer_close(struct msp_network_peer *peer, bool is_failed);
void msp_tcp_peer_describe(struct msp_network_peer *peer, char *text, size_t text_bytes);
/* Its link is gone: what waits for answers ends. */
void msp_tcp_peer_lose(struct msp_network_peer *peer, const char *reason);
void msp_tcp_peer_acknowledge(struct msp_network_peer *peer, uint64_t puts);
/* Where the data of the oldest get belongs; NULL: there is no get of so many bytes. */
char *msp_tcp_peer_expects(struct msp_network_peer *peer, uint64_t size_bytes);
/* It has arrived. */
void msp_tcp_peer_arrived(struct msp_network_peer *peer);
enum msp_network_result msp_tcp_put(struct msp_network_peer *peer, struct msp_network_key *key,
                                    uint64_t address, const void *source, size_t size_bytes,
                                    struct msp_network_request *request);
enum msp_network_result msp_tcp_get(struct msp_network_peer *peer, struct msp_network_key *key,
                                    uint64_t address, void *dest, size_t size_bytes,
                                    struct msp_network_request *request);
enum msp_network_result msp_tcp_send(struct msp_network_peer *peer, const void *header,
                                     size_t header_bytes, const void *payload, size_t payload_bytes,
                                     struct msp_network_request *request);
enum msp_network_result msp_tcp_flush(struct msp_network_peer *peer,
                                      struct msp_network_request *request);

#endif /* MEMSPAN_SHMEM_NETWORK_TCP_H */
