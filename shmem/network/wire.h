/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_NETWORK_WIRE_H
#define MEMSPAN_SHMEM_NETWORK_WIRE_H

/* Checks of arriving messages, before any of their fields is trusted.
 *
 * Any process that reaches a port of a network may send bytes there. A message begins with the
 * token of the PE that it is for, a random number of its card (card.c), which PEs of the job alone
 * have. A message that begins otherwise is dropped, unread. A message with the token is from a PE
 * of the job: if it is malformed all the same, the job ends. Checks here need neither memory of the
 * job nor its state but counts; places in segments are checked where they are resolved. */

#include "shmem/network/message.h"

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

#endif /* MEMSPAN_SHMEM_NETWORK_WIRE_H */
