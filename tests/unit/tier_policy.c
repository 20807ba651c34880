/* SPDX-License-Identifier: BSD-3-Clause */
/* MEMSPAN_PLACEMENT=auto in simulation: the modelled time of a program whose pieces are moved by
 * the policy, over that of the best placement that never changes.
 *
 * The programs are recorded (tests/unit/use: times of use of each piece in each step, by the
 * processor's accessed bits, on a machine of one tier), or made to be unkind. The model is that of
 * a memory-bound program: time is use times the cost of a byte on its tier, and moves. */

#include "core/debug/tier_policy.h"
#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MIB = 1 << 20, PIECES_MAX = 1 << 13, SITES_MAX = 1 << 10, MOVES_MAX = 256 };

/* Bytes a nanosecond: HBM beside CXL, by and large. */
static const double fast_cost = 1.0 / 40;
static const double slow_cost = 1.0 / 10;

struct piece {
    uint64_t bytes;
    uint32_t site;
    uint32_t block;
    size_t born;
    size_t died;
    double *use_bytes; /* by step from born on */
};

struct program {
    struct piece *pieces;
    size_t count;
    size_t steps;
    double *seconds;
};

struct run {
    uint64_t fast_bytes;
    double noise;   /* of samples: at most so much of them is added or missing */
    double missing; /* share of samples that are not there */
    double filled;  /* of the fast tier, by others, in the second half */
    double granted; /* exchanges of the fast memory that do not count */
};

static uint64_t state = 1;

static double chance(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(state >> 33) / (double)(UINT64_C(1) << 31);
}

/* ---- the best placement that never changes ---- */

/* Each call site has a share of its memory in the fast tier, which holds that share at all times.
 * No such placement takes less than this: a bound by Lagrange multipliers, the prices of fast
 * memory in each step, which a subgradient method raises where it is too full. */
static double best_ns(const struct program *p, const double *room_bytes)
{
    enum { ROUNDS = 1000 };
    double(*live)[SITES_MAX] = calloc(p->steps, sizeof *live);
    double *use              = calloc(SITES_MAX, sizeof *use);
    double *price            = calloc(p->steps, sizeof *price);
    double *full             = calloc(p->steps, sizeof *full);
    double gap               = slow_cost - fast_cost;
    double slow_ns           = 0;
    double best              = 0;
    double scale             = 0;
    size_t sites             = 0;

    for (size_t i = 0; i < p->count; i++) {
        const struct piece *piece = &p->pieces[i];

        sites = (piece->site >= sites) ? piece->site + 1 : sites;
        for (size_t step = piece->born; step < piece->died; step++) {
            live[step][piece->site] += (double)piece->bytes;
            use[piece->site] += piece->use_bytes[step - piece->born];
            slow_ns += piece->use_bytes[step - piece->born] * slow_cost;
            scale += (double)piece->bytes * room_bytes[step];
        }
    }
    for (int round = 0; round < ROUNDS; round++) {
        double bound = slow_ns;

        for (size_t step = 0; step < p->steps; step++) {
            full[step] = -room_bytes[step];
            bound -= price[step] * room_bytes[step];
        }
        for (size_t site = 0; site < sites; site++) {
            double saves = use[site] * gap;

            for (size_t step = 0; step < p->steps; step++) {
                saves -= price[step] * live[step][site];
            }
            for (size_t step = 0; (saves > 0) && (step < p->steps); step++) {
                full[step] += live[step][site];
            }
            bound -= (saves > 0) ? saves : 0;
        }
        best = (bound > best) ? bound : best;
        for (size_t step = 0; step < p->steps; step++) {
            price[step] += slow_ns / scale / (1 + round / 20) * full[step];
            price[step] = (price[step] > 0) ? price[step] : 0;
        }
    }
    free(live);
    free(use);
    free(price);
    free(full);
    return best;
}

/* ---- the run ---- */

struct live {
    struct msp_policy policy;
    struct msp_piece pieces[PIECES_MAX + SITES_MAX];
    size_t index[PIECES_MAX]; /* of the program's piece */
    struct msp_policy_site sites[SITES_MAX];
    size_t order[PIECES_MAX + SITES_MAX];
    struct msp_policy_move moves[MOVES_MAX];
    size_t count;
    double ns;
    double moved_bytes;
    double fast_peak_bytes;
    double stayed_ns;
    size_t settled_steps;
};

static void take_births(struct live *l, const struct program *p, size_t step)
{
    for (size_t i = 0; i < p->count; i++) {
        const struct piece *piece = &p->pieces[i];
        struct msp_piece *made;
        int tier;

        if (piece->born != step) {
            continue;
        }
        tier                 = msp_policy_place(&l->policy, &l->sites[piece->site], piece->bytes);
        made                 = &l->pieces[l->count];
        l->index[l->count++] = i;
        *made                = (struct msp_piece){.key    = i,
                                                  .bytes  = piece->bytes,
                                                  .site   = piece->site,
                                                  .tier   = tier,
                                                  .recent = l->sites[piece->site].density * (double)piece->bytes};
        l->policy.room[tier] -= (double)piece->bytes;
    }
}

