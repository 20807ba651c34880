/* SPDX-License-Identifier: BSD-3-Clause */
/* queue.c: immediate command lists, in order, and waiting for them.
 *
 * A waiter puts a barrier at the end of the list that signals an event, and lets others go on
 * meanwhile. */

#include "backends/level_zero/level_zero.h"
#include <stdlib.h>

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

static memspan_status_t make_list(const struct lz_device *device, lz_list_h *list_p)
{
    const struct gpu_state *state = device->gpu.state;
    lz_queue_desc_t desc          = {.stype    = LZ_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                     .ordinal  = device->facts.queue_group,
                                     .mode     = LZ_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
                                     .priority = LZ_COMMAND_QUEUE_PRIORITY_NORMAL};
    lz_result_t code = lz_calls(state)->zeCommandListCreateImmediate(device->driver->context,
                                                                     device->handle, &desc, list_p);

    return (code == ZE_RESULT_SUCCESS)
               ? MEMSPAN_OK
               : gpu_error(state, LZ_ANSWER("zeCommandListCreateImmediate", code), "no queue on %s",
                           device->gpu.info.name);
}

/* @p list: the program's, or NULL. */
static memspan_status_t make(struct gpu_device *device, lz_list_h list, struct lz_stream **stream_p)
{
    struct lz_stream *stream = calloc(1, sizeof(*stream));
    memspan_status_t status  = MEMSPAN_OK;

    if (stream == NULL) {
        return gpu_refuse(device->state, MEMSPAN_ERR_NO_MEMORY, NULL, "no host memory for a queue");
    }
    stream->device  = lz_device(device);
    stream->list    = list;
    stream->adopted = (list != NULL);
    if (!stream->adopted) {
        status = make_list(stream->device, &stream->list);
    }
    if (status != MEMSPAN_OK) {
        free(stream);
        return status;
    }
    pthread_mutex_init(&stream->lock, NULL);
    pthread_cond_init(&stream->unused, NULL);
    *stream_p = stream;
    return MEMSPAN_OK;
}

gpu_result_t lz_make_stream(struct gpu_device *device, void **stream_p)
{
    struct lz_stream *stream = NULL;
    memspan_status_t status  = make(device, NULL, &stream);

    if (status == MEMSPAN_OK) {
        insert(lz_state(device->state), stream);
        *stream_p = stream;
    }
    return LZ_RECORDED(status);
}

static void drop(struct lz_stream *stream)
{
    const struct gpu_state *state = stream->device->gpu.state;
    lz_result_t code              = stream->adopted ? (lz_result_t)ZE_RESULT_SUCCESS
                                                    : lz_calls(state)->zeCommandListDestroy(stream->list);

    (void)gpu_log_failure(state, LZ_ANSWER("zeCommandListDestroy", code), "closing a queue");
    pthread_mutex_destroy(&stream->lock);
    pthread_cond_destroy(&stream->unused);
    free(stream);
}

/* Nothing may be running on it any more. */
gpu_result_t lz_drop_stream(const struct gpu_state *state, void *opaque)
{
    struct lz_stream *stream = opaque;

    take_out(lz_state(state), stream);
    drop(stream);
    return LZ_RECORDED(MEMSPAN_OK);
}

/* Not among the streams that are waited for before memory is given back: a list of the program's
 * may be used by no other thread than the program's, and may be gone. */
memspan_status_t lz_stream_adopt(struct gpu_device *device, lz_list_h list, void **stream_p)
{
    struct lz_stream *stream = NULL;
    memspan_status_t status  = make(device, list, &stream);

    if (status == MEMSPAN_OK) {
        *stream_p = stream;
    }
    return status;
}

void lz_stream_end_adoption(struct lz_stream *stream)
{
    drop(stream);
}

/* ---- commands ---- */

/* The stream's lock held. */
static gpu_result_t keep_order(const struct gpu_queue *queue)
{
    const struct lz_stream *stream = queue->stream;
    lz_result_t code = LZ(stream->device)->zeCommandListAppendBarrier(stream->list, NULL, 0, NULL);

    return (code == ZE_RESULT_SUCCESS)
               ? LZ_RECORDED(MEMSPAN_OK)
               : LZ_RECORDED(
                     gpu_error(queue->device->state, LZ_ANSWER("zeCommandListAppendBarrier", code),
                               "work on %s cannot be kept in order", queue->device->info.name));
}

