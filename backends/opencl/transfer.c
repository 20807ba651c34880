/* SPDX-License-Identifier: BSD-3-Clause */
/* transfer.c: copies, fills, prefetch and synchronise.
 *
 * Memory of another platform is unknown to this one's driver: it is made the host's first, by its
 * own driver, and copied from or to as host memory. */

#include "backends/opencl/opencl.h"
#include <string.h>

static memspan_status_t wait_queue(struct opencl_platform *platform, struct opencl_queue *queue)
{
    memspan_status_t status;

    pthread_mutex_lock(&platform->lock);
    status = opencl_queue_finish(queue);
    pthread_mutex_unlock(&platform->lock);
    return status;
}

static memspan_status_t borrow_locked(struct opencl_platform *platform, const void *address,
                                      bool *found_p)
{
    struct opencl_block *block = opencl_block_find(platform, address);
    memspan_status_t status;

    *found_p = (block != NULL);
    if ((block == NULL) || !block->coarse || block->mapped) {
        return MEMSPAN_OK;
    }
    status = opencl_platform_quiesce(platform);
    if (status != MEMSPAN_OK) {
        return status;
    }
    block = opencl_block_find(platform, address);
    return (block == NULL) ? MEMSPAN_OK : opencl_map_now(&platform->devices[0], block);
}

/* Make memory of other platforms the host's. The next command of theirs that may use it hands it
 * over again. No lock held. *foreign_p: it was such memory. */
static memspan_status_t borrow(struct opencl_platform *mine, const void *address, bool *foreign_p)
{
    struct opencl_state *state = mine->state;
    memspan_status_t status    = MEMSPAN_OK;
    bool found                 = false;
    int i;

    for (i = 0; !found && (i < state->platform_count); i++) {
        struct opencl_platform *platform = &state->platforms[i];
        if (platform == mine) {
            continue;
        }
        pthread_mutex_lock(&platform->lock);
        status = borrow_locked(platform, address, &found);
        pthread_mutex_unlock(&platform->lock);
        if (status != MEMSPAN_OK) {
            return status;
        }
    }
    *foreign_p = *foreign_p || found;
    return MEMSPAN_OK;
}

/* Host pages; or fine-grain memory of a processor, whose driver would wake a thread to copy it
 * (three times slower for 512 KiB, seventeen times for 256 KiB, PoCL). */
static bool is_host_work(const struct opencl_device *device, const struct opencl_block *block)
{
    return (block == NULL) || (block->svm == NULL) || (device->processor && !block->coarse);
}

/* Lock held; *host_p: the host does it, after the queue's work. */
static memspan_status_t copy_locked(struct opencl_device *device, struct opencl_queue *queue,
                                    void *to, const void *from, size_t size_bytes, bool *host_p)
{
    const struct opencl_state *state = device->platform->state;
    struct opencl_block *blocks[2]   = {opencl_block_find(device->platform, to),
                                        opencl_block_find(device->platform, from)};
    memspan_status_t status;
    cl_int code;

    *host_p = is_host_work(device, blocks[0]) && is_host_work(device, blocks[1]);
    if (*host_p) {
        return opencl_queue_finish(queue);
    }
    status = opencl_hand_over(queue, blocks, 2);
    if (status != MEMSPAN_OK) {
        return status;
    }
    code = state->cl.clEnqueueSVMMemcpy(queue->handle, 0, to, from, size_bytes, 0, NULL, NULL);
    if (code != OPENCL_SUCCESS) {
        return opencl_error(state, "clEnqueueSVMMemcpy", code,
                            "cannot copy %zu bytes from %p to %p", size_bytes, from, to);
    }
    queue->enqueued++;
    return MEMSPAN_OK;
}

memspan_status_t opencl_copy(void *state, int ordinal, void *opaque, void *to, const void *from,
                             size_t size_bytes)
{
    struct opencl_device *device;
    struct opencl_queue *queue;
    bool foreign            = false;
    bool host               = false;
    memspan_status_t status = opencl_enter(state, ordinal, &device);

    if ((status != MEMSPAN_OK) || (size_bytes == 0)) {
        return status;
    }
    if (device->platform->state->platform_count > 1) {
        status = borrow(device->platform, to, &foreign);
        if (status == MEMSPAN_OK) {
            status = borrow(device->platform, from, &foreign);
        }
        if (status != MEMSPAN_OK) {
            return status;
        }
    }
    pthread_mutex_lock(&device->platform->lock);
    status = opencl_queue_get(device, opaque, &queue);
    if (status == MEMSPAN_OK) {
        status = copy_locked(device, queue, to, from, size_bytes, &host);
    }
    pthread_mutex_unlock(&device->platform->lock);
    if (status != MEMSPAN_OK) {
        return status;
    }
    if (host) {
        memcpy(to, from, size_bytes);
        return MEMSPAN_OK;
    }
    /* A borrowed block may be handed over again by any thread: be done with it. */
    return foreign ? wait_queue(device->platform, queue) : MEMSPAN_OK;
}

/* Largest pattern that size and address allow: some drivers fill one pattern at a time. */
static size_t pattern_size(const void *to, size_t size_bytes)
{
    size_t size = 16;

    while ((((uintptr_t)to | size_bytes) & (size - 1)) != 0) {
        size /= 2;
    }
    return size;
}

