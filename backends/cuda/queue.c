/* SPDX-License-Identifier: BSD-3-Clause */
/* queue.c: streams, in order. Ours do not wait for the default stream, nor it for them: what a
 * program runs there is its own to synchronise. */

#include "backends/cuda/cuda.h"
#include <stdlib.h>

static memspan_status_t make(struct cuda_device *device, struct cuda_queue **queue_p)
{
    struct cuda_queue *queue = calloc(1, sizeof(*queue));
    cuda_result_t code;

    if (queue == NULL) {
        return cuda_refuse(device->state, MEMSPAN_ERR_NO_MEMORY, NULL,
                           "no host memory for a queue");
    }
    queue->device = device;
    queue->epoch  = atomic_load(&device->epoch);
    code          = device->state->cu.cuStreamCreate(&queue->stream, CUDA_STREAM_NON_BLOCKING);
    if (code != CUDA_SUCCESS) {
        free(queue);
        return cuda_error(device->state, "cuStreamCreate", code, "no stream on %s",
                          device->info.name);
    }
    *queue_p = queue;
    return MEMSPAN_OK;
}

memspan_status_t cuda_queue_get(struct cuda_device *device, void *queue,
                                struct cuda_queue **queue_p)
{
    memspan_status_t status = MEMSPAN_OK;

    if ((queue != NULL) && ((struct cuda_queue *)queue)->epoch != atomic_load(&device->epoch)) {
        return cuda_refuse(device->state, MEMSPAN_ERR_NOT_FOUND, "make another one",
                           "the queue went when the program reset %s", device->info.name);
    }
    if (queue != NULL) {
        *queue_p = queue;
        return MEMSPAN_OK;
    }
    pthread_mutex_lock(&device->lock);
    if (device->queue == NULL) {
        status = make(device, &device->queue);
    }
    if (status == MEMSPAN_OK) {
        *queue_p = device->queue;
    }
    pthread_mutex_unlock(&device->lock);
    return status;
}

/* The device's lock held. */
memspan_status_t cuda_queue_need_scratch(struct cuda_queue *queue, size_t size_bytes)
{
    struct cuda_device *device = queue->device;
    cuda_result_t code;

    if (queue->scratch != 0) {
        return MEMSPAN_OK;
    }
    code = device->state->cu.cuMemAlloc_v2(&queue->scratch, size_bytes);
    if (code != CUDA_SUCCESS) {
        queue->scratch = 0;
        return cuda_error(device->state, "cuMemAlloc", code, "no %zu bytes on %s for partial sums",
                          size_bytes, device->info.name);
    }
    return MEMSPAN_OK;
}

void cuda_queue_forget(struct cuda_queue *queue)
{
    free(queue);
}

void cuda_queue_drop(struct cuda_queue *queue)
{
    const struct cuda_state *state = queue->device->state;
    cuda_result_t code;

    if (queue->scratch != 0) {
        code = state->cu.cuMemFree_v2(queue->scratch);
        if (code != CUDA_SUCCESS) {
            cuda_log_failure(state, "cuMemFree", code, "closing a queue");
        }
    }
    code = state->cu.cuStreamDestroy_v2(queue->stream);
    if (code != CUDA_SUCCESS) {
        cuda_log_failure(state, "cuStreamDestroy", code, "closing a queue");
    }
    free(queue);
}

memspan_status_t cuda_queue_create(void *state, int ordinal, void **queue_p)
{
    struct cuda_device *device;
    struct cuda_queue *queue = NULL;
    int before;
    memspan_status_t status = cuda_enter(state, ordinal, &device, &before);

    if (status != MEMSPAN_OK) {
        return status;
    }
    status = make(device, &queue);
    cuda_leave(device, before);
    if (status == MEMSPAN_OK) {
        *queue_p = queue;
    }
    return status;
}

memspan_status_t cuda_queue_destroy(void *state, int ordinal, void *opaque)
{
    struct cuda_queue *queue = opaque;
    struct cuda_device *device;
    cuda_result_t code;
    memspan_status_t status;
    int before;

    if (queue == NULL) {
        return MEMSPAN_OK;
    }
    status = cuda_enter_to_give_back(state, ordinal, &device, &before);
    if (status == MEMSPAN_ERR_OFF) {
        cuda_queue_forget(queue);
        return MEMSPAN_OK;
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    if (queue->epoch != atomic_load(&device->epoch)) {
        cuda_leave(device, before);
        cuda_queue_forget(queue);
        return MEMSPAN_OK;
    }
    /* Destroying a stream does not wait for it, nor tell how its work ended. */
    code = device->state->cu.cuStreamSynchronize(queue->stream);
    if (code != CUDA_SUCCESS) {
        status =
            cuda_error(state, "cuStreamSynchronize", code, "work on %s failed", device->info.name);
    }
    cuda_queue_drop(queue);
    cuda_leave(device, before);
    return status;
}
