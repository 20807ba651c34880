/* SPDX-License-Identifier: BSD-3-Clause */
/* alloc.c: a request becomes a block.
 *
 * The driver promises little about alignment and gives a lot: memory is taken as it comes, and with
 * room to spare only where that was not enough. */

#include "backends/hip/hip.h"
#include "core/base/driver.h"
#include "core/base/platform.h"
#include "core/topology/pages.h"
#include <stdlib.h>
#include <unistd.h>

/* What may be counted on of hipMalloc. */
enum { DRIVER_ALIGN_BYTES = 256 };

static memspan_status_t check_request(const struct hip_device *device,
                                      const memspan_request_t *request)
{
    const struct hip_state *state = device->state;
    bool apart = (request->kind == MEMSPAN_KIND_DEVICE) || (request->kind == MEMSPAN_KIND_MANAGED);
    memspan_status_t status = msp_driver_check(
        state->services, HIP_NAME, &device->info, request,
        msp_driver_most_bytes(&device->info, request->kind, device->facts.integrated,
                              atomic_load(&device->managed_bytes)));

    if (status != MEMSPAN_OK) {
        return status;
    }
    if (apart && ((request->flags & MEMSPAN_REQUEST_STRICT) != 0) && (request->node_count > 0)) {
        return hip_refuse(state, MEMSPAN_ERR_UNSUPPORTED, "drop the NUMA node",
                          "HIP does not put %s memory on a NUMA node",
                          memspan_kind_name(request->kind));
    }
    if ((request->kind == MEMSPAN_KIND_MANAGED) && !device->facts.integrated &&
        ((request->flags & MEMSPAN_REQUEST_PINNED) != 0)) {
        return hip_refuse(state, MEMSPAN_ERR_UNSUPPORTED, "ask for host-pinned or device memory",
                          "managed memory of %s cannot be pinned: its driver moves it",
                          device->info.name);
    }
    return MEMSPAN_OK;
}

/* ---- one call of the driver for each way ---- */

static hip_result_t call_driver(const struct hip_calls *hip, enum hip_made made, size_t size,
                                void **base_p, const char **call_p)
{
    switch (made) {
    case HIP_MADE_FINE:
        *call_p = "hipExtMallocWithFlags";
        return hip->hipExtMallocWithFlags(base_p, size, HIP_DEVICE_MALLOC_FINE_GRAINED);
    case HIP_MADE_MANAGED:
        *call_p = "hipMallocManaged";
        return hip->hipMallocManaged(base_p, size, HIP_MEM_ATTACH_GLOBAL);
    case HIP_MADE_HOST:
        *call_p = "hipHostMalloc";
        return hip->hipHostMalloc(base_p, size,
                                  HIP_HOST_MALLOC_PORTABLE | HIP_HOST_MALLOC_MAPPED |
                                      HIP_HOST_MALLOC_COHERENT);
    default:
        *call_p = "hipMalloc";
        return hip->hipMalloc(base_p, size);
    }
}

/* The device may still use host pages that it reaches by itself, and munmap() does not wait. */
static memspan_status_t give_back_pages(struct hip_device *device, struct hip_block *block)
{
    memspan_status_t status = MEMSPAN_OK;
    hip_result_t code       = hip_wait_for_all(device->state);

    if (hip_is_captured(code)) {
        return hip_error(device->state, "hipDeviceSynchronize", code,
                         "%zu bytes of host pages stay: they may be in use", block->size_bytes);
    }
    if (block->registration != NULL) {
        status = hip_unregister(device, block->registration);
    }
    msp_pages_give_back(block->base, block->size_bytes);
    if ((status == MEMSPAN_OK) && (code != HIP_SUCCESS) && (code != HIP_ERROR_DEINITIALIZED)) {
        status = hip_error(device->state, "hipDeviceSynchronize", code,
                           "work failed before %zu bytes were given back", block->size_bytes);
    }
    return status;
}

/* No device need be current: the driver knows its memory by the address. */
static memspan_status_t give_back(struct hip_device *device, struct hip_block *block)
{
    const struct hip_calls *hip = &device->state->hip;
    hip_result_t code           = HIP_SUCCESS;
    const char *call            = "hipFree";

    switch (block->made) {
    case HIP_MADE_PAGES:
        return give_back_pages(device, block);
    case HIP_MADE_HOST:
        call = "hipHostFree";
        code = hip->hipHostFree(block->base);
        break;
    case HIP_MADE_OPENED:
        call = "hipIpcCloseMemHandle";
        code = hip->hipIpcCloseMemHandle(block->base);
        break;
    default:
        code = hip->hipFree(block->base);
        break;
    }
    if (block->made == HIP_MADE_MANAGED) {
        atomic_fetch_sub(&device->managed_bytes, block->size_bytes);
    }
    /* At the end of the process the driver may have gone first, with all that was its own. */
    if ((code == HIP_SUCCESS) || (code == HIP_ERROR_DEINITIALIZED)) {
        return MEMSPAN_OK;
    }
    return hip_error(device->state, call, code, "%zu bytes of %s could not be given back",
                     block->size_bytes, device->info.name);
}

