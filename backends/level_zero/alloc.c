/* SPDX-License-Identifier: BSD-3-Clause */
/* alloc.c: a request becomes a block.
 *
 * The driver is asked for the alignment wanted. Where it knows no such alignment, or does not keep
 * it, memory is taken with room to spare. Above a driver's usual limit for one allocation the limit
 * is relaxed where it lets us. */

#include "backends/gpu/request.h"
#include "backends/level_zero/level_zero.h"
#include "core/base/platform.h"
#include <stdlib.h>
#include <unistd.h>

void lz_block_insert(struct gpu_state *state, struct lz_block *block)
{
    pthread_mutex_lock(&state->lock);
    block->next             = lz_state(state)->blocks;
    lz_state(state)->blocks = block;
    pthread_mutex_unlock(&state->lock);
}

static void remove_block(struct gpu_state *state, const struct lz_block *block)
{
    struct lz_block **link = &lz_state(state)->blocks;

    pthread_mutex_lock(&state->lock);
    while ((*link != NULL) && (*link != block)) {
        link = &(*link)->next;
    }
    if (*link != NULL) {
        *link = block->next;
    }
    pthread_mutex_unlock(&state->lock);
}

bool lz_block_find(struct gpu_state *state, const void *pointer, struct lz_block *block_p)
{
    const struct lz_block *block;

    pthread_mutex_lock(&state->lock);
    for (block = lz_state(state)->blocks; block != NULL; block = block->next) {
        if (((uintptr_t)pointer >= (uintptr_t)block->base) &&
            ((uintptr_t)pointer - (uintptr_t)block->base < block->size_bytes)) {
            *block_p = *block;
            break;
        }
    }
    pthread_mutex_unlock(&state->lock);
    return block != NULL;
}

/* Coherent memory is shared memory, as managed memory is. */
static uint64_t largest(const struct lz_device *device, memspan_kind_t kind)
{
    uint64_t at_once = device->facts.alloc_max_bytes;
    uint64_t most    = gpu_most_bytes(
           &device->gpu.info, (kind == MEMSPAN_KIND_COHERENT) ? MEMSPAN_KIND_MANAGED : kind,
           device->gpu.facts.integrated, atomic_load(&device->gpu.managed_bytes));

    return ((most == MEMSPAN_UNKNOWN) || ((most > at_once) && !device->driver->relaxed)) ? at_once
                                                                                         : most;
}

static memspan_status_t check_request(const struct lz_device *device,
                                      const memspan_request_t *request)
{
    const struct gpu_state *state = device->gpu.state;
    const char *kind              = memspan_kind_name(request->kind);
    memspan_status_t status = gpu_check_request(state->services, "level_zero", &device->gpu.info,
                                                request, largest(device, request->kind));

    if (status != MEMSPAN_OK) {
        return status;
    }
    if (((request->flags & MEMSPAN_REQUEST_STRICT) != 0) &&
        ((request->node_count > 0) || (request->part_count > 0))) {
        return gpu_refuse(state, MEMSPAN_ERR_UNSUPPORTED, "drop the NUMA node",
                          "Level Zero does not put %s memory on a NUMA node", kind);
    }
    if (((request->kind == MEMSPAN_KIND_MANAGED) || (request->kind == MEMSPAN_KIND_COHERENT)) &&
        !device->gpu.facts.integrated && ((request->flags & MEMSPAN_REQUEST_PINNED) != 0)) {
        return gpu_refuse(state, MEMSPAN_ERR_UNSUPPORTED, "ask for host-pinned or device memory",
                          "%s memory of %s cannot be pinned: its driver moves it", kind,
                          device->gpu.info.name);
    }
    return MEMSPAN_OK;
}

/* ---- one call of the driver ---- */

/* What is asked of the driver. */
struct order {
    enum lz_made made;
    size_t size_bytes;
    size_t align_bytes;
    bool exportable;
    int resident;
};

static const char *call_name(enum lz_made made)
{
    switch (made) {
    case LZ_MADE_HOST:
        return "zeMemAllocHost";
    case LZ_MADE_SHARED:
        return "zeMemAllocShared";
    default:
        return "zeMemAllocDevice";
    }
}

