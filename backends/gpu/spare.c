/* SPDX-License-Identifier: BSD-3-Clause */
/* spare.c: what a closed queue leaves to the next one: the word that holds it, and its space for
 * partial sums.
 *
 * Drivers wait for all streams of a device when memory is given back: for one that is held, too, by
 * a function that may wait for the thread that closes the queue. So closing gives nothing back. A
 * word goes on counting: the stream that it held before may still pass its last wait. Space that
 * work of the program's stream may still use serves no other queue, and goes back behind the next
 * block, for which the driver has waited. */

#include "backends/gpu/gpu.h"
#include <stdlib.h>

enum { USED_MAX = 64 }; /* more of them are waited for */

void *gpu_spare_take(struct gpu_device *device, enum gpu_made made)
{
    unsigned epoch          = atomic_load(&device->epoch);
    struct gpu_spare **link = &device->spares;
    struct gpu_spare *spare;
    void *memory;

    while ((*link != NULL) &&
           (((*link)->made != made) || (*link)->is_used || ((*link)->epoch != epoch))) {
        link = &(*link)->next;
    }
    spare = *link;
    if (spare == NULL) {
        return NULL;
    }
    *link  = spare->next;
    memory = spare->memory;
    free(spare);
    return memory;
}

static void give(struct gpu_device *device, enum gpu_made made, void *memory)
{
    const struct gpu_state *state = device->state;

    (void)gpu_log_failure(state, state->driver->give(device, made, memory), "closing a queue");
}

void gpu_spare_leave(struct gpu_device *device, enum gpu_made made, void *memory, bool is_used)
{
    struct gpu_spare *spare = (memory == NULL) ? NULL : malloc(sizeof(*spare));
    bool too_many;

    if (memory == NULL) {
        return;
    }
    if (spare == NULL) {
        give(device, made, memory);
        return;
    }
    *spare = (struct gpu_spare){NULL, made, atomic_load(&device->epoch), is_used, memory};
    pthread_mutex_lock(&device->lock);
    spare->next    = device->spares;
    device->spares = spare;
    device->used_spares += is_used ? 1 : 0;
    too_many = (device->used_spares > USED_MAX);
    pthread_mutex_unlock(&device->lock);
    if (too_many) {
        gpu_spares_give(device, false);
    }
}

/* Those that go, out of the list. */
static struct gpu_spare *take_all(struct gpu_device *device, bool unused_too)
{
    struct gpu_spare **link = &device->spares;
    struct gpu_spare *taken = NULL;

    pthread_mutex_lock(&device->lock);
    while ((*link != NULL) && (unused_too || (device->used_spares > 0))) {
        struct gpu_spare *spare = *link;

        if (!unused_too && !spare->is_used) {
            link = &spare->next;
            continue;
        }
        device->used_spares -= spare->is_used ? 1 : 0;
        *link       = spare->next;
        spare->next = taken;
        taken       = spare;
    }
    pthread_mutex_unlock(&device->lock);
    return taken;
}

void gpu_spares_give(struct gpu_device *device, bool unused_too)
{
    struct gpu_spare *spare = take_all(device, unused_too);

    while (spare != NULL) {
        struct gpu_spare *next = spare->next;

        if (spare->epoch == atomic_load(&device->epoch)) { /* else it went with the reset */
            give(device, spare->made, spare->memory);
        }
        free(spare);
        spare = next;
    }
}
