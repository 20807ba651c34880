/* SPDX-License-Identifier: BSD-3-Clause */
/* queue.c: immediate command lists, in order, and waiting for them.
 *
 * A waiter puts a barrier at the end of the list that signals an event, and lets others go on
 * meanwhile. An event whose wait failed is not used again: it may still be
 * signalled. */

#include "backends/level_zero/level_zero.h"
#include <stdlib.h>

static void drop_objects(struct lz_queue *queue)
{
    const struct gpu_state *state = queue->device->gpu.state;
    lz_result_t code;
    int i;

    code = lz_calls(state)->zeCommandListDestroy(queue->list);
    (void)gpu_log_failure(state, LZ_ANSWER("zeCommandListDestroy", code), "closing a queue");
    for (i = 0; i < LZ_QUEUE_EVENTS; i++) {
        code = (queue->events[i] == NULL) ? (lz_result_t)ZE_RESULT_SUCCESS
                                          : lz_calls(state)->zeEventDestroy(queue->events[i]);
        (void)gpu_log_failure(state, LZ_ANSWER("zeEventDestroy", code), "closing a queue");
    }
    code = (queue->pool == NULL) ? (lz_result_t)ZE_RESULT_SUCCESS
                                 : lz_calls(state)->zeEventPoolDestroy(queue->pool);
    (void)gpu_log_failure(state, LZ_ANSWER("zeEventPoolDestroy", code), "closing a queue");
}

static void insert(struct gpu_state *state, struct lz_queue *queue)
{
    pthread_mutex_lock(&state->lock);
    queue->id               = ++lz_state(state)->queue_ids;
    queue->next             = lz_state(state)->queues;
    lz_state(state)->queues = queue;
    pthread_mutex_unlock(&state->lock);
}

/* When the threads that wait on all queues have left it. */
static void take_out(struct gpu_state *state, struct lz_queue *queue)
{
    struct lz_queue **link = &lz_state(state)->queues;

    pthread_mutex_lock(&state->lock);
    while (*link != queue) {
        link = &(*link)->next;
    }
    *link = queue->next;
    while (queue->users > 0) {
        pthread_cond_wait(&queue->unused, &state->lock);
    }
    pthread_mutex_unlock(&state->lock);
}

static memspan_status_t make_objects(struct lz_queue *queue)
{
    struct lz_device *device      = queue->device;
    const struct gpu_state *state = device->gpu.state;
    lz_queue_desc_t desc          = {.stype    = LZ_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                     .ordinal  = device->facts.queue_group,
                                     .mode     = LZ_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
                                     .priority = LZ_COMMAND_QUEUE_PRIORITY_NORMAL};
    lz_event_pool_desc_t pool     = {.stype = LZ_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                     .flags = LZ_EVENT_POOL_FLAG_HOST_VISIBLE,
                                     .count = LZ_QUEUE_EVENTS};
    lz_result_t code              = lz_calls(state)->zeCommandListCreateImmediate(
                     device->driver->context, device->handle, &desc, &queue->list);

    if (code != ZE_RESULT_SUCCESS) {
        return gpu_error(state, LZ_ANSWER("zeCommandListCreateImmediate", code), "no queue on %s",
                         device->gpu.info.name);
    }
    code = lz_calls(state)->zeEventPoolCreate(device->driver->context, &pool, 1, &device->handle,
                                              &queue->pool);
    if (code != ZE_RESULT_SUCCESS) {
        queue->pool = NULL;
        drop_objects(queue);
        return gpu_error(state, LZ_ANSWER("zeEventPoolCreate", code), "no events for a queue on %s",
                         device->gpu.info.name);
    }
    return MEMSPAN_OK;
}

static memspan_status_t make(struct lz_device *device, struct lz_queue **queue_p)
{
    struct lz_queue *queue = calloc(1, sizeof(*queue));
    memspan_status_t status;

    if (queue == NULL) {
        return gpu_refuse(device->gpu.state, MEMSPAN_ERR_NO_MEMORY, NULL,
                          "no host memory for a queue");
    }
    queue->device = device;
    status        = make_objects(queue);
    if (status != MEMSPAN_OK) {
        free(queue);
        return status;
    }
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->event_free, NULL);
    pthread_cond_init(&queue->unused, NULL);
    insert(device->gpu.state, queue);
    *queue_p = queue;
    return MEMSPAN_OK;
}

memspan_status_t lz_queue_get(struct lz_device *device, void *queue, struct lz_queue **queue_p)
{
    memspan_status_t status = MEMSPAN_OK;

    if (queue != NULL) {
        *queue_p = queue;
        return MEMSPAN_OK;
    }
    pthread_mutex_lock(&device->gpu.lock);
    if (device->queue == NULL) {
        status = make(device, &device->queue);
    }
    if (status == MEMSPAN_OK) {
        *queue_p = device->queue;
    }
    pthread_mutex_unlock(&device->gpu.lock);
    return status;
}

