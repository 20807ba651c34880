/* SPDX-License-Identifier: BSD-3-Clause */
/* queue.c: queues, and waiting.
 *
 * A device does the commands of all its queues in the order in which they were submitted; a queue
 * only remembers how far its own go. The device's own queue stands for all of them: waiting for it
 * waits for the whole device. */

#include "backends/emu/emu.h"
#include <stdlib.h>

struct emu_queue *emu_queue_get(struct emu_device *device, void *queue)
{
    return (queue == NULL) ? &device->own : queue;
}

memspan_status_t emu_queue_create(void *state, int ordinal, void **queue_p)
{
    struct emu_device *device;
    struct emu_queue *queue;
    memspan_status_t status = emu_enter(state, ordinal, &device);

    if (status != MEMSPAN_OK) {
        return status;
    }
    queue = calloc(1, sizeof(*queue));
    if (queue == NULL) {
        return emu_refuse(state, MEMSPAN_ERR_NO_MEMORY, NULL, "no memory for a queue");
    }
    pthread_mutex_lock(&device->emu->lock);
    queue->next    = device->queues;
    device->queues = queue;
    pthread_mutex_unlock(&device->emu->lock);
    *queue_p = queue;
    return MEMSPAN_OK;
}

memspan_status_t emu_queue_destroy(void *state, int ordinal, void *opaque)
{
    struct emu_queue *queue = opaque;
    struct emu_device *device;
    struct emu_queue **link;
    memspan_status_t status = emu_enter(state, ordinal, &device);

    if ((status != MEMSPAN_OK) || (queue == NULL)) {
        return status;
    }
    status = emu_process_wait(device, queue->submitted);
    pthread_mutex_lock(&device->emu->lock);
    for (link = &device->queues; *link != NULL; link = &(*link)->next) {
        if (*link == queue) {
            *link = queue->next;
            break;
        }
    }
    /* An unwaited launch is not forgotten with its queue. */
    if ((queue->launched > queue->waited) && (queue->launched > device->own.launched)) {
        device->own.launched = queue->launched;
    }
    pthread_mutex_unlock(&device->emu->lock);
    free(queue);
    return status;
}

static bool is_waited_for(const struct emu_device *device)
{
    const struct emu_queue *queue;

    for (queue = device->queues; queue != NULL; queue = queue->next) {
        if (queue->launched > queue->waited) {
            return false;
        }
    }
    return device->own.launched <= device->own.waited;
}

static void note_wait(struct emu_queue *queue, uint64_t number)
{
    if (queue->waited < number) {
        queue->waited = number;
    }
}

/* A lost device has no more work: its managed memory is the host's, with any contents. */
static memspan_status_t end_of_lost(struct emu_device *device)
{
    pthread_mutex_lock(&device->emu->lock);
    emu_managed_open(device);
    pthread_mutex_unlock(&device->emu->lock);
    return emu_process_lost(device);
}

memspan_status_t emu_synchronize(void *state, int ordinal, void *opaque)
{
    struct emu *emu = state;
    struct emu_device *device;
    struct emu_queue *queue;
    uint64_t number;
    memspan_status_t status = emu_enter_lost(state, ordinal, &device);

    if (status != MEMSPAN_OK) {
        return status;
    }
    pthread_mutex_lock(&emu->lock);
    queue  = emu_queue_get(device, opaque);
    number = (opaque == NULL) ? atomic_load(&device->control->ring.submitted) : queue->submitted;
    pthread_mutex_unlock(&emu->lock);
    status = emu_process_wait(device, number);
    if ((status != MEMSPAN_OK) || atomic_load(&device->lost)) {
        return end_of_lost(device);
    }
    pthread_mutex_lock(&emu->lock);
    note_wait(queue, number);
    for (queue = (opaque == NULL) ? device->queues : NULL; queue != NULL; queue = queue->next) {
        note_wait(queue, number);
    }
    if (is_waited_for(device)) {
        status = emu_managed_open(device);
    }
    pthread_mutex_unlock(&emu->lock);
    return status;
}
