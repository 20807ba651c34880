/* SPDX-License-Identifier: BSD-3-Clause */
/* numa_node.c: the public view of the machine's NUMA nodes. */

#include "core/base/error.h"
#include "core/topology/topology.h"

static const char *const kind_names[] = {"dram", "hbm", "pmem", "cxl", "gpu", "other"};

const char *memspan_numa_node_kind_name(memspan_numa_node_kind_t kind)
{
    return ((unsigned)kind < sizeof(kind_names) / sizeof(kind_names[0])) ? kind_names[kind]
                                                                         : "other";
}

int memspan_numa_node_count(void)
{
    return msp_numa_node_count();
}

memspan_status_t memspan_numa_node_describe(int index, memspan_numa_node_info_t *info_p)
{
    memspan_numa_node_info_t info;

    if ((info_p == NULL) || (index < 0) || (index >= msp_numa_node_count())) {
        return memspan_error(MEMSPAN_ERR_INVALID, "no node %d, or info_p is NULL", index);
    }
    info = *msp_numa_node(index);
    if (info.free_bytes != MEMSPAN_UNKNOWN) { /* of this machine: now, not when it was read */
        info.free_bytes = msp_numa_node_free(info.os_index);
    }
    return msp_struct_write(info_p, &info, sizeof(info));
}
