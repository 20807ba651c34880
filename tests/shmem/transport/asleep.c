/* SPDX-License-Identifier: BSD-3-Clause */
/* asleep.c sleep|compute [SECONDS [LIMIT-S]]: one-sided operations need no help of their target.
 * Each PE but 0 is away, for SECONDS (5) or longer: it sleeps, or computes, without a call of the
 * library, until a plain load finds what PE 0 has put last. PE 0 starts every kind of operation on
 * each of them, and they are complete within LIMIT-S (1) together. Where they waited for the
 * target's help, neither would end. */

#include "tests/shmem/check.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    WORDS         = 8,
    LARGE         = 1 << 17,
    REPEATS       = 20,
    REPEATS_LARGE = 4,
    DEFAULT_S     = 5,
    AWAY_MAX_S    = 40
};

static double limit_s = 1; /* of all operations on one PE */

static long words[WORDS];
static uint64_t signal_word;
static long large_fetched[LARGE];
static long large_sent[LARGE];
static long *large; /* 1 MiB in the symmetric heap */
static long is_finished;

static double now_s(void)
{
    struct timespec at;

    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + ((double)at.tv_nsec * 1e-9);
}

/* ---- PE 0 ---- */

static double report(const char *what, double begin, int repeats, int pe)
{
    printf("%-22s PE %d: %10.2f us\n", what, pe, (now_s() - begin) * 1e6 / repeats);
    return now_s();
}

static void small_operations(int pe)
{
    double at = now_s();
    int i;

    for (i = 1; i <= REPEATS; i++) {
        shmem_long_p(&words[0], i, pe);
        shmem_quiet();
    }
    at = report("put 8 B + quiet", at, REPEATS, pe);
    for (i = 1; i <= REPEATS; i++) {
        CHECK(shmem_long_g(&words[0], pe) == REPEATS, "got %ld", shmem_long_g(&words[0], pe));
    }
    at = report("get 8 B", at, REPEATS, pe);
    for (i = 0; i < REPEATS; i++) {
        CHECK(shmem_long_atomic_fetch_inc(&words[1], pe) == i, "not %d", i);
    }
    at = report("fetch-inc", at, REPEATS, pe);
    for (i = 0; i < REPEATS; i++) {
        shmem_long_atomic_add(&words[2], 2, pe);
        shmem_quiet();
    }
    at = report("add + quiet", at, REPEATS, pe);
    for (i = 0; i < REPEATS; i++) {
        CHECK(shmem_long_atomic_compare_swap(&words[3], i, i + 1, pe) == i, "not %d", i);
    }
    (void)report("compare-swap", at, REPEATS, pe);
}

static void large_operations(int pe)
{
    double at = now_s();
    int i;

    for (i = 0; i < REPEATS_LARGE; i++) {
        shmem_long_put_nbi(large, large_sent, LARGE, pe);
        shmem_quiet();
    }
    at = report("put 1 MiB nbi + quiet", at, REPEATS_LARGE, pe);
    for (i = 0; i < REPEATS_LARGE; i++) {
        shmem_long_get(large_fetched, large, LARGE, pe);
    }
    at = report("get 1 MiB", at, REPEATS_LARGE, pe);
    CHECK(memcmp(large_fetched, large_sent, sizeof large_sent) == 0, "1 MiB came back changed");
    for (i = 0; i < REPEATS; i++) {
        shmem_long_put_signal(&words[4], &words[5], 1, &signal_word, 1, SHMEM_SIGNAL_ADD, pe);
        shmem_fence();
    }
    shmem_quiet();
    (void)report("put_signal + fence", at, REPEATS, pe);
}

static void operate(int pe)
{
    double begin = now_s();

    words[5] = 55;
    small_operations(pe);
    large_operations(pe);
    shmem_long_p(&is_finished, 1, pe);
    shmem_quiet();
    CHECK(now_s() - begin < limit_s, "operations on PE %d took %.3f s", pe, now_s() - begin);
}

/* ---- the others ---- */

static void be_away(bool computes)
{
    const struct timespec rest = {.tv_nsec = 50000000};
    volatile double x          = 1;

    if (!computes) {
        nanosleep(&rest, NULL);
        return;
    }
    for (int i = 0; i < 1000000; i++) {
        x = (x * 1.000001) + 1e-9;
    }
}

/* Until PE 0 is done, as far as this PE's memory says, and not shorter than @p seconds. */
static void stay_away(bool computes, double seconds)
{
    double begin = now_s();

    while ((now_s() - begin < seconds) || (__atomic_load_n(&is_finished, __ATOMIC_ACQUIRE) == 0)) {
        CHECK(now_s() - begin < AWAY_MAX_S, "nothing arrives while this PE is away");
        be_away(computes);
    }
}

static void verify(void)
{
    CHECK((words[0] == REPEATS) && (words[1] == REPEATS) && (words[2] == 2 * REPEATS) &&
              (words[3] == REPEATS) && (words[4] == 55) && (signal_word == REPEATS),
          "%ld %ld %ld %ld %ld %lu", words[0], words[1], words[2], words[3], words[4],
          (unsigned long)signal_word);
    CHECK((large[0] == 1) && (large[LARGE - 1] == LARGE), "the 1 MiB");
}

int main(int argc, char **argv)
{
    bool computes  = (argc > 1) && (strcmp(argv[1], "compute") == 0);
    double seconds = (argc > 2) ? strtod(argv[2], NULL) : DEFAULT_S;

    limit_s = (argc > 3) ? strtod(argv[3], NULL) : limit_s;
    shmem_init();
    large = shmem_calloc(LARGE, sizeof *large);
    for (int i = 0; i < LARGE; i++) {
        large_sent[i] = i + 1;
    }
    shmem_barrier_all();
    if (shmem_my_pe() != 0) {
        stay_away(computes, seconds);
        verify();
    } else {
        be_away(false); /* until the others are away */
        for (int pe = 1; pe < shmem_n_pes(); pe++) {
            operate(pe);
        }
    }
    shmem_barrier_all();
    shmem_free(large);
    shmem_finalize();
    return 0;
}
