/* SPDX-License-Identifier: BSD-3-Clause */
/* idle_job.c barrier|wait|sleep [SECONDS]: what a job takes of the processors while nothing
 * happens: in a barrier to which PE 0 comes late; in a wait for a word that PE 0 sets late; in a
 * sleep of the program. The PEs have exchanged data before, so that connections stand. Processor
 * time, no clock: a loaded machine changes nothing. */

#include "tests/shmem/check.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { LIMIT_PERCENT = 10 }; /* the sanitizers' own threads, and code that is ten times slower */
#else
enum { LIMIT_PERCENT = 1 };
#endif
enum { DEFAULT_S = 4, WORDS = 512, PES_MAX = 64 };

/* Of each PE, however long it is idle: polls before it sleeps, and the end of the wait. */
static const double once_s = 0.01;

static long counter;
static long words[PES_MAX][WORDS]; /* one row for what each PE puts */
static long fetched[WORDS];
static long flag;
static double used_s;
static double total_s;

static double clock_s(clockid_t clock)
{
    struct timespec at;

    clock_gettime(clock, &at);
    return (double)at.tv_sec + ((double)at.tv_nsec * 1e-9);
}

static void rest(double seconds)
{
    struct timespec at = {.tv_sec = (time_t)seconds};

    at.tv_nsec = (long)((seconds - (double)at.tv_sec) * 1e9);
    nanosleep(&at, NULL);
}

/* Every PE has been a source and a target of every other. */
static void exchange_all(void)
{
    for (int pe = 0; pe < shmem_n_pes(); pe++) {
        shmem_long_get(fetched, words[shmem_my_pe()], WORDS, pe);
        shmem_long_atomic_inc(&counter, pe);
        shmem_long_put(words[shmem_my_pe()], fetched, WORDS, pe);
    }
    shmem_barrier_all();
    /* Not by a load: the thread sanitizer does not see the order through other processes. */
    CHECK(shmem_long_atomic_fetch(&counter, shmem_my_pe()) == shmem_n_pes(), "%ld", counter);
}

static void be_idle(const char *how, double seconds)
{
    int is_late = (shmem_my_pe() == 0) || (strcmp(how, "sleep") == 0);

    if (is_late) {
        rest(seconds);
    }
    if (strcmp(how, "barrier") == 0) {
        shmem_barrier_all();
    } else if (strcmp(how, "wait") == 0) {
        for (int pe = 0; is_late && (pe < shmem_n_pes()); pe++) {
            shmem_long_p(&flag, 1, pe);
        }
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
    }
}

int main(int argc, char **argv)
{
    const char *how = (argc > 1) ? argv[1] : "barrier";
    double seconds  = (argc > 2) ? strtod(argv[2], NULL) : DEFAULT_S;
    double wall;

    shmem_init();
    exchange_all();
    rest(0.2); /* what the start left to do is not idleness */
    shmem_barrier_all();
    used_s = -clock_s(CLOCK_PROCESS_CPUTIME_ID);
    wall   = -clock_s(CLOCK_MONOTONIC);
    be_idle(how, seconds);
    used_s += clock_s(CLOCK_PROCESS_CPUTIME_ID);
    wall += clock_s(CLOCK_MONOTONIC);
    shmem_double_sum_reduce(SHMEM_TEAM_WORLD, &total_s, &used_s, 1);
    if (shmem_my_pe() == 0) {
        printf("%s: %d PEs took %.3f %% of a processor\n", how, shmem_n_pes(),
               100 * total_s / wall);
    }
    CHECK(total_s < (wall * LIMIT_PERCENT / 100) + (once_s * shmem_n_pes()),
          "%s: %.1f ms of %d PEs in %.1f s", how, total_s * 1e3, shmem_n_pes(), wall);
    shmem_finalize();
    return 0;
}
