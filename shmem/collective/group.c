/* SPDX-License-Identifier: BSD-3-Clause */
/* group.c: the members of a team by host. */

#include "shmem/collective/group.h"
#include "shmem/collective/hosts.h"
#include "shmem/collective/peer.h"
#include "shmem/control/agree.h"
#include <stdlib.h>
#include <string.h>

/* PEs first to the next run's first - 1 are on one host. */
struct run {
    int first;
    int host; /* number, by first PE */
};

/* How the job is placed. */
static struct {
    enum msp_group_shape shape;
    int block; /* BLOCK: PEs of a host */
    int host_count;
    int run_count;
    struct run *runs; /* LISTED: ascending */
} placement;

/* ---- the job ---- */

/* True where each host has PEs block * n to block * n + block - 1, or up to the last one. */
static bool is_block(struct msp_team *job, int block)
{
    int first = msp_job.pe / block * block;
    int left  = msp_job.pe_count - first;

    return msp_agree_all(job, (msp_job.direct_count != 0) && (msp_job.first_local == first) &&
                                  (msp_job.local_count == ((left < block) ? left : block)));
}

static void add_run(int pe, int host)
{
    int last = placement.run_count - 1;

    if ((last < 0) || (placement.runs[last].host != host)) {
        struct run *more =
            realloc(placement.runs, sizeof *more * (size_t)(placement.run_count + 1));

        if (more == NULL) {
            msp_fatal("shmem_init: no memory for the placement of %d PEs", msp_job.pe_count);
        }
        placement.runs                        = more;
        placement.runs[placement.run_count++] = (struct run){pe, host};
    }
}

/* @p leaders: the first PE of the host of each PE from @p first on. A host's number is that of the
 * run in which its first PE is. */
static void add_runs(const uint32_t *leaders, int first, int count)
{
    int i;

    for (i = 0; i < count; i++) {
        int leader = (int)leaders[i];
        int host   = placement.host_count;
        int at;

        if (leader == first + i) {
            placement.host_count++;
        } else {
            for (at = placement.run_count - 1; placement.runs[at].first > leader; at--) {
            }
            host = placement.runs[at].host;
        }
        add_run(first + i, host);
    }
}

/* Every PE puts the first PE of its host into a vector, a window of it at a time. */
static void list_runs(struct msp_team *job)
{
    uint32_t window[MSP_HOSTS_VOTE_BYTES / sizeof(uint32_t)];
    const int most = (int)(sizeof window / sizeof window[0]);
    int first;

    for (first = 0; first < msp_job.pe_count; first += most) {
        int left = msp_job.pe_count - first;
        int now  = (left < most) ? left : most;

        memset(window, 0, sizeof window);
        if ((msp_job.pe >= first) && (msp_job.pe < first + now)) {
            window[msp_job.pe - first] = (uint32_t)msp_job.local_pes[0];
        }
        msp_hosts_vote(job, MSP_REDUCE_OR, MSP_NUMBER_U32, window, (size_t)now);
        add_runs(window, first, now);
    }
}

void msp_groups_find(struct msp_team *job)
{
    int block = (int)msp_agree_max(job, (uint64_t)msp_job.local_count);

    if (is_block(job, block)) {
        placement.block      = block;
        placement.host_count = (msp_job.pe_count + block - 1) / block;
        placement.shape      = MSP_GROUP_BLOCK;
    } else {
        list_runs(job);
        placement.shape = MSP_GROUP_LISTED;
    }
}

void msp_groups_forget(void)
{
    free(placement.runs);
    memset(&placement, 0, sizeof placement);
}

