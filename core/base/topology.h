/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_BASE_TOPOLOGY_H
#define MEMSPAN_CORE_BASE_TOPOLOGY_H

/* The machine's NUMA nodes and OMP_PLACES, from hwloc. Nothing here runs until something needs it:
 * a program that only calls omp_alloc never pays for a topology walk. */

#include <memspan/device.h>
#include <stdbool.h>

/* Most nodes that are kept. Linux has at most 1024. */
#define MEMSPAN_NODES_MAX 1024

/* Number of nodes with memory, and the nodes in hwloc's logical order. Loads the topology once;
 * on failure the machine is one DRAM node, and the log says why. */
int memspan_topology_node_count(void);
const memspan_node_info_t *memspan_topology_node(int index);

/* True when every node with memory also has processors, answered from two small files without
 * loading the topology: then no memory of the machine is a device's. */
bool memspan_topology_is_plain(void);

/* Orders a node list for a base hint (enum memspan_base_hint): fills @p nodes with operating-system
 * numbers of the nodes that serve it, best first, GPU-owned nodes never among them; returns how
 * many. *alias_p: true when the machine cannot tell the hint from the default (one tier), and then
 * @p note says so in one sentence. */
enum memspan_base_hint {
    MEMSPAN_HINT_DEFAULT,
    MEMSPAN_HINT_LARGE_CAP,
    MEMSPAN_HINT_CONST,
    MEMSPAN_HINT_HIGH_BW,
    MEMSPAN_HINT_LOW_LAT
};
int memspan_topology_nodes_for(enum memspan_base_hint hint, int *nodes, int capacity, bool *alias_p,
                               char *note, size_t note_size);

/* The operating-system number of the default-usable node nearest to place @p place of OMP_PLACES
 * (threads, cores, sockets, numa_domains, ll_caches, abstract names with a count, explicit lists
 * with strides). Unset OMP_PLACES means cores. MEMSPAN_ERR_NOT_FOUND beyond the last place, with
 * the number of places in the message. MEMSPAN_ERR_CONFIG when OMP_PLACES is malformed. */
memspan_status_t memspan_topology_node_of_place(int place, int *node_p);

/* The node nearest to the calling thread now, by the operating system; -1 if unknown. No topology.
 */
int memspan_topology_node_here(void);

/* Bind [address, address + size) to @p nodes (operating-system numbers). strict: only there. Pages
 * that exist are moved. MEMSPAN_ERR_DRIVER with the system's words otherwise. */
memspan_status_t memspan_topology_bind(void *address, size_t size_bytes, const int *nodes,
                                       size_t node_count, bool interleave, bool strict);

/* The node that holds the page at @p address now; -1 when it has not been touched, or unknown. */
int memspan_topology_node_of_page(const void *address);

/* Tell the topology that the device at @p pci_address exists, so that its memory node, if it shows
 * as one, is classified as the device's own. Called by the core as backends find devices. */
void memspan_topology_note_device(const char *pci_address, int numa_node);

/* For tests: forget the topology, so that it is loaded again (HWLOC_XMLFILE, HWLOC_SYNTHETIC). */
void memspan_topology_reload(void);

#endif /* MEMSPAN_CORE_BASE_TOPOLOGY_H */
