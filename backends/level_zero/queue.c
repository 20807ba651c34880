/* SPDX-License-Identifier: BSD-3-Clause */
/* queue.c: immediate command lists, in order, and waiting for them.
 *
 * A waiter puts a barrier at the end of the list that signals an event, and lets others go on
 * meanwhile. An event whose wait failed is not used again: it may still be signalled. */

#include "backends/level_zero/level_zero.h"
#include <stdlib.h>

static void drop_objects(struct lz_stream *stream)
{
    const struct gpu_state *state = stream->device->gpu.state;
    lz_result_t code;
    int i;

    code = lz_calls(state)->zeCommandListDestroy(stream->list);
    (void)gpu_log_failure(state, LZ_ANSWER("zeCommandListDestroy", code), "closing a queue");
    for (i = 0; i < LZ_QUEUE_EVENTS; i++) {
        code = (stream->events[i] == NULL) ? (lz_result_t)ZE_RESULT_SUCCESS
                                           : lz_calls(state)->zeEventDestroy(stream->events[i]);
        (void)gpu_log_failure(state, LZ_ANSWER("zeEventDestroy", code), "closing a queue");
    }
    code = (stream->pool == NULL) ? (lz_result_t)ZE_RESULT_SUCCESS
                                  : lz_calls(state)->zeEventPoolDestroy(stream->pool);
    (void)gpu_log_failure(state, LZ_ANSWER("zeEventPoolDestroy", code), "closing a queue");
}

static void insert(struct lz_state *state, struct lz_stream *stream)
{
    pthread_mutex_lock(&state->lock);
    stream->id     = ++state->stream_ids;
    stream->next   = state->streams;
    state->streams = stream;
    pthread_mutex_unlock(&state->lock);
}

/* When the threads that wait for all streams have left it. */
static void take_out(struct lz_state *state, struct lz_stream *stream)
{
    struct lz_stream **link = &state->streams;

    pthread_mutex_lock(&state->lock);
    while (*link != stream) {
        link = &(*link)->next;
    }
    *link = stream->next;
    while (stream->users > 0) {
        pthread_cond_wait(&stream->unused, &state->lock);
    }
    pthread_mutex_unlock(&state->lock);
}

static memspan_status_t make_objects(struct lz_stream *stream)
{
    struct lz_device *device      = stream->device;
    const struct gpu_state *state = device->gpu.state;
    lz_queue_desc_t desc          = {.stype    = LZ_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                     .ordinal  = device->facts.queue_group,
                                     .mode     = LZ_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
                                     .priority = LZ_COMMAND_QUEUE_PRIORITY_NORMAL};
    lz_event_pool_desc_t pool     = {.stype = LZ_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                     .flags = LZ_EVENT_POOL_FLAG_HOST_VISIBLE,
                                     .count = LZ_QUEUE_EVENTS};
    lz_result_t code              = lz_calls(state)->zeCommandListCreateImmediate(
                     device->driver->context, device->handle, &desc, &stream->list);

    if (code != ZE_RESULT_SUCCESS) {
        return gpu_error(state, LZ_ANSWER("zeCommandListCreateImmediate", code), "no queue on %s",
                         device->gpu.info.name);
    }
    code = lz_calls(state)->zeEventPoolCreate(device->driver->context, &pool, 1, &device->handle,
                                              &stream->pool);
    if (code != ZE_RESULT_SUCCESS) {
        stream->pool = NULL;
        drop_objects(stream);
        return gpu_error(state, LZ_ANSWER("zeEventPoolCreate", code), "no events for a queue on %s",
                         device->gpu.info.name);
    }
    return MEMSPAN_OK;
}

gpu_result_t lz_make_stream(struct gpu_device *device, void **stream_p)
{
    struct lz_stream *stream = calloc(1, sizeof(*stream));
    memspan_status_t status;

    if (stream == NULL) {
        return LZ_RECORDED(
            gpu_refuse(device->state, MEMSPAN_ERR_NO_MEMORY, NULL, "no host memory for a queue"));
    }
    stream->device = lz_device(device);
    status         = make_objects(stream);
    if (status != MEMSPAN_OK) {
        free(stream);
        return LZ_RECORDED(status);
    }
    pthread_mutex_init(&stream->lock, NULL);
    pthread_cond_init(&stream->event_free, NULL);
    pthread_cond_init(&stream->unused, NULL);
    insert(lz_state(device->state), stream);
    *stream_p = stream;
    return LZ_RECORDED(MEMSPAN_OK);
}

