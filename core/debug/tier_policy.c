/* SPDX-License-Identifier: BSD-3-Clause */
/* tier_policy.c: pieces are ranked by their use for each byte, and fill the tiers in that order.
 *
 * Hysteresis is of two kinds: a piece keeps its place against one that is used a little more, and a
 * piece goes to a faster place only when the time that it has lost by waiting pays for the move
 * there and for that of what makes room. */

#include "core/debug/tier_policy.h"
#include "core/debug/use_sample.h"
#include <stdlib.h>

static const double keep_share = 1;  /* so much more used is what takes a piece's place */
static const double pays       = 2;  /* a move pays when waiting has cost so much more than it */
static const double draw_moves = 10; /* mean of the drawn number, in moves of the piece: 1/eps */
static const double exchanges  = 2;  /* of the fast memory, until the settled placement counts */
static const double saved_s    = 2;  /* a budget that was not needed is saved so long */

struct step {
    struct msp_policy *policy;
    const struct msp_policy_input *in;
    struct msp_piece *pieces;
    size_t count; /* in the order: pieces and, at their end, reserves */
    double seconds;
    size_t *order;
    double room[MSP_POLICY_TIERS_MAX];    /* bytes; negative: too much is there */
    double victims[MSP_POLICY_TIERS_MAX]; /* use of a byte in this step by what would make room */
    size_t move_count;
};

static double cost(const struct msp_policy *policy, int tier)
{
    return policy->tiers[tier].ns_per_byte;
}

static double move_ns(const struct msp_policy *policy, double bytes, int from, int to)
{
    return bytes * (cost(policy, from) + cost(policy, to));
}

/* What counts of a value after @p seconds; near exp(-seconds / decay_s) for short steps. */
static double kept_share(const struct msp_policy *policy, double seconds)
{
    return policy->decay_s / (policy->decay_s + seconds);
}

/* The share of a new sample in a value that was sampled for @p known_s: a mean at first, decayed
 * later. */
static double new_share(const struct msp_policy *policy, double seconds, double known_s)
{
    return seconds / (seconds + ((known_s < policy->decay_s) ? known_s : policy->decay_s));
}

static double use_of(const struct msp_piece *piece, double seconds)
{
    return (piece->use_bytes >= 0) ? piece->use_bytes : piece->recent * seconds;
}

/* ---- samples ---- */

static void take_sample(struct msp_policy *policy, struct msp_piece *piece, double seconds)
{
    double use   = use_of(piece, seconds);
    double known = ((piece->lived_s > 0) || (piece->recent <= 0)) ? piece->lived_s : seconds;

    piece->first   = (piece->first == 0) ? piece->tier + 1 : piece->first;
    piece->settled = (piece->settled == 0) ? piece->tier + 1 : piece->settled;
    piece->moving  = false;
    piece->total_bytes += use;
    piece->lived_s += seconds;
    piece->recent += new_share(policy, seconds, known) * (use / seconds - piece->recent);
    policy->followed_ns += use * cost(policy, piece->tier);
    policy->settled_ns += use * cost(policy, piece->settled - 1);
    policy->stayed_ns += use * cost(policy, piece->first - 1);
}

/* ---- call sites ---- */

static void sample_site(const struct step *s, struct msp_policy_site *site)
{
    double use = site->use_bytes / s->seconds;

    if (site->bytes > 0) {
        site->density +=
            new_share(s->policy, s->seconds, site->known_s) * (use / site->bytes - site->density);
        site->known_s += s->seconds;
    }
    site->returns +=
        ((site->bytes > 0) && (site->last_bytes <= 0) && (site->freed_count > 0)) ? 1 : 0;
    site->last_bytes = site->bytes;
    site->recent += (1 - kept_share(s->policy, s->seconds)) * (use - site->recent);
    site->usual_bytes *= kept_share(s->policy, s->seconds);
    if (site->usual_bytes < site->bytes) {
        site->usual_bytes = site->bytes;
    }
}

