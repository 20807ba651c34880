/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_DEBUG_TIER_POLICY_H
#define MEMSPAN_CORE_DEBUG_TIER_POLICY_H

/* Decisions of MEMSPAN_PLACEMENT=auto: which pieces of memory belong on which tier of memory.
 *
 * A pure function of samples: no clock, no system call, no lock. Time is that of a model, in which
 * a byte that is used costs what its tier says, and a byte that moves is read once and written
 * once.
 *
 * Two placements are computed in each step. The *following* one ranks pieces by their use of late.
 * The *settled* one ranks them by all their use so far plus an exponentially distributed number
 * that is drawn once for each piece, as "follow the perturbed leader" does (Kalai and Vempala,
 * 2005). Pieces follow their use until the modelled time, moves included, is above (1 +
 * MSP_POLICY_SLACK) times that of the settled placement plus two exchanges of the fast memory; from
 * then on they go where the settled placement has them.
 *
 * The paper's bound, (1 + epsilon) times the best placement that never changes plus a constant, is
 * not proven here: this one ranks by use in the piece's lifetime, places new pieces by themselves,
 * and moves within a budget. The figures are those of the simulation (tests/unit/tier_policy.c). */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MSP_POLICY_TIERS_MAX = 8 };

#define MSP_POLICY_SLACK 0.05

/* The fastest first. */
struct msp_tier {
    double ns_per_byte;      /* of a use */
    uint64_t capacity_bytes; /* for pieces; may change at any step */
};

struct msp_piece {
    /* The caller's. */
    uint64_t key;     /* of this piece alone, the same in every step: draws its number */
    uint64_t bytes;   /* > 0 */
    double use_bytes; /* used since the last step; negative: not sampled */
    int tier;         /* where it is; changed by the caller when it has moved */
    uint32_t site;    /* the call site of its block */
    bool fixed;       /* not to be moved now */
    /* The policy's; of a new piece zero, but for recent: what is expected. */
    double recent;      /* bytes a second, decayed */
    double total_bytes; /* used so far */
    double lived_s;
    double waited_ns; /* that a faster place would have saved, less what it would have cost */
    double score;     /* in the order of the last ranking */
    int first;        /* the tier where it was at first, plus 1 */
    int settled;      /* its tier in the settled placement, plus 1; 0: none yet */
    int target;       /* where it belongs now */
    bool moving;      /* it is among the moves of this step */
    bool reserved;    /* no piece: memory that a site is expected to take again */
};

/* The blocks of a call site; of a new one zero. */
struct msp_policy_site {
    double bytes;       /* live in this step */
    double usual_bytes; /* live at most of late */
    double use_bytes;   /* of theirs in this step */
    double recent;      /* bytes a second, decayed, also while none is live */
    double density;     /* of use: times a second that each byte is used */
    double known_s;     /* samples of so long; 0: none */
    double life_s;      /* mean, of blocks that were freed */
    unsigned freed_count;
    unsigned returns;  /* times that it had none and took some again */
    double last_bytes; /* live in the step before */
};

/* Set to zero, then tiers, tier_count and decay_s. */
struct msp_policy {
    struct msp_tier tiers[MSP_POLICY_TIERS_MAX];
    int tier_count;
    double decay_s; /* the use of longer ago counts less than 1/e */
    double lived_s;
    /* Modelled time of all pieces so far. */
    double followed_ns;   /* as they were placed, moves included */
    double settled_ns;    /* as settled, moves included */
    double stayed_ns;     /* where each was first */
    double gone_ns;       /* of pieces that were freed, had they been on the fastest tier */
    double moved_bytes;   /* by the caller's moves */
    double allowed_bytes; /* of moves, not used yet */
    double passing_bytes; /* live at once of late, of blocks that do not live long */
    bool settling;        /* the settled placement is in force */
    /* For msp_policy_place(): the caller keeps room up to date between steps. */
    double room[MSP_POLICY_TIERS_MAX];  /* bytes that are free */
    double floor[MSP_POLICY_TIERS_MAX]; /* the lowest density that belongs there; 0: any */
};

struct msp_policy_move {
    size_t piece;
    int to;
    double saves; /* seconds a second, where to is faster */
};

/* The arrays of a step. */
struct msp_policy_input {
    struct msp_piece *pieces; /* piece_count of them, and space for site_count more */
    size_t piece_count;
    struct msp_policy_site *sites;
    size_t site_count;
    size_t *order; /* space for piece_count + site_count */
    struct msp_policy_move *moves;
    size_t move_most;
};

/* A step of @p seconds: takes the samples of the pieces, and writes moves in the order in which
 * they are to be made: places are vacated before they are taken. Returns their number.
 * @p moves_bytes: by which the budget of moves grows. */
size_t msp_policy_step(struct msp_policy *policy, const struct msp_policy_input *input,
                       double seconds, double moves_bytes);

/* The tier for a new block of a site, by the use of those before it; of an unknown site the fastest
 * one with room. */
int msp_policy_place(const struct msp_policy *policy, const struct msp_policy_site *site,
                     uint64_t bytes);

/* A move was made (or failed, and made no difference: then not to be called). */
void msp_policy_moved(struct msp_policy *policy, struct msp_piece *piece, int to);

/* The piece's block is freed. */
void msp_policy_freed(struct msp_policy *policy, const struct msp_piece *piece,
                      struct msp_policy_site *site);

/* The time of the best placement that never changes, known now: a lower bound, since a piece may
 * be divided at the end of a tier, and freed pieces count as on the fastest one. @p order as above.
 */
double msp_policy_best_ns(const struct msp_policy *policy, struct msp_piece *pieces, size_t count,
                          size_t *order);

#endif /* MEMSPAN_CORE_DEBUG_TIER_POLICY_H */
