/* SPDX-License-Identifier: BSD-3-Clause */
/* event.c: events, by which queues of a platform wait for each other without the host, and command
 * queues of the program. */

#include "backends/opencl/opencl.h"
#include <stdlib.h>

enum { OUT_OF_ORDER = 1, DEVICES_MAX = 256 };

struct opencl_event {
    cl_event handle; /* NULL: the work was complete when it was recorded, or last asked about */
    struct opencl_platform *platform;
};

/* ---- recording ---- */

static void drop_handle(struct opencl_event *event)
{
    if (event->handle != NULL) {
        (void)event->platform->state->cl.clReleaseEvent(event->handle);
    }
    event->handle = NULL;
}

/* Other queues wait for it, which OpenCL allows only once it was flushed. */
memspan_status_t opencl_event_mark(struct opencl_queue *queue, cl_event *handle_p)
{
    const struct opencl_state *state = queue->device->platform->state;
    const struct opencl_calls *cl    = &state->cl;
    const char *call;
    cl_int code;

    if ((queue->device->platform->version >= 12) && (cl->clEnqueueMarkerWithWaitList != NULL)) {
        call = "clEnqueueMarkerWithWaitList";
        code = cl->clEnqueueMarkerWithWaitList(queue->handle, 0, NULL, handle_p);
    } else {
        call = "clEnqueueMarker";
        code = cl->clEnqueueMarker(queue->handle, handle_p);
    }
    if (code == OPENCL_SUCCESS) {
        queue->enqueued++;
        call = "clFlush";
        code = cl->clFlush(queue->handle);
        if (code != OPENCL_SUCCESS) {
            (void)cl->clReleaseEvent(*handle_p);
        }
    }
    return (code == OPENCL_SUCCESS)
               ? MEMSPAN_OK
               : opencl_error(state, call, code, "no event after the work on %s",
                              queue->device->info.name);
}

/* Lock held. */
static memspan_status_t record(struct opencl_queue *queue, struct opencl_event **event_p)
{
    struct opencl_event *event = *event_p;
    cl_event handle            = NULL;
    memspan_status_t status    = MEMSPAN_OK;

    if (event == NULL) {
        event = calloc(1, sizeof(*event));
    }
    if (event == NULL) {
        return opencl_refuse(queue->device->platform->state, MEMSPAN_ERR_NO_MEMORY, NULL,
                             "no host memory for an event");
    }
    if (opencl_queue_is_busy(queue)) {
        status = opencl_event_mark(queue, &handle);
    }
    if (status == MEMSPAN_OK) {
        event->platform = queue->device->platform;
        drop_handle(event);
        event->handle = handle;
        *event_p      = event;
    } else if (*event_p == NULL) {
        free(event);
    }
    return status;
}

memspan_status_t opencl_event_record(void *state, int ordinal, void *opaque, void **event_p)
{
    struct opencl_event *event = *event_p;
    struct opencl_device *device;
    struct opencl_queue *queue;
    memspan_status_t status = opencl_enter(state, ordinal, &device);

    if (status != MEMSPAN_OK) {
        return status;
    }
    pthread_mutex_lock(&device->platform->lock);
    status = opencl_queue_get(device, opaque, &queue);
    if (status == MEMSPAN_OK) {
        status = record(queue, &event);
    }
    pthread_mutex_unlock(&device->platform->lock);
    if (status == MEMSPAN_OK) {
        *event_p = event;
    }
    return status;
}

/* ---- waiting ---- */

/* Lock held. */
static memspan_status_t wait_for(struct opencl_queue *queue, const struct opencl_event *event)
{
    const struct opencl_state *state = queue->device->platform->state;
    cl_int code;

    if (event->handle == NULL) {
        return MEMSPAN_OK;
    }
    code = state->cl.clEnqueueBarrierWithWaitList(queue->handle, 1, &event->handle, NULL);
    if (code != OPENCL_SUCCESS) {
        return opencl_error(state, "clEnqueueBarrierWithWaitList", code,
                            "%s cannot wait for work of another queue", queue->device->info.name);
    }
    queue->enqueued++;
    return MEMSPAN_OK;
}

