/* SPDX-License-Identifier: BSD-3-Clause */
/* level_zero.c: the table of the Level Zero backend, and its driver in the words of backends/gpu.
 */

#include "backends/level_zero/level_zero.h"
#include "core/base/dl.h"
#include "core/base/error.h"

extern const memspan_backend_t msp_backend_level_zero;

static memspan_status_t load(struct gpu_state *state)
{
    static const char *const sonames[]          = {"libze_loader.so.1", NULL};
    static const struct msp_dl_symbol symbols[] = {
#define LZ_SYMBOL(name, optional, arguments)                                                       \
    {#name, NULL, offsetof(struct lz_calls, name), (optional) != 0},
        LZ_CALL_MAP(LZ_SYMBOL) LZ_NEWER_CALL_MAP(LZ_SYMBOL)
#undef LZ_SYMBOL
    };
    void *library = NULL;
    lz_result_t code;
    memspan_status_t status =
        msp_dl_open(state->driver->name, sonames, symbols, sizeof(symbols) / sizeof(symbols[0]),
                    &lz_state(state)->ze, &library);

    if (status != MEMSPAN_OK) {
        return (memspan_error_last()->hint[0] == '\0')
                   ? msp_error_hint("install the Level Zero loader (Debian: libze1) and the "
                                    "device's driver (libze-intel-gpu1)")
                   : status;
    }
    atomic_store(&state->no_captures, true);
    pthread_mutex_init(&lz_state(state)->lock, NULL);
    code = lz_calls(state)->zeInit(LZ_INIT_FLAG_GPU_ONLY);
    return (code == ZE_RESULT_SUCCESS)
               ? lz_devices_find(state)
               : lz_no_driver(state, LZ_ANSWER("zeInit", code), "no Level Zero driver starts");
}

static const struct gpu_driver driver = {
    .name              = "level_zero",
    .title             = "Level Zero",
    .magic             = "msp-ze1",
    .names             = {[GPU_NAME_NO_REGISTER] = "its driver has no call for it",
                          [GPU_NAME_COPY]        = "zeCommandListAppendMemoryCopy; the host has no mapping",
                          [GPU_NAME_EARLY]       = "start processes before Level Zero is used",
                          [GPU_NAME_ACCESS]      = "memory access properties"},
    .state_size        = sizeof(struct lz_state),
    .device_size       = sizeof(struct lz_device),
    .block_size        = sizeof(struct lz_block),
    .meanings          = lz_meanings,
    .moves_any         = true,
    .hex_codes         = true,
    .queue_type        = MEMSPAN_QUEUE_LEVEL_ZERO,
    .load              = load,
    .count             = lz_devices_count,
    .fill              = lz_fill,
    .probe             = lz_probe,
    .drop              = lz_drop,
    .explain           = lz_explain,
    .total             = lz_total,
    .free_bytes        = lz_sysman_free,
    .can_reach         = lz_can_reach,
    .peer_source       = lz_peer_source,
    .offer             = lz_offer,
    .fill_capabilities = lz_fill_capabilities,
    .reach_host        = lz_reach_host,
    .reach_own         = lz_reach_own,
    .reach_peer        = lz_reach_peer,
    .most_bytes        = lz_most_bytes,
    .check             = lz_check,
    .take_block        = lz_take_block,
    .take              = lz_take,
    .give              = lz_give,
    .settle            = lz_settle,
    .unshare           = lz_unshare,
    .export_mapped     = lz_export,
    .open_mapped       = lz_open,
    .dmabuf            = lz_dmabuf,
    .register_pages    = lz_register_pages,
    .unregister_pages  = lz_unregister_pages,
    .check_reuse       = lz_check_reuse,
    .query_pointer     = lz_query_pointer,
    .make_stream       = lz_make_stream,
    .drop_stream       = lz_drop_stream,
    .wait              = lz_wait,
    .wait_for_device   = lz_wait_for_device,
    .copy              = lz_copy,
    .fill_bytes        = lz_fill_bytes,
    .prefetch          = lz_prefetch,
    .make_event        = lz_make_event,
    .drop_event        = lz_drop_event,
    .record_event      = lz_record_event,
    .wait_event        = lz_wait_event,
    .can_wait          = lz_can_wait,
    .query_event       = lz_query_event,
    .adopt_stream      = lz_adopt_stream,
    .release_stream    = lz_release_stream,
    .get_kernel        = lz_get_kernel,
    .start_call        = lz_start_call,
    .drop_kernels      = lz_drop_kernels,
};

static memspan_status_t open_backend(const memspan_services_t *services, void **state_p)
{
    return gpu_open(&driver, services, state_p);
}

static const memspan_backend_option_t options[] = {
    {"MEMSPAN_LEVEL_ZERO_TILES", MEMSPAN_OPTION_CHOICE, "whole|each", "whole",
     "whether a card of several tiles is one Level Zero device, or each tile is one of its own"},
    {"MEMSPAN_LEVEL_ZERO_PINNED", MEMSPAN_OPTION_CHOICE, "reported|concurrent|atomic", "reported",
     "what host and device may do to pinned host memory at once: what the Level Zero driver "
     "reports, loads and stores, or atomics as well"},
};

const memspan_backend_t msp_backend_level_zero = {
    GPU_BACKEND_TABLE,
    GPU_EVENT_TABLE,
    .name         = "level_zero",
    .title        = "Level Zero through its loader",
    .flags        = MEMSPAN_BACKEND_OPENS_APART,
    .open         = open_backend,
    .options      = options,
    .option_count = sizeof(options) / sizeof(options[0]),
};