static void take_deaths(struct live *l, const struct program *p, size_t step)
{
    for (size_t i = 0; i < l->count;) {
        if (p->pieces[l->index[i]].died > step) {
            i++;
            continue;
        }
        msp_policy_freed(&l->policy, &l->pieces[i], &l->sites[l->pieces[i].site]);
        l->count--;
        l->pieces[i] = l->pieces[l->count];
        l->index[i]  = l->index[l->count];
    }
}

static void take_samples(struct live *l, const struct program *p, const struct run *run,
                         size_t step)
{
    double fast_bytes = 0;

    for (size_t i = 0; i < l->count; i++) {
        const struct piece *piece = &p->pieces[l->index[i]];
        double use                = piece->use_bytes[step - piece->born];

        l->ns += use * ((l->pieces[i].tier == 0) ? fast_cost : slow_cost);
        l->stayed_ns += use * slow_cost;
        fast_bytes += (l->pieces[i].tier == 0) ? (double)piece->bytes : 0;
        l->pieces[i].use_bytes = use * (1 + run->noise * (2 * chance() - 1));
        if (chance() < run->missing) {
            l->pieces[i].use_bytes = -1;
        }
    }
    l->fast_peak_bytes = (fast_bytes > l->fast_peak_bytes) ? fast_bytes : l->fast_peak_bytes;
}

static void make_step(struct live *l, double seconds)
{
    const struct msp_policy_input input = {l->pieces, l->count, l->sites, SITES_MAX,
                                           l->order,  l->moves, MOVES_MAX};
    double budget                       = 0.1 * seconds * 1e9 / slow_cost;
    size_t count                        = msp_policy_step(&l->policy, &input, seconds, budget);

    for (size_t i = 0; i < count; i++) {
        struct msp_piece *piece = &l->pieces[l->moves[i].piece];

        cr_assert(!piece->fixed && (piece->tier != l->moves[i].to));
        l->ns += (double)piece->bytes * (fast_cost + slow_cost);
        l->moved_bytes += (double)piece->bytes;
        msp_policy_moved(&l->policy, piece, l->moves[i].to);
    }
    l->settled_steps += l->policy.settling ? 1 : 0;
}

/* The time over that of the best. */
static double simulate(const char *name, const struct program *p, const struct run *run)
{
    struct live *l = calloc(1, sizeof *l);
    double *room   = calloc(p->steps, sizeof *room);
    double best;
    double ratio;

    l->policy =
        (struct msp_policy){.tiers = {{fast_cost, run->fast_bytes}, {slow_cost, UINT64_C(1) << 50}},
                            .tier_count = 2,
                            .decay_s    = 5};
    l->policy.room[0] = (double)run->fast_bytes;
    l->policy.room[1] = 1e15;
    for (size_t step = 0; step < p->steps; step++) {
        take_deaths(l, p, step);
        take_births(l, p, step);
        take_samples(l, p, run, step);
        if ((run->filled > 0) && (step == p->steps / 2)) {
            l->policy.tiers[0].capacity_bytes =
                (uint64_t)((1 - run->filled) * (double)run->fast_bytes);
            l->fast_peak_bytes = 0;
        }
        make_step(l, p->seconds[step]);
        room[step] = (double)l->policy.tiers[0].capacity_bytes;
    }
    best  = best_ns(p, room);
    ratio = (l->ns - run->granted * 2 * (double)run->fast_bytes * (fast_cost + slow_cost)) / best;
    printf("%-24s fast %4.0f MiB: %.3f of the best, %.3f of none; moved %.0f MiB, settled in %zu "
           "of %zu steps\n",
           name, (double)run->fast_bytes / MIB, ratio, l->ns / l->stayed_ns, l->moved_bytes / MIB,
           l->settled_steps, p->steps);
    free(room);
    free(l);
    return ratio;
}

/* ---- programs ---- */

static void free_program(struct program *p)
{
    for (size_t i = 0; i < p->count; i++) {
        free(p->pieces[i].use_bytes);
    }
    free(p->pieces);
    free(p->seconds);
}

static uint64_t peak_bytes(const struct program *p)
{
    uint64_t peak = 0;

    for (size_t step = 0; step < p->steps; step++) {
        uint64_t bytes = 0;

        for (size_t i = 0; i < p->count; i++) {
            bytes += ((p->pieces[i].born <= step) && (p->pieces[i].died > step))
                         ? p->pieces[i].bytes
                         : 0;
        }
        peak = (bytes > peak) ? bytes : peak;
    }
    return peak;
}