memspan_status_t opencl_event_wait(void *opaque_state, int ordinal, void *opaque,
                                   void *opaque_event)
{
    const struct opencl_state *state = opaque_state;
    const struct opencl_event *event = opaque_event;
    struct opencl_device *device;
    struct opencl_queue *queue;
    memspan_status_t status = opencl_enter(opaque_state, ordinal, &device);

    if (status != MEMSPAN_OK) {
        return status;
    }
    /* Events are their context's, and a platform has one. */
    if ((event->platform != device->platform) || (device->platform->version < 12) ||
        (state->cl.clEnqueueBarrierWithWaitList == NULL)) {
        return MEMSPAN_ERR_UNSUPPORTED;
    }
    pthread_mutex_lock(&device->platform->lock);
    status = opencl_queue_get(device, opaque, &queue);
    if (status == MEMSPAN_OK) {
        status = wait_for(queue, event);
    }
    pthread_mutex_unlock(&device->platform->lock);
    return status;
}

/* Lock held. A negative status is that of work which failed. */
static memspan_status_t look_at(struct opencl_event *event, int *done_p)
{
    const struct opencl_state *state = event->platform->state;
    cl_int reached                   = OPENCL_COMPLETE;
    cl_int code                      = OPENCL_SUCCESS;

    if (event->handle != NULL) {
        code = state->cl.clGetEventInfo(event->handle, OPENCL_EVENT_COMMAND_EXECUTION_STATUS,
                                        sizeof(reached), &reached, NULL);
    }
    if (code != OPENCL_SUCCESS) {
        return opencl_error(state, "clGetEventInfo", code,
                            "whether work of a queue is complete is not known");
    }
    *done_p = (reached <= OPENCL_COMPLETE);
    if (*done_p != 0) {
        drop_handle(event);
    }
    return MEMSPAN_OK;
}

memspan_status_t opencl_event_done(void *state, int ordinal, void *opaque_event, int *done_p)
{
    struct opencl_event *event = opaque_event;
    struct opencl_device *device;
    memspan_status_t status = opencl_enter(state, ordinal, &device);

    if (status != MEMSPAN_OK) {
        return status;
    }
    pthread_mutex_lock(&event->platform->lock);
    status = look_at(event, done_p);
    pthread_mutex_unlock(&event->platform->lock);
    return status;
}

/* Queues that wait for it hold the driver's event. */
memspan_status_t opencl_event_destroy(void *state, int ordinal, void *opaque_event)
{
    struct opencl_event *event = opaque_event;
    struct opencl_device *device;
    memspan_status_t status = opencl_enter(state, ordinal, &device);

    if ((status != MEMSPAN_OK) || (event == NULL)) {
        return status;
    }
    pthread_mutex_lock(&event->platform->lock);
    drop_handle(event);
    pthread_mutex_unlock(&event->platform->lock);
    free(event);
    return MEMSPAN_OK;
}

/* ---- command queues of the program ---- */

static memspan_status_t ask(const struct opencl_device *device, cl_command_queue handle,
                            cl_uint what, void *answer, size_t size_bytes)
{
    const struct opencl_state *state = device->platform->state;
    cl_int code = state->cl.clGetCommandQueueInfo(handle, what, size_bytes, answer, NULL);

    return (code == OPENCL_SUCCESS)
               ? MEMSPAN_OK
               : opencl_error(state, "clGetCommandQueueInfo", code, "%p is no command queue of %s",
                              (void *)handle, device->info.name);
}

