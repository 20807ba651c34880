/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_NETWORK_TRANSFER_H
#define MEMSPAN_SHMEM_NETWORK_TRANSFER_H

/* Put and get: each takes the driver's path where its memory is registered, messages where they
 * are faster or nothing else reaches it. */

#include "shmem/network/stream.h"

enum { MSP_NETWORK_ANSWER_MAX_BYTES = 8 << 10 }; /* of a get by messages, each */

void msp_network_put(const struct msp_target *target, const void *source, size_t size_bytes,
                     unsigned flags);
void msp_network_get(const struct msp_target *target, void *dest, size_t size_bytes,
                     unsigned flags);

#endif /* MEMSPAN_SHMEM_NETWORK_TRANSFER_H */
