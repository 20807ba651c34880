/* SPDX-License-Identifier: BSD-3-Clause */
/* work.c: streams, copies, fills, prefetch, waiting, and facts about an address.
 *
 * Streams of ours do not wait for the default stream, nor it for them: work of a program there is
 * its own to synchronise. With one address space for all, the driver finds the source and the
 * target device from the addresses, between devices as well. */

#include "backends/gpu/gpu.h"
#include <stdlib.h>
#include <string.h>

/* ---- queues ---- */

static memspan_status_t make(struct gpu_device *device, struct gpu_queue **queue_p)
{
    const struct gpu_state *state = device->state;
    struct gpu_queue *queue       = calloc(1, sizeof(*queue));
    gpu_result_t answer;

    if (queue == NULL) {
        return gpu_refuse(state, MEMSPAN_ERR_NO_MEMORY, NULL, "no host memory for a queue");
    }
    queue->device = device;
    queue->epoch  = atomic_load(&device->epoch);
    answer        = state->driver->make_stream(device, &queue->stream);
    if (answer.code != GPU_SUCCESS) {
        free(queue);
        return gpu_error(state, answer, "no stream on %s", device->info.name);
    }
    *queue_p = queue;
    return MEMSPAN_OK;
}

memspan_status_t gpu_queue_get(struct gpu_device *device, void *opaque, struct gpu_queue **queue_p)
{
    struct gpu_queue *queue = opaque;
    memspan_status_t status = MEMSPAN_OK;

    if ((queue != NULL) && (queue->epoch != atomic_load(&device->epoch))) {
        return gpu_refuse(device->state, MEMSPAN_ERR_NOT_FOUND, "make another one",
                          "the queue went when the program reset %s", device->info.name);
    }
    if (queue == NULL) {
        pthread_mutex_lock(&device->lock);
        if (device->queue == NULL) {
            status = make(device, &device->queue);
        }
        queue = device->queue;
        pthread_mutex_unlock(&device->lock);
    }
    if (status == MEMSPAN_OK) {
        *queue_p = queue;
    }
    return status;
}

memspan_status_t gpu_queue_wait(const struct gpu_queue *queue)
{
    const struct gpu_state *state = queue->device->state;
    gpu_result_t answer           = state->driver->wait(state, queue->stream);

    return (answer.code == GPU_SUCCESS)
               ? MEMSPAN_OK
               : gpu_error(state, answer, "work on %s failed", queue->device->info.name);
}

memspan_status_t gpu_queue_need_scratch(struct gpu_queue *queue, size_t size_bytes)
{
    struct gpu_device *device = queue->device;
    void *scratch             = NULL;
    gpu_result_t answer;

    if (queue->scratch == NULL) {
        queue->scratch = gpu_spare_take(device, GPU_MADE_DEVICE);
    }
    if (queue->scratch != NULL) {
        return MEMSPAN_OK;
    }
    answer = device->state->driver->take(device, GPU_MADE_DEVICE, size_bytes, &scratch);
    if (answer.code != GPU_SUCCESS) {
        return gpu_error(device->state, answer, "no %zu bytes on %s for partial sums", size_bytes,
                         device->info.name);
    }
    queue->scratch = scratch;
    return MEMSPAN_OK;
}

void gpu_queue_drop(struct gpu_queue *queue)
{
    const struct gpu_state *state = queue->device->state;
    gpu_result_t (*end)(const struct gpu_state *, void *) =
        queue->adopted ? state->driver->release_stream : state->driver->drop_stream;

    /* First, since it may wait for the work that uses the scratch. */
    if (end != NULL) {
        (void)gpu_log_failure(state, end(state, queue->stream), "closing a queue");
    }
    gpu_spare_leave(queue->device, GPU_MADE_HOST, queue->word, false);
    gpu_spare_leave(queue->device, GPU_MADE_DEVICE, queue->scratch, end == NULL);
    free(queue);
}

memspan_status_t gpu_queue_create(void *state, int ordinal, void **queue_p)
{
    struct gpu_queue *queue = NULL;
    struct gpu_visit visit;
    memspan_status_t status = gpu_enter(state, ordinal, GPU_TO_WORK, &visit);

    if (status != MEMSPAN_OK) {
        return status;
    }
    status = make(visit.device, &queue);
    gpu_leave(&visit);
    if (status == MEMSPAN_OK) {
        *queue_p = queue;
    }
    return status;
}

