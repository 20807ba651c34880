/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_NETWORK_TCP_H
#define MEMSPAN_SHMEM_NETWORK_TCP_H

/* The network driver over the kernel's TCP, for hosts whose network is nothing else: it needs no
 * library, and an operation costs the calls of the kernel that it needs alone. driver.c has the
 * table, address.c interfaces, queue.c polling, link.c connections and their traffic, operation.c
 * peers, put, get, send and flush.
 *
 * A link is a connection. Two main queues have one between them, for both directions: TCP's own
 * acknowledgements then travel with our answers, which saves each message a packet. Any other queue
 * connects to the main queue of each PE that it has operations for. Where two PEs connect to each
 * other at once, the link of the lower PE opens, and frames queued on the other one move to it.
 *
 * A link opens when both ends have proved that they have the key of the listening PE's card
 * (proof.h), which itself is never sent:
 *
 *     caller      HELLO       its number, a random number
 *     listener    CHALLENGE   its proof, a random number of its own
 *     caller      PROOF
 *     listener    WELCOME
 *
 * Until its proof a caller is a stranger: there are few at a time, each for seconds, and one that
 * sends anything else is closed. A PE that gives way to strangers connects again.
 *
 * Requests that arrive on a link are executed in order, by the processor of the owner: puts are
 * received into their memory, gets are sent from it. Acknowledgements are cumulative; the first few
 * outstanding puts request one, and a flush that finds others behind them sends an empty put. */

#include "shmem/network/driver.h"
#include "shmem/network/tcp/proof.h"
#include <netinet/in.h>
#include <sys/socket.h>

enum {
    MSP_TCP_MESSAGE_MAX   = 65 << 10, /* header and payload */
    MSP_TCP_SIGNALLED_MAX = 64 << 10,
    MSP_TCP_COPY_MAX      = 16 << 10, /* the bytes that are copied where the kernel has no space */
    MSP_TCP_COPIES_MAX    = 1 << 20,  /* bytes of copies that wait on one link */
    MSP_TCP_WORDS_MAX     = 256,      /* gets of so many bytes are read by whole words */
    MSP_TCP_AGGREGATE_MAX = 2 << 10,
    MSP_TCP_RECEIVE_BYTES = 68 << 10, /* holds the largest message */
    MSP_TCP_AT_ONCE_BYTES = 16 << 10, /* received before its kind is known */
    MSP_TCP_HEADER_MAX    = 256,
    MSP_TCP_ANSWERS_MAX =
        64 << 20, /* bytes that wait for a peer that requests and does not receive */
    MSP_TCP_STRANGERS_MAX = 32,
    MSP_TCP_GREETING_MS   = 5000, /* that a stranger has, */
    MSP_TCP_BUSY_MS       = 1000, /* where others wait */
    MSP_TCP_CALLS_MAX     = 32,   /* to connect to one PE */
    MSP_TCP_TEXT          = 96,
};

