/* SPDX-License-Identifier: BSD-3-Clause */
/* hosts_move.c: broadcast and collect of teams on several hosts.
 *
 * Small data goes through leaders: a member puts its data into its out box, and finds its result in
 * the leader's inbox. Large data goes straight into dest, once to each host: the member of a group
 * that receives it is its representative there, from whose dest the others copy. */

#include "shmem/collective/collective.h"
#include "shmem/collective/hosts.h"
#include "shmem/collective/peer.h"
#include "shmem/collective/sync.h"
#include <string.h>

/* ---- broadcast ---- */

struct broadcast {
    struct msp_team *team;
    char *dest;
    const char *source;
    size_t size_bytes;
    int root;
    int root_group;
    int distance; /* of this PE's group from the root's, in groups */
    int counter;
};

/* The group that is so far from the root's, and its receiver. */
static int representative(const struct broadcast *call, int distance)
{
    int group = (call->root_group + distance) % call->team->groups->count;

    return (distance == 0) ? call->root : msp_exchange_leader(call->team, group);
}

/* A binomial tree: a group that is @p distance from the root's receives from the one that lacks the
 * lowest bit of it, and sends to those that have one more below that. */
static void broadcast_by_tree(const struct broadcast *call)
{
    const char *from = (call->distance == 0) ? call->source : call->dest;
    int count        = call->team->groups->count;
    int bit          = 1;

    while ((bit < count) && ((call->distance & bit) == 0)) {
        bit *= 2;
    }
    if (call->distance != 0) {
        msp_exchange_await_cast(call->team, call->counter, 0, 1);
    }
    for (bit /= 2; bit > 0; bit /= 2) {
        if (call->distance + bit < count) {
            msp_exchange_cast(call->team, representative(call, call->distance + bit), call->dest,
                              from, call->size_bytes, call->counter, 0);
        }
    }
}

/* The piece that the group at that distance gets from the root, and sends to the others. */
static size_t piece_of(const struct broadcast *call, int distance, size_t *first_p)
{
    size_t pieces = (size_t)(call->team->groups->count - 1);
    size_t piece  = (call->size_bytes + pieces - 1) / pieces;
    size_t first;

    piece    = (piece + MSP_CACHE_LINE_BYTES - 1) / MSP_CACHE_LINE_BYTES * MSP_CACHE_LINE_BYTES;
    first    = (size_t)(distance - 1) * piece;
    *first_p = (first < call->size_bytes) ? first : call->size_bytes;
    return (piece < call->size_bytes - *first_p) ? piece : (call->size_bytes - *first_p);
}

static void broadcast_by_scatter(const struct broadcast *call)
{
    int count = call->team->groups->count;
    size_t first;
    size_t bytes;
    int step;

    if (call->distance == 0) {
        for (step = 1; step < count; step++) {
            bytes = piece_of(call, step, &first);
            msp_exchange_cast(call->team, representative(call, step), call->dest + first,
                              call->source + first, bytes, call->counter, 0);
        }
        return;
    }
    msp_exchange_await_cast(call->team, call->counter, 0, 1);
    bytes = piece_of(call, call->distance, &first);
    for (step = 1; step < count - 1; step++) {
        int other = 1 + ((call->distance - 1 + step) % (count - 1));

        msp_exchange_cast(call->team, representative(call, other), call->dest + first,
                          call->dest + first, bytes, call->counter, 1);
    }
    msp_exchange_await_cast(call->team, call->counter, 1, (uint64_t)(count - 2));
}

/* From the representative's dest, or the root's source, to the others of the group. */
static void broadcast_in_group(const struct broadcast *call, int member)
{
    struct msp_team *local = &call->team->groups->local;

    msp_exchange_sync_group(call->team);
    if (local->pe != member) {
        msp_peer_read(local, member, (call->distance == 0) ? call->source : call->dest, call->dest,
                      call->size_bytes);
    }
    msp_exchange_sync_group(call->team);
}