static int host_of(int world_pe)
{
    int low  = 0;
    int high = placement.run_count - 1;

    if (placement.shape == MSP_GROUP_BLOCK) {
        return world_pe / placement.block;
    }
    while (low < high) {
        int middle = low + ((high - low + 1) / 2);

        if (placement.runs[middle].first <= world_pe) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return placement.runs[low].host;
}

/* ---- blocks ---- */

static int distance(int a, int b)
{
    return (a < b) ? (b - a) : (a - b);
}

static int block_of(const struct msp_team *team, int pe)
{
    return distance(msp_team_world_pe(team, pe) / placement.block, team->start / placement.block);
}

/* The first PE of a group: numbers rise or fall through the hosts, which all have members. */
static int first_of_block(const struct msp_team *team, int group)
{
    int host = team->start / placement.block;

    if (group == 0) {
        return 0;
    }
    if (team->stride > 0) {
        int ahead = ((host + group) * placement.block) - team->start;

        return (ahead + team->stride - 1) / team->stride;
    }
    return ((team->start - ((host - group + 1) * placement.block)) / -team->stride) + 1;
}

static int lesser(int a, int b)
{
    return (a < b) ? a : b;
}

static void make_blocks(const struct msp_team *team, struct msp_groups *groups)
{
    int stride = distance(team->stride, 0);

    groups->count = block_of(team, team->size - 1) + 1;
    groups->own   = block_of(team, team->pe);
    groups->most  = lesser(team->size, (placement.block + stride - 1) / stride);
    groups->least = lesser(msp_group_at(team, 0).size, msp_group_at(team, groups->count - 1).size);
    groups->least =
        (groups->count > 2) ? lesser(groups->least, placement.block / stride) : groups->least;
    groups->is_contiguous = true;
}

/* ---- lists ---- */

/* Adds the team's PE to its group. False: the group's PEs are no run. */
static bool add_member(const struct msp_team *team, struct msp_groups *groups, int pe)
{
    int host = host_of(msp_team_world_pe(team, pe));
    struct msp_group *group;

    if (groups->of_host[host] < 0) {
        groups->of_host[host]         = groups->count;
        groups->list[groups->count++] = (struct msp_group){.first = pe, .step = 1, .size = 1};
        return true;
    }
    group = &groups->list[groups->of_host[host]];
    if (group->size == 1) {
        group->step = pe - group->first;
    }
    return group->first + (group->size++ * group->step) == pe;
}

static bool make_list(const struct msp_team *team, struct msp_groups *groups)
{
    int most = lesser(team->size, placement.host_count);
    int i;

    groups->list    = calloc((size_t)most, sizeof *groups->list);
    groups->of_host = malloc((size_t)placement.host_count * sizeof *groups->of_host);
    if ((groups->list == NULL) || (groups->of_host == NULL)) {
        msp_fatal("no memory for a team on %d hosts", most);
    }
    memset(groups->of_host, 0xff, (size_t)placement.host_count * sizeof *groups->of_host);
    groups->count = 0;
    for (i = 0; i < team->size; i++) {
        if (!add_member(team, groups, i)) {
            return false;
        }
    }
    groups->own           = groups->of_host[host_of(msp_job.pe)];
    groups->least         = team->size;
    groups->is_contiguous = true;
    for (i = 0; i < groups->count; i++) {
        int size = groups->list[i].size;

        groups->most          = (size > groups->most) ? size : groups->most;
        groups->least         = lesser(groups->least, size);
        groups->is_contiguous = groups->is_contiguous && (groups->list[i].step == 1);
    }
    return true;
}

/* ---- all ---- */

static void make_singles(const struct msp_team *team, struct msp_groups *groups)
{
    groups->shape         = MSP_GROUP_SINGLE;
    groups->count         = team->size;
    groups->own           = team->pe;
    groups->most          = 1;
    groups->least         = 1;
    groups->is_contiguous = true;
}

void msp_groups_free(struct msp_team *team)
{
    if (team->groups != NULL) {
        free(team->groups->list);
        free(team->groups->of_host);
        free(team->groups);
        team->groups = NULL;
    }
}

static void make_local(const struct msp_team *team, struct msp_groups *groups)
{
    struct msp_group own = msp_group_at(team, groups->own);

    groups->local = (struct msp_team){.index   = team->index,
                                      .start   = team->start + (own.first * team->stride),
                                      .stride  = team->stride * own.step,
                                      .size    = own.size,
                                      .pe      = (team->pe - own.first) / own.step,
                                      .members = team->members,
                                      .is_live = true};
}

void msp_groups_make(struct msp_team *team)
{
    struct msp_groups *groups;

    msp_groups_free(team);
    if ((msp_team_local_count(team) == team->size) && !msp_peer_is_indirect) {
        return;
    }
    groups = calloc(1, sizeof *groups);
    if (groups == NULL) {
        msp_fatal("no memory for a team on several hosts");
    }
    team->groups  = groups;
    groups->shape = placement.shape;
    if ((team->members != NULL) && (groups->shape == MSP_GROUP_BLOCK)) {
        groups->shape = MSP_GROUP_LISTED; /* its numbers are in no order of hosts */
    }
    if (msp_peer_is_indirect ||
        ((groups->shape == MSP_GROUP_BLOCK) && (distance(team->stride, 0) >= placement.block))) {
        groups->shape = MSP_GROUP_SINGLE;
    }
    if ((groups->shape == MSP_GROUP_LISTED) && !make_list(team, groups)) {
        groups->shape = MSP_GROUP_SINGLE;
    }
    if (groups->shape == MSP_GROUP_SINGLE) {
        make_singles(team, groups);
    } else if (groups->shape == MSP_GROUP_BLOCK) {
        make_blocks(team, groups);
    }
    make_local(team, groups);
}

struct msp_group msp_group_at(const struct msp_team *team, int group)
{
    const struct msp_groups *groups = team->groups;
    int first;

    if (groups->shape == MSP_GROUP_SINGLE) {
        return (struct msp_group){.first = group, .step = 1, .size = 1};
    }
    if (groups->shape == MSP_GROUP_LISTED) {
        return groups->list[group];
    }
    first = first_of_block(team, group);
    return (struct msp_group){
        .first = first,
        .step  = 1,
        .size =
            ((group + 1 < groups->count) ? first_of_block(team, group + 1) : team->size) - first};
}

int msp_group_of(const struct msp_team *team, int pe, int *member_p)
{
    const struct msp_groups *groups = team->groups;
    struct msp_group group;
    int number = pe;

    if (groups->shape == MSP_GROUP_BLOCK) {
        number = block_of(team, pe);
    } else if (groups->shape == MSP_GROUP_LISTED) {
        number = groups->of_host[host_of(msp_team_world_pe(team, pe))];
    }
    group     = msp_group_at(team, number);
    *member_p = (pe - group.first) / group.step;
    return number;
}