/* "BYTES SITE BORN USE..." with uses in hundredths of the piece. */
static bool read_piece(const char *line, struct program *p)
{
    struct piece piece = {.block = (uint32_t)p->count};
    char *at;

    piece.bytes = strtoull(line, &at, 10);
    piece.site  = (uint32_t)strtoul(at, &at, 10);
    piece.born  = strtoul(at, &at, 10);
    piece.died  = piece.born;
    if ((piece.bytes == 0) || (piece.site >= SITES_MAX) || (p->count == PIECES_MAX)) {
        return false;
    }
    piece.use_bytes = calloc(p->steps + 1, sizeof *piece.use_bytes);
    while ((at[0] == ' ') && (piece.died < p->steps)) {
        piece.use_bytes[piece.died++ - piece.born] = strtod(at, &at) / 100 * (double)piece.bytes;
    }
    p->pieces[p->count++] = piece;
    return (at[0] == '\n') && (piece.died > piece.born);
}

static void read_program(const char *path, struct program *p)
{
    FILE *file      = fopen(path, "re");
    char *line      = NULL;
    size_t capacity = 0;
    char *at;

    *p = (struct program){.pieces  = calloc(PIECES_MAX, sizeof *p->pieces),
                          .seconds = calloc(PIECES_MAX, sizeof *p->seconds)};
    cr_assert(file != NULL, "%s", path);
    cr_assert(getline(&line, &capacity, file) > 0);
    cr_assert_str_eq(line, "memspan-use 1\n");
    while (getline(&line, &capacity, file) > 0) {
        if (strncmp(line, "seconds", 7) == 0) {
            for (at = line + 7; (at[0] == ' ') && (p->steps < PIECES_MAX);) {
                p->seconds[p->steps++] = strtod(at, &at);
            }
        } else if (line[0] != '#') {
            cr_assert(read_piece(line, p), "%s: %.40s", path, line);
        }
    }
    free(line);
    fclose(file);
    cr_assert((p->count > 0) && (p->steps > 0));
}

/* ---- recorded programs ---- */

/* Calls @p with each recorded program and its name; returns how many there are. */
static size_t for_each_program(void (*check)(const char *name, const struct program *p))
{
    DIR *folder  = opendir(MEMSPAN_TEST_USE);
    size_t count = 0;
    struct dirent *entry;

    cr_assert(folder != NULL, "%s", MEMSPAN_TEST_USE);
    while ((entry = readdir(folder)) != NULL) {
        struct program p;
        char path[4096];

        if (strstr(entry->d_name, ".use") == NULL) {
            continue;
        }
        snprintf(path, sizeof path, "%s/%s", MEMSPAN_TEST_USE, entry->d_name);
        read_program(path, &p);
        check(entry->d_name, &p);
        free_program(&p);
        count++;
    }
    closedir(folder);
    return count;
}

static void check_sizes(const char *name, const struct program *p)
{
    static const double shares[] = {0.1, 0.25, 0.5, 0.75};

    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
        struct run run = {.fast_bytes = (uint64_t)(shares[i] * (double)peak_bytes(p))};
        double ratio   = simulate(name, p, &run);

        cr_expect_leq(ratio, (i == 1) ? 1.10 : 1.15, "%s with %.0f %% in the fast tier: %.3f", name,
                      100 * shares[i], ratio);
    }
}

Test(tier_policy, recorded_programs_lose_at_most_a_tenth)
{
    cr_expect_geq(for_each_program(check_sizes), 6);
}

static void check_bad_samples(const char *name, const struct program *p)
{
    struct run run = {.fast_bytes = peak_bytes(p) / 4, .noise = 0.5, .missing = 0.3};
    double ratio   = simulate(name, p, &run);

    cr_expect_leq(ratio, 1.15, "%s: %.3f", name, ratio);
}

Test(tier_policy, noisy_and_missing_samples_cost_little)
{
    (void)for_each_program(check_bad_samples);
}

static void check_filled(const char *name, const struct program *p)
{
    struct run run = {.fast_bytes = peak_bytes(p) / 2, .filled = 0.5};
    double ratio   = simulate(name, p, &run);

    cr_expect_leq(ratio, 1.20, "%s: %.3f", name, ratio);
}

Test(tier_policy, a_tier_that_others_fill_is_left)
{
    (void)for_each_program(check_filled);
}

/* ---- unkind programs ---- */

enum { MADE_STEPS = 400 };

/* @p count blocks of @p bytes each, which live all the time. */
static struct program make_program(size_t count, uint64_t bytes)
{
    struct program p = {.pieces  = calloc(count, sizeof *p.pieces),
                        .count   = count,
                        .steps   = MADE_STEPS,
                        .seconds = calloc(MADE_STEPS, sizeof *p.seconds)};

