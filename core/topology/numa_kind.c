/* SPDX-License-Identifier: BSD-3-Clause */
/* numa_kind.c: the sort of memory of a NUMA node.
 *
 * No source states it. In this order count: the subtype of hwloc (GPUMemory, HBM, NVM, CXL-...),
 * the DAX device that a node was made of, and, for a node without processors, its speed by the
 * firmware's table (HMAT) against the nodes that have some. */

#include "core/topology/numa_kind.h"
#include "core/base/file.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool has_prefix(const char *text, const char *prefix)
{
    return (text != NULL) && (strncasecmp(text, prefix, strlen(prefix)) == 0);
}

/* The kind by name, or OTHER. */
static memspan_numa_node_kind_t kind_of_name(const char *name)
{
    static const struct {
        const char *prefix;
        memspan_numa_node_kind_t kind;
    } names[] = {
        {"GPU", MEMSPAN_NUMA_NODE_GPU},    {"HBM", MEMSPAN_NUMA_NODE_HBM},
        {"MCDRAM", MEMSPAN_NUMA_NODE_HBM}, {"NVM", MEMSPAN_NUMA_NODE_PMEM},
        {"PMEM", MEMSPAN_NUMA_NODE_PMEM},  {"CXL-NVM", MEMSPAN_NUMA_NODE_PMEM},
        {"CXL", MEMSPAN_NUMA_NODE_CXL},    {"DRAM", MEMSPAN_NUMA_NODE_DRAM},
    };
    size_t i;

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (has_prefix(name, names[i].prefix)) {
            return names[i].kind;
        }
    }
    return MEMSPAN_NUMA_NODE_OTHER;
}

static memspan_numa_node_kind_t classify(hwloc_obj_t node, bool processors)
{
    const char *owner             = hwloc_obj_get_info_by_name(node, "PCIBusID");
    const char *dax_type          = hwloc_obj_get_info_by_name(node, "DAXType");
    memspan_numa_node_kind_t kind = kind_of_name(node->subtype);

    if (kind == MEMSPAN_NUMA_NODE_OTHER) {
        kind = kind_of_name(dax_type);
    }
    if ((kind == MEMSPAN_NUMA_NODE_OTHER) && processors) {
        kind = MEMSPAN_NUMA_NODE_DRAM;
    }
    return ((owner != NULL) && !processors) ? MEMSPAN_NUMA_NODE_GPU : kind;
}

/* True when no processor calls this node its own. hwloc gives such a node the processors that are
 * nearest to it, so that its set is not empty. */
static bool is_memory_only(hwloc_topology_t topology, hwloc_obj_t node, bool foreign)
{
    char path[64];
    char text[16];
    hwloc_obj_t other = NULL;

    snprintf(path, sizeof(path), "/sys/devices/system/node/node%u/cpulist", node->os_index);
    if (!foreign && (msp_file_read(path, text, sizeof(text)) >= 0)) {
        return (text[0] == '\n') || (text[0] == '\0');
    }
    if (hwloc_bitmap_iszero(node->cpuset)) {
        return true;
    }
    /* Each processor has one node: of several that cover it, the smallest, then the first. */
    while ((other = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, other)) != NULL) {
        if ((other == node) || hwloc_bitmap_iszero(other->cpuset) ||
            !hwloc_bitmap_isincluded(other->cpuset, node->cpuset)) {
            continue;
        }
        if (!hwloc_bitmap_isequal(other->cpuset, node->cpuset) ||
            (other->os_index < node->os_index)) {
            return true;
        }
    }
    return false;
}

static uint64_t read_attribute(hwloc_topology_t topology, hwloc_obj_t node,
                               hwloc_memattr_id_t attribute)
{
    struct hwloc_location initiator;
    hwloc_uint64_t value;

    return (hwloc_memattr_get_best_initiator(topology, attribute, node, 0, &initiator, &value) == 0)
               ? value
               : MEMSPAN_UNKNOWN;
}

/* A memory-side cache is between the processors and the node: in hwloc's tree, above it. */
static uint64_t read_side_cache(hwloc_obj_t node)
{
    uint64_t most = 0;
    hwloc_obj_t above;

    for (above = node->parent; (above != NULL) && (above->type == HWLOC_OBJ_MEMCACHE);
         above = above->parent) {
        most = (above->attr->cache.size > most) ? above->attr->cache.size : most;
    }
    return most;
}

static void list_processors(hwloc_obj_t node, memspan_numa_node_info_t *info)
{
    int length = hwloc_bitmap_list_snprintf(info->pus, sizeof(info->pus), node->cpuset);

    if (length >= (int)sizeof(info->pus)) {
        memcpy(info->pus + sizeof(info->pus) - sizeof("..."), "...", sizeof("..."));
    }
}

void msp_numa_node_read(hwloc_topology_t topology, hwloc_obj_t node, bool foreign,
                        memspan_numa_node_info_t *info_p)
{
    bool memory_only              = is_memory_only(topology, node, foreign);
    const char *owner             = hwloc_obj_get_info_by_name(node, "PCIBusID");
    memspan_numa_node_info_t info = {
        .struct_size         = sizeof(info),
        .os_index            = (int)node->os_index,
        .logical_index       = (int)node->logical_index,
        .kind                = classify(node, !memory_only),
        .capacity_bytes      = node->attr->numanode.local_memory,
        .free_bytes          = MEMSPAN_UNKNOWN,
        .bandwidth_mib_per_s = read_attribute(topology, node, HWLOC_MEMATTR_ID_BANDWIDTH),
        .latency_ns          = read_attribute(topology, node, HWLOC_MEMATTR_ID_LATENCY),
        .pu_count            = memory_only ? 0 : hwloc_bitmap_weight(node->cpuset),
        .side_cache_bytes    = read_side_cache(node),
    };

    if ((info.bandwidth_mib_per_s != MEMSPAN_UNKNOWN) || (info.latency_ns != MEMSPAN_UNKNOWN)) {
        snprintf(info.performance_source, sizeof(info.performance_source), "HMAT");
    }
    if (!foreign) {
        info.free_bytes = msp_numa_node_free(info.os_index);
    }
    list_processors(node, &info);
    if (info.kind == MEMSPAN_NUMA_NODE_GPU) {
        snprintf(info.owner, sizeof(info.owner), "%s", (owner == NULL) ? "unknown" : owner);
    }
    *info_p = info;
}
