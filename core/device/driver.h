/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_DEVICE_DRIVER_H
#define MEMSPAN_CORE_DEVICE_DRIVER_H

/* The core's way to a driver: a table whose functions call the backend's until exit has begun. From
 * then on memory that is given back goes with the process, and anything else fails with
 * MEMSPAN_ERR_OFF.
 */

#include "core/base/calls.h"
#include "core/device/device.h"
#include <memspan/backend.h>

struct msp_driver {
    const memspan_backend_t *own; /* the backend's table */
    void *state;                  /* of open() */
    memspan_backend_t table;      /* the table that the core calls; its state is this record */
    struct msp_calls calls;
    atomic_bool has_given; /* the first alloc() has been served */
};

/* Fills all but state. Members that @p own ends before are NULL in the table. */
void msp_driver_init(struct msp_driver *driver, const memspan_backend_t *own);

/* Whether @p table_state, the state of the core's table, stands for the state that open() gave. */
static inline bool msp_driver_has_state(const void *table_state, const void *state)
{
    const struct msp_driver *driver = table_state;

    return (driver != NULL) && (driver->state == state);
}

/* Around calls of the device's driver that belong together: exit waits for the last, so that work
 * which is started is waited for. Fails as the calls do once exit has begun. */
memspan_status_t msp_driver_hold(const struct msp_device *device);
void msp_driver_release(const struct msp_device *device);

/* Records that exit has begun. */
memspan_status_t msp_driver_refuse(const struct msp_driver *driver);

#endif /* MEMSPAN_CORE_DEVICE_DRIVER_H */
