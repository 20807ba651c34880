/* SPDX-License-Identifier: BSD-3-Clause */
/* alloc.c: a request becomes a block.
 *
 * The driver promises little about alignment and gives a lot: memory is taken as it comes, and with
 * room to spare only where that was not enough. */

#include "backends/cuda/cuda.h"
#include "core/base/driver.h"
#include "core/base/error.h"
#include "core/base/platform.h"
#include "core/topology/pages.h"
#include "core/topology/topology.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* What cuMemAlloc promises: "suitably aligned for any kind of variable", 256 bytes in practice. */
enum { DRIVER_ALIGN_BYTES = 256 };

void cuda_block_insert(struct cuda_state *state, struct cuda_block *block)
{
    pthread_mutex_lock(&state->lock);
    block->next   = state->blocks;
    state->blocks = block;
    pthread_mutex_unlock(&state->lock);
}

void cuda_block_remove(struct cuda_state *state, const struct cuda_block *block)
{
    struct cuda_block **link = &state->blocks;

    pthread_mutex_lock(&state->lock);
    while ((*link != NULL) && (*link != block)) {
        link = &(*link)->next;
    }
    if (*link != NULL) {
        *link = block->next;
    }
    pthread_mutex_unlock(&state->lock);
}

bool cuda_block_is_ours(struct cuda_state *state, cuda_address_t base)
{
    const struct cuda_block *block;

    pthread_mutex_lock(&state->lock);
    for (block = state->blocks; (block != NULL) && (block->base != base); block = block->next) {
    }
    pthread_mutex_unlock(&state->lock);
    return block != NULL;
}

static memspan_status_t check_request(const struct cuda_device *device,
                                      const memspan_request_t *request)
{
    const struct cuda_state *state = device->state;
    bool apart = (request->kind == MEMSPAN_KIND_DEVICE) || (request->kind == MEMSPAN_KIND_MANAGED);
    memspan_status_t status = msp_driver_check(
        state->services, CUDA_NAME, &device->info, request,
        msp_driver_most_bytes(&device->info, request->kind, device->facts.integrated,
                              atomic_load(&device->managed_bytes)));

    if (status != MEMSPAN_OK) {
        return status;
    }
    if (apart && ((request->flags & MEMSPAN_REQUEST_STRICT) != 0) && (request->node_count > 0)) {
        return cuda_refuse(state, MEMSPAN_ERR_UNSUPPORTED, "drop the NUMA node",
                           "CUDA does not put %s memory on a NUMA node",
                           memspan_kind_name(request->kind));
    }
    if ((request->kind == MEMSPAN_KIND_MANAGED) &&
        ((request->flags & MEMSPAN_REQUEST_PINNED) != 0)) {
        return cuda_refuse(state, MEMSPAN_ERR_UNSUPPORTED, "ask for host-pinned or device memory",
                           "managed memory of %s cannot be pinned: its driver moves it",
                           device->info.name);
    }
    /* HMM moves pages of the usual size alone. */
    if ((request->kind == MEMSPAN_KIND_COHERENT) && !device->facts.host_page_tables &&
        (request->page_size_bytes > msp_page_size())) {
        return cuda_refuse(state, MEMSPAN_ERR_UNSUPPORTED, "drop the page size",
                           "%s reaches no reserved huge pages: its driver moves pages by HMM",
                           device->info.name);
    }
    return MEMSPAN_OK;
}

/* ---- one call of the driver for each way ---- */

static cuda_result_t call_driver(const struct cuda_calls *cu, enum cuda_made made, size_t size,
                                 cuda_address_t *base_p)
{
    void *pages = NULL;
    cuda_result_t code;

    switch (made) {
    case CUDA_MADE_MANAGED:
        return cu->cuMemAllocManaged(base_p, size, CUDA_MEM_ATTACH_GLOBAL);
    case CUDA_MADE_HOST:
        code    = cu->cuMemHostAlloc(&pages, size,
                                     CUDA_MEMHOSTALLOC_PORTABLE | CUDA_MEMHOSTALLOC_DEVICEMAP);
        *base_p = (cuda_address_t)(uintptr_t)pages;
        return code;
    default:
        return cu->cuMemAlloc_v2(base_p, size);
    }
}

static const char *call_name(enum cuda_made made)
{
    switch (made) {
    case CUDA_MADE_MANAGED:
        return "cuMemAllocManaged";
    case CUDA_MADE_HOST:
        return "cuMemHostAlloc";
    default:
        return "cuMemAlloc";
    }
}

