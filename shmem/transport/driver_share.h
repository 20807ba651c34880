/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_TRANSPORT_DRIVER_SHARE_H
#define MEMSPAN_SHMEM_TRANSPORT_DRIVER_SHARE_H

/* Owner-served memory of devices whose driver opens it for other processes: their puts and gets are
 * copies of the driver's, without the owner. Atomics remain the owner's. */

#include "shmem/transport/transport.h"
#include <memspan/share.h>

/* In the owner's slot of the control memory, by segment. */
struct msp_driver_token {
    atomic_uint size_bytes; /* 0: it shares nothing */
    char bytes[MEMSPAN_SHARE_TOKEN_MAX_BYTES];
};

extern const struct msp_transport msp_transport_driver_share MSP_HIDDEN;

/* Peers may open this PE's segment, if the driver of @p device can share it. Before they have its
 * token.
 */
void msp_driver_share_offer(int segment, int device);

/* Where memspan_copy() reaches the target, opened at first use; NULL: nowhere. */
char *msp_driver_share_address(const struct msp_target *target);

/* Close the memory of peers that this PE has opened: one segment's, before any of them retires it;
 * all. */
void msp_driver_share_forget(int segment);
void msp_driver_share_close(void);

#endif /* MEMSPAN_SHMEM_TRANSPORT_DRIVER_SHARE_H */
