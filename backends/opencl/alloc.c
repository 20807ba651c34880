/* SPDX-License-Identifier: BSD-3-Clause */
/* alloc.c: coarse allocations of every kind. OpenCL promises an alignment of 128 bytes at most, so
 * memory is taken with space for a better one. */

#include "backends/opencl/opencl.h"
#include "core/base/platform.h"
#include "core/topology/pages.h"
#include <stdlib.h>
#include <sys/mman.h>

/* Largest alignment that clSVMAlloc() has to keep: that of the largest built-in type, long16. */
enum { SVM_ALIGN_BYTES = 128 };

/* Lock held. */
static memspan_status_t check_request(struct opencl_device *device,
                                      const memspan_request_t *request, size_t *total_p)
{
    const struct opencl_state *state = device->platform->state;
    size_t slack;

    if ((request->kind <= MEMSPAN_KIND_NONE) || (request->kind >= MEMSPAN_KIND_COUNT) ||
        ((device->info.kinds & (1u << request->kind)) == 0)) {
        return opencl_refuse(state, MEMSPAN_ERR_UNSUPPORTED, NULL, "no %s memory on %s: %s",
                             memspan_kind_name(request->kind), device->info.name,
                             ((unsigned)request->kind < MEMSPAN_KIND_COUNT)
                                 ? device->info.kind_note[request->kind]
                                 : "no such kind");
    }
    if ((request->size_bytes == 0) || !msp_is_power_of_two(request->align_bytes)) {
        return opencl_refuse(state, MEMSPAN_ERR_INVALID, NULL,
                             "size %zu or alignment %zu is not valid", request->size_bytes,
                             request->align_bytes);
    }
    slack = (request->align_bytes > SVM_ALIGN_BYTES) ? request->align_bytes - SVM_ALIGN_BYTES : 0;
    if ((request->size_bytes > device->alloc_max_bytes) ||
        (slack > device->alloc_max_bytes - request->size_bytes)) {
        return opencl_refuse(state, MEMSPAN_ERR_NO_MEMORY, "ask for several smaller pieces",
                             "%zu bytes aligned to %zu are more than %s gives at once: %llu",
                             request->size_bytes, request->align_bytes, device->info.name,
                             (unsigned long long)device->alloc_max_bytes);
    }
    *total_p = request->size_bytes + slack;
    return MEMSPAN_OK;
}

static char *align_up(void *address, size_t align)
{
    return (char *)(((uintptr_t)address + align - 1) & ~((uintptr_t)align - 1));
}

static memspan_status_t take_svm(struct opencl_device *device, const memspan_request_t *request,
                                 size_t total, struct opencl_block *block)
{
    struct opencl_platform *platform = device->platform;
    const struct opencl_calls *cl    = &platform->state->cl;
    cl_bitfield flags                = OPENCL_MEM_READ_WRITE;

    block->coarse = (request->kind == MEMSPAN_KIND_MANAGED) ||
                    ((request->kind == MEMSPAN_KIND_DEVICE) && !opencl_device_is_fine(device));
    if (!block->coarse) {
        flags |= OPENCL_MEM_SVM_FINE_GRAIN_BUFFER;
        flags |=
            ((device->svm & OPENCL_SVM_ATOMICS) != 0) ? (cl_bitfield)OPENCL_MEM_SVM_ATOMICS : 0;
    }
    block->svm = cl->clSVMAlloc(platform->context, flags, total, 0);
    if (block->svm == NULL) {
        return platform->state->services->fail(
            MEMSPAN_ERR_NO_MEMORY, OPENCL_NAME, "clSVMAlloc", 0, "NULL",
            "free memory, or ask for less at a time",
            "no %zu bytes of %s memory on %s; the driver does not say why", request->size_bytes,
            memspan_kind_name(request->kind), device->info.name);
    }
    block->svm_size_bytes = total;
    block->base           = align_up(block->svm, request->align_bytes);
    if (device->processor) {
        msp_pages_advise(platform->state->services, request, block->svm, total);
    }
    return MEMSPAN_OK;
}

static memspan_status_t take_pages(struct opencl_device *device, const memspan_request_t *request,
                                   struct opencl_block *block)
{
    size_t page  = msp_page_size();
    size_t size  = msp_round_up(request->size_bytes, page);
    size_t total = size + ((request->align_bytes > page) ? request->align_bytes - page : 0);
    size_t tail;
    char *start = mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memspan_status_t status;

    if (start == MAP_FAILED) {
        return opencl_refuse(device->platform->state, MEMSPAN_ERR_NO_MEMORY, NULL,
                             "no %zu bytes of host memory", request->size_bytes);
    }
    block->base       = align_up(start, request->align_bytes);
    block->size_bytes = size;
    block->own_pages  = true;
    if (block->base > start) {
        munmap(start, (size_t)(block->base - start));
    }
    tail = (size_t)(start + total - (block->base + size));
    if (tail > 0) {
        munmap(block->base + size, tail);
    }
    msp_pages_advise(device->platform->state->services, request, block->base, size);
    if ((device->svm & OPENCL_SVM_SYSTEM) != 0) {
        return MEMSPAN_OK;
    }
    pthread_mutex_lock(&device->platform->lock);
    status = opencl_pages_attach(device, block);
    pthread_mutex_unlock(&device->platform->lock);
    return status;
}

