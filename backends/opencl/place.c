/* SPDX-License-Identifier: BSD-3-Clause */
/* place.c: pages of memory that is the host's: which NUMA nodes they are on, and whether they are
 * locked. Memory of a device apart is its driver's to place. */

#include "backends/opencl/opencl.h"
#include "core/base/platform.h"
#include "core/topology/pages.h"

static memspan_status_t place_apart(const struct opencl_device *device,
                                    const memspan_request_t *request, memspan_block_t *given)
{
    const struct opencl_state *state = device->platform->state;

    if (((request->flags & MEMSPAN_REQUEST_STRICT) != 0) && (request->nodes != NULL)) {
        return opencl_refuse(state, MEMSPAN_ERR_UNSUPPORTED, "drop the NUMA node",
                             "OpenCL cannot put memory of %s on a NUMA node", device->info.name);
    }
    if (request->kind == MEMSPAN_KIND_DEVICE) {
        given->flags |= MEMSPAN_BLOCK_PINNED;
        return MEMSPAN_OK;
    }
    if (request->kind == MEMSPAN_KIND_MANAGED) {
        given->flags |= MEMSPAN_BLOCK_MIGRATABLE;
    }
    if ((request->flags & MEMSPAN_REQUEST_PINNED) != 0) {
        return opencl_refuse(state, MEMSPAN_ERR_UNSUPPORTED, "ask for host-pinned or device memory",
                             "%s memory of %s cannot be pinned: its driver moves it",
                             memspan_kind_name(request->kind), device->info.name);
    }
    return MEMSPAN_OK;
}

memspan_status_t opencl_place(struct opencl_device *device, const memspan_request_t *request,
                              struct opencl_block *block, memspan_block_t *given)
{
    memspan_status_t status;
    bool is_asked;

    given->node = -1;
    if (!device->unified && (block->svm != NULL) && (request->kind != MEMSPAN_KIND_HOST_PINNED)) {
        return place_apart(device, request, given);
    }
    given->page_size_bytes = msp_page_size();
    status                 = msp_pages_bind(request, block->base, &given->node);
    if ((status != MEMSPAN_OK) && ((request->flags & MEMSPAN_REQUEST_STRICT) != 0)) {
        return status;
    }
    if (status != MEMSPAN_OK) {
        given->node = -1;
        device->platform->state->services->log(MEMSPAN_LOG_WARN, OPENCL_NAME,
                                               "%zu bytes are not on the nodes asked for",
                                               block->size_bytes);
    }
    is_asked = (request->flags & MEMSPAN_REQUEST_PINNED) != 0;
    if ((request->kind != MEMSPAN_KIND_HOST_PINNED) && !is_asked) {
        return MEMSPAN_OK;
    }
    status = msp_lock_pages(device->platform->state->services, OPENCL_NAME, is_asked, given);
    block->own_locked = (given->flags & MEMSPAN_BLOCK_PINNED) != 0;
    return status;
}
