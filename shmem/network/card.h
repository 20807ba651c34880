/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_NETWORK_CARD_H
#define MEMSPAN_SHMEM_NETWORK_CARD_H

/* A PE's card: the address of its main queue, the token of messages to it, its host, and what must
 * be the same in all PEs: the driver and the version of Memspan. It is distributed at start, and
 * fetched at first contact. */

#include "shmem/error.h"
#include <stddef.h>
#include <stdint.h>

/* What others fetch after the bootstrap's next barrier. */
memspan_status_t msp_network_card_put(const char *driver, uint64_t token, const void *address,
                                      size_t address_bytes);

/* The token and the address of that PE: room, then size in *address_bytes_p. MEMSPAN_ERR_CONFLICT,
 * with the names of both PEs, where it runs another version or driver. Any thread; may block. */
memspan_status_t msp_network_card_get(int pe, uint64_t *token_p, void *address,
                                      size_t *address_bytes_p);

/* The host of a PE that has been contacted; "another host" otherwise. */
const char *msp_network_card_host(int pe);

/* " on HOST" for a PE of another host, else "". May block. */
const char *msp_network_card_where(int pe, char *text, size_t text_bytes);

void msp_network_card_close(void);

#endif /* MEMSPAN_SHMEM_NETWORK_CARD_H */
