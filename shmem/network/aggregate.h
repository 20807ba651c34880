/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_NETWORK_AGGREGATE_H
#define MEMSPAN_SHMEM_NETWORK_AGGREGATE_H

/* Aggregation: small messages to one PE travel in one. Over TCP a message of any size costs its
 * system call.
 *
 * A message waits in its contact's aggregate only behind one of the same context that has no
 * acknowledgement so far, and until that one arrives at the latest (Nagle's algorithm): the caller
 * that progresses the main queue sends the waiting messages, or the thread that the acknowledgement
 * wakes. So every message is sent soon without a timer, and one alone is sent at once. A message
 * that does not wait takes the waiting ones along, so that order is that of the calls. */

#include "shmem/network/stream.h"

enum { MSP_NETWORK_AGGREGATE_BYTES = 15 << 10 };

/* In the payload of a message of kind AGGREGATE: one after the other, each on 8 bytes. */
struct msp_network_aggregate_item {
    uint32_t header_bytes; /* without the token, which the whole has */
    uint32_t payload_bytes;
};

/* From one to the next. */
static inline size_t msp_network_aggregate_item_bytes(const struct msp_network_aggregate_item *item)
{
    size_t end = sizeof *item + (size_t)item->header_bytes + item->payload_bytes;

    return (end + sizeof *item - 1) & ~(sizeof *item - 1);
}

struct msp_network_aggregate {
    size_t size_bytes;
    atomic_bool *is_done; /* set when it is sent, for a call that waits; or NULL */
    _Alignas(8) char items[MSP_NETWORK_AGGREGATE_BYTES];
};

/* Between begin and end, for a message that has just been counted: it may wait. Nonblocking ones
 * may, since a quiet will follow. Others may where several are under way; the first few, of which
 * one may be a flag for data before it, are sent at once, as are those after shmem_fence(). */
bool msp_network_may_wait(const struct msp_network_work *work, unsigned flags);

/* Adds a message to *aggregate_p, which is made where it is NULL. False: no space, or no memory. */
bool msp_network_aggregate_add(struct msp_network_aggregate **aggregate_p,
                               const struct msp_network_header *header, const void *payload,
                               size_t payload_bytes);

#endif /* MEMSPAN_SHMEM_NETWORK_AGGREGATE_H */
