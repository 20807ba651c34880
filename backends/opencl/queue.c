/* SPDX-License-Identifier: BSD-3-Clause */
/* queue.c: command queues, in order, and waiting for them.
 *
 * A queue counts its commands, so that a queue without work costs no driver call. Waiting lets go
 * of the platform's lock, and a queue that is waited for is kept alive by a reference. */

#include "backends/opencl/opencl.h"
#include <stdlib.h>

static memspan_status_t open_handle(struct opencl_device *device, cl_command_queue *handle_p)
{
    struct opencl_platform *platform = device->platform;
    const struct opencl_calls *cl    = &platform->state->cl;
    cl_int code                      = OPENCL_SUCCESS;
    const char *call;
    cl_command_queue handle;
    memspan_status_t status = opencl_platform_need_context(platform);

    if (status != MEMSPAN_OK) {
        return status;
    }
    if ((platform->version >= 20) && (cl->clCreateCommandQueueWithProperties != NULL)) {
        call   = "clCreateCommandQueueWithProperties";
        handle = cl->clCreateCommandQueueWithProperties(platform->context, device->id, NULL, &code);
    } else {
        call   = "clCreateCommandQueue";
        handle = cl->clCreateCommandQueue(platform->context, device->id, 0, &code);
    }
    if (handle == NULL) {
        return opencl_error(platform->state, call, code, "no command queue on %s",
                            device->info.name);
    }
    *handle_p = handle;
    return MEMSPAN_OK;
}

/* The queue takes the caller's reference of @p handle, also when it fails. */
static memspan_status_t make(struct opencl_device *device, cl_command_queue handle,
                             struct opencl_queue **queue_p)
{
    struct opencl_platform *platform = device->platform;
    struct opencl_queue *queue       = calloc(1, sizeof(*queue));

    if (queue == NULL) {
        (void)platform->state->cl.clReleaseCommandQueue(handle);
        return opencl_refuse(platform->state, MEMSPAN_ERR_NO_MEMORY, NULL,
                             "no host memory for a queue");
    }
    queue->handle     = handle;
    queue->device     = device;
    queue->references = 1;
    queue->next       = platform->queues;
    platform->queues  = queue;
    *queue_p          = queue;
    return MEMSPAN_OK;
}

memspan_status_t opencl_queue_new(struct opencl_device *device, struct opencl_queue **queue_p)
{
    cl_command_queue handle = NULL;
    memspan_status_t status = open_handle(device, &handle);

    return (status == MEMSPAN_OK) ? make(device, handle, queue_p) : status;
}

memspan_status_t opencl_queue_hold(struct opencl_device *device, cl_command_queue handle,
                                   struct opencl_queue **queue_p)
{
    const struct opencl_state *state = device->platform->state;
    cl_int code                      = state->cl.clRetainCommandQueue(handle);
    memspan_status_t status;

    if (code != OPENCL_SUCCESS) {
        return opencl_error(state, "clRetainCommandQueue", code, "%p is no command queue of %s",
                            (void *)handle, device->info.name);
    }
    status = make(device, handle, queue_p);
    if (status == MEMSPAN_OK) {
        (*queue_p)->adopted = true;
    }
    return status;
}

bool opencl_queue_is_busy(const struct opencl_queue *queue)
{
    return queue->adopted || (queue->finished != queue->enqueued);
}

/* Out of line: inlined twice into a caller that holds a reference of its own, GCC 12 warns that the
 * second call uses memory that the first has freed. */
__attribute__((noinline)) static void end_queue(struct opencl_queue *queue)
{
    struct opencl_platform *platform = queue->device->platform;
    const struct opencl_calls *cl    = &platform->state->cl;
    struct opencl_queue **link;

    for (link = &platform->queues; *link != NULL; link = &(*link)->next) {
        if (*link == queue) {
            *link = queue->next;
            break;
        }
    }
    if (queue->handed_over != NULL) {
        cl->clReleaseEvent(queue->handed_over);
    }
    cl->clReleaseCommandQueue(queue->handle);
    free(queue);
}