/* The device may still use host pages that it reaches by itself, and munmap() does not wait. */
static memspan_status_t give_back_pages(struct cuda_device *device, struct cuda_block *block)
{
    memspan_status_t status = MEMSPAN_OK;
    cuda_result_t code      = cuda_wait_for_users(device, true);

    if (cuda_is_captured(code)) {
        return cuda_error(device->state, "cuCtxSynchronize", code,
                          "%zu bytes of host pages stay: they may be in use", block->size_bytes);
    }
    if (block->registration != NULL) {
        status = cuda_unregister(device, block->registration);
    }
    msp_pages_give_back((void *)(uintptr_t)block->base, block->size_bytes);
    if ((status == MEMSPAN_OK) && (code != CUDA_SUCCESS) && (code != CUDA_ERROR_DEINITIALIZED)) {
        status = cuda_error(device->state, "cuCtxSynchronize", code,
                            "work on %s failed before %zu bytes were given back", device->info.name,
                            block->size_bytes);
    }
    return status;
}

static memspan_status_t give_back(struct cuda_device *device, struct cuda_block *block)
{
    const struct cuda_calls *cu = &device->state->cu;
    cuda_result_t code          = CUDA_SUCCESS;
    const char *call            = "cuMemFree";

    switch (block->made) {
    case CUDA_MADE_MAPPED:
        return cuda_mapped_give_back(device, block);
    case CUDA_MADE_PAGES:
        return give_back_pages(device, block);
    case CUDA_MADE_HOST:
        call = "cuMemFreeHost";
        code = cu->cuMemFreeHost((void *)(uintptr_t)block->base);
        break;
    case CUDA_MADE_OPENED:
        call = "cuIpcCloseMemHandle";
        code = cu->cuIpcCloseMemHandle(block->base);
        break;
    default:
        code = cu->cuMemFree_v2(block->base);
        break;
    }
    if (block->made == CUDA_MADE_MANAGED) {
        atomic_fetch_sub(&device->managed_bytes, block->size_bytes);
    }
    /* At the end of the process the driver may have gone first, with all that was its own. */
    if ((code == CUDA_SUCCESS) || (code == CUDA_ERROR_DEINITIALIZED)) {
        return MEMSPAN_OK;
    }
    return cuda_error(device->state, call, code, "%zu bytes of %s could not be given back",
                      block->size_bytes, device->info.name);
}

static memspan_status_t take_from_driver(struct cuda_device *device, enum cuda_made made,
                                         const memspan_request_t *request, struct cuda_block *block)
{
    size_t align = request->align_bytes;
    size_t spare = (align > DRIVER_ALIGN_BYTES) ? align - DRIVER_ALIGN_BYTES : 0;
    size_t size  = request->size_bytes;
    bool on_host = (made == CUDA_MADE_HOST);
    cuda_result_t code;
    memspan_status_t status;

    /* Pinned pages come as pages come. Pinning is slow: once seen, it is not tried again. */
    if (on_host && atomic_load(&device->state->host_unaligned)) {
        size += spare;
    }
    for (;;) {
        block->made       = made;
        block->size_bytes = size;
        code              = call_driver(&device->state->cu, made, size, &block->base);
        if (code != CUDA_SUCCESS) {
            return cuda_error(device->state, call_name(made), code,
                              "no %zu bytes of %s memory on %s", size,
                              memspan_kind_name(request->kind), device->info.name);
        }
        if (block->base == 0) {
            return cuda_error(device->state, call_name(made), code,
                              "the driver gave no address for %zu bytes on %s", size,
                              device->info.name);
        }
        if (made == CUDA_MADE_MANAGED) {
            atomic_fetch_add(&device->managed_bytes, size);
        }
        if (((block->base & (align - 1)) == 0) || (size > request->size_bytes)) {
            return MEMSPAN_OK;
        }
        if (on_host) {
            atomic_store(&device->state->host_unaligned, true);
        }
        status = give_back(device, block);
        if (status != MEMSPAN_OK) {
            return status;
        }
        size += spare;
    }
}

/* ---- by kind ---- */