/* Whether it is over all devices of the platform. */
static memspan_status_t check_devices(const struct opencl_platform *platform, cl_context context,
                                      bool *all_p)
{
    cl_device_id ids[DEVICES_MAX];
    size_t size_bytes = 0;
    size_t i;
    int j;
    cl_int code = platform->state->cl.clGetContextInfo(context, OPENCL_CONTEXT_DEVICES, sizeof(ids),
                                                       ids, &size_bytes);

    if (code != OPENCL_SUCCESS) {
        return opencl_error(platform->state, "clGetContextInfo", code,
                            "the devices of the command queue's context are not known");
    }
    *all_p = true;
    for (j = 0; j < platform->device_count; j++) {
        i = 0;
        while ((i < size_bytes / sizeof(ids[0])) && (ids[i] != platform->devices[j].id)) {
            i++;
        }
        *all_p = *all_p && (i < size_bytes / sizeof(ids[0]));
    }
    return MEMSPAN_OK;
}

/* Memory is its context's. Until the first memory is taken, the program's can be ours. Lock held.
 */
static memspan_status_t share_context(struct opencl_platform *platform, cl_context context)
{
    const struct opencl_state *state = platform->state;
    memspan_status_t status          = MEMSPAN_OK;
    bool fits                        = false;
    cl_int code;

    if (context == platform->context) {
        return MEMSPAN_OK;
    }
    if (platform->context == NULL) {
        status = check_devices(platform, context, &fits);
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    if (!fits) {
        return opencl_refuse(
            state, MEMSPAN_ERR_INVALID,
            "make its context over all devices of the platform, and open the queue "
            "before the first memory of the platform is allocated",
            "the command queue is of another context than the memory of \"%s\"", platform->name);
    }
    code = state->cl.clRetainContext(context);
    if (code != OPENCL_SUCCESS) {
        return opencl_error(state, "clRetainContext", code, "no context of \"%s\"", platform->name);
    }
    platform->context = context;
    return MEMSPAN_OK;
}

static memspan_status_t check(struct opencl_device *device, cl_command_queue handle)
{
    cl_bitfield properties  = 0;
    cl_device_id id         = NULL;
    cl_context context      = NULL;
    memspan_status_t status = ask(device, handle, OPENCL_QUEUE_DEVICE, &id, sizeof(id));

    if (status == MEMSPAN_OK) {
        status = ask(device, handle, OPENCL_QUEUE_PROPERTIES, &properties, sizeof(properties));
    }
    if (status == MEMSPAN_OK) {
        status = ask(device, handle, OPENCL_QUEUE_CONTEXT, &context, sizeof(context));
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    if (id != device->id) {
        return opencl_refuse(device->platform->state, MEMSPAN_ERR_INVALID, NULL,
                             "the command queue is of another device than %s", device->info.name);
    }
    if ((properties & OUT_OF_ORDER) != 0) {
        return opencl_refuse(device->platform->state, MEMSPAN_ERR_INVALID,
                             "make it without CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE",
                             "the command queue does its work in any order");
    }
    return share_context(device->platform, context);
}

memspan_status_t opencl_queue_adopt(void *state, int ordinal, memspan_queue_type_t type,
                                    void *native, void **queue_p)
{
    struct opencl_device *device;
    struct opencl_queue *queue = NULL;
    memspan_status_t status;

    if (type != MEMSPAN_QUEUE_OPENCL) {
        return MEMSPAN_ERR_UNSUPPORTED;
    }
    status = opencl_enter(state, ordinal, &device);
    if (status != MEMSPAN_OK) {
        return status;
    }
    if (native == NULL) {
        return opencl_refuse(state, MEMSPAN_ERR_INVALID, NULL, "NULL is no command queue");
    }
    pthread_mutex_lock(&device->platform->lock);
    status = check(device, native);
    if (status == MEMSPAN_OK) {
        status = opencl_queue_hold(device, native, &queue);
    }
    pthread_mutex_unlock(&device->platform->lock);
    if (status == MEMSPAN_OK) {
        *queue_p = queue;
    }
    return status;
}
