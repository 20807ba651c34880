/* SPDX-License-Identifier: BSD-3-Clause */
/* judge_message.c: which messages may pass each other.
 *
 * Where the driver is not ordered, shmem_fence() waits until the operations before it are
 * acknowledged. So no shmem_fence() is between those under way: they may take effect in any order,
 * as replies may. Two kinds of messages keep their place: those that no acknowledgement follows,
 * for which shmem_fence() does not wait, and those of the network itself (keys, staging, pings). */

#include "shmem/network/stream.h"
#include "tests/shmem/network/judge.h"
#include <string.h>

enum { ITEMS_MAX = MSP_NETWORK_AGGREGATE_BYTES / MSP_NETWORK_HEADER_MIN_BYTES };

static struct msp_network_header header_of(const void *at, size_t header_bytes, size_t skipped)
{
    struct msp_network_header header = {.kind = 0};

    memcpy((char *)&header + skipped, at, header_bytes);
    return header;
}

static void loosen(struct held *held, const struct msp_network_header *header)
{
    held->passes =
        held->passes && ((header->kind <= MSP_NETWORK_ATOMIC) ||
                         (header->kind == MSP_NETWORK_ACK) || (header->kind == MSP_NETWORK_REPLY));
    held->is_passed = held->passes && held->is_passed && (header->is_unanswered == 0);
}

/* The places of the items of an aggregate; how many. */
static unsigned find_items(const struct held *held, size_t places[ITEMS_MAX + 1])
{
    struct msp_network_aggregate_item item;
    unsigned count = 0;
    size_t at;

    for (at = 0; at < held->size_bytes; at += msp_network_aggregate_item_bytes(&item)) {
        JUDGE(count < ITEMS_MAX, "an aggregate of %zu bytes", held->size_bytes);
        memcpy(&item, (const char *)held->local + at, sizeof item);
        places[count++] = at;
    }
    places[count] = at;
    return count;
}

static void shuffle_items(struct held *held, const size_t *places, unsigned count)
{
    char *all = malloc(held->size_bytes);
    char *to  = held->local;
    unsigned order[ITEMS_MAX];
    unsigned i;

    JUDGE(all != NULL, "no memory");
    memcpy(all, held->local, held->size_bytes);
    for (i = 0; i < count; i++) {
        const unsigned other = (unsigned)judge_draw(held->queue, i + 1);

        order[i]     = i;
        order[i]     = order[other];
        order[other] = i;
    }
    for (i = 0; i < count; i++) {
        const size_t bytes = places[order[i] + 1] - places[order[i]];

        memcpy(to, all + places[order[i]], bytes);
        to += bytes;
    }
    free(all);
}

static void loosen_items(struct held *held)
{
    size_t places[ITEMS_MAX + 1];
    const unsigned count = find_items(held, places);
    unsigned i;

    for (i = 0; i < count; i++) {
        const char *at = (const char *)held->local + places[i];
        struct msp_network_aggregate_item item;
        struct msp_network_header header;

        memcpy(&item, at, sizeof item);
        header = header_of(at + sizeof item, item.header_bytes, sizeof header.token);
        loosen(held, &header);
    }
    if (held->passes) {
        shuffle_items(held, places, count);
    }
}

void judge_message_loosen(struct held *held)
{
    const struct msp_network_header header = header_of(held->header, held->header_bytes, 0);

    held->passes    = true;
    held->is_passed = true;
    if (header.kind == MSP_NETWORK_AGGREGATE) {
        loosen_items(held);
    } else {
        loosen(held, &header);
    }
}

bool judge_message_is_atomic(const struct held *held)
{
    return (held->kind == SEND) &&
           (header_of(held->header, held->header_bytes, 0).kind == MSP_NETWORK_ATOMIC);
}