int msp_hosts_broadcast(struct msp_team *team, void *dest, const void *source, size_t size_bytes,
                        int root)
{
    const struct msp_groups *groups = team->groups;
    struct broadcast call           = {team, dest, source, size_bytes, root, 0, 0, 0};
    int member;
    enum msp_algorithm algorithm;

    call.counter    = msp_exchange_next_broadcast(team);
    call.root_group = msp_group_of(team, root, &member);
    call.distance   = (groups->own - call.root_group + groups->count) % groups->count;
    member          = (call.distance == 0) ? member : 0;
    algorithm       = msp_table_choose(MSP_TABLE_BROADCAST, size_bytes, groups->count,
                                       (1u << MSP_ALGORITHM_TREE) |
                                           ((groups->count > 1) ? (1u << MSP_ALGORITHM_SCATTER) : 0));
    if (groups->local.pe == member) {
        (algorithm == MSP_ALGORITHM_TREE ? broadcast_by_tree : broadcast_by_scatter)(&call);
    }
    if ((groups->local.size > 1) && (size_bytes != 0)) {
        broadcast_in_group(&call, member);
    }
    if ((team->pe == root) && !team->is_active_set) {
        msp_peer_copy(dest, source, size_bytes);
    }
    return 0;
}

/* ---- gathering through leaders ---- */

/* Every member's part: @p max_bytes of each, in blocks of groups, this one's first. */
struct gathered {
    const char *blocks;
    size_t block_bytes;
    size_t max_bytes;
};

static bool can_gather(const struct msp_team *team, size_t max_bytes)
{
    const struct msp_groups *groups = team->groups;

    return (max_bytes <= MSP_EXCHANGE_OUT_BYTES) &&
           (max_bytes <= MSP_EXCHANGE_IN_BYTES / (size_t)groups->count / (size_t)groups->most);
}

static const char *part_of(const struct msp_team *team, const struct gathered *gathered, int pe)
{
    const struct msp_groups *groups = team->groups;
    int member;
    int group = msp_group_of(team, pe, &member);
    int at    = (group - groups->own + groups->count) % groups->count;

    return gathered->blocks + ((size_t)at * gathered->block_bytes) +
           ((size_t)member * gathered->max_bytes);
}

/* An exchange that has begun, with the part in the out box. Until the fourth exchange after it. */
static struct gathered gather(struct msp_team *team, size_t max_bytes)
{
    const struct msp_groups *groups = team->groups;
    char *own                       = msp_exchange_in(team, 0);
    const char *part                = msp_exchange_out(team);
    size_t block_bytes              = max_bytes * (size_t)groups->most;
    int member;

    msp_exchange_arrive(team);
    if (msp_exchange_leads(team)) {
        for (member = 0; member < groups->local.size; member++) {
            memcpy(own + ((size_t)member * max_bytes), msp_exchange_place(team, member, part),
                   max_bytes);
        }
        msp_exchange_gather(team, block_bytes);
    }
    msp_exchange_leave(team);
    return (struct gathered){msp_exchange_place(team, 0, own), block_bytes, max_bytes};
}

/* ---- straight into dest ---- */

/* To the representatives of other groups. Each member has a part in dest of those whose number, by
 * the size of the group, is its own. */
static void send_part(const struct msp_team *team, char *to, const void *source, size_t size_bytes)
{
    const struct msp_groups *groups = team->groups;
    int step;

    for (step = 1; step < groups->count; step++) {
        int number             = (groups->own + step) % groups->count;
        struct msp_group group = msp_group_at(team, number);

        msp_exchange_put(team, group.first + ((groups->local.pe % group.size) * group.step), to,
                         source, size_bytes, 0, 0);
    }
}

/* The member of this PE's group that has, or gets, the part of PE @p pe. */
static int holder_of(const struct msp_team *team, int pe, bool *is_own_group_p)
{
    int member;
    int group = msp_group_of(team, pe, &member);

    *is_own_group_p = (group == team->groups->own);
    return member % team->groups->local.size;
}

/* ---- fcollect ---- */

