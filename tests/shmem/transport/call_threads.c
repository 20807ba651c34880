/* SPDX-License-Identifier: BSD-3-Clause */
/* call_threads.c: threads that call handlers at once, some of which call others. Handlers run one
 * at a time: also while one gives its processor to other threads, and counts are exact without
 * atomics. */

#include "tests/shmem/check.h"
#include <pthread.h>
#include <sched.h>
#include <shmemx.h>
#include <stdatomic.h>

enum { THREADS = 3 };

static uint64_t questions;
static uint64_t answers;
static int answer_id;
static int question_id;
static int rounds;
static atomic_int running; /* handlers */

/* Some give way to another thread, which would begin a handler. */
static void run_alone(void)
{
    CHECK(atomic_fetch_add(&running, 1) == 0, "two handlers run at once");
    if (questions % 64 == 0) {
        sched_yield();
    }
    atomic_fetch_sub(&running, 1);
}

static void answer(const void *payload, size_t size, int pe, void *data)
{
    (void)payload;
    (void)pe;
    (void)data;
    CHECK(size == 0, "%zu bytes", size);
    run_alone();
    answers++;
}

static void question(const void *payload, size_t size, int pe, void *data)
{
    const uint64_t *words = payload;

    (void)data;
    CHECK((size == 24) && (words[0] + words[1] == words[2]), "%zu bytes", size);
    run_alone();
    questions++;
    shmemx_call(SHMEM_CTX_DEFAULT, answer_id, NULL, 0, pe);
}

static void *call(void *argument)
{
    uint64_t state = (uint64_t)(uintptr_t)argument + ((uint64_t)shmem_my_pe() << 8);
    shmem_ctx_t ctx;
    int i;

    CHECK(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx) == 0, "a context");
    for (i = 0; i < rounds; i++) {
        const uint64_t draw     = check_random(&state) >> 1;
        const uint64_t words[3] = {draw, (uint64_t)i, draw + (uint64_t)i};

        shmemx_call((i % 3 == 0) ? ctx : SHMEM_CTX_DEFAULT, question_id, words, sizeof words,
                    (int)(draw % (uint64_t)shmem_n_pes()));
        if (i % 64 == 0) {
            shmem_ctx_quiet(ctx);
        }
    }
    shmem_ctx_quiet(ctx);
    shmem_ctx_destroy(ctx);
    return NULL;
}

int main(void)
{
    static uint64_t mine[2];
    static uint64_t all[2];
    pthread_t threads[THREADS];
    int provided;
    int i;

    CHECK((shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) == 0) &&
              (provided == SHMEM_THREAD_MULTIPLE),
          "threads");
    rounds = check_rounds(4000);
    CHECK((shmemx_handler_add(question, NULL, &question_id) == 0) &&
              (shmemx_handler_add(answer, NULL, &answer_id) == 0),
          "handlers");
    shmem_barrier_all();
    for (i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, call, (void *)(uintptr_t)i) == 0, "a thread");
    }
    for (i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    shmem_barrier_all();
    shmem_barrier_all();
    mine[0] = questions;
    mine[1] = answers;
    CHECK(shmem_uint64_sum_reduce(SHMEM_TEAM_WORLD, all, mine, 2) == 0, "sums");
    CHECK((all[0] == (uint64_t)(THREADS * rounds * shmem_n_pes())) && (all[1] == all[0]),
          "%lu questions, %lu answers", (unsigned long)all[0], (unsigned long)all[1]);
    CHECK(answers == (uint64_t)(THREADS * rounds), "%lu answers here", (unsigned long)answers);
    shmem_finalize();
    return 0;
}
