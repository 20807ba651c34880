/* SPDX-License-Identifier: BSD-3-Clause */
/* mapped.c: device memory that we map ourselves: physical memory with properties of its own (it can
 * be exported, a network card reaches it), put at an address range reserved for it. */

#include "backends/cuda/cuda.h"
#include "core/base/platform.h"
#include <stdlib.h>
#include <unistd.h>

static memspan_status_t fail(const struct cuda_device *device, const char *call, cuda_result_t code,
                             size_t size)
{
    return cuda_error(device->state, call, code, "no %zu bytes of mapped memory on %s", size,
                      device->info.name);
}

static cuda_properties_t properties_of(const struct cuda_device *device, bool shared,
                                       int handle_types)
{
    cuda_properties_t properties = {
        .type                   = CUDA_MEM_ALLOCATION_TYPE_PINNED,
        .requested_handle_types = handle_types,
        .location               = {.type = CUDA_MEM_LOCATION_TYPE_DEVICE, .id = device->id},
    };

    properties.flags.rdma_capable = (shared && device->facts.rdma_vmm) ? 1 : 0;
    return properties;
}

/* The devices that may use it: its own, and those that reach it. Returns how many. */
static size_t list_access(const struct cuda_device *device, cuda_access_t *access)
{
    const struct cuda_state *state = device->state;
    size_t count                   = 0;
    int i;

    for (i = 0; i < state->device_count; i++) {
        enum cuda_peer peer = cuda_peer_get(state, i, device->ordinal);
        if ((i == device->ordinal) || (peer == CUDA_PEER_MAY) || (peer == CUDA_PEER_ENABLED)) {
            access[count].location.type = CUDA_MEM_LOCATION_TYPE_DEVICE;
            access[count].location.id   = state->devices[i].id;
            access[count].flags         = CUDA_MEM_ACCESS_FLAGS_PROT_READWRITE;
            count++;
        }
    }
    return count;
}

memspan_status_t cuda_mapped_map(struct cuda_device *device, struct cuda_block *block,
                                 size_t align_bytes)
{
    const struct cuda_calls *cu = &device->state->cu;
    size_t size                 = block->size_bytes;
    const char *call            = "cuMemAddressReserve";
    cuda_access_t *access       = calloc((size_t)device->state->device_count, sizeof(*access));
    cuda_result_t code;

    if (access == NULL) {
        return cuda_refuse(device->state, MEMSPAN_ERR_NO_MEMORY, NULL, "no host memory for access");
    }
    code = cu->cuMemAddressReserve(&block->base, size, align_bytes, 0, 0);
    if (code != CUDA_SUCCESS) {
        goto err_free_access;
    }
    call = "cuMemMap";
    code = cu->cuMemMap(block->base, size, 0, block->handle, 0);
    if (code != CUDA_SUCCESS) {
        goto err_free_range;
    }
    call = "cuMemSetAccess";
    code = cu->cuMemSetAccess(block->base, size, access, list_access(device, access));
    if (code != CUDA_SUCCESS) {
        goto err_unmap;
    }
    free(access);
    return MEMSPAN_OK;

err_unmap:
    (void)cu->cuMemUnmap(block->base, size);
err_free_range:
    (void)cu->cuMemAddressFree(block->base, size);
err_free_access:
    free(access);
    return fail(device, call, code, size);
}

static memspan_status_t granularity_of(const struct cuda_device *device,
                                       const cuda_properties_t *properties, size_t *granularity_p)
{
    cuda_result_t code = device->state->cu.cuMemGetAllocationGranularity(
        granularity_p, properties, CUDA_MEM_ALLOC_GRANULARITY_RECOMMENDED);

    if (code != CUDA_SUCCESS) {
        return fail(device, "cuMemGetAllocationGranularity", code, 0);
    }
    return msp_is_power_of_two(*granularity_p)
               ? MEMSPAN_OK
               : cuda_refuse(device->state, MEMSPAN_ERR_DRIVER, NULL,
                             "the driver gives memory in pieces of %zu bytes", *granularity_p);
}

