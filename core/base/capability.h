/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_BASE_CAPABILITY_H
#define MEMSPAN_CORE_BASE_CAPABILITY_H

/* A device's capabilities with their sources: one call writes both, so that neither is there
 * without the other. */

#include <memspan/device.h>
#include <stdbool.h>

/* Set or clear @p bit (one of enum memspan_capability) with the reason. */
void msp_capability_set(memspan_device_info_t *info, unsigned bit, bool can, const char *format,
                        ...) __attribute__((format(printf, 4, 5)));

/* A mode; the first of that name is written over. More than there is space for are left out. */
void msp_mode_set(memspan_device_info_t *info, const char *name, int on, const char *source,
                  const char *remedy);

#endif /* MEMSPAN_CORE_BASE_CAPABILITY_H */