gpu_result_t lz_stream_begin(const struct gpu_queue *queue, lz_list_h *list_p)
{
    struct lz_stream *stream = queue->stream;
    gpu_result_t answer      = LZ_RECORDED(MEMSPAN_OK);

    pthread_mutex_lock(&stream->lock);
    if (stream->adopted) { /* no barrier follows the program's commands */
        answer = keep_order(queue);
    }
    if (answer.code != GPU_SUCCESS) {
        pthread_mutex_unlock(&stream->lock);
    }
    *list_p = stream->list;
    return answer;
}

gpu_result_t lz_stream_end(const struct gpu_queue *queue, gpu_result_t answer)
{
    struct lz_stream *stream = queue->stream;

    if (answer.code == GPU_SUCCESS) {
        atomic_fetch_add(&stream->asked, 1);
        answer = keep_order(queue);
    }
    pthread_mutex_unlock(&stream->lock);
    return answer;
}

gpu_result_t lz_stream_barrier(struct lz_stream *stream, lz_event_h signal, lz_event_h *awaited,
                               unsigned long long *asked_p)
{
    lz_result_t code;

    pthread_mutex_lock(&stream->lock);
    code =
        LZ(stream->device)
            ->zeCommandListAppendBarrier(stream->list, signal, (awaited == NULL) ? 0 : 1, awaited);
    *asked_p = atomic_load(&stream->asked);
    if (code == ZE_RESULT_SUCCESS) {
        *asked_p = atomic_fetch_add(&stream->asked, 1) + 1;
    }
    pthread_mutex_unlock(&stream->lock);
    return LZ_ANSWER("zeCommandListAppendBarrier", code);
}

/* ---- waiting ---- */

static bool is_busy(struct lz_stream *stream)
{
    return atomic_load(&stream->done) < atomic_load(&stream->asked);
}

static void note_done(struct lz_stream *stream, unsigned long long asked)
{
    pthread_mutex_lock(&stream->lock);
    if (asked > atomic_load(&stream->done)) {
        atomic_store(&stream->done, asked);
    }
    pthread_mutex_unlock(&stream->lock);
}

gpu_result_t lz_wait(const struct gpu_state *state, void *opaque)
{
    struct lz_stream *stream = opaque;
    struct lz_driver *driver = stream->device->driver;
    struct lz_signal *signal = NULL;
    unsigned long long asked = 0;
    memspan_status_t status  = lz_signal_take(driver, &signal);
    gpu_result_t answer;

    if (status != MEMSPAN_OK) {
        return LZ_RECORDED(status);
    }
    answer = lz_stream_barrier(stream, signal->handle, NULL, &asked);
    if (answer.code != GPU_SUCCESS) {
        lz_signal_put_back(driver, signal);
        return answer;
    }
    answer = LZ_ANSWER("zeEventHostSynchronize",
                       lz_calls(state)->zeEventHostSynchronize(signal->handle, UINT64_MAX));
    if (answer.code == GPU_SUCCESS) {
        note_done(stream, asked);
        answer = LZ_ANSWER("zeEventHostReset", lz_calls(state)->zeEventHostReset(signal->handle));
    }
    if (answer.code == GPU_SUCCESS) {
        lz_signal_put_back(driver, signal);
    } else {
        lz_signal_leave(driver, signal); /* it may still be signalled */
    }
    return answer;
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

bool lz_is_lost(long code)
{
    return (code == ZE_RESULT_ERROR_DEVICE_LOST) || (code == ZE_RESULT_ERROR_DEVICE_REQUIRES_RESET);
}

memspan_status_t lz_settle(struct gpu_device *device, bool *idle_p)
{
    memspan_status_t status = wait_for(device, true);

    *idle_p = (status == MEMSPAN_OK) || (wait_for(device, true) == MEMSPAN_OK) ||
              lz_is_lost(memspan_error_last()->native_code);
    return status;
}