static void fcollect_by_leaders(struct msp_team *team, char *dest, const void *source,
                                size_t size_bytes)
{
    struct gathered gathered;
    int group;

    msp_exchange_begin(team);
    msp_peer_copy(msp_exchange_out(team), source, size_bytes);
    gathered = gather(team, size_bytes);
    for (group = 0; group < team->groups->count; group++) {
        struct msp_group from = msp_group_at(team, group);
        const char *parts     = part_of(team, &gathered, from.first);
        int member;

        if (from.step == 1) {
            msp_peer_copy(dest + ((size_t)from.first * size_bytes), parts,
                          (size_t)from.size * size_bytes);
            continue;
        }
        for (member = 0; member < from.size; member++) {
            msp_peer_copy(dest + ((size_t)(from.first + (member * from.step)) * size_bytes),
                          parts + ((size_t)member * size_bytes), size_bytes);
        }
    }
}

/* How many parts this PE receives for its group. */
static uint64_t expected_parts(const struct msp_team *team)
{
    const struct msp_groups *groups = team->groups;
    uint64_t count                  = 0;
    int step;

    for (step = 1; step < groups->count; step++) {
        int size = msp_group_at(team, (groups->own + step) % groups->count).size;

        if (size > groups->local.pe) {
            count += (uint64_t)(((size - groups->local.pe - 1) / groups->local.size) + 1);
        }
    }
    return count;
}

/* The parts that other members of the group have received, and their own. */
static void read_part(const struct msp_team *team, int pe, char *to, const char *source,
                      size_t size_bytes)
{
    const struct msp_team *local = &team->groups->local;
    bool is_own_group;
    int holder = holder_of(team, pe, &is_own_group);

    if (holder != local->pe) {
        msp_peer_read(local, holder, is_own_group ? source : to, to, size_bytes);
    }
}

static void fcollect_pairwise(struct msp_team *team, char *dest, const char *source,
                              size_t size_bytes)
{
    char *own = dest + ((size_t)team->pe * size_bytes);
    int step;

    msp_exchange_begin(team);
    send_part(team, own, source, size_bytes);
    msp_peer_copy(own, source, size_bytes);
    msp_exchange_await(team, 0, expected_parts(team));
    if (team->groups->local.size == 1) {
        return;
    }
    msp_exchange_sync_group(team);
    for (step = 1; step < team->size; step++) {
        int pe = (team->pe + step) % team->size;

        read_part(team, pe, dest + ((size_t)pe * size_bytes), source, size_bytes);
    }
    msp_exchange_sync_group(team);
}

int msp_hosts_fcollect(struct msp_team *team, void *dest, const void *source, size_t size_bytes)
{
    unsigned possible = 1u << MSP_ALGORITHM_PAIRWISE;

    if (can_gather(team, size_bytes)) {
        possible |= 1u << MSP_ALGORITHM_GATHER;
    }
    if (msp_table_choose(MSP_TABLE_FCOLLECT, size_bytes, team->groups->count, possible) ==
        MSP_ALGORITHM_GATHER) {
        fcollect_by_leaders(team, dest, source, size_bytes);
    } else {
        fcollect_pairwise(team, dest, source, size_bytes);
    }
    return 0;
}

/* ---- collect ---- */

/* The gathered record of a PE's part: its size, and the part itself where there is space. */
struct part {
    size_t size_bytes;
    char data[];
};
enum { PART_BYTES = 256 };

/* The space of a part; less than a size's: there is none. */
static size_t part_max_bytes(const struct msp_team *team)
{
    const struct msp_groups *groups = team->groups;
    size_t max_bytes = MSP_EXCHANGE_IN_BYTES / (size_t)groups->count / (size_t)groups->most;

    return ((max_bytes < PART_BYTES) ? max_bytes : PART_BYTES) / sizeof(size_t) * sizeof(size_t);
}

/* Small parts from where they were gathered. The others: where this PE's goes, how many bytes all
 * have, and how many of them come to this PE. */
struct large {
    size_t own_at;
    size_t all_bytes;
    uint64_t expected;
};

