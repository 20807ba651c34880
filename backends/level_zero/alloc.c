/* SPDX-License-Identifier: BSD-3-Clause */
/* alloc.c: a request becomes a block.
 *
 * The driver is asked for the alignment wanted. Where it knows no such alignment, or does not keep
 * it, memory is taken with room to spare. Above a driver's usual limit for one allocation the limit
 * is relaxed where it lets us. */

#include "backends/gpu/common.h"
#include "backends/level_zero/level_zero.h"

/* Coherent memory is shared memory, as managed memory is. */
uint64_t lz_most_bytes(const struct gpu_device *device, memspan_kind_t kind)
{
    const struct lz_device *own = lz_device(device);
    uint64_t at_once            = own->facts.alloc_max_bytes;
    uint64_t most =
        gpu_most_bytes(&device->info, (kind == MEMSPAN_KIND_COHERENT) ? MEMSPAN_KIND_MANAGED : kind,
                       device->facts.integrated, atomic_load(&device->managed_bytes));

    return ((most == MEMSPAN_UNKNOWN) || ((most > at_once) && !own->driver->relaxed)) ? at_once
                                                                                      : most;
}

memspan_status_t lz_check(const struct gpu_device *device, const memspan_request_t *request)
{
    const char *kind = memspan_kind_name(request->kind);

    if (((request->flags & MEMSPAN_REQUEST_STRICT) != 0) &&
        ((request->node_count > 0) || (request->part_count > 0))) {
        return gpu_refuse(device->state, MEMSPAN_ERR_UNSUPPORTED, "drop the NUMA node",
                          "Level Zero does not put %s memory on a NUMA node", kind);
    }
    if ((request->kind == MEMSPAN_KIND_COHERENT) && !device->facts.integrated &&
        ((request->flags & MEMSPAN_REQUEST_PINNED) != 0)) {
        return gpu_refuse(
            device->state, MEMSPAN_ERR_UNSUPPORTED, "ask for host-pinned or device memory",
            "%s memory of %s cannot be pinned: its driver moves it", kind, device->info.name);
    }
    return MEMSPAN_OK;
}

/* ---- one call of the driver ---- */

/* What is asked of the driver. */
struct order {
    enum gpu_made made; /* DEVICE, HOST, MANAGED */
    size_t size_bytes;
    size_t align_bytes;
    bool exportable;
    int resident;
};

static gpu_result_t call_driver(const struct gpu_device *device, const struct order *o,
                                void **base_p)
{
    const struct lz_device *our = lz_device(device);
    const struct lz_calls *ze   = lz_calls(device->state);
    lz_context_h context        = our->driver->context;
    lz_export_desc_t export     = {.stype = LZ_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC,
                                   .flags = LZ_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF};
    lz_relaxed_desc_t relaxed   = {.stype = LZ_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXP_DESC,
                                   .pNext = o->exportable ? &export : NULL,
                                   .flags = LZ_RELAXED_ALLOCATION_LIMITS_EXP_FLAG_MAX_SIZE};
    const void *chain = (o->size_bytes > our->facts.alloc_max_bytes) ? &relaxed : relaxed.pNext;
    lz_device_alloc_desc_t own = {
        .stype = LZ_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC,
        .pNext = chain,
        .flags = ((o->made == GPU_MADE_MANAGED) && (o->resident != MEMSPAN_HOST))
                     ? LZ_DEVICE_MEM_ALLOC_FLAG_BIAS_INITIAL_PLACEMENT
                     : 0};
    lz_host_alloc_desc_t host = {
        .stype = LZ_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC,
        .pNext = (o->made == GPU_MADE_HOST) ? chain : NULL,
        .flags = ((o->made == GPU_MADE_MANAGED) && (o->resident == MEMSPAN_HOST))
                     ? LZ_HOST_MEM_ALLOC_FLAG_BIAS_INITIAL_PLACEMENT
                     : 0};

    switch (o->made) {
    case GPU_MADE_HOST:
        return LZ_ANSWER("zeMemAllocHost",
                         ze->zeMemAllocHost(context, &host, o->size_bytes, o->align_bytes, base_p));
    case GPU_MADE_MANAGED:
        return LZ_ANSWER("zeMemAllocShared",
                         ze->zeMemAllocShared(context, &own, &host, o->size_bytes, o->align_bytes,
                                              our->handle, base_p));
    default:
        return LZ_ANSWER("zeMemAllocDevice",
                         ze->zeMemAllocDevice(context, &own, o->size_bytes, o->align_bytes,
                                              our->handle, base_p));
    }
}

gpu_result_t lz_take(const struct gpu_device *device, enum gpu_made made, size_t size_bytes,
                     void **base_p)
{
    struct order o = {made, size_bytes, 64, false, MEMSPAN_HOST};

    return call_driver(device, &o, base_p);
}

