/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda.c: the table of the CUDA backend; opening and closing. */

#include "backends/cuda/cuda.h"
#include "core/base/dl.h"
#include "core/base/error.h"
#include <stdlib.h>
#include <unistd.h>

extern const memspan_backend_t msp_backend_cuda;

static memspan_status_t load(struct cuda_state *state)
{
    static const char *const sonames[]          = {"libcuda.so.1", NULL};
    static const struct msp_dl_symbol symbols[] = {
#define CUDA_SYMBOL(name, older, optional, arguments)                                              \
    {#name, older, offsetof(struct cuda_calls, name), (optional) != 0},
        CUDA_CALL_MAP(CUDA_SYMBOL)
#undef CUDA_SYMBOL
    };
    memspan_status_t status =
        msp_dl_open(CUDA_NAME, sonames, symbols, sizeof(symbols) / sizeof(symbols[0]), &state->cu,
                    &state->library);

    if ((status != MEMSPAN_OK) && (state->library == NULL) &&
        (memspan_error_last()->hint[0] == '\0')) {
        msp_error_hint("install NVIDIA's driver; the toolkit is not needed");
    }
    return status;
}

static memspan_status_t start(struct cuda_state *state)
{
    cuda_result_t code = state->cu.cuInit(0);

    if (code != CUDA_SUCCESS) {
        return cuda_error(state, "cuInit", code, "the CUDA driver does not start");
    }
    code = state->cu.cuDriverGetVersion(&state->version);
    if (code != CUDA_SUCCESS) {
        return cuda_error(state, "cuDriverGetVersion", code, "the CUDA driver has no version");
    }
    return cuda_devices_find(state);
}

static void drop_registrations(struct cuda_state *state)
{
    while (state->registrations != NULL) {
        struct cuda_registration *next = state->registrations->next;
        free(state->registrations);
        state->registrations = next;
    }
}

/* The driver's library stays in the process: it leaves threads behind that run its code. */
static void drop(struct cuda_state *state)
{
    cuda_devices_drop(state);
    drop_registrations(state);
    pthread_mutex_destroy(&state->lock);
    free(state);
}

static memspan_status_t open_backend(const memspan_services_t *services, void **state_p)
{
    struct cuda_state *state = calloc(1, sizeof(*state));
    memspan_status_t status;

    if (state == NULL) {
        return services->fail(MEMSPAN_ERR_NO_MEMORY, CUDA_NAME, "calloc", 0, "", NULL,
                              "no host memory for the backend");
    }
    state->services = services;
    state->pid      = getpid();
    pthread_mutex_init(&state->lock, NULL);
    status = load(state);
    if (status == MEMSPAN_OK) {
        status = start(state);
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
    return ((const struct cuda_state *)state)->device_count;
}

const memspan_backend_t msp_backend_cuda = {
    .abi              = MEMSPAN_BACKEND_ABI,
    .struct_size      = sizeof(memspan_backend_t),
    .name             = CUDA_NAME,
    .title            = "CUDA through the driver API",
    .flags            = MEMSPAN_BACKEND_OPENS_APART,
    .open             = open_backend,
    .close            = close_backend,
    .device_count     = count_devices,
    .device_describe  = cuda_device_describe,
    .reach            = cuda_reach,
    .alloc            = cuda_alloc,
    .free             = cuda_free,
    .import           = cuda_import,
    .release          = cuda_release,
    .pointer_describe = cuda_pointer_describe,
    .copy             = cuda_copy,
    .fill             = cuda_fill,
    .synchronize      = cuda_synchronize,
    .queue_create     = cuda_queue_create,
    .queue_destroy    = cuda_queue_destroy,
    .prefetch         = cuda_prefetch,
    .launch           = cuda_launch,
    .ipc_export       = cuda_ipc_export,
    .ipc_import       = cuda_ipc_import,
    .ipc_close        = cuda_ipc_close,
    .dmabuf_export    = cuda_dmabuf_export,
    .reach_source     = cuda_reach_source,
    .connect          = cuda_connect,
};
