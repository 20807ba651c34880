/* SPDX-License-Identifier: BSD-3-Clause */
/* hosts_reduce.c: reductions and scans of teams on several hosts.
 *
 * Of small vectors, the leader of a group combines the operands of its members, then leaders
 * combine among themselves. Large vectors are divided into segments: member i of every group
 * combines segment i of its group, and exchanges it with those members of the other groups, so that
 * a host sends from several PEs at once. Two PEs on two hosts send each other all that they have.
 * Operands are combined group by group, in the order of PEs inside a group: all members have the
 * same bits, as have all runs with the same placement and algorithm.
 */

#include "shmem/collective/collective.h"
#include "shmem/collective/combine.h"
#include "shmem/collective/hosts.h"
#include "shmem/collective/peer.h"
#include "shmem/collective/sync.h"
#include <string.h>

/* One call. */
struct reduction {
    struct msp_team *team;
    msp_combine_t combine;
    char *dest;
    const char *source;
    size_t element_bytes;
    size_t count;
};

static size_t lesser(size_t a, size_t b)
{
    return (a < b) ? a : b;
}

static size_t lines(size_t size_bytes)
{
    return (size_bytes + MSP_CACHE_LINE_BYTES - 1) / MSP_CACHE_LINE_BYTES * MSP_CACHE_LINE_BYTES;
}

/* ---- leaders ---- */

/* Combine the operands in the out boxes of the group's members with the leader's, in @p sum. */
static void combine_group(const struct msp_team *team, msp_combine_t combine, char *sum,
                          size_t count)
{
    int member;

    for (member = 1; member < team->groups->local.size; member++) {
        combine(sum, sum, msp_exchange_place(team, member, sum), count);
    }
}

/* All groups' sums to each leader, which combines them in the order of groups. */
static void combine_gathered(const struct msp_team *team, msp_combine_t combine, char *sum,
                             size_t bytes, size_t count)
{
    const struct msp_groups *groups = team->groups;
    size_t block_bytes              = lines(bytes);
    char *blocks                    = msp_exchange_in(team, 0);
    int group;

    memcpy(blocks, sum, bytes);
    msp_exchange_gather(team, block_bytes);
    for (group = 0; group < groups->count; group++) {
        int at            = (group - groups->own + groups->count) % groups->count;
        const char *block = blocks + ((size_t)at * block_bytes);

        if (group == 0) {
            memcpy(sum, block, bytes);
        } else {
            combine(sum, sum, block, count);
        }
    }
}

/* Inboxes of recursive doubling: one for each round, and two for groups beyond a power of two. */
static size_t doubling_bytes(int group_count)
{
    int rounds = 2;

    while ((1 << (rounds - 2)) < group_count) {
        rounds++;
    }
    return MSP_EXCHANGE_IN_BYTES / (size_t)rounds / MSP_CACHE_LINE_BYTES * MSP_CACHE_LINE_BYTES;
}

static size_t offset_of(int round, size_t inbox_bytes)
{
    return (round < MSP_EXCHANGE_BEFORE) ? (size_t)(round + 2) * inbox_bytes
                                         : (size_t)(round - MSP_EXCHANGE_BEFORE) * inbox_bytes;
}

static void send_sum(const struct msp_team *team, int round, int group, const char *sum,
                     size_t bytes)
{
    msp_exchange_send(team, round, msp_exchange_leader(team, group), sum, bytes,
                      offset_of(round, doubling_bytes(team->groups->count)));
}

static void *receive_sum(const struct msp_team *team, int round, size_t bytes)
{
    return msp_exchange_receive(team, round, bytes,
                                offset_of(round, doubling_bytes(team->groups->count)));
}

/* Of the groups beyond a power of two, each odd one gives its sum to the one before it, and gets
 * the result afterwards. The others halve the number of different sums in each round. */
