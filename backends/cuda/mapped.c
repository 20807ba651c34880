/* SPDX-License-Identifier: BSD-3-Clause */
/* mapped.c: device memory that we map ourselves: physical memory with properties of its own (it can
 * be exported, a network card reaches it), put at an address range reserved for it.
 *
 * For other processes it has a file descriptor, which stays open here while the block lives and is
 * fetched by the other process (core/base/driver.h has its conditions), a fabric handle, which is
 * mere bytes, or both. The descriptor is tried first: fabric handles open only where IMEX runs. */

#include "backends/cuda/cuda.h"
#include "backends/gpu/common.h"
#include "core/base/platform.h"
#include <stdlib.h>
#include <unistd.h>

static memspan_status_t fail(const struct gpu_device *device, const char *call, cuda_result_t code,
                             size_t size)
{
    return gpu_error(device->state, CUDA_ANSWER(call, code), "no %zu bytes of mapped memory on %s",
                     size, device->info.name);
}

static cuda_properties_t properties_of(const struct gpu_device *device, bool shared,
                                       int handle_types)
{
    cuda_properties_t properties = {
        .type                   = CUDA_MEM_ALLOCATION_TYPE_PINNED,
        .requested_handle_types = handle_types,
        .location               = {.type = CUDA_MEM_LOCATION_TYPE_DEVICE, .id = device->id},
    };

    properties.flags.rdma_capable = (shared && cuda_device(device)->facts.rdma_vmm) ? 1 : 0;
    return properties;
}

/* The devices that may use it: its own, and those that reach it. Returns how many. */
static size_t list_access(const struct gpu_device *device, cuda_access_t *access)
{
    const struct gpu_state *state = device->state;
    size_t count                  = 0;
    int i;

    for (i = 0; i < state->device_count; i++) {
        if ((i == device->ordinal) || gpu_peer_can(state, i, device->ordinal)) {
            access[count].location.type = CUDA_MEM_LOCATION_TYPE_DEVICE;
            access[count].location.id   = state->devices[i]->id;
            access[count].flags         = CUDA_MEM_ACCESS_FLAGS_PROT_READWRITE;
            count++;
        }
    }
    return count;
}

/* Map the block's handle somewhere on a boundary of @p align_bytes for all devices that can. */
static memspan_status_t map(struct gpu_device *device, struct gpu_block *block, size_t align_bytes)
{
    const struct cuda_calls *cu = cuda_calls(device->state);
    size_t size                 = block->size_bytes;
    const char *call            = "cuMemAddressReserve";
    cuda_access_t *access       = calloc((size_t)device->state->device_count, sizeof(*access));
    cuda_address_t base         = 0;
    cuda_result_t code;

    if (access == NULL) {
        return gpu_refuse(device->state, MEMSPAN_ERR_NO_MEMORY, NULL, "no host memory for access");
    }
    code = cu->cuMemAddressReserve(&base, size, align_bytes, 0, 0);
    if (code != CUDA_SUCCESS) {
        goto err_free_access;
    }
    call = "cuMemMap";
    code = cu->cuMemMap(base, size, 0, block->handle, 0);
    if (code != CUDA_SUCCESS) {
        goto err_free_range;
    }
    call = "cuMemSetAccess";
    code = cu->cuMemSetAccess(base, size, access, list_access(device, access));
    if (code != CUDA_SUCCESS) {
        goto err_unmap;
    }
    free(access);
    block->base = (char *)(uintptr_t)base;
    return MEMSPAN_OK;

err_unmap:
    (void)cu->cuMemUnmap(base, size);
err_free_range:
    (void)cu->cuMemAddressFree(base, size);
err_free_access:
    free(access);
    return fail(device, call, code, size);
}

static memspan_status_t granularity_of(const struct gpu_device *device,
                                       const cuda_properties_t *properties, size_t *granularity_p)
{
    cuda_result_t code = cuda_calls(device->state)
                             ->cuMemGetAllocationGranularity(
                                 granularity_p, properties, CUDA_MEM_ALLOC_GRANULARITY_RECOMMENDED);

    if (code != CUDA_SUCCESS) {
        return fail(device, "cuMemGetAllocationGranularity", code, 0);
    }
    return msp_is_power_of_two(*granularity_p)
               ? MEMSPAN_OK
               : gpu_refuse(device->state, MEMSPAN_ERR_DRIVER, NULL,
                            "the driver gives memory in pieces of %zu bytes", *granularity_p);
}

