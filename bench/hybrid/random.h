/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BENCH_HYBRID_RANDOM_H
#define MEMSPAN_BENCH_HYBRID_RANDOM_H

/* HPC Challenge's random access: words of a table over all PEs are combined with random numbers by
 * exclusive or. */

#include "bench/hybrid/job.h"

enum { RANDOM_TABLE_BITS = 20 }; /* words of a PE's part, as a power of two */

/* The number after @p number: HPCC's sequence, x^n modulo x^63 + x^2 + x + 1 over GF(2). */
static inline uint64_t random_next(uint64_t number)
{
    return (number << 1) ^ (((number >> 63) != 0) ? 7 : 0);
}

/* The number's word: of which PE, and which of its words. */
static inline int random_pe(uint64_t number)
{
    return (int)((number >> RANDOM_TABLE_BITS) & (uint64_t)(job_count - 1));
}

static inline size_t random_word(uint64_t number)
{
    return (size_t)(number & (((uint64_t)1 << RANDOM_TABLE_BITS) - 1));
}

/* On the device: combine words of this PE's part with @p count numbers. */
void random_apply(uint64_t *table, const uint64_t *numbers, size_t count);

/* The form: combine the words of the @p count numbers from @p number on, of any PE. Done when all
 * PEs have returned and met in a barrier. @p atomic: by an atomic operation for each, where the
 * form has one; else a word is got, combined and put. */
void random_update(uint64_t *table, uint64_t number, size_t count, bool atomic);

#endif /* MEMSPAN_BENCH_HYBRID_RANDOM_H */
