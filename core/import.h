/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_IMPORT_H
#define MEMSPAN_CORE_IMPORT_H

/* Foreign pages that drivers have imported (<memspan/import.h>). */

#include "core/device.h"
#include <memspan/import.h>

/* Import pages into the driver of one device. A driver that sees them at another address is not
 * believed: they are released again, MEMSPAN_ERR_UNREACHABLE. */
memspan_status_t memspan_import_into(const struct memspan_device *device, void *address,
                                     size_t size_bytes, void **cookie_p);

/* True when the bytes lie in pages that were imported into the device's driver. */
bool memspan_import_covers(const void *pointer, size_t size_bytes,
                           const struct memspan_device *device);

void memspan_import_before_fork(void);
void memspan_import_after_fork(void);

#endif /* MEMSPAN_CORE_IMPORT_H */