static memspan_status_t create(struct gpu_device *device, const memspan_request_t *request,
                               int handle_types, struct gpu_block *block, size_t *granularity_p)
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
        return gpu_refuse(device->state, MEMSPAN_ERR_UNSUPPORTED, "drop the page size",
                          "%s has no pages of %zu bytes; the largest are of %zu", device->info.name,
                          request->page_size_bytes, *granularity_p);
    }
    block->made         = GPU_MADE_MAPPED;
    block->handle_types = handle_types;
    block->size_bytes   = msp_round_up(request->size_bytes, *granularity_p);
    code =
        cuda_calls(device->state)->cuMemCreate(&block->handle, block->size_bytes, &properties, 0);
    return (code == CUDA_SUCCESS) ? MEMSPAN_OK
                                  : fail(device, "cuMemCreate", code, block->size_bytes);
}

static memspan_status_t take_mapped(struct gpu_device *device, const memspan_request_t *request,
                                    struct gpu_block *block, memspan_block_t *given)
{
    const struct cuda_facts *f = &cuda_device(device)->facts;
    bool shared                = (request->flags & MEMSPAN_REQUEST_SHARED) != 0;
    int fd             = (shared && f->shares_fd) ? CUDA_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR : 0;
    int fabric         = (shared && f->shares_fabric) ? CUDA_MEM_HANDLE_TYPE_FABRIC : 0;
    size_t granularity = 0;
    memspan_status_t status;

