/* SPDX-License-Identifier: BSD-3-Clause */
/* hosts_alltoall.c: alltoall of teams on several hosts.
 *
 * Small rows go through leaders: a member puts its row into its out box; the leader packs the rows
 * of its group for another group into one block, [sender][receiver], and members find theirs in the
 * blocks that came. Large parts go straight into dest. */

#include "shmem/collective/collective.h"
#include "shmem/collective/hosts.h"
#include "shmem/collective/peer.h"
#include "shmem/collective/sync.h"
#include "shmem/transport/order.h"
#include <string.h>

/* Rows of one part for each PE, in the out boxes of an exchange that has begun; then the blocks
 * that came for this group. */
struct rows {
    size_t part_bytes;
    size_t block_bytes; /* of the largest groups */
    const char *row;    /* this PE's */
    const char *blocks; /* in the leader's slot */
    bool is_rotated;    /* Bruck's order: from this PE's group downwards, else by group */
};

static size_t block_bytes_of(const struct msp_team *team, size_t part_bytes)
{
    size_t most = (size_t)team->groups->most;

    return most * most * part_bytes;
}

/* The leader's: all parts from its group to another one. */
static void pack(const struct msp_team *team, const struct rows *rows, int number, char *block)
{
    struct msp_group group = msp_group_at(team, number);
    size_t bytes           = rows->part_bytes;
    int sender;
    int receiver;

    for (sender = 0; sender < team->groups->local.size; sender++) {
        const char *row = msp_exchange_place(team, sender, rows->row);

        for (receiver = 0; receiver < group.size; receiver++) {
            memcpy(block, row + ((size_t)(group.first + (receiver * group.step)) * bytes), bytes);
            block += bytes;
        }
    }
}

/* ---- one message to each group ---- */

static bool can_send_blocks(const struct msp_team *team, size_t part_bytes)
{
    size_t block_bytes = block_bytes_of(team, part_bytes);

    return (part_bytes <= MSP_EXCHANGE_OUT_BYTES / (size_t)team->size) &&
           (block_bytes <= MSP_SYNC_WORK_BYTES) &&
           (block_bytes <= MSP_EXCHANGE_IN_BYTES / (size_t)team->groups->count);
}

static void send_blocks(struct msp_team *team, struct rows *rows, char *work)
{
    const struct msp_groups *groups = team->groups;
    char *in                        = msp_exchange_in(team, 0);
    char *theirs                    = in + ((size_t)groups->own * rows->block_bytes);
    int step;

    rows->blocks = in;
    for (step = 1; step < groups->count; step++) {
        int number             = (groups->own + step) % groups->count;
        struct msp_group group = msp_group_at(team, number);

        pack(team, rows, number, work);
        msp_exchange_put(team, group.first, theirs, work,
                         rows->part_bytes * (size_t)(group.size * groups->local.size), 0, 0);
    }
    msp_exchange_await(team, 0, (uint64_t)(groups->count - 1));
}

/* ---- log2 messages ---- */

static int rounds_of(int group_count)
{
    int rounds = 0;

    while ((1 << rounds) < group_count) {
        rounds++;
    }
    return rounds;
}

/* Of a round: the most that is sent. */
static size_t round_bytes_of(const struct msp_team *team, size_t block_bytes)
{
    return (size_t)((team->groups->count + 1) / 2) * block_bytes;
}

static bool can_bruck(const struct msp_team *team, size_t part_bytes)
{
    size_t block_bytes = block_bytes_of(team, part_bytes);
    size_t rounds      = (size_t)rounds_of(team->groups->count);

    return can_send_blocks(team, part_bytes) &&
           ((size_t)team->groups->count * block_bytes <= MSP_SYNC_WORK_BYTES) &&
           ((rounds + 1) * round_bytes_of(team, block_bytes) <= MSP_EXCHANGE_IN_BYTES);
}

/* The blocks whose number has that bit, to @p to or from it. */
static size_t move_blocks(char *blocks, int count, size_t block_bytes, int bit, char *packed,
                          const char *unpacked)
{
    size_t at = 0;
    int i;

    for (i = bit; i < count; i++) {
        if ((i & bit) == 0) {
            continue;
        }
        if (packed != NULL) {
            memcpy(packed + at, blocks + ((size_t)i * block_bytes), block_bytes);
        } else {
            memcpy(blocks + ((size_t)i * block_bytes), unpacked + at, block_bytes);
        }
        at += block_bytes;
    }
    return at;
}

