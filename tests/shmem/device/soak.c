/* SPDX-License-Identifier: BSD-3-Clause */
/* soak.c [MILLISECONDS]: the teams of a kernel make random operations on words of all PEs and
 * compare with a model in their own memory: each team has words of its own on every PE, and adds to
 * shared counters, whose sums are compared at the end. Between a put and the get of the same words
 * is a quiet, or a signal that this PE's own word gets. */

#include "tests/shmem/check.h"
#include <omp.h>
#include <shmemx.h>
#include <shmemx_device.h>
#include <stdlib.h>

enum { TEAMS = 64, SLOTS = 8, COUNTERS = 5, PES_MAX = 16, ROUNDS = 4 };

struct words {
    uint64_t slots[PES_MAX][TEAMS][SLOTS]; /* of each team of each PE, here */
    uint64_t swapped[PES_MAX][TEAMS];
    uint64_t signals[TEAMS];
    uint64_t counters[COUNTERS];
};

static uint64_t errors_of(shmemx_device_handle_t v, struct words *words, uint64_t *added,
                          uint64_t seed)
{
    uint64_t errors = 0;

#pragma omp target teams distribute num_teams(TEAMS) is_device_ptr(words, added) firstprivate(v)   \
    map(tofrom : errors) reduction(+ : errors)
    for (int team = 0; team < TEAMS; team++) {
        int me         = shmemx_device_my_pe(v);
        uint64_t state = seed + (uint64_t)((me * TEAMS) + team);
        uint64_t before[PES_MAX];
        uint64_t model[SLOTS];

        for (int pe = 0; pe < shmemx_device_n_pes(v); pe++) {
            before[pe] = shmemx_device_uint64_atomic_fetch(v, &words->swapped[me][team], pe);
        }
        for (int i = 0; i < ROUNDS; i++) {
            uint64_t random = check_random(&state);
            int pe          = (int)(random % (uint64_t)shmemx_device_n_pes(v));
            int slot        = (int)((random >> 8) % SLOTS);
            int counter     = (int)((random >> 16) % COUNTERS);
            uint64_t *there = words->slots[me][team];

            for (int j = 0; j < SLOTS; j++) {
                model[j] = check_random(&state);
            }
            shmemx_device_putmem(v, there, model, sizeof model, pe);
            (void)shmemx_device_fence(v);
            model[slot] = random;
            shmemx_device_uint64_p(v, &there[slot], random, pe);
            errors += (uint64_t)shmemx_device_quiet(v);
            errors += (shmemx_device_uint64_g(v, &there[slot], pe) == random) ? 0 : 1;
            for (int j = 0; j < SLOTS; j++) {
                errors += (shmemx_device_uint64_atomic_fetch(v, &there[j], pe) == model[j]) ? 0 : 1;
            }
            shmemx_device_uint64_atomic_add(v, &words->counters[counter], random & 0xff, pe);
            added[(((size_t)team * PES_MAX) + (size_t)pe) * COUNTERS + (size_t)counter] +=
                random & 0xff;
            errors += (shmemx_device_uint64_atomic_swap(v, &words->swapped[me][team], random, pe) ==
                       before[pe])
                          ? 0
                          : 1;
            before[pe] = random;
            shmemx_device_put_signal(v, there, model, sizeof model, &words->signals[team], 1,
                                     SHMEMX_DEVICE_SIGNAL_IS_ADD, pe);
        }
        errors += (uint64_t)shmemx_device_quiet(v);
    }
    return errors;
}

static uint64_t sum_of(const uint64_t *added, int pe, int counter)
{
    uint64_t sum = 0;

    for (size_t team = 0; team < TEAMS; team++) {
        sum += added[((team * PES_MAX) + (size_t)pe) * COUNTERS + (size_t)counter];
    }
    return sum;
}

int main(int argc, char **argv)
{
    double until    = omp_get_wtime() + ((argc > 1) ? atof(argv[1]) : 500) / 1000;
    uint64_t *added = calloc((size_t)TEAMS * PES_MAX * COUNTERS, sizeof *added);
    static uint64_t sums[COUNTERS];
    static uint64_t rounds;
    static int goes_on = 1;
    shmemx_device_handle_t view;
    struct words *words;
    uint64_t signals = 0;

    shmem_init();
    CHECK(shmem_n_pes() <= PES_MAX, "%d PEs", shmem_n_pes());
    words = shmem_calloc(1, sizeof *words);
    CHECK(shmemx_device_open(omp_get_default_device(), &view) == 0, "%s", memspan_error_text());
    for (uint64_t round = 0; goes_on; round++) {
        uint64_t errors = errors_of(view, words, added, round * 1000003);

        CHECK(errors == 0, "%d errors in round %d", (int)errors, (int)round);
        rounds = round + 1;
        shmem_barrier_all();
        if (shmem_my_pe() == 0) {
            for (int pe = 0; pe < shmem_n_pes(); pe++) {
                shmem_int_p(&goes_on, omp_get_wtime() < until, pe);
            }
        }
        shmem_barrier_all();
    }
    for (int pe = 0; pe < shmem_n_pes(); pe++) {
        for (int i = 0; i < COUNTERS; i++) {
            shmem_uint64_atomic_add(&sums[i], sum_of(added, pe, i), pe);
        }
    }
    shmem_barrier_all();
    for (int i = 0; i < COUNTERS; i++) {
        CHECK(words->counters[i] == sums[i], "counter %d: %d of %d", i, (int)words->counters[i],
              (int)sums[i]);
    }
    for (int i = 0; i < TEAMS; i++) {
        signals += words->signals[i];
    }
    shmem_barrier_all();
    if (shmem_my_pe() > 0) {
        shmem_uint64_atomic_add(&words->signals[0], signals, 0);
    }
    shmem_barrier_all();
    if (shmem_my_pe() == 0) {
        for (int i = 1; i < TEAMS; i++) {
            words->signals[0] += words->signals[i];
        }
        CHECK(words->signals[0] == rounds * TEAMS * ROUNDS * (uint64_t)shmem_n_pes(),
              "%d signals in %d rounds", (int)words->signals[0], (int)rounds);
    }
    CHECK(shmemx_device_close(view) == 0, "%s", memspan_error_text());
    free(added);
    shmem_finalize();
    return 0;
}
