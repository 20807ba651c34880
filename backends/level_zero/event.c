/* SPDX-License-Identifier: BSD-3-Clause */
/* event.c: events, by which queues of a driver wait for each other without the host, and command
 * lists of the program.
 *
 * The driver's event is signalled once, by a barrier, and is then reset by the host. Queues may
 * wait for it until then, so that each recording takes another one: a signal. A signal that no
 * event names is watched until it is signalled, and then serves again. A wait of a queue is a
 * barrier, too, with a signal of its own, which keeps the one that is waited for until then. */

#include "backends/level_zero/level_zero.h"
#include <stdlib.h>

enum { POOL_EVENTS = 64, LOOKS = 4 };

struct lz_pool {
    struct lz_pool *next;
    lz_event_pool_h handle;
    uint32_t used;
};

struct lz_event {
    struct lz_driver *driver;
    struct lz_signal *signal; /* NULL: never recorded */
};

/* ---- signals; the driver's lock held ---- */

static memspan_status_t add_pool(struct lz_driver *driver)
{
    const struct gpu_state *state = driver->state;
    lz_event_pool_desc_t desc     = {.stype = LZ_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                     .flags = LZ_EVENT_POOL_FLAG_HOST_VISIBLE,
                                     .count = POOL_EVENTS};
    struct lz_pool *pool          = calloc(1, sizeof(*pool));
    lz_result_t code;

    if (pool == NULL) {
        return gpu_refuse(state, MEMSPAN_ERR_NO_MEMORY, NULL, "no host memory for events");
    }
    /* Without a list of devices: for all of the driver's. */
    code = lz_calls(state)->zeEventPoolCreate(driver->context, &desc, 0, NULL, &pool->handle);
    if (code != ZE_RESULT_SUCCESS) {
        free(pool);
        return gpu_error(state, LZ_ANSWER("zeEventPoolCreate", code), "no events for queues");
    }
    pool->next    = driver->pools;
    driver->pools = pool;
    return MEMSPAN_OK;
}

