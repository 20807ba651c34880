/* SPDX-License-Identifier: BSD-3-Clause */
/* event.c: events, by which streams wait for each other without the host, and streams of the
 * program.
 *
 * An event is a handle of the driver. Recorded again it stands for the later position; a stream
 * that was told to wait before waits for the earlier one. */

#include "backends/gpu/gpu.h"
#include <stdlib.h>

struct gpu_event {
    struct gpu_device *device;
    unsigned epoch; /* of the device when the handle was made */
    void *handle;
};

static bool is_current(const struct gpu_event *event)
{
    return event->epoch == atomic_load(&event->device->epoch);
}

/* NULL: the device's own queue, which may be made now. */
static enum gpu_purpose purpose_with(const void *queue)
{
    return (queue != NULL) ? GPU_TO_ORDER : GPU_TO_WORK;
}

/* ---- recording ---- */

/* @p event gets a handle of the epoch of @p queue; one of an earlier epoch is forgotten. */
static memspan_status_t make_handle(const struct gpu_queue *queue, struct gpu_event *event)
{
    struct gpu_device *device = queue->device;
    gpu_result_t answer       = device->state->driver->make_event(device, &event->handle);

    if (answer.code != GPU_SUCCESS) {
        return gpu_error(device->state, answer, "no event on %s", device->info.name);
    }
    event->device = device;
    event->epoch  = queue->epoch;
    return MEMSPAN_OK;
}

static memspan_status_t make(const struct gpu_queue *queue, struct gpu_event **event_p)
{
    struct gpu_event *event = calloc(1, sizeof(*event));
    memspan_status_t status;

    if (event == NULL) {
        return gpu_refuse(queue->device->state, MEMSPAN_ERR_NO_MEMORY, NULL,
                          "no host memory for an event");
    }
    status = make_handle(queue, event);
    if (status != MEMSPAN_OK) {
        free(event);
        return status;
    }
    *event_p = event;
    return MEMSPAN_OK;
}

static void drop(struct gpu_event *event)
{
    const struct gpu_state *state = event->device->state;

    (void)gpu_log_failure(state, state->driver->drop_event(state, event->handle),
                          "giving an event back");
    free(event);
}

/* In a stream that is being captured an event would mark a node of the graph, and a stream that
 * waits for it would join the capture. Streams of ours are never captured. */
static memspan_status_t check_capture(const struct gpu_queue *queue)
{
    const struct gpu_state *state = queue->device->state;
    bool captured                 = false;
    gpu_result_t answer           = {"", GPU_SUCCESS};

    if (queue->adopted && (state->driver->query_capture != NULL)) {
        answer = state->driver->query_capture(queue, &captured);
    }
    if ((answer.code == GPU_SUCCESS) && captured) {
        answer.code = GPU_CAPTURED_FIRST;
    }
    return (answer.code == GPU_SUCCESS)
               ? MEMSPAN_OK
               : gpu_error(state, answer, "no event on a stream that is being captured");
}

