/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_DEVICE_BACKEND_H
#define MEMSPAN_CORE_DEVICE_BACKEND_H

/* The backends of this process: the built-in list, then plug-ins; each validated, opened at first
 * need, and kept with the reason why it is off. The core reads tables and capability bits and names
 * no backend. */

#include <memspan/backend.h>
#include <stdbool.h>

/* One backend of this process. Never freed; fields after `opened` are fixed once it is set. */
struct msp_backend_slot {
    const memspan_backend_t *table;
    void *state;
    bool on;
    int device_count;
    memspan_status_t status; /* why it is off */
    char origin[128];
    char name[16]; /* also of a table that was refused */
    char reason[256];
    char hint[192];
};

/* Written by cmake/MemspanBackend.cmake; ends with NULL. */
extern const memspan_backend_t *const msp_backends_built_in[];

/* The host's backend, opened. NULL only when it cannot work at all (the thread's error has the
 * reason). Opens nothing else. */
const struct msp_backend_slot *msp_backend_of_host(void);

/* Number of backends; loads plug-ins on first use, opens no driver. */
int msp_backend_slots(void);

/* Backend @p index, opened unless it is off. */
const struct msp_backend_slot *msp_backend_slot(int index);

/* A backend's flags (enum memspan_backend_flag) without opening it; 0 for a table that was refused.
 */
unsigned msp_backend_slot_flags(int index);

/* The same without opening anything: NULL when it was not opened yet. */
const struct msp_backend_slot *msp_backend_slot_if_open(int index);

/* MEMSPAN_OK, or MEMSPAN_ERR_CONFIG when MEMSPAN_BACKENDS was refused (recorded again). */
memspan_status_t msp_backend_list_status(void);

/* The services for every backend. */
extern const memspan_services_t memspan_services;

/* The function that describes an address for a backend (memspan_services_t::tell): the guard's. */
typedef void msp_describe_fn(const void *address);
void msp_backend_set_describe(msp_describe_fn *tell);

#endif /* MEMSPAN_CORE_DEVICE_BACKEND_H */
