/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_TRANSPORT_CHOICE_H
#define MEMSPAN_SHMEM_TRANSPORT_CHOICE_H

/* The choice of a transport for each PE: smp for those of this host, a network driver for those of
 * other hosts. MEMSPAN_SHMEM_TRANSPORT gives the order of preference; the first driver that loads
 * and opens is taken for all other hosts. PEs of all hosts must take the same one: the network
 * transport compares names at first contact. NAME:N, for tests, names one driver, and takes every N
 * PEs of a machine for a host. */

#include "shmem/error.h"
#include "shmem/network/driver.h"
#include <shmemx.h>

/* Read the variable. A malformed value, or a name that is none, leaves an error record. */
memspan_status_t msp_transport_choice_read(void);

/* Which PEs of one machine count as a host. */
struct msp_network_division {
    int pes;    /* runs of so many; 0: all that share memory */
    int others; /* NAME:N+M: in every second run, so many; 0: as many */
    int hosts;  /* NAME:/H: PEs are dealt to so many hosts, forth and back; 0: runs */
};
/* After a read. */
struct msp_network_division msp_transport_choice_division(void);

/* Load and open the first driver of the order that works. The error record of a failure has the
 * reason of each. */
memspan_status_t msp_transport_choice_open(const struct msp_network_services *services,
                                           const struct msp_network_job *job,
                                           struct msp_network_limits *limits_p,
                                           const struct msp_network_driver **driver_p);

/* shmemx_transport_plan(). */
memspan_status_t msp_transport_preview(int index, shmemx_transport_info_t *info_p);

/* SHMEM_INFO: the transport of each PE, and the reason against a better one; to standard output. */
void msp_transport_choice_print(void);

#endif /* MEMSPAN_SHMEM_TRANSPORT_CHOICE_H */
