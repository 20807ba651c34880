/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_TRANSFER_H
#define MEMSPAN_CORE_TRANSFER_H

/* Transfers inside the core. */

#include "core/device/device.h"

/* Fill memory of @p device, and wait. Errors are recorded. */
memspan_status_t msp_fill_by(const struct msp_device *device, void *to, unsigned char byte,
                             size_t size_bytes);

#endif /* MEMSPAN_CORE_TRANSFER_H */
