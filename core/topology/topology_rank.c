/* SPDX-License-Identifier: BSD-3-Clause */
/* topology_rank.c: the ranks of nodes for each use, always relative to the others of this machine.
 *
 * Values of the firmware count when every node of the host has one; else the kinds of memory have a
 * natural order. Values within a tenth of the best of their group are one tier: firmware tables
 * differ in the last digit between sockets, and node 0 always lacks the kernel's part. */

#include "core/topology/numa_kind.h"
#include <stdio.h>
#include <stdlib.h>

enum quality { BANDWIDTH, LATENCY, CAPACITY, USUAL };

/* Natural order of kinds, lower is better. HBM streams faster and answers a little later than DRAM.
 * USUAL: the source of default memory; HBM without processors last, because there is little of it
 * and programs request it by name. */
static int natural_rank(const memspan_numa_node_info_t *node, enum quality quality)
{
    static const int by_bandwidth[] = {
        [MEMSPAN_NUMA_NODE_HBM] = 0,   [MEMSPAN_NUMA_NODE_DRAM] = 1, [MEMSPAN_NUMA_NODE_CXL] = 2,
        [MEMSPAN_NUMA_NODE_OTHER] = 2, [MEMSPAN_NUMA_NODE_PMEM] = 3, [MEMSPAN_NUMA_NODE_GPU] = 4,
    };
    static const int by_latency[] = {
        [MEMSPAN_NUMA_NODE_DRAM] = 0,  [MEMSPAN_NUMA_NODE_HBM] = 1,  [MEMSPAN_NUMA_NODE_CXL] = 2,
        [MEMSPAN_NUMA_NODE_OTHER] = 2, [MEMSPAN_NUMA_NODE_PMEM] = 3, [MEMSPAN_NUMA_NODE_GPU] = 4,
    };
    static const int usual[] = {
        [MEMSPAN_NUMA_NODE_DRAM] = 1, [MEMSPAN_NUMA_NODE_CXL] = 2, [MEMSPAN_NUMA_NODE_OTHER] = 3,
        [MEMSPAN_NUMA_NODE_PMEM] = 4, [MEMSPAN_NUMA_NODE_HBM] = 5, [MEMSPAN_NUMA_NODE_GPU] = 6,
    };

    switch (quality) {
    case BANDWIDTH:
        return by_bandwidth[node->kind];
    case LATENCY:
        return by_latency[node->kind];
    case CAPACITY:
        return 0;
    case USUAL:
        break;
    }
    return ((node->pu_count > 0) && (node->kind != MEMSPAN_NUMA_NODE_GPU)) ? 0 : usual[node->kind];
}

/* The value to compare, higher is better. */
static double value_of(const memspan_numa_node_info_t *node, enum quality quality)
{
    switch (quality) {
    case BANDWIDTH:
        return (double)node->bandwidth_mib_per_s;
    case LATENCY:
        return (node->latency_ns == 0) ? 1.0 : 1.0 / (double)node->latency_ns;
    case CAPACITY:
        return (double)node->capacity_bytes;
    case USUAL:
        break;
    }
    return 0.0;
}

static bool all_have_values(const memspan_numa_node_info_t *nodes, int count, enum quality quality)
{
    int i;

    for (i = 0; i < count; i++) {
        if (nodes[i].kind == MEMSPAN_NUMA_NODE_GPU) {
            continue;
        }
        if (((quality == BANDWIDTH) && (nodes[i].bandwidth_mib_per_s == MEMSPAN_UNKNOWN)) ||
            ((quality == LATENCY) && (nodes[i].latency_ns == MEMSPAN_UNKNOWN))) {
            return false;
        }
    }
    return quality != USUAL;
}

static int *rank_slot(memspan_numa_node_info_t *node, enum quality quality)
{
    return (quality == BANDWIDTH)
               ? &node->bandwidth_rank
               : ((quality == LATENCY) ? &node->latency_rank : &node->capacity_rank);
}

static int rank_of(const memspan_numa_node_info_t *node, enum quality quality)
{
    return (quality == USUAL)
               ? natural_rank(node, USUAL)
               : ((quality == BANDWIDTH)
                      ? node->bandwidth_rank
                      : ((quality == LATENCY) ? node->latency_rank : node->capacity_rank));
}

/* The best value among nodes that have no rank yet (rank < 0). */
static double best_unranked(memspan_numa_node_info_t *nodes, int count, enum quality quality)
{
    double best = -1.0;
    int i;

    for (i = 0; i < count; i++) {
        if ((*rank_slot(&nodes[i], quality) < 0) && (value_of(&nodes[i], quality) > best)) {
            best = value_of(&nodes[i], quality);
        }
    }
    return best;
}

