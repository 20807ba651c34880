/* SPDX-License-Identifier: BSD-3-Clause */
/* library.c: libamdhip64, and two libraries beside it that one can do without.
 *
 * Loading it takes a quarter of a second where there is no GPU for it: it is left alone where the
 * kernel has no interface to one, unless HIP is requested by name. */

#include "backends/hip/hip.h"
#include "core/base/dl.h"
#include "core/base/error.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HIP_SYMBOL(table, name, optional)                                                          \
    {                                                                                              \
#name, NULL, offsetof(struct table, name), (optional) != 0                                 \
    }

/* Whether a list of names, or of names with ordinals, has ours. */
static bool names_us(const char *list)
{
    const char *at = list;

    while ((at = strstr(at, "hip")) != NULL) {
        char before = (at == list) ? ',' : at[-1];
        at += strlen("hip");
        if (((before == ',') || (before == ' ')) && (strchr(":, ", at[0]) != NULL)) {
            return true; /* strchr() finds the end of the text as well */
        }
    }
    return false;
}

static bool is_asked_for(const struct gpu_state *state)
{
    return names_us(state->services->option("MEMSPAN_DEVICES")) ||
           names_us(state->services->option("MEMSPAN_BACKENDS"));
}

static memspan_status_t check_kernel(const struct gpu_state *state)
{
    if ((access("/dev/kfd", F_OK) == 0) || (access("/dev/dxg", F_OK) == 0) || is_asked_for(state)) {
        return MEMSPAN_OK;
    }
    return gpu_refuse(state, MEMSPAN_ERR_OFF,
                      "load the kernel's module amdgpu, and in a container pass /dev/kfd and "
                      "/dev/dri; MEMSPAN_DEVICES=hip:0 tries all the same",
                      "no AMD GPU: there is no /dev/kfd");
}

/* A library beside libamdhip64, or the part of it that libamdhip64 has. False is no error. */
static bool open_beside(const char *const *sonames, const struct msp_dl_symbol *symbols,
                        size_t count, void *calls)
{
    struct msp_error_saved saved;
    void *library = NULL;
    memspan_status_t status;

    msp_error_save(&saved);
    status = msp_dl_open("hip", sonames, symbols, count, calls, &library);
    msp_error_restore(&saved);
    return status == MEMSPAN_OK;
}

static const char *const runtime_sonames[] = {"libamdhip64.so.7", "libamdhip64.so.6",
                                              "libamdhip64.so.5", NULL};

/* A library of its own, of the version that the runtime answers, else a part of the runtime that
 * was opened: the same names find the same library. */
static void open_compiler(struct hip_state *state)
{
#define COMPILER_SYMBOL(name, optional, result, arguments)                                         \
    HIP_SYMBOL(hip_compiler_calls, name, optional),
    static const struct msp_dl_symbol symbols[] = {HIP_COMPILER_MAP(COMPILER_SYMBOL)};
#undef COMPILER_SYMBOL
    size_t count = sizeof(symbols) / sizeof(symbols[0]);
    char own[32];
    const char *sonames[] = {own, NULL};

    snprintf(own, sizeof(own), "libhiprtc.so.%d", state->gpu.version / 10000000);
    state->has_compiler = open_beside(sonames, symbols, count, &state->rtc) ||
                          open_beside(runtime_sonames, symbols, count, &state->rtc);
    if (!state->has_compiler) {
        state->gpu.services->log(MEMSPAN_LOG_INFO, "hip", "no built-in kernels: there is no %s",
                                 own);
    }
}

/* HIP has a call for it since version 7; HSA had one before, where the kernel can. An HSA that
 * answers no question is not the one that this runtime has started: a HIP of another maker beside
 * ROCm, or ROCm's own beside another version of it. */
static void open_hsa(struct hip_state *state)
{
#define HSA_SYMBOL(name, optional, result, arguments) HIP_SYMBOL(hip_hsa_calls, name, optional),
    static const struct msp_dl_symbol symbols[] = {HIP_HSA_MAP(HSA_SYMBOL)};
#undef HSA_SYMBOL
    static const char *const sonames[] = {"libhsa-runtime64.so.1", NULL};
    bool supported                     = false;
    hip_result_t code;

    if (open_beside(sonames, symbols, sizeof(symbols) / sizeof(symbols[0]), &state->hsa)) {
        code = state->hsa.hsa_system_get_info(HIP_HSA_INFO_DMABUF_SUPPORTED, &supported);
        if (code == HIP_SUCCESS) {
            state->has_dmabuf = supported;
            return;
        }
        state->gpu.services->log(MEMSPAN_LOG_INFO, "hip",
                                 "dma-buf without %s: hsa_system_get_info answers %d", sonames[0],
                                 (int)code);
        memset(&state->hsa, 0, sizeof(state->hsa));
    }
    state->has_dmabuf = (state->hip.hipMemGetHandleForAddressRange != NULL);
}

memspan_status_t hip_load(struct gpu_state *state)
{
#define RUNTIME_SYMBOL(name, optional, result, arguments) HIP_SYMBOL(hip_calls, name, optional),
    static const struct msp_dl_symbol symbols[] = {HIP_CALL_MAP(RUNTIME_SYMBOL)};
#undef RUNTIME_SYMBOL
    struct hip_state *own   = hip_state(state);
    void *library           = NULL; /* stays in the process: it leaves threads behind */
    memspan_status_t status = check_kernel(state);
    hip_result_t code;

    own->coarse = (strcmp(state->services->option("MEMSPAN_HIP_GRAIN"), "fine") != 0);
    if (status != MEMSPAN_OK) {
        return status;
    }
    status = msp_dl_open("hip", runtime_sonames, symbols, sizeof(symbols) / sizeof(symbols[0]),
                         &own->hip, &library);
    if (status != MEMSPAN_OK) {
        return (memspan_error_last()->hint[0] == '\0')
                   ? msp_error_hint("install ROCm's HIP runtime (libamdhip64.so.7, .6 or .5)")
                   : status;
    }
    code = own->hip.hipInit(0);
    if (code != HIP_SUCCESS) {
        return gpu_error(state, HIP_ANSWER("hipInit", code), "the HIP runtime does not start");
    }
    code = own->hip.hipRuntimeGetVersion(&state->version);
    if (code != HIP_SUCCESS) {
        return gpu_error(state, HIP_ANSWER("hipRuntimeGetVersion", code),
                         "the HIP runtime has no version");
    }
    open_compiler(own);
    open_hsa(own);
    return MEMSPAN_OK;
}
