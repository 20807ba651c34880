/* SPDX-License-Identifier: BSD-3-Clause */
/* poll.c: on one processor, a PE that loads a peer's word in a loop lets that peer run. The
 * processor's time of a round is compared with the same by shmem_test(), which is made for loops:
 * others on that processor lengthen a round, and take none of its PEs' time. */

#include "tests/shmem/check.h"
#include <shmem.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 41 };

static long word; /* of PE 0 and of PE 1, each written by its owner, or by the other one to test */

enum way { BY_TEST, BY_G, BY_GET, BY_FETCH, BY_SWAP, WAYS };

static double now_us(void)
{
    struct timespec at;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    return ((double)at.tv_sec * 1e6) + ((double)at.tv_nsec * 1e-3);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

static void await(enum way way, long round)
{
    int other = 1 - shmem_my_pe();
    long seen = 0;

    while (seen != round) {
        switch (way) {
        case BY_TEST:
            seen = shmem_long_test(&word, SHMEM_CMP_EQ, round) ? round : 0;
            break;
        case BY_G:
            seen = shmem_long_g(&word, other);
            break;
        case BY_GET:
            shmem_long_get(&seen, &word, 1, other);
            break;
        case BY_FETCH:
            seen = shmem_long_atomic_fetch(&word, other);
            break;
        case BY_SWAP:
        case WAYS:
            seen = shmem_long_atomic_compare_swap(&word, round, round, other);
            break;
        }
    }
}

static double median_us(enum way way)
{
    double took_us[ROUNDS];
    int me = shmem_my_pe();
    long round;

    word = 0;
    shmem_barrier_all();
    for (round = 1; round <= ROUNDS; round++) {
        double begin = now_us();

        if (me == 1) {
            await(way, round);
        }
        shmem_long_p(&word, round, (way == BY_TEST) ? 1 - me : me);
        shmem_quiet();
        if (me == 0) {
            await(way, round);
        }
        took_us[round - 1] = now_us() - begin;
    }
    shmem_barrier_all();
    qsort(took_us, ROUNDS, sizeof took_us[0], compare);
    return took_us[ROUNDS / 2];
}

int main(void)
{
    double tested_us;
    int way;

    shmem_init();
    tested_us = median_us(BY_TEST);
    for (way = BY_G; way < WAYS; way++) {
        double took_us = median_us((enum way)way);

        CHECK(took_us < (4 * tested_us) + 1500, "way %d takes %.0f us of processor, a test %.0f",
              way, took_us, tested_us);
    }
    shmem_finalize();
    return 0;
}
