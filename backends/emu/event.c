/* SPDX-License-Identifier: BSD-3-Clause */
/* event.c: events. An event is a number of commands: since a device does those of all its queues
 * in the order in which they were submitted, its queues wait for each other without a command. */

#include "backends/emu/emu.h"
#include <stdlib.h>

struct emu_event {
    struct emu_device *device;
    uint64_t number; /* the work is complete when the device has done that many */
};

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
    }
    if (event == NULL) {
        return emu_refuse(state, MEMSPAN_ERR_NO_MEMORY, NULL, "no memory for an event");
    }
    pthread_mutex_lock(&device->emu->lock);
    event->device = device;
    event->number = (opaque == NULL) ? atomic_load(&device->control->ring.submitted)
                                     : ((const struct emu_queue *)opaque)->submitted;
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
    if (event->device == device) {
        /* The device keeps the order; copies by the calling thread wait for the
         * last command of their queue, which is the event's from now on. */
        pthread_mutex_lock(&emu->lock);
        waiter            = emu_queue_get(device, queue);
        waiter->submitted = (waiter->submitted < event->number) ? event->number : waiter->submitted;
        pthread_mutex_unlock(&emu->lock);
    }
    return ((event->device == device) || emu_process_is_done(event->device, event->number))
               ? MEMSPAN_OK
               : MEMSPAN_ERR_UNSUPPORTED;
}

memspan_status_t emu_event_done(void *state, int ordinal, void *opaque, int *done_p)
{
    struct emu *emu               = state;
    const struct emu_event *event = opaque;
    struct emu_device *device;
    memspan_status_t status = emu_enter_lost(state, ordinal, &device);

    if (status == MEMSPAN_OK) {
        pthread_mutex_lock(&emu->lock);
        *done_p = emu_process_is_done(event->device, event->number);
        pthread_mutex_unlock(&emu->lock);
    }
    return status;
}

memspan_status_t emu_event_destroy(void *state, int ordinal, void *event)
{
    struct emu_device *device;
    memspan_status_t status = emu_enter_lost(state, ordinal, &device);

    if (status == MEMSPAN_OK) {
        free(event);
    }
    return status;
}
