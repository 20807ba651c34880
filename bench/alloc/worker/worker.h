/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BENCH_WORKER_H
#define MEMSPAN_BENCH_WORKER_H

/* One measurement of one allocator in a process of its own. A row is a function that writes its
 * points ("pair-64 3.61") to standard output. The rows are compiled once for each kind of
 * allocator, so that all of one kind run the same machine code.
 *
 * The helpers here allocate nothing: the allocator under test is alone in its process. */

#include "cmd/common/clock.h"
#include "kind.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct worker {
    kind_allocator allocator;
    bool custom; /* alignment 64, pool_size 4 GiB, null_fb, instead of the default allocator */
    bool quick;  /* for tests: few operations; the figures mean nothing */
};

/* A row; false where something failed that should not. */
typedef bool (*worker_row_fn)(const struct worker *worker);

bool worker_pair(const struct worker *worker);
bool worker_random(const struct worker *worker);
bool worker_threads(const struct worker *worker);
bool worker_handover(const struct worker *worker);
bool worker_footprint(const struct worker *worker);
bool worker_growth(const struct worker *worker);
bool worker_large(const struct worker *worker);
bool worker_arrays(const struct worker *worker);
bool worker_kept(const struct worker *worker);
bool worker_phases(const struct worker *worker);
bool worker_limit(const struct worker *worker);
bool worker_init(const struct worker *worker);
bool worker_init_threads(const struct worker *worker);
bool worker_many(const struct worker *worker);
bool worker_team(const struct worker *worker);
bool worker_lookup(const struct worker *worker);
bool worker_device(const struct worker *worker);
bool worker_fill_uniform(const struct worker *worker);
bool worker_fill_log(const struct worker *worker);

/* Write one point. Several batches: their median. */
void worker_point(const char *name, double value);
double worker_median(double *values, size_t count);

/* Resident memory of the process. */
double worker_resident_bytes(void);

/* @p count pointers, all NULL, resident, from the system, until the process ends. NULL after a
 * message. */
void **worker_blocks(size_t count);

/* A message on standard error; always false. */
bool worker_complain(const char *what);

/* Thread processor time. */
static inline double worker_now_ns(void)
{
    return (double)cli_clock_read(CLOCK_THREAD_CPUTIME_ID);
}

/* A timed loop: one aligned copy for all sizes and regions, so that points do not differ by code
 * placement. */
#if defined(__clang__)
#define WORKER_LOOP __attribute__((noinline, aligned(64)))
#else
#define WORKER_LOOP __attribute__((noinline, noclone, aligned(64)))
#endif

/* Keep the compiler from removing @p pointer; executes nothing. */
static inline void worker_escape(void *pointer)
{
    __asm__ volatile("" : : "r"(pointer) : "memory");
}

/* Cheap random numbers (Knuth's multiplier). */
struct worker_dice {
    uint64_t state;
};

static inline uint32_t worker_roll(struct worker_dice *dice)
{
    dice->state = dice->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(dice->state >> 32);
}

/* One of 0 .. bound - 1; bound at most 2^32. */
static inline size_t worker_below(struct worker_dice *dice, size_t bound)
{
    return (size_t)(((uint64_t)worker_roll(dice) * bound) >> 32);
}

/* 2^8 .. 2^20, each power of two as often as any other, evenly in between. */
static inline size_t worker_log_size(struct worker_dice *dice)
{
    size_t octave = (size_t)256 << worker_below(dice, 12);

    return octave + worker_below(dice, octave);
}

#endif /* MEMSPAN_BENCH_WORKER_H */
