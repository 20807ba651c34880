/* SPDX-License-Identifier: BSD-3-Clause */
/* transfer.c: copies, fills, prefetch and synchronise. With one address space for all, the driver
 * knows from the addresses what has to be copied by whom, between devices as well. */

#include "backends/cuda/cuda.h"
#include <string.h>

static cuda_address_t address_of(const void *pointer)
{
    return (cuda_address_t)(uintptr_t)pointer;
}

/* A device's context and a queue of it. Left by cuda_leave() on success. */
static memspan_status_t enter_queue(void *state, int ordinal, void *opaque,
                                    struct cuda_device **device_p, struct cuda_queue **queue_p,
                                    int *before_p)
{
    memspan_status_t status = cuda_enter(state, ordinal, device_p, before_p);

    if (status != MEMSPAN_OK) {
        return status;
    }
    status = cuda_queue_get(*device_p, opaque, queue_p);
    if (status != MEMSPAN_OK) {
        cuda_leave(*device_p, *before_p);
    }
    return status;
}

memspan_status_t cuda_copy(void *state, int ordinal, void *opaque, void *to, const void *from,
                           size_t size_bytes)
{
    struct cuda_device *device;
    struct cuda_queue *queue;
    cuda_result_t code;
    memspan_status_t status;
    int before;

    if (size_bytes == 0) {
        return MEMSPAN_OK;
    }
    status = enter_queue(state, ordinal, opaque, &device, &queue, &before);
    if (status != MEMSPAN_OK) {
        return status;
    }
    code = device->state->cu.cuMemcpyAsync(address_of(to), address_of(from), size_bytes,
                                           queue->stream);
    if (code != CUDA_SUCCESS) {
        status = cuda_error(state, "cuMemcpyAsync", code, "cannot copy %zu bytes from %p to %p",
                            size_bytes, from, to);
    }
    cuda_leave(device, before);
    return status;
}

static memspan_status_t wait(struct cuda_device *device, struct cuda_queue *queue)
{
    cuda_result_t code = device->state->cu.cuStreamSynchronize(queue->stream);

    return (code == CUDA_SUCCESS) ? MEMSPAN_OK
                                  : cuda_error(device->state, "cuStreamSynchronize", code,
                                               "work on %s failed", device->info.name);
}

static memspan_status_t fill_by_driver(struct cuda_device *device, struct cuda_queue *queue,
                                       void *to, unsigned char byte, size_t size_bytes)
{
    const struct cuda_calls *cu = &device->state->cu;
    bool words                  = (((uintptr_t)to | size_bytes) & 3) == 0;
    const char *call            = words ? "cuMemsetD32Async" : "cuMemsetD8Async";
    cuda_result_t code          = words
                                      ? cu->cuMemsetD32Async(address_of(to), byte * 0x01010101u,
                                                             size_bytes / 4, queue->stream)
                                      : cu->cuMemsetD8Async(address_of(to), byte, size_bytes, queue->stream);

    return (code == CUDA_SUCCESS) ? MEMSPAN_OK
                                  : cuda_error(device->state, call, code,
                                               "cannot fill %zu bytes at %p", size_bytes, to);
}

memspan_status_t cuda_fill(void *state, int ordinal, void *opaque, void *to, unsigned char byte,
                           size_t size_bytes)
{
    struct cuda_pointer p = {.memory_type = CUDA_MEMORYTYPE_DEVICE};
    struct cuda_device *device;
    struct cuda_queue *queue;
    memspan_status_t status;
    int before;

    if (size_bytes == 0) {
        return MEMSPAN_OK;
    }
    status = enter_queue(state, ordinal, opaque, &device, &queue, &before);
    if (status != MEMSPAN_OK) {
        return status;
    }
    /* Plain host pages are no business of the driver's memset, whoever reaches them. */
    if (device->facts.pageable) {
        status = cuda_pointer_ask(state, to, &p);
    }
    if ((status == MEMSPAN_OK) && (p.memory_type == 0)) {
        status = wait(device, queue);
        if (status == MEMSPAN_OK) {
            memset(to, byte, size_bytes);
        }
    } else if (status == MEMSPAN_OK) {
        status = fill_by_driver(device, queue, to, byte, size_bytes);
    }
    cuda_leave(device, before);
    return status;
}

/* Where host and device may not use managed memory at once, no kernel at all may be running when
 * the host goes on, whoever started it. */
