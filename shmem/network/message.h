/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_NETWORK_MESSAGE_H
#define MEMSPAN_SHMEM_NETWORK_MESSAGE_H

/* Messages: operations that the owner of the memory executes, and its replies.
 *
 * A message is executed when it is received, by the thread that progresses the main queue, in the
 * order of each sender's queue. Messages that may block (memory of devices, registrations) are left
 * to the worker (worker.c), in the order of arrival. Replies are sent after the progress that
 * received the messages; one acknowledges all those of a PE and context that need nothing else, as
 * does the next message to that PE. */

#include "shmem/network/network.h"

enum msp_network_kind {
    MSP_NETWORK_PUT, /* with its data, and perhaps a signal */
    MSP_NETWORK_GET,
    MSP_NETWORK_ATOMIC,
    MSP_NETWORK_KEY,       /* requests the chunk that holds an offset */
    MSP_NETWORK_LEASE,     /* requests slots of the staging area (stage.h); value: where they are */
    MSP_NETWORK_RELEASE,   /* gives them back */
    MSP_NETWORK_STAGE,     /* a block is copied to the slot at value */
    MSP_NETWORK_UNSTAGE,   /* a block is copied from the slot at value */
    MSP_NETWORK_CALL,      /* calls of handlers, which threads of the program execute */
    MSP_NETWORK_AGGREGATE, /* several of the other kinds (stream.h) */
    MSP_NETWORK_ACK,       /* reply: nothing but ack_count */
    MSP_NETWORK_REPLY,     /* reply with the requested data */
    MSP_NETWORK_PING,      /* whether the PE is there (alive.c) */
    MSP_NETWORK_PONG,      /* it is */
};

enum { MSP_NETWORK_NO_SIGNAL = MSP_ATOMIC_FETCH }; /* operation of a PUT without a signal */
#define MSP_NETWORK_SIGNAL_OFFSET_MAX ((UINT64_C(1) << 48) - 1)

/* All PEs of a job have one byte order, and one version of Memspan. Fields that are often zero are
 * last: those behind the last that is not are not sent. So a message with a word takes no more than
 * 64 bytes, which providers of libfabric send without a completion (FI_INJECT). record.h has the
 * checks. */
struct msp_network_header {
    uint64_t token; /* of the PE that it is for; not in an aggregate */
    uint8_t kind;
    uint8_t operation;     /* of ATOMIC; of a PUT's signal */
    uint8_t word_bytes;    /* of an ATOMIC's operand */
    uint8_t is_unanswered; /* its sender does not count it */
    int32_t pe;            /* that sent it */
    uint16_t context;
    uint16_t segment;
    uint16_t ack_context; /* the sender has executed ack_count messages of that context, */
    uint16_t ack_count;   /* of which few are without an acknowledgement (stream.c) */
    uint32_t size_bytes;  /* of a block; a PUT of 0 is a signal alone */
    uint32_t record;      /* number of the requesting PE's record (record.h); 0: it only counts */
    uint64_t offset_bytes;
    uint64_t value; /* GET and its REPLY: where in the record's data its own belongs */
    uint64_t signal_offset_bytes : 48;
    uint64_t signal_segment : 16;
    uint64_t condition;
    uint64_t more_blocks;  /* behind the first */
    uint64_t stride_bytes; /* from one block to the next, in the owner's memory */
};

enum { MSP_NETWORK_HEADER_MIN_BYTES = offsetof(struct msp_network_header, offset_bytes) };

/* The part of it that is sent. */
static inline size_t msp_network_header_bytes(const struct msp_network_header *header)
{
    const uint64_t *first = &header->offset_bytes;
    const uint64_t *end   = &header->stride_bytes + 1;

    while ((end > first) && (end[-1] == 0)) {
        end--;
    }
    return MSP_NETWORK_HEADER_MIN_BYTES + ((size_t)(end - first) * sizeof *end);
}

struct msp_network_contact;
struct msp_network_reply;

