/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_DEVICE_IMPORT_H
#define MEMSPAN_CORE_DEVICE_IMPORT_H

/* Foreign pages that drivers have imported (<memspan/import.h>). */

#include "core/device/device.h"
#include <memspan/import.h>

/* Import pages into the driver of one device. If a driver sees them at another address, they are
 * released again, MEMSPAN_ERR_UNREACHABLE. */
memspan_status_t msp_import_into(const struct msp_device *device, void *address, size_t size_bytes,
                                 void **cookie_p);

/* True when the bytes lie in pages that were imported into the device's driver. */
bool msp_import_covers(const void *pointer, size_t size_bytes, const struct msp_device *device);

#endif /* MEMSPAN_CORE_DEVICE_IMPORT_H */