    if (!f->vmm) {
        return gpu_refuse(device->state, MEMSPAN_ERR_UNSUPPORTED, "drop the page size",
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
    status = map(device, block,
                 (request->align_bytes > granularity) ? request->align_bytes : granularity);
    if (status != MEMSPAN_OK) {
        (void)cuda_calls(device->state)->cuMemRelease(block->handle);
        return status;
    }
    given->page_size_bytes = granularity;
    return MEMSPAN_OK;
}

memspan_status_t cuda_take_device(struct gpu_device *device, const memspan_request_t *request,
                                  struct gpu_block *block, memspan_block_t *given)
{
    const struct cuda_facts *f = &cuda_device(device)->facts;
    bool shared                = (request->flags & MEMSPAN_REQUEST_SHARED) != 0;
    bool maps                  = shared && (f->shares_fd || f->shares_fabric) &&
                (cuda_syncs_mapped(device->state) || !device->facts.ipc);
    memspan_status_t status = MEMSPAN_OK;

    if (maps || (request->page_size_bytes > msp_page_size())) {
        status = take_mapped(device, request, block, given);
        if ((status == MEMSPAN_OK) || !maps || (request->page_size_bytes != 0)) {
            goto sync;
        }
        /* Some systems promise it and cannot: plain memory can be shared as well, on one node. */
        gpu_log_record(device->state, MEMSPAN_LOG_INFO,
                       "memory to be shared is taken by cuMemAlloc");
    }
    status = gpu_take(device, GPU_MADE_DEVICE, request, block);
sync:
    if (shared && (status == MEMSPAN_OK)) {
        cuda_sync_copies(device, block->base);
    }
    return status;
}

memspan_status_t cuda_give_mapped(struct gpu_device *device, struct gpu_block *block)
{
    const struct cuda_calls *cu = cuda_calls(device->state);
    cuda_address_t base         = cuda_address(block->base);
    /* Unlike cuMemFree, unmapping does not wait for its users. */
    gpu_result_t answers[4] = {gpu_wait_for_users(device, false)};
    int i;

    if (gpu_is_captured(answers[0].code)) {
        return gpu_error(device->state, answers[0], "%zu bytes of %s stay: they may be in use",
                         block->size_bytes, device->info.name);
    }
    if (block->fd >= 0) {
        close(block->fd);
    }
    answers[1] = CUDA_ANSWER("cuMemUnmap", cu->cuMemUnmap(base, block->size_bytes));
    answers[2] = CUDA_ANSWER("cuMemAddressFree", cu->cuMemAddressFree(base, block->size_bytes));
    answers[3] = CUDA_ANSWER("cuMemRelease", cu->cuMemRelease(block->handle));
    for (i = 0; (i < 3) && (answers[i].code == CUDA_SUCCESS); i++) {
    }
    return ((answers[i].code == CUDA_SUCCESS) || (answers[i].code == CUDA_ERROR_DEINITIALIZED))
               ? MEMSPAN_OK
               : gpu_error(device->state, answers[i], "%zu bytes of %s could not be given back",
                           block->size_bytes, device->info.name);
}

/* ---- other processes ---- */

/* The descriptor of a block, made once at the first request. */
static cuda_result_t need_descriptor(struct gpu_state *state, struct gpu_block *own, int32_t *fd_p)
{
    cuda_result_t code = CUDA_SUCCESS;
    int fd             = -1;

    pthread_mutex_lock(&state->lock);
    if (own->fd < 0) {
        code = cuda_calls(state)->cuMemExportToShareableHandle(
            &fd, own->handle, CUDA_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
        own->fd = (code == CUDA_SUCCESS) ? fd : -1;
    }
    *fd_p = own->fd;
    pthread_mutex_unlock(&state->lock);
    return code;
}

/* Each form that the memory was made for. One is enough; the first failure is reported if none
 * works.
 */
memspan_status_t cuda_export_mapped(const struct gpu_device *device, struct gpu_block *own,
                                    struct gpu_token *token)
{
    struct gpu_state *state = device->state;
    gpu_result_t first      = {"cuMemExportToShareableHandle", CUDA_SUCCESS};
    gpu_result_t answer     = first;

    if (own->handle_types == CUDA_MEM_HANDLE_TYPE_NONE) {
        return gpu_refuse(state, MEMSPAN_ERR_UNSUPPORTED, "ask for memory that is to be shared",
                          "this memory of %s was not taken to be shared", device->info.name);
    }
    token->pid = (int32_t)getpid();
    token->fd  = -1;
    if ((own->handle_types & CUDA_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) != 0) {
        first.code = need_descriptor(state, own, &token->fd);
        if (first.code == CUDA_SUCCESS) {
            gpu_offer_fds();
            token->forms |= GPU_FORM_DESCRIPTOR;
        }
    }
    if ((own->handle_types & CUDA_MEM_HANDLE_TYPE_FABRIC) != 0) {
        answer.code = cuda_calls(state)->cuMemExportToShareableHandle(
            &token->handle, own->handle, CUDA_MEM_HANDLE_TYPE_FABRIC, 0);
        if (answer.code == CUDA_SUCCESS) {
            token->forms |= GPU_FORM_FABRIC;
        } else if (token->forms != 0) {
            (void)gpu_log_lack(state, answer, "memory is shared without a fabric handle");
        }
        first = (first.code == CUDA_SUCCESS) ? answer : first;
    }
    return (token->forms != 0)
               ? MEMSPAN_OK
               : gpu_error(state, first, "memory of %s cannot be shared", device->info.name);
}

static memspan_status_t import_handle(const struct gpu_device *device,
                                      const struct gpu_token *token, void *from, int type,
                                      struct gpu_block *own)
{
    cuda_handle_t handle = 0;
    cuda_result_t code =
        cuda_calls(device->state)->cuMemImportFromShareableHandle(&handle, from, type);

    own->handle = handle;
    return (code == CUDA_SUCCESS)
               ? MEMSPAN_OK
               : gpu_error(device->state, CUDA_ANSWER("cuMemImportFromShareableHandle", code),
                           "memory of process %d cannot be opened", (int)token->pid);
}

static memspan_status_t import_descriptor(const struct gpu_device *device,
                                          const struct gpu_token *token, struct gpu_block *own)
{
    const struct gpu_state *state = device->state;
    int fd                        = -1;
    memspan_status_t status =
        gpu_fetch_fd(state->services, state->driver->name, token->pid, token->fd, &fd);

    if (status == MEMSPAN_OK) {
        status = import_handle(device, token, (void *)(uintptr_t)fd,
                               CUDA_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, own);
        close(fd); /* the driver keeps one of its own */
    }
    return status;
}

memspan_status_t cuda_open_mapped(struct gpu_device *device, struct gpu_token *token,
                                  struct gpu_block *own)
{
    memspan_status_t status = MEMSPAN_ERR_UNSUPPORTED;

    if (!cuda_device(device)->facts.vmm) {
        return gpu_refuse(device->state, MEMSPAN_ERR_UNSUPPORTED, NULL,
                          "%s opens no memory of that form (%u)", device->info.name, token->forms);
    }
    if ((token->forms & GPU_FORM_DESCRIPTOR) != 0) {
        status = import_descriptor(device, token, own);
    }
    if ((status != MEMSPAN_OK) && ((token->forms & GPU_FORM_FABRIC) != 0)) {
        status = import_handle(device, token, &token->handle, CUDA_MEM_HANDLE_TYPE_FABRIC, own);
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    own->made       = GPU_MADE_MAPPED;
    own->size_bytes = token->mapped_bytes;
    status          = map(device, own, 0);
    if (status != MEMSPAN_OK) {
        (void)cuda_calls(device->state)->cuMemRelease(own->handle);
    }
    return status;
}