static memspan_status_t advise(struct cuda_device *device, const memspan_request_t *request,
                               const struct cuda_block *block)
{
    struct cuda_state *state    = device->state;
    const struct cuda_calls *cu = &state->cu;
    int where                   = request->resident_ordinal;
    const char *call            = "cuMemAdvise_v2";
    cuda_location_t location    = {.type = CUDA_MEM_LOCATION_TYPE_DEVICE};
    cuda_result_t code;

    /* Pages are born where they are first touched: for the host nothing need be said. Without
     * faults nobody moves pages one by one, and the advice would be refused. */
    if ((where < 0) || (where >= state->device_count) || !state->devices[where].facts.concurrent) {
        return MEMSPAN_OK;
    }
    location.id = state->devices[where].id;
    if (cu->cuMemAdvise_v2 != NULL) {
        code = cu->cuMemAdvise_v2(block->base, block->size_bytes,
                                  CUDA_MEM_ADVISE_SET_PREFERRED_LOCATION, location);
    } else if (cu->cuMemAdvise != NULL) {
        call = "cuMemAdvise";
        code = cu->cuMemAdvise(block->base, block->size_bytes,
                               CUDA_MEM_ADVISE_SET_PREFERRED_LOCATION, state->devices[where].id);
    } else {
        return MEMSPAN_OK;
    }
    return (code == CUDA_SUCCESS) ? MEMSPAN_OK
                                  : cuda_error(state, call, code, "managed memory cannot prefer %s",
                                               state->devices[where].info.name);
}

static memspan_status_t take_device(struct cuda_device *device, const memspan_request_t *request,
                                    struct cuda_block *block, memspan_block_t *given)
{
    bool shared = ((request->flags & MEMSPAN_REQUEST_SHARED) != 0) &&
                  (device->facts.shares_fd || device->facts.shares_fabric);
    memspan_status_t status = MEMSPAN_OK;

    cuda_peers_enable(device);
    given->flags |= MEMSPAN_BLOCK_PINNED;
    if (shared || (request->page_size_bytes > msp_page_size())) {
        status = cuda_mapped_take(device, request, block, given);
        if ((status == MEMSPAN_OK) || !shared || (request->page_size_bytes != 0)) {
            return status;
        }
        /* Some systems promise it and cannot: plain memory can be shared as well, on one node. */
        device->state->services->log(MEMSPAN_LOG_INFO, CUDA_NAME,
                                     "memory to be shared is taken by cuMemAlloc: %s",
                                     memspan_error_text());
    }
    return take_from_driver(device, CUDA_MADE_PLAIN, request, block);
}

/* Memory that is to live on a device whose memory is a NUMA node of the system. */
static void prefer_device(const struct cuda_device *device, const memspan_request_t *request,
                          const memspan_block_t *given)
{
    int where = request->resident_ordinal;
    int node  = ((where >= 0) && (where < device->state->device_count))
                    ? device->state->devices[where].facts.node
                    : -1;

    if ((node >= 0) && (request->node_count == 0) && (request->part_count == 0)) {
        (void)msp_topology_bind(given->address, request->size_bytes, &node, 1, false, false);
    }
}

static memspan_status_t take_pages(struct cuda_device *device, const memspan_request_t *request,
                                   struct cuda_block *block, memspan_block_t *given)
{
    void *seen_at = NULL;
    bool pinned   = (request->kind == MEMSPAN_KIND_HOST_PINNED) ||
                  ((request->flags & MEMSPAN_REQUEST_PINNED) != 0);
    memspan_status_t status = msp_pages_take(device->state->services, CUDA_NAME, request, given);

    if (status != MEMSPAN_OK) {
        return status;
    }
    prefer_device(device, request, given);
    block->made       = CUDA_MADE_PAGES;
    block->base       = (cuda_address_t)(uintptr_t)given->address;
    block->size_bytes = given->size_bytes;
    if (!pinned) {
        given->flags |= MEMSPAN_BLOCK_MIGRATABLE;
        return MEMSPAN_OK;
    }
    status =
        cuda_register(device, given->address, given->size_bytes, &seen_at, &block->registration);
    if (status != MEMSPAN_OK) {
        msp_pages_give_back(given->address, given->size_bytes);
        return status;
    }
    given->flags |= MEMSPAN_BLOCK_PINNED;
    if (seen_at != given->address) {
        give_back(device, block);
        return cuda_refuse(device->state, MEMSPAN_ERR_UNSUPPORTED, "drop the NUMA node",
                           "%s sees pages of ours at another address", device->info.name);
    }
    return MEMSPAN_OK;
}

/* Where pages are to lie somewhere, they are ours: the driver's own come from anywhere. */
static memspan_status_t take_pinned(struct cuda_device *device, const memspan_request_t *request,
                                    struct cuda_block *block, memspan_block_t *given)
{
    bool placed = (request->node_count > 0) || (request->part_count > 0) ||
                  (request->page_size_bytes > msp_page_size());
    memspan_status_t status;

