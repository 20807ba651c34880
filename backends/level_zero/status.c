/* SPDX-License-Identifier: BSD-3-Clause */
/* status.c: what the driver's answers mean. Level Zero has no call that names them, so the names
 * stand here; what is newer than this file is told by its number. */

#include "backends/level_zero/level_zero.h"

static const char ask_for_less[] = "free memory, or ask for less at a time";

const struct gpu_meaning lz_meanings[] = {
    {ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, MEMSPAN_ERR_NO_MEMORY, NULL},
    {ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, MEMSPAN_ERR_NO_MEMORY, ask_for_less},
    {ZE_RESULT_ERROR_UNSUPPORTED_SIZE, MEMSPAN_ERR_NO_MEMORY, ask_for_less},
    {ZE_RESULT_ERROR_UNINITIALIZED, MEMSPAN_ERR_OFF,
     "install the device's driver (Debian: libze-intel-gpu1), and look at the permissions of "
     "/dev/dri/renderD*: the group render has them"},
    {ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE, MEMSPAN_ERR_OFF,
     "the driver misses a library of its own: reinstall it"},
    {ZE_RESULT_ERROR_UNSUPPORTED_VERSION, MEMSPAN_ERR_OFF, NULL},
    {ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, MEMSPAN_ERR_UNSUPPORTED, NULL},
    {ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION, MEMSPAN_ERR_UNSUPPORTED, NULL},
    {ZE_RESULT_ERROR_NOT_AVAILABLE, MEMSPAN_ERR_UNSUPPORTED, NULL},
    {ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS, MEMSPAN_ERR_PERMISSION,
     "join the group that owns /dev/dri/renderD* (render)"},
    {ZE_RESULT_ERROR_DEVICE_LOST, MEMSPAN_ERR_DRIVER,
     "a kernel or the device failed, or the system reset it after a time limit: every later call "
     "answers this until the process ends; see dmesg"},
    {ZE_RESULT_ERROR_DEVICE_REQUIRES_RESET, MEMSPAN_ERR_DRIVER,
     "the device wants a reset by the administrator; see dmesg"},
    {0, MEMSPAN_OK, NULL},
};

void lz_explain(const struct gpu_state *state, int code, const char **name_p, const char **words_p)
{
    (void)state;
    (void)words_p;
    switch (code) {
#define NAME(name, value)                                                                          \
    case name:                                                                                     \
        *name_p = #name;                                                                           \
        break;
        LZ_RESULT_MAP(NAME)
#undef NAME
    default:
        break;
    }
}
