/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_COLLECTIVE_PEER_H
#define MEMSPAN_SHMEM_COLLECTIVE_PEER_H

/* How the algorithms of one host use memory: they read memory of other PEs and write only their
 * own, so that they wait in barriers alone. Memory that is not mapped here is read by get, and
 * memory that the host cannot touch is copied by its driver. */

#include "shmem/team.h"
#include "shmem/transport/rma.h"

/* Set (SHMEMX_INDIRECT) when collectives are to work as where memory is not mapped. */
extern bool msp_peer_is_indirect;

/* The routine that the program called, for messages. */
static inline const char *msp_peer_call(const struct msp_team *team)
{
    return (team->call != NULL) ? team->call : "a collective";
}

/* Where PE @p pe of the team has @p symmetric (this PE's address), mapped here; NULL: it is not. */
static inline const void *msp_peer_mapping(const struct msp_team *team, int pe,
                                           const void *symmetric, size_t size_bytes)
{
    unsigned index;

    return (msp_peer_is_indirect ||
            (msp_job_has_device_memory() && !msp_segment_of(symmetric)->host_touches))
               ? NULL
               : msp_peer_resolve(symmetric, size_bytes, msp_team_world_pe(team, pe), &index);
}

/* @p size_bytes of PE @p pe's @p symmetric to this PE's @p to, wherever both are. */
void msp_peer_read(const struct msp_team *team, int pe, const void *symmetric, void *to,
                   size_t size_bytes);

/* Between this PE's own memory, wherever it is. */
void msp_peer_copy(void *to, const void *from, size_t size_bytes);

#endif /* MEMSPAN_SHMEM_COLLECTIVE_PEER_H */
