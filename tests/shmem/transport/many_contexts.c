/* SPDX-License-Identifier: BSD-3-Clause */
/* many_contexts.c: operations of more contexts than a PE remembers to acknowledge arrive at it at
 * once, and the quiet of each context ends. Contexts that are destroyed leave no open files. What
 * they leave to the next context is as new: a serialized one that follows a private one may be
 * advanced by the wait of a thread that has used it, while another thread uses it. */

#include "tests/shmem/check.h"
#include <dirent.h>
#include <pthread.h>

enum { CONTEXTS = 12, ROUNDS = 400, LATER = 40, LIVES = 3, TURNS = 300 };

static long counters[CONTEXTS];
static shmem_ctx_t contexts[CONTEXTS];

static int count_files(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int files   = 0;

    CHECK(folder != NULL, "no /proc");
    while (readdir(folder) != NULL) {
        files++;
    }
    closedir(folder);
    return files;
}

static void make_and_destroy(int next)
{
    const int before = count_files();

    for (int i = 0; i < LATER; i++) {
        shmem_ctx_t context;

        CHECK(shmem_ctx_create(SHMEM_CTX_PRIVATE, &context) == 0, "context %d", i);
        shmem_ctx_long_atomic_add(context, &counters[0], 1, next);
        shmem_ctx_destroy(context);
    }
    CHECK(count_files() < before + (LATER / 2), "%d files are open, of %d before", count_files(),
          before);
}

/* ---- a second life ---- */

struct life {
    shmem_ctx_t context;
    int next;
    pthread_mutex_t turn;
};

/* In turns, as a serialized context asks for; waits for other operations between them. */
static void *use_in_turns(void *argument)
{
    struct life *life = argument;

    for (int i = 0; i < TURNS; i++) {
        pthread_mutex_lock(&life->turn);
        shmem_ctx_long_atomic_add(life->context, &counters[1], 1, life->next);
        if (i % 8 == 0) {
            shmem_ctx_quiet(life->context);
        }
        pthread_mutex_unlock(&life->turn);
        (void)shmem_long_g(&counters[2], life->next);
    }
    return NULL;
}

static void live_again(int next)
{
    struct life life = {.next = next};
    long before      = shmem_long_atomic_fetch(&counters[1], next);
    shmem_ctx_t private;
    pthread_t other;
    long there;

    CHECK(shmem_ctx_create(SHMEM_CTX_PRIVATE, &private) == 0, "a private context");
    shmem_ctx_long_atomic_add(private, &counters[1], 1, next);
    shmem_ctx_destroy(private);
    CHECK(shmem_ctx_create(SHMEM_CTX_SERIALIZED, &life.context) == 0, "a serialized context");
    pthread_mutex_init(&life.turn, NULL);
    CHECK(pthread_create(&other, NULL, use_in_turns, &life) == 0, "no thread");
    (void)use_in_turns(&life);
    pthread_join(other, NULL);
    pthread_mutex_destroy(&life.turn);
    shmem_ctx_destroy(life.context);
    there = shmem_long_atomic_fetch(&counters[1], next) - before;
    CHECK(there == 1 + 2 * TURNS, "%ld of %d", there, 1 + 2 * TURNS);
}

int main(void)
{
    int provided;
    int next;
    int round;
    int i;

    CHECK(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) == 0, "no threads");
    next = (shmem_my_pe() + 1) % shmem_n_pes();
    for (i = 0; i < CONTEXTS; i++) {
        CHECK(shmem_ctx_create(SHMEM_CTX_PRIVATE, &contexts[i]) == 0, "context %d", i);
    }
    for (round = 1; round <= ROUNDS; round++) {
        for (i = 0; i < CONTEXTS; i++) {
            shmem_ctx_long_atomic_add(contexts[i], &counters[i], 1, next);
        }
        for (i = 0; i < CONTEXTS; i++) {
            shmem_ctx_quiet(contexts[i]);
        }
        for (i = 0; i < CONTEXTS; i++) {
            long there = shmem_long_atomic_fetch(&counters[i], next);

            CHECK(there == round, "context %d, round %d: %ld", i, round, there);
        }
    }
    for (i = 0; i < CONTEXTS; i++) {
        shmem_ctx_destroy(contexts[i]);
    }
    make_and_destroy(next);
    for (i = 0; i < LIVES; i++) {
        live_again(next);
    }
    shmem_finalize();
    return 0;
}
