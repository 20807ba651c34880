/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_TRANSPORT_OWNER_H
#define MEMSPAN_SHMEM_TRANSPORT_OWNER_H

#include "shmem/transport/transport.h"
#include <memspan/share.h>

/* Owner-served memory of devices whose driver opens it for other processes: their puts and gets are
 * copies of the driver's, without the owner. Atomics remain the owner's. */

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

/* ---- served by the owner ---- */

/* Memory of PEs of this host that is not mapped here: its owner serves it. */

extern const struct msp_transport msp_transport_owner MSP_HIDDEN;

/* This PE serves its copy of the segment from now on. The first one starts the service. */
memspan_status_t msp_owner_serve(int segment);
/* The opposite; no peer uses it. */
void msp_owner_retire(int segment);
/* Ends the service. All PEs of the host call, with nothing outstanding. */
void msp_owner_close(void);

/* The place where the PE with that local index has its driver's token of the segment for others
 * (above); NULL: there is no such place. */
struct msp_driver_token *msp_owner_token(int local_index, const struct msp_segment *segment);

#endif /* MEMSPAN_SHMEM_TRANSPORT_OWNER_H */