/* Nothing may be running on it any more. */
gpu_result_t lz_drop_stream(const struct gpu_state *state, void *opaque)
{
    struct lz_stream *stream = opaque;

    take_out(lz_state(state), stream);
    drop_objects(stream);
    pthread_mutex_destroy(&stream->lock);
    pthread_cond_destroy(&stream->event_free);
    pthread_cond_destroy(&stream->unused);
    free(stream);
    return LZ_RECORDED(MEMSPAN_OK);
}

lz_list_h lz_stream_begin(const struct gpu_queue *queue)
{
    struct lz_stream *stream = queue->stream;

    pthread_mutex_lock(&stream->lock);
    return stream->list;
}

gpu_result_t lz_stream_end(const struct gpu_queue *queue, gpu_result_t answer)
{
    struct lz_stream *stream = queue->stream;
    lz_result_t code;

    if (answer.code == GPU_SUCCESS) {
        atomic_fetch_add(&stream->asked, 1);
        code = LZ(stream->device)->zeCommandListAppendBarrier(stream->list, NULL, 0, NULL);
        if (code != ZE_RESULT_SUCCESS) {
            answer = LZ_RECORDED(
                gpu_error(queue->device->state, LZ_ANSWER("zeCommandListAppendBarrier", code),
                          "work on %s cannot be kept in order", queue->device->info.name));
        }
    }
    pthread_mutex_unlock(&stream->lock);
    return answer;
}

/* ---- waiting ---- */

/* An unused event; the stream's lock held, and perhaps given up meanwhile. */
static memspan_status_t take_event(struct lz_stream *stream, int *which_p)
{
    const struct gpu_state *state = stream->device->gpu.state;
    lz_event_desc_t desc          = {.stype  = LZ_STRUCTURE_TYPE_EVENT_DESC,
                                     .signal = LZ_EVENT_SCOPE_FLAG_HOST,
                                     .wait   = LZ_EVENT_SCOPE_FLAG_HOST};
    lz_result_t code;
    int i = 0;

    for (;;) {
        for (i = 0; (i < LZ_QUEUE_EVENTS) && stream->taken[i]; i++) {
        }
        if (i < LZ_QUEUE_EVENTS) {
            break;
        }
        if (stream->broken == LZ_QUEUE_EVENTS) {
            return gpu_refuse(state, MEMSPAN_ERR_DRIVER, "see the earlier errors",
                              "%s has failed in every wait for it", stream->device->gpu.info.name);
        }
        pthread_cond_wait(&stream->event_free, &stream->lock);
    }
    if (stream->events[i] == NULL) {
        desc.index = (uint32_t)i;
        code       = lz_calls(state)->zeEventCreate(stream->pool, &desc, &stream->events[i]);
        if (code != ZE_RESULT_SUCCESS) {
            stream->events[i] = NULL;
            return gpu_error(state, LZ_ANSWER("zeEventCreate", code), "no event to wait for %s",
                             stream->device->gpu.info.name);
        }
    }
    stream->taken[i] = true;
    *which_p         = i;
    return MEMSPAN_OK;
}

/* The barrier that signals it, after *asked_p commands. */
static memspan_status_t send_event(struct lz_stream *stream, int *which_p,
                                   unsigned long long *asked_p)
{
    const struct gpu_state *state = stream->device->gpu.state;
    memspan_status_t status;
    lz_result_t code;

    pthread_mutex_lock(&stream->lock);
    status = take_event(stream, which_p);
    if (status == MEMSPAN_OK) {
        *asked_p = atomic_load(&stream->asked);
        code = lz_calls(state)->zeCommandListAppendBarrier(stream->list, stream->events[*which_p],
                                                           0, NULL);
        if (code != ZE_RESULT_SUCCESS) {
            stream->taken[*which_p] = false;
            pthread_cond_signal(&stream->event_free);
            status = gpu_error(state, LZ_ANSWER("zeCommandListAppendBarrier", code),
                               "cannot wait for %s", stream->device->gpu.info.name);
        }
    }
    pthread_mutex_unlock(&stream->lock);
    return status;
}

