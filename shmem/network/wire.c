/* SPDX-License-Identifier: BSD-3-Clause */
/* wire.c: checks of arriving messages. */

#include "shmem/network/record.h"
#include "shmem/network/stream.h"
#include "shmem/transport/segment.h"
#include <string.h>

bool msp_network_wire_is_ours(const void *message, size_t bytes, uint64_t token)
{
    uint64_t found;

    if (bytes < sizeof found) {
        return false;
    }
    memcpy(&found, message, sizeof found);
    return found == token;
}

/* ---- by kind ---- */

#define KIND(kind) (1u << MSP_NETWORK_##kind)

enum {
    HAVE_DATA = KIND(PUT) | KIND(REPLY) | KIND(CALL) | KIND(AGGREGATE),
    ANSWERED  = KIND(GET) | KIND(KEY) | KIND(LEASE) | KIND(STAGE) | KIND(UNSTAGE) | KIND(REPLY),
};

static bool is_of(unsigned kinds, const struct msp_network_header *header)
{
    return (header->kind < 32) && (((kinds >> header->kind) & 1) != 0);
}

/* Bytes of all blocks; UINT64_MAX: more than there can be. */
static uint64_t data_of(const struct msp_network_header *header)
{
    return (header->more_blocks < UINT32_MAX) ? (header->more_blocks + 1) * header->size_bytes
                                              : UINT64_MAX;
}

static const char *check_put(const struct msp_network_header *header, size_t payload_bytes)
{
    if ((data_of(header) != payload_bytes) ||
        ((header->size_bytes == 0) && (header->more_blocks != 0))) {
        return "a put of another size than its data";
    }
    if ((header->operation > MSP_ATOMIC_XOR) || (header->signal_segment >= MSP_SEGMENT_MAX)) {
        return "a signal that is none";
    }
    return NULL;
}

static const char *check_atomic(const struct msp_network_header *header)
{
    const bool is_word =
        (header->word_bytes == sizeof(uint32_t)) || (header->word_bytes == sizeof(uint64_t));

    return (is_word && (header->operation <= MSP_ATOMIC_XOR)) ? NULL
                                                              : "an atomic operation that is none";
}

static const char *check_kind(const struct msp_network_wire_limits *limits,
                              const struct msp_network_header *header, size_t payload_bytes)
{
    switch (header->kind) {
    case MSP_NETWORK_PUT:
        return check_put(header, payload_bytes);
    case MSP_NETWORK_GET:
        return ((header->size_bytes != 0) && (data_of(header) <= limits->answer_max_bytes))
                   ? NULL
                   : "a get of a size that none has";
    case MSP_NETWORK_ATOMIC:
        return check_atomic(header);
    case MSP_NETWORK_STAGE:
    case MSP_NETWORK_UNSTAGE:
        return (header->size_bytes != 0) ? NULL : "a copy of nothing";
    case MSP_NETWORK_CALL:
        return (payload_bytes != 0) ? NULL : "calls of nothing";
    case MSP_NETWORK_KEY:
    case MSP_NETWORK_LEASE:
    case MSP_NETWORK_RELEASE:
    case MSP_NETWORK_AGGREGATE:
    case MSP_NETWORK_ACK:
    case MSP_NETWORK_REPLY:
    case MSP_NETWORK_PING:
    case MSP_NETWORK_PONG:
        return NULL;
    default:
        return "an unknown kind of message";
    }
}

/* ---- reading ---- */

const char *msp_network_wire_read(const struct msp_network_wire_limits *limits, bool is_inner,
                                  const void *at, size_t header_bytes, size_t payload_bytes,
                                  struct msp_network_header *header_p)
{
    const size_t first = is_inner ? sizeof header_p->token : 0;

    if ((header_bytes < MSP_NETWORK_HEADER_MIN_BYTES - first) ||
        (header_bytes > sizeof *header_p - first)) {
        return "a header of another size";
    }
    memset(header_p, 0, sizeof *header_p);
    memcpy((char *)header_p + first, at, header_bytes);
    if ((header_p->pe < 0) || (header_p->pe >= limits->pe_count)) {
        return "the number of no PE";
    }
    if ((header_p->context >= MSP_CONTEXT_MAX) || (header_p->ack_context >= MSP_CONTEXT_MAX) ||
        (header_p->segment >= MSP_SEGMENT_MAX)) {
        return "the number of no context or segment";
    }
    if (((payload_bytes != 0) && !is_of(HAVE_DATA, header_p)) ||
        ((header_p->record == 0) && is_of(ANSWERED, header_p)) ||
        (is_inner && (header_p->kind == MSP_NETWORK_AGGREGATE))) {
        return "parts that do not go together";
    }
    return check_kind(limits, header_p, payload_bytes);
}

const char *msp_network_wire_next(const struct msp_network_wire_limits *limits, const char *items,
                                  size_t items_bytes, size_t *at_p,
                                  struct msp_network_wire_item *item_p)
{
    const size_t left_bytes = items_bytes - *at_p;
    struct msp_network_aggregate_item item;
    const char *header_at = items + *at_p + sizeof item;
    size_t bytes;

    if (left_bytes < sizeof item) {
        return "less than a message at the end of several";
    }
    memcpy(&item, items + *at_p, sizeof item);
    bytes = msp_network_aggregate_item_bytes(&item);
    if (bytes > left_bytes) {
        return "a message longer than the several that it is among";
    }
    item_p->payload       = header_at + item.header_bytes;
    item_p->payload_bytes = item.payload_bytes;
    *at_p += bytes;
    return msp_network_wire_read(limits, true, header_at, item.header_bytes, item.payload_bytes,
                                 &item_p->header);
}
