/* SPDX-License-Identifier: BSD-3-Clause */
/* place.c: which NUMA nodes the pages of a block come from, and go to.
 *
 * A block that is allocated is fresh: no page exists yet, so a policy on its address range is all
 * it takes, and the first touch does the rest. A strict request fails where it cannot be kept, with
 * the reason (no such node, denied, not supported, full). A preference never fails for that: the
 * block is then bound to no node, and the log has the reason. */

#include "backends/host/host.h"
#include "core/base/error.h"
#include "core/base/platform.h"
#include "core/base/text.h"
#include "core/topology/topology.h"
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/* Each part with its own policy is a mapping of its own to the kernel, which by default allows
 * 65530 in a process (vm.max_map_count); half of them is the most one block may use up. */
enum { PARTS_MAX = 32765 };

bool host_place_is_wanted(const memspan_request_t *request)
{
    return ((request->nodes != NULL) && (request->node_count > 0)) ||
           (request->spread == MEMSPAN_SPREAD_PARTS);
}

static bool is_strict(const memspan_request_t *request)
{
    return (request->flags & MEMSPAN_REQUEST_STRICT) != 0;
}

static memspan_status_t check_nodes(const struct host *host, const memspan_request_t *request)
{
    bool parts   = (request->spread == MEMSPAN_SPREAD_PARTS);
    size_t count = parts ? request->part_count : request->node_count;
    size_t i;

    for (i = 0; i < count; i++) {
        int node = parts ? request->parts[i].node : request->nodes[i];
        if (!msp_numa_node_exists(node) && !msp_topology_is_foreign()) {
            return host->services->fail(MEMSPAN_ERR_NOT_FOUND, "host", "", 0, "", NULL,
                                        "no memory on NUMA node %d; nodes with memory: %s", node,
                                        msp_topology_memory_list());
        }
    }
    return MEMSPAN_OK;
}

/* Where there is one node, everything is on it, and no call is needed to make it so. */
static bool is_given_by_fact(void)
{
    return (msp_numa_memory_nodes() == 1) && !msp_topology_is_foreign();
}

static memspan_status_t bind_range(const memspan_request_t *request, char *address,
                                   size_t size_bytes, const int *nodes, size_t node_count,
                                   bool interleave)
{
    if ((size_bytes == 0) || is_given_by_fact()) {
        return MEMSPAN_OK;
    }
    return msp_topology_bind(address, size_bytes, nodes, node_count, interleave,
                             is_strict(request));
}

static memspan_status_t check_capacity(const struct host *host, int node, size_t size_bytes)
{
    uint64_t free_bytes = msp_numa_node_free(node);
    char wanted[32];
    char left[32];

    if (size_bytes <= free_bytes) {
        return MEMSPAN_OK;
    }
    /* A strict policy on a full node does not fail: the kernel kills the process instead. */
    return host->services->fail(MEMSPAN_ERR_NO_MEMORY, "host", "", 0, "",
                                "ask without strict placement, or for less",
                                "node %d is full: %s wanted, %s free", node,
                                msp_text_from_size(wanted, sizeof(wanted), size_bytes),
                                msp_text_from_size(left, sizeof(left), free_bytes));
}

/* The first node with space; strict requests fail when there is none. */
static memspan_status_t choose_any(const struct host *host, const memspan_request_t *request,
                                   size_t size_bytes, int *node_p)
{
    size_t i;

    if ((request->node_count > 1) || is_strict(request)) {
        for (i = 0; i < request->node_count; i++) {
            if (size_bytes <= msp_numa_node_free(request->nodes[i])) {
                *node_p = request->nodes[i];
                return MEMSPAN_OK;
            }
        }
        if (is_strict(request)) {
            return check_capacity(host, request->nodes[0], size_bytes);
        }
    }
    *node_p = request->nodes[0];
    return MEMSPAN_OK;
}

static memspan_status_t place_on_one(const struct host *host, const memspan_request_t *request,
                                     memspan_block_t *block)
{
    memspan_status_t status = MEMSPAN_OK;
    int node                = -1;

    if (request->spread == MEMSPAN_SPREAD_NEAREST) {
        node = msp_numa_nearest(msp_numa_node_here(), request->nodes, request->node_count);
        if (is_strict(request)) {
            status = check_capacity(host, node, block->size_bytes);
        }
    } else {
        status = choose_any(host, request, block->size_bytes, &node);
    }
    if (status == MEMSPAN_OK) {
        status = bind_range(request, block->address, block->size_bytes, &node, 1, false);
    }
    if (status == MEMSPAN_OK) {
        block->node = node;
    }
    return status;
}

