/* SPDX-License-Identifier: BSD-3-Clause */
/* hip.c: the table of the HIP backend; opening and closing. */

#include "backends/hip/hip.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern const memspan_backend_t msp_backend_hip;

static void drop_registrations(struct hip_state *state)
{
    while (state->registrations != NULL) {
        struct hip_registration *next = state->registrations->next;
        free(state->registrations);
        state->registrations = next;
    }
}

static void drop(struct hip_state *state)
{
    hip_devices_drop(state);
    drop_registrations(state);
    pthread_mutex_destroy(&state->lock);
    free(state);
}

static memspan_status_t open_backend(const memspan_services_t *services, void **state_p)
{
    struct hip_state *state = calloc(1, sizeof(*state));
    memspan_status_t status;

    if (state == NULL) {
        return services->fail(MEMSPAN_ERR_NO_MEMORY, HIP_NAME, "calloc", 0, "", NULL,
                              "no host memory for the backend");
    }
    state->services = services;
    state->pid      = getpid();
    state->coarse   = (strcmp(services->option("MEMSPAN_HIP_GRAIN"), "fine") != 0);
    pthread_mutex_init(&state->lock, NULL);
    status = hip_library_open(state);
    if (status == MEMSPAN_OK) {
        status = hip_devices_find(state);
    }
    if (status != MEMSPAN_OK) {
        drop(state);
        return status;
    }
    *state_p = state;
    return MEMSPAN_OK;
}

static void close_backend(void *state)
{
    drop(state);
}

static int count_devices(void *state)
{
    return ((const struct hip_state *)state)->device_count;
}

const memspan_backend_t msp_backend_hip = {
    .abi              = MEMSPAN_BACKEND_ABI,
    .struct_size      = sizeof(memspan_backend_t),
    .name             = HIP_NAME,
    .title            = "HIP runtime of ROCm",
    .flags            = MEMSPAN_BACKEND_OPENS_APART,
    .open             = open_backend,
    .close            = close_backend,
    .device_count     = count_devices,
    .device_describe  = hip_device_describe,
    .reach            = hip_reach,
    .alloc            = hip_alloc,
    .free             = hip_free,
    .import           = hip_import,
    .release          = hip_release,
    .pointer_describe = hip_pointer_describe,
    .copy             = hip_copy,
    .fill             = hip_fill,
    .synchronize      = hip_synchronize,
    .queue_create     = hip_queue_create,
    .queue_destroy    = hip_queue_destroy,
    .prefetch         = hip_prefetch,
    .launch           = hip_launch,
    .ipc_export       = hip_ipc_export,
    .ipc_import       = hip_ipc_import,
    .ipc_close        = hip_ipc_close,
    .dmabuf_export    = hip_dmabuf_export,
    .reach_source     = hip_reach_source,
};
