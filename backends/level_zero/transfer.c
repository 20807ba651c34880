/* SPDX-License-Identifier: BSD-3-Clause */
/* transfer.c: copies, fills, prefetch and synchronise.
 *
 * Host memory of any origin is handed to the driver as it is, as the runtimes of SYCL and OpenMP
 * do, though the specification speaks of memory that the device reaches. What another driver
 * gave is no host memory: it is copied by its own driver, through host memory. */

#include "backends/level_zero/level_zero.h"
#include <stdlib.h>
#include <string.h>

enum { BOUNCE_BYTES = 4 << 20 };

static memspan_status_t enter_queue(void *state, int ordinal, void *opaque,
                                    struct lz_device **device_p, struct lz_queue **queue_p)
{
    memspan_status_t status = lz_device_get(state, ordinal, device_p);

    return (status == MEMSPAN_OK) ? lz_queue_get(*device_p, opaque, queue_p) : status;
}

static memspan_status_t append_copy(struct lz_queue *queue, void *to, const void *from,
                                    size_t size_bytes)
{
    const struct gpu_state *state = queue->device->gpu.state;
    lz_result_t code;
    memspan_status_t status;

    pthread_mutex_lock(&queue->lock);
    code   = lz_calls(state)->zeCommandListAppendMemoryCopy(queue->list, to, from, size_bytes, NULL,
                                                            0, NULL);
    status = (code == ZE_RESULT_SUCCESS)
                 ? lz_queue_order(queue)
                 : gpu_error(state, LZ_ANSWER("zeCommandListAppendMemoryCopy", code),
                             "cannot copy %zu bytes from %p to %p", size_bytes, from, to);
    pthread_mutex_unlock(&queue->lock);
    return status;
}

/* ---- between drivers ---- */

/* The device whose driver has to do it: where the memory is from, if it is of another driver. */
static struct lz_device *who_copies(struct lz_device *device, const void *pointer)
{
    struct gpu_state *state       = device->gpu.state;
    const struct gpu_block *block = NULL;

    if (lz_state(state)->driver_count > 1) {
        block = gpu_block_find(state, pointer);
    }
    return ((block != NULL) && (lz_device(block->device)->driver != device->driver))
               ? lz_device(block->device)
               : device;
}

static memspan_status_t copy_now(struct lz_device *device, void *to, const void *from,
                                 size_t size_bytes)
{
    struct lz_queue *queue;
    memspan_status_t status = lz_queue_get(device, NULL, &queue);

    if (status == MEMSPAN_OK) {
        status = append_copy(queue, to, from, size_bytes);
    }
    return (status == MEMSPAN_OK) ? lz_queue_wait(queue) : status;
}

/* Neither may still read or write what they copied through. */
static bool is_done_with(const struct lz_device *reader, const struct lz_device *writer)
{
    memspan_status_t ignored;

    return lz_queues_settle(reader->driver, &ignored) && lz_queues_settle(writer->driver, &ignored);
}

static memspan_status_t bounce(struct lz_queue *queue, struct lz_device *writer, void *to,
                               struct lz_device *reader, const void *from, size_t size_bytes)
{
    size_t room             = (size_bytes < BOUNCE_BYTES) ? size_bytes : BOUNCE_BYTES;
    void *between           = malloc(room);
    memspan_status_t status = MEMSPAN_OK;
    size_t done             = 0;

    if (between == NULL) {
        return gpu_refuse(queue->device->gpu.state, MEMSPAN_ERR_NO_MEMORY, NULL,
                          "no %zu bytes of host memory to copy through", room);
    }
    status = lz_queue_wait(queue);
    while ((status == MEMSPAN_OK) && (done < size_bytes)) {
        size_t size = (size_bytes - done < room) ? size_bytes - done : room;
        status      = copy_now(reader, between, (const char *)from + done, size);
        if (status == MEMSPAN_OK) {
            status = copy_now(writer, (char *)to + done, between, size);
        }
        done += size;
    }
    if ((status == MEMSPAN_OK) || is_done_with(reader, writer)) {
        free(between);
    } else {
        queue->device->gpu.state->services->log(MEMSPAN_LOG_WARN, "level_zero",
                                                "%zu bytes of host memory are kept: %s", room,
                                                memspan_error_text());
    }
    return status;
}

memspan_status_t lz_copy(void *state, int ordinal, void *opaque, void *to, const void *from,
                         size_t size_bytes)
{
    struct lz_device *device;
    struct lz_device *writer;
    struct lz_device *reader;
    struct lz_queue *queue;
    memspan_status_t status;

    if (size_bytes == 0) {
        return MEMSPAN_OK;
    }
    status = enter_queue(state, ordinal, opaque, &device, &queue);
    if (status != MEMSPAN_OK) {
        return status;
    }
    writer = who_copies(device, to);
    reader = who_copies(device, from);
    return ((writer == device) && (reader == device))
               ? append_copy(queue, to, from, size_bytes)
               : bounce(queue, writer, to, reader, from, size_bytes);
}

/* ---- fills ---- */

static memspan_status_t append_fill(struct lz_queue *queue, void *to, unsigned char byte,
                                    size_t size_bytes)
{
    const struct gpu_state *state = queue->device->gpu.state;
    lz_result_t code;
    memspan_status_t status;

    pthread_mutex_lock(&queue->lock);
    code   = lz_calls(state)->zeCommandListAppendMemoryFill(queue->list, to, &byte, 1, size_bytes,
                                                            NULL, 0, NULL);
    status = (code == ZE_RESULT_SUCCESS)
                 ? lz_queue_order(queue)
                 : gpu_error(state, LZ_ANSWER("zeCommandListAppendMemoryFill", code),
                             "cannot fill %zu bytes at %p", size_bytes, to);
    pthread_mutex_unlock(&queue->lock);
    return status;
}