static memspan_status_t place_blocked(const struct host *host, const memspan_request_t *request,
                                      const memspan_block_t *block)
{
    size_t pages = block->size_bytes / block->page_size_bytes;
    size_t share = pages / request->node_count;
    size_t rest  = pages % request->node_count;
    char *at     = block->address;
    size_t i;

    for (i = 0; i < request->node_count; i++) {
        size_t run              = (share + (i < rest ? 1 : 0)) * block->page_size_bytes;
        memspan_status_t status = MEMSPAN_OK;

        if (is_strict(request)) {
            status = check_capacity(host, request->nodes[i], run);
        }
        if (status == MEMSPAN_OK) {
            status = bind_range(request, at, run, &request->nodes[i], 1, false);
        }
        if (status != MEMSPAN_OK) {
            return status;
        }
        at += run;
    }
    return MEMSPAN_OK;
}

static memspan_status_t refuse_parts(const struct host *host, size_t count)
{
    return host->services->fail(MEMSPAN_ERR_LIMIT, "host", "", 0, "",
                                "make the parts larger; vm.max_map_count limits their number",
                                "%zu parts in one block; at most %d are possible", count,
                                (int)PARTS_MAX);
}

static memspan_status_t place_interleaved(const struct host *host, const memspan_request_t *request,
                                          const memspan_block_t *block)
{
    size_t part  = msp_round_up(request->part_size_bytes, block->page_size_bytes);
    size_t count = (part == 0) ? 0 : (block->size_bytes + part - 1) / part;
    char *at     = block->address;
    size_t left  = block->size_bytes;
    size_t turn;

    if ((part <= block->page_size_bytes) || (request->node_count == 1)) {
        return bind_range(request, at, left, request->nodes, request->node_count, true);
    }
    if (count > PARTS_MAX) {
        return refuse_parts(host, count);
    }
    for (turn = 0; left > 0; turn++) {
        size_t run = (left < part) ? left : part;
        memspan_status_t status =
            bind_range(request, at, run, &request->nodes[turn % request->node_count], 1, false);
        if (status != MEMSPAN_OK) {
            return status;
        }
        at += run;
        left -= run;
    }
    return MEMSPAN_OK;
}

static memspan_status_t check_parts(const struct host *host, const memspan_request_t *request,
                                    const memspan_block_t *block)
{
    size_t left = request->size_bytes;
    size_t i;

    if ((request->parts == NULL) || (request->part_count == 0)) {
        return host->services->fail(MEMSPAN_ERR_INVALID, "host", "", 0, "", NULL,
                                    "memory in parts was asked for, and no parts given");
    }
    if (request->part_count > PARTS_MAX) {
        return refuse_parts(host, request->part_count);
    }
    for (i = 0; i < request->part_count; i++) {
        size_t size = request->parts[i].size_bytes;
        if ((size > left) ||
            ((size % block->page_size_bytes != 0) && (i + 1 < request->part_count))) {
            return host->services->fail(MEMSPAN_ERR_INVALID, "host", "", 0, "", NULL,
                                        "part %zu of %zu bytes is no multiple of the page size "
                                        "(%zu), or more than is left (%zu)",
                                        i, size, block->page_size_bytes, left);
        }
        left -= size;
    }
    if (left >= block->page_size_bytes) {
        return host->services->fail(MEMSPAN_ERR_INVALID, "host", "", 0, "", NULL,
                                    "the parts cover %zu bytes less than the %zu asked for", left,
                                    request->size_bytes);
    }
    return MEMSPAN_OK;
}

static memspan_status_t place_parts(const struct host *host, const memspan_request_t *request,
                                    const memspan_block_t *block)
{
    char *at = block->address;
    size_t i;

    for (i = 0; i < request->part_count; i++) {
        const memspan_part_t *part = &request->parts[i];
        /* The last part may end within a page; it has the page whole. */
        size_t run              = msp_round_up(part->size_bytes, block->page_size_bytes);
        memspan_status_t status = MEMSPAN_OK;

        if (is_strict(request)) {
            status = check_capacity(host, part->node, run);
        }
        if (status == MEMSPAN_OK) {
            status = bind_range(request, at, run, &part->node, 1, false);
        }
        if (status != MEMSPAN_OK) {
            return status;
        }
        at += run;
    }
    return MEMSPAN_OK;
}

/* Reserved huge pages are counted for the whole machine: a strict policy may find none on its node
 * at first touch, which ends in SIGBUS. Touching them now turns that into an error. */
