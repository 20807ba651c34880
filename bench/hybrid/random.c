/* SPDX-License-Identifier: BSD-3-Clause */
/* random.c: the table on the device, and its verification: an even number of equal runs leaves it
 * as it was. Two PEs that get a word at the same time lose an update; HPCC allows one in 100. */

#include "bench/hybrid/job.h"

enum { RUNS = 4, LEAST = 256, LEAST_NS = 100000000 };

/* The sequence begins with powers of two, most of which fall into one word. */
static const uint64_t skipped = 0x123456789a;

/* Product of polynomials over GF(2), modulo that of the sequence. */
static uint64_t multiply(uint64_t a, uint64_t b)
{
    uint64_t product = 0;

    for (; b != 0; b >>= 1) {
        product ^= ((b & 1) != 0) ? a : 0;
        a = random_next(a);
    }
    return product;
}

/* The n-th number, from 1 on. */
static uint64_t number_at(uint64_t n)
{
    uint64_t number = 1;
    uint64_t square = 2;

    for (; n != 0; n >>= 1) {
        number = ((n & 1) != 0) ? multiply(number, square) : number;
        square = multiply(square, square);
    }
    return number;
}

static void fill(uint64_t *table, size_t words, uint64_t first)
{
#pragma omp target teams distribute parallel for
    for (size_t i = 0; i < words; i++) {
        table[i] = first + i;
    }
}

static size_t count_errors(const uint64_t *table, size_t words, uint64_t first)
{
    size_t errors = 0;

#pragma omp target teams distribute parallel for map(tofrom : errors) reduction(+ : errors)
    for (size_t i = 0; i < words; i++) {
        errors += (table[i] == first + i) ? 0 : 1;
    }
    return errors;
}

void random_apply(uint64_t *table, const uint64_t *numbers, size_t count)
{
#pragma omp target teams distribute parallel for
    for (size_t i = 0; i < count; i++) {
#pragma omp atomic
        table[numbers[i] & (((uint64_t)1 << RANDOM_TABLE_BITS) - 1)] ^= numbers[i];
    }
}

/* Returns the time that all PEs took, in ns. */
static double time_updates(uint64_t *table, uint64_t number, size_t count, bool atomic)
{
    double began_ns;

    job_barrier();
    began_ns = batch_now_ns();
    random_update(table, number, count, atomic);
    job_barrier();
    return job_max(batch_now_ns() - began_ns);
}

/* So many updates that the clock can time them, at most @p most. Each is made twice. */
static size_t choose_count(uint64_t *table, uint64_t number, size_t most, bool atomic)
{
    size_t count = (most < LEAST) ? most : LEAST;

    while (
        (time_updates(table, number, count, atomic) + time_updates(table, number, count, atomic) <
         LEAST_NS) &&
        (2 * count <= most)) {
        count *= 2;
    }
    return count;
}

static bool run(const char *app, size_t updates, bool weak, bool atomic)
{
    size_t words           = (size_t)1 << RANDOM_TABLE_BITS;
    size_t most            = weak ? updates : updates / (size_t)job_count;
    uint64_t *table        = job_array(words * sizeof(*table));
    uint64_t number        = number_at(skipped + (uint64_t)job_pe * most);
    struct batches batches = {.count = 0};
    size_t count;
    double all;
    double errors;

    fill(table, words, (uint64_t)job_pe * words);
    count = choose_count(table, number, most, atomic);
    all   = (double)(count * (size_t)job_count);
    for (size_t i = 0; i < RUNS; i++) {
        job_progress(app, i, RUNS);
        batches_add(&batches, time_updates(table, number, count, atomic) / all);
    }
    job_progress(app, RUNS, RUNS);
    errors = job_sum((double)count_errors(table, words, (uint64_t)job_pe * words));
    job_array_free(table);
    job_print(app, weak, &batches, 1e3);
    return job_verify(app, errors, atomic ? 0 : 0.01 * RUNS * all);
}

bool random_run(size_t updates, bool weak)
{
    return run("random", updates, weak, false);
}

bool random_atomic_run(size_t updates, bool weak)
{
    return run("random-atomic", updates, weak, true);
}
