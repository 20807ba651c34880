/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_COLLECTIVE_HOSTS_H
#define MEMSPAN_SHMEM_COLLECTIVE_HOSTS_H

/* Collectives of teams on several hosts: shared memory inside a group, messages between groups
 * (exchange.h). table.h chooses the algorithm.
 *
 * OpenSHMEM requires programs to have dest ready in all PEs before any of them calls: data that is
 * not small goes there at once. */

#include "shmem/collective/combine.h"
#include "shmem/collective/exchange.h"

enum { MSP_HOSTS_VOTE_BYTES = 2 << 10 };

/* As those of collective.h. */
int msp_hosts_broadcast(struct msp_team *team, void *dest, const void *source, size_t size_bytes,
                        int root);
int msp_hosts_fcollect(struct msp_team *team, void *dest, const void *source, size_t size_bytes);
int msp_hosts_collect(struct msp_team *team, void *dest, const void *source, size_t size_bytes);
int msp_hosts_alltoall(struct msp_team *team, void *dest, const void *source, size_t size_bytes);
int msp_hosts_alltoalls(struct msp_team *team, void *dest, const void *source,
                        ptrdiff_t dest_stride, ptrdiff_t source_stride, size_t element_bytes,
                        size_t count);
int msp_hosts_reduce(struct msp_team *team, msp_combine_t combine, void *dest, const void *source,
                     size_t element_bytes, size_t count);
int msp_hosts_scan(struct msp_team *team, msp_combine_t combine, bool inclusive, void *dest,
                   const void *source, size_t element_bytes, size_t count);

/* Of any team: @p values of all members are reduced, in this PE's memory; at most
 * MSP_HOSTS_VOTE_BYTES. */
void msp_hosts_vote(struct msp_team *team, enum msp_reduction operation, enum msp_number type,
                    void *values, size_t count);

#endif /* MEMSPAN_SHMEM_COLLECTIVE_HOSTS_H */