static memspan_status_t touch_huge(const struct host *host, const memspan_block_t *block)
{
#ifdef MADV_POPULATE_WRITE
    if ((block->page_size_bytes > msp_page_size()) &&
        (madvise(block->address, block->size_bytes, MADV_POPULATE_WRITE) != 0) &&
        (errno != EINVAL)) {
        int error = errno;
        return host->services->fail(
            MEMSPAN_ERR_NO_MEMORY, "host", "madvise", error, strerrordesc_np(error),
            "/sys/devices/system/node/nodeN/hugepages has each node's",
            "the node has too few reserved huge pages for %zu bytes", block->size_bytes);
    }
#else
    (void)host;
    (void)block;
#endif
    return MEMSPAN_OK;
}

static memspan_status_t place_by_spread(const struct host *host, const memspan_request_t *request,
                                        memspan_block_t *block)
{
    switch (request->spread) {
    case MEMSPAN_SPREAD_ANY:
    case MEMSPAN_SPREAD_NEAREST:
        return place_on_one(host, request, block);
    case MEMSPAN_SPREAD_BLOCKED:
        return place_blocked(host, request, block);
    case MEMSPAN_SPREAD_INTERLEAVED:
        return place_interleaved(host, request, block);
    case MEMSPAN_SPREAD_PARTS:
        return place_parts(host, request, block);
    case MEMSPAN_SPREAD_TOUCHED:
        return bind_range(request, block->address, block->size_bytes, request->nodes,
                          request->node_count, false);
    }
    return host->services->fail(MEMSPAN_ERR_INVALID, "host", "", 0, "", NULL,
                                "no way to spread memory has the number %d", (int)request->spread);
}

memspan_status_t host_place(struct host *host, const memspan_request_t *request,
                            memspan_block_t *block)
{
    memspan_status_t status = MEMSPAN_OK;

    if (request->spread == MEMSPAN_SPREAD_PARTS) {
        status = check_parts(host, request, block);
    }
    if (status == MEMSPAN_OK) {
        status = check_nodes(host, request);
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    status = place_by_spread(host, request, block);
    if (is_strict(request)) {
        return (status == MEMSPAN_OK) ? touch_huge(host, block) : status;
    }
    if ((status == MEMSPAN_ERR_PERMISSION) || (status == MEMSPAN_ERR_UNSUPPORTED) ||
        (status == MEMSPAN_ERR_DRIVER)) {
        if (!atomic_exchange_explicit(&host->said_unbound, true, memory_order_relaxed)) {
            host->services->log(MEMSPAN_LOG_INFO, "host", "memory is bound to no node: %s",
                                memspan_error_text());
        }
        return MEMSPAN_OK; /* block->node has stayed -1 */
    }
    return status;
}

/* The first of the nodes with space for the pages that are elsewhere; of memory by first touch,
 * which these pages have had, the nearest node. */
static memspan_status_t choose_target(const struct host *host, const memspan_request_t *request,
                                      const memspan_block_t *block, int *node_p)
{
    int nearest   = msp_numa_nearest(msp_numa_node_here(), request->nodes, request->node_count);
    bool one      = (request->spread == MEMSPAN_SPREAD_TOUCHED);
    size_t count  = one ? 1 : request->node_count;
    size_t wanted = 0;
    size_t i;

    for (i = 0; i < count; i++) {
        *node_p = one ? nearest : request->nodes[i];
        wanted =
            msp_numa_pages_elsewhere(block->address, block->size_bytes, *node_p) * msp_page_size();
        if (wanted <= msp_numa_node_free(*node_p)) {
            return MEMSPAN_OK;
        }
    }
    return check_capacity(host, *node_p, wanted);
}

/* Binding moves the pages that can be moved, and does not report the rest: the pages' nodes are
 * queried. */
memspan_status_t host_move(void *state, int ordinal, const memspan_request_t *request,
                           memspan_block_t *block_p)
{
    const struct host *host = state;
    memspan_status_t status;
    size_t left;
    int node = -1;

    (void)ordinal;
    if (!host_place_is_wanted(request) || is_given_by_fact()) {
        return MEMSPAN_OK; /* every node serves */
    }
    status = check_nodes(host, request);
    if (status == MEMSPAN_OK) {
        status = choose_target(host, request, block_p, &node);
    }
    if (status == MEMSPAN_OK) {
        status = msp_topology_bind(block_p->address, block_p->size_bytes, &node, 1, false, false);
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    left = msp_numa_pages_elsewhere(block_p->address, block_p->size_bytes, node);
    if (left > 0) {
        return host->services->fail(MEMSPAN_ERR_NO_MEMORY, "host", "mbind", 0, "",
                                    "a driver, or another process, may hold them",
                                    "%zu of %zu pages have not moved to node %d", left,
                                    block_p->size_bytes / msp_page_size(), node);
    }
    block_p->node = node;
    return MEMSPAN_OK;
}