/* Block i, for the group that is i ahead, moves by each bit of i in turn. */
static void bruck(struct msp_team *team, struct rows *rows, char *work)
{
    const struct msp_groups *groups = team->groups;
    size_t round_bytes              = round_bytes_of(team, rows->block_bytes);
    char *packed = msp_exchange_in(team, 0) + ((size_t)rounds_of(groups->count) * round_bytes);
    int round    = 0;
    int bit;
    int i;

    rows->blocks     = work;
    rows->is_rotated = true;
    for (i = 0; i < groups->count; i++) {
        pack(team, rows, (groups->own + i) % groups->count, work + ((size_t)i * rows->block_bytes));
    }
    for (bit = 1; bit < groups->count; bit *= 2, round++) {
        int to       = msp_exchange_leader(team, (groups->own + bit) % groups->count);
        size_t bytes = move_blocks(work, groups->count, rows->block_bytes, bit, packed, NULL);

        msp_exchange_send(team, round, to, packed, bytes, (size_t)round * round_bytes);
        move_blocks(work, groups->count, rows->block_bytes, bit, NULL,
                    msp_exchange_receive(team, round, bytes, (size_t)round * round_bytes));
    }
}

/* ---- rows ---- */

static void exchange_rows(struct msp_team *team, struct rows *rows, enum msp_algorithm algorithm)
{
    char *work = msp_sync_work(team);

    team->work_count++;
    rows->is_rotated = (algorithm == MSP_ALGORITHM_BRUCK);
    rows->blocks     = rows->is_rotated ? work : msp_exchange_in(team, 0);
    msp_exchange_arrive(team);
    if (msp_exchange_leads(team)) {
        (rows->is_rotated ? bruck : send_blocks)(team, rows, work);
    }
    msp_exchange_leave(team);
    rows->blocks = msp_exchange_place(team, 0, rows->blocks);
}

/* The row of PE @p pe for this one. */
static const char *part_from(const struct msp_team *team, const struct rows *rows, int pe)
{
    const struct msp_groups *groups = team->groups;
    size_t bytes                    = rows->part_bytes;
    int member;
    int group = msp_group_of(team, pe, &member);
    int at    = rows->is_rotated ? ((groups->own - group + groups->count) % groups->count) : group;

    if (group == groups->own) {
        return (const char *)msp_exchange_place(team, member, rows->row) +
               ((size_t)team->pe * bytes);
    }
    return rows->blocks + ((size_t)at * rows->block_bytes) +
           ((size_t)((member * groups->local.size) + groups->local.pe) * bytes);
}

static struct rows begin_rows(struct msp_team *team, size_t part_bytes)
{
    msp_exchange_begin(team);
    return (struct rows){.part_bytes  = part_bytes,
                         .block_bytes = block_bytes_of(team, part_bytes),
                         .row         = msp_exchange_out(team)};
}

/* ---- alltoall ---- */

static void alltoall_by_leaders(struct msp_team *team, char *dest, const char *source,
                                size_t size_bytes, enum msp_algorithm algorithm)
{
    struct rows rows = begin_rows(team, size_bytes);
    int pe;

    msp_peer_copy(msp_exchange_out(team), source, size_bytes * (size_t)team->size);
    exchange_rows(team, &rows, algorithm);
    for (pe = 0; pe < team->size; pe++) {
        msp_peer_copy(dest + ((size_t)pe * size_bytes), part_from(team, &rows, pe), size_bytes);
    }
}

/* Each starts with another PE, so that messages do not all go to the same one. */
static void alltoall_pairwise(struct msp_team *team, char *dest, const char *source,
                              size_t size_bytes)
{
    char *own = dest + ((size_t)team->pe * size_bytes);
    int step;

    msp_exchange_begin(team);
    for (step = 1; step < team->size; step++) {
        int pe = (team->pe + step) % team->size;

        msp_exchange_put(team, pe, own, source + ((size_t)pe * size_bytes), size_bytes, 0, 0);
    }
    msp_peer_copy(own, source + ((size_t)team->pe * size_bytes), size_bytes);
    msp_exchange_await(team, 0, (uint64_t)team->size - 1);
}