static memspan_status_t record(struct gpu_queue *queue, struct gpu_event **event_p)
{
    const struct gpu_state *state = queue->device->state;
    struct gpu_event *event       = *event_p;
    memspan_status_t status       = check_capture(queue);
    gpu_result_t answer;

    if ((status == MEMSPAN_OK) && (event == NULL)) {
        status = make(queue, &event);
    } else if ((status == MEMSPAN_OK) && !is_current(event)) {
        status = make_handle(queue, event);
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    answer = state->driver->record_event(queue, event->handle);
    if (answer.code != GPU_SUCCESS) {
        status =
            gpu_error(state, answer, "no event after the work on %s", queue->device->info.name);
        if (*event_p == NULL) {
            drop(event);
        }
        return status;
    }
    *event_p = event;
    return MEMSPAN_OK;
}

memspan_status_t gpu_event_record(void *state, int ordinal, void *opaque, void **event_p)
{
    struct gpu_event *event = *event_p;
    struct gpu_queue *queue;
    struct gpu_visit visit;
    memspan_status_t status = gpu_enter(state, ordinal, purpose_with(opaque), &visit);

    if (status != MEMSPAN_OK) {
        return status;
    }
    status = gpu_queue_get(visit.device, opaque, &queue);
    if (status == MEMSPAN_OK) {
        status = record(queue, &event);
    }
    gpu_leave(&visit);
    if (status == MEMSPAN_OK) {
        *event_p = event;
    }
    return status;
}

/* ---- waiting ---- */

/* A visit finds out whether the program has reset the device. */
static memspan_status_t look_at(const struct gpu_event *event)
{
    struct gpu_visit visit;
    memspan_status_t status =
        gpu_enter(event->device->state, event->device->ordinal, GPU_TO_ASK, &visit);

    if (status == MEMSPAN_OK) {
        gpu_leave(&visit);
    }
    return status;
}

memspan_status_t gpu_event_wait(void *opaque_state, int ordinal, void *opaque, void *opaque_event)
{
    const struct gpu_state *state = opaque_state;
    const struct gpu_event *event = opaque_event;
    struct gpu_queue *queue       = NULL;
    struct gpu_visit visit;
    gpu_result_t answer;
    memspan_status_t status = (event->device->ordinal == ordinal) ? MEMSPAN_OK : look_at(event);

    if ((status == MEMSPAN_OK) && (state->driver->can_wait != NULL) &&
        !state->driver->can_wait(state->devices[ordinal], event->device)) {
        return MEMSPAN_ERR_UNSUPPORTED;
    }
    if (status == MEMSPAN_OK) {
        status = gpu_enter(opaque_state, ordinal, purpose_with(opaque), &visit);
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    status = gpu_queue_get(visit.device, opaque, &queue);
    /* The work of an earlier epoch went with the reset. */
    if ((status == MEMSPAN_OK) && is_current(event)) {
        answer = state->driver->wait_event(queue, event->handle);
        if (answer.code != GPU_SUCCESS) {
            status = gpu_error(state, answer, "%s cannot wait for work on %s",
                               visit.device->info.name, event->device->info.name);
        }
    }
    gpu_leave(&visit);
    return status;
}

/* Answers about the call and not about the work: the work may run. */
static bool is_refusal(int code)
{
    return (code == GPU_RECORDED) || gpu_is_captured(code) || (code == GPU_INVALID_VALUE) ||
           (code == GPU_INVALID_CONTEXT) || (code == GPU_INVALID_HANDLE);
}

/* As giving back does, it works in a capture of the program, and while the process ends. */
memspan_status_t gpu_event_done(void *opaque_state, int ordinal, void *opaque_event, int *done_p)
{
    const struct gpu_state *state = opaque_state;
    const struct gpu_event *event = opaque_event;
    gpu_result_t answer           = {"", GPU_SUCCESS};
    struct gpu_visit visit;
    memspan_status_t status = gpu_enter(opaque_state, ordinal, GPU_TO_GIVE_BACK, &visit);

    if (status == MEMSPAN_ERR_OFF) {
        *done_p = 1; /* the driver has ended */
        return MEMSPAN_OK;
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    if (is_current(event)) {
        answer = state->driver->query_event(state, event->handle);
    }
    if (is_refusal(answer.code)) {
        status = gpu_error(state, answer, "whether work on %s is complete is not known",
                           visit.device->info.name);
    } else if (answer.code == GPU_NOT_READY) {
        gpu_forget_error(state);
        *done_p = 0;
    } else {
        (void)gpu_log_failure(state, answer, "work that an event ends");
        *done_p = 1;
    }
    gpu_leave(&visit);
    return status;
}

memspan_status_t gpu_event_destroy(void *state, int ordinal, void *opaque_event)
{
    struct gpu_event *event = opaque_event;
    struct gpu_visit visit;
    memspan_status_t status;

    if (event == NULL) {
        return MEMSPAN_OK;
    }
    status = gpu_enter(state, ordinal, GPU_TO_GIVE_BACK, &visit);
    if (status == MEMSPAN_ERR_OFF) {
        free(event);
        return MEMSPAN_OK;
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    if (is_current(event)) {
        drop(event); /* the driver keeps what its streams still wait for */
    } else {
        free(event); /* its handle went with the reset */
    }
    gpu_leave(&visit);
    return MEMSPAN_OK;
}

/* ---- streams of the program ---- */

/* On each thread this handle stands for another stream. */
#define PER_THREAD ((void *)2)

static memspan_status_t adopt(struct gpu_device *device, void *stream, void **stream_p)
{
    const struct gpu_state *state = device->state;
    bool ours                     = true;
    gpu_result_t answer           = {"", GPU_SUCCESS};

    if (state->driver->adopt_stream != NULL) {
        return state->driver->adopt_stream(device, stream, stream_p);
    }
    *stream_p = stream;
    if (stream == PER_THREAD) {
        return gpu_refuse(state, MEMSPAN_ERR_INVALID, "make a stream",
                          "the default stream of each thread is several streams");
    }
    if (stream != NULL) { /* NULL: the device's, whatever is current */
        answer = state->driver->owns_stream(device, stream, &ours);
    }
    if (answer.code != GPU_SUCCESS) {
        return gpu_error(state, answer, "%p is no stream of %s", stream, device->info.name);
    }
    return ours ? MEMSPAN_OK
                : gpu_refuse(state, MEMSPAN_ERR_INVALID, "make it in the primary context",
                             "the stream at %p is of another context or device than %s", stream,
                             device->info.name);
}

memspan_status_t gpu_queue_adopt(void *opaque_state, int ordinal, memspan_queue_type_t type,
                                 void *native, void **queue_p)
{
    const struct gpu_state *state = opaque_state;
    void *stream                  = NULL;
    struct gpu_queue *queue;
    struct gpu_visit visit;
    memspan_status_t status;

    if (type != state->driver->queue_type) {
        return MEMSPAN_ERR_UNSUPPORTED;
    }
    status = gpu_enter(opaque_state, ordinal, GPU_TO_WORK, &visit);
    if (status != MEMSPAN_OK) {
        return status;
    }
    queue  = calloc(1, sizeof(*queue));
    status = (queue != NULL)
                 ? adopt(visit.device, native, &stream)
                 : gpu_refuse(state, MEMSPAN_ERR_NO_MEMORY, NULL, "no host memory for a queue");
    if (status == MEMSPAN_OK) {
        *queue   = (struct gpu_queue){.device  = visit.device,
                                      .epoch   = atomic_load(&visit.device->epoch),
                                      .stream  = stream,
                                      .adopted = true};
        *queue_p = queue;
    } else {
        free(queue);
    }
    gpu_leave(&visit);
    return status;
}
