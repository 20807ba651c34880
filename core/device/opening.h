/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_DEVICE_OPENING_H
#define MEMSPAN_CORE_DEVICE_OPENING_H

#include "core/device/driver.h"

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

#endif /* MEMSPAN_CORE_DEVICE_OPENING_H */
