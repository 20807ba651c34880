/* SPDX-License-Identifier: BSD-3-Clause */
/* unquiet.c: PE 0 does something in a private or serialized context, and without a quiet it waits
 * for what PE 1 does then. Each time in another context, which has to connect to PE 1 first. */

#include "tests/shmem/check.h"
#include <stdlib.h>

enum { BYTES = 1 << 20, SMALL_BYTES = 1000, ROW_BYTES = 16000, ROW = 400 };

static char target[BYTES];
static uint64_t told;
static uint64_t answer;
static char *source;
static shmem_ctx_t contexts[16];

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

static act *const acts[] = {add, put_word, put_signal, put_row, put_nonblocking};
enum { ACTS = sizeof acts / sizeof acts[0] };

static void wait_without_quiet(act *action, long options, uint64_t round)
{
    if (shmem_my_pe() == 1) {
        shmem_uint64_wait_until(&told, SHMEM_CMP_EQ, round);
        shmem_uint64_p(&answer, round, 0);
    } else if (shmem_my_pe() == 0) {
        CHECK(shmem_ctx_create(options, &contexts[round]) == 0, "context");
        action(contexts[round], round);
        shmem_uint64_wait_until(&answer, SHMEM_CMP_EQ, round);
    }
    shmem_barrier_all();
}

int main(void)
{
    uint64_t round;

    shmem_init();
    source = calloc(1, BYTES);
    CHECK(source != NULL, "memory");
    for (round = 1; round <= 2 * ACTS; round++) {
        wait_without_quiet(acts[(round - 1) % ACTS],
                           (round <= ACTS) ? SHMEM_CTX_PRIVATE : SHMEM_CTX_SERIALIZED, round);
    }
    for (round = 1; (shmem_my_pe() == 0) && (round <= 2 * ACTS); round++) {
        shmem_ctx_destroy(contexts[round]);
    }
    free(source);
    shmem_finalize();
    return 0;
}