static struct large take_small(const struct msp_team *team, const struct gathered *gathered,
                               char *dest)
{
    struct large large = {0, 0, 0};
    size_t at          = 0;
    int pe;

    for (pe = 0; pe < team->size; pe++) {
        const struct part *part = (const struct part *)(const void *)part_of(team, gathered, pe);
        bool is_own_group;
        int holder = holder_of(team, pe, &is_own_group);

        if (pe == team->pe) {
            large.own_at = at;
        }
        if (part->size_bytes <= gathered->max_bytes - sizeof *part) {
            msp_peer_copy(dest + at, part->data, part->size_bytes);
        } else {
            large.all_bytes += part->size_bytes;
            large.expected += (!is_own_group && (holder == team->groups->local.pe)) ? 1 : 0;
        }
        at += part->size_bytes;
    }
    return large;
}

static void take_large(struct msp_team *team, const struct gathered *gathered, char *dest,
                       const char *source)
{
    int pe;

    msp_exchange_sync_group(team);
    for (pe = 0; pe < team->size; pe++) {
        const struct part *part = (const struct part *)(const void *)part_of(team, gathered, pe);

        if ((part->size_bytes > gathered->max_bytes - sizeof *part) && (pe != team->pe)) {
            read_part(team, pe, dest, source, part->size_bytes);
        }
        dest += part->size_bytes;
    }
}

/* Sizes are gathered with small parts; then large ones go to their places. */
static void collect_by_leaders(struct msp_team *team, char *dest, const char *source,
                               size_t size_bytes)
{
    size_t max_bytes = part_max_bytes(team);
    struct gathered gathered;
    struct large large;
    struct part *own;
    bool is_small = (size_bytes <= max_bytes - sizeof *own);

    msp_exchange_begin(team);
    own             = (struct part *)(void *)msp_exchange_out(team);
    own->size_bytes = size_bytes;
    msp_peer_copy(own->data, source, is_small ? size_bytes : 0);
    gathered = gather(team, max_bytes);
    large    = take_small(team, &gathered, dest);
    if (large.all_bytes == 0) {
        return;
    }
    msp_exchange_begin(team);
    if (!is_small) {
        send_part(team, dest + large.own_at, source, size_bytes);
        msp_peer_copy(dest + large.own_at, source, size_bytes);
    }
    msp_exchange_await(team, 0, large.expected);
    take_large(team, &gathered, dest, source);
    msp_exchange_barrier(team, NULL); /* not all depend on all others in this exchange */
}

/* Each part straight to all PEs, at the place that the sum of those before it is. */
static void collect_pairwise(struct msp_team *team, char *dest, const void *source,
                             size_t size_bytes)
{
    uint64_t bytes = size_bytes;
    uint64_t at;
    int step;

    msp_hosts_scan(team, msp_combine_of(MSP_REDUCE_SUM, MSP_NUMBER_U64), false, &at, &bytes,
                   sizeof at, 1);
    msp_exchange_begin(team);
    for (step = 1; step < team->size; step++) {
        msp_exchange_put(team, (team->pe + step) % team->size, dest + at, source, size_bytes, 0, 0);
    }
    msp_peer_copy(dest + at, source, size_bytes);
    msp_exchange_await(team, 0, (uint64_t)team->size - 1);
}

int msp_hosts_collect(struct msp_team *team, void *dest, const void *source, size_t size_bytes)
{
    unsigned possible = 1u << MSP_ALGORITHM_PAIRWISE;

    if (part_max_bytes(team) >= sizeof(struct part)) {
        possible |= 1u << MSP_ALGORITHM_GATHER;
    }
    /* Sizes differ: it may not depend on them. */
    if (msp_table_choose(MSP_TABLE_COLLECT, 0, team->groups->count, possible) ==
        MSP_ALGORITHM_GATHER) {
        collect_by_leaders(team, dest, source, size_bytes);
    } else {
        collect_pairwise(team, dest, source, size_bytes);
    }
    return 0;
}
