/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_TOPOLOGY_MEMORY_DEVICE_H
#define MEMSPAN_CORE_TOPOLOGY_MEMORY_DEVICE_H

/* Memory that no space has: DAX devices, NVDIMMs, CXL regions, as the kernel's buses show them, and
 * why each is used or not. Nothing is kept: a device may come, go or change its mode. */

#include <memspan/device.h>
#include <stdbool.h>

/* The devices of the tree below @p root ("": this machine's), in the order of their buses and
 * names. Fills *info_p with device @p wanted; returns how many there are. */
int msp_memory_device_scan(const char *root, int wanted, memspan_memory_device_info_t *info_p);

/* The same of the topology that an XML file describes, whose operating-system devices hwloc has.
 * topology.c. */
int msp_topology_memory_devices(int wanted, memspan_memory_device_info_t *info_p);

#endif /* MEMSPAN_CORE_TOPOLOGY_MEMORY_DEVICE_H */
