/* SPDX-License-Identifier: BSD-3-Clause */
/* level_zero.c: the table of the Level Zero backend; opening and closing. */

#include "backends/level_zero/level_zero.h"
#include "core/base/dl.h"
#include "core/base/error.h"
#include <stdlib.h>
#include <unistd.h>

extern const memspan_backend_t msp_backend_level_zero;

static memspan_status_t load(struct lz_state *state)
{
    static const char *const sonames[]          = {"libze_loader.so.1", NULL};
    static const struct msp_dl_symbol symbols[] = {
#define LZ_SYMBOL(name, optional, arguments)                                                       \
    {#name, NULL, offsetof(struct lz_calls, name), (optional) != 0},
        LZ_CALL_MAP(LZ_SYMBOL) LZ_NEWER_CALL_MAP(LZ_SYMBOL)
#undef LZ_SYMBOL
    };
    memspan_status_t status =
        msp_dl_open(LZ_NAME, sonames, symbols, sizeof(symbols) / sizeof(symbols[0]), &state->ze,
                    &state->library);

    if ((status != MEMSPAN_OK) && (memspan_error_last()->hint[0] == '\0')) {
        msp_error_hint("install the Level Zero loader (Debian: libze1) and the device's "
                       "driver (libze-intel-gpu1)");
    }
    return status;
}

static memspan_status_t start(struct lz_state *state)
{
    lz_result_t code = state->ze.zeInit(LZ_INIT_FLAG_GPU_ONLY);
    memspan_status_t status;

    if (code != ZE_RESULT_SUCCESS) {
        return lz_error(state, "zeInit", code, "no Level Zero driver starts");
    }
    status = lz_devices_find(state);
    if (status == MEMSPAN_OK) {
        lz_sysman_find(state);
    }
    return status;
}

/* The loader stays in the process: drivers leave threads behind that run their code. */
static void drop(struct lz_state *state)
{
    lz_devices_drop(state);
    pthread_mutex_destroy(&state->lock);
    pthread_mutex_destroy(&state->import_lock);
    free(state);
}

static memspan_status_t open_backend(const memspan_services_t *services, void **state_p)
{
    struct lz_state *state = calloc(1, sizeof(*state));
    memspan_status_t status;

    if (state == NULL) {
        return services->fail(MEMSPAN_ERR_NO_MEMORY, LZ_NAME, "calloc", 0, "", NULL,
                              "no host memory for the backend");
    }
    state->services = services;
    state->pid      = getpid();
    pthread_mutex_init(&state->lock, NULL);
    pthread_mutex_init(&state->import_lock, NULL);
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
    return ((const struct lz_state *)state)->device_count;
}

static const memspan_backend_option_t options[] = {
    {"MEMSPAN_LEVEL_ZERO_TILES", MEMSPAN_OPTION_CHOICE, "whole|each", "whole",
     "whether a card of several tiles is one Level Zero device, or each tile is one of its own"},
    {"MEMSPAN_LEVEL_ZERO_PINNED", MEMSPAN_OPTION_CHOICE, "reported|concurrent|atomic", "reported",
     "what host and device may do to pinned host memory at once: what the Level Zero driver "
     "reports, loads and stores, or atomics as well"},
};

const memspan_backend_t msp_backend_level_zero = {
    .abi              = MEMSPAN_BACKEND_ABI,
    .struct_size      = sizeof(memspan_backend_t),
    .name             = LZ_NAME,
    .title            = "Level Zero through its loader",
    .flags            = MEMSPAN_BACKEND_OPENS_APART,
    .open             = open_backend,
    .close            = close_backend,
    .device_count     = count_devices,
    .device_describe  = lz_device_describe,
    .reach            = lz_reach,
    .alloc            = lz_alloc,
    .free             = lz_free,
    .import           = lz_import,
    .release          = lz_release,
    .pointer_describe = lz_pointer_describe,
    .copy             = lz_copy,
    .fill             = lz_fill,
    .synchronize      = lz_synchronize,
    .queue_create     = lz_queue_create,
    .queue_destroy    = lz_queue_destroy,
    .prefetch         = lz_prefetch,
    .launch           = lz_launch,
    .ipc_export       = lz_ipc_export,
    .ipc_import       = lz_ipc_import,
    .ipc_close        = lz_ipc_close,
    .dmabuf_export    = lz_dmabuf_export,
    .reach_source     = lz_reach_source,
    .options          = options,
    .option_count     = sizeof(options) / sizeof(options[0]),
};
