/* SPDX-License-Identifier: BSD-3-Clause */
/* broken.c: a loader in which a required symbol is missing. */

#include <stdint.h>

uint32_t zeInit(uint32_t flags);

__attribute__((visibility("default"))) uint32_t zeInit(uint32_t flags)
{
    return flags & 0;
}
