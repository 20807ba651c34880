/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESTS_SHMEM_NETWORK_WRAPPED_H
#define TESTS_SHMEM_NETWORK_WRAPPED_H

/* The driver that a driver of a test changes: it is built with the path of its plug-in (WRAPPED).
 */

#include "shmem/network/driver.h"
#include <dlfcn.h>
#include <stdio.h>

__attribute__((visibility("default"))) const struct msp_network_driver *
memspan_network_driver(const struct msp_network_services *given);

/* NULL: it cannot be opened. */
static inline const struct msp_network_driver *
open_wrapped(const struct msp_network_services *services)
{
    const struct msp_network_driver *(*entry)(const struct msp_network_services *);
    void *handle = dlopen(WRAPPED, RTLD_NOW | RTLD_LOCAL);

    if (handle == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return NULL;
    }
    *(void **)&entry = dlsym(handle, MSP_NETWORK_DRIVER_ENTRY);
    return entry(services);
}

#endif /* TESTS_SHMEM_NETWORK_WRAPPED_H */