static memspan_status_t add_signal(struct lz_driver *driver, struct lz_signal **signal_p)
{
    const struct gpu_state *state = driver->state;
    lz_event_desc_t desc          = {.stype  = LZ_STRUCTURE_TYPE_EVENT_DESC,
                                     .signal = LZ_EVENT_SCOPE_FLAG_HOST,
                                     .wait   = LZ_EVENT_SCOPE_FLAG_HOST};
    memspan_status_t status       = MEMSPAN_OK;
    struct lz_signal *signal;
    lz_result_t code;

    if ((driver->pools == NULL) || (driver->pools->used == POOL_EVENTS)) {
        status = add_pool(driver);
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    signal = calloc(1, sizeof(*signal));
    if (signal == NULL) {
        return gpu_refuse(state, MEMSPAN_ERR_NO_MEMORY, NULL, "no host memory for an event");
    }
    desc.index = driver->pools->used;
    code       = lz_calls(state)->zeEventCreate(driver->pools->handle, &desc, &signal->handle);
    if (code != ZE_RESULT_SUCCESS) {
        free(signal);
        return gpu_error(state, LZ_ANSWER("zeEventCreate", code), "no event for a queue");
    }
    driver->pools->used++;
    signal->older   = driver->signals;
    driver->signals = signal;
    *signal_p       = signal;
    return MEMSPAN_OK;
}

static void watch(struct lz_driver *driver, struct lz_signal *signal)
{
    struct lz_signal **link = (driver->watched == NULL) ? &driver->watched : &driver->last->next;

    signal->next = NULL;
    *link        = signal;
    driver->last = signal;
}

static void leave(struct lz_driver *driver, struct lz_signal *signal)
{
    if ((signal != NULL) && (--signal->users == 0)) {
        watch(driver, signal);
    }
}

static void reuse(struct lz_driver *driver, struct lz_signal *signal)
{
    leave(driver, signal->awaited);
    signal->awaited = NULL;
    signal->next    = driver->unused;
    driver->unused  = signal;
}

/* Reset some of those that are signalled: a few that are watched take their turn. */
static void look_at_some(struct lz_driver *driver)
{
    const struct gpu_state *state = driver->state;
    int i;

    for (i = 0; (i < LOOKS) && (driver->watched != NULL); i++) {
        struct lz_signal *signal = driver->watched;
        const char *call         = "zeEventQueryStatus";
        lz_result_t code         = lz_calls(state)->zeEventQueryStatus(signal->handle);

        if (code == ZE_RESULT_SUCCESS) {
            call = "zeEventHostReset";
            code = lz_calls(state)->zeEventHostReset(signal->handle);
        }
        driver->watched = signal->next;
        if (code == ZE_RESULT_SUCCESS) {
            reuse(driver, signal);
        } else {
            watch(driver, signal);
        }
        if ((code != ZE_RESULT_NOT_READY) &&
            !gpu_log_failure(state, LZ_ANSWER(call, code), "whether work is complete")) {
            return;
        }
    }
}

/* ---- signals for barriers ---- */

memspan_status_t lz_signal_take(struct lz_driver *driver, struct lz_signal **signal_p)
{
    memspan_status_t status = MEMSPAN_OK;

    pthread_mutex_lock(&driver->lock);
    look_at_some(driver);
    if (driver->unused != NULL) {
        *signal_p      = driver->unused;
        driver->unused = driver->unused->next;
    } else {
        status = add_signal(driver, signal_p);
    }
    if (status == MEMSPAN_OK) {
        (*signal_p)->users = 1;
    }
    pthread_mutex_unlock(&driver->lock);
    return status;
}

void lz_signal_put_back(struct lz_driver *driver, struct lz_signal *signal)
{
    pthread_mutex_lock(&driver->lock);
    signal->users = 0;
    reuse(driver, signal);
    pthread_mutex_unlock(&driver->lock);
}

void lz_signal_leave(struct lz_driver *driver, struct lz_signal *signal)
{
    pthread_mutex_lock(&driver->lock);
    leave(driver, signal);
    pthread_mutex_unlock(&driver->lock);
}

/* ---- events ---- */

static struct lz_driver *driver_of(const struct gpu_queue *queue)
{
    return lz_device(queue->device)->driver;
}

gpu_result_t lz_make_event(struct gpu_device *device, void **event_p)
{
    struct lz_event *event = calloc(1, sizeof(*event));

    if (event == NULL) {
        return LZ_RECORDED(
            gpu_refuse(device->state, MEMSPAN_ERR_NO_MEMORY, NULL, "no host memory for an event"));
    }
    event->driver = lz_device(device)->driver;
    *event_p      = event;
    return LZ_RECORDED(MEMSPAN_OK);
}

gpu_result_t lz_drop_event(const struct gpu_state *state, void *opaque)
{
    struct lz_event *event = opaque;

    (void)state;
    lz_signal_leave(event->driver, event->signal);
    free(event);
    return LZ_RECORDED(MEMSPAN_OK);
}

gpu_result_t lz_record_event(const struct gpu_queue *queue, void *opaque)
{
    struct lz_driver *driver = driver_of(queue);
    struct lz_event *event   = opaque;
    struct lz_signal *signal = NULL;
    unsigned long long asked = 0;
    memspan_status_t status  = lz_signal_take(driver, &signal);
    gpu_result_t answer;

    if (status != MEMSPAN_OK) {
        return LZ_RECORDED(status);
    }
    answer = lz_stream_barrier(queue->stream, signal->handle, NULL, &asked);
    if (answer.code != GPU_SUCCESS) {
        lz_signal_put_back(driver, signal);
        return answer;
    }
    lz_signal_leave(driver, event->signal);
    event->signal = signal;
    return answer;
}

gpu_result_t lz_wait_event(const struct gpu_queue *queue, void *opaque)
{
    struct lz_driver *driver     = driver_of(queue);
    const struct lz_event *event = opaque;
    struct lz_signal *over       = NULL;
    unsigned long long asked     = 0;
    memspan_status_t status      = lz_signal_take(driver, &over);
    gpu_result_t answer;

    if (status != MEMSPAN_OK) {
        return LZ_RECORDED(status);
    }
    answer = lz_stream_barrier(queue->stream, over->handle, &event->signal->handle, &asked);
    if (answer.code != GPU_SUCCESS) {
        lz_signal_put_back(driver, over);
        return answer;
    }
    pthread_mutex_lock(&driver->lock);
    event->signal->users++;
    over->awaited = event->signal;
    leave(driver, over);
    pthread_mutex_unlock(&driver->lock);
    return answer;
}

/* Events are their context's, of which each driver has one. */
bool lz_can_wait(const struct gpu_device *device, const struct gpu_device *other)
{
    return lz_device(device)->driver == lz_device(other)->driver;
}

/* Only the loss of the device ends its work; other failures are those of the question. */
gpu_result_t lz_query_event(const struct gpu_state *state, void *opaque)
{
    const struct lz_event *event = opaque;
    lz_result_t code             = lz_calls(state)->zeEventQueryStatus(event->signal->handle);
    gpu_result_t answer          = LZ_ANSWER("zeEventQueryStatus", code);

    if (code == ZE_RESULT_NOT_READY) {
        answer.code = GPU_NOT_READY;
    } else if ((code != ZE_RESULT_SUCCESS) && !lz_is_lost(answer.code)) {
        return LZ_RECORDED(gpu_error(state, answer, "whether work is complete is not known"));
    }
    return answer;
}

/* ---- command lists of the program ---- */

/* Loaders before 1.16, and older drivers, do not answer this: then the program knows. */
static memspan_status_t check_list(const struct gpu_device *device, lz_list_h list)
{
    const struct lz_calls *ze = lz_calls(device->state);
    uint8_t immediate         = 1;
    lz_device_h of            = lz_device(device)->handle;

    if (list == NULL) {
        return gpu_refuse(device->state, MEMSPAN_ERR_INVALID, NULL, "NULL is no command list");
    }
    if ((ze->zeCommandListIsImmediate != NULL) &&
        (ze->zeCommandListIsImmediate(list, &immediate) == ZE_RESULT_SUCCESS) && (immediate == 0)) {
        return gpu_refuse(device->state, MEMSPAN_ERR_INVALID,
                          "make it by zeCommandListCreateImmediate",
                          "the command list at %p is not immediate", (void *)list);
    }
    if ((ze->zeCommandListGetDeviceHandle != NULL) &&
        (ze->zeCommandListGetDeviceHandle(list, &of) == ZE_RESULT_SUCCESS) &&
        (of != lz_device(device)->handle)) {
        return gpu_refuse(device->state, MEMSPAN_ERR_INVALID, NULL,
                          "the command list at %p is of another device than %s", (void *)list,
                          device->info.name);
    }
    return MEMSPAN_OK;
}

/* The list is of the program's context, and a driver may take events of that one alone: an event
 * at the end of the work that is there tells. */
static memspan_status_t try_list(const struct gpu_queue *queue)
{
    const struct gpu_state *state = queue->device->state;
    void *event                   = NULL;
    gpu_result_t answer           = lz_make_event(queue->device, &event);

    if (answer.code == GPU_SUCCESS) {
        answer = lz_record_event(queue, event);
        (void)lz_drop_event(state, event);
    }
    return (answer.code == GPU_SUCCESS)
               ? MEMSPAN_OK
               : gpu_error(state, answer, "the command list at %p takes no event of %s",
                           (void *)((struct lz_stream *)queue->stream)->list,
                           queue->device->info.name);
}

memspan_status_t lz_adopt_stream(struct gpu_device *device, void *native, void **stream_p)
{
    struct gpu_queue queue  = {.device = device, .adopted = true};
    memspan_status_t status = check_list(device, native);

    if (status != MEMSPAN_OK) {
        return status;
    }
    status = lz_stream_adopt(device, native, &queue.stream);
    if (status != MEMSPAN_OK) {
        return status;
    }
    status = try_list(&queue);
    if (status != MEMSPAN_OK) {
        (void)lz_release_stream(device->state, queue.stream);
        return status;
    }
    *stream_p = queue.stream;
    return MEMSPAN_OK;
}

memspan_status_t lz_note_scratch(const struct gpu_queue *queue)
{
    struct lz_stream *stream = queue->stream;
    gpu_result_t answer      = {"", GPU_SUCCESS};

    if (!queue->adopted || (queue->scratch == NULL)) {
        return MEMSPAN_OK;
    }
    if (stream->scratch_event == NULL) {
        answer = lz_make_event(queue->device, &stream->scratch_event);
    }
    if (answer.code == GPU_SUCCESS) {
        answer = lz_record_event(queue, stream->scratch_event);
    }
    return gpu_log_failure(queue->device->state, answer, "an event after a sum")
               ? MEMSPAN_OK
               : gpu_queue_wait(queue);
}

gpu_result_t lz_release_stream(const struct gpu_state *state, void *opaque)
{
    struct lz_stream *stream = opaque;
    struct lz_event *event   = stream->scratch_event;
    lz_result_t code         = ZE_RESULT_SUCCESS;

    if (event != NULL) {
        if (event->signal != NULL) {
            code = lz_calls(state)->zeEventHostSynchronize(event->signal->handle, UINT64_MAX);
        }
        (void)lz_drop_event(state, event);
    }
    lz_stream_end_adoption(stream);
    return LZ_ANSWER("zeEventHostSynchronize", code);
}

/* ---- the end ---- */

static void drop_signal(struct lz_driver *driver, const struct lz_signal *signal)
{
    lz_result_t code = lz_calls(driver->state)->zeEventDestroy(signal->handle);

    (void)gpu_log_failure(driver->state, LZ_ANSWER("zeEventDestroy", code), "closing a driver");
}

void lz_drop_events(struct lz_driver *driver, bool ours)
{
    while (driver->signals != NULL) {
        struct lz_signal *signal = driver->signals;
        driver->signals          = signal->older;
        if (ours) {
            drop_signal(driver, signal);
        }
        free(signal);
    }
    while (driver->pools != NULL) {
        struct lz_pool *pool = driver->pools;
        driver->pools        = pool->next;
        if (ours) {
            lz_result_t code = lz_calls(driver->state)->zeEventPoolDestroy(pool->handle);
            (void)gpu_log_failure(driver->state, LZ_ANSWER("zeEventPoolDestroy", code),
                                  "closing a driver");
        }
        free(pool);
    }
    pthread_mutex_destroy(&driver->lock);
}