static void combine_doubling(const struct msp_team *team, msp_combine_t combine, char *sum,
                             size_t bytes, size_t count)
{
    const struct msp_groups *groups = team->groups;
    int own                         = groups->own;
    int power                       = 1 << (31 - __builtin_clz((unsigned)groups->count));
    int more                        = groups->count - power;
    int number                      = (own < 2 * more) ? (own / 2) : (own - more);
    int round                       = 0;
    int bit;

    if ((own < 2 * more) && (own % 2 == 1)) {
        send_sum(team, MSP_EXCHANGE_BEFORE, own - 1, sum, bytes);
        memcpy(sum, receive_sum(team, MSP_EXCHANGE_AFTER, bytes), bytes);
        return;
    }
    if (own < 2 * more) {
        combine(sum, sum, receive_sum(team, MSP_EXCHANGE_BEFORE, bytes), count);
    }
    for (bit = 1; bit < power; bit *= 2, round++) {
        int other = number ^ bit;
        const char *theirs;

        send_sum(team, round, (other < more) ? (other * 2) : (other + more), sum, bytes);
        theirs = receive_sum(team, round, bytes);
        if (other < number) {
            combine(sum, theirs, sum, count);
        } else {
            combine(sum, sum, theirs, count);
        }
    }
    if (own < 2 * more) {
        send_sum(team, MSP_EXCHANGE_AFTER, own + 1, sum, bytes);
    }
}

static void reduce_by_leaders(const struct reduction *call, enum msp_algorithm algorithm)
{
    struct msp_team *team = call->team;
    size_t bytes          = call->count * call->element_bytes;
    char *sum;

    msp_exchange_begin(team);
    sum = msp_exchange_out(team);
    msp_peer_copy(sum, call->source, bytes);
    msp_exchange_arrive(team);
    if (msp_exchange_leads(team)) {
        combine_group(team, call->combine, sum, call->count);
        (algorithm == MSP_ALGORITHM_GATHER ? combine_gathered : combine_doubling)(
            team, call->combine, sum, bytes, call->count);
    }
    msp_exchange_leave(team);
    msp_peer_copy(call->dest, msp_exchange_place(team, 0, sum), bytes);
}

/* The most bytes of that at a time. */
static size_t leaders_most_bytes(const struct msp_team *team, enum msp_algorithm algorithm)
{
    size_t groups = (size_t)team->groups->count;
    size_t most   = (algorithm == MSP_ALGORITHM_GATHER)
                        ? MSP_EXCHANGE_IN_BYTES / groups / MSP_CACHE_LINE_BYTES * MSP_CACHE_LINE_BYTES
                        : doubling_bytes(team->groups->count);

    return lesser(most, MSP_EXCHANGE_OUT_BYTES);
}

static void reduce_in_pieces(const struct reduction *call, enum msp_algorithm algorithm)
{
    size_t most = leaders_most_bytes(call->team, algorithm) / call->element_bytes;
    size_t at;

    for (at = 0; at < call->count; at += most) {
        struct reduction piece = *call;

        piece.dest += at * call->element_bytes;
        piece.source += at * call->element_bytes;
        piece.count = lesser(most, call->count - at);
        reduce_by_leaders(&piece, algorithm);
    }
}

/* ---- segments ---- */

/* The elements that a PE exchanges, in blocks of a piece for each group. */
struct segment {
    int number; /* the member of each group that it belongs to; -1: this PE has none */
    size_t first;
    size_t end;
    size_t piece; /* elements */
    size_t block;
    size_t block_count; /* the same in all segments */
};

static struct segment segment_of(const struct reduction *call)
{
    const struct msp_groups *groups = call->team->groups;
    size_t group_count              = (size_t)groups->count;
    size_t line                     = (call->element_bytes < MSP_CACHE_LINE_BYTES)
                                          ? MSP_CACHE_LINE_BYTES / call->element_bytes
                                          : 1;
    size_t most = lesser(MSP_EXCHANGE_IN_BYTES / group_count, MSP_EXCHANGE_OUT_BYTES) /
                  call->element_bytes / line * line;
    struct segment segment = {.number = (groups->local.pe < groups->least) ? groups->local.pe : -1};
    size_t longest;