enum msp_tcp_kind {
    MSP_TCP_HELLO, /* size: the PE that connects; place: a random number; asks: a request to share
                    */
    MSP_TCP_CHALLENGE, /* size: a proof; place: a random number */
    MSP_TCP_PROOF,     /* place: it */
    MSP_TCP_WELCOME,   /* the link opens */
    MSP_TCP_MESSAGE,   /* header, payload, both in multiples of 8 bytes on the wire */
    MSP_TCP_PUT,       /* size bytes follow for the memory key at place */
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

/* An item that the kernel had no space for. */
struct msp_tcp_rest {
    struct msp_tcp_rest *next;
    struct msp_network_request *request; /* completes when it is sent; or NULL */
    const char *payload;                 /* behind head, in place */
    size_t payload_bytes;
    size_t head_bytes;
    size_t sent_bytes; /* of both */
    char head[];
};

/* How far the greeting is. */
enum msp_tcp_stage {
    MSP_TCP_CALLED,     /* own: no challenge so far; another's: no HELLO */
    MSP_TCP_CHALLENGED, /* and no proof, of another's */
    MSP_TCP_PROVED,     /* both ends; own: no WELCOME so far */
};

struct msp_tcp_link {
    struct msp_tcp_link *next; /* of the queue */
    struct msp_network_queue *queue;
    struct msp_network_peer *peer; /* NULL: this end has no operations for it */
    int pe;                        /* at the other end; -1: it has not sent it */
    int fd;                        /* -1: lost, freed by the next progress */
    bool is_own;                   /* this end has connected */
    bool is_shared;                /* between main queues */
    bool is_open;
    bool hello_pending;
    bool is_leaving; /* the other end gives it up */
    enum msp_tcp_stage stage;
    unsigned calls;  /* own: connections so far */
    int64_t born_ms; /* another's */
    struct msp_tcp_greeting greeting;
    bool watches_writing;       /* the descriptor waits for space, too */
    struct msp_tcp_rest *rests; /* in order */
    struct msp_tcp_rest **rests_end;
    size_t copied_bytes;   /* in rests */
    uint64_t executed;     /* puts of the other end */
    uint64_t puts;         /* of this end */
    uint64_t acknowledged; /* of them */
    bool is_unasked;       /* the last put has not requested one */
    /* The body that is being received; then the bytes received in advance. */
    struct msp_tcp_frame frame;
    char *to;
    size_t left_bytes;
    size_t start; /* in bytes[] */
    size_t end;
    _Alignas(16) char bytes[MSP_TCP_RECEIVE_BYTES];
};

struct msp_network_queue {
    int epoll_fd;                /* all links, level-triggered, and the listeners, edge-triggered */
    struct msp_tcp_address *own; /* of the main queue; NULL */
    int *listen_fds;             /* by place */
    unsigned strangers;          /* links that have not proved who they are */
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
    struct msp_tcp_key key; /* of its main queue */
    struct sockaddr_storage to;
    char where[MSP_TCP_TEXT];
    char reason[MSP_TCP_TEXT]; /* of the loss */
};

/* Addresses of a main queue, as cards have them. */
enum { MSP_TCP_PLACES = 12 };
struct msp_tcp_place {
    uint8_t is_v6;
    uint8_t prefix_bits;
    uint8_t bytes[16];
    uint16_t port;
};
struct msp_tcp_address {
    struct msp_tcp_key key;
    uint64_t network; /* equal where the loopback interface is the same */
    uint16_t count;
    struct msp_tcp_place places[MSP_TCP_PLACES];
};

struct msp_tcp {
    const struct msp_network_services *services;
    struct msp_network_job job;
    struct msp_tcp_key key;
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
struct sockaddr_storage msp_tcp_address_socket(const struct msp_tcp_place *place);
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

/* Milliseconds, for limits of seconds. */
int64_t msp_tcp_now_ms(void);

/* greeting.c. The item that begins with @p frame, of a link that is not open. */
void msp_tcp_greet(struct msp_tcp_link *link, const struct msp_tcp_frame *frame);
/* The first thing on a link of this end's, which always has space for it. */
unsigned msp_tcp_hello(struct msp_tcp_link *link);
/* A connection that is under way. -1, with errno. */
int msp_tcp_call(const struct sockaddr_storage *to);
/* Connects once more, where the listener may have given way to strangers. False: the link is lost.
 */
bool msp_tcp_call_again(struct msp_tcp_link *link, int code);
/* Strangers that have had their time are closed, or have proved who they are; how many. */
unsigned msp_tcp_strangers_close(struct msp_network_queue *queue, int64_t limit_ms);
/* Milliseconds until the first has had its time; INT64_MAX: there is none. */
int64_t msp_tcp_strangers_left(const struct msp_network_queue *queue);

/* link.c. @p peer: this end has connected to that PE; NULL: it was connected to. NULL: no memory,
 * or no space in the queue's epoll; @p fd stays the caller's. */
struct msp_tcp_link *msp_tcp_link_open(struct msp_network_queue *queue, int fd,
                                       struct msp_network_peer *peer);
/* Data from the other end is not ours. */
void msp_tcp_link_refuse(struct msp_tcp_link *link, const char *what);
/* Frames of the greeting, before anything else: sent at once, or never. */
bool msp_tcp_link_say(struct msp_tcp_link *link, const struct msp_tcp_frame *frame);
/* It has an operation for each event of the other end, or for space. */
bool msp_tcp_link_listen(struct msp_tcp_link *link, int operation, bool for_writing);
/* Both ends are PEs of the job. */
void msp_tcp_link_welcome(struct msp_tcp_link *link);
/* One that the queue may send operations to that PE on; NULL: none. */
struct msp_tcp_link *msp_tcp_link_find(struct msp_network_queue *queue, int pe);
/* It stays in the queue's list until the next progress. Its peer is not informed. */
void msp_tcp_link_close(struct msp_tcp_link *link);
/* The connection is lost: @p code of errno, 0: the other end has closed it. */
void msp_tcp_link_lose(struct msp_tcp_link *link, int code);
/* Nonzero: something has arrived. */
unsigned msp_tcp_link_receive(struct msp_tcp_link *link);
/* Sends waiting items, as the space allows. Nonzero: some of it. */
unsigned msp_tcp_link_push(struct msp_tcp_link *link);
/* Where something can be sent as soon as there is space, the descriptor wakes for space, too. */
void msp_tcp_link_watch(struct msp_tcp_link *link);

/* The parts that are sent as one. */
struct msp_tcp_item {
    struct msp_tcp_frame frame;
    const void *header;
    const void *payload;
    size_t payload_bytes;
    size_t pad_bytes;
    struct msp_network_request *request; /* completes when it is sent: a payload in place, or a
                                            copy that a queue other than the main one keeps */
    bool is_copied;                      /* where the kernel has no space; or in place */
    bool may_be_busy;                    /* beyond MSP_TCP_COPIES_MAX, or without memory */
};
enum msp_network_result msp_tcp_link_send(struct msp_tcp_link *link,
                                          const struct msp_tcp_item *item);

/* operation.c */
memspan_status_t msp_tcp_peer_open(struct msp_network_queue *queue, int pe, const void *address,
                                   size_t address_bytes, struct msp_network_peer **peer_p);
void msp_tcp_peer_close(struct msp_network_peer *peer, bool is_failed);
void msp_tcp_peer_describe(struct msp_network_peer *peer, char *text, size_t text_bytes);
/* Its link is gone: operations that wait for answers end. */
void msp_tcp_peer_lose(struct msp_network_peer *peer, const char *reason);
void msp_tcp_peer_acknowledge(struct msp_network_peer *peer, uint64_t puts);
/* Where the data of the oldest get belongs. False: there is no get of so many bytes. */
bool msp_tcp_peer_expects(const struct msp_network_peer *peer, uint64_t size_bytes, char **dest_p);
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
