/* SPDX-License-Identifier: BSD-3-Clause */
/* capability.c: a device's capabilities and modes, each with its source; names of kinds. */

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

/* ---- names ---- */

static const char *const kind_names[MEMSPAN_KIND_COUNT] = {"none",    "host",     "host-pinned",
                                                           "managed", "coherent", "device"};
static const char *const access_names[] = {"none", "copy", "register", "fault", "remote", "local"};
static const char *const coherence_names[] = {"none", "sync", "concurrent", "atomic"};

/* Out-of-range enumerators come from callers' casts; "none" is the honest answer. */
static const char *pick(const char *const *names, size_t count, unsigned i)
{
    return names[(i < count) ? i : 0];
}

const char *memspan_kind_name(memspan_kind_t kind)
{
    return pick(kind_names, MEMSPAN_KIND_COUNT, (unsigned)kind);
}

const char *memspan_access_name(memspan_access_t access)
{
    return pick(access_names, sizeof(access_names) / sizeof(access_names[0]), (unsigned)access);
}

const char *memspan_coherence_name(memspan_coherence_t coherence)
{
    return pick(coherence_names, sizeof(coherence_names) / sizeof(coherence_names[0]),
                (unsigned)coherence);
}