    msp_chunk_of(0, groups->least, call->element_bytes, call->count, &segment.first, &longest);
    segment.piece       = lesser((longest + group_count - 1) / group_count, most);
    segment.piece       = lesser((segment.piece + line - 1) / line * line, most);
    segment.block       = segment.piece * group_count;
    segment.block_count = (longest + segment.block - 1) / segment.block;
    if (segment.number >= 0) {
        msp_chunk_of(segment.number, groups->least, call->element_bytes, call->count,
                     &segment.first, &segment.end);
    }
    return segment;
}

/* The piece of a block that a group combines; how many elements it has. */
static size_t piece_of(const struct segment *segment, size_t block, int group, size_t *first_p)
{
    size_t first = segment->first + (block * segment->block) + ((size_t)group * segment->piece);

    *first_p = lesser(first, segment->end);
    return lesser(segment->piece, segment->end - *first_p);
}

/* Each group's piece of the block to that group, into its inbox. */
static void scatter(const struct reduction *call, const struct segment *segment, const char *from,
                    size_t block, int ahead)
{
    const struct msp_groups *groups = call->team->groups;
    char *box                       = msp_exchange_in(call->team, ahead) +
                ((size_t)groups->own * segment->piece * call->element_bytes);
    int step;

    for (step = 1; step < groups->count; step++) {
        int group = (groups->own + step) % groups->count;
        size_t first;
        size_t count = piece_of(segment, block, group, &first);

        msp_exchange_put(call->team, msp_group_pe(call->team, group, segment->number), box,
                         from + (first * call->element_bytes), count * call->element_bytes, ahead,
                         0);
    }
}

/* This group's piece, in the order of groups: in the out box, or this PE's own. */
static const char *combine_piece(const struct reduction *call, const struct segment *segment,
                                 const char *own, size_t count)
{
    const struct msp_groups *groups = call->team->groups;
    const char *in                  = msp_exchange_in(call->team, 0);
    size_t piece_bytes              = segment->piece * call->element_bytes;
    char *sum                       = msp_exchange_out(call->team);
    const char *x;
    int group;

    if (!msp_rma_host_touches(own)) {
        char *copy = msp_exchange_in(call->team, 0) + ((size_t)groups->own * piece_bytes);

        msp_peer_copy(copy, own, count * call->element_bytes); /* no group sends there but this */
        own = copy;
    }
    x = (groups->own == 0) ? own : in;
    for (group = 1; group < groups->count; group++) {
        const char *y = (group == groups->own) ? own : (in + ((size_t)group * piece_bytes));

        call->combine(sum, x, y, count);
        x = sum;
    }
    return x;
}

/* A block: its pieces have been sent. A PE's source has been read when it sends, so that dest may
 * be the same. */
static void finish_block(const struct reduction *call, const struct segment *segment,
                         const char *from, size_t block)
{
    const struct msp_groups *groups = call->team->groups;
    uint64_t others                 = (uint64_t)(groups->count - 1);
    size_t first;
    size_t count = piece_of(segment, block, groups->own, &first);
    char *to     = call->dest + (first * call->element_bytes);
    const char *sum;
    int step;

    msp_exchange_await(call->team, 0, others);
    sum = combine_piece(call, segment, from + (first * call->element_bytes), count);
    for (step = 1; step < groups->count; step++) {
        int group = (groups->own + step) % groups->count;

        msp_exchange_put(call->team, msp_group_pe(call->team, group, segment->number), to, sum,
                         count * call->element_bytes, 0, 1);
    }
    msp_peer_copy(to, sum, count * call->element_bytes);
    msp_exchange_await(call->team, 1, others);
}

