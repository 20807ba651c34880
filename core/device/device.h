/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_DEVICE_DEVICE_H
#define MEMSPAN_CORE_DEVICE_DEVICE_H

#include "core/device/backend.h"
#include <memspan/import.h>

/* Devices by number. The host's entry exists without any other backend being opened; the rest of
 * the table is made by the first call that names a device, and never changes afterwards. */

struct msp_device {
    const memspan_backend_t *table;
    void *state;
    int number;                 /* MEMSPAN_HOST, or the OpenMP device number */
    int ordinal;                /* in its backend */
    memspan_device_info_t info; /* as found; free_bytes is read again when it matters */
};

/* The host, whose info is not filled unless msp_device_find() was called for it: allocating needs
 * none of it. NULL only when there is no host memory at all (the thread's error has the reason). */
const struct msp_device *msp_device_of_host(void);

/* The device with that number; MEMSPAN_HOST and memspan_host_device() are the host. NULL with
 * MEMSPAN_ERR_NOT_FOUND or MEMSPAN_ERR_CONFIG recorded. */
const struct msp_device *msp_device_find(int number);

/* The numbered device of a backend's ordinal (MEMSPAN_HOST: the host); NULL if it has no number. */
const struct msp_device *msp_device_of_ordinal(const memspan_backend_t *table, int ordinal);

/* How @p from reaches memory of @p kind whose home is @p home: by the driver's word within one
 * backend, by importing and pageable access between two. */
memspan_reach_t msp_device_reach_of(const struct msp_device *home, memspan_kind_t kind,
                                    const struct msp_device *from);

/* "host", "opencl0" (backend and ordinal): the names in messages and of resources. */
const char *msp_device_label(const struct msp_device *device, char *buffer, size_t size);

/* ---- imports ---- */

/* Foreign pages that drivers have imported (<memspan/import.h>). */

/* Import pages into the driver of one device. If a driver sees them at another address, they are
 * released again, MEMSPAN_ERR_UNREACHABLE. */
memspan_status_t msp_import_into(const struct msp_device *device, void *address, size_t size_bytes,
                                 void **cookie_p);

/* True when the bytes lie in pages that were imported into the device's driver. */
bool msp_import_covers(const void *pointer, size_t size_bytes, const struct msp_device *device);

#endif /* MEMSPAN_CORE_DEVICE_DEVICE_H */