gpu_result_t lz_give(const struct gpu_device *device, enum gpu_made made, void *base)
{
    const struct lz_calls *ze = lz_calls(device->state);
    lz_context_h context      = lz_device(device)->driver->context;

    return (made == GPU_MADE_OPENED)
               ? LZ_ANSWER("zeMemCloseIpcHandle", ze->zeMemCloseIpcHandle(context, base))
               : LZ_ANSWER("zeMemFree", ze->zeMemFree(context, base));
}

static memspan_status_t take_once(struct gpu_device *device, const struct order *o,
                                  struct gpu_block *block, gpu_result_t *answer_p)
{
    void *base          = NULL;
    gpu_result_t answer = call_driver(device, o, &base);

    *answer_p = answer;
    if (answer.code != GPU_SUCCESS) {
        return gpu_error(device->state, answer, "no %zu bytes on %s", o->size_bytes,
                         device->info.name);
    }
    if (base == NULL) {
        return gpu_error(device->state, answer, "the driver gave no address for %zu bytes on %s",
                         o->size_bytes, device->info.name);
    }
    block->made                 = o->made;
    block->base                 = base;
    block->size_bytes           = o->size_bytes;
    lz_block(block)->exportable = o->exportable;
    if (o->made == GPU_MADE_MANAGED) {
        atomic_fetch_add(&device->managed_bytes, o->size_bytes);
    }
    return MEMSPAN_OK;
}

/* With room to spare where the alignment is not known to the driver, or not kept. */
static memspan_status_t take_aligned(struct gpu_device *device, struct order *o,
                                     struct gpu_block *block)
{
    size_t align            = o->align_bytes;
    gpu_result_t answer     = {"", GPU_SUCCESS};
    memspan_status_t status = take_once(device, o, block, &answer);

    if ((status == MEMSPAN_OK) && (((uintptr_t)block->base & (align - 1)) == 0)) {
        return MEMSPAN_OK;
    }
    if (status == MEMSPAN_OK) {
        status = gpu_give_back(device, block);
    } else if (answer.code == (int)ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT) {
        status = MEMSPAN_OK;
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    o->size_bytes += align;
    o->align_bytes = 0;
    return take_once(device, o, block, &answer);
}

/* ---- by kind ---- */

static memspan_status_t take_device(struct gpu_device *device, const memspan_request_t *request,
                                    struct gpu_block *block)
{
    bool exportable =
        ((request->flags & MEMSPAN_REQUEST_SHARED) != 0) && lz_device(device)->facts.dmabuf;
    struct order o     = {GPU_MADE_DEVICE, request->size_bytes, request->align_bytes, exportable,
                          device->ordinal};
    struct order plain = o;
    memspan_status_t status = take_aligned(device, &o, block);

    if ((status == MEMSPAN_OK) || !exportable || (status == MEMSPAN_ERR_NO_MEMORY)) {
        return status;
    }
    /* Some systems promise it and cannot: plain memory can be shared as well, on one node. */
    gpu_log_record(device->state, MEMSPAN_LOG_INFO,
                   "memory to be shared is taken without a dma-buf");
    plain.exportable = false;
    return take_aligned(device, &plain, block);
}

static memspan_status_t take_shared(struct gpu_device *device, const memspan_request_t *request,
                                    struct gpu_block *block)
{
    struct gpu_state *state = device->state;
    int where               = request->resident_ordinal;
    struct order o          = {GPU_MADE_MANAGED, request->size_bytes, request->align_bytes, false,
                      (where < 0) ? MEMSPAN_HOST : where};
    memspan_status_t status = take_aligned(device, &o, block);

    if ((status != MEMSPAN_OK) || (where < 0) || (where >= state->device_count) ||
        (lz_device(state->devices[where])->driver != lz_device(device)->driver)) {
        return status;
    }
    /* It is the same memory without the advice. */
    if (lz_prefer(device, state->devices[where], block->base, block->size_bytes) != MEMSPAN_OK) {
        state->services->log(MEMSPAN_LOG_WARN, state->driver->name, "%s", memspan_error_text());
    }
    return MEMSPAN_OK;
}

memspan_status_t lz_take_block(struct gpu_device *device, const memspan_request_t *request,
                               struct gpu_block *block, memspan_block_t *given)
{
    struct order host = {GPU_MADE_HOST, request->size_bytes, request->align_bytes, false,
                         MEMSPAN_HOST};

    switch (request->kind) {
    case MEMSPAN_KIND_DEVICE:
        given->flags |= MEMSPAN_BLOCK_PINNED;
        return take_device(device, request, block);
    case MEMSPAN_KIND_HOST_PINNED:
        given->flags |= MEMSPAN_BLOCK_PINNED;
        return take_aligned(device, &host, block);
    default:
        given->flags |= device->facts.integrated ? (unsigned)MEMSPAN_BLOCK_PINNED
                                                 : (unsigned)MEMSPAN_BLOCK_MIGRATABLE;
        return take_shared(device, request, block);
    }
}
