/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_TRANSPORT_LOOPBACK_H
#define MEMSPAN_SHMEM_TRANSPORT_LOOPBACK_H

/* The loopback transport: messages through sockets, in an order and with delays that a seed
 * decides. It is for tests, and the reference for other transports: whatever works over it keeps to
 * what OpenSHMEM promises and to nothing else.
 *
 *     loopback.c           operations become messages; contexts, completion, fence
 *     loopback_wire.c      sockets and the thread: messages there and back
 *     loopback_deliver.c   received messages wait here, and are executed
 *
 * Each PE connects to each PE that it starts operations on, and gets the replies there. One thread
 * of each PE does all reading, writing and executing. */

#include "shmem/transport/transport.h"

extern const struct msp_transport msp_transport_loopback MSP_HIDDEN;

enum msp_loopback_kind {
    MSP_LOOPBACK_HELLO, /* the first on a connection: who connects */
    MSP_LOOPBACK_PUT,   /* with its data, and perhaps a signal */
    MSP_LOOPBACK_GET,
    MSP_LOOPBACK_ATOMIC,
    MSP_LOOPBACK_REPLY, /* to each of these three: executed; with data or an old value if wanted */
    MSP_LOOPBACK_BYE,   /* the last: the connection will be closed */
};

/* What waits for a reply with data; on the stack of its caller, or allocated. */
struct msp_loopback_record {
    const char *call;
    void *dest;
    atomic_bool is_done;
    bool is_allocated;
};

struct msp_loopback_header {
    enum msp_loopback_kind kind;
    int pe; /* that sent it */
    unsigned context;
    unsigned segment;
    unsigned signal_segment; /* PUT: 0 with operation FETCH, no signal */
    enum msp_atomic operation;
    unsigned word_bytes; /* ATOMIC: of the operand */
    uint64_t offset_bytes;
    uint64_t signal_offset_bytes;
    uint64_t key; /* of the segment, from its owner */
    uint64_t signal_key;
    uint64_t value;
    uint64_t condition;
    uint64_t size_bytes;    /* GET: wanted */
    uint64_t payload_bytes; /* behind the header */
    uint64_t before;        /* operations of this PE and context that are executed earlier */
    struct msp_loopback_record *record; /* of the PE that wants data; NULL: it does not */
};

struct msp_loopback_message {
    struct msp_loopback_message *next;
    struct msp_loopback_connection *connection; /* of a received one: where its reply goes */
    struct msp_loopback_header header;
    const void *payload; /* its data, or the program's buffer */
    size_t done_bytes;   /* sent or received, of header and payload */
    uint64_t due_ns;     /* of a received one: it is not executed earlier; then by arrival */
    uint64_t arrival;
    char data[];
};

/* A message with space for @p payload_bytes, to which payload points. Fatal without memory. */
struct msp_loopback_message *msp_loopback_message(const struct msp_loopback_header *header,
                                                  size_t payload_bytes);

/* ---- loopback_wire.c ---- */

memspan_status_t msp_loopback_wire_open(void *address, size_t *address_bytes_p);
memspan_status_t msp_loopback_wire_connect(int pe, const void *address, size_t address_bytes);
void msp_loopback_wire_close(void);

/* Queue a message: to a PE that this one has connected to, or back. The wire frees it. The first
 * waits while too many bytes are queued; the second does not, and is the thread's alone. */
void msp_loopback_send(int pe, struct msp_loopback_message *message);
void msp_loopback_reply(struct msp_loopback_connection *connection,
                        struct msp_loopback_message *message);

/* ---- loopback_deliver.c, for the thread ---- */

memspan_status_t msp_loopback_deliver_open(void);
void msp_loopback_deliver_close(void);
/* Takes a received message. */
void msp_loopback_accept(struct msp_loopback_message *message);
/* Execute what is due. Nanoseconds until something else is; -1: nothing waits. */
int64_t msp_loopback_deliver(void);

/* ---- loopback.c, for the thread ---- */

/* The key that a segment of this PE has at present; 0: it is not registered. */
uint64_t msp_loopback_key(unsigned segment);

/* The reply to one of this PE's operations. */
void msp_loopback_complete(const struct msp_loopback_message *reply);

#endif /* MEMSPAN_SHMEM_TRANSPORT_LOOPBACK_H */
