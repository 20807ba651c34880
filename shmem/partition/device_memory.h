/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_PARTITION_DEVICE_MEMORY_H
#define MEMSPAN_SHMEM_PARTITION_DEVICE_MEMORY_H

/* Memory of one kind of a device, from libmemspan. */

#include <memspan/device.h>
#include <memspan/space.h>
#include <stdbool.h>

enum { MSP_DEVICE_MEMORY_ALIGN_BYTES = 4096 };

/* The device's resource of that kind, by itself. MEMSPAN_ERR_NOT_FOUND: it has none. */
memspan_status_t msp_device_memory_space(int device, memspan_kind_t kind, memspan_space_h *space_p);

/* @p size_bytes, freed with memspan_free(); NULL: there is none, or none left. @p is_shared: other
 * processes are to open it. */
void *msp_device_memory_alloc(memspan_space_h space, size_t size_bytes, bool is_shared);

/* Whose memory it is; -1: unknown. */
int msp_device_memory_home(const void *address);

#endif /* MEMSPAN_SHMEM_PARTITION_DEVICE_MEMORY_H */
