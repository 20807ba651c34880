/* SPDX-License-Identifier: BSD-3-Clause */
/* unquiet.c: PE 0 does something in a private or serialized context, and without a quiet it waits
 * for what PE 1 does then; or a thread does it and ends, and PE 0 makes no call meanwhile. Each
 * time in another context, which has to connect to PE 1 first. */

#include "tests/shmem/check.h"
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

enum { BYTES = 1 << 20, SMALL_BYTES = 1000, ROW_BYTES = 16000, ROW = 400 };

static char target[BYTES];
static uint64_t told;
static uint64_t answer;
static char *source;

typedef void act(shmem_ctx_t ctx, uint64_t round);

static void put_word(shmem_ctx_t ctx, uint64_t round)
{
    shmem_ctx_uint64_p(ctx, &told, round, 1);
}

static void add(shmem_ctx_t ctx, uint64_t round)
{
    CHECK(round != 0, "rounds begin with 1");
    shmem_ctx_uint64_atomic_inc(ctx, &told, 1);
}

static void put_signal(shmem_ctx_t ctx, uint64_t round)
{
    shmem_ctx_putmem_signal(ctx, target, source, SMALL_BYTES, &told, round, SHMEM_SIGNAL_SET, 1);
}

/* More than a connection takes at once. */
static void put_row(shmem_ctx_t ctx, uint64_t round)
{
    int i;

    for (i = 0; i < ROW; i++) {
        shmem_ctx_putmem(ctx, target, source, ROW_BYTES, 1);
    }
    shmem_ctx_fence(ctx);
    shmem_ctx_uint64_p(ctx, &told, round, 1);
}

static void put_nonblocking(shmem_ctx_t ctx, uint64_t round)
{
    shmem_ctx_putmem_nbi(ctx, target, source, BYTES, 1);
    shmem_ctx_fence(ctx);
    shmem_ctx_uint64_p(ctx, &told, round, 1);
}

/* Small ones travel together, and the word with them. */
static void put_together(shmem_ctx_t ctx, uint64_t round)
{
    int i;

    for (i = 0; i < 3; i++) {
        shmem_ctx_putmem_nbi(ctx, target, source, 8, 1);
    }
    shmem_ctx_uint64_p(ctx, &told, round, 1);
}

static act *const acts[] = {add, put_word, put_signal, put_row, put_nonblocking, put_together};
enum { ACTS = sizeof acts / sizeof acts[0], ROUNDS = 5 * ACTS /* the first is 1 */ };

static shmem_ctx_t contexts[ROUNDS + 1];

static bool is_left(uint64_t round)
{
    return round > 2 * ACTS;
}

static void *act_in_context(void *round_p)
{
    const uint64_t round = *(const uint64_t *)round_p;
    const long options   = ((round - 1) / ACTS % 2 == 0) ? SHMEM_CTX_PRIVATE : SHMEM_CTX_SERIALIZED;

    if (round > 4 * ACTS) {
        contexts[round] = SHMEM_CTX_DEFAULT;
    } else {
        CHECK(shmem_ctx_create(options, &contexts[round]) == 0, "context");
    }
    acts[(round - 1) % ACTS](contexts[round], round);
    return NULL;
}

/* The private contexts of threads that end are destroyed by none: shmem_finalize() does so. */
static void act_and_leave(uint64_t round)
{
    const struct timespec pause = {0, 1000000};
    pthread_t thread;
    int i;

    CHECK(pthread_create(&thread, NULL, act_in_context, &round) == 0, "thread");
    pthread_join(thread, NULL);
    for (i = 0; (i < 20000) && (__atomic_load_n(&answer, __ATOMIC_ACQUIRE) != round); i++) {
        nanosleep(&pause, NULL);
    }
    CHECK(i < 20000, "round %llu has not arrived", (unsigned long long)round);
}

static void wait_without_quiet(uint64_t round)
{
    if (shmem_my_pe() == 1) {
        shmem_uint64_wait_until(&told, SHMEM_CMP_EQ, round);
        shmem_uint64_p(&answer, round, 0);
    } else if ((shmem_my_pe() == 0) && is_left(round)) {
        act_and_leave(round);
    } else if (shmem_my_pe() == 0) {
        (void)act_in_context(&round);
        shmem_uint64_wait_until(&answer, SHMEM_CMP_EQ, round);
    }
    shmem_barrier_all();
}

/* Nothing of it has left when the calls return: a thread that waits goes on with it. */
static void begin_and_wait(long options, uint64_t round)
{
    shmem_ctx_t ctx;
    int i;

    if (shmem_my_pe() == 1) {
        shmem_uint64_wait_until(&told, SHMEM_CMP_EQ, round);
        shmem_uint64_p(&answer, round, 0);
    } else if (shmem_my_pe() == 0) {
        CHECK(shmem_ctx_create(options, &ctx) == 0, "context");
        for (i = 0; i < 16; i++) {
            shmem_ctx_putmem_nbi(ctx, target, source, BYTES, 1);
        }
        shmem_ctx_putmem_signal_nbi(ctx, target, source, BYTES, &told, round, SHMEM_SIGNAL_SET, 1);
        shmem_uint64_wait_until(&answer, SHMEM_CMP_EQ, round);
        shmem_ctx_destroy(ctx);
    }
    shmem_barrier_all();
}

int main(void)
{
    uint64_t round;
    int level;

    CHECK(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &level) == 0, "start");
    source = calloc(1, BYTES);
    CHECK(source != NULL, "memory");
    for (round = 1; round <= ROUNDS; round++) {
        wait_without_quiet(round);
    }
    begin_and_wait(SHMEM_CTX_PRIVATE, round);
    begin_and_wait(SHMEM_CTX_SERIALIZED, round + 1);
    for (round = 1; (shmem_my_pe() == 0) && (round <= ROUNDS); round++) {
        if (!is_left(round)) {
            shmem_ctx_destroy(contexts[round]);
        }
    }
    free(source);
    shmem_finalize();
    return 0;
}
