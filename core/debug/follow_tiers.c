/* SPDX-License-Identifier: BSD-3-Clause */
/* follow_tiers.c: nodes whose cost differs by a tenth at most are one tier. A byte costs its
 * transfer at the node's bandwidth, and the node's latency shared by the lines in flight. */

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/debug/follow.h"
#include "core/topology/topology.h"
#include <stdio.h>
#include <string.h>

static const double lines_in_flight = 64; /* of 64 bytes: some processors' */
static const double same_tier       = 1.1;

/* GB/s and ns of a kind of which the firmware says nothing. */
static const struct {
    double bandwidth;
    double latency_ns;
} usual[] = {
    [MEMSPAN_NUMA_NODE_DRAM] = {200, 100}, [MEMSPAN_NUMA_NODE_HBM] = {800, 130},
    [MEMSPAN_NUMA_NODE_PMEM] = {10, 350},  [MEMSPAN_NUMA_NODE_CXL] = {40, 250},
    [MEMSPAN_NUMA_NODE_GPU] = {40, 400},   [MEMSPAN_NUMA_NODE_OTHER] = {40, 250},
};

static double cost_of(const memspan_numa_node_info_t *node)
{
    double bandwidth = usual[node->kind].bandwidth;
    double latency   = usual[node->kind].latency_ns;

    if ((node->bandwidth_mib_per_s != MEMSPAN_UNKNOWN) && (node->bandwidth_mib_per_s > 0)) {
        bandwidth = (double)node->bandwidth_mib_per_s * (1 << 20) / 1e9;
    }
    if (node->latency_ns != MEMSPAN_UNKNOWN) {
        latency = (double)node->latency_ns;
    }
    return 1 / bandwidth + latency / (64 * lines_in_flight);
}

static void add_node(struct msp_follow_tiers *tiers, const memspan_numa_node_info_t *node)
{
    double cost = cost_of(node);
    int t       = 0;
    struct msp_follow_tier *tier;

    while ((t < tiers->count) && (tiers->tier[t].ns_per_byte * same_tier < cost)) {
        t++;
    }
    if ((t == tiers->count) || (tiers->tier[t].ns_per_byte > cost * same_tier)) {
        if (tiers->count == MSP_POLICY_TIERS_MAX) {
            return;
        }
        memmove(&tiers->tier[t + 1], &tiers->tier[t],
                (size_t)(tiers->count - t) * sizeof(tiers->tier[0]));
        tiers->tier[t] = (struct msp_follow_tier){.ns_per_byte = cost};
        tiers->count++;
    }
    tier = &tiers->tier[t];
    if (tier->node_count < MSP_FOLLOW_NODES_MAX) {
        tier->nodes[tier->node_count++] = node->os_index;
        tier->spare_bytes += node->capacity_bytes / 16;
        (void)snprintf(tier->name, sizeof(tier->name), "%s (node %d%s)",
                       memspan_numa_node_kind_name(node->kind), tier->nodes[0],
                       (tier->node_count > 1) ? " and others" : "");
    }
}

void msp_follow_tiers_find(struct msp_follow_tiers *tiers_p)
{
    *tiers_p = (struct msp_follow_tiers){0};
    for (int i = 0; i < msp_numa_node_count(); i++) {
        const memspan_numa_node_info_t *node = msp_numa_node(i);

        if (node->kind != MEMSPAN_NUMA_NODE_GPU) {
            add_node(tiers_p, node);
        }
    }
}

/* ---- the kernel ---- */

enum { PATH_BYTES = 512, KDAMONDS_MOST = 16 };

/* A kernel thread of DAMON moves hot or cold memory. */
static bool damon_moves(const char *root)
{
    static const char state[]  = "%s/sys/kernel/mm/damon/admin/kdamonds/%d/state";
    static const char action[] = "%s/sys/kernel/mm/damon/admin/kdamonds/%d/contexts/%d/schemes/"
                                 "%d/action";
    char text[32];

    for (int k = 0; k < KDAMONDS_MOST; k++) {
        char path[PATH_BYTES];

        (void)snprintf(path, sizeof(path), state, root, k);
        if (msp_file_read(path, text, sizeof(text)) <= 0) {
            return false;
        }
        for (int s = 0; (strncmp(text, "on", 2) == 0) && (s < KDAMONDS_MOST); s++) {
            char what[32];

            (void)snprintf(path, sizeof(path), action, root, k, 0, s);
            if ((msp_file_read(path, what, sizeof(what)) > 0) &&
                (strncmp(what, "migrate_", 8) == 0)) {
                return true;
            }
        }
    }
    return false;
}

void msp_follow_tiers_kernel(const char *root, char *text, size_t size_bytes)
{
    enum { TIERING = 2 };
    char path[PATH_BYTES];
    uint64_t mode;

    text[0] = '\0';
    (void)snprintf(path, sizeof(path), "%s/proc/sys/kernel/numa_balancing", root);
    if (msp_file_number(path, &mode) && (mode & TIERING)) {
        (void)snprintf(text, size_bytes, "kernel.numa_balancing is %llu (memory tiering)",
                       (unsigned long long)mode);
    } else if (damon_moves(root)) {
        (void)snprintf(text, size_bytes, "DAMON has a scheme migrate_hot or migrate_cold");
    }
}
