/* SPDX-License-Identifier: BSD-3-Clause */
/* status.c: the driver's answers as our errors. Level Zero has no call that names them, so the
 * names stand here; what is newer than this file is told by its number. */

#include "backends/level_zero/level_zero.h"
#include <stdarg.h>
#include <stdio.h>

static memspan_status_t status_of(lz_result_t code)
{
    switch (code) {
    case ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY:
    case ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY:
    case ZE_RESULT_ERROR_UNSUPPORTED_SIZE:
        return MEMSPAN_ERR_NO_MEMORY;
    case ZE_RESULT_ERROR_UNINITIALIZED:
    case ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE:
    case ZE_RESULT_ERROR_UNSUPPORTED_VERSION:
        return MEMSPAN_ERR_OFF;
    case ZE_RESULT_ERROR_UNSUPPORTED_FEATURE:
    case ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION:
    case ZE_RESULT_ERROR_NOT_AVAILABLE:
        return MEMSPAN_ERR_UNSUPPORTED;
    case ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS:
        return MEMSPAN_ERR_PERMISSION;
    default:
        return MEMSPAN_ERR_DRIVER;
    }
}

static const char *hint_for(lz_result_t code)
{
    switch (code) {
    case ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY:
    case ZE_RESULT_ERROR_UNSUPPORTED_SIZE:
        return "free memory, or ask for less at a time";
    case ZE_RESULT_ERROR_UNINITIALIZED:
        return "install the device's driver (Debian: libze-intel-gpu1), and look at the "
               "permissions of /dev/dri/renderD*: the group render has them";
    case ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE:
        return "the driver misses a library of its own: reinstall it";
    case ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS:
        return "join the group that owns /dev/dri/renderD* (render)";
    case ZE_RESULT_ERROR_DEVICE_LOST:
        return "a kernel or the device failed, or the system reset it after a time limit: every "
               "later call answers this until the process ends; see dmesg";
    case ZE_RESULT_ERROR_DEVICE_REQUIRES_RESET:
        return "the device wants a reset by the administrator; see dmesg";
    default:
        return NULL;
    }
}

static const char *name_of(lz_result_t code)
{
    switch (code) {
#define NAME(name, value)                                                                          \
    case name:                                                                                     \
        return #name;
        LZ_RESULT_MAP(NAME)
#undef NAME
    default:
        return "unknown answer";
    }
}

memspan_status_t lz_error(const struct lz_state *state, const char *call, lz_result_t code,
                          const char *format, ...)
{
    char sentence[256];
    va_list args;

    va_start(args, format);
    vsnprintf(sentence, sizeof(sentence), format, args);
    va_end(args);
    return state->services->fail(status_of(code), LZ_NAME, call, (long)code, name_of(code),
                                 hint_for(code), "%s", sentence);
}

memspan_status_t lz_refuse(const struct lz_state *state, memspan_status_t status, const char *hint,
                           const char *format, ...)
{
    char sentence[256];
    va_list args;

    va_start(args, format);
    vsnprintf(sentence, sizeof(sentence), format, args);
    va_end(args);
    return state->services->fail(status, LZ_NAME, "", 0, "", hint, "%s", sentence);
}

void lz_log_failure(const struct lz_state *state, const char *call, lz_result_t code,
                    const char *what)
{
    state->services->log(MEMSPAN_LOG_WARN, LZ_NAME, "%s: %s: %#lx %s", what, call,
                         (unsigned long)code, name_of(code));
}
