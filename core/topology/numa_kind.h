/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_TOPOLOGY_NUMA_KIND_H
#define MEMSPAN_CORE_TOPOLOGY_NUMA_KIND_H

/* Between the files of the topology: reading one node from hwloc, and comparing nodes. */

#include "core/topology/hwloc.h"
#include "core/topology/topology.h"

/* Fills everything but ranks for @p node; all nodes' kinds are settled by msp_numa_nodes_settle().
 * foreign: the topology is not this machine's, so that /sys does not describe it. */
void msp_numa_node_read(hwloc_topology_t topology, hwloc_obj_t node, bool foreign,
                        memspan_numa_node_info_t *info_p);

/* Classify nodes without processors that carry no name, by comparison with those that have some,
 * then rank all. */
void msp_numa_nodes_settle(memspan_numa_node_info_t *nodes, int count);

/* See msp_numa_nodes_for(). */
int msp_numa_nodes_order(const memspan_numa_node_info_t *all, int count, enum msp_base_hint hint,
                         int *nodes, int capacity, bool *alias_p, char *note, size_t note_size);

/* True when a variable names a topology other than this machine's. */
bool msp_topology_foreign_asked(void);

#endif /* MEMSPAN_CORE_TOPOLOGY_NUMA_KIND_H */