static memspan_status_t take_from_driver(struct hip_device *device, enum hip_made made,
                                         const memspan_request_t *request, struct hip_block *block)
{
    size_t align     = request->align_bytes;
    size_t spare     = (align > DRIVER_ALIGN_BYTES) ? align - DRIVER_ALIGN_BYTES : 0;
    size_t size      = request->size_bytes;
    const char *call = "";
    void *base       = NULL;
    bool on_host     = (made == HIP_MADE_HOST);
    hip_result_t code;
    memspan_status_t status;

    /* Pinned pages come as pages come. Pinning is slow: once seen, it is not tried again. */
    if (on_host && atomic_load(&device->state->host_unaligned)) {
        size += spare;
    }
    for (;;) {
        code = call_driver(&device->state->hip, made, size, &base, &call);
        if (code != HIP_SUCCESS) {
            return hip_error(device->state, call, code, "no %zu bytes of %s memory on %s", size,
                             memspan_kind_name(request->kind), device->info.name);
        }
        if (base == NULL) {
            return hip_error(device->state, call, code,
                             "the driver gave no address for %zu bytes on %s", size,
                             device->info.name);
        }
        if (made == HIP_MADE_MANAGED) {
            atomic_fetch_add(&device->managed_bytes, size);
        }
        block->made       = made;
        block->base       = base;
        block->size_bytes = size;
        if ((((uintptr_t)base & (align - 1)) == 0) || (size > request->size_bytes)) {
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

static memspan_status_t advise(const struct hip_device *device, const struct hip_block *block,
                               int advice, int where)
{
    const struct hip_state *state = device->state;
    hip_result_t code = state->hip.hipMemAdvise(block->base, block->size_bytes, advice, where);

    return (code == HIP_SUCCESS)
               ? MEMSPAN_OK
               : hip_error(state, "hipMemAdvise", code, "managed memory cannot be advised to %s %s",
                           (advice == HIP_ADVISE_SET_COARSE_GRAIN) ? "be coarse-grained for"
                                                                   : "prefer",
                           state->devices[where].info.name);
}

static memspan_status_t take_managed(struct hip_device *device, const memspan_request_t *request,
                                     struct hip_block *block, memspan_block_t *given)
{
    struct hip_state *state = device->state;
    int where               = request->resident_ordinal;
    memspan_status_t status = take_from_driver(device, HIP_MADE_MANAGED, request, block);

    given->flags |= device->facts.integrated ? 0u : (unsigned)MEMSPAN_BLOCK_MIGRATABLE;
    if ((status == MEMSPAN_OK) && hip_managed_is_coarse(device)) {
        status = advise(device, block, HIP_ADVISE_SET_COARSE_GRAIN, device->ordinal);
        if (status != MEMSPAN_OK) {
            /* Fine-grained memory is slower and promises more. */
            hip_log_record(state, MEMSPAN_LOG_INFO, "managed memory stays fine-grained");
            status = MEMSPAN_OK;
        }
    }
    /* Pages are born where they are first touched: for the host nothing need be said. */
    if ((status == MEMSPAN_OK) && (state->hip.hipMemAdvise != NULL) && (where >= 0) &&
        (where < state->device_count) && state->devices[where].facts.concurrent) {
        status = advise(device, block, HIP_ADVISE_SET_PREFERRED_LOCATION, where);
        if (status != MEMSPAN_OK) {
            (void)state->hip.hipFree(block->base);
            atomic_fetch_sub(&device->managed_bytes, block->size_bytes);
        }
    }
    return status;
}

static memspan_status_t take_pages(struct hip_device *device, const memspan_request_t *request,
                                   struct hip_block *block, memspan_block_t *given)
{
    bool pinned = (request->kind == MEMSPAN_KIND_HOST_PINNED) ||
                  ((request->flags & MEMSPAN_REQUEST_PINNED) != 0);
    void *seen_at           = NULL;
    memspan_status_t status = msp_pages_take(device->state->services, HIP_NAME, request, given);

    if (status != MEMSPAN_OK) {
        return status;
    }
    block->made       = HIP_MADE_PAGES;
    block->base       = given->address;
    block->size_bytes = given->size_bytes;
    if (!pinned) {
        given->flags |= device->facts.integrated ? 0u : (unsigned)MEMSPAN_BLOCK_MIGRATABLE;
        return MEMSPAN_OK;
    }
    status = hip_register(device, block->base, block->size_bytes, &seen_at, &block->registration);
    if (status != MEMSPAN_OK) {
        msp_pages_give_back(block->base, block->size_bytes);
        return status;
    }
    given->flags |= MEMSPAN_BLOCK_PINNED;
    if (seen_at != block->base) {
        (void)give_back(device, block);
        return hip_refuse(device->state, MEMSPAN_ERR_UNSUPPORTED, "drop the NUMA node",
                          "%s sees pages of ours at another address", device->info.name);
    }
    return MEMSPAN_OK;
}

/* Where pages are to lie somewhere, they are ours: the driver's own come from anywhere. */
static memspan_status_t take_pinned(struct hip_device *device, const memspan_request_t *request,
                                    struct hip_block *block, memspan_block_t *given)
{
    bool placed = (request->node_count > 0) || (request->part_count > 0) ||
                  (request->page_size_bytes > msp_page_size());

    if (placed && device->facts.same_address) {
        return take_pages(device, request, block, given);
    }
    if (placed && ((request->flags & MEMSPAN_REQUEST_STRICT) != 0)) {
        return hip_refuse(device->state, MEMSPAN_ERR_UNSUPPORTED, "drop the NUMA node",
                          "%s sees host pages at another address", device->info.name);
    }
    given->flags |= MEMSPAN_BLOCK_PINNED;
    return take_from_driver(device, HIP_MADE_HOST, request, block);
}

/* Host and device reach fine-grained memory wherever it is: it is where it is to live. */
static memspan_status_t take_coherent(struct hip_device *device, const memspan_request_t *request,
                                      struct hip_block *block, memspan_block_t *given)
{
    memspan_status_t status;

    if (device->facts.pageable) {
        return take_pages(device, request, block, given);
    }
    if (request->resident_ordinal != device->ordinal) {
        return take_pinned(device, request, block, given);
    }
    hip_peers_enable(device);
    status = take_from_driver(device, HIP_MADE_FINE, request, block);
    if ((status != MEMSPAN_OK) && (status != MEMSPAN_ERR_NO_MEMORY)) {
        hip_log_record(device->state, MEMSPAN_LOG_WARN, "coherent memory is taken from the host");
        return take_pinned(device, request, block, given);
    }
    given->flags |= MEMSPAN_BLOCK_PINNED;
    return status;
}

static memspan_status_t take(struct hip_device *device, const memspan_request_t *request,
                             struct hip_block *block, memspan_block_t *given)
{
    bool fine = !device->state->coarse && device->facts.fine_grain;

    switch (request->kind) {
    case MEMSPAN_KIND_DEVICE:
        hip_peers_enable(device);
        given->flags |= MEMSPAN_BLOCK_PINNED;
        return take_from_driver(device, fine ? HIP_MADE_FINE : HIP_MADE_DEVICE, request, block);
    case MEMSPAN_KIND_HOST_PINNED:
        return take_pinned(device, request, block, given);
    case MEMSPAN_KIND_COHERENT:
        return take_coherent(device, request, block, given);
    default:
        return take_managed(device, request, block, given);
    }
}

memspan_status_t hip_alloc(void *state, int ordinal, const memspan_request_t *request,
                           memspan_block_t *block_p)
{
    struct hip_device *device;
    memspan_block_t given = {.node = -1};
    struct hip_block *block;
    memspan_status_t status = hip_device_get(state, ordinal, &device);
    int before;
    int mode;

    if (status == MEMSPAN_OK) {
        status = check_request(device, request);
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    block = calloc(1, sizeof(*block));
    if (block == NULL) {
        return hip_refuse(state, MEMSPAN_ERR_NO_MEMORY, NULL, "no host memory for a block");
    }
    status = hip_enter(state, ordinal, &device, &before);
    if (status == MEMSPAN_OK) {
        mode   = hip_relax(state);
        status = take(device, request, block, &given);
        hip_restore(state, mode);
        hip_leave(device, before);
    }
    if (status != MEMSPAN_OK) {
        free(block);
        return status;
    }
    given.address    = (void *)(((uintptr_t)block->base + request->align_bytes - 1) &
                             ~((uintptr_t)request->align_bytes - 1));
    given.size_bytes = request->size_bytes;
    given.cookie     = block;
    hip_block_insert(state, block);
    *block_p = given;
    return MEMSPAN_OK;
}

memspan_status_t hip_free(void *state, int ordinal, const memspan_block_t *given)
{
    struct hip_device *device;
    memspan_status_t status;
    int mode;

    if ((given == NULL) || (given->cookie == NULL)) {
        return hip_refuse(state, MEMSPAN_ERR_INVALID, NULL, "no block to give back");
    }
    if (hip_gone()) {
        return MEMSPAN_OK; /* the runtime may have gone, with all that was its own */
    }
    status = hip_device_get(state, ordinal, &device);
    if (status != MEMSPAN_OK) {
        return status;
    }
    hip_block_remove(state, given->cookie);
    mode   = hip_relax(state);
    status = give_back(device, given->cookie);
    hip_restore(state, mode);
    free(given->cookie);
    return status;
}