memspan_status_t lz_fill_bytes(void *state, int ordinal, void *opaque, void *to, unsigned char byte,
                               size_t size_bytes)
{
    struct lz_device *device;
    struct lz_queue *queue;
    struct lz_pointer p = {0};
    memspan_status_t status;

    if (size_bytes == 0) {
        return MEMSPAN_OK;
    }
    status = enter_queue(state, ordinal, opaque, &device, &queue);
    if (status == MEMSPAN_OK) {
        status = lz_pointer_ask(device->driver, to, &p);
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    if (p.type != LZ_MEMORY_TYPE_UNKNOWN) {
        return append_fill(queue, to, byte, size_bytes);
    }
    /* Host memory that the driver does not know: the host sets it, in its turn. */
    status = lz_queue_wait(queue);
    if (status == MEMSPAN_OK) {
        memset(to, byte, size_bytes);
    }
    return status;
}

/* ---- waiting ---- */

/* Where host and device may not use shared memory at once, nothing of ours may be running on the
 * device when the host goes on. */
memspan_status_t lz_synchronize(void *state, int ordinal, void *opaque)
{
    struct lz_device *device;
    memspan_status_t status = lz_device_get(state, ordinal, &device);
    bool at_once;

    if (status != MEMSPAN_OK) {
        return status;
    }
    at_once = (device->facts.shared_access & LZ_MEMORY_ACCESS_CAP_FLAG_CONCURRENT) != 0;
    if (opaque != NULL) {
        return lz_queue_wait(opaque);
    }
    if (!at_once) {
        return lz_queues_wait(device->driver, device);
    }
    pthread_mutex_lock(&device->gpu.lock);
    opaque = device->queue;
    pthread_mutex_unlock(&device->gpu.lock);
    /* A device that was not used has nothing to wait for. */
    return (opaque == NULL) ? MEMSPAN_OK : lz_queue_wait(opaque);
}

/* ---- shared memory ---- */

memspan_status_t lz_advise(struct lz_device *device, const struct lz_device *where, void *pointer,
                           size_t size_bytes)
{
    const struct gpu_state *state = device->gpu.state;
    struct lz_queue *queue;
    lz_result_t code;
    memspan_status_t status = lz_queue_get(device, NULL, &queue);

    if (status != MEMSPAN_OK) {
        return status;
    }
    pthread_mutex_lock(&queue->lock);
    code = lz_calls(state)->zeCommandListAppendMemAdvise(
        queue->list, where->handle, pointer, size_bytes, LZ_MEMORY_ADVICE_SET_PREFERRED_LOCATION);
    status = (code == ZE_RESULT_SUCCESS)
                 ? lz_queue_order(queue)
                 : gpu_error(state, LZ_ANSWER("zeCommandListAppendMemAdvise", code),
                             "shared memory cannot prefer %s", where->gpu.info.name);
    pthread_mutex_unlock(&queue->lock);
    return status;
}

static memspan_status_t append_prefetch(struct lz_queue *queue, const void *pointer,
                                        size_t size_bytes)
{
    const struct gpu_state *state = queue->device->gpu.state;
    lz_result_t code;
    memspan_status_t status;

    pthread_mutex_lock(&queue->lock);
    code   = lz_calls(state)->zeCommandListAppendMemoryPrefetch(queue->list, pointer, size_bytes);
    status = (code == ZE_RESULT_SUCCESS)
                 ? lz_queue_order(queue)
                 : gpu_error(state, LZ_ANSWER("zeCommandListAppendMemoryPrefetch", code),
                             "cannot move %zu bytes at %p", size_bytes, pointer);
    pthread_mutex_unlock(&queue->lock);
    return status;
}

/* The driver moves memory to the device whose list it is asked on, and to no host. */
memspan_status_t lz_prefetch(void *opaque_state, int ordinal, void *opaque, const void *pointer,
                             size_t size_bytes, int to)
{
    struct gpu_state *state = opaque_state;
    struct lz_pointer p     = {0};
    struct lz_device *device;
    struct lz_device *target;
    struct lz_queue *queue;
    memspan_status_t status;

    if (size_bytes == 0) {
        return MEMSPAN_OK;
    }
    if ((to != MEMSPAN_HOST) && ((to < 0) || (to >= state->device_count))) {
        return gpu_refuse(state, MEMSPAN_ERR_NOT_FOUND, NULL,
                          "no Level Zero device %d: there are %d", to, state->device_count);
    }
    status = enter_queue(state, ordinal, opaque, &device, &queue);
    if (status == MEMSPAN_OK) {
        status = lz_pointer_ask(device->driver, pointer, &p);
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    target = (to == MEMSPAN_HOST) ? NULL : lz_device(state->devices[to]);
    if ((p.type != LZ_MEMORY_TYPE_SHARED) || (target == NULL) ||
        (target->driver != device->driver)) {
        return gpu_refuse(state, MEMSPAN_ERR_UNSUPPORTED, NULL,
                          (p.type != LZ_MEMORY_TYPE_SHARED)
                              ? "the memory at %p is not managed: it does not move"
                              : "the memory at %p moves to devices of its driver only",
                          pointer);
    }
    if (target == device) {
        return append_prefetch(queue, pointer, size_bytes);
    }
    status = lz_queue_wait(queue); /* for its work on the memory */
    if (status == MEMSPAN_OK) {
        status = lz_queue_get(target, NULL, &queue);
    }
    return (status == MEMSPAN_OK) ? append_prefetch(queue, pointer, size_bytes) : status;
}
