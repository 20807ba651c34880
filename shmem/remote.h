/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_REMOTE_H
#define MEMSPAN_SHMEM_REMOTE_H

/* Memory that other PEs cannot map: its owner serves it (remote.c). Addresses are this PE's own
 * symmetric ones; PEs are the world's. All calls are fatal when they cannot be done. */

#include "shmem/atomic.h"

void memspan_remote_put(const struct memspan_segment *segment,
                        const struct memspan_context *context, void *dest, const void *source,
                        size_t size_bytes, int pe);
void memspan_remote_get(const struct memspan_segment *segment,
                        const struct memspan_context *context, void *dest, const void *source,
                        size_t size_bytes, int pe);
/* The word's old bits. */
uint64_t memspan_remote_atomic(const struct memspan_segment *segment,
                               const struct memspan_context *context, enum memspan_atomic operation,
                               const void *dest, size_t size_bytes, uint64_t value,
                               uint64_t condition, int pe);

/* What was started on the context is ordered, or complete. */
void memspan_remote_order(const struct memspan_context *context, bool completes);

#endif /* MEMSPAN_SHMEM_REMOTE_H */
