/* SPDX-License-Identifier: BSD-3-Clause */
/* status.c: OpenCL's answers as our errors, and the checks that every entry begins with. */

#include "backends/opencl/opencl.h"
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

const char *opencl_status_text(cl_int code)
{
    static const struct {
        cl_int code;
        const char *text;
    } names[] = {
#define OPENCL_STATUS_NAME(name, value) {(value), "CL_" #name},
        OPENCL_STATUS_MAP(OPENCL_STATUS_NAME)
#undef OPENCL_STATUS_NAME
    };
    size_t i;

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (names[i].code == code) {
            return names[i].text;
        }
    }
    return "";
}

static memspan_status_t status_of(cl_int code)
{
    switch (code) {
    case OPENCL_MEM_OBJECT_ALLOCATION_FAILURE:
    case OPENCL_OUT_OF_RESOURCES:
    case OPENCL_OUT_OF_HOST_MEMORY:
    case OPENCL_INVALID_BUFFER_SIZE:
        return MEMSPAN_ERR_NO_MEMORY;
    case OPENCL_PLATFORM_NOT_FOUND_KHR:
    case OPENCL_DEVICE_NOT_FOUND:
        return MEMSPAN_ERR_OFF;
    default:
        return MEMSPAN_ERR_DRIVER;
    }
}

static const char *hint_for(cl_int code)
{
    switch (code) {
    case OPENCL_PLATFORM_NOT_FOUND_KHR:
        return "install an OpenCL driver: pocl-opencl-icd for processors, the maker's for a GPU";
    case OPENCL_OUT_OF_RESOURCES:
        return "drivers also answer this where permission is missing: see clinfo as the same user";
    case OPENCL_MEM_OBJECT_ALLOCATION_FAILURE:
    case OPENCL_OUT_OF_HOST_MEMORY:
        return "free memory, or ask for less at a time";
    default:
        return NULL;
    }
}

memspan_status_t opencl_error(const struct opencl_state *state, const char *call, cl_int code,
                              const char *format, ...)
{
    char sentence[256];
    va_list args;

    va_start(args, format);
    vsnprintf(sentence, sizeof(sentence), format, args);
    va_end(args);
    return state->services->fail(status_of(code), OPENCL_NAME, call, code, opencl_status_text(code),
                                 hint_for(code), "%s", sentence);
}

memspan_status_t opencl_refuse(const struct opencl_state *state, memspan_status_t status,
                               const char *hint, const char *format, ...)
{
    char sentence[256];
    va_list args;

    va_start(args, format);
    vsnprintf(sentence, sizeof(sentence), format, args);
    va_end(args);
    return state->services->fail(status, OPENCL_NAME, "", 0, "", hint, "%s", sentence);
}

memspan_status_t opencl_enter(void *opaque, int ordinal, struct opencl_device **device_p)
{
    struct opencl_state *state = opaque;

    if (getpid() != state->pid) {
        return opencl_refuse(state, MEMSPAN_ERR_FORKED, "start processes before OpenCL is used",
                             "OpenCL was opened by process %d; its child %d cannot use it",
                             (int)state->pid, (int)getpid());
    }
    if ((ordinal < 0) || (ordinal >= state->device_count)) {
        return opencl_refuse(state, MEMSPAN_ERR_NOT_FOUND, NULL,
                             "no OpenCL device %d: there are %d", ordinal, state->device_count);
    }
    *device_p = state->devices[ordinal];
    return MEMSPAN_OK;
}