static void rank_by_value(memspan_numa_node_info_t *nodes, int count, enum quality quality)
{
    static const double one_tier = 0.9;
    int rank                     = 0;
    double best;
    int i;

    for (i = 0; i < count; i++) {
        *rank_slot(&nodes[i], quality) = (nodes[i].kind == MEMSPAN_NUMA_NODE_GPU) ? INT32_MAX : -1;
    }
    while ((best = best_unranked(nodes, count, quality)) >= 0.0) {
        for (i = 0; i < count; i++) {
            if ((*rank_slot(&nodes[i], quality) < 0) &&
                (value_of(&nodes[i], quality) >= best * one_tier)) {
                *rank_slot(&nodes[i], quality) = rank;
            }
        }
        rank++;
    }
    for (i = 0; i < count; i++) {
        if (nodes[i].kind == MEMSPAN_NUMA_NODE_GPU) {
            *rank_slot(&nodes[i], quality) = rank;
        }
    }
}

/* Ranks 0, 1, 2 ... without gaps, in the natural order of kinds. */
static void rank_by_kind(memspan_numa_node_info_t *nodes, int count, enum quality quality)
{
    enum { LAST = 4 };
    int rank = 0;
    int natural;
    int i;

    for (natural = 0; natural <= LAST; natural++) {
        bool any = false;
        for (i = 0; i < count; i++) {
            if (natural_rank(&nodes[i], quality) == natural) {
                *rank_slot(&nodes[i], quality) = rank;
                any                            = true;
            }
        }
        rank += any ? 1 : 0;
    }
}

/* A node without processors is measured against the best node with some. */
static double usual_value(const memspan_numa_node_info_t *nodes, int count, enum quality quality)
{
    double best = 0.0;
    int i;

    for (i = 0; i < count; i++) {
        if ((nodes[i].pu_count > 0) && (value_of(&nodes[i], quality) > best)) {
            best = value_of(&nodes[i], quality);
        }
    }
    return best;
}

static void settle_unnamed(memspan_numa_node_info_t *nodes, int count)
{
    static const double faster = 1.25;
    static const double slower = 0.9;
    bool bandwidths            = all_have_values(nodes, count, BANDWIDTH);
    bool latencies             = all_have_values(nodes, count, LATENCY);
    double usual_bandwidth     = usual_value(nodes, count, BANDWIDTH);
    double usual_latency       = usual_value(nodes, count, LATENCY);
    int i;

    for (i = 0; i < count; i++) {
        if (nodes[i].kind != MEMSPAN_NUMA_NODE_OTHER) {
            continue;
        }
        if (bandwidths && (value_of(&nodes[i], BANDWIDTH) > faster * usual_bandwidth)) {
            nodes[i].kind = MEMSPAN_NUMA_NODE_HBM;
        } else if ((bandwidths && (value_of(&nodes[i], BANDWIDTH) < slower * usual_bandwidth)) ||
                   (latencies && (value_of(&nodes[i], LATENCY) < slower * usual_latency))) {
            nodes[i].kind = MEMSPAN_NUMA_NODE_CXL;
        }
    }
}

void msp_numa_nodes_settle(memspan_numa_node_info_t *nodes, int count)
{
    static const enum quality qualities[] = {BANDWIDTH, LATENCY, CAPACITY};
    size_t i;

    settle_unnamed(nodes, count);
    for (i = 0; i < sizeof(qualities) / sizeof(qualities[0]); i++) {
        if (all_have_values(nodes, count, qualities[i])) {
            rank_by_value(nodes, count, qualities[i]);
        } else {
            rank_by_kind(nodes, count, qualities[i]);
        }
    }
}

static enum quality quality_of(enum msp_base_hint hint)
{
    switch (hint) {
    case MSP_HINT_HIGH_BW:
        return BANDWIDTH;
    case MSP_HINT_LOW_LAT:
        return LATENCY;
    case MSP_HINT_LARGE_CAP:
        return CAPACITY;
    case MSP_HINT_DEFAULT:
    case MSP_HINT_CONST:
        break;
    }
    return USUAL;
}

/* Little and precious: only a request for bandwidth gets it, but where there is nothing else. */
static bool is_scarce(const memspan_numa_node_info_t *node)
{
    return (node->kind == MEMSPAN_NUMA_NODE_HBM) && (node->pu_count == 0);
}

static bool serves(const memspan_numa_node_info_t *node, enum msp_base_hint hint)
{
    if (node->kind == MEMSPAN_NUMA_NODE_GPU) {
        return false;
    }
    switch (hint) {
    case MSP_HINT_HIGH_BW:
        return node->bandwidth_rank == 0;
    case MSP_HINT_LOW_LAT:
        return node->latency_rank == 0;
    case MSP_HINT_LARGE_CAP:
        return !is_scarce(node);
    case MSP_HINT_DEFAULT:
    case MSP_HINT_CONST:
        break;
    }
    return true;
}

