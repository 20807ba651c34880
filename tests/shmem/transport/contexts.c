/* SPDX-License-Identifier: BSD-3-Clause */
/* contexts.c: operations of one context are outstanding while another's are completed. JUDGE_LAZY
 * (network/judge_driver.c) starts those of a context with a queue of its own at its quiet, no
 * earlier: another quiet must not wait for them, and this one completes them. */

#include "tests/shmem/check.h"
#include <stdlib.h>

enum { WORDS = 1000, ROUNDS = 50 };

static long target[2][WORDS];
static long source[2][WORDS];
static long fetched[2];
static long counter = 40;
static long mark;
static int next;

static void start(shmem_ctx_t ctx, int which)
{
    int i;

    for (i = 0; i < WORDS; i++) {
        source[which][i] = 1 + which + i;
    }
    shmem_ctx_long_put_nbi(ctx, target[which], source[which], WORDS, next);
    shmem_ctx_long_atomic_fetch_nbi(ctx, &fetched[which], &counter, next);
}

static void check(int which, long from, const char *when)
{
    CHECK(shmem_long_g(&target[which][WORDS - 1], next) ==
              ((from != 0) ? from + which + WORDS - 1 : 0),
          "context %d %s", which, when);
    CHECK(fetched[which] == ((from != 0) ? 40 : 0), "fetched by context %d %s", which, when);
}

static void quiet_is_of_one_context(shmem_ctx_t first, shmem_ctx_t second)
{
    start(first, 0);
    start(second, 1);
    check(0, 0, "before quiet");
    check(1, 0, "before quiet");
    shmem_ctx_quiet(second);
    check(1, 1, "after its quiet");
    check(0, 0, "after the other's quiet");
    shmem_quiet();
    check(0, 0, "after the default context's quiet");
    shmem_ctx_fence(first);
    shmem_ctx_quiet(first);
    check(0, 1, "after its quiet");
}

/* Destroying a context completes it. */
static void destroying_completes(shmem_ctx_t ctx)
{
    source[0][WORDS - 1] = 77;
    shmem_ctx_long_put_nbi(ctx, target[0], source[0], WORDS, next);
    CHECK(shmem_long_g(&target[0][WORDS - 1], next) == WORDS, "it has begun");
    shmem_ctx_destroy(ctx);
    CHECK(shmem_long_g(&target[0][WORDS - 1], next) == 77, "it is not complete");
}

/* Barriers complete the default context, and no other. */
static void barriers_complete_the_default(shmem_ctx_t ctx)
{
    long round;

    shmem_ctx_long_put_nbi(ctx, target[1], source[0], WORDS, next);
    for (round = 1; round <= ROUNDS; round++) {
        shmem_long_put_nbi(&mark, &round, 1, next);
        shmem_barrier_all();
        CHECK(mark == round, "round %ld: the barrier has not completed a put", round);
        shmem_sync_all();
    }
    CHECK(target[1][WORDS - 1] == WORDS + 1, "a barrier has completed another context's put");
    shmem_barrier_all();
    shmem_ctx_quiet(ctx);
    CHECK(shmem_long_g(&target[1][WORDS - 1], next) == 77, "quiet has not");
}

int main(void)
{
    shmem_ctx_t first;
    shmem_ctx_t second;

    shmem_init();
    next = (shmem_my_pe() + 1) % shmem_n_pes();
    CHECK(!check_is_near(next), "mapped memory has no outstanding operations");
    CHECK((shmem_ctx_create(SHMEM_CTX_PRIVATE, &first) == 0) &&
              (shmem_ctx_create(SHMEM_CTX_SERIALIZED, &second) == 0),
          "contexts");
    shmem_barrier_all();
    quiet_is_of_one_context(first, second);
    shmem_barrier_all();
    destroying_completes(first);
    shmem_barrier_all();
    barriers_complete_the_default(second);
    shmem_ctx_destroy(second);
    shmem_finalize();
    return 0;
}
