/* SPDX-License-Identifier: BSD-3-Clause */
/* status.c: the driver's answers as our errors. Its own names and words are asked of itself, so
 * that answers newer than this file are named as well. */

#include "backends/cuda/cuda.h"
#include "core/base/error.h"
#include <stdarg.h>
#include <stdio.h>

static memspan_status_t status_of(cuda_result_t code)
{
    switch (code) {
    case CUDA_ERROR_OUT_OF_MEMORY:
        return MEMSPAN_ERR_NO_MEMORY;
    case CUDA_ERROR_NO_DEVICE:
    case CUDA_ERROR_STUB_LIBRARY:
    case CUDA_ERROR_SYSTEM_NOT_READY:
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
        return MEMSPAN_ERR_OFF;
    case CUDA_ERROR_NOT_SUPPORTED:
        return MEMSPAN_ERR_UNSUPPORTED;
    case CUDA_ERROR_NOT_PERMITTED:
        return MEMSPAN_ERR_PERMISSION;
    default:
        return MEMSPAN_ERR_DRIVER;
    }
}

static const char *hint_for(cuda_result_t code)
{
    switch (code) {
    case CUDA_ERROR_OUT_OF_MEMORY:
        return "free memory, or ask for less at a time; nvidia-smi shows who else has some";
    case CUDA_ERROR_NO_DEVICE:
        return "see nvidia-smi as the same user; CUDA_VISIBLE_DEVICES and the permissions of "
               "/dev/nvidia* hide devices";
    case CUDA_ERROR_STUB_LIBRARY:
        return "take the toolkit's folder \"stubs\" out of LD_LIBRARY_PATH";
    case CUDA_ERROR_SYSTEM_NOT_READY:
        return "start nvidia-fabricmanager and nvidia-persistenced";
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
        return "the kernel's module and libcuda.so.1 differ in version: restart after an update";
    case CUDA_ERROR_DEVICE_UNAVAILABLE:
        return "another process has the device to itself (compute mode)";
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_LAUNCH_FAILED:
        return "a kernel or the device failed earlier: every later call answers this until the "
               "process ends";
    case CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:
    case CUDA_ERROR_STREAM_CAPTURE_INVALIDATED:
        return "a stream is being captured: free such memory before or after";
    default:
        return NULL;
    }
}

/* For a driver that does not even name its answers. */
static const char *own_name(cuda_result_t code)
{
    static const struct {
        int code;
        const char *name;
    } names[] = {
#define CUDA_STATUS_NAME(name, value) {(value), #name},
        CUDA_STATUS_MAP(CUDA_STATUS_NAME)
#undef CUDA_STATUS_NAME
    };
    size_t i;

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (names[i].code == code) {
            return names[i].name;
        }
    }
    return "unknown answer";
}

/* "CUDA_ERROR_OUT_OF_MEMORY: out of memory" */
static void words_of(const struct cuda_state *state, cuda_result_t code, char *text, size_t size)
{
    const char *name  = NULL;
    const char *words = NULL;

    if (state->cu.cuGetErrorName != NULL) {
        (void)state->cu.cuGetErrorName(code, &name);
    }
    if (state->cu.cuGetErrorString != NULL) {
        (void)state->cu.cuGetErrorString(code, &words);
    }
    snprintf(text, size, "%s%s%s", (name == NULL) ? own_name(code) : name,
             (words == NULL) ? "" : ": ", (words == NULL) ? "" : words);
}

memspan_status_t cuda_error(const struct cuda_state *state, const char *call, cuda_result_t code,
                            const char *format, ...)
{
    char sentence[256];
    char words[128];
    va_list args;

    va_start(args, format);
    vsnprintf(sentence, sizeof(sentence), format, args);
    va_end(args);
    words_of(state, code, words, sizeof(words));
    return state->services->fail(status_of(code), CUDA_NAME, call, code, words, hint_for(code),
                                 "%s", sentence);
}

memspan_status_t cuda_refuse(const struct cuda_state *state, memspan_status_t status,
                             const char *hint, const char *format, ...)
{
    char sentence[256];
    va_list args;

    va_start(args, format);
    vsnprintf(sentence, sizeof(sentence), format, args);
    va_end(args);
    return state->services->fail(status, CUDA_NAME, "", 0, "", hint, "%s", sentence);
}

void cuda_log_failure(const struct cuda_state *state, const char *call, cuda_result_t code,
                      const char *what)
{
    char words[128];

    words_of(state, code, words, sizeof(words));
    state->services->log(MEMSPAN_LOG_WARN, CUDA_NAME, "%s: %s: %d %s", what, call, (int)code,
                         words);
}

void cuda_log_last(const struct cuda_state *state, const char *what)
{
    state->services->log(MEMSPAN_LOG_WARN, CUDA_NAME, "%s: %s", what, memspan_error_text());
}
