/* SPDX-License-Identifier: BSD-3-Clause */
/* pages.c: host pages of ours, for devices that reach all host memory and for pinned memory that is
 * to lie on a NUMA node. They are bound before anybody touches them. */

#include "backends/cuda/cuda.h"
#include "core/base/platform.h"
#include "core/base/topology.h"
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MAP_HUGE_SHIFT
#define MAP_HUGE_SHIFT 26
#endif

static memspan_status_t map(struct cuda_device *device, const memspan_request_t *request,
                            struct cuda_block *block, size_t page)
{
    bool huge = page > memspan_page_size();
    int flags = MAP_PRIVATE | MAP_ANONYMOUS |
                (huge ? MAP_HUGETLB | (__builtin_ctzll(page) << MAP_HUGE_SHIFT) : 0);
    size_t size  = memspan_round_up(request->size_bytes, page);
    size_t align = (request->align_bytes > page) ? request->align_bytes : page;
    size_t total = size + (align - page);
    char *start  = mmap(NULL, total, PROT_READ | PROT_WRITE, flags, -1, 0);
    char *base;
    int error;

    if (start == MAP_FAILED) {
        error = errno;
        return device->state->services->fail(MEMSPAN_ERR_NO_MEMORY, CUDA_NAME, "mmap", error,
                                             strerror(error),
                                             huge ? "reserve huge pages: vm.nr_hugepages" : NULL,
                                             "no %zu bytes of host pages of %zu", size, page);
    }
    base = (char *)(((uintptr_t)start + align - 1) & ~((uintptr_t)align - 1));
    if (base > start) {
        munmap(start, (size_t)(base - start));
    }
    if (start + total > base + size) {
        munmap(base + size, (size_t)(start + total - (base + size)));
    }
    block->made       = CUDA_MADE_PAGES;
    block->base       = (cuda_address_t)(uintptr_t)base;
    block->size_bytes = size;
    return MEMSPAN_OK;
}

/* Parts, or equal shares of the nodes. */
static memspan_status_t bind_slices(const memspan_request_t *request, char *base, bool strict)
{
    size_t page  = memspan_page_size();
    bool parts   = (request->spread == MEMSPAN_SPREAD_PARTS);
    size_t count = parts ? request->part_count : request->node_count;
    size_t equal = memspan_round_up(request->size_bytes / (count ? count : 1) + 1, page);
    size_t done  = 0;
    size_t i;

    for (i = 0; (i < count) && (done < request->size_bytes); i++) {
        size_t size = parts ? memspan_round_up(request->parts[i].size_bytes, page) : equal;
        int node    = parts ? request->parts[i].node : request->nodes[i];
        memspan_status_t status;

        size   = (size > request->size_bytes - done) ? request->size_bytes - done : size;
        status = memspan_topology_bind(base + done, size, &node, 1, false, strict);
        if (status != MEMSPAN_OK) {
            return status;
        }
        done += size;
    }
    return MEMSPAN_OK;
}

static memspan_status_t bind_pages(const memspan_request_t *request, char *base, bool strict,
                                   int *node_p)
{
    bool interleave = (request->spread == MEMSPAN_SPREAD_INTERLEAVED);
    int here        = -1;
    size_t i;

    if ((request->spread == MEMSPAN_SPREAD_PARTS) || (request->spread == MEMSPAN_SPREAD_BLOCKED)) {
        return bind_slices(request, base, strict);
    }
    if (request->spread == MEMSPAN_SPREAD_NEAREST) {
        here = memspan_topology_nearest(memspan_topology_node_here(), request->nodes,
                                        request->node_count);
    } else if (((request->spread == MEMSPAN_SPREAD_ANY) && !strict) || (request->node_count == 1)) {
        here = request->nodes[0];
    }
    for (i = 0; (here >= 0) && (i < request->node_count); i++) {
        if (request->nodes[i] == here) {
            *node_p = here;
            return memspan_topology_bind(base, request->size_bytes, &here, 1, false, strict);
        }
    }
    return memspan_topology_bind(base, request->size_bytes, request->nodes, request->node_count,
                                 interleave, strict);
}

/* Memory that is to live on a device whose memory is a NUMA node of the system. */
static void prefer_device(const struct cuda_device *device, const memspan_request_t *request,
                          char *base)
{
    int where = request->resident_ordinal;
    int node  = ((where >= 0) && (where < device->state->device_count))
                    ? device->state->devices[where].facts.node
                    : -1;

    if (node >= 0) {
        (void)memspan_topology_bind(base, request->size_bytes, &node, 1, false, false);
    }
}

memspan_status_t cuda_pages_take(struct cuda_device *device, const memspan_request_t *request,
                                 struct cuda_block *block, memspan_block_t *given)
{
    bool strict = (request->flags & MEMSPAN_REQUEST_STRICT) != 0;
    size_t page = (request->page_size_bytes > memspan_page_size()) ? request->page_size_bytes
                                                                   : memspan_page_size();
    memspan_status_t status;
    char *base;

    if (!memspan_is_power_of_two(page)) {
        return cuda_refuse(device->state, MEMSPAN_ERR_INVALID, NULL,
                           "a page of %zu bytes is no power of two", page);
    }
    status = map(device, request, block, page);
    if (status != MEMSPAN_OK) {
        return status;
    }
    base                   = (char *)(uintptr_t)block->base;
    given->page_size_bytes = page;
    given->flags |= MEMSPAN_BLOCK_ZEROED;
    if ((request->node_count == 0) && (request->part_count == 0)) {
        prefer_device(device, request, base);
        return MEMSPAN_OK;
    }
    status = bind_pages(request, base, strict, &given->node);
    if ((status != MEMSPAN_OK) && strict) {
        cuda_pages_give_back(block);
        return status;
    }
    if (status != MEMSPAN_OK) {
        given->node = -1;
        device->state->services->log(MEMSPAN_LOG_WARN, CUDA_NAME,
                                     "%zu bytes are not on the nodes asked for", block->size_bytes);
    }
    return MEMSPAN_OK;
}

void cuda_pages_give_back(struct cuda_block *block)
{
    munmap((void *)(uintptr_t)block->base, block->size_bytes);
}
