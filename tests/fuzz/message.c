/* SPDX-License-Identifier: BSD-3-Clause */
/* shmem/network/record.h: what arrives from a network. The first byte says how much of the input is
 * the header, the rest is the payload, both in memory that ends where they do. What is accepted
 * keeps what handlers rely on. */

#include "fuzz.h"
#include "shmem/network/record.h"
#include "shmem/network/stream.h"
#include "shmem/transport/segment.h"

static const struct msp_network_wire_limits limits = {.pe_count = 4, .answer_max_bytes = 8 << 10};

static char *exact(const uint8_t *data, size_t size)
{
    char *copy = malloc((size > 0) ? size : 1);

    HOLDS(copy != NULL);
    if (size > 0) {
        memcpy(copy, data, size);
    }
    return copy;
}

static void check_accepted(const struct msp_network_header *header, size_t payload_bytes)
{
    HOLDS((header->pe >= 0) && (header->pe < limits.pe_count));
    HOLDS((header->context < MSP_CONTEXT_MAX) && (header->ack_context < MSP_CONTEXT_MAX));
    HOLDS(header->segment < MSP_SEGMENT_MAX);
    HOLDS(header->kind <= MSP_NETWORK_PONG);
    if (header->kind == MSP_NETWORK_PUT) {
        HOLDS(header->signal_segment < MSP_SEGMENT_MAX);
        HOLDS((header->size_bytes == 0)
                  ? (payload_bytes == 0)
                  : (payload_bytes / header->size_bytes == header->more_blocks + 1));
    } else if (header->kind == MSP_NETWORK_GET) {
        HOLDS((header->more_blocks < limits.answer_max_bytes) &&
              ((header->more_blocks + 1) * header->size_bytes <= limits.answer_max_bytes));
    }
}

static void read_items(const char *items, size_t items_bytes)
{
    struct msp_network_wire_item item;
    size_t at = 0;
    size_t before;

    while (at < items_bytes) {
        before = at;
        if (msp_network_wire_next(&limits, items, items_bytes, &at, &item) != NULL) {
            return;
        }
        HOLDS((at > before) && (at <= items_bytes));
        HOLDS((item.payload >= items) &&
              (item.payload + item.payload_bytes <= items + items_bytes));
        HOLDS(item.header.kind != MSP_NETWORK_AGGREGATE);
        check_accepted(&item.header, item.payload_bytes);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t none;
    struct msp_network_header header;
    size_t header_bytes;
    char *head;
    char *payload;

    data         = (size == 0) ? &none : data;
    size         = (size == 0) ? 1 : size;
    header_bytes = (data[0] < size - 1) ? data[0] : size - 1;
    head         = exact(data + 1, header_bytes);
    payload      = exact(data + 1 + header_bytes, size - 1 - header_bytes);
    HOLDS(!msp_network_wire_is_ours(head, header_bytes, 1) || (header_bytes >= sizeof(uint64_t)));
    if (msp_network_wire_read(&limits, false, head, header_bytes, size - 1 - header_bytes,
                              &header) == NULL) {
        check_accepted(&header, size - 1 - header_bytes);
    }
    read_items(payload, size - 1 - header_bytes);
    free(head);
    free(payload);
    return 0;
}
