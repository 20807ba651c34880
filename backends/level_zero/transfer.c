/* SPDX-License-Identifier: BSD-3-Clause */
/* transfer.c: copies, fills and prefetch.
 *
 * Host memory of any origin is handed to the driver as it is, as the runtimes of SYCL and OpenMP
 * do, though the specification speaks of memory that the device reaches. What another driver
 * gave is no host memory: it is copied by its own driver, through host memory. */

#include "backends/level_zero/level_zero.h"
#include <stdlib.h>
#include <string.h>

enum { BOUNCE_BYTES = 4 << 20 };

static gpu_result_t append_copy(const struct gpu_queue *queue, void *to, const void *from,
                                size_t size_bytes)
{
    lz_list_h list;
    lz_result_t code;
    gpu_result_t answer = lz_stream_begin(queue, &list);

    if (answer.code != GPU_SUCCESS) {
        return answer;
    }
    code = lz_calls(queue->device->state)
               ->zeCommandListAppendMemoryCopy(list, to, from, size_bytes, NULL, 0, NULL);
    return lz_stream_end(queue, LZ_ANSWER("zeCommandListAppendMemoryCopy", code));
}

/* ---- between drivers ---- */

/* The device whose driver has to do it: where the memory is from, if it is of another driver. */
static struct gpu_device *who_copies(struct gpu_device *device, const void *pointer)
{
    const struct gpu_block *block = NULL;

    if (lz_state(device->state)->driver_count > 1) {
        block = gpu_block_find(device->state, pointer);
    }
    return ((block != NULL) && (lz_device(block->device)->driver != lz_device(device)->driver))
               ? block->device
               : device;
}

static memspan_status_t copy_now(struct gpu_device *device, void *to, const void *from,
                                 size_t size_bytes)
{
    struct gpu_queue *queue = NULL;
    gpu_result_t answer;
    memspan_status_t status = gpu_queue_get(device, NULL, &queue);

    if (status != MEMSPAN_OK) {
        return status;
    }
    answer = append_copy(queue, to, from, size_bytes);
    return (answer.code == GPU_SUCCESS)
               ? gpu_queue_wait(queue)
               : gpu_error(device->state, answer, "cannot copy %zu bytes from %p to %p", size_bytes,
                           from, to);
}

/* Neither may still read or write what they copied through. */
static bool is_done_with(struct gpu_device *reader, struct gpu_device *writer)
{
    bool reader_idle;
    bool writer_idle;

    (void)lz_settle(reader, &reader_idle);
    (void)lz_settle(writer, &writer_idle);
    return reader_idle && writer_idle;
}

static memspan_status_t bounce(const struct gpu_queue *queue, struct gpu_device *writer, void *to,
                               struct gpu_device *reader, const void *from, size_t size_bytes)
{
    const struct gpu_state *state = queue->device->state;
    size_t room                   = (size_bytes < BOUNCE_BYTES) ? size_bytes : BOUNCE_BYTES;
    void *between                 = malloc(room);
    memspan_status_t status       = MEMSPAN_OK;
    size_t done                   = 0;

    if (between == NULL) {
        return gpu_refuse(state, MEMSPAN_ERR_NO_MEMORY, NULL,
                          "no %zu bytes of host memory to copy through", room);
    }
    status = gpu_queue_wait(queue);
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
        state->services->log(MEMSPAN_LOG_WARN, state->driver->name,
                             "%zu bytes of host memory are kept: %s", room, memspan_error_text());
    }
    return status;
}

gpu_result_t lz_copy(const struct gpu_queue *queue, void *to, const void *from, size_t size_bytes)
{
    struct gpu_device *writer = who_copies(queue->device, to);
    struct gpu_device *reader = who_copies(queue->device, from);

    return ((writer == queue->device) && (reader == queue->device))
               ? append_copy(queue, to, from, size_bytes)
               : LZ_RECORDED(bounce(queue, writer, to, reader, from, size_bytes));
}