memspan_status_t lz_queue_order(struct lz_queue *queue)
{
    const struct gpu_state *state = queue->device->gpu.state;
    lz_result_t code;

    atomic_fetch_add(&queue->asked, 1);
    code = lz_calls(state)->zeCommandListAppendBarrier(queue->list, NULL, 0, NULL);
    return (code == ZE_RESULT_SUCCESS)
               ? MEMSPAN_OK
               : gpu_error(state, LZ_ANSWER("zeCommandListAppendBarrier", code),
                           "work on %s cannot be kept in order", queue->device->gpu.info.name);
}

/* ---- waiting ---- */

/* An unused event; the queue's lock held, and perhaps given up meanwhile. */
static memspan_status_t take_event(struct lz_queue *queue, int *which_p)
{
    const struct gpu_state *state = queue->device->gpu.state;
    lz_event_desc_t desc          = {.stype  = LZ_STRUCTURE_TYPE_EVENT_DESC,
                                     .signal = LZ_EVENT_SCOPE_FLAG_HOST,
                                     .wait   = LZ_EVENT_SCOPE_FLAG_HOST};
    lz_result_t code;
    int i = 0;

    for (;;) {
        for (i = 0; (i < LZ_QUEUE_EVENTS) && queue->taken[i]; i++) {
        }
        if (i < LZ_QUEUE_EVENTS) {
            break;
        }
        if (queue->broken == LZ_QUEUE_EVENTS) {
            return gpu_refuse(state, MEMSPAN_ERR_DRIVER, "see the earlier errors",
                              "%s has failed in every wait for it", queue->device->gpu.info.name);
        }
        pthread_cond_wait(&queue->event_free, &queue->lock);
    }
    if (queue->events[i] == NULL) {
        desc.index = (uint32_t)i;
        code       = lz_calls(state)->zeEventCreate(queue->pool, &desc, &queue->events[i]);
        if (code != ZE_RESULT_SUCCESS) {
            queue->events[i] = NULL;
            return gpu_error(state, LZ_ANSWER("zeEventCreate", code), "no event to wait for %s",
                             queue->device->gpu.info.name);
        }
    }
    queue->taken[i] = true;
    *which_p        = i;
    return MEMSPAN_OK;
}

/* The barrier that signals it, after *asked_p commands. */
static memspan_status_t send_event(struct lz_queue *queue, int *which_p,
                                   unsigned long long *asked_p)
{
    const struct gpu_state *state = queue->device->gpu.state;
    memspan_status_t status;
    lz_result_t code;

    pthread_mutex_lock(&queue->lock);
    status = take_event(queue, which_p);
    if (status == MEMSPAN_OK) {
        *asked_p = atomic_load(&queue->asked);
        code = lz_calls(state)->zeCommandListAppendBarrier(queue->list, queue->events[*which_p], 0,
                                                           NULL);
        if (code != ZE_RESULT_SUCCESS) {
            queue->taken[*which_p] = false;
            pthread_cond_signal(&queue->event_free);
            status = gpu_error(state, LZ_ANSWER("zeCommandListAppendBarrier", code),
                               "cannot wait for %s", queue->device->gpu.info.name);
        }
    }
    pthread_mutex_unlock(&queue->lock);
    return status;
}

static bool is_busy(struct lz_queue *queue)
{
    return atomic_load(&queue->done) < atomic_load(&queue->asked);
}

memspan_status_t lz_queue_wait(struct lz_queue *queue)
{
    const struct gpu_state *state = queue->device->gpu.state;
    const char *call              = "zeEventHostSynchronize";
    unsigned long long asked      = 0;
    int which                     = 0;
    lz_result_t code;
    memspan_status_t status = send_event(queue, &which, &asked);

    if (status != MEMSPAN_OK) {
        return status;
    }
    code = lz_calls(state)->zeEventHostSynchronize(queue->events[which], UINT64_MAX);
    if (code == ZE_RESULT_SUCCESS) {
        call = "zeEventHostReset";
        code = lz_calls(state)->zeEventHostReset(queue->events[which]);
    }
    pthread_mutex_lock(&queue->lock);
    queue->taken[which] = (code != ZE_RESULT_SUCCESS);
    queue->broken += (code != ZE_RESULT_SUCCESS) ? 1 : 0;
    if ((code == ZE_RESULT_SUCCESS) && (asked > atomic_load(&queue->done))) {
        atomic_store(&queue->done, asked);
    }
    pthread_cond_broadcast(&queue->event_free);
    pthread_mutex_unlock(&queue->lock);
    return (code == ZE_RESULT_SUCCESS)
               ? MEMSPAN_OK
               : gpu_error(state, LZ_ANSWER(call, code), "work on %s failed",
                           queue->device->gpu.info.name);
}

