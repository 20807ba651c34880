/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_TRANSPORT_OWNER_H
#define MEMSPAN_SHMEM_TRANSPORT_OWNER_H

/* Memory that other PEs cannot map: its owner serves it (remote.c). Addresses are this PE's own
 * symmetric ones; PEs are the world's. All calls are fatal when they cannot be done. */

#include "shmem/transport/atomic.h"

void msp_remote_put(const char *call, const struct msp_segment *segment,
                    const struct msp_context *context, void *dest, const void *source,
                    size_t size_bytes, int pe);
void msp_remote_get(const char *call, const struct msp_segment *segment,
                    const struct msp_context *context, void *dest, const void *source,
                    size_t size_bytes, int pe);
/* The word's old bits. */
uint64_t msp_remote_atomic(const char *call, const struct msp_segment *segment,
                           const struct msp_context *context, enum msp_atomic operation,
                           const void *dest, size_t size_bytes, uint64_t value, uint64_t condition,
                           int pe);

/* The word of this PE's own memory, which the host cannot load; false when @p address is of no such
 * memory. For tests and waits: others change it through this PE's service. */
bool msp_remote_load(const void *address, size_t size_bytes, uint64_t *value_p);

/* What was started on the context is ordered, or complete. */
void msp_remote_order(const struct msp_context *context, bool completes);

/* Memory of this PE's becomes reachable for others: @p number is the same in all PEs and in use
 * nowhere else, 0 .. MSP_REMOTE_MAX - 1. Starts the service when it is the first. To the
 * segment's remote member. */
enum { MSP_REMOTE_MAX = 256 };
memspan_status_t msp_remote_serve(int segment, unsigned number);
/* Others may open it through the driver of @p device, if that has a way; before they know of it. */
void msp_remote_offer(int segment, int device);
/* Close what this PE has opened of others; all have, before anybody retires theirs. */
void msp_remote_forget(int segment);
/* The opposite; nobody may be using it. */
void msp_remote_retire(int segment);
/* Ends the service. All PEs of the node call, with nothing under way. */
void msp_remote_close(void);

#endif /* MEMSPAN_SHMEM_TRANSPORT_OWNER_H */
