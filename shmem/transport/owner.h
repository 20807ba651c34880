/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_TRANSPORT_OWNER_H
#define MEMSPAN_SHMEM_TRANSPORT_OWNER_H

/* Memory of PEs of this host that is not mapped here: its owner serves it. */

#include "shmem/transport/transport.h"

extern const struct msp_transport msp_transport_owner MSP_HIDDEN;

/* This PE serves its copy of the segment from now on. The first one starts the service. */
memspan_status_t msp_owner_serve(int segment);
/* The opposite; no peer uses it. */
void msp_owner_retire(int segment);
/* Ends the service. All PEs of the host call, with nothing outstanding. */
void msp_owner_close(void);

/* The place where the PE with that local index has its driver's token of the segment for others
 * (driver_share.h); NULL: there is no such place. */
struct msp_driver_token *msp_owner_token(int local_index, const struct msp_segment *segment);

#endif /* MEMSPAN_SHMEM_TRANSPORT_OWNER_H */