static bool is_busy(struct lz_stream *stream)
{
    return atomic_load(&stream->done) < atomic_load(&stream->asked);
}

gpu_result_t lz_wait(const struct gpu_state *state, void *opaque)
{
    struct lz_stream *stream = opaque;
    const char *call         = "zeEventHostSynchronize";
    unsigned long long asked = 0;
    int which                = 0;
    lz_result_t code;
    memspan_status_t status = send_event(stream, &which, &asked);

    if (status != MEMSPAN_OK) {
        return LZ_RECORDED(status);
    }
    code = lz_calls(state)->zeEventHostSynchronize(stream->events[which], UINT64_MAX);
    if (code == ZE_RESULT_SUCCESS) {
        call = "zeEventHostReset";
        code = lz_calls(state)->zeEventHostReset(stream->events[which]);
    }
    pthread_mutex_lock(&stream->lock);
    stream->taken[which] = (code != ZE_RESULT_SUCCESS);
    stream->broken += (code != ZE_RESULT_SUCCESS) ? 1 : 0;
    if ((code == ZE_RESULT_SUCCESS) && (asked > atomic_load(&stream->done))) {
        atomic_store(&stream->done, asked);
    }
    pthread_cond_broadcast(&stream->event_free);
    pthread_mutex_unlock(&stream->lock);
    return LZ_ANSWER(call, code);
}

/* The newest stream older than @p id that has work, of the device or, if @p all, of any of its
 * driver; it stays until it is let go. */
static struct lz_stream *hold_next(struct lz_state *state, const struct lz_device *device, bool all,
                                   unsigned long long id)
{
    struct lz_stream *stream;

    pthread_mutex_lock(&state->lock);
    for (stream = state->streams; stream != NULL; stream = stream->next) {
        if ((stream->id < id) && is_busy(stream) &&
            ((stream->device == device) || (all && (stream->device->driver == device->driver)))) {
            stream->users++;
            break;
        }
    }
    pthread_mutex_unlock(&state->lock);
    return stream;
}

static void let_go(struct lz_state *state, struct lz_stream *stream)
{
    pthread_mutex_lock(&state->lock);
    if (--stream->users == 0) {
        pthread_cond_broadcast(&stream->unused);
    }
    pthread_mutex_unlock(&state->lock);
}

static memspan_status_t wait_for(const struct gpu_device *device, bool all)
{
    struct lz_state *state     = lz_state(device->state);
    memspan_status_t status    = MEMSPAN_OK;
    unsigned long long last_id = ~0ULL;
    struct lz_stream *stream;

    while ((stream = hold_next(state, lz_device(device), all, last_id)) != NULL) {
        gpu_result_t answer = lz_wait(device->state, stream);
        last_id             = stream->id;
        if ((answer.code != GPU_SUCCESS) && (status == MEMSPAN_OK)) {
            status = gpu_error(device->state, answer, "work on %s failed",
                               stream->device->gpu.info.name);
        }
        let_go(state, stream);
    }
    return status;
}

gpu_result_t lz_wait_for_device(const struct gpu_device *device)
{
    return LZ_RECORDED(wait_for(device, false));
}

memspan_status_t lz_settle(struct gpu_device *device, bool *idle_p)
{
    memspan_status_t status = wait_for(device, true);
    long code;

    *idle_p = (status == MEMSPAN_OK) || (wait_for(device, true) == MEMSPAN_OK);
    if (!*idle_p) {
        code    = memspan_error_last()->native_code;
        *idle_p = (code == ZE_RESULT_ERROR_DEVICE_LOST) ||
                  (code == ZE_RESULT_ERROR_DEVICE_REQUIRES_RESET);
    }
    return status;
}