static memspan_status_t create(struct cuda_device *device, const memspan_request_t *request,
                               int handle_types, struct cuda_block *block, size_t *granularity_p)
{
    bool shared                  = (request->flags & MEMSPAN_REQUEST_SHARED) != 0;
    cuda_properties_t properties = properties_of(device, shared, handle_types);
    memspan_status_t status      = granularity_of(device, &properties, granularity_p);
    cuda_result_t code;

    if (status != MEMSPAN_OK) {
        return status;
    }
    if ((request->page_size_bytes > *granularity_p) ||
        ((request->page_size_bytes != 0) && (*granularity_p % request->page_size_bytes != 0))) {
        return cuda_refuse(device->state, MEMSPAN_ERR_UNSUPPORTED, "drop the page size",
                           "%s has no pages of %zu bytes; the largest are of %zu",
                           device->info.name, request->page_size_bytes, *granularity_p);
    }
    block->made         = CUDA_MADE_MAPPED;
    block->handle_types = handle_types;
    block->size_bytes   = msp_round_up(request->size_bytes, *granularity_p);
    code = device->state->cu.cuMemCreate(&block->handle, block->size_bytes, &properties, 0);
    return (code == CUDA_SUCCESS) ? MEMSPAN_OK
                                  : fail(device, "cuMemCreate", code, block->size_bytes);
}

memspan_status_t cuda_mapped_take(struct cuda_device *device, const memspan_request_t *request,
                                  struct cuda_block *block, memspan_block_t *given)
{
    const struct cuda_facts *f = &device->facts;
    bool shared                = (request->flags & MEMSPAN_REQUEST_SHARED) != 0;
    int fd             = (shared && f->shares_fd) ? CUDA_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR : 0;
    int fabric         = (shared && f->shares_fabric) ? CUDA_MEM_HANDLE_TYPE_FABRIC : 0;
    size_t granularity = 0;
    memspan_status_t status;

    if (!f->vmm) {
        return cuda_refuse(device->state, MEMSPAN_ERR_UNSUPPORTED, "drop the page size",
                           "%s cannot map memory (VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED 0)",
                           device->info.name);
    }
    status = create(device, request, fd | fabric, block, &granularity);
    if ((status != MEMSPAN_OK) && (fabric != 0) && (fd != 0)) {
        /* Fabric handles need IMEX, a service of the system's beside the driver. */
        status = create(device, request, fd, block, &granularity);
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    status = cuda_mapped_map(
        device, block, (request->align_bytes > granularity) ? request->align_bytes : granularity);
    if (status != MEMSPAN_OK) {
        (void)device->state->cu.cuMemRelease(block->handle);
        return status;
    }
    given->page_size_bytes = granularity;
    return MEMSPAN_OK;
}

static void keep_first(const char **call, cuda_result_t *first, const char *next_call,
                       cuda_result_t code)
{
    if ((*first == CUDA_SUCCESS) && (code != CUDA_SUCCESS)) {
        *first = code;
        *call  = next_call;
    }
}

memspan_status_t cuda_mapped_give_back(struct cuda_device *device, struct cuda_block *block)
{
    const struct cuda_calls *cu = &device->state->cu;
    const char *call            = "cuCtxSynchronize";
    /* Unlike cuMemFree, unmapping does not wait for those who use it. */
    cuda_result_t first = cuda_wait_for_users(device, false);

    if (cuda_is_captured(first)) {
        return cuda_error(device->state, call, first, "%zu bytes of %s stay: they may be in use",
                          block->size_bytes, device->info.name);
    }
    if (block->fd >= 0) {
        close(block->fd);
    }
    keep_first(&call, &first, "cuMemUnmap", cu->cuMemUnmap(block->base, block->size_bytes));
    keep_first(&call, &first, "cuMemAddressFree",
               cu->cuMemAddressFree(block->base, block->size_bytes));
    keep_first(&call, &first, "cuMemRelease", cu->cuMemRelease(block->handle));
    if ((first == CUDA_SUCCESS) || (first == CUDA_ERROR_DEINITIALIZED)) {
        return MEMSPAN_OK;
    }
    return cuda_error(device->state, call, first, "%zu bytes of %s could not be given back",
                      block->size_bytes, device->info.name);
}