void opencl_queue_unref(struct opencl_queue *queue)
{
    queue->references--;
    if (queue->references == 0) {
        end_queue(queue);
    }
}

memspan_status_t opencl_queue_get(struct opencl_device *device, void *queue,
                                  struct opencl_queue **queue_p)
{
    memspan_status_t status;

    if (queue != NULL) {
        *queue_p = queue;
        return MEMSPAN_OK;
    }
    if (device->queue == NULL) {
        status = opencl_queue_new(device, &device->queue);
        if (status != MEMSPAN_OK) {
            return status;
        }
    }
    *queue_p = device->queue;
    return MEMSPAN_OK;
}

memspan_status_t opencl_queue_need_host(struct opencl_device *device)
{
    return (device->host_queue != NULL) ? MEMSPAN_OK : open_handle(device, &device->host_queue);
}

static memspan_status_t finish(struct opencl_queue *queue, bool keep_lock)
{
    struct opencl_platform *platform = queue->device->platform;
    uint64_t upto                    = queue->enqueued;
    memspan_status_t status          = MEMSPAN_OK;
    cl_int code;

    queue->references++;
    if (!keep_lock) {
        pthread_mutex_unlock(&platform->lock);
    }
    code = platform->state->cl.clFinish(queue->handle);
    if (code != OPENCL_SUCCESS) {
        status = opencl_error(platform->state, "clFinish", code, "work on %s failed",
                              queue->device->info.name);
    }
    if (!keep_lock) {
        pthread_mutex_lock(&platform->lock);
    }
    /* A queue that failed is broken: nothing on it will end later. */
    if (queue->finished < upto) {
        queue->finished = upto;
    }
    opencl_queue_unref(queue);
    return status;
}

memspan_status_t opencl_queue_finish(struct opencl_queue *queue)
{
    return opencl_queue_is_busy(queue) ? finish(queue, false) : MEMSPAN_OK;
}

static struct opencl_queue *find_busy(const struct opencl_platform *platform)
{
    struct opencl_queue *queue;

    for (queue = platform->queues; queue != NULL; queue = queue->next) {
        if (queue->finished != queue->enqueued) {
            return queue;
        }
    }
    return NULL;
}

memspan_status_t opencl_platform_quiesce(struct opencl_platform *platform)
{
    /* Other threads may keep adding work while the lock is free; after some rounds they wait. */
    int rounds_unlocked    = 8;
    memspan_status_t first = MEMSPAN_OK;
    struct opencl_queue *queue;

    while ((queue = find_busy(platform)) != NULL) {
        /* The work of a held queue may need the lock. */
        memspan_status_t status =
            finish(queue, (rounds_unlocked <= 0) && !opencl_queue_is_held(queue));
        rounds_unlocked--;
        if (first == MEMSPAN_OK) {
            first = status;
        }
    }
    return first;
}

memspan_status_t opencl_queue_create(void *state, int ordinal, void **queue_p)
{
    struct opencl_device *device;
    struct opencl_queue *queue = NULL;
    memspan_status_t status    = opencl_enter(state, ordinal, &device);

    if (status != MEMSPAN_OK) {
        return status;
    }
    pthread_mutex_lock(&device->platform->lock);
    status = opencl_queue_new(device, &queue);
    pthread_mutex_unlock(&device->platform->lock);
    if (status == MEMSPAN_OK) {
        *queue_p = queue;
    }
    return status;
}

memspan_status_t opencl_queue_destroy(void *state, int ordinal, void *queue)
{
    struct opencl_queue *ours = queue;
    struct opencl_device *device;
    memspan_status_t status = opencl_enter(state, ordinal, &device);

    if ((status != MEMSPAN_OK) || (queue == NULL)) {
        return status;
    }
    pthread_mutex_lock(&device->platform->lock);
    /* Handing memory to the devices is recorded as an event of this queue, which must end first. */
    if (!ours->adopted || (ours->handed_over != NULL)) {
        status = opencl_queue_finish(ours);
    }
    opencl_queue_unref(ours);
    pthread_mutex_unlock(&device->platform->lock);
    return status;
}
