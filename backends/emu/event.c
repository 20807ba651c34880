/* SPDX-License-Identifier: BSD-3-Clause */
/* event.c: events. An event is a number of commands: since a device does those of all its queues
 * in the order in which they were submitted, its queues wait for each other without a command. */

#include "backends/emu/emu.h"
#include <stdlib.h>

/* Late queues have given the device less than was submitted to them. Lock held. */
static bool is_done(const struct emu_event *event)
{
    return (event->queue->taken >= event->position) &&
           emu_process_is_done(event->device,
                               (event->position == 0) ? event->number : event->queue->submitted);
}

memspan_status_t emu_event_record(void *state, int ordinal, void *opaque, void **event_p)
{
    struct emu_event *event = *event_p;
    struct emu_device *device;
    memspan_status_t status = emu_enter(state, ordinal, &device);

    if (status != MEMSPAN_OK) {
        return status;
    }
    if (event == NULL) {
        event = calloc(1, sizeof(*event));
        if (event != NULL) {
            event->clock = malloc(sizeof(*event->clock));
        }
    }
    if ((event == NULL) || (event->clock == NULL)) {
        free(event);
        return emu_refuse(state, MEMSPAN_ERR_NO_MEMORY, NULL, "no memory for an event");
    }
    pthread_mutex_lock(&device->emu->lock);
    emu_late_run_some(device->emu);
    if (opaque == NULL) {
        emu_late_run_device(device);
    }
    event->device   = device;
    event->queue    = emu_queue_get(device, opaque);
    event->position = (event->queue->taken < event->queue->added) ? event->queue->added : 0;
    event->number =
        (opaque == NULL) ? atomic_load(&device->control->ring.submitted) : event->queue->submitted;
    emu_clock_read(event->queue, event->clock);
    pthread_mutex_unlock(&device->emu->lock);
    *event_p = event;
    return MEMSPAN_OK;
}

/* Between devices nothing but the host orders work. */
memspan_status_t emu_event_wait(void *state, int ordinal, void *queue, void *opaque)
{
    const struct emu_event *event = opaque;
    struct emu *emu               = state;
    struct emu_device *device;
    struct emu_queue *waiter;
    memspan_status_t status = emu_enter(state, ordinal, &device);

    if (status != MEMSPAN_OK) {
        return status;
    }
    pthread_mutex_lock(&emu->lock);
    waiter = emu_queue_get(device, queue);
    if (event->device != device) {
        status = is_done(event) ? MEMSPAN_OK : MEMSPAN_ERR_UNSUPPORTED;
    } else if (emu->is_late) {
        status = emu_late_wait(waiter, event->queue, event->position);
    }
    if (status == MEMSPAN_OK) {
        /* The device keeps the order; copies by the calling thread wait for the last command of
         * their queue, which is the event's from now on. */
        if (event->device == device) {
            waiter->submitted =
                (waiter->submitted < event->number) ? event->number : waiter->submitted;
        }
        emu_clock_join(waiter->clock, event->clock);
    }
    pthread_mutex_unlock(&emu->lock);
    return status;
}

memspan_status_t emu_event_done(void *state, int ordinal, void *opaque, int *done_p)
{
    struct emu *emu               = state;
    const struct emu_event *event = opaque;
    struct emu_device *device;
    memspan_status_t status = emu_enter_lost(state, ordinal, &device);

    if (status == MEMSPAN_OK) {
        pthread_mutex_lock(&emu->lock);
        emu_late_run_some(emu);
        *done_p = is_done(event) ? 1 : 0;
        if (*done_p != 0) {
            emu_clock_join(&emu->host, event->clock);
        }
        pthread_mutex_unlock(&emu->lock);
    }
    return status;
}

memspan_status_t emu_event_destroy(void *state, int ordinal, void *opaque)
{
    struct emu_event *event = opaque;
    struct emu_device *device;
    memspan_status_t status = emu_enter_lost(state, ordinal, &device);

    if (status == MEMSPAN_OK) {
        free((event == NULL) ? NULL : event->clock);
        free(event);
    }
    return status;
}