static void count_sites(struct step *s)
{
    struct msp_policy_site *sites = s->in->sites;

    for (size_t i = 0; i < s->in->site_count; i++) {
        sites[i].bytes     = 0;
        sites[i].use_bytes = 0;
    }
    for (size_t i = 0; i < s->in->piece_count; i++) {
        struct msp_policy_site *site = &sites[s->pieces[i].site];

        site->bytes += (double)s->pieces[i].bytes;
        site->use_bytes += use_of(&s->pieces[i], s->seconds);
    }
    for (size_t i = 0; i < s->in->site_count; i++) {
        sample_site(s, &sites[i]);
    }
}

/* Blocks come and go faster than they could move. */
static bool is_passing(const struct msp_policy *policy, const struct msp_policy_site *site)
{
    return (site->returns > 0) && (site->life_s < policy->decay_s);
}

/* Passing blocks find their place free: it is reserved. Those of several sites have one after
 * another, so no more is reserved than was live at once. */
static void reserve(struct step *s)
{
    struct msp_policy *policy = s->policy;
    double usual_bytes        = 0;
    double bytes              = 0;

    s->count = s->in->piece_count;
    for (size_t i = 0; i < s->in->site_count; i++) {
        const struct msp_policy_site *site = &s->in->sites[i];

        usual_bytes += is_passing(policy, site) ? site->usual_bytes : 0;
        bytes += is_passing(policy, site) ? site->bytes : 0;
    }
    policy->passing_bytes *= kept_share(policy, s->seconds / 8);
    policy->passing_bytes = (policy->passing_bytes > bytes) ? policy->passing_bytes : bytes;
    for (size_t i = 0; i < s->in->site_count; i++) {
        const struct msp_policy_site *site = &s->in->sites[i];
        double usual = site->usual_bytes * policy->passing_bytes / (usual_bytes + 1);

        if (is_passing(policy, site) && (usual - site->bytes >= 1)) {
            s->pieces[s->count++] =
                (struct msp_piece){.bytes    = (uint64_t)(usual - site->bytes),
                                   .recent   = site->recent * (usual - site->bytes) / usual,
                                   .tier     = policy->tier_count - 1,
                                   .reserved = true};
        }
    }
}

int msp_policy_place(const struct msp_policy *policy, const struct msp_policy_site *site,
                     uint64_t bytes)
{
    for (int t = 0; t < policy->tier_count; t++) {
        if (((site->known_s <= 0) || (site->density >= policy->floor[t])) &&
            (policy->room[t] >= (double)bytes)) {
            return t;
        }
    }
    return policy->tier_count - 1;
}

void msp_policy_freed(struct msp_policy *policy, const struct msp_piece *piece,
                      struct msp_policy_site *site)
{
    enum { COUNT_MOST = 16 }; /* the mean is of the last ones */

    site->freed_count += (site->freed_count < COUNT_MOST) ? 1 : 0;
    site->life_s += (piece->lived_s - site->life_s) / (double)site->freed_count;
    policy->room[piece->tier] += (double)piece->bytes;
    policy->gone_ns += piece->total_bytes * cost(policy, 0);
}

/* For so long the piece is expected to live on: as blocks of its site do; one that outlives them,
 * or is the first, for as long as it has lived. */
static double remaining_s(const struct step *s, const struct msp_piece *piece)
{
    double left = s->in->sites[piece->site].life_s - piece->lived_s;

    return (left > 0) ? left : piece->lived_s;
}

/* ---- placements ---- */

static int by_score(const void *a, const void *b, void *data)
{
    const struct msp_piece *pieces = data;
    double left                    = pieces[*(const size_t *)a].score;
    double right                   = pieces[*(const size_t *)b].score;

    return (left < right) - (left > right);
}

static void sort(struct msp_piece *pieces, size_t count, size_t *order)
{
    for (size_t i = 0; i < count; i++) {
        order[i] = i;
    }
    qsort_r(order, count, sizeof(*order), by_score, pieces);
}

