/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_TEAM_H
#define MEMSPAN_SHMEM_TEAM_H

/* Teams: a run of the world's PEs with a stride (a split of such a run is one again), so that
 * translating a number is arithmetic. Members that are no run, which shmemx_team_split_color() may
 * make, have a table (members.h), and the team is a run of its places.
 *
 * A handle is a number, index | generation << 12; index 1 is the world, 2 the PEs of this host.
 * Index 0 is the library's own team of all PEs, for start and end, which no handle names.
 *
 * A team's index is the same in all its members: it is the number of its flags in each PE's slot of
 * the control memory (areas SYNC and WORK). Each PE has a set of bits for the free indices; the
 * members of the parent take the first that all of them have free.
 *
 * Threads: any, but two threads may not be in collective calls on one team at once. */

#include "shmem/control/memory.h"
#include "shmem/job.h"
#include "shmem/members.h"
#include <shmem/types.h>

enum {
    MSP_TEAM_INDEX_MASK = 0xfff,
    MSP_TEAM_SHIFT      = 12,
    MSP_TEAM_JOB        = 0,
    MSP_TEAM_WORLD      = 1,
    MSP_TEAM_SHARED     = 2,
};

/* The algorithm of a team's barriers (collective/sync.h). */
enum msp_barrier {
    MSP_BARRIER_FLAT,
    MSP_BARRIER_ROUNDS,
    MSP_BARRIER_COUNTER,
    MSP_BARRIER_MESSAGES,
    MSP_BARRIER_ACTIVE_SET,
};

struct msp_groups;

struct msp_team {
    int index;
    int start; /* its PE i is PE start + i * stride of the world, or has that place of members */
    int stride;
    int size;
    int pe; /* this PE's number in it; -1: not a member */
    unsigned generation;
    bool is_live;
    bool is_active_set; /* of one call: broadcast leaves the root's dest as it is */
    int context_count;  /* num_contexts of its configuration */
    enum msp_barrier barrier;
    struct msp_members *members; /* NULL: it is a run of the world's PEs */
    uint64_t sync_count;         /* barriers so far: the next one's flags */
    uint64_t work_count;         /* uses of the area WORK: the next one's half */
    uint64_t message_count;      /* broadcasts by messages: the next one's counter */
    struct msp_groups *groups; /* its members by host (collective/group.h); NULL: all on this one */
    long *active_set_sync;     /* its pSync, for its barriers; NULL: it has flags as teams have */
    const char *call;          /* the collective that is under way, or was last, for messages */
};

extern struct msp_team msp_teams[MSP_TEAM_MAX] MSP_HIDDEN;

/* The team of a handle; NULL when it is none (any more). */
struct msp_team *msp_team_of(const void *handle);
void *msp_team_handle(const struct msp_team *team);

static inline struct msp_team *msp_team_world(void)
{
    return &msp_teams[MSP_TEAM_WORLD];
}

/* All PEs of the job, as soon as control memory and the transport are open. */
static inline struct msp_team *msp_team_job(void)
{
    return &msp_teams[MSP_TEAM_JOB];
}

static inline int msp_team_world_pe(const struct msp_team *team, int pe)
{
    return msp_members_pe(team->members, team->start + (pe * team->stride));
}

/* The local index of the team's PE, which must be of this host. */
static inline int msp_team_local_index(const struct msp_team *team, int pe)
{
    int world = msp_team_world_pe(team, pe);

    return MSP_LIKELY(msp_job.direct_count != 0) ? (world - msp_job.first_local)
                                                 : msp_job_local_index(world);
}

/* The first member of this host, of which there is one; and how many there are. */
int msp_team_first_local(const struct msp_team *team);
int msp_team_local_count(const struct msp_team *team);

/* All members are PEs of this host. */
static inline bool msp_team_is_local(const struct msp_team *team)
{
    return MSP_LIKELY(msp_job.local_count == msp_job.pe_count) ||
           (msp_team_local_count(team) == team->size);
}

/* The number of a PE of the world; -1: it is not in the team. */
static inline int msp_team_number(const struct msp_team *team, int world_pe)
{
    return msp_members_number(team->members, team->start, team->stride, team->size, world_pe);
}

/* The number in @p to of PE @p pe of @p from; -1: it is not in both. */
int msp_team_translate(const struct msp_team *from, int pe, const struct msp_team *to);

/* shmem_team_split_strided() and _2d(): collective over the parent, whose PEs fail together. 0 and
 * the new team (NULL in PEs that are no members), or nonzero with an error record. */
int msp_team_split_strided(struct msp_team *parent, int start, int stride, int size,
                           const shmem_team_config_t *config, long config_mask,
                           struct msp_team **team_p);
int msp_team_split_2d(struct msp_team *parent, int x_range, const shmem_team_config_t *x_config,
                      long x_mask, struct msp_team **x_team_p, const shmem_team_config_t *y_config,
                      long y_mask, struct msp_team **y_team_p);

/* shmemx_team_split_color(), likewise. A color below 0: this PE is no member of a new team. */
int msp_team_split_color(struct msp_team *parent, int color, int key,
                         const shmem_team_config_t *config, long config_mask,
                         struct msp_team **team_p);

/* Collective. The predefined teams are refused. Ends the team's contexts that are not private. */
void msp_team_destroy(struct msp_team *team);

void msp_team_open_job(void);
void msp_team_open(void); /* the world and the PEs of this host */
void msp_team_close(void);

#endif /* MEMSPAN_SHMEM_TEAM_H */