int msp_hosts_alltoall(struct msp_team *team, void *dest, const void *source, size_t size_bytes)
{
    unsigned possible = 1u << MSP_ALGORITHM_PAIRWISE;
    enum msp_algorithm algorithm;

    if (can_send_blocks(team, size_bytes)) {
        possible |= 1u << MSP_ALGORITHM_LEADERS;
    }
    if (can_bruck(team, size_bytes)) {
        possible |= 1u << MSP_ALGORITHM_BRUCK;
    }
    algorithm = msp_table_choose(MSP_TABLE_ALLTOALL, size_bytes, team->groups->count, possible);
    if (algorithm == MSP_ALGORITHM_PAIRWISE) {
        alltoall_pairwise(team, dest, source, size_bytes);
    } else {
        alltoall_by_leaders(team, dest, source, size_bytes, algorithm);
    }
    return 0;
}

/* ---- strided ---- */

/* Elements of a PE's part, and where they are: in this PE's memory, a stride apart. */
struct part {
    char *first;
    ptrdiff_t stride_bytes;
    size_t element_bytes;
    size_t count;
};

/* The part of PE @p pe, from element @p at on, of a vector that has one of each PE. */
static struct part part_of(const struct part *vector, int pe, size_t at, size_t count)
{
    struct part part = *vector;

    part.first += (ptrdiff_t)(((size_t)pe * vector->count) + at) * vector->stride_bytes;
    part.count = count;
    return part;
}

static void pack_part(const struct msp_team *team, char *to, struct part from)
{
    msp_get_strided(msp_peer_call(team), msp_context_internal(), to, from.first,
                    (ptrdiff_t)from.element_bytes, from.stride_bytes, from.element_bytes,
                    from.count, msp_job.pe);
}

static void unpack_part(const struct msp_team *team, struct part to, const char *from)
{
    msp_put_strided(msp_peer_call(team), msp_context_internal(), to.first, from, to.stride_bytes,
                    (ptrdiff_t)to.element_bytes, to.element_bytes, to.count, msp_job.pe);
}

/* Parts travel packed: an element is no message. */
static void alltoalls_by_leaders(struct msp_team *team, const struct part *to,
                                 const struct part *from, size_t most)
{
    size_t at;

    for (at = 0; at < from->count; at += most) {
        size_t now       = (from->count - at < most) ? (from->count - at) : most;
        struct rows rows = begin_rows(team, now * from->element_bytes);
        char *row        = msp_exchange_out(team);
        int pe;

        for (pe = 0; pe < team->size; pe++) {
            pack_part(team, row + ((size_t)pe * rows.part_bytes), part_of(from, pe, at, now));
        }
        exchange_rows(team, &rows, MSP_ALGORITHM_LEADERS);
        for (pe = 0; pe < team->size; pe++) {
            unpack_part(team, part_of(to, pe, at, now), part_from(team, &rows, pe));
        }
    }
}

/* Where not even one element of each PE fits: strided puts, complete before the barrier. */
static void alltoalls_pairwise(struct msp_team *team, const struct part *to,
                               const struct part *from)
{
    int step;

    for (step = 0; step < team->size; step++) {
        int pe             = (team->pe + step) % team->size;
        struct part theirs = part_of(to, team->pe, 0, to->count);
        struct part mine   = part_of(from, pe, 0, from->count);

        msp_put_strided(msp_peer_call(team), msp_context_internal(), theirs.first, mine.first,
                        theirs.stride_bytes, mine.stride_bytes, mine.element_bytes, mine.count,
                        msp_team_world_pe(team, pe));
    }
    msp_quiet(msp_context_internal());
    msp_collective_sync(team);
}

int msp_hosts_alltoalls(struct msp_team *team, void *dest, const void *source,
                        ptrdiff_t dest_stride, ptrdiff_t source_stride, size_t element_bytes,
                        size_t count)
{
    ptrdiff_t unit         = (ptrdiff_t)element_bytes;
    const struct part to   = {dest, dest_stride * unit, element_bytes, count};
    const struct part from = {(char *)(uintptr_t)source, source_stride * unit, element_bytes,
                              count};
    size_t most            = count;
    unsigned possible      = 1u << MSP_ALGORITHM_PAIRWISE;

    while ((most > 1) && !can_send_blocks(team, most * element_bytes)) {
        most /= 2;
    }
    if (can_send_blocks(team, most * element_bytes)) {
        possible |= 1u << MSP_ALGORITHM_LEADERS;
    }
    if (count == 0) {
        msp_collective_sync(team);
    } else if (msp_table_choose(MSP_TABLE_ALLTOALLS, count * element_bytes, team->groups->count,
                                possible) == MSP_ALGORITHM_LEADERS) {
        alltoalls_by_leaders(team, &to, &from, most);
    } else {
        alltoalls_pairwise(team, &to, &from);
    }
    return 0;
}
