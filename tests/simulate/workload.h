/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_SIMULATE_WORKLOAD_H
#define MEMSPAN_TESTS_SIMULATE_WORKLOAD_H

/* The program of a seed. All PEs draw the same numbers, so that each of them knows what the others
 * do. A phase has one writer for each word, or commutative atomic operations; barriers are between
 * phases. So the values behind each of them follow from the seed alone, and each PE compares all of
 * its memory. */

#include "simulate.h"
#include <shmem.h>

enum {
    WORDS    = 1024, /* of each PE: a part for each writer */
    OPS_MAX  = 24,   /* of a writer in a phase */
    COUNTERS = 6,
    ROUNDS   = 4,
    LONG     = 700, /* words that are no small message */
};

struct world {
    uint64_t random;
    int pe, count;
    long *words;                     /* [WORDS] */
    long model[SIM_PES][WORDS];      /* of all PEs */
    long *counters;                  /* [COUNTERS] */
    long sums[SIM_PES][COUNTERS];    /* their values */
    uint64_t *signals;               /* [SIM_PES], by sender */
    uint64_t sent[SIM_PES][SIM_PES]; /* their values: [receiver][sender] */
    long *block;                     /* [SIM_PES][LONG], by sender */
    long *lock, *locked;             /* what it guards */
    long held;                       /* its value */
    long *in, *out;                  /* of collectives: [SIM_PES * LONG] */
    bool is_static, has_threads;
};
extern struct world world;

/* As that PE; its status. */
int workload_run(int pe);

uint64_t workload_draw(uint64_t below);
/* One PE in so many is late. */
void workload_be_late(void);
/* All that was issued has taken effect. */
void workload_synchronise(void);

/* Phases (access.c). */
void workload_puts(void);
void workload_atomics(void);
void workload_tickets(void);
void workload_values(void);
/* One addition, of one of four kinds; the value before, or 0. */
long workload_add(shmem_ctx_t context, int kind, long *counter, long value, int pe);

#define CHECK(condition)                                                                           \
    SIM_EXPECT(condition, "PE %d, %s:%d: not so: %s", world.pe, __FILE_NAME__, __LINE__, #condition)
#define CHECK_EQUAL(value, expected)                                                               \
    do {                                                                                           \
        const long long value_    = (long long)(value);                                            \
        const long long expected_ = (long long)(expected);                                         \
        SIM_EXPECT(value_ == expected_, "PE %d, %s:%d: %s is %lld, not %lld", world.pe,            \
                   __FILE_NAME__, __LINE__, #value, value_, expected_);                            \
    } while (0)

#endif /* MEMSPAN_TESTS_SIMULATE_WORKLOAD_H */
