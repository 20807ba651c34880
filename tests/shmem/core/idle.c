/* SPDX-License-Identifier: BSD-3-Clause */
/* idle.c: how often PEs wake, and oversubscribed threads yield, while there is nothing to
 * do for them. Counts, no times. */

#include "tests/shmem/check.h"
#include "tests/shmem/core/sleeps.h"
#include <pthread.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 8, WAKES_AT_FIRST = 30, WAKES_A_SECOND = 10, YIELDS_MAX = 100 };

static long words[THREADS];

static double now_s(void)
{
    struct timespec at;

    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + ((double)at.tv_nsec * 1e-9);
}

/* The others sleep in a barrier to which PE 0 comes late. */
static void in_a_barrier(void)
{
    unsigned before = atomic_load(&sleeps_begun);
    double begin    = now_s();

    if (shmem_my_pe() == 0) {
        usleep(1200000);
    }
    shmem_barrier_all();
    CHECK(atomic_load(&sleeps_begun) - before <=
              WAKES_AT_FIRST + (WAKES_A_SECOND * (now_s() - begin)),
          "%u sleeps in %.1f seconds", atomic_load(&sleeps_begun) - before, now_s() - begin);
}

static void *wait_for_a_word(void *argument)
{
    shmem_long_wait_until(&words[(intptr_t)argument], SHMEM_CMP_EQ, 1);
    return NULL;
}

/* More threads than processors: all but one sleep after a few yields each. */
static void in_threads(void)
{
    pthread_t threads[THREADS];
    unsigned before = atomic_load(&yields_made);
    intptr_t i;

    for (i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, wait_for_a_word, (void *)i) == 0, "no thread");
    }
    usleep(200000);
    for (i = 0; i < THREADS; i++) {
        shmem_long_p(&words[i], 1, shmem_my_pe());
    }
    for (i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    CHECK(atomic_load(&yields_made) - before <= YIELDS_MAX,
          "%d threads of one processor: %u yields", THREADS, atomic_load(&yields_made) - before);
}

int main(void)
{
    int provided;

    (void)shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    in_a_barrier();
    if (shmem_n_pes() == 1) {
        in_threads();
    }
    shmem_finalize();
    return 0;
}
