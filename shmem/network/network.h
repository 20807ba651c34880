/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_NETWORK_NETWORK_H
#define MEMSPAN_SHMEM_NETWORK_NETWORK_H

/* The network transport: PEs of other hosts through a driver (driver.h), which puts, gets and sends
 * messages.
 *
 *     network.c     the transport's table; atomics, signals, strided copies; start and end
 *     transfer.c    put and get: by the driver, by messages
 *     stream.c      contexts: outstanding operations, and order
 *     peer.c        channels, the peers that they have contacted, keys of the peers' memory
 *     card.c        addresses of peers, exchanged by the bootstrap
 *     wire.c        checks of arriving messages
 *     message.c     messages, which the owner of the memory executes, and its replies
 *     record.c      records of requests without a reply
 *     worker.c      the thread for messages that may block
 *     aggregate.c   sending them: small ones together
 *     progress.c    polling of the main queue, by waiting callers or the thread
 *     region.c      memory of this PE that is registered, on demand
 *     plugin.c      loading the driver that transport/choice.c names
 *
 * Host memory that is registered is put to and got from by the driver. Messages do all the rest:
 * atomics of all kinds, so that those on one word take one path, the owner's processor; memory that
 * the network does not reach; puts and gets that are so small that a message and its reply are
 * faster. First contact with a PE fetches its card from the bootstrap; first contact with a chunk
 * of its memory fetches the key from the owner. So a PE keeps records only of PEs that it has
 * contacted. */

#include "shmem/network/driver.h"
#include "shmem/transport/transport.h"
#include <shmemx.h>

/* Its name is that of the driver, once it is open. */
extern struct msp_transport msp_transport_network MSP_HIDDEN;

/* The functions that the driver may call. */
extern const struct msp_network_services msp_network_services MSP_HIDDEN;

struct msp_network {
    const struct msp_network_driver *driver; /* NULL: closed */
    struct msp_network_limits limits;
    struct msp_network_channel *main;
    size_t payload_max_bytes; /* of a message */
    uint64_t token;           /* of messages to this PE (record.h) */
    atomic_bool is_closing;   /* peers may end */
};
extern struct msp_network msp_network MSP_HIDDEN;

/* ---- cards (card.c) ---- */

/* The card that others fetch after the bootstrap's next barrier. */
memspan_status_t msp_network_card_put(const char *driver, uint64_t token, const void *address,
                                      size_t address_bytes);

/* The token and the address of that PE: capacity, then size in *address_bytes_p.
 * MEMSPAN_ERR_CONFLICT, with the names of both PEs, where it runs another version or driver. Any
 * thread; may block. */
memspan_status_t msp_network_card_get(int pe, uint64_t *token_p, void *address,
                                      size_t *address_bytes_p);

/* The host of a PE that has been contacted; "another host" otherwise. */
const char *msp_network_card_host(int pe);

/* " on HOST" for a PE of another host, else "". May block. */
const char *msp_network_card_where(int pe, char *text, size_t text_bytes);

void msp_network_card_close(void);

/* The counters (counters.c); zeros where the job has one host. */
void msp_network_measure(shmemx_network_info_t *info);

#endif /* MEMSPAN_SHMEM_NETWORK_NETWORK_H */
