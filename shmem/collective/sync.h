/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_COLLECTIVE_SYNC_H
#define MEMSPAN_SHMEM_COLLECTIVE_SYNC_H

/* Barriers of a team, and small data that they carry.
 *
 * The algorithm is chosen by the team's size and by whether processors are oversubscribed; all
 * members choose the same (enum msp_barrier, team.h):
 *
 *     flat      few PEs: each writes the number of the barrier to a line of its own and polls all
 *               others'; the line has space for a few bytes of data, which travel in one hop
 *     rounds    many PEs with processors of their own: dissemination, in log2 rounds
 *     counter   more than two PEs on too few processors: the last to arrive wakes the others
 *     messages  PEs on several hosts: inside each host, and between hosts by exchange.h
 *
 * Lines and work areas are double-buffered: no PE can be two barriers ahead of another. */

#include "shmem/team.h"

enum {
    MSP_SYNC_INLINE_BYTES = 56,
    MSP_SYNC_WORK_BYTES   = MSP_TEAM_WORK_BYTES / 2,
};

/* A barrier; members' stores before it are seen after it. */
void msp_collective_sync(struct msp_team *team);

/* The algorithm for this team, and the number of its last barrier. The numbers of a team's flags
 * only rise, also from one team to the next of its index: a member of the last one may still be
 * polling them. */
void msp_sync_begin(struct msp_team *team, uint64_t number);
/* After the last barrier of a team: its flags are as a new team of that index expects them. */
void msp_sync_end(struct msp_team *team);

/* A barrier that distributes @p size_bytes (at most MSP_SYNC_WORK_BYTES; 0 from those that have
 * none) of each member. msp_sync_read() finds them until the next call that uses the work area.
 * Not for active sets. */
void msp_sync_distribute(struct msp_team *team, const void *data, size_t size_bytes);
/* The data that PE @p pe distributes: where it is mapped here, or copied to @p buffer. */
const void *msp_sync_read(const struct msp_team *team, int pe, void *buffer, size_t size_bytes);
/* The same of a PE of this host: mapped always. */
const void *msp_sync_distributed(const struct msp_team *team, int pe);

/* The buffer that msp_sync_distribute(team, NULL, ...) then distributes: writing there saves a
 * copy.
 */
void *msp_sync_work(struct msp_team *team);

/* A barrier with a vote: the largest value that a member gives. */
uint64_t msp_sync_max(struct msp_team *team, uint64_t mine);

/* A barrier that carries a few bytes in one hop: only for a team of few; false, without a barrier,
 * for others. Valid until the second next barrier. */
bool msp_sync_exchange(struct msp_team *team, const void *data, size_t size_bytes);
const void *msp_sync_exchanged(const struct msp_team *team, int pe);

/* The two halves of a barrier of one host. Of PE 0, the first returns when all have called; of the
 * others, the second when PE 0 has called that. */
void msp_sync_gather(struct msp_team *team);
void msp_sync_release(struct msp_team *team);

#endif /* MEMSPAN_SHMEM_COLLECTIVE_SYNC_H */
