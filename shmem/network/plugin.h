/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_NETWORK_PLUGIN_H
#define MEMSPAN_SHMEM_NETWORK_PLUGIN_H

/* Network drivers as plug-ins. */

#include "shmem/error.h"
#include "shmem/network/driver.h"

/* Whether a plug-in of that name is there; nothing is loaded. */
bool msp_network_driver_exists(const char *name);

/* False: it would find nothing but the kernel's TCP, as this host has no RDMA device and no
 * variable for its library names a network. Nothing is loaded. */
bool msp_network_driver_has_rdma(const char *name);

/* The driver of that name, which is loaded at its first use. An error record names the file and the
 * reason: there is none, it does not load, it is of another version. */
memspan_status_t msp_network_driver_load(const char *name,
                                         const struct msp_network_services *services,
                                         const struct msp_network_driver **driver_p);

/* services.fail: an error record of the driver that was loaded last. */
memspan_status_t msp_network_driver_fail(memspan_status_t status, const char *call,
                                         long native_code, const char *native_text,
                                         const char *hint, const char *format, ...)
    __attribute__((format(printf, 6, 7), cold));

#endif /* MEMSPAN_SHMEM_NETWORK_PLUGIN_H */
