/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_COLLECTIVE_SYNC_H
#define MEMSPAN_SHMEM_COLLECTIVE_SYNC_H

/* Meeting, and small data on the way.
 *
 * Three ways to meet, chosen by the team's size and by whether PEs share processors; all members
 * choose the same. Few PEs: each writes the number of the meeting to a line of its own, and looks
 * at everybody's; the line has room for a few bytes of data, so that these travel in one hop. Many
 * PEs with processors of their own: dissemination, in log2 rounds. More than two on too few
 * processors: a counter, and whoever comes last wakes the others, who sleep through it all.
 *
 * Lines and work areas are used in turn, two of each: nobody can be two meetings ahead. */

#include "shmem/team.h"

enum {
    MSP_SYNC_INLINE_BYTES = 56,
    MSP_SYNC_WORK_BYTES   = MSP_TEAM_WORK_BYTES / 2,
};

/* All members have come; what they stored before is seen. */
void msp_collective_sync(struct msp_team *team);

/* How this team meets, and the number of its last meeting: as if it had met so often before. The
 * numbers of a team's flags only ever rise, also from one team to the next of its index: a member
 * of the last one may still be looking at them. */
void msp_sync_begin(struct msp_team *team, uint64_t number);

/* Meet, and hand @p size_bytes (at most MSP_SYNC_WORK_BYTES; 0 from those who have none) to the
 * others, who read them at msp_sync_published(), until the second next meeting of that kind.
 * Not for active sets. */
void msp_sync_publish(struct msp_team *team, const void *data, size_t size_bytes);
const void *msp_sync_published(const struct msp_team *team, int pe);

/* Where this PE may write what msp_sync_publish(team, NULL, ...) then hands out: saves a copy.
 */
void *msp_sync_room(struct msp_team *team);

/* Meet and hand over a few bytes in one hop: only for a team of few; false, without having met, for
 * others. Read until the second next meeting. */
bool msp_sync_exchange(struct msp_team *team, const void *data, size_t size_bytes);
const void *msp_sync_exchanged(const struct msp_team *team, int pe);

#endif /* MEMSPAN_SHMEM_COLLECTIVE_SYNC_H */
