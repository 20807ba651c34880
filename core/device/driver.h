/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_DEVICE_DRIVER_H
#define MEMSPAN_CORE_DEVICE_DRIVER_H

#include "core/base/calls.h"
#include "core/device/device.h"
#include <memspan/backend.h>

/* The core's way to a driver: a table whose functions call the backend's until exit has begun. From
 * then on memory that is given back goes with the process, and anything else fails with
 * MEMSPAN_ERR_OFF.
 */

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

/* ---- opening ---- */

/* A larger number of devices of one backend is refused. */
enum { MSP_OPENING_DEVICES_MAX = 1024 };

/* Call open() of @p driver and then device_count(), for MEMSPAN_DRIVER_TIMEOUT seconds at most
 * where the backend allows it (MEMSPAN_BACKEND_OPENS_APART) or is a plug-in, whose
 * device_describe() is tried too. The thread's error record is that of open(). */
memspan_status_t msp_opening_run(struct msp_driver *driver, bool is_plugin, int *count_p);

/* A plug-in's table, which may be NULL, within the same time. */
memspan_status_t msp_opening_ask(memspan_backend_entry_t entry, const char *name,
                                 const memspan_backend_t **table_p);

/* Whether this thread is inside a driver's open() just now. */
bool msp_opening_is_here(void);

#endif /* MEMSPAN_CORE_DEVICE_DRIVER_H */
