/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_OPENING_H
#define MEMSPAN_CORE_OPENING_H

#include <memspan/backend.h>
#include <stdbool.h>

/* Call @p table->open(), for MEMSPAN_DRIVER_TIMEOUT seconds at most where the backend allows it
 * (MEMSPAN_BACKEND_OPENS_APART). The thread's error record is what open() left there. */
memspan_status_t memspan_opening_run(const memspan_backend_t *table, void **state_p);

/* Whether this thread is inside a driver's open() just now. */
bool memspan_opening_is_here(void);

#endif /* MEMSPAN_CORE_OPENING_H */