    if (placed && device->facts.same_address) {
        return take_pages(device, request, block, given);
    }
    if (placed && ((request->flags & MEMSPAN_REQUEST_STRICT) != 0)) {
        return cuda_refuse(device->state, MEMSPAN_ERR_UNSUPPORTED, "drop the NUMA node",
                           "%s sees host pages at another address "
                           "(CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM 0)",
                           device->info.name);
    }
    status = take_from_driver(device, CUDA_MADE_HOST, request, block);
    given->flags |= MEMSPAN_BLOCK_PINNED;
    return status;
}

static memspan_status_t take(struct cuda_device *device, const memspan_request_t *request,
                             struct cuda_block *block, memspan_block_t *given)
{
    memspan_status_t status;

    switch (request->kind) {
    case MEMSPAN_KIND_DEVICE:
        return take_device(device, request, block, given);
    case MEMSPAN_KIND_HOST_PINNED:
        return take_pinned(device, request, block, given);
    case MEMSPAN_KIND_COHERENT:
        return take_pages(device, request, block, given);
    default:
        break;
    }
    status = take_from_driver(device, CUDA_MADE_MANAGED, request, block);
    given->flags |= device->facts.integrated ? 0u : (unsigned)MEMSPAN_BLOCK_MIGRATABLE;
    if (status != MEMSPAN_OK) {
        return status;
    }
    status = advise(device, request, block);
    if (status != MEMSPAN_OK) {
        (void)device->state->cu.cuMemFree_v2(block->base);
        atomic_fetch_sub(&device->managed_bytes, block->size_bytes);
    }
    return status;
}

memspan_status_t cuda_alloc(void *state, int ordinal, const memspan_request_t *request,
                            memspan_block_t *block_p)
{
    struct cuda_device *device;
    memspan_block_t given = {.node = -1};
    struct cuda_block *block;
    memspan_status_t status = cuda_device_get(state, ordinal, &device);
    int before;

    if (status == MEMSPAN_OK) {
        status = check_request(device, request);
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    block = calloc(1, sizeof(*block));
    if (block == NULL) {
        return cuda_refuse(state, MEMSPAN_ERR_NO_MEMORY, NULL, "no host memory for a block");
    }
    block->fd = -1;
    status    = cuda_enter(state, ordinal, &device, &before);
    if (status == MEMSPAN_OK) {
        block->epoch = atomic_load(&device->epoch);
        status       = take(device, request, block, &given);
        cuda_leave(device, before);
    }
    if (status != MEMSPAN_OK) {
        free(block);
        return status;
    }
    given.address    = (void *)(uintptr_t)((block->base + request->align_bytes - 1) &
                                        ~((cuda_address_t)request->align_bytes - 1));
    given.size_bytes = request->size_bytes;
    given.cookie     = block;
    cuda_block_insert(state, block);
    *block_p = given;
    return MEMSPAN_OK;
}

/* The driver has ended, or the program has reset the device: all that was theirs is gone, and what
 * has the same address now is somebody else's. */
static void forget(struct cuda_device *device, struct cuda_block *block)
{
    if (block->made == CUDA_MADE_MANAGED) {
        atomic_fetch_sub(&device->managed_bytes, block->size_bytes);
    }
    if (block->registration != NULL) {
        cuda_registration_forget(device->state, block->registration);
    }
    if (block->made == CUDA_MADE_PAGES) {
        msp_pages_give_back((void *)(uintptr_t)block->base, block->size_bytes);
    }
    if (block->fd >= 0) {
        close(block->fd);
    }
}

memspan_status_t cuda_free(void *state, int ordinal, const memspan_block_t *given)
{
    struct cuda_device *device;
    struct cuda_block *block;
    memspan_status_t status;
    int before = 0;
    bool gone;

    if ((given == NULL) || (given->cookie == NULL)) {
        return cuda_refuse(state, MEMSPAN_ERR_INVALID, NULL, "no block to give back");
    }
    block  = given->cookie;
    status = cuda_device_get(state, ordinal, &device);
    if (status == MEMSPAN_OK) {
        status = cuda_enter_to_give_back(state, ordinal, &device, &before);
    }
    gone = (status == MEMSPAN_ERR_OFF);
    if ((status != MEMSPAN_OK) && !gone) {
        return status;
    }
    cuda_block_remove(state, block);
    if (gone || (block->epoch != atomic_load(&device->epoch))) {
        forget(device, block);
        status = MEMSPAN_OK;
    } else {
        status = give_back(device, block);
    }
    if (!gone) {
        cuda_leave(device, before);
    }
    free(block);
    return status;
}