/* A block's pieces are sent before the one before it is complete. */
static void exchange_segment(const struct reduction *call, const struct segment *segment,
                             const char *from)
{
    size_t block;

    msp_exchange_begin(call->team);
    if (segment->number >= 0) {
        scatter(call, segment, from, 0, 0);
    }
    for (block = 0; block < segment->block_count; block++) {
        bool is_last = (block + 1 == segment->block_count);

        if ((segment->number >= 0) && !is_last) {
            scatter(call, segment, from, block + 1, 1);
        }
        if (segment->number >= 0) {
            finish_block(call, segment, from, block);
        }
        if (!is_last) {
            msp_exchange_begin(call->team);
        }
    }
}

/* Other members of the group have the other segments. */
static void read_segments(const struct reduction *call)
{
    const struct msp_groups *groups = call->team->groups;
    int step;

    for (step = 0; step < groups->local.size; step++) {
        int member = (groups->local.pe + step) % groups->local.size;
        size_t first;
        size_t end;

        if ((member == groups->local.pe) || (member >= groups->least)) {
            continue;
        }
        msp_chunk_of(member, groups->least, call->element_bytes, call->count, &first, &end);
        msp_peer_read(&groups->local, member, call->dest + (first * call->element_bytes),
                      call->dest + (first * call->element_bytes),
                      (end - first) * call->element_bytes);
    }
}

static void reduce_by_segments(const struct reduction *call)
{
    struct msp_team *team  = call->team;
    struct msp_team *local = &team->groups->local;
    struct segment segment = segment_of(call);

    if (local->size == 1) {
        exchange_segment(call, &segment, call->source);
        return;
    }
    msp_exchange_sync_group(team);
    if (segment.number >= 0) {
        msp_chunk_combine(local, call->combine, call->dest, call->source, call->element_bytes,
                          segment.first, segment.end);
    }
    exchange_segment(call, &segment, call->dest);
    msp_exchange_sync_group(team);
    read_segments(call);
    msp_exchange_sync_group(team);
}

/* ---- two PEs on two hosts ---- */

/* A message with its header is one segment of TCP's offload, which takes 64 KiB. */
enum { PAIR_PIECE_BYTES = MSP_EXCHANGE_IN_BYTES - (4 << 10) };

static void send_piece(const struct reduction *call, size_t first, size_t most, int ahead)
{
    msp_exchange_put(call->team, 1 - call->team->pe, msp_exchange_in(call->team, ahead),
                     call->source + (first * call->element_bytes),
                     lesser(most, call->count - first) * call->element_bytes, ahead, 0);
}

/* The other PE's piece is in the inbox. */
static void combine_pair(const struct reduction *call, size_t first, size_t count)
{
    const char *own    = call->source + (first * call->element_bytes);
    const char *theirs = msp_exchange_in(call->team, 0);
    char *to           = call->dest + (first * call->element_bytes);
    bool is_direct     = msp_rma_host_touches(own) && msp_rma_host_touches(to);
    size_t most        = is_direct ? count : MSP_EXCHANGE_OUT_BYTES / call->element_bytes;
    size_t at;

    for (at = 0; at < count; at += most) {
        size_t now       = lesser(most, count - at);
        size_t bytes     = now * call->element_bytes;
        size_t begin     = at * call->element_bytes;
        char *sum        = is_direct ? (to + begin) : msp_exchange_out(call->team);
        const char *mine = own + begin;

        if (!is_direct) {
            msp_peer_copy(sum, mine, bytes);
            mine = sum;
        }
        if (call->team->pe == 0) {
            call->combine(sum, mine, theirs + begin, now);
        } else {
            call->combine(sum, theirs + begin, mine, now);
        }
        msp_peer_copy(to + begin, sum, bytes);
    }
}

/* Both send all that they have: half the messages' delays of a reduce-scatter. A piece is sent
 * before the one before it has come, so that a completed exchange shows only that the other PE
 * has begun the exchange before: the turns of the inbox are enough for that. */