/* The operations of one context. */
struct msp_network_stream {
    struct msp_network_channel *_Atomic channel; /* NULL: not yet */
    bool is_private;                             /* it needs a channel of its own, */
    bool is_serialized;                          /* several threads use it, one at a time */
    atomic_bool puts_wait;      /* of the driver: behind shmem_fence(), and messages before it */
    atomic_bool flush_next;     /* no message has followed shmem_fence() so far */
    _Atomic uint64_t messages;  /* without a reply so far */
    _Atomic uint64_t transfers; /* of the driver, nonblocking: puts and sends whose buffers it
                                   uses, gets */
};

/* The answer to KEY. */
struct msp_network_answer {
    int32_t status;
    uint32_t key_bytes;
    uint64_t offset_bytes;
    uint64_t size_bytes;
    uint64_t address;
    unsigned char bytes[MSP_NETWORK_KEY_MAX]; /* the key; the reason why there is none */
};

/* By context; NULL: nothing has used it. */
extern struct msp_network_stream *_Atomic msp_network_streams[MSP_CONTEXT_MAX] MSP_HIDDEN;

/* struct msp_network_services.receive */
void msp_network_receive(const void *header, size_t header_bytes, const void *payload,
                         size_t payload_bytes);

/* With the main channel locked: send replies with data that are due, and acknowledgements; how
 * many. A PE that is not connected keeps its own until msp_network_connect_waiting(). */
unsigned msp_network_reply(void);
unsigned msp_network_acknowledge(void);
/* Something is to be acknowledged. Any thread. */
bool msp_network_is_ack_pending(void);
bool msp_network_has_unconnected(void);
/* Without the lock. */
void msp_network_connect_waiting(void);

/* Executes a request. NULL: an acknowledgement suffices. */
struct msp_network_reply *msp_network_execute(const struct msp_network_header *header,
                                              const char *payload);
/* With the main channel locked: the executed message gets a reply, @p reply (the callee's) or an
 * acknowledgement. */
void msp_network_answer(const struct msp_network_header *header, struct msp_network_reply *reply);
/* With the main channel locked: some wait for a busy driver or a connection. */
bool msp_network_has_unsent_replies(void);
/* With the main channel locked: the driver has all. */
bool msp_network_is_all_answered(void);

/* With the channel locked, to a contact that is connected. False: the driver is busy. @p owned is
 * freed when the data is sent; *is_done, unless NULL, is set then. */
bool msp_network_try_to_send(struct msp_network_contact *contact,
                             const struct msp_network_header *header, const void *data,
                             size_t data_bytes, void *owned, atomic_bool *is_done);

void msp_network_message_close(void);

/* ---- the worker (worker.c) ---- */

/* Copies both. Any thread. Fatal without memory or thread. */
void msp_network_worker_leave(const struct msp_network_header *header, const void *payload,
                              size_t payload_bytes);

/* There are messages that it has not begun: a thread that polls yields the processor to it. */
bool msp_network_worker_is_pending(void);

/* With the main channel locked: the executed messages get their replies. */
void msp_network_worker_answer(void);

/* Ends it; messages that it has not begun are dropped. */
void msp_network_worker_close(void);

/* Likewise for CALL, whose records a thread of the program executes. */
void msp_network_call_leave(const struct msp_network_header *header, const void *records,
                            size_t bytes);

/* struct msp_transport: execute_calls. */
bool msp_network_execute_calls(void);

/* ---- liveness (alive.c) ---- */

/* For waits, about eight times a second, without locks; fatal when a peer does not answer. */
void msp_network_alive_look(void);

/* For loops that do not wait as others do: the same, once in many calls. */
void msp_network_alive_look_seldom(void);

/* PONG has arrived; with the main channel locked. */
void msp_network_alive_heard(const struct msp_network_header *header);

/* Messages of this that have arrived or left, which bring nothing that is waited for; guarded by
 * the main channel's lock. */
extern unsigned msp_network_alive_messages MSP_HIDDEN;

static inline void msp_network_alive_count(const struct msp_network_header *header)
{
    if ((header->kind == MSP_NETWORK_PING) || (header->kind == MSP_NETWORK_PONG)) {
        msp_network_alive_messages++;
    }
}

/* At the start and the end of a job. */
void msp_network_alive_reset(void);

#endif /* MEMSPAN_SHMEM_NETWORK_MESSAGE_H */