/* Undo all steps for @p block, which is in no table any more. */
static void give_up(struct opencl_device *device, struct opencl_block *block)
{
    const struct opencl_calls *cl = &device->platform->state->cl;

    if (block->own_locked) {
        msp_pages_unlock(block->base, block->size_bytes);
    }
    if (block->buffer != NULL) {
        cl->clReleaseMemObject(block->buffer);
    }
    if (block->svm != NULL) {
        cl->clSVMFree(device->platform->context, block->svm);
    }
    if (block->own_pages) {
        munmap(block->base, block->size_bytes);
    }
    free(block);
}

/* Unmap a block that is no longer used, so that its driver need not guess. */
static memspan_status_t unmap_now(struct opencl_device *device, struct opencl_block *block)
{
    const struct opencl_state *state = device->platform->state;
    memspan_status_t status;
    cl_int code;

    if (!block->coarse || !block->mapped) {
        return MEMSPAN_OK;
    }
    status = opencl_queue_need_host(device);
    if (status != MEMSPAN_OK) {
        return status;
    }
    code = state->cl.clEnqueueSVMUnmap(device->host_queue, block->svm, 0, NULL, NULL);
    if (code != OPENCL_SUCCESS) {
        return opencl_error(state, "clEnqueueSVMUnmap", code, "cannot unmap %zu bytes at %p",
                            block->size_bytes, (void *)block->base);
    }
    block->mapped = false;
    code          = state->cl.clFinish(device->host_queue);
    if (code != OPENCL_SUCCESS) {
        return opencl_error(state, "clFinish", code, "cannot unmap %zu bytes at %p",
                            block->size_bytes, (void *)block->base);
    }
    return MEMSPAN_OK;
}

static memspan_status_t take_memory(struct opencl_device *device, const memspan_request_t *request,
                                    size_t total, struct opencl_block *block,
                                    memspan_block_t *given)
{
    struct opencl_platform *platform = device->platform;
    memspan_status_t status;
    bool host_pages = (request->kind == MEMSPAN_KIND_HOST_PINNED) && opencl_pins_host_pages(device);

    status =
        host_pages ? take_pages(device, request, block) : take_svm(device, request, total, block);
    if (status != MEMSPAN_OK) {
        return status;
    }
    given->address    = block->base;
    given->size_bytes = block->size_bytes;
    status            = opencl_place(device, request, block, given);
    if (status != MEMSPAN_OK) {
        return status;
    }
    pthread_mutex_lock(&platform->lock);
    if (request->kind == MEMSPAN_KIND_MANAGED) {
        status = opencl_map_now(device, block);
    }
    if (status == MEMSPAN_OK) {
        status = opencl_block_insert(platform, block);
    }
    pthread_mutex_unlock(&platform->lock);
    return status;
}

memspan_status_t opencl_alloc(void *state, int ordinal, const memspan_request_t *request,
                              memspan_block_t *block_p)
{
    struct opencl_device *device;
    struct opencl_block *block;
    memspan_block_t given   = {.node = -1};
    size_t total            = 0;
    memspan_status_t status = opencl_enter(state, ordinal, &device);

    if (status != MEMSPAN_OK) {
        return status;
    }
    pthread_mutex_lock(&device->platform->lock);
    status = check_request(device, request, &total);
    if (status == MEMSPAN_OK) {
        status = opencl_platform_need_context(device->platform);
    }
    pthread_mutex_unlock(&device->platform->lock);
    if (status != MEMSPAN_OK) {
        return status;
    }
    block = calloc(1, sizeof(*block));
    if (block == NULL) {
        return opencl_refuse(state, MEMSPAN_ERR_NO_MEMORY, NULL, "no host memory for a record");
    }
    block->kind       = request->kind;
    block->size_bytes = request->size_bytes;
    block->references = 1;
    status            = take_memory(device, request, total, block, &given);
    if (status != MEMSPAN_OK) {
        pthread_mutex_lock(&device->platform->lock);
        unmap_now(device, block);
        pthread_mutex_unlock(&device->platform->lock);
        give_up(device, block);
        return status;
    }
    given.flags |= block->own_pages ? (unsigned)MEMSPAN_BLOCK_ZEROED : 0u;
    given.cookie = block;
    *block_p     = given;
    return MEMSPAN_OK;
}

memspan_status_t opencl_free(void *state, int ordinal, const memspan_block_t *given)
{
    struct opencl_device *device;
    struct opencl_block *block = given->cookie;
    memspan_status_t status    = opencl_enter(state, ordinal, &device);
    memspan_status_t unmapped;

    if (status != MEMSPAN_OK) {
        return status;
    }
    pthread_mutex_lock(&device->platform->lock);
    /* Kernels follow pointers: any of them may use it. A wait that fails means that the driver is
     * broken; the memory is given back all the same. */
    status = opencl_platform_quiesce(device->platform);
    if ((block == NULL) || (opencl_block_find(device->platform, given->address) != block)) {
        pthread_mutex_unlock(&device->platform->lock);
        return opencl_refuse(state, MEMSPAN_ERR_NOT_FOUND, NULL, "%p is no OpenCL memory of %s",
                             given->address, device->info.name);
    }
    opencl_block_remove(device->platform, block);
    unmapped = unmap_now(device, block);
    pthread_mutex_unlock(&device->platform->lock);
    give_up(device, block);
    return (status != MEMSPAN_OK) ? status : unmapped;
}
