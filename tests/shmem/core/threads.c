/* SPDX-License-Identifier: BSD-3-Clause */
/* Several threads of each PE at once, each with a context and a team of its own: puts, atomics,
 * waits, collectives; contexts made and ended all the time. */

#include "tests/shmem/check.h"
#include <pthread.h>

enum { THREADS = 4, ROUNDS = 300 };

static long words[THREADS];
static long counters[THREADS];
static long sums[THREADS];
static long parts[THREADS];
static shmem_team_t teams[THREADS];
static int me;
static int count;

static void *work(void *argument)
{
    int t        = (int)(intptr_t)argument;
    int next     = (me + 1) % count;
    int previous = (me + count - 1) % count;
    long i;

    for (i = 1; i <= ROUNDS; i++) {
        shmem_ctx_t context;

        CHECK(shmem_ctx_create(SHMEM_CTX_SERIALIZED, &context) == 0, "context");
        shmem_ctx_long_p(context, &words[t], (i * 100) + me, next);
        shmem_ctx_long_atomic_add(context, &counters[t], 1, next);
        shmem_ctx_quiet(context);
        shmem_long_wait_until(&words[t], SHMEM_CMP_EQ, (i * 100) + previous);
        shmem_ctx_destroy(context);
        parts[t] = i;
        CHECK(shmem_long_sum_reduce(teams[t], &sums[t], &parts[t], 1) == 0, "sum");
        CHECK(sums[t] == i * count, "thread %d round %ld: %ld", t, i, sums[t]);
        CHECK(shmem_team_sync(teams[t]) == 0, "sync");
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    int provided = -1;
    int t;

    CHECK(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) == 0, "start");
    CHECK(provided == SHMEM_THREAD_MULTIPLE, "level %d", provided);
    me    = shmem_my_pe();
    count = shmem_n_pes();
    for (t = 0; t < THREADS; t++) {
        CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, count, NULL, 0, &teams[t]) == 0,
              "team %d", t);
    }
    for (t = 0; t < THREADS; t++) {
        CHECK(pthread_create(&threads[t], NULL, work, (void *)(intptr_t)t) == 0, "thread");
    }
    for (t = 0; t < THREADS; t++) {
        pthread_join(threads[t], NULL);
        CHECK(counters[t] == ROUNDS, "counter %d: %ld", t, counters[t]);
        shmem_team_destroy(teams[t]);
    }
    shmem_finalize();
    return 0;
}