static void reduce_pair(const struct reduction *call)
{
    size_t most = PAIR_PIECE_BYTES / call->element_bytes;
    size_t at;

    for (at = 0; at < call->count; at += most) {
        msp_exchange_begin(call->team);
        if (at == 0) {
            send_piece(call, 0, most, 0);
        }
        if (call->count - at > most) {
            send_piece(call, at + most, most, 1);
        }
        msp_exchange_await(call->team, 0, 1);
        combine_pair(call, at, lesser(most, call->count - at));
    }
}

/* ---- reductions ---- */

int msp_hosts_reduce(struct msp_team *team, msp_combine_t combine, void *dest, const void *source,
                     size_t element_bytes, size_t count)
{
    const struct reduction call = {team, combine, dest, source, element_bytes, count};
    size_t bytes                = count * element_bytes;
    unsigned possible           = 1u << MSP_ALGORITHM_DOUBLING;
    enum msp_algorithm algorithm;

    if (leaders_most_bytes(team, MSP_ALGORITHM_GATHER) != 0) {
        possible |= 1u << MSP_ALGORITHM_GATHER;
    }
    if (MSP_EXCHANGE_IN_BYTES / team->groups->count >= MSP_CACHE_LINE_BYTES) {
        possible |= 1u << MSP_ALGORITHM_SCATTER;
    }
    if (team->size == 2) {
        possible |= 1u << MSP_ALGORITHM_PAIRWISE;
    }
    algorithm = msp_table_choose(MSP_TABLE_REDUCE, bytes, team->groups->count, possible);
    if (algorithm == MSP_ALGORITHM_SCATTER) {
        reduce_by_segments(&call);
    } else if (algorithm == MSP_ALGORITHM_PAIRWISE) {
        reduce_pair(&call);
    } else {
        reduce_in_pieces(&call, algorithm);
    }
    return 0;
}

static void vote_on_host(struct msp_team *team, msp_combine_t combine, void *values, size_t bytes,
                         size_t count)
{
    int pe;

    msp_sync_distribute(team, values, bytes);
    memcpy(values, msp_sync_distributed(team, 0), bytes);
    for (pe = 1; pe < team->size; pe++) {
        combine(values, values, msp_sync_distributed(team, pe), count);
    }
}

void msp_hosts_vote(struct msp_team *team, enum msp_reduction operation, enum msp_number type,
                    void *values, size_t count)
{
    msp_combine_t combine = msp_combine_of(operation, type);
    size_t element_bytes  = msp_number_bytes(type);

    if (team->groups == NULL) {
        vote_on_host(team, combine, values, count * element_bytes, count);
    } else {
        reduce_in_pieces(&(struct reduction){team, combine, values, values, element_bytes, count},
                         MSP_ALGORITHM_DOUBLING);
    }
}

/* ---- scans ---- */

/* The sum of the PEs before this one, and of itself where @p inclusive. False: there are none. */
static bool prefix_of_groups(const struct msp_team *team, msp_combine_t combine, bool inclusive,
                             char *to, const char *out, size_t block_bytes, size_t bytes,
                             size_t count)
{
    const struct msp_groups *groups = team->groups;
    const char *blocks              = msp_exchange_place(team, 0, msp_exchange_in(team, 0));
    int members                     = groups->local.pe + (inclusive ? 1 : 0);
    bool has_any                    = false;
    int i;

    for (i = 0; i < groups->own + members; i++) {
        int at           = (i - groups->own + groups->count) % groups->count;
        const char *term = (i < groups->own) ? (blocks + ((size_t)at * block_bytes))
                                             : msp_exchange_place(team, i - groups->own, out);

        if (has_any) {
            combine(to, to, term, count);
        } else {
            memcpy(to, term, bytes);
            has_any = true;
        }
    }
    return has_any;
}

