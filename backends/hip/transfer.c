/* SPDX-License-Identifier: BSD-3-Clause */
/* transfer.c: copies, fills, prefetch and synchronise. With one address space for all, the driver
 * knows from the addresses what has to be copied by whom, between devices as well. */

#include "backends/hip/hip.h"
#include <string.h>

/* A device, current, and a queue of it. Left by hip_leave() on success. */
static memspan_status_t enter_queue(void *state, int ordinal, void *opaque,
                                    struct hip_device **device_p, struct hip_queue **queue_p,
                                    int *before_p)
{
    memspan_status_t status = hip_enter(state, ordinal, device_p, before_p);

    if (status != MEMSPAN_OK) {
        return status;
    }
    status = hip_queue_get(*device_p, opaque, queue_p);
    if (status != MEMSPAN_OK) {
        hip_leave(*device_p, *before_p);
    }
    return status;
}

memspan_status_t hip_copy(void *state, int ordinal, void *opaque, void *to, const void *from,
                          size_t size_bytes)
{
    struct hip_device *device;
    struct hip_queue *queue;
    hip_result_t code;
    memspan_status_t status;
    int before;

    if (size_bytes == 0) {
        return MEMSPAN_OK;
    }
    status = enter_queue(state, ordinal, opaque, &device, &queue, &before);
    if (status != MEMSPAN_OK) {
        return status;
    }
    code =
        device->state->hip.hipMemcpyAsync(to, from, size_bytes, HIP_MEMCPY_DEFAULT, queue->stream);
    if (code != HIP_SUCCESS) {
        status = hip_error(state, "hipMemcpyAsync", code, "cannot copy %zu bytes from %p to %p",
                           size_bytes, from, to);
    }
    hip_leave(device, before);
    return status;
}

static memspan_status_t fill(const struct hip_queue *queue, void *to, unsigned char byte,
                             size_t size_bytes)
{
    const struct hip_device *device = queue->device;
    struct hip_pointer p            = {.known = true};
    memspan_status_t status         = MEMSPAN_OK;
    hip_result_t code;

    /* Plain host pages are no business of the driver's memset, whoever reaches them. */
    if (device->facts.pageable) {
        status = hip_pointer_ask(device->state, to, &p);
    }
    if ((status == MEMSPAN_OK) && !p.known) {
        status = hip_queue_wait(queue);
        if (status == MEMSPAN_OK) {
            memset(to, byte, size_bytes);
        }
        return status;
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    code = device->state->hip.hipMemsetAsync(to, byte, size_bytes, queue->stream);
    return (code == HIP_SUCCESS) ? MEMSPAN_OK
                                 : hip_error(device->state, "hipMemsetAsync", code,
                                             "cannot fill %zu bytes at %p", size_bytes, to);
}

memspan_status_t hip_fill(void *state, int ordinal, void *opaque, void *to, unsigned char byte,
                          size_t size_bytes)
{
    struct hip_device *device;
    struct hip_queue *queue;
    memspan_status_t status;
    int before;

    if (size_bytes == 0) {
        return MEMSPAN_OK;
    }
    status = enter_queue(state, ordinal, opaque, &device, &queue, &before);
    if (status != MEMSPAN_OK) {
        return status;
    }
    status = fill(queue, to, byte, size_bytes);
    hip_leave(device, before);
    return status;
}

/* Where host and device may not use managed memory at once, no kernel at all may be running when
 * the host goes on, whoever started it. */
static memspan_status_t wait_for_all(const struct hip_device *device)
{
    hip_result_t code = device->state->hip.hipDeviceSynchronize();

    return (code == HIP_SUCCESS) ? MEMSPAN_OK
                                 : hip_error(device->state, "hipDeviceSynchronize", code,
                                             "work on %s failed", device->info.name);
}

memspan_status_t hip_synchronize(void *state, int ordinal, void *opaque)
{
    struct hip_device *device;
    struct hip_queue *queue = opaque;
    memspan_status_t status = hip_device_get(state, ordinal, &device);
    bool all;
    int before;

    if (status != MEMSPAN_OK) {
        return status;
    }
    all = (opaque == NULL) && device->facts.managed && !device->facts.concurrent;
    if (!all && (opaque == NULL)) {
        pthread_mutex_lock(&device->lock);
        queue = device->queue;
        pthread_mutex_unlock(&device->lock);
        if (queue == NULL) {
            return MEMSPAN_OK; /* nothing was ever asked of it */
        }
    }
    status = hip_enter(state, ordinal, &device, &before);
    if (status != MEMSPAN_OK) {
        return status;
    }
    status = all ? wait_for_all(device) : hip_queue_wait(queue);
    hip_leave(device, before);
    return status;
}

static bool moves_to(const struct hip_state *state, const struct hip_device *device, int to)
{
    if ((device->info.capabilities & MEMSPAN_CAN_PREFETCH) == 0) {
        return false;
    }
    return (to == MEMSPAN_HOST) || state->devices[to].facts.concurrent;
}

static memspan_status_t move(const struct hip_queue *queue, const void *pointer, size_t size_bytes,
                             int to)
{
    const struct hip_state *state = queue->device->state;
    struct hip_pointer p          = {0};
    hip_result_t code;
    memspan_status_t status = hip_pointer_ask(state, pointer, &p);

    if (status != MEMSPAN_OK) {
        return status;
    }
    if (!p.managed) {
        return hip_refuse(state, MEMSPAN_ERR_UNSUPPORTED, NULL,
                          "the memory at %p is not managed: it does not move", pointer);
    }
    if (!moves_to(state, queue->device, to)) {
        return hip_refuse(state, MEMSPAN_ERR_UNSUPPORTED, NULL,
                          "the memory at %p does not move by request (ConcurrentManagedAccess 0)",
                          pointer);
    }
    code = state->hip.hipMemPrefetchAsync(
        pointer, size_bytes, (to == MEMSPAN_HOST) ? HIP_CPU_DEVICE : to, queue->stream);
    return (code == HIP_SUCCESS) ? MEMSPAN_OK
                                 : hip_error(state, "hipMemPrefetchAsync", code,
                                             "cannot move %zu bytes at %p", size_bytes, pointer);
}

memspan_status_t hip_prefetch(void *opaque_state, int ordinal, void *opaque, const void *pointer,
                              size_t size_bytes, int to)
{
    const struct hip_state *state = opaque_state;
    struct hip_device *device;
    struct hip_queue *queue;
    memspan_status_t status;
    int before;

    if (size_bytes == 0) {
        return MEMSPAN_OK;
    }
    if ((to != MEMSPAN_HOST) && ((to < 0) || (to >= state->device_count))) {
        return hip_refuse(state, MEMSPAN_ERR_NOT_FOUND, NULL, "no HIP device %d: there are %d", to,
                          state->device_count);
    }
    status = enter_queue(opaque_state, ordinal, opaque, &device, &queue, &before);
    if (status != MEMSPAN_OK) {
        return status;
    }
    status = move(queue, pointer, size_bytes, to);
    hip_leave(device, before);
    return status;
}
