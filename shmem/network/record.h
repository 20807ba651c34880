/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_NETWORK_RECORD_H
#define MEMSPAN_SHMEM_NETWORK_RECORD_H

#include "shmem/network/message.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Checks of arriving messages, before any of their fields is trusted.
 *
 * Any process that reaches a port of a network may send bytes there. A message begins with the
 * token of the PE that it is for, a random number of its card (card.c), which PEs of the job alone
 * have. A message that begins otherwise is dropped, unread. A message with the token is from a PE
 * of the job: if it is malformed all the same, the job ends. Checks here need neither memory of the
 * job nor its state but counts; places in segments are checked where they are resolved. */

struct msp_network_wire_limits {
    int pe_count;
    uint64_t answer_max_bytes; /* of a get's data */
};

bool msp_network_wire_is_ours(const void *message, size_t bytes, uint64_t token);

/* The header of a message, with the fields that were not sent, and whether it fits its payload.
 * @p is_inner: in an aggregate, without a token. Returns the mistake in it, *header_p
 * then being incomplete, or NULL. */
const char *msp_network_wire_read(const struct msp_network_wire_limits *limits, bool is_inner,
                                  const void *at, size_t header_bytes, size_t payload_bytes,
                                  struct msp_network_header *header_p);

/* One of an aggregate. */
struct msp_network_wire_item {
    struct msp_network_header header;
    const char *payload;
    size_t payload_bytes;
};

/* The next one at *at_p of @p items, which moves behind it. Returns the mistake in it; NULL:
 * nothing. */
const char *msp_network_wire_next(const struct msp_network_wire_limits *limits, const char *items,
                                  size_t items_bytes, size_t *at_p,
                                  struct msp_network_wire_item *item_p);

/* ---- records ---- */

/* Records of requests that wait for replies. A message names its record by a number, never by an
 * address, so a reply that no record awaits is recognised, with any contents.
 *
 * A number is an index and a generation, which changes with each use of the index. A record counts
 * its replies twice: `due` is decremented before a reply is handled, `left` behind it. So a reply
 * that comes once more finds nothing due, and the caller that waits for `left` may give the record
 * back. Any thread takes, queries and gives; finding is under the main channel's lock. */

struct msp_network_record {
    char *dest;            /* memory of the host */
    uint64_t size_bytes;   /* of the data of all replies */
    ptrdiff_t block_bytes; /* of data that is scattered there; 0: it is not; */
    ptrdiff_t stride_bytes;
    int pe;                        /* that replies */
    bool is_unwaited;              /* no caller waits: given back with the last reply */
    _Atomic uint64_t *outstanding; /* of the stream; decremented with each reply; or NULL */
    _Atomic uint32_t left;
    _Atomic uint32_t due;
    uint32_t index;
    _Atomic uint32_t generation; /* 1 .. MSP_NETWORK_GENERATIONS - 1 */
    _Atomic uint32_t next;       /* of the unused: its index + 1 */
};

enum {
    MSP_NETWORK_RECORD_BITS = 20, /* of an index */
    MSP_NETWORK_GENERATIONS = 1 << (32 - MSP_NETWORK_RECORD_BITS),
};

/* Fatal, for @p call, without memory. */
struct msp_network_record *msp_network_record_take(const char *call, int pe, void *dest,
                                                   uint64_t size_bytes);
/* Nothing is left. */
void msp_network_record_give(struct msp_network_record *record);

/* One more reply is awaited: its number, which is not 0. */
uint32_t msp_network_record_ask(struct msp_network_record *record);

/* The record of a reply with @p data_bytes for place @p at of its data; NULL: it awaits no such
 * reply of that PE. */
struct msp_network_record *msp_network_record_find(uint32_t number, int pe, uint64_t at,
                                                   uint64_t data_bytes);

/* Without the peers' help. */
void msp_network_record_close(void);

#endif /* MEMSPAN_SHMEM_NETWORK_RECORD_H */
