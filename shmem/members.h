/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_MEMBERS_H
#define MEMSPAN_SHMEM_MEMBERS_H

/* Numbers of PEs in an order that is no run: the table of a team that shmemx_team_split_color()
 * makes, and of a host's PEs where they are none. Teams split from it, and spaces that it makes,
 * are runs of places in the same table, which ends with the last of them. It does not change while
 * it has holders. */

#include "core/base/platform.h"
#include <stdatomic.h>

struct msp_members {
    atomic_int holder_count;
    int count;
    int pes[]; /* by place: the world's numbers; behind them all places, by rising number of the PE
                */
};

/* With one holder, which fills in pes[] and calls msp_members_sort(). NULL: no memory. */
struct msp_members *msp_members_make(int count);
void msp_members_sort(struct msp_members *members);

/* NULL: a run of the world's PEs, which needs no table. */
void msp_members_hold(struct msp_members *members);
void msp_members_release(struct msp_members *members);

/* The world's number of a place. */
static inline int msp_members_pe(const struct msp_members *members, int place)
{
    return MSP_LIKELY(members == NULL) ? place : members->pes[place];
}

/* Which of the places start, start + stride, ..., @p size of them, a PE of the world has; -1: none.
 */
int msp_members_number(const struct msp_members *members, int start, int stride, int size,
                       int world_pe);

#endif /* MEMSPAN_SHMEM_MEMBERS_H */
