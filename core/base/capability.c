/* SPDX-License-Identifier: BSD-3-Clause */
/* capability.c: a device's capabilities and modes, each with its source. */

#include "core/base/capability.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

_Static_assert(MEMSPAN_CAN_UNIFIED_PHYSICAL < (1u << MEMSPAN_CAPABILITY_ROOM),
               "each capability has a note");

void msp_capability_set(memspan_device_info_t *info, unsigned bit, bool can, const char *format,
                        ...)
{
    char *note = info->capability_note[__builtin_ctz(bit)];
    va_list args;

    info->capabilities = can ? (info->capabilities | bit) : (info->capabilities & ~bit);
    va_start(args, format);
    vsnprintf(note, sizeof(info->capability_note[0]), format, args);
    va_end(args);
}

void msp_mode_set(memspan_device_info_t *info, const char *name, int on, const char *source,
                  const char *remedy)
{
    size_t i;

    for (i = 0; (i < MEMSPAN_MODE_ROOM) && (info->modes[i].name[0] != '\0') &&
                (strcmp(info->modes[i].name, name) != 0);
         i++) {
    }
    if (i == MEMSPAN_MODE_ROOM) {
        return;
    }
    info->modes[i].on = on;
    snprintf(info->modes[i].name, sizeof(info->modes[i].name), "%s", name);
    snprintf(info->modes[i].source, sizeof(info->modes[i].source), "%s", source);
    snprintf(info->modes[i].remedy, sizeof(info->modes[i].remedy), "%s", remedy);
}
