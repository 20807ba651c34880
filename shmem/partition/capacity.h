/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_PARTITION_CAPACITY_H
#define MEMSPAN_SHMEM_PARTITION_CAPACITY_H

/* Whether the host has the memory that a partition's PEs would use together. The kernel would not
 * refuse: pages that are not there when they are touched, or locked, end a process. */

#include "shmem/partition/placement.h"

/* The partition as placed, for @p pe_count PEs of this host. An error record where pages that are
 * locked are more than are free, or pages that are insisted on more than there are. */
memspan_status_t msp_partition_capacity_check(const struct msp_partition_request *request,
                                              int pe_count,
                                              const struct msp_partition_placement *placement);

/* The host's ordinary pages that one PE touches when it uses all of the partition, in bytes; 0 for
 * a driver's block and for reserved huge pages. */
uint64_t msp_partition_capacity_use(const struct msp_partition_request *request,
                                    const struct msp_partition_placement *placement);

/* True where @p pe_count times @p bytes are more than this machine, or the control group, has. */
bool msp_partition_capacity_is_exceeded(uint64_t bytes, int pe_count, uint64_t *capacity_p,
                                        const char **source_p);

#endif /* MEMSPAN_SHMEM_PARTITION_CAPACITY_H */