/* The pieces in their order, each to the fastest tier with room, as targets. */
static void fill(struct step *s)
{
    const struct msp_policy *policy = s->policy;
    double left[MSP_POLICY_TIERS_MAX];

    sort(s->pieces, s->count, s->order);
    for (int t = 0; t < policy->tier_count; t++) {
        left[t] = (double)policy->tiers[t].capacity_bytes;
    }
    for (size_t i = 0; i < s->count; i++) {
        left[s->pieces[i].tier] -= s->pieces[i].fixed ? (double)s->pieces[i].bytes : 0;
    }
    for (size_t i = 0; i < s->count; i++) {
        struct msp_piece *piece = &s->pieces[s->order[i]];
        int t                   = 0;

        while ((t < policy->tier_count - 1) && (left[t] < (double)piece->bytes)) {
            t++;
        }
        piece->target = piece->fixed ? piece->tier : t;
        left[t] -= piece->fixed ? 0 : (double)piece->bytes;
    }
}

/* Exponentially distributed with mean 1, by the key (the mixing function is that of SplitMix64). */
static double draw(uint64_t key)
{
    key += UINT64_C(0x9e3779b97f4a7c15);
    key = (key ^ (key >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    key = (key ^ (key >> 27)) * UINT64_C(0x94d049bb133111eb);
    key ^= key >> 31;
    return msp_use_minus_log(((double)(key >> 11) + 0.5) / (double)(UINT64_C(1) << 53));
}

static void settle(struct step *s)
{
    struct msp_policy *policy = s->policy;
    int last                  = policy->tier_count - 1;
    double gap                = cost(policy, last) - cost(policy, 0);
    double mean               = draw_moves * move_ns(policy, 1, 0, last) / gap;

    for (size_t i = 0; i < s->count; i++) {
        struct msp_piece *piece = &s->pieces[i];

        piece->score = piece->total_bytes / piece->lived_s / (double)piece->bytes +
                       mean * draw(piece->key) / policy->lived_s;
    }
    fill(s);
    for (size_t i = 0; i < s->count; i++) {
        struct msp_piece *piece = &s->pieces[i];
        int from                = piece->settled - 1;

        double saves_ns = piece->total_bytes / piece->lived_s * remaining_s(s, piece) *
                          (cost(policy, from) - cost(policy, piece->target));
        double pays_ns = move_ns(policy, (double)piece->bytes, from, piece->target);

        if ((piece->target > from) || ((piece->target < from) && (saves_ns >= pays_ns))) {
            policy->settled_ns += pays_ns;
            piece->settled = piece->target + 1;
        }
        piece->target = piece->settled - 1;
    }
}

static void follow(struct step *s)
{
    reserve(s);
    for (size_t i = 0; i < s->count; i++) {
        struct msp_piece *piece = &s->pieces[i];

        piece->score = piece->recent / (double)piece->bytes;
        for (int t = piece->tier; t < s->policy->tier_count - 1; t++) {
            piece->score *= 1 + keep_share;
        }
    }
    fill(s);
}

/* Whether the settled placement is in force: see the header. */
static void choose(struct step *s)
{
    struct msp_policy *policy = s->policy;
    int last                  = policy->tier_count - 1;
    double fast_bytes         = 0;
    double all_bytes          = 0;
    double slack_ns;

    for (int t = 0; t < last; t++) {
        fast_bytes += (double)policy->tiers[t].capacity_bytes;
    }
    for (size_t i = 0; i < s->count; i++) {
        all_bytes += (double)s->pieces[i].bytes;
    }
    fast_bytes = (fast_bytes < all_bytes) ? fast_bytes : all_bytes;
    slack_ns   = exchanges * 2 * move_ns(policy, fast_bytes, 0, last);
    if (policy->followed_ns > (1 + MSP_POLICY_SLACK) * policy->settled_ns + slack_ns) {
        policy->settling = true;
    } else if ((policy->followed_ns < (1 + MSP_POLICY_SLACK / 2) * policy->settled_ns) &&
               (MSP_POLICY_SLACK / 2 * policy->settled_ns > 2 * slack_ns)) {
        policy->settling = false;
    }
}

/* ---- moves ---- */

static void count_room(struct step *s)
{
    double bytes[MSP_POLICY_TIERS_MAX] = {0};

    for (int t = 0; t < s->policy->tier_count; t++) {
        s->room[t]    = (double)s->policy->tiers[t].capacity_bytes;
        s->victims[t] = 0;
    }
    for (size_t i = 0; i < s->count; i++) {
        const struct msp_piece *piece = &s->pieces[i];

        s->room[piece->tier] -= piece->reserved ? 0 : (double)piece->bytes;
        if (piece->target > piece->tier) {
            s->victims[piece->tier] += use_of(piece, s->seconds);
            bytes[piece->tier] += (double)piece->bytes;
        }
    }
    for (int t = 0; t < s->policy->tier_count; t++) {
        s->victims[t] /= (bytes[t] > 0) ? bytes[t] : 1;
    }
}

/* The time that the piece has waited for a faster place pays for its move, and so will the time
 * that it is expected to live. */
static bool is_due(struct step *s, struct msp_piece *piece)
{
    const struct msp_policy *policy = s->policy;
    double bytes                    = (double)piece->bytes;
    bool evicts;
    double gain_ns;
    double pays_ns;

    if (piece->target >= piece->tier) {
        piece->waited_ns *= kept_share(policy, s->seconds);
        return false;
    }
    evicts  = s->room[piece->target] < bytes;
    pays_ns = pays * (evicts ? 2 : 1) * move_ns(policy, bytes, piece->tier, piece->target);
    gain_ns = (use_of(piece, s->seconds) - (evicts ? bytes * s->victims[piece->target] : 0)) *
              (cost(policy, piece->tier) - cost(policy, piece->target));
    piece->waited_ns += gain_ns;
    piece->waited_ns = (piece->waited_ns > 0) ? piece->waited_ns : 0;
    return policy->settling || ((piece->waited_ns >= pays_ns) &&
                                (gain_ns / s->seconds * remaining_s(s, piece) >= pays_ns));
}

static bool can_move(const struct step *s, double bytes, size_t moves)
{
    return (s->policy->allowed_bytes >= bytes) && (s->move_count + moves <= s->in->move_most);
}

static void move(struct step *s, struct msp_piece *piece, int to)
{
    struct msp_policy *policy = s->policy;

    s->in->moves[s->move_count++] = (struct msp_policy_move){
        .piece = (size_t)(piece - s->pieces),
        .to    = to,
        .saves = 1e-9 * piece->recent * (cost(policy, piece->tier) - cost(policy, to))};
    s->room[piece->tier] += (double)piece->bytes;
    s->room[to] -= (double)piece->bytes;
    policy->allowed_bytes -= (double)piece->bytes;
    piece->moving = true;
}

/* Make room in @p tier: what is used least there goes to the fastest slower tier with room. False:
 * that is not possible now, and some of it may have gone. @p then: bytes that move afterwards. */
static bool vacate(struct step *s, int tier, double bytes, double then)
{
    for (size_t i = s->count; (i-- > 0) && (s->room[tier] < bytes);) {
        struct msp_piece *piece = &s->pieces[s->order[i]];
        int to                  = tier + 1;

        if (piece->fixed || piece->moving || piece->reserved || (piece->tier != tier) ||
            (piece->target <= tier)) {
            continue;
        }
        while ((to < s->policy->tier_count) && (s->room[to] < (double)piece->bytes)) {
            to++;
        }
        if ((to == s->policy->tier_count) || !can_move(s, (double)piece->bytes + then, 2)) {
            return false;
        }
        move(s, piece, to);
    }
    return s->room[tier] >= bytes;
}

/* A reserve: what is used less goes, if blocks that are expected within the time of decay pay. */
static void hold(struct step *s, const struct msp_piece *piece)
{
    const struct msp_policy *policy = s->policy;
    double bytes                    = (double)piece->bytes;
    double gain_ns                  = piece->recent * policy->decay_s *
                     (cost(policy, policy->tier_count - 1) - cost(policy, piece->target));

    if (gain_ns >= move_ns(policy, bytes, piece->target, policy->tier_count - 1)) {
        (void)vacate(s, piece->target, bytes, 0);
    }
    s->room[piece->target] -= bytes;
}

static void make_moves(struct step *s, double moves_bytes)
{
    struct msp_policy *policy = s->policy;
    double most               = saved_s * moves_bytes / s->seconds;

    for (size_t i = 0; i < s->count; i++) {
        double two = 2 * (double)s->pieces[i].bytes;

        most = (most < two) ? two : most;
    }
    policy->allowed_bytes += moves_bytes;
    policy->allowed_bytes = (policy->allowed_bytes < most) ? policy->allowed_bytes : most;
    count_room(s);
    for (int t = policy->tier_count - 2; t >= 0; t--) {
        (void)vacate(s, t, 0, 0); /* others have taken memory there */
    }
    for (size_t i = 0; i < s->count; i++) {
        struct msp_piece *piece = &s->pieces[s->order[i]];
        double bytes            = (double)piece->bytes;

        if (piece->reserved) {
            hold(s, piece);
        } else if (!piece->fixed && is_due(s, piece) && !piece->moving && can_move(s, bytes, 1) &&
                   vacate(s, piece->target, bytes, bytes) && can_move(s, bytes, 1)) {
            move(s, piece, piece->target);
        }
    }
}

/* What msp_policy_place() goes by. */
static void note_room(struct step *s)
{
    struct msp_policy *policy = s->policy;

    for (int t = 0; t < policy->tier_count; t++) {
        policy->room[t]  = s->room[t];
        policy->floor[t] = 0;
    }
    for (size_t i = 0; i < s->count; i++) {
        const struct msp_piece *piece = &s->pieces[i];
        double density                = piece->recent / (double)piece->bytes;

        if (piece->reserved) {
            policy->room[piece->target] += (double)piece->bytes;
        }
        for (int t = 0; !piece->reserved && (t < piece->target); t++) {
            policy->floor[t] = (density > policy->floor[t]) ? density : policy->floor[t];
        }
    }
}

size_t msp_policy_step(struct msp_policy *policy, const struct msp_policy_input *input,
                       double seconds, double moves_bytes)
{
    struct step s = {.policy  = policy,
                     .in      = input,
                     .pieces  = input->pieces,
                     .count   = input->piece_count,
                     .seconds = seconds,
                     .order   = input->order};

    if ((seconds <= 0) || (policy->tier_count < 2)) {
        return 0;
    }
    policy->lived_s += seconds;
    for (size_t i = 0; i < s.count; i++) {
        take_sample(policy, &s.pieces[i], seconds);
    }
    count_sites(&s);
    settle(&s);
    choose(&s);
    if (!policy->settling) {
        follow(&s);
    }
    make_moves(&s, moves_bytes);
    note_room(&s);
    return s.move_count;
}

void msp_policy_moved(struct msp_policy *policy, struct msp_piece *piece, int to)
{
    policy->followed_ns += move_ns(policy, (double)piece->bytes, piece->tier, to);
    policy->moved_bytes += (double)piece->bytes;
    piece->waited_ns = 0;
    piece->tier      = to;
}

double msp_policy_best_ns(const struct msp_policy *policy, struct msp_piece *pieces, size_t count,
                          size_t *order)
{
    int tier    = 0;
    double left = (double)policy->tiers[0].capacity_bytes;
    double ns   = policy->gone_ns;

    for (size_t i = 0; i < count; i++) {
        pieces[i].score = pieces[i].total_bytes / (double)pieces[i].bytes;
    }
    sort(pieces, count, order);
    for (size_t i = 0; i < count; i++) {
        double rest = (double)pieces[order[i]].bytes;

        while (rest > 0) {
            double part = ((tier == policy->tier_count - 1) || (rest < left)) ? rest : left;

            ns += pieces[order[i]].score * part * cost(policy, tier);
            rest -= part;
            left -= part;
            if ((rest > 0) && (tier < policy->tier_count - 1)) {
                left = (double)policy->tiers[++tier].capacity_bytes;
            }
        }
    }
    return ns;
}