memspan_status_t gpu_queue_destroy(void *state, int ordinal, void *opaque)
{
    struct gpu_queue *queue = opaque;
    struct gpu_visit visit;
    memspan_status_t status;

    if (queue == NULL) {
        return MEMSPAN_OK;
    }
    if (queue->adopted && (queue->scratch == NULL) && (queue->word == NULL) &&
        (queue->device->state->driver->release_stream == NULL)) {
        free(queue);
        return MEMSPAN_OK;
    }
    status = gpu_enter(state, ordinal, GPU_TO_GIVE_BACK, &visit);
    if (status == MEMSPAN_ERR_OFF) {
        free(queue);
        return MEMSPAN_OK;
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    if (queue->epoch != atomic_load(&visit.device->epoch)) {
        free(queue); /* its stream went with the reset */
    } else if (queue->adopted) {
        gpu_queue_drop(queue);
    } else {
        status = gpu_queue_wait(queue); /* destroying it neither waits nor reports how work ended */
        gpu_queue_drop(queue);
    }
    gpu_leave(&visit);
    return status;
}

/* A device and a queue of it. Left by gpu_leave() on success. */
static memspan_status_t enter_queue(void *state, int ordinal, void *opaque,
                                    struct gpu_queue **queue_p, struct gpu_visit *visit_p)
{
    memspan_status_t status = gpu_enter(state, ordinal, GPU_TO_WORK, visit_p);

    if (status != MEMSPAN_OK) {
        return status;
    }
    status = gpu_queue_get(visit_p->device, opaque, queue_p);
    if (status != MEMSPAN_OK) {
        gpu_leave(visit_p);
    }
    return status;
}

/* ---- copies and fills ---- */

memspan_status_t gpu_copy(void *opaque_state, int ordinal, void *opaque, void *to, const void *from,
                          size_t size_bytes)
{
    const struct gpu_state *state = opaque_state;
    struct gpu_queue *queue       = NULL;
    struct gpu_visit visit;
    gpu_result_t answer;
    memspan_status_t status;

    if (size_bytes == 0) {
        return MEMSPAN_OK;
    }
    status = enter_queue(opaque_state, ordinal, opaque, &queue, &visit);
    if (status != MEMSPAN_OK) {
        return status;
    }
    answer = state->driver->copy(queue, to, from, size_bytes);
    if (answer.code != GPU_SUCCESS) {
        status =
            gpu_error(state, answer, "cannot copy %zu bytes from %p to %p", size_bytes, from, to);
    }
    gpu_leave(&visit);
    return status;
}

memspan_status_t gpu_copy_blocks(void *opaque_state, int ordinal, void *opaque, void *to,
                                 size_t to_stride_bytes, const void *from, size_t from_stride_bytes,
                                 size_t block_bytes, size_t block_count)
{
    const struct gpu_blocks blocks = {to,          from,       to_stride_bytes, from_stride_bytes,
                                      block_bytes, block_count};
    const struct gpu_state *state  = opaque_state;
    struct gpu_queue *queue        = NULL;
    struct gpu_visit visit;
    gpu_result_t answer;
    memspan_status_t status;

    if ((to_stride_bytes > GPU_STRIDE_MAX) || (from_stride_bytes > GPU_STRIDE_MAX)) {
        return MEMSPAN_ERR_UNSUPPORTED;
    }
    status = enter_queue(opaque_state, ordinal, opaque, &queue, &visit);
    if (status != MEMSPAN_OK) {
        return status;
    }
    answer = state->driver->copy_blocks(queue, &blocks);
    if (answer.code != GPU_SUCCESS) {
        status = gpu_error(state, answer, "cannot copy %zu blocks of %zu bytes from %p to %p",
                           block_count, block_bytes, from, to);
    }
    gpu_leave(&visit);
    return status;
}

static memspan_status_t fill(const struct gpu_queue *queue, void *to, unsigned char byte,
                             size_t size_bytes)
{
    const struct gpu_state *state = queue->device->state;
    struct gpu_pointer p          = {.known = true};
    memspan_status_t status       = MEMSPAN_OK;
    gpu_result_t answer;

    /* Plain host pages are no business of the driver's memset, though the device reaches them. */
    if (queue->device->facts.pageable) {
        status = state->driver->query_pointer(state, to, &p);
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    if (!p.known) {
        status = gpu_queue_wait(queue);
        if (status == MEMSPAN_OK) {
            memset(to, byte, size_bytes);
        }
        return status;
    }
    answer = state->driver->fill_bytes(queue, to, byte, size_bytes);
    return (answer.code == GPU_SUCCESS)
               ? MEMSPAN_OK
               : gpu_error(state, answer, "cannot fill %zu bytes at %p", size_bytes, to);
}

memspan_status_t gpu_fill(void *state, int ordinal, void *opaque, void *to, unsigned char byte,
                          size_t size_bytes)
{
    struct gpu_queue *queue = NULL;
    struct gpu_visit visit;
    memspan_status_t status;

    if (size_bytes == 0) {
        return MEMSPAN_OK;
    }
    status = enter_queue(state, ordinal, opaque, &queue, &visit);
    if (status != MEMSPAN_OK) {
        return status;
    }
    status = fill(queue, to, byte, size_bytes);
    gpu_leave(&visit);
    return status;
}

/* ---- waiting ---- */

memspan_status_t gpu_synchronize(void *opaque_state, int ordinal, void *opaque)
{
    const struct gpu_state *state = opaque_state;
    struct gpu_queue *queue       = opaque;
    struct gpu_device *device;
    struct gpu_visit visit;
    gpu_result_t answer;
    memspan_status_t status = gpu_device_get(opaque_state, ordinal, &device);
    bool all;

    /* A device that was not used has nothing to be waited for, and is not woken for it. */
    if ((status != MEMSPAN_OK) || !gpu_is_awake(device)) {
        return status;
    }
    /* Where host and device may not use managed memory at once, no kernel at all may be running
     * when the host goes on, the program's included. */
    all = (opaque == NULL) && device->facts.managed && !device->facts.concurrent;
    if (!all && (opaque == NULL)) {
        pthread_mutex_lock(&device->lock);
        queue = device->queue;
        pthread_mutex_unlock(&device->lock);
        if (queue == NULL) {
            return MEMSPAN_OK;
        }
    }
    status = gpu_enter(opaque_state, ordinal, GPU_TO_WORK, &visit);
    if (status != MEMSPAN_OK) {
        return status;
    }
    if (all) {
        answer = state->driver->wait_for_device(device);
        status = (answer.code == GPU_SUCCESS)
                     ? MEMSPAN_OK
                     : gpu_error(state, answer, "work on %s failed", device->info.name);
    } else {
        status = gpu_queue_get(device, opaque, &queue);
        status = (status == MEMSPAN_OK) ? gpu_queue_wait(queue) : status;
    }
    gpu_leave(&visit);
    return status;
}

/* ---- managed memory ---- */

static memspan_status_t move(const struct gpu_queue *queue, const void *pointer, size_t size_bytes,
                             int to)
{
    const struct gpu_device *device = queue->device;
    const struct gpu_state *state   = device->state;
    struct gpu_pointer p            = {0};
    memspan_status_t status         = state->driver->query_pointer(state, pointer, &p);
    gpu_result_t answer;

    if (status != MEMSPAN_OK) {
        return status;
    }
    if (!p.managed) {
        return gpu_refuse(state, MEMSPAN_ERR_UNSUPPORTED, NULL,
                          "the memory at %p is not managed: it does not move", pointer);
    }
    if (((device->info.capabilities & MEMSPAN_CAN_PREFETCH) == 0) ||
        ((to != MEMSPAN_HOST) && !state->driver->moves_any &&
         !state->devices[to]->facts.concurrent)) {
        return gpu_refuse(state, MEMSPAN_ERR_UNSUPPORTED, NULL,
                          "the memory at %p does not move by request (%s 0)", pointer,
                          state->driver->names[GPU_NAME_CONCURRENT]);
    }
    answer = state->driver->prefetch(queue, pointer, size_bytes, to);
    return (answer.code == GPU_SUCCESS)
               ? MEMSPAN_OK
               : gpu_error(state, answer, "cannot move %zu bytes at %p", size_bytes, pointer);
}

memspan_status_t gpu_prefetch(void *opaque_state, int ordinal, void *opaque, const void *pointer,
                              size_t size_bytes, int to)
{
    const struct gpu_state *state = opaque_state;
    struct gpu_queue *queue       = NULL;
    struct gpu_visit visit;
    memspan_status_t status;

    if (size_bytes == 0) {
        return MEMSPAN_OK;
    }
    if ((to != MEMSPAN_HOST) && ((to < 0) || (to >= state->device_count))) {
        return gpu_refuse(state, MEMSPAN_ERR_NOT_FOUND, NULL, "no %s device %d: there are %d",
                          state->driver->title, to, state->device_count);
    }
    status = enter_queue(opaque_state, ordinal, opaque, &queue, &visit);
    if (status != MEMSPAN_OK) {
        return status;
    }
    status = move(queue, pointer, size_bytes, to);
    gpu_leave(&visit);
    return status;
}

memspan_status_t gpu_attach(void *opaque_state, int ordinal, void *opaque,
                            const memspan_block_t *block)
{
    const struct gpu_state *state = opaque_state;
    const struct gpu_block *ours  = block->cookie;
    struct gpu_queue *queue       = NULL;
    struct gpu_visit visit;
    gpu_result_t answer;
    memspan_status_t status = enter_queue(opaque_state, ordinal, opaque, &queue, &visit);

    if (status != MEMSPAN_OK) {
        return status;
    }
    answer = state->driver->attach(queue, ours->base, opaque != NULL);
    if (answer.call == NULL) {
        status = gpu_refuse(state, MEMSPAN_ERR_UNSUPPORTED, "update the driver",
                            "this %s driver attaches no memory to streams", state->driver->title);
    } else if (answer.code != GPU_SUCCESS) {
        status = gpu_error(state, answer, "cannot attach the memory at %p to a stream of %s",
                           block->address, visit.device->info.name);
    }
    gpu_leave(&visit);
    return status;
}

/* ---- facts about an address ---- */

static int ordinal_or_host(const struct gpu_state *state, int ordinal)
{
    return ((ordinal >= 0) && (ordinal < state->device_count)) ? ordinal : MEMSPAN_HOST;
}

/* Where it was last sent to, as far as it is recorded. */
static int resident_of(const struct gpu_state *state, const struct gpu_pointer *p,
                       const void *pointer)
{
    int where = MEMSPAN_HOST;

    if (!p->managed) {
        where = p->on_host ? MEMSPAN_HOST : p->ordinal;
    } else if ((state->driver->last_prefetch != NULL) &&
               !gpu_log_failure(state, state->driver->last_prefetch(state, pointer, &where),
                                "where managed memory is")) {
        where = MEMSPAN_HOST;
    }
    return ordinal_or_host(state, where);
}

static memspan_status_t describe(struct gpu_state *state, const void *pointer,
                                 memspan_pointer_facts_t *facts_p)
{
    struct gpu_pointer p    = {0};
    memspan_status_t status = state->driver->query_pointer(state, pointer, &p);

    if (status != MEMSPAN_OK) {
        return status;
    }
    if (!p.known) {
        return gpu_refuse(state, MEMSPAN_ERR_NOT_FOUND, NULL, "%p is no memory that %s knows of",
                          pointer, state->driver->title);
    }
    /* Of ours the library has a better record: it is spare space, or memory that is not in use now.
     */
    if ((gpu_block_find(state, pointer) != NULL) || (gpu_block_find(state, p.base) != NULL)) {
        return gpu_refuse(state, MEMSPAN_ERR_NOT_FOUND, NULL, "no memory in use is at %p", pointer);
    }
    *facts_p = (memspan_pointer_facts_t){
        .kind             = p.managed ? MEMSPAN_KIND_MANAGED
                                      : (p.on_host ? MEMSPAN_KIND_HOST_PINNED : MEMSPAN_KIND_DEVICE),
        .ordinal          = ordinal_or_host(state, p.ordinal),
        .resident_ordinal = resident_of(state, &p, pointer),
        .base             = (p.size_bytes == 0) ? (void *)(uintptr_t)pointer : p.base,
        .size_bytes       = (p.size_bytes == 0) ? 1 : p.size_bytes,
    };
    return MEMSPAN_OK;
}

/* Any awake device will do; none is woken for a question. */
memspan_status_t gpu_pointer_describe(void *opaque, const void *pointer,
                                      memspan_pointer_facts_t *facts_p)
{
    struct gpu_state *state = opaque;
    struct gpu_device *device;
    struct gpu_visit visit;
    memspan_status_t status;
    int i = 0;

    while ((i < state->device_count) && !gpu_is_awake(state->devices[i])) {
        i++;
    }
    status = (i < state->device_count) ? gpu_enter(state, i, GPU_TO_ASK, &visit)
                                       : gpu_device_get(state, 0, &device);
    if (status != MEMSPAN_OK) {
        return status;
    }
    status = describe(state, pointer, facts_p);
    if (i < state->device_count) {
        gpu_leave(&visit);
    }
    return status;
}
