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
    MEMSPAN_SYNC_INLINE_BYTES = 56,
    MEMSPAN_SYNC_WORK_BYTES   = MEMSPAN_TEAM_WORK_BYTES / 2,
};

/* All members have come; what they stored before is seen. */
void memspan_collective_sync(struct memspan_team *team);

/* How this team meets, and the number of its last meeting: as if it had met so often before. The
 * numbers of a team's flags only ever rise, also from one team to the next of its index: a member
 * of the last one may still be looking at them. */
void memspan_sync_begin(struct memspan_team *team, uint64_t number);

/* Meet, and hand @p size_bytes (at most MEMSPAN_SYNC_WORK_BYTES; 0 from those who have none) to the
 * others, who read them at memspan_sync_published(), until the second next meeting of that kind.
 * Not for active sets. */
void memspan_sync_publish(struct memspan_team *team, const void *data, size_t size_bytes);
const void *memspan_sync_published(const struct memspan_team *team, int pe);

/* Where this PE may write what memspan_sync_publish(team, NULL, ...) then hands out: saves a copy.
 */
void *memspan_sync_room(struct memspan_team *team);

/* Meet and hand over a few bytes in one hop: only for a team of few; false, without having met, for
 * others. Read until the second next meeting. */
bool memspan_sync_exchange(struct memspan_team *team, const void *data, size_t size_bytes);
const void *memspan_sync_exchanged(const struct memspan_team *team, int pe);

#endif /* MEMSPAN_SHMEM_COLLECTIVE_SYNC_H */