static lz_result_t call_driver(struct lz_device *device, const struct order *o, void **base_p)
{
    const struct lz_calls *ze = LZ(device);
    lz_context_h context      = device->driver->context;
    lz_export_desc_t export   = {.stype = LZ_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC,
                                 .flags = LZ_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF};
    lz_relaxed_desc_t relaxed = {.stype = LZ_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXP_DESC,
                                 .pNext = o->exportable ? &export : NULL,
                                 .flags = LZ_RELAXED_ALLOCATION_LIMITS_EXP_FLAG_MAX_SIZE};
    const void *chain = (o->size_bytes > device->facts.alloc_max_bytes) ? &relaxed : relaxed.pNext;
    lz_device_alloc_desc_t own = {.stype = LZ_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC,
                                  .pNext = chain,
                                  .flags =
                                      ((o->made == LZ_MADE_SHARED) && (o->resident != MEMSPAN_HOST))
                                          ? LZ_DEVICE_MEM_ALLOC_FLAG_BIAS_INITIAL_PLACEMENT
                                          : 0};
    lz_host_alloc_desc_t host  = {.stype = LZ_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC,
                                  .pNext = (o->made == LZ_MADE_HOST) ? chain : NULL,
                                  .flags =
                                     ((o->made == LZ_MADE_SHARED) && (o->resident == MEMSPAN_HOST))
                                          ? LZ_HOST_MEM_ALLOC_FLAG_BIAS_INITIAL_PLACEMENT
                                          : 0};

    switch (o->made) {
    case LZ_MADE_HOST:
        return ze->zeMemAllocHost(context, &host, o->size_bytes, o->align_bytes, base_p);
    case LZ_MADE_SHARED:
        return ze->zeMemAllocShared(context, &own, &host, o->size_bytes, o->align_bytes,
                                    device->handle, base_p);
    default:
        return ze->zeMemAllocDevice(context, &own, o->size_bytes, o->align_bytes, device->handle,
                                    base_p);
    }
}

static memspan_status_t take_once(struct lz_device *device, const struct order *o,
                                  struct lz_block *block, lz_result_t *code_p)
{
    void *base       = NULL;
    lz_result_t code = call_driver(device, o, &base);

    *code_p = code;
    if (code != ZE_RESULT_SUCCESS) {
        return gpu_error(device->gpu.state, LZ_ANSWER(call_name(o->made), code),
                         "no %zu bytes on %s", o->size_bytes, device->gpu.info.name);
    }
    if (base == NULL) {
        return gpu_error(device->gpu.state, LZ_ANSWER(call_name(o->made), code),
                         "the driver gave no address for %zu bytes on %s", o->size_bytes,
                         device->gpu.info.name);
    }
    block->made       = o->made;
    block->base       = base;
    block->size_bytes = o->size_bytes;
    block->exportable = o->exportable;
    if (o->made == LZ_MADE_SHARED) {
        atomic_fetch_add(&device->gpu.managed_bytes, o->size_bytes);
    }
    return MEMSPAN_OK;
}

static memspan_status_t give_back(struct lz_device *device, struct lz_block *block)
{
    const struct lz_calls *ze = LZ(device);
    bool opened               = (block->made == LZ_MADE_OPENED);
    lz_result_t code = opened ? ze->zeMemCloseIpcHandle(block->driver->context, block->base)
                              : ze->zeMemFree(block->driver->context, block->base);

    if (block->made == LZ_MADE_SHARED) {
        atomic_fetch_sub(&device->gpu.managed_bytes, block->size_bytes);
    }
    return (code == ZE_RESULT_SUCCESS)
               ? MEMSPAN_OK
               : gpu_error(device->gpu.state,
                           LZ_ANSWER(opened ? "zeMemCloseIpcHandle" : "zeMemFree", code),
                           "%zu bytes of %s could not be given back", block->size_bytes,
                           device->gpu.info.name);
}

/* With room to spare where the alignment is not known to the driver, or not kept. */
static memspan_status_t take_aligned(struct lz_device *device, struct order *o,
                                     struct lz_block *block, lz_result_t *code_p)
{
    size_t align            = o->align_bytes;
    memspan_status_t status = take_once(device, o, block, code_p);

    if ((status == MEMSPAN_OK) && (((uintptr_t)block->base & (align - 1)) == 0)) {
        return MEMSPAN_OK;
    }
    if (status == MEMSPAN_OK) {
        status = give_back(device, block);
    } else if (*code_p == ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT) {
        status = MEMSPAN_OK;
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    o->size_bytes += align;
    o->align_bytes = 0;
    return take_once(device, o, block, code_p);
}

/* ---- by kind ---- */

static memspan_status_t take_device(struct lz_device *device, const memspan_request_t *request,
                                    struct lz_block *block)
{
    struct order o          = {LZ_MADE_DEVICE, request->size_bytes, request->align_bytes,
                               ((request->flags & MEMSPAN_REQUEST_SHARED) != 0) && device->facts.dmabuf,
                               device->gpu.ordinal};
    struct order plain      = o;
    lz_result_t code        = ZE_RESULT_SUCCESS;
    memspan_status_t status = take_aligned(device, &o, block, &code);

    if ((status == MEMSPAN_OK) || !o.exportable || (status == MEMSPAN_ERR_NO_MEMORY)) {
        return status;
    }
    /* Some systems promise it and cannot: plain memory can be shared as well, on one node. */
    device->gpu.state->services->log(MEMSPAN_LOG_INFO, "level_zero",
                                     "memory to be shared is taken without a dma-buf: %s",
                                     memspan_error_text());
    plain.exportable = false;
    return take_aligned(device, &plain, block, &code);
}

static memspan_status_t take_shared(struct lz_device *device, const memspan_request_t *request,
                                    struct lz_block *block)
{
    struct gpu_state *state = device->gpu.state;
    int where               = request->resident_ordinal;
    struct order o          = {LZ_MADE_SHARED, request->size_bytes, request->align_bytes, false,
                      (where < 0) ? MEMSPAN_HOST : where};
    lz_result_t code        = ZE_RESULT_SUCCESS;
    memspan_status_t status = take_aligned(device, &o, block, &code);