/* The newest queue older than @p id that has work and fits; it stays until it is let go. */
static struct lz_queue *hold_next(struct gpu_state *state, const struct lz_driver *driver,
                                  const struct lz_device *device, unsigned long long id)
{
    struct lz_queue *queue;

    pthread_mutex_lock(&state->lock);
    for (queue = lz_state(state)->queues; queue != NULL; queue = queue->next) {
        if ((queue->id < id) && is_busy(queue) && (queue->device->driver == driver) &&
            ((device == NULL) || (queue->device == device))) {
            queue->users++;
            break;
        }
    }
    pthread_mutex_unlock(&state->lock);
    return queue;
}

static void let_go(struct gpu_state *state, struct lz_queue *queue)
{
    pthread_mutex_lock(&state->lock);
    if (--queue->users == 0) {
        pthread_cond_broadcast(&queue->unused);
    }
    pthread_mutex_unlock(&state->lock);
}

memspan_status_t lz_queues_wait(const struct lz_driver *driver, const struct lz_device *device)
{
    struct gpu_state *state    = driver->state;
    memspan_status_t status    = MEMSPAN_OK;
    unsigned long long last_id = ~0ULL;
    struct lz_queue *queue;

    while ((queue = hold_next(state, driver, device, last_id)) != NULL) {
        memspan_status_t waited = lz_queue_wait(queue);
        last_id                 = queue->id;
        let_go(state, queue);
        status = (status == MEMSPAN_OK) ? waited : status;
    }
    return status;
}

bool lz_queues_settle(const struct lz_driver *driver, memspan_status_t *status_p)
{
    long code;

    *status_p = lz_queues_wait(driver, NULL);
    if ((*status_p == MEMSPAN_OK) || (lz_queues_wait(driver, NULL) == MEMSPAN_OK)) {
        return true;
    }
    code = memspan_error_last()->native_code;
    return (code == ZE_RESULT_ERROR_DEVICE_LOST) || (code == ZE_RESULT_ERROR_DEVICE_REQUIRES_RESET);
}

/* ---- the table's ---- */

memspan_status_t lz_queue_need_scratch(struct lz_queue *queue, size_t size_bytes)
{
    struct lz_device *device  = queue->device;
    lz_device_alloc_desc_t to = {.stype = LZ_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    void *scratch             = NULL;
    lz_result_t code;

    if (queue->scratch != NULL) {
        return MEMSPAN_OK;
    }
    code = LZ(device)->zeMemAllocDevice(device->driver->context, &to, size_bytes, 64,
                                        device->handle, &scratch);
    if (code != ZE_RESULT_SUCCESS) {
        return gpu_error(device->gpu.state, LZ_ANSWER("zeMemAllocDevice", code),
                         "no %zu bytes on %s for partial sums", size_bytes, device->gpu.info.name);
    }
    queue->scratch = scratch;
    return MEMSPAN_OK;
}

void lz_close(struct gpu_device *device)
{
    struct lz_device *own = lz_device(device);

    if ((own->driver != NULL) && (lz_queues_wait(own->driver, own) != MEMSPAN_OK)) {
        gpu_log_record(device->state, MEMSPAN_LOG_WARN, "closing a device");
    }
    if (own->queue != NULL) {
        lz_queue_drop(own->queue);
        own->queue = NULL;
    }
}

/* Nothing may be running on it any more. */
void lz_queue_drop(struct lz_queue *queue)
{
    struct gpu_state *state = queue->device->gpu.state;
    lz_result_t code;

    take_out(state, queue);
    drop_objects(queue);
    if (queue->scratch != NULL) {
        code = lz_calls(state)->zeMemFree(queue->device->driver->context, queue->scratch);
        (void)gpu_log_failure(state, LZ_ANSWER("zeMemFree", code), "closing a queue");
    }
    pthread_mutex_destroy(&queue->lock);
    pthread_cond_destroy(&queue->event_free);
    pthread_cond_destroy(&queue->unused);
    free(queue);
}

memspan_status_t lz_queue_create(void *state, int ordinal, void **queue_p)
{
    struct lz_device *device;
    struct lz_queue *queue;
    memspan_status_t status = lz_device_get(state, ordinal, &device);

    if (status == MEMSPAN_OK) {
        status = make(device, &queue);
    }
    if (status == MEMSPAN_OK) {
        *queue_p = queue;
    }
    return status;
}

memspan_status_t lz_queue_destroy(void *state, int ordinal, void *queue)
{
    struct lz_device *device;
    memspan_status_t status;

    if (queue == NULL) {
        return MEMSPAN_OK;
    }
    status = lz_device_get(state, ordinal, &device);
    if (status != MEMSPAN_OK) {
        return status;
    }
    status = lz_queue_wait(queue);
    lz_queue_drop(queue);
    return status;
}
