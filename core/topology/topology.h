/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_TOPOLOGY_TOPOLOGY_H
#define MEMSPAN_CORE_TOPOLOGY_TOPOLOGY_H

/* The machine's NUMA nodes and OMP_PLACES, from hwloc, and the placement of pages, by system calls.
 * Nothing here runs until something needs it: a program that only calls omp_alloc never pays for a
 * topology walk.
 *
 * Node numbers are the operating system's everywhere but in msp_numa_node(), whose index
 * counts nodes with memory in hwloc's logical order. Every function may run on any thread. */

#include <memspan/device.h>
#include <stdbool.h>

/* Most nodes that are kept. Linux has at most 1024. */
#define MSP_NUMA_NODES_MAX 1024

/* --- The machine: these load the topology, once. */

/* Number of nodes with memory, and the nodes in hwloc's logical order. On failure the machine is
 * one DRAM node, and the log has the reason. A node's record never changes and stays valid; its
 * free_bytes is that of the load, see msp_numa_node_free(). NULL beyond the last. */
int msp_numa_node_count(void);
const memspan_numa_node_info_t *msp_numa_node(int index);

/* Orders a node list for a base hint (enum msp_base_hint): fills @p nodes with operating-system
 * numbers of the nodes that serve it, best first, GPU-owned nodes never among them; returns how
 * many there are, of which at most @p capacity were written. *alias_p: true when the best nodes for
 * the hint are those that the default takes first; then the list is the default's, slower nodes at
 * its end included, and @p note says so in one sentence. Else the note describes the nodes. high_bw
 * and low_lat list the best tier alone, so that a fallback is a decision; default and large_cap
 * list all that may serve. */
enum msp_base_hint {
    MSP_HINT_DEFAULT,
    MSP_HINT_LARGE_CAP,
    MSP_HINT_CONST,
    MSP_HINT_HIGH_BW,
    MSP_HINT_LOW_LAT
};
int msp_numa_nodes_for(enum msp_base_hint hint, int *nodes, int capacity, bool *alias_p, char *note,
                       size_t note_size);

/* The operating-system number of the default-usable node nearest to place @p place of OMP_PLACES
 * (threads, cores, sockets, numa_domains, ll_caches, abstract names with a count, explicit lists
 * with strides). Unset OMP_PLACES means cores. MEMSPAN_ERR_NOT_FOUND beyond the last place, with
 * the number of places in the message. MEMSPAN_ERR_CONFIG when OMP_PLACES is malformed. */
memspan_status_t msp_numa_node_of_place(int place, int *node_p);

/* Number of places of OMP_PLACES; 0 when it is malformed (with an error record). */
int msp_topology_place_count(void);

/* True when the topology is not this machine's (HWLOC_XMLFILE, HWLOC_SYNTHETIC, HWLOC_FSROOT):
 * then nodes can be talked about, but memory cannot be bound to them. Loads the topology only when
 * one of these variables is set. */
bool msp_topology_is_foreign(void);

/* --- Queries that do not load the topology. */

/* True when every node with memory also has processors, answered from two small files: then no
 * memory of the machine is a device's. False where a foreign topology has been requested. */
bool msp_topology_is_plain(void);

/* True when the operating system has memory on that node. */
bool msp_numa_node_exists(int node);

/* How many nodes of the operating system have memory (at least 1). */
int msp_numa_memory_nodes(void);

/* The nodes of the operating system that have memory, "0-1,4", for messages. */
const char *msp_topology_memory_list(void);

/* Memory of the node that is free now, page cache that would be given up counted in;
 * MEMSPAN_UNKNOWN without a source. */
uint64_t msp_numa_node_free(int node);

/* The node nearest to the calling thread now, by the operating system; -1 if unknown. */
int msp_numa_node_here(void);

/* Of @p nodes the one nearest to node @p from by the firmware's distances; the first of several;
 * -1 when the list is empty. */
int msp_numa_nearest(int from, const int *nodes, size_t node_count);

/* Put @p nodes into the order of their distances from node @p from, nearest first; those that are
 * as far keep their order. */
void msp_numa_sort_by_distance(int from, int *nodes, size_t node_count);

/* The nodes with processors, ascending, at most @p capacity of them; returns how many. 0: unknown.
 */
int msp_numa_processor_nodes(int *nodes, int capacity);

/* Bind [address, address + size), whole pages, to @p nodes. strict: only there. Pages that exist
 * are moved. Errors: MEMSPAN_ERR_INVALID, MEMSPAN_ERR_NOT_FOUND (no such node with memory),
 * MEMSPAN_ERR_PERMISSION (denied), MEMSPAN_ERR_UNSUPPORTED (no such call, or a foreign topology),
 * MEMSPAN_ERR_NO_MEMORY (strict, and pages could not be moved), MEMSPAN_ERR_DRIVER with the
 * system's words otherwise. */
memspan_status_t msp_topology_bind(void *address, size_t size_bytes, const int *nodes,
                                   size_t node_count, bool interleave, bool strict);

/* Prefer @p node for the pages of [address, address + size), whole pages, which then have a mapping
 * of their own: neighbours differ in @p odd. @p move: those that exist are moved, as far as they
 * can be. False: the kernel refuses. No error is recorded. */
bool msp_topology_prefer(void *address, size_t size_bytes, int node, bool odd, bool move);

/* Keep the pages where their first touch puts them: no NUMA balancing. Best effort. */
void msp_topology_hold(void *address, size_t size_bytes);

/* The node that holds the page at @p address now; -1 when it has not been touched, or unknown. */
int msp_numa_node_of_page(const void *address);

/* The same of many addresses; below 0 where it is unknown. */
void msp_numa_nodes_of_pages(const void *const *addresses, size_t count, int *nodes);

/* How many of the pages in [address, address + size), whole pages, are on other nodes than @p node
 * now. Pages that are unknown, or have not been touched, are not among them. */
size_t msp_numa_pages_elsewhere(const void *address, size_t size_bytes, int node);

/* Tell the topology that the device at @p pci_address exists, so that its memory node, if it shows
 * as one, is classified as the device's own. @p numa_node: the node its driver names, which is
 * taken only when it has no processors; -1 for none. Called by the core as backends find devices,
 * before or after the topology is loaded. */
void msp_topology_note_device(const char *pci_address, int numa_node);

/* For tests: forget the topology and the notes, so that it is loaded again (HWLOC_XMLFILE,
 * HWLOC_SYNTHETIC). Not thread-safe. */
void msp_topology_reload(void);

#endif /* MEMSPAN_CORE_TOPOLOGY_TOPOLOGY_H */