    if ((status != MEMSPAN_OK) || (where < 0) || (where >= state->device_count) ||
        (lz_device(state->devices[where])->driver != device->driver)) {
        return status;
    }
    /* It is the same memory without the advice. */
    if (lz_advise(device, lz_device(state->devices[where]), block->base, block->size_bytes) !=
        MEMSPAN_OK) {
        state->services->log(MEMSPAN_LOG_WARN, "level_zero", "%s", memspan_error_text());
    }
    return MEMSPAN_OK;
}

static memspan_status_t take(struct lz_device *device, const memspan_request_t *request,
                             struct lz_block *block, memspan_block_t *given)
{
    struct order host = {LZ_MADE_HOST, request->size_bytes, request->align_bytes, false,
                         MEMSPAN_HOST};
    lz_result_t code  = ZE_RESULT_SUCCESS;

    switch (request->kind) {
    case MEMSPAN_KIND_DEVICE:
        given->flags |= MEMSPAN_BLOCK_PINNED;
        return take_device(device, request, block);
    case MEMSPAN_KIND_HOST_PINNED:
        given->flags |= MEMSPAN_BLOCK_PINNED;
        return take_aligned(device, &host, block, &code);
    default:
        given->flags |= device->gpu.facts.integrated ? (unsigned)MEMSPAN_BLOCK_PINNED
                                                     : (unsigned)MEMSPAN_BLOCK_MIGRATABLE;
        return take_shared(device, request, block);
    }
}

memspan_status_t lz_alloc(void *state, int ordinal, const memspan_request_t *request,
                          memspan_block_t *block_p)
{
    memspan_block_t given = {.node = -1};
    struct lz_device *device;
    struct lz_block *block;
    memspan_status_t status = lz_device_get(state, ordinal, &device);

    if (status == MEMSPAN_OK) {
        status = check_request(device, request);
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    block = calloc(1, sizeof(*block));
    if (block == NULL) {
        return gpu_refuse(state, MEMSPAN_ERR_NO_MEMORY, NULL, "no host memory for a block");
    }
    block->driver = device->driver;
    block->device = device;
    status        = take(device, request, block, &given);
    if (status != MEMSPAN_OK) {
        free(block);
        return status;
    }
    given.address =
        (void *)(((uintptr_t)block->base + request->align_bytes - 1) & ~(request->align_bytes - 1));
    given.size_bytes = request->size_bytes;
    given.cookie     = block;
    lz_block_insert(state, block);
    *block_p = given;
    return MEMSPAN_OK;
}

/* Memory that a device may still be writing to has no other owner: it is kept until the end. */
static memspan_status_t keep(struct gpu_state *state, struct lz_block *block)
{
    pthread_mutex_lock(&state->lock);
    block->next           = lz_state(state)->kept;
    lz_state(state)->kept = block;
    pthread_mutex_unlock(&state->lock);
    state->services->log(MEMSPAN_LOG_WARN, "level_zero",
                         "%zu bytes of %s are kept: it may still use them: %s", block->size_bytes,
                         block->device->gpu.info.name, memspan_error_text());
    return memspan_error_last()->status;
}

void lz_kept_drop(struct gpu_state *state)
{
    while (lz_state(state)->kept != NULL) {
        struct lz_block *block = lz_state(state)->kept;
        lz_state(state)->kept  = block->next;
        lz_share_forget(block);
        if (give_back(block->device, block) != MEMSPAN_OK) {
            state->services->log(MEMSPAN_LOG_WARN, "level_zero", "closing: %s",
                                 memspan_error_text());
        }
        free(block);
    }
}

memspan_status_t lz_free(void *state, int ordinal, const memspan_block_t *given)
{
    struct lz_device *device;
    struct lz_block *block;
    memspan_status_t waited;
    memspan_status_t status;

    if ((given == NULL) || (given->cookie == NULL)) {
        return gpu_refuse(state, MEMSPAN_ERR_INVALID, NULL, "no block to give back");
    }
    status = lz_device_get(state, ordinal, &device);
    if (status != MEMSPAN_OK) {
        return status;
    }
    /* The driver gives memory back at once, even while work on it is outstanding. */
    block = given->cookie;
    remove_block(state, block);
    if (!lz_queues_settle(block->driver, &waited)) {
        return keep(state, block);
    }
    lz_share_forget(block);
    status = give_back(device, block);
    free(block);
    return (status == MEMSPAN_OK) ? waited : status;
}