static memspan_status_t wait_for_all(struct cuda_device *device)
{
    cuda_result_t code = device->state->cu.cuCtxSynchronize();

    return (code == CUDA_SUCCESS) ? MEMSPAN_OK
                                  : cuda_error(device->state, "cuCtxSynchronize", code,
                                               "work on %s failed", device->info.name);
}

memspan_status_t cuda_synchronize(void *state, int ordinal, void *opaque)
{
    struct cuda_device *device;
    struct cuda_queue *queue;
    memspan_status_t status = cuda_device_get(state, ordinal, &device);
    bool all;
    int before;

    /* What nobody ever used has nothing to be waited for, and is not woken for it. */
    if ((status != MEMSPAN_OK) || (atomic_load(&device->context) == NULL)) {
        return status;
    }
    all    = (opaque == NULL) && device->facts.managed && !device->facts.concurrent;
    status = cuda_enter(state, ordinal, &device, &before);
    if (status != MEMSPAN_OK) {
        return status;
    }
    if (all) {
        status = wait_for_all(device);
    } else {
        status = cuda_queue_get(device, opaque, &queue);
        if (status == MEMSPAN_OK) {
            status = wait(device, queue);
        }
    }
    cuda_leave(device, before);
    return status;
}

static memspan_status_t move(struct cuda_device *device, struct cuda_queue *queue,
                             const void *pointer, size_t size_bytes, int to)
{
    const struct cuda_state *state = device->state;
    const struct cuda_calls *cu    = &state->cu;
    cuda_location_t location       = {.type = CUDA_MEM_LOCATION_TYPE_HOST};
    cuda_device_t target           = (to == MEMSPAN_HOST) ? CUDA_DEVICE_CPU : state->devices[to].id;
    const char *call               = "cuMemPrefetchAsync_v2";
    cuda_result_t code;

    if (cu->cuMemPrefetchAsync_v2 != NULL) {
        if (to != MEMSPAN_HOST) {
            location.type = CUDA_MEM_LOCATION_TYPE_DEVICE;
            location.id   = target;
        }
        code =
            cu->cuMemPrefetchAsync_v2(address_of(pointer), size_bytes, location, 0, queue->stream);
    } else {
        call = "cuMemPrefetchAsync";
        code = cu->cuMemPrefetchAsync(address_of(pointer), size_bytes, target, queue->stream);
    }
    return (code == CUDA_SUCCESS)
               ? MEMSPAN_OK
               : cuda_error(state, call, code, "cannot move %zu bytes at %p", size_bytes, pointer);
}

static bool moves_to(const struct cuda_state *state, const struct cuda_device *device, int to)
{
    if ((device->info.capabilities & MEMSPAN_CAN_PREFETCH) == 0) {
        return false;
    }
    return (to == MEMSPAN_HOST) || state->devices[to].facts.concurrent;
}

memspan_status_t cuda_prefetch(void *opaque_state, int ordinal, void *opaque, const void *pointer,
                               size_t size_bytes, int to)
{
    struct cuda_state *state = opaque_state;
    struct cuda_pointer p    = {0};
    struct cuda_device *device;
    struct cuda_queue *queue;
    memspan_status_t status;
    int before;

    if (size_bytes == 0) {
        return MEMSPAN_OK;
    }
    if ((to != MEMSPAN_HOST) && ((to < 0) || (to >= state->device_count))) {
        return cuda_refuse(state, MEMSPAN_ERR_NOT_FOUND, NULL, "no CUDA device %d: there are %d",
                           to, state->device_count);
    }
    status = enter_queue(state, ordinal, opaque, &device, &queue, &before);
    if (status != MEMSPAN_OK) {
        return status;
    }
    status = cuda_pointer_ask(state, pointer, &p);
    if ((status == MEMSPAN_OK) && ((p.managed == 0) || !moves_to(state, device, to))) {
        status = cuda_refuse(state, MEMSPAN_ERR_UNSUPPORTED, NULL,
                             (p.managed == 0) ? "the memory at %p is not managed: it does not move"
                                              : "the memory at %p does not move by request "
                                                "(CONCURRENT_MANAGED_ACCESS 0)",
                             pointer);
    }
    if (status == MEMSPAN_OK) {
        status = move(device, queue, pointer, size_bytes, to);
    }
    cuda_leave(device, before);
    return status;
}
