/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_COLLECTIVE_PEER_H
#define MEMSPAN_SHMEM_COLLECTIVE_PEER_H

/* What the algorithms do with memory: they read what is another PE's and write only what is their
 * own, so that all that is ever waited for is a meeting. Memory that is not mapped here goes
 * through put and get, and memory that the host cannot touch is copied by its driver. */

#include "shmem/rma.h"
#include "shmem/team.h"

/* Set (SHMEMX_INDIRECT) when nothing is to be read but by get: as where memory is not mapped. */
extern bool memspan_peer_is_indirect;

/* The routine that the program called, for messages. */
static inline const char *memspan_peer_call(const struct memspan_team *team)
{
    return (team->call != NULL) ? team->call : "a collective";
}

/* Where PE @p pe of the team has @p symmetric (this PE's address), mapped here; NULL: it is not. */
static inline const void *memspan_peer_view(const struct memspan_team *team, int pe,
                                            const void *symmetric, size_t size_bytes)
{
    unsigned index;

    return (memspan_peer_is_indirect ||
            (memspan_job.has_device_memory && !memspan_segment_of(symmetric)->host_touches))
               ? NULL
               : memspan_segment_peer(symmetric, size_bytes, memspan_team_world_pe(team, pe),
                                      &index);
}

/* @p size_bytes of PE @p pe's @p symmetric to this PE's @p to, wherever both are. */
void memspan_peer_read(const struct memspan_team *team, int pe, const void *symmetric, void *to,
                       size_t size_bytes);

/* Between this PE's own memory, wherever it is. */
void memspan_peer_copy(void *to, const void *from, size_t size_bytes);

#endif /* MEMSPAN_SHMEM_COLLECTIVE_PEER_H */
