/* SPDX-License-Identifier: BSD-3-Clause */
/* capability.c: one row for each bit of a device's capabilities. */

#include "cmd/memquery/model/model.h"
#include <memspan/device.h>

const struct capability capabilities[] = {
    {"share_addresses", MEMSPAN_CAN_SHARE_ADDRESSES},
    {"access_concurrent", MEMSPAN_CAN_ACCESS_CONCURRENT},
    {"access_pageable", MEMSPAN_CAN_ACCESS_PAGEABLE},
    {"host_atomics", MEMSPAN_CAN_HOST_ATOMICS},
    {"import", MEMSPAN_CAN_IMPORT},
    {"prefetch", MEMSPAN_CAN_PREFETCH},
    {"ipc", MEMSPAN_CAN_IPC},
    {"dmabuf", MEMSPAN_CAN_DMABUF},
    {"rdma", MEMSPAN_CAN_RDMA},
    {"kernels", MEMSPAN_CAN_KERNELS},
    {"unified_physical", MEMSPAN_CAN_UNIFIED_PHYSICAL},
};
const size_t capability_count = sizeof(capabilities) / sizeof(capabilities[0]);