/* Leaders gather the sums of groups. */
static void scan_by_leaders(const struct reduction *call, bool inclusive, char *sum)
{
    struct msp_team *team = call->team;
    size_t bytes          = call->count * call->element_bytes;
    char *out;
    char *total;
    int member;

    msp_exchange_begin(team);
    out = msp_exchange_out(team);
    msp_peer_copy(out, call->source, bytes);
    msp_exchange_arrive(team);
    if (msp_exchange_leads(team)) {
        total = msp_exchange_in(team, 0);
        memcpy(total, out, bytes);
        for (member = 1; member < team->groups->local.size; member++) {
            call->combine(total, total, msp_exchange_place(team, member, out), call->count);
        }
        msp_exchange_gather(team, lines(bytes));
    }
    msp_exchange_leave(team);
    if (!prefix_of_groups(team, call->combine, inclusive, sum, out, lines(bytes), bytes,
                          call->count)) {
        memset(sum, 0, bytes);
    }
}

/* Each PE passes on the sum of so many up to itself: as many again in each round. */
static void scan_by_doubling(const struct reduction *call, bool inclusive, char *sum)
{
    struct msp_team *team = call->team;
    size_t bytes          = call->count * call->element_bytes;
    bool has_before       = false;
    int round             = 0;
    char *upto;
    int distance;

    msp_exchange_begin(team);
    upto = msp_exchange_out(team);
    msp_peer_copy(upto, call->source, bytes);
    memset(sum, 0, bytes);
    for (distance = 1; distance < team->size; distance *= 2, round++) {
        size_t at = (size_t)round * lines(bytes);

        if (team->pe + distance < team->size) {
            msp_exchange_send(team, round, team->pe + distance, upto, bytes, at);
        }
        if (team->pe >= distance) {
            const char *before = msp_exchange_receive(team, round, bytes, at);

            call->combine(upto, before, upto, call->count);
            if (has_before) {
                call->combine(sum, before, sum, call->count);
            } else {
                memcpy(sum, before, bytes);
            }
            has_before = true;
        }
    }
    if (inclusive) {
        memcpy(sum, upto, bytes);
    }
    msp_exchange_barrier(team, NULL);
}

static size_t scan_most_bytes(const struct msp_team *team, enum msp_algorithm algorithm)
{
    size_t inbox_bytes = (algorithm == MSP_ALGORITHM_GATHER)
                             ? leaders_most_bytes(team, algorithm)
                             : MSP_EXCHANGE_IN_BYTES / MSP_EXCHANGE_ROUNDS / MSP_CACHE_LINE_BYTES *
                                   MSP_CACHE_LINE_BYTES;

    return lesser(inbox_bytes, MSP_CHUNK_PIECE_BYTES);
}

int msp_hosts_scan(struct msp_team *team, msp_combine_t combine, bool inclusive, void *dest,
                   const void *source, size_t element_bytes, size_t count)
{
    unsigned possible = 1u << MSP_ALGORITHM_DOUBLING;
    _Alignas(64) char sum[MSP_CHUNK_PIECE_BYTES];
    enum msp_algorithm algorithm;
    size_t most;
    size_t at;

    if (team->groups->is_contiguous && (leaders_most_bytes(team, MSP_ALGORITHM_GATHER) != 0)) {
        possible |= 1u << MSP_ALGORITHM_GATHER;
    }
    algorithm =
        msp_table_choose(MSP_TABLE_SCAN, count * element_bytes, team->groups->count, possible);
    most = scan_most_bytes(team, algorithm) / element_bytes;
    for (at = 0; at < count; at += most) {
        size_t now                   = lesser(most, count - at);
        const struct reduction piece = {.team    = team,
                                        .combine = combine,
                                        .source  = (const char *)source + (at * element_bytes),
                                        .element_bytes = element_bytes,
                                        .count         = now};

        (algorithm == MSP_ALGORITHM_GATHER ? scan_by_leaders : scan_by_doubling)(&piece, inclusive,
                                                                                 sum);
        msp_peer_copy((char *)dest + (at * element_bytes), sum, now * element_bytes);
    }
    return 0;
}