/* ---- fills ---- */

gpu_result_t lz_fill_bytes(const struct gpu_queue *queue, void *to, unsigned char byte,
                           size_t size_bytes)
{
    struct lz_pointer p     = {0};
    memspan_status_t status = lz_pointer_ask(lz_device(queue->device)->driver, to, &p);
    gpu_result_t answer;
    lz_list_h list;
    lz_result_t code;

    if ((status == MEMSPAN_OK) && (p.type != LZ_MEMORY_TYPE_UNKNOWN)) {
        answer = lz_stream_begin(queue, &list);
        if (answer.code != GPU_SUCCESS) {
            return answer;
        }
        code = lz_calls(queue->device->state)
                   ->zeCommandListAppendMemoryFill(list, to, &byte, 1, size_bytes, NULL, 0, NULL);
        return lz_stream_end(queue, LZ_ANSWER("zeCommandListAppendMemoryFill", code));
    }
    /* Host memory that the driver does not know: the host sets it, in its turn. */
    if (status == MEMSPAN_OK) {
        status = gpu_queue_wait(queue);
    }
    if (status == MEMSPAN_OK) {
        memset(to, byte, size_bytes);
    }
    return LZ_RECORDED(status);
}

/* ---- shared memory ---- */

memspan_status_t lz_prefer(struct gpu_device *device, const struct gpu_device *where, void *pointer,
                           size_t size_bytes)
{
    struct gpu_queue *queue = NULL;
    lz_list_h list;
    lz_result_t code;
    gpu_result_t answer;
    memspan_status_t status = gpu_queue_get(device, NULL, &queue);

    if (status != MEMSPAN_OK) {
        return status;
    }
    answer = lz_stream_begin(queue, &list);
    if (answer.code == GPU_SUCCESS) {
        code =
            lz_calls(device->state)
                ->zeCommandListAppendMemAdvise(list, lz_device(where)->handle, pointer, size_bytes,
                                               LZ_MEMORY_ADVICE_SET_PREFERRED_LOCATION);
        answer = lz_stream_end(queue, LZ_ANSWER("zeCommandListAppendMemAdvise", code));
    }
    return (answer.code == GPU_SUCCESS)
               ? MEMSPAN_OK
               : gpu_error(device->state, answer, "shared memory cannot prefer %s",
                           where->info.name);
}

/* The driver moves memory to the device whose list it is asked on, and to no host. */
gpu_result_t lz_prefetch(const struct gpu_queue *queue, const void *pointer, size_t size_bytes,
                         int to)
{
    struct gpu_device *device = queue->device;
    struct gpu_device *target = (to == MEMSPAN_HOST) ? NULL : device->state->devices[to];
    struct gpu_queue *of      = NULL;
    memspan_status_t status   = MEMSPAN_OK;
    gpu_result_t answer;
    lz_list_h list;
    lz_result_t code;

    if ((target == NULL) || (lz_device(target)->driver != lz_device(device)->driver) ||
        (who_copies(device, pointer) != device)) {
        return LZ_RECORDED(gpu_refuse(device->state, MEMSPAN_ERR_UNSUPPORTED, NULL,
                                      "the memory at %p moves to devices of its driver only",
                                      pointer));
    }
    if (target != device) {
        status = gpu_queue_wait(queue); /* for its work on the memory */
        if (status == MEMSPAN_OK) {
            status = gpu_queue_get(target, NULL, &of);
        }
        if (status != MEMSPAN_OK) {
            return LZ_RECORDED(status);
        }
        queue = of;
    }
    answer = lz_stream_begin(queue, &list);
    if (answer.code != GPU_SUCCESS) {
        return answer;
    }
    code = lz_calls(device->state)->zeCommandListAppendMemoryPrefetch(list, pointer, size_bytes);
    return lz_stream_end(queue, LZ_ANSWER("zeCommandListAppendMemoryPrefetch", code));
}