/* True when a goes before b. */
static bool is_before(const memspan_numa_node_info_t *a, const memspan_numa_node_info_t *b,
                      enum quality quality)
{
    int difference = rank_of(a, quality) - rank_of(b, quality);

    if (difference == 0) {
        difference = natural_rank(a, USUAL) - natural_rank(b, USUAL);
    }
    return (difference != 0) ? (difference < 0) : (a->os_index < b->os_index);
}

/* Indices into @p all, best first; returns how many. */
static int collect(const memspan_numa_node_info_t *all, int count, enum msp_base_hint hint,
                   int *indices)
{
    enum quality quality = quality_of(hint);
    int used             = 0;
    int i;

    for (i = 0; i < count; i++) {
        int at = used;
        if (!serves(&all[i], hint)) {
            continue;
        }
        while ((at > 0) && is_before(&all[i], &all[indices[at - 1]], quality)) {
            indices[at] = indices[at - 1];
            at--;
        }
        indices[at] = i;
        used++;
    }
    return used;
}

/* How many of an ordered list share the first one's rank. */
static int first_tier(const memspan_numa_node_info_t *all, const int *indices, int count,
                      enum quality quality)
{
    int n = 0;

    while ((n < count) &&
           (rank_of(&all[indices[n]], quality) == rank_of(&all[indices[0]], quality))) {
        n++;
    }
    return n;
}

static bool is_same_set(const int *a, int a_count, const int *b, int b_count)
{
    int i;
    int j;

    for (i = 0; i < a_count; i++) {
        for (j = 0; (j < b_count) && (a[i] != b[j]); j++) {
        }
        if (j == b_count) {
            return false;
        }
    }
    return a_count == b_count;
}

static const char *const hint_words[] = {
    [MSP_HINT_DEFAULT]   = "default memory",
    [MSP_HINT_LARGE_CAP] = "the largest memory",
    [MSP_HINT_CONST]     = "memory for constants",
    [MSP_HINT_HIGH_BW]   = "the memory of highest bandwidth",
    [MSP_HINT_LOW_LAT]   = "the memory of lowest latency",
};

static bool is_of_one_kind(const memspan_numa_node_info_t *all, const int *indices, int count)
{
    int i;

    for (i = 1; (i < count) && (all[indices[i]].kind == all[indices[0]].kind); i++) {
    }
    return i >= count;
}

/* @p tier: how many of the @p count nodes are the best. */
static void write_note(const memspan_numa_node_info_t *all, const int *indices, int count, int tier,
                       enum msp_base_hint hint, bool alias, char *note, size_t note_size)
{
    bool one_kind = is_of_one_kind(all, indices, tier);

    if (hint == MSP_HINT_DEFAULT) {
        note[0] = '\0';
    } else if (alias && (hint == MSP_HINT_CONST)) {
        snprintf(note, note_size, "alias of default: the host has no memory made for constants");
    } else if (alias && is_of_one_kind(all, indices, count)) {
        snprintf(note, note_size, "alias of default: the machine has one tier of memory");
    } else if (alias) {
        snprintf(note, note_size, "alias of default: that is %s here", hint_words[hint]);
    } else {
        snprintf(note, note_size, "%s here: %d node%s of %s%s", hint_words[hint], tier,
                 (tier == 1) ? "" : "s", one_kind ? "kind " : "several kinds",
                 one_kind ? memspan_numa_node_kind_name(all[indices[0]].kind) : "");
    }
}

int msp_numa_nodes_order(const memspan_numa_node_info_t *all, int count, enum msp_base_hint hint,
                         int *nodes, int capacity, bool *alias_p, char *note, size_t note_size)
{
    int usual[MSP_NUMA_NODES_MAX];
    int best[MSP_NUMA_NODES_MAX];
    int usual_count = collect(all, count, MSP_HINT_DEFAULT, usual);
    int best_count  = collect(all, count, hint, best);
    int tier        = first_tier(all, best, best_count, quality_of(hint));
    bool alias      = (hint != MSP_HINT_DEFAULT) &&
                 is_same_set(best, tier, usual, first_tier(all, usual, usual_count, USUAL));
    const int *list = (alias || (best_count == 0)) ? usual : best;
    int used        = (list == usual) ? usual_count : best_count;
    int i;

    if (note_size > 0) {
        write_note(all, list, used, tier, hint, alias, note, note_size);
    }
    for (i = 0; (i < used) && (i < capacity); i++) {
        nodes[i] = all[list[i]].os_index;
    }
    *alias_p = alias;
    return used;
}
