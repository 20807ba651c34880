/* SPDX-License-Identifier: BSD-3-Clause */
/* status.c: the driver's answers as our errors. Its own names and words are asked of itself, so
 * that answers newer than this file are named as well. */

#include "backends/hip/hip.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static memspan_status_t status_of(hip_result_t code)
{
    switch (code) {
    case HIP_ERROR_OUT_OF_MEMORY:
        return MEMSPAN_ERR_NO_MEMORY;
    case HIP_ERROR_NO_DEVICE:
    case HIP_ERROR_INVALID_DEVICE: /* what hipInit() answers where there is none */
    case HIP_ERROR_INSUFFICIENT_DRIVER:
        return MEMSPAN_ERR_OFF;
    case HIP_ERROR_NOT_SUPPORTED:
        return MEMSPAN_ERR_UNSUPPORTED;
    default:
        return MEMSPAN_ERR_DRIVER;
    }
}

static const char *hint_for(hip_result_t code)
{
    switch (code) {
    case HIP_ERROR_OUT_OF_MEMORY:
        return "free memory, or ask for less at a time; rocm-smi shows who else has some";
    case HIP_ERROR_NO_DEVICE:
    case HIP_ERROR_INVALID_DEVICE:
        return "see rocminfo as the same user: /dev/kfd and /dev/dri/renderD* must be open to it "
               "(groups render, video); HIP_VISIBLE_DEVICES and ROCR_VISIBLE_DEVICES hide devices";
    case HIP_ERROR_INSUFFICIENT_DRIVER:
        return "the kernel's module amdgpu is older than this ROCm needs";
    case HIP_ERROR_NO_BINARY_FOR_GPU:
        return "this ROCm does not support the device; HSA_OVERRIDE_GFX_VERSION can name a near "
               "one";
    case HIP_ERROR_ILLEGAL_ADDRESS:
    case HIP_ERROR_LAUNCH_FAILURE:
        return "a kernel or the device failed earlier: every later call answers this until the "
               "process ends";
    default:
        return NULL;
    }
}

/* "hipErrorOutOfMemory: out of memory" */
static void words_of(const struct hip_state *state, hip_result_t code, char *text, size_t size)
{
    const char *name  = NULL;
    const char *words = NULL;

    if (state->hip.hipGetErrorName != NULL) {
        name = state->hip.hipGetErrorName(code);
    }
    if (state->hip.hipGetErrorString != NULL) {
        words = state->hip.hipGetErrorString(code);
    }
    /* Old versions have no words but the name. */
    if ((name != NULL) && (words != NULL) && (strcmp(name, words) == 0)) {
        words = NULL;
    }
    snprintf(text, size, "%s%s%s", (name == NULL) ? "unknown answer" : name,
             (words == NULL) ? "" : ": ", (words == NULL) ? "" : words);
}

void hip_forget_error(const struct hip_state *state)
{
    if (state->hip.hipGetLastError != NULL) {
        (void)state->hip.hipGetLastError();
    }
}

memspan_status_t hip_error(const struct hip_state *state, const char *call, hip_result_t code,
                           const char *format, ...)
{
    char sentence[256];
    char words[128];
    va_list args;

    va_start(args, format);
    vsnprintf(sentence, sizeof(sentence), format, args);
    va_end(args);
    words_of(state, code, words, sizeof(words));
    hip_forget_error(state);
    return state->services->fail(status_of(code), HIP_NAME, call, code, words, hint_for(code), "%s",
                                 sentence);
}

memspan_status_t hip_refuse(const struct hip_state *state, memspan_status_t status,
                            const char *hint, const char *format, ...)
{
    char sentence[256];
    va_list args;

    va_start(args, format);
    vsnprintf(sentence, sizeof(sentence), format, args);
    va_end(args);
    return state->services->fail(status, HIP_NAME, "", 0, "", hint, "%s", sentence);
}

void hip_log_failure(const struct hip_state *state, const char *call, hip_result_t code,
                     const char *what)
{
    char words[128];

    words_of(state, code, words, sizeof(words));
    hip_forget_error(state);
    state->services->log(MEMSPAN_LOG_WARN, HIP_NAME, "%s: %s: %d %s", what, call, (int)code, words);
}

void hip_log_record(const struct hip_state *state, enum memspan_log_level level, const char *what)
{
    const memspan_error_t *error = memspan_error_last();

    state->services->log(level, HIP_NAME, "%s: %s: %ld %s", what, error->call, error->native_code,
                         error->message);
}
