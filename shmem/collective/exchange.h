/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_COLLECTIVE_EXCHANGE_H
#define MEMSPAN_SHMEM_COLLECTIVE_EXCHANGE_H

#include "shmem/collective/group.h"
#include "shmem/team.h"
#include <stdatomic.h>

/* ---- messages ---- */

/* One-sided messages between members of a team, on one host or several: bytes for symmetric memory
 * or for the slot of the target, then a flag in that slot. Mapped memory is stored to; everything
 * else goes through the transport, in the library's own context.
 *
 * Places in slots are named by this PE's address of the same place in its own slot. */

/* @p size_bytes (0: none) to @p dest, which is symmetric memory or in the slot; then the flag
 * becomes @p value, or with @p adds is increased by it. The source may be reused. */
void msp_message_send(const struct msp_team *team, int pe, void *dest, const void *source,
                      size_t size_bytes, _Atomic uint64_t *flag, uint64_t value, bool adds);

/* @p size_bytes at @p place of its slot. */
void msp_message_read(const struct msp_team *team, int pe, const void *place, void *to,
                      size_t size_bytes);

/* ---- exchanges ---- */

/* Exchanges between the groups of a team (group.h): flags, counters and an inbox in each member's
 * slot, to which members of other groups send (above).
 *
 * A team's exchanges are numbered. In each one every member gives something on which all others
 * depend: when a PE has completed exchange n, all have begun it, and so completed n - 1. Flags and
 * inboxes are used in turn, MSP_EXCHANGE_TURNS of them, so that a PE may send for an exchange which
 * the receiver has not begun, and for the next one before this one is complete.
 *
 * Broadcasts are no exchanges: their root does not wait for the others. They have counters of their
 * own, with an exchange each time that all have been used.
 *
 * The leader of a group is its first member. */

enum {
    MSP_EXCHANGE_TURNS     = 4,
    MSP_EXCHANGE_IN_BYTES  = 64 << 10, /* data from other groups */
    MSP_EXCHANGE_OUT_BYTES = 32 << 10, /* data that this PE sends, or distributes to its group */
    MSP_EXCHANGE_ROUNDS    = 20,       /* log2 of the most groups that a team may have */
    MSP_EXCHANGE_BEFORE = MSP_EXCHANGE_ROUNDS, /* two more, for numbers that are no power of two */
    MSP_EXCHANGE_AFTER,
    MSP_EXCHANGE_ALL_ROUNDS,
    MSP_EXCHANGE_GROUP_MAX = 1 << MSP_EXCHANGE_ROUNDS,
};

static inline int msp_exchange_leader(const struct msp_team *team, int group)
{
    return msp_group_at(team, group).first;
}
static inline bool msp_exchange_leads(const struct msp_team *team)
{
    return team->groups->local.pe == 0;
}

/* The next exchange begins. */
void msp_exchange_begin(struct msp_team *team);

/* Of a leader, returns when all members of its group have called, and sees their earlier stores.
 * msp_exchange_leave() of the others returns after the leader's. */
void msp_exchange_arrive(struct msp_team *team);
void msp_exchange_leave(struct msp_team *team);

/* A barrier of this PE's group. */
void msp_exchange_sync_group(struct msp_team *team);

/* This PE's, of the present exchange; @p ahead: of the next one. */
char *msp_exchange_in(const struct msp_team *team, int ahead);
char *msp_exchange_out(const struct msp_team *team);
/* A place of this PE's slot in that of a member of its group. */
const void *msp_exchange_place(const struct msp_team *team, int member, const void *place);

/* ---- in rounds: each sends to one other PE and waits for one ---- */

/* To PE @p pe of the team, which finds it with msp_exchange_receive() of that round. It takes
 * @p size_bytes at @p at of the inbox, unless they are few. */
void msp_exchange_send(const struct msp_team *team, int round, int pe, const void *data,
                       size_t size_bytes, size_t at);
void *msp_exchange_receive(const struct msp_team *team, int round, size_t size_bytes, size_t at);

/* Of leaders: dissemination, every group waits for all others. *most_p, of all leaders: the largest
 * one. */
void msp_exchange_rounds(const struct msp_team *team, uint64_t *most_p);

/* Of leaders: each group's block, @p block_bytes, to all: this PE's stands first in its inbox, then
 * follow those of the groups after its own. They fit. */
void msp_exchange_gather(const struct msp_team *team, size_t block_bytes);

/* ---- of any members, in phases: arrivals are counted ---- */

/* @p source to @p dest (symmetric, or in the slot) of a PE of the team; its count of that phase
 * rises by one. */
void msp_exchange_put(const struct msp_team *team, int pe, void *dest, const void *source,
                      size_t size_bytes, int ahead, int phase);
/* Until so many have come. */
void msp_exchange_await(const struct msp_team *team, int phase, uint64_t count);

/* ---- broadcasts ---- */

/* The counter of the next one; an exchange when all have been used. */
int msp_exchange_next_broadcast(struct msp_team *team);
void msp_exchange_cast(const struct msp_team *team, int pe, void *dest, const void *source,
                       size_t size_bytes, int counter, int phase);
void msp_exchange_await_cast(const struct msp_team *team, int counter, int phase, uint64_t count);

/* ---- barriers ---- */

/* A barrier of the team. *most_p is this PE's value, then the largest of all; NULL: no vote. */
void msp_exchange_barrier(struct msp_team *team, uint64_t *most_p);

#endif /* MEMSPAN_SHMEM_COLLECTIVE_EXCHANGE_H */
