/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_COLLECTIVE_PUSH_H
#define MEMSPAN_SHMEM_COLLECTIVE_PUSH_H

/* Collectives of teams on several hosts: each PE puts its part into dest of the others, and counts
 * the messages that arrive for itself. OpenSHMEM asks programs to have dest ready in all PEs before
 * any of them calls, so that no barrier comes first. */

#include "shmem/team.h"

/* As those of collective.h. */
int msp_push_broadcast(struct msp_team *team, void *dest, const void *source, size_t size_bytes,
                       int root);
int msp_push_fcollect(struct msp_team *team, void *dest, const void *source, size_t size_bytes);
int msp_push_collect(struct msp_team *team, void *dest, const void *source, size_t size_bytes);
int msp_push_alltoall(struct msp_team *team, void *dest, const void *source, size_t size_bytes);
int msp_push_alltoalls(struct msp_team *team, void *dest, const void *source, ptrdiff_t dest_stride,
                       ptrdiff_t source_stride, size_t element_bytes, size_t count);

/* @p size_bytes of every member, one after the other, in this PE's work area; this PE may write
 * there until its next collective call. NULL, without a call, where they do not fit. */
void *msp_push_gather(struct msp_team *team, const void *source, size_t size_bytes);

/* Each member distributes its own [@p part, + @p size_bytes) of a symmetric vector; then this PE
 * has all of it. */
void msp_push_parts(struct msp_team *team, void *part, size_t size_bytes);

#endif /* MEMSPAN_SHMEM_COLLECTIVE_PUSH_H */
