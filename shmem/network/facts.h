/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_NETWORK_FACTS_H
#define MEMSPAN_SHMEM_NETWORK_FACTS_H

/* What this PE has used of the network so far. Any thread. */

#include <shmemx.h>

/* Leaves zeros where the job has one host. */
void msp_network_measure(shmemx_network_info_t *info);

#endif /* MEMSPAN_SHMEM_NETWORK_FACTS_H */
