/* SPDX-License-Identifier: BSD-3-Clause */
/* hold.c: queues that the host holds, by user events.
 *
 * A release must not need the platform's lock, under which a thread may wait for the queue: the
 * lists of holds have a lock of their own. */

#include "backends/opencl/opencl.h"
#include <stdlib.h>

struct opencl_hold {
    struct opencl_hold *next;
    cl_event event;
};

static pthread_mutex_t holds_lock = PTHREAD_MUTEX_INITIALIZER; /* guards opencl_queue::holds */

bool opencl_queue_is_held(const struct opencl_queue *queue)
{
    bool is_held;

    pthread_mutex_lock(&holds_lock);
    is_held = (queue->holds != NULL);
    pthread_mutex_unlock(&holds_lock);
    return is_held;
}

bool opencl_platform_is_held(const struct opencl_platform *platform)
{
    const struct opencl_queue *queue = platform->queues;

    while ((queue != NULL) && !opencl_queue_is_held(queue)) {
        queue = queue->next;
    }
    return queue != NULL;
}

/* Managed memory comes back to the host when all queues are waited for, which a held one is in
 * vain. */
static bool can_hold(const struct opencl_platform *platform)
{
    const struct opencl_calls *cl = &platform->state->cl;
    size_t i;

    for (i = 0; i < platform->block_count; i++) {
        if ((platform->blocks[i]->kind == MEMSPAN_KIND_MANAGED) && platform->blocks[i]->coarse) {
            return false;
        }
    }
    return (platform->version >= 12) && (cl->clEnqueueBarrierWithWaitList != NULL) &&
           (cl->clCreateUserEvent != NULL) && (cl->clSetUserEventStatus != NULL);
}

static void append(struct opencl_queue *queue, struct opencl_hold *hold)
{
    struct opencl_hold **link = &queue->holds;

    pthread_mutex_lock(&holds_lock);
    while (*link != NULL) {
        link = &(*link)->next;
    }
    *link = hold;
    pthread_mutex_unlock(&holds_lock);
}

/* Lock held. */
static memspan_status_t enqueue(struct opencl_queue *queue, struct opencl_hold *hold)
{
    struct opencl_platform *platform = queue->device->platform;
    const struct opencl_calls *cl    = &platform->state->cl;
    const char *call                 = "clCreateUserEvent";
    cl_int code                      = OPENCL_SUCCESS;

    hold->event = cl->clCreateUserEvent(platform->context, &code);
    if (hold->event != NULL) {
        call = "clEnqueueBarrierWithWaitList";
        code = cl->clEnqueueBarrierWithWaitList(queue->handle, 1, &hold->event, NULL);
    }
    if ((hold->event == NULL) || (code != OPENCL_SUCCESS)) {
        if (hold->event != NULL) {
            (void)cl->clReleaseEvent(hold->event);
        }
        return opencl_error(platform->state, call, code, "%s cannot wait for the host",
                            queue->device->info.name);
    }
    queue->enqueued++;
    append(queue, hold);
    return MEMSPAN_OK;
}

memspan_status_t opencl_queue_hold_back(void *state, int ordinal, void *opaque)
{
    struct opencl_hold *hold = NULL;
    struct opencl_device *device;
    struct opencl_queue *queue;
    memspan_status_t status = opencl_enter(state, ordinal, &device);

    if (status != MEMSPAN_OK) {
        return status;
    }
    pthread_mutex_lock(&device->platform->lock);
    status = opencl_queue_get(device, opaque, &queue);
    if ((status == MEMSPAN_OK) && !can_hold(device->platform)) {
        status = MEMSPAN_ERR_UNSUPPORTED;
    }
    if (status == MEMSPAN_OK) {
        hold   = calloc(1, sizeof(*hold));
        status = (hold != NULL) ? enqueue(queue, hold)
                                : opencl_refuse(state, MEMSPAN_ERR_NO_MEMORY, NULL,
                                                "no host memory for a hold of a queue");
    }
    pthread_mutex_unlock(&device->platform->lock);
    if (status != MEMSPAN_OK) {
        free(hold);
    }
    return status;
}

memspan_status_t opencl_queue_release(void *opaque_state, int ordinal, void *opaque)
{
    const struct opencl_state *state = opaque_state;
    struct opencl_queue *queue       = opaque;
    struct opencl_hold *hold;
    cl_int code;

    (void)ordinal;
    pthread_mutex_lock(&holds_lock);
    hold = queue->holds;
    if (hold != NULL) {
        queue->holds = hold->next;
    }
    pthread_mutex_unlock(&holds_lock);
    if (hold == NULL) {
        return MEMSPAN_OK;
    }
    code = state->cl.clSetUserEventStatus(hold->event, OPENCL_COMPLETE);
    (void)state->cl.clReleaseEvent(hold->event);
    free(hold);
    return (code == OPENCL_SUCCESS)
               ? MEMSPAN_OK
               : opencl_error(state, "clSetUserEventStatus", code, "a queue stays held");
}
