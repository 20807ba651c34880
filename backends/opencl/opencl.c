/* SPDX-License-Identifier: BSD-3-Clause */
/* opencl.c: the table of the OpenCL backend; opening and closing. */

#include "backends/opencl/opencl.h"
#include "core/base/dl.h"
#include "core/base/error.h"
#include "core/base/option.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern const memspan_backend_t msp_backend_opencl;

static const char svm_option[] = "MEMSPAN_OPENCL_SVM";

static memspan_status_t parse_word(const memspan_services_t *services, const char *word,
                                   size_t length, unsigned *allowed)
{
    static const struct {
        const char *word;
        unsigned bits;
    } words[] = {
        {"coarse", OPENCL_SVM_COARSE},
        {"fine", OPENCL_SVM_FINE | OPENCL_SVM_SYSTEM},
        {"atomics", OPENCL_SVM_ATOMICS},
    };
    size_t i;

    for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if ((strlen(words[i].word) == length) && (memcmp(word, words[i].word, length) == 0)) {
            *allowed |= words[i].bits;
            return MEMSPAN_OK;
        }
    }
    return services->option_refuse(svm_option, "\"%.*s\" is none of coarse, fine, atomics",
                                   (int)((length > 32) ? 32 : length), word);
}

/* "all", "none", or a list of words; braces around the list are fine, as the form shows them. */
static memspan_status_t parse_allowed(const memspan_services_t *services, unsigned *allowed_p)
{
    const char *text = services->option(svm_option);
    unsigned allowed = 0;
    size_t length    = strlen(text);
    memspan_status_t status;

    if ((strcmp(text, "all") == 0) || (length == 0)) {
        *allowed_p = OPENCL_SVM_COARSE | OPENCL_SVM_FINE | OPENCL_SVM_SYSTEM | OPENCL_SVM_ATOMICS;
        return MEMSPAN_OK;
    }
    if (strcmp(text, "none") == 0) {
        *allowed_p = 0;
        return MEMSPAN_OK;
    }
    if ((text[0] == '{') && (text[length - 1] == '}')) {
        text++;
        length -= 2;
    }
    for (;;) {
        const char *comma = memchr(text, ',', length);
        size_t word       = (comma == NULL) ? length : (size_t)(comma - text);
        status            = parse_word(services, text, word, &allowed);
        if (status != MEMSPAN_OK) {
            return status;
        }
        if (comma == NULL) {
            break;
        }
        text += word + 1;
        length -= word + 1;
    }
    if (((allowed & OPENCL_SVM_ATOMICS) != 0) && ((allowed & OPENCL_SVM_FINE) == 0)) {
        return services->option_refuse(svm_option, "atomics need fine");
    }
    *allowed_p = allowed;
    return MEMSPAN_OK;
}

static memspan_status_t load(struct opencl_state *state)
{
    static const char *const sonames[]          = {"libOpenCL.so.1", "libOpenCL.so", NULL};
    static const struct msp_dl_symbol symbols[] = {
#define OPENCL_SYMBOL(name, optional, result, arguments)                                           \
    {#name, NULL, offsetof(struct opencl_calls, name), (optional) != 0},
        OPENCL_CALL_MAP(OPENCL_SYMBOL)
#undef OPENCL_SYMBOL
    };
    memspan_status_t status =
        msp_dl_open(OPENCL_NAME, sonames, symbols, sizeof(symbols) / sizeof(symbols[0]), &state->cl,
                    &state->library);

    if (status != MEMSPAN_OK) {
        msp_error_hint("install an OpenCL loader and a driver: ocl-icd-libopencl1 and "
                       "pocl-opencl-icd on Debian");
        return status;
    }
    if ((state->cl.clSVMAlloc == NULL) || (state->cl.clSVMFree == NULL) ||
        (state->cl.clEnqueueSVMMap == NULL) || (state->cl.clEnqueueSVMUnmap == NULL) ||
        (state->cl.clEnqueueSVMMemcpy == NULL) || (state->cl.clEnqueueSVMMemFill == NULL) ||
        (state->cl.clSetKernelArgSVMPointer == NULL) || (state->cl.clSetKernelExecInfo == NULL) ||
        (state->cl.clEnqueueBarrierWithWaitList == NULL)) {
        state->services->log(MEMSPAN_LOG_WARN, OPENCL_NAME,
                             "the OpenCL loader is older than 2.0: no shared virtual memory");
        state->allowed = 0;
    }
    return MEMSPAN_OK;
}

static memspan_status_t open_backend(const memspan_services_t *services, void **state_p)
{
    struct opencl_state *state;
    unsigned allowed        = 0;
    memspan_status_t status = parse_allowed(services, &allowed);

    if (status != MEMSPAN_OK) {
        return status;
    }
    state = calloc(1, sizeof(*state));
    if (state == NULL) {
        return services->fail(MEMSPAN_ERR_NO_MEMORY, OPENCL_NAME, "calloc", 0, "", NULL,
                              "no host memory for the backend");
    }
    state->services = services;
    state->allowed  = allowed;
    state->pid      = getpid();
    status          = load(state);
    if (status == MEMSPAN_OK) {
        status = opencl_platforms_find(state);
    }
    if (status != MEMSPAN_OK) {
        opencl_platforms_drop(state);
        free(state);
        return status;
    }
    *state_p = state;
    return MEMSPAN_OK;
}

/* The loader stays in the process: drivers leave threads behind that run its drivers' code. */
static void close_backend(void *opaque)
{
    struct opencl_state *state = opaque;

    opencl_platforms_drop(state);
    free(state);
}

static int count_devices(void *state)
{
    return ((const struct opencl_state *)state)->device_count;
}

static const memspan_backend_option_t options[] = {
    {"MEMSPAN_OPENCL_SVM", MEMSPAN_OPTION_TEXT, "all|none|{coarse,fine,atomics}", "all",
     "kinds of shared virtual memory of OpenCL devices to use"},
};

const memspan_backend_t msp_backend_opencl = {
    .abi             = MEMSPAN_BACKEND_ABI,
    .struct_size     = sizeof(memspan_backend_t),
    .name            = OPENCL_NAME,
    .title           = "OpenCL through the ICD loader",
    .flags           = MEMSPAN_BACKEND_OPENS_APART,
    .open            = open_backend,
    .close           = close_backend,
    .device_count    = count_devices,
    .device_describe = opencl_device_describe,
    .reach           = opencl_reach,
    .reach_source    = opencl_reach_source,
    .alloc           = opencl_alloc,
    .free            = opencl_free,
    .import          = opencl_import,
    .release         = opencl_release,
    .copy            = opencl_copy,
    .fill            = opencl_fill,
    .synchronize     = opencl_synchronize,
    .queue_create    = opencl_queue_create,
    .queue_destroy   = opencl_queue_destroy,
    .prefetch        = opencl_prefetch,
    .launch          = opencl_launch,
    .event_record    = opencl_event_record,
    .event_wait      = opencl_event_wait,
    .event_done      = opencl_event_done,
    .event_destroy   = opencl_event_destroy,
    .queue_adopt     = opencl_queue_adopt,
    .queue_hold      = opencl_queue_hold_back,
    .queue_release   = opencl_queue_release,
    .host_open       = opencl_host_open,
    .host_close      = opencl_host_close,
    .options         = options,
    .option_count    = sizeof(options) / sizeof(options[0]),
};
