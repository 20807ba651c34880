/* SPDX-License-Identifier: BSD-3-Clause */
/* names.c: OpenSHMEM's own names in target regions: a heat equation on a ring of PEs, whose halos a
 * region exchanges, and atomic operations, locks and blocks of a second region. No region has a
 * view. The device's code calls no routine of the library (compile.sh). */

#define SHMEMX_DEVICE_NAMES
#include "tests/shmem/device/names.h"
#include "tests/shmem/check.h"
#include <memspan/device.h>
#include <omp.h>
#include <shmemx_device.h>
#include <stdlib.h>

enum { CELLS = 64, STEPS = 20, THREADS = 4, ROUNDS = 10, BYTES = 20000 };

/* ---- a heat equation: one value that all PEs know is spread ---- */

static void exchange(double *cells, uint64_t *signals, uint64_t step)
{
    int left  = (shmem_my_pe() + shmem_n_pes() - 1) % shmem_n_pes();
    int right = (shmem_my_pe() + 1) % shmem_n_pes();

    shmem_double_put_signal(&cells[CELLS + 1], &cells[1], 1, &signals[0], step, SHMEM_SIGNAL_SET,
                            left);
    shmem_putmem_signal_nbi(&cells[0], &cells[CELLS], sizeof *cells, &signals[1], 1,
                            SHMEM_SIGNAL_ADD, right);
    (void)shmem_signal_wait_until(&signals[0], SHMEM_CMP_GE, step);
    shmem_uint64_wait_until(&signals[1], SHMEM_CMP_GE, step);
}

static void heat(void)
{
    double *cells     = shmem_calloc(CELLS + 2, sizeof *cells);
    double *next      = calloc(CELLS + 2, sizeof *next);
    double *sum       = shmem_calloc(1, sizeof *sum);
    uint64_t *signals = shmem_calloc(2, sizeof *signals);
    int pe_count      = shmem_n_pes();

    cells[CELLS / 2] = 1000.0 * (1 + shmem_my_pe());
    shmem_barrier_all();
#pragma omp target is_device_ptr(cells, next, signals)
    for (uint64_t step = 1; step <= STEPS; step++) {
        exchange(cells, signals, step);
        for (int i = 1; i <= CELLS; i++) {
            next[i] = cells[i] + (0.25 * (cells[i - 1] - (2 * cells[i]) + cells[i + 1]));
        }
        for (int i = 1; i <= CELLS; i++) {
            cells[i] = next[i];
        }
        shmem_barrier_all(); /* before halos are overwritten */
    }
    for (int i = 1; i <= CELLS; i++) {
        sum[0] += cells[i];
    }
    shmem_double_sum_reduce(SHMEM_TEAM_WORLD, sum, sum, 1);
    CHECK((sum[0] > 500.0 * pe_count * (pe_count + 1) - 1e-6) &&
              (sum[0] < 500.0 * pe_count * (pe_count + 1) + 1e-6),
          "%g", sum[0]);
    shmem_free(signals);
    shmem_free(sum);
    free(next);
    shmem_free(cells);
}

/* ---- the other routines ---- */

static void atomics(void)
{
    long *counters = shmem_calloc(4, sizeof *counters);
    uint32_t *bits = shmem_calloc(2, sizeof *bits);
    long all       = (long)THREADS * ROUNDS * shmem_n_pes();
    long sum       = 0;
    int reached    = 0;

#pragma omp target parallel num_threads(THREADS) is_device_ptr(counters, bits)                     \
    map(tofrom : sum) reduction(+ : sum)
    for (int i = 0; i < ROUNDS; i++) {
        sum += shmem_long_atomic_fetch_add(&counters[0], 1, 0);
        shmem_long_atomic_add(&counters[1], 3, 0);
        shmem_long_atomic_inc(&counters[2], 0);
        shmem_uint32_atomic_or(&bits[0], (uint32_t)1 << shmem_my_pe(), 0);
        (void)shmem_uint32_atomic_fetch_xor(&bits[1], 5, 0);
        shmem_quiet();
    }
    shmem_long_atomic_add(&counters[3], sum, 0);
    shmem_barrier_all();
    if (shmem_my_pe() == 0) {
        CHECK((counters[0] == all) && (counters[1] == 3 * all) && (counters[2] == all), "%ld",
              counters[0]);
        CHECK(counters[3] == all * (all - 1) / 2, "fetched values are not 0 to %ld", all);
        CHECK((bits[0] == ((uint32_t)1 << shmem_n_pes()) - 1) && (bits[1] == 0), "%x", bits[0]);
    }
    shmem_barrier_all();
#pragma omp target is_device_ptr(counters) map(from : reached)
    {
        long *own = shmem_ptr(counters, shmem_my_pe());

        reached = (own == counters) && (shmem_long_test(&own[0], SHMEM_CMP_GE, 0) == 1);
        shmem_sync_all();
    }
    CHECK(reached == 1, "no pointer to own memory");
    shmem_free(bits);
    shmem_free(counters);
}

static void blocks(void)
{
    char *bytes  = shmem_calloc(1, BYTES);
    char *source = malloc(BYTES);
    char *back   = malloc(BYTES);
    long *word   = shmem_calloc(1, sizeof *word);
    long seen    = 0;

    for (size_t i = 0; i < BYTES; i++) {
        source[i] = (char)check_byte((uint64_t)shmem_my_pe(), i);
    }
    shmem_barrier_all();
#pragma omp target is_device_ptr(bytes, source, back, word) map(from : seen)
    {
        int next = (shmem_my_pe() + 1) % shmem_n_pes();

        shmem_putmem(bytes, source, BYTES, next);
        shmem_fence();
        shmem_long_p(word, 100L + shmem_my_pe(), next);
        shmem_quiet();
        shmem_char_get(back, bytes, BYTES, next);
        seen = shmem_long_g(word, next) - shmem_my_pe();
        shmem_barrier_all();
    }
    CHECK(seen == 100, "%ld", seen);
    for (size_t i = 0; i < BYTES; i++) {
        CHECK(back[i] == source[i], "byte %zu", i);
    }
    shmem_free(word);
    free(back);
    free(source);
    shmem_free(bytes);
}

int main(void)
{
    int device = (omp_get_num_devices() > 0) ? omp_get_default_device() : MEMSPAN_HOST;
    shmemx_device_handle_t view;
    int provided;

    CHECK(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) == 0, "%d", provided);
    CHECK(shmemx_device_open(device, &view) == 0, "%s", memspan_error_text());
    heat();
    atomics();
    blocks();
    CHECK(names_twice() == shmem_my_pe() * 2, "another file has another view");
    CHECK(shmemx_device_close(view) == 0, "%s", memspan_error_text());
    shmem_finalize();
    return 0;
}
