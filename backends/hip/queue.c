/* SPDX-License-Identifier: BSD-3-Clause */
/* queue.c: streams, in order. Ours do not wait for the default stream, nor it for them: what a
 * program runs there is its own to synchronise. */

#include "backends/hip/hip.h"
#include <stdlib.h>

static memspan_status_t make(struct hip_device *device, struct hip_queue **queue_p)
{
    struct hip_queue *queue = calloc(1, sizeof(*queue));
    hip_result_t code;

    if (queue == NULL) {
        return hip_refuse(device->state, MEMSPAN_ERR_NO_MEMORY, NULL, "no host memory for a queue");
    }
    queue->device = device;
    code = device->state->hip.hipStreamCreateWithFlags(&queue->stream, HIP_STREAM_NON_BLOCKING);
    if (code != HIP_SUCCESS) {
        free(queue);
        return hip_error(device->state, "hipStreamCreateWithFlags", code, "no stream on %s",
                         device->info.name);
    }
    *queue_p = queue;
    return MEMSPAN_OK;
}

memspan_status_t hip_queue_get(struct hip_device *device, void *queue, struct hip_queue **queue_p)
{
    memspan_status_t status = MEMSPAN_OK;

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

memspan_status_t hip_queue_wait(const struct hip_queue *queue)
{
    const struct hip_device *device = queue->device;
    hip_result_t code               = device->state->hip.hipStreamSynchronize(queue->stream);

    return (code == HIP_SUCCESS) ? MEMSPAN_OK
                                 : hip_error(device->state, "hipStreamSynchronize", code,
                                             "work on %s failed", device->info.name);
}

void hip_queue_drop(struct hip_queue *queue)
{
    const struct hip_state *state = queue->device->state;
    hip_result_t code;

    if (queue->scratch != NULL) {
        code = state->hip.hipFree(queue->scratch);
        if (code != HIP_SUCCESS) {
            hip_log_failure(state, "hipFree", code, "closing a queue");
        }
    }
    code = state->hip.hipStreamDestroy(queue->stream);
    if (code != HIP_SUCCESS) {
        hip_log_failure(state, "hipStreamDestroy", code, "closing a queue");
    }
    free(queue);
}

memspan_status_t hip_queue_create(void *state, int ordinal, void **queue_p)
{
    struct hip_device *device;
    struct hip_queue *queue = NULL;
    int before;
    memspan_status_t status = hip_enter(state, ordinal, &device, &before);

    if (status != MEMSPAN_OK) {
        return status;
    }
    status = make(device, &queue);
    hip_leave(device, before);
    if (status == MEMSPAN_OK) {
        *queue_p = queue;
    }
    return status;
}

/* Streams are found by their handles: no device need be current. */
memspan_status_t hip_queue_destroy(void *state, int ordinal, void *queue)
{
    struct hip_device *device;
    memspan_status_t status;

    if ((queue == NULL) || hip_gone()) {
        return MEMSPAN_OK;
    }
    status = hip_device_get(state, ordinal, &device);
    if (status != MEMSPAN_OK) {
        return status;
    }
    /* Destroying a stream does not wait for it, nor tell how its work ended. */
    status = hip_queue_wait(queue);
    hip_queue_drop(queue);
    return status;
}
