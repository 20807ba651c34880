/* SPDX-License-Identifier: BSD-3-Clause */
/* place.c: NUMA nodes of the memory that both sides reach. The pages are the memory file's, so the
 * system keeps the wish with the file and both sides get the same pages. */

#include "backends/emu/emu.h"
#include "core/base/platform.h"
#include "core/base/topology.h"

/* One run of pages for each node or part. */
static memspan_status_t place_slices(const memspan_request_t *request, char *base, bool strict)
{
    bool parts   = (request->spread == MEMSPAN_SPREAD_PARTS);
    size_t count = parts ? request->part_count : request->node_count;
    size_t equal =
        memspan_round_up(request->size_bytes / (count ? count : 1) + 1, memspan_page_size());
    size_t done = 0;
    size_t i;

    for (i = 0; (i < count) && (done < request->size_bytes); i++) {
        size_t left = request->size_bytes - done;
        size_t size =
            parts ? memspan_round_up(request->parts[i].size_bytes, memspan_page_size()) : equal;
        int node = parts ? request->parts[i].node : request->nodes[i];
        memspan_status_t status;

        size   = (size > left) ? left : size;
        status = memspan_topology_bind(base + done, size, &node, 1, false, strict);
        if (status != MEMSPAN_OK) {
            return status;
        }
        done += size;
    }
    return MEMSPAN_OK;
}

memspan_status_t emu_place(const memspan_request_t *request, const struct emu_block *block,
                           int *node_p)
{
    bool strict     = (request->flags & MEMSPAN_REQUEST_STRICT) != 0;
    bool interleave = (request->spread == MEMSPAN_SPREAD_INTERLEAVED);

    if ((request->spread == MEMSPAN_SPREAD_PARTS) ||
        ((request->spread == MEMSPAN_SPREAD_BLOCKED) && (request->nodes != NULL))) {
        return place_slices(request, block->base, strict);
    }
    if (request->nodes == NULL) {
        return MEMSPAN_OK;
    }
    if (request->node_count == 1) {
        *node_p = request->nodes[0];
    }
    return memspan_topology_bind(block->base, request->size_bytes, request->nodes,
                                 request->node_count, interleave, strict);
}
