/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_COLLECTIVE_GROUP_H
#define MEMSPAN_SHMEM_COLLECTIVE_GROUP_H

/* Groups: a team's members by host. Collectives use shared memory inside a group and messages
 * between groups (exchange.h).
 *
 * A group is a run of the team's PEs with a stride, so that it is a team of one host itself.
 * Groups are numbered by their first members. Where hosts have equal numbers of consecutive PEs,
 * as launchers place them, groups are arithmetic and take no memory. Otherwise, and where the team
 * has a table of its members, it has a list, 12 bytes a group. Teams whose members on some host are
 * no run have a group for each PE. */

#include "shmem/team.h"

enum msp_group_shape {
    MSP_GROUP_SINGLE, /* each PE is one */
    MSP_GROUP_BLOCK,  /* hosts have equal numbers of consecutive PEs; the last one may have fewer */
    MSP_GROUP_LISTED,
};

/* PEs first, first + step, ... of the team. */
struct msp_group {
    int first;
    int step;
    int size;
};

struct msp_groups {
    struct msp_team local; /* this PE's group as a team, which uses the team's index and flags */
    int count;
    int own;            /* this PE's group */
    int most;           /* members that a group has at most, */
    int least;          /* and at least */
    bool is_contiguous; /* all PEs of a group are before those of the next one */
    enum msp_group_shape shape;
    struct msp_group *list; /* LISTED */
    int *of_host;           /* LISTED: the group of each of the job's hosts, -1: none */
};

/* How the job's PEs are placed: every PE calls it, once the job team's messages work. */
void msp_groups_find(struct msp_team *job);
/* Until then each PE is a group, and after it. */
void msp_groups_forget(void);

/* team->groups: of a team on several hosts; NULL: all its members are PEs of this host. */
void msp_groups_make(struct msp_team *team);
void msp_groups_free(struct msp_team *team);

struct msp_group msp_group_at(const struct msp_team *team, int group);

/* The group of the team's PE, and which member of it that is. */
int msp_group_of(const struct msp_team *team, int pe, int *member_p);

/* The PE of a member. */
static inline int msp_group_pe(const struct msp_team *team, int group, int member)
{
    struct msp_group found = msp_group_at(team, group);

    return found.first + (member * found.step);
}

#endif /* MEMSPAN_SHMEM_COLLECTIVE_GROUP_H */
