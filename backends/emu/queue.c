/* SPDX-License-Identifier: BSD-3-Clause */
/* queue.c: queues, and waiting.
 *
 * A device does the commands of all its queues in the order in which they were submitted, which is
 * that of the calls unless queues run late (late.c); a queue only remembers how far its own go. The
 * device's own queue stands for all of them: waiting for it waits for the whole device. */

#include "backends/emu/emu.h"
#include <stdlib.h>

struct emu_queue *emu_queue_get(struct emu_device *device, void *queue)
{
    return (queue == NULL) ? &device->own : queue;
}

void emu_queue_set_up(struct emu_queue *queue, struct emu_device *device)
{
    queue->device           = device;
    queue->submitted        = 0;
    queue->launched         = 0;
    queue->waited           = 0;
    queue->last             = &queue->first;
    queue->launches_pending = 0;
    emu_clock_open(queue);
}

static void free_list(struct emu_queue *queue)
{
    struct emu_queue *next;

    for (; queue != NULL; queue = next) {
        next = queue->next;
        emu_late_drop(queue);
        free(queue->clock);
        free(queue);
    }
}

void emu_queues_free(struct emu_device *device)
{
    free_list(device->queues);
    free_list(device->spare_queues);
    emu_late_drop(&device->own);
    free(device->own.clock);
}

memspan_status_t emu_queue_create(void *state, int ordinal, void **queue_p)
{
    struct emu_device *device;
    struct emu_queue *queue;
    memspan_status_t status = emu_enter(state, ordinal, &device);

    if (status != MEMSPAN_OK) {
        return status;
    }
    pthread_mutex_lock(&device->emu->lock);
    queue = device->spare_queues;
    if (queue != NULL) {
        device->spare_queues = queue->next;
    } else {
        queue = calloc(1, sizeof(*queue));
    }
    if (queue == NULL) {
        pthread_mutex_unlock(&device->emu->lock);
        return emu_refuse(state, MEMSPAN_ERR_NO_MEMORY, NULL, "no memory for a queue");
    }
    emu_queue_set_up(queue, device);
    queue->number  = ++device->emu->queue_count;
    queue->next    = device->queues;
    device->queues = queue;
    pthread_mutex_unlock(&device->emu->lock);
    *queue_p = queue;
    return MEMSPAN_OK;
}

/* Lock held. The host has waited for its work. */
static void retire(struct emu_device *device, struct emu_queue *queue)
{
    struct emu_queue **link;
    struct emu_clock done;

    emu_clock_read(queue, &done);
    emu_clock_join(&device->emu->host, &done);
    emu_late_drop(queue);
    for (link = &device->queues; *link != NULL; link = &(*link)->next) {
        if (*link == queue) {
            *link = queue->next;
            break;
        }
    }
    emu_attached_drop(queue);
    /* An unwaited launch is not forgotten with its queue. */
    if ((queue->launched > queue->waited) && (queue->launched > device->own.launched)) {
        device->own.launched = queue->launched;
    }
    queue->next          = device->spare_queues;
    device->spare_queues = queue;
}

memspan_status_t emu_queue_destroy(void *state, int ordinal, void *opaque)
{
    struct emu_queue *queue = opaque;
    struct emu_device *device;
    uint64_t number;
    memspan_status_t status = emu_enter(state, ordinal, &device);

    if ((status != MEMSPAN_OK) || (queue == NULL)) {
        return status;
    }
    pthread_mutex_lock(&device->emu->lock);
    emu_late_run(queue);
    number = queue->submitted;
    pthread_mutex_unlock(&device->emu->lock);
    status = emu_process_wait(device, number);
    pthread_mutex_lock(&device->emu->lock);
    retire(device, queue);
    pthread_mutex_unlock(&device->emu->lock);
    return status;
}

static bool has_unwaited(const struct emu_queue *queue)
{
    return (queue->launches_pending > 0) || (queue->launched > queue->waited);
}

static bool is_waited_for(const struct emu_device *device)
{
    const struct emu_queue *queue;

    for (queue = device->queues; queue != NULL; queue = queue->next) {
        if (has_unwaited(queue)) {
            return false;
        }
    }
    return !has_unwaited(&device->own);
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
    struct emu_clock done;
    uint64_t number;
    memspan_status_t status = emu_enter_lost(state, ordinal, &device);

    if (status != MEMSPAN_OK) {
        return status;
    }
    pthread_mutex_lock(&emu->lock);
    queue = emu_queue_get(device, opaque);
    if (opaque == NULL) {
        emu_late_run_device(device);
    } else {
        emu_late_run(queue);
    }
    emu_clock_read(queue, &done);
    number = (opaque == NULL) ? atomic_load(&device->control->ring.submitted) : queue->submitted;
    pthread_mutex_unlock(&emu->lock);
    status = emu_process_wait(device, number);
    if ((status != MEMSPAN_OK) || atomic_load(&device->lost)) {
        return end_of_lost(device);
    }
    pthread_mutex_lock(&emu->lock);
    emu_clock_join(&emu->host, &done);
    note_wait(queue, number);
    if (!has_unwaited(queue)) {
        status = emu_attached_open(queue);
    }
    for (queue = (opaque == NULL) ? device->queues : NULL; queue != NULL; queue = queue->next) {
        note_wait(queue, number);
    }
    if ((status == MEMSPAN_OK) && is_waited_for(device)) {
        status = emu_managed_open(device);
    }
    pthread_mutex_unlock(&emu->lock);
    return status;
}