    for (size_t step = 0; step < p.steps; step++) {
        p.seconds[step] = 0.1;
    }
    for (size_t i = 0; i < count; i++) {
        p.pieces[i] = (struct piece){.bytes     = bytes,
                                     .site      = (uint32_t)i % SITES_MAX,
                                     .died      = MADE_STEPS,
                                     .use_bytes = calloc(MADE_STEPS, sizeof(double))};
    }
    return p;
}

/* Half of the blocks are used for @p period steps, then the other half. */
static double alternate(size_t period, double passes)
{
    struct program p = make_program(64, 2 * MIB);
    struct run run   = {.fast_bytes = 64 * MIB, .granted = 6};
    char name[40];
    double ratio;

    for (size_t i = 0; i < p.count; i++) {
        for (size_t step = 0; step < p.steps; step++) {
            p.pieces[i].use_bytes[step] =
                (step / period % 2 == i % 2) ? passes * (double)p.pieces[i].bytes : 0;
        }
    }
    snprintf(name, sizeof name, "alternating by %zu at %g", period, passes);
    ratio = simulate(name, &p, &run);
    free_program(&p);
    return ratio;
}

/* Periods around the time of decay, 50 steps; little use, so that each move is dear: six exchanges
 * of the fast memory are what the policy's bound grants for any time. */
Test(tier_policy, phases_that_alternate_are_not_chased_for_long)
{
    static const size_t periods[] = {1, 3, 10, 25, 50, 100, 200};
    static const double passes[]  = {0.05, 0.2, 1, 10};

    for (size_t i = 0; i < sizeof periods / sizeof periods[0]; i++) {
        for (size_t k = 0; k < sizeof passes / sizeof passes[0]; k++) {
            double ratio = alternate(periods[i], passes[k]);

            cr_expect_leq(ratio, 1.10, "by %zu steps, %g passes: %.3f", periods[i], passes[k],
                          ratio);
        }
    }
}

Test(tier_policy, blocks_of_equal_use_stay)
{
    struct program p = make_program(64, 2 * MIB);
    struct run run   = {.fast_bytes = 32 * MIB, .noise = 0.5};
    double ratio;

    for (size_t i = 0; i < p.count; i++) {
        for (size_t step = 0; step < p.steps; step++) {
            p.pieces[i].use_bytes[step] = (double)p.pieces[i].bytes;
        }
    }
    ratio = simulate("all equal", &p, &run);
    cr_expect_leq(ratio, 1.02, "%.3f", ratio);
    free_program(&p);
}

/* Of one block of 512 MiB, in pieces, an eighth is used most: the fast tier has a quarter. */
Test(tier_policy, the_used_part_of_a_large_block_is_fast)
{
    struct program p = make_program(64, 8 * MIB);
    struct run run   = {.fast_bytes = 128 * MIB};
    double ratio;

    for (size_t i = 0; i < p.count; i++) {
        p.pieces[i].site = 0;
        for (size_t step = 0; step < p.steps; step++) {
            p.pieces[i].use_bytes[step] = ((i >= 40) && (i < 48) ? 2 : 0.01) * 8 * MIB;
        }
    }
    ratio = simulate("a large block", &p, &run);
    cr_expect_leq(ratio, 0.6, "%.3f", ratio); /* the best divides no block of a call site */
    free_program(&p);
}

/* All memory is fast: the run is the best one, also with what was freed. */
Test(tier_policy, freed_pieces_count_in_the_best_time)
{
    struct msp_policy policy = {
        .tiers = {{fast_cost, (1 << 30)}, {slow_cost, (1 << 30)}}, .tier_count = 2, .decay_s = 5};
    struct msp_piece pieces[2 + 1]      = {{.key = 1, .bytes = MIB}, {.key = 2, .bytes = MIB}};
    struct msp_policy_site sites[1]     = {{0}};
    struct msp_policy_move moves[1]     = {{0}};
    size_t order[2 + 1]                 = {0};
    const struct msp_policy_input first = {pieces, 2, sites, 1, order, moves, 1};
    struct msp_policy_input second      = first;

    policy.room[0] = (1 << 30);
    policy.room[1] = (1 << 30);
    for (size_t i = 0; i < 2; i++) {
        policy.room[0] -= MIB;
        pieces[i].use_bytes = 3 * MIB;
    }
    cr_assert_eq(msp_policy_step(&policy, &first, 1, 0), 0);
    msp_policy_freed(&policy, &pieces[1], &sites[0]);
    second.piece_count = 1;
    cr_assert_eq(msp_policy_step(&policy, &second, 1, 0), 0);
    cr_expect_float_eq(policy.followed_ns, 9 * MIB * fast_cost, 1);
    cr_expect_float_eq(msp_policy_best_ns(&policy, pieces, 1, order), policy.followed_ns, 1);
}