static memspan_status_t fill_locked(struct opencl_device *device, struct opencl_queue *queue,
                                    void *to, unsigned char byte, size_t size_bytes, bool *host_p)
{
    const struct opencl_state *state = device->platform->state;
    struct opencl_block *block       = opencl_block_find(device->platform, to);
    unsigned char pattern[16];
    memspan_status_t status;
    cl_int code;

    *host_p = is_host_work(device, block);
    if (*host_p) {
        return opencl_queue_finish(queue);
    }
    status = opencl_hand_over(queue, &block, 1);
    if (status != MEMSPAN_OK) {
        return status;
    }
    memset(pattern, byte, sizeof(pattern));
    code = state->cl.clEnqueueSVMMemFill(queue->handle, to, pattern, pattern_size(to, size_bytes),
                                         size_bytes, 0, NULL, NULL);
    if (code != OPENCL_SUCCESS) {
        return opencl_error(state, "clEnqueueSVMMemFill", code, "cannot fill %zu bytes at %p",
                            size_bytes, to);
    }
    queue->enqueued++;
    return MEMSPAN_OK;
}

memspan_status_t opencl_fill(void *state, int ordinal, void *opaque, void *to, unsigned char byte,
                             size_t size_bytes)
{
    struct opencl_device *device;
    struct opencl_queue *queue;
    bool host               = false;
    memspan_status_t status = opencl_enter(state, ordinal, &device);

    if ((status != MEMSPAN_OK) || (size_bytes == 0)) {
        return status;
    }
    pthread_mutex_lock(&device->platform->lock);
    status = opencl_queue_get(device, opaque, &queue);
    if (status == MEMSPAN_OK) {
        status = fill_locked(device, queue, to, byte, size_bytes, &host);
    }
    pthread_mutex_unlock(&device->platform->lock);
    if ((status == MEMSPAN_OK) && host) {
        memset(to, byte, size_bytes);
    }
    return status;
}

memspan_status_t opencl_synchronize(void *state, int ordinal, void *opaque)
{
    struct opencl_device *device;
    struct opencl_queue *queue;
    memspan_status_t status = opencl_enter(state, ordinal, &device);

    if (status != MEMSPAN_OK) {
        return status;
    }
    pthread_mutex_lock(&device->platform->lock);
    queue = (opaque != NULL) ? opaque : device->queue;
    /* Without a queue the device never had a command, and its memory is still the host's unless
     * another device of the platform took it. */
    if ((queue == NULL) && (device->platform->queues != NULL)) {
        status = opencl_queue_get(device, NULL, &queue);
    }
    if ((queue != NULL) && (status == MEMSPAN_OK)) {
        status = opencl_queue_finish(queue);
        if (status == MEMSPAN_OK) {
            status = opencl_take_back(queue);
        }
    }
    pthread_mutex_unlock(&device->platform->lock);
    return status;
}

static memspan_status_t migrate(struct opencl_queue *queue, struct opencl_block *block,
                                const void *pointer, size_t size_bytes, cl_bitfield flags)
{
    const struct opencl_state *state = queue->device->platform->state;
    memspan_status_t status;
    cl_int code;

    if ((flags != 0) && block->mapped) {
        return MEMSPAN_OK; /* it is there */
    }
    status = opencl_hand_over(queue, &block, 1);
    if (status != MEMSPAN_OK) {
        return status;
    }
    code = state->cl.clEnqueueSVMMigrateMem(queue->handle, 1, &pointer, &size_bytes, flags, 0, NULL,
                                            NULL);
    if (code != OPENCL_SUCCESS) {
        return opencl_error(state, "clEnqueueSVMMigrateMem", code, "cannot move %zu bytes at %p",
                            size_bytes, pointer);
    }
    queue->enqueued++;
    return MEMSPAN_OK;
}

memspan_status_t opencl_prefetch(void *state, int ordinal, void *opaque, const void *pointer,
                                 size_t size_bytes, int to)
{
    struct opencl_device *device;
    struct opencl_block *block;
    struct opencl_queue *queue;
    memspan_status_t status = opencl_enter(state, ordinal, &device);

    if ((status != MEMSPAN_OK) || (size_bytes == 0)) {
        return status;
    }
    pthread_mutex_lock(&device->platform->lock);
    block = opencl_block_find(device->platform, pointer);
    if ((block == NULL) ||
        (size_bytes > (size_t)(block->base + block->size_bytes - (const char *)pointer))) {
        status = opencl_refuse(state, MEMSPAN_ERR_INVALID, NULL,
                               "%zu bytes at %p are not in one block of %s", size_bytes, pointer,
                               device->info.name);
    } else if (((device->info.capabilities & MEMSPAN_CAN_PREFETCH) == 0) ||
               (block->kind != MEMSPAN_KIND_MANAGED)) {
        status =
            opencl_refuse(state, MEMSPAN_ERR_UNSUPPORTED, NULL, "%s memory of %s does not move",
                          memspan_kind_name(block->kind), device->info.name);
    } else {
        status = opencl_queue_get(device, opaque, &queue);
        if (status == MEMSPAN_OK) {
            status = migrate(queue, block, pointer, size_bytes,
                             (to == MEMSPAN_HOST) ? OPENCL_MIGRATE_MEM_OBJECT_HOST : 0);
        }
    }
    pthread_mutex_unlock(&device->platform->lock);
    return status;
}
