/* SPDX-License-Identifier: BSD-3-Clause */
/* contexts.c: operations of one context are outstanding while another's are completed. With
 * SHMEMX_LOOPBACK_LAZY nonblocking operations do not even begin before quiet or fence of their own
 * context: what has not arrived must not be waited for, and must arrive then. */

#include "tests/shmem/check.h"
#include <stdlib.h>

enum { WORDS = 1000 };

static long target[2][WORDS];
static long source[2][WORDS];
static long fetched[2];
static long counter = 40;
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
    long value = 77;

    shmem_ctx_long_put_nbi(ctx, &target[0][0], &value, 1, next);
    CHECK(shmem_long_g(&target[0][0], next) == 1, "it has begun");
    shmem_ctx_destroy(ctx);
    CHECK(shmem_long_g(&target[0][0], next) == 77, "it is not complete");
}

/* Collectives complete the default context where they are barriers, and no other. */
static void barriers_complete_the_default(shmem_ctx_t ctx)
{
    long value = 5;

    shmem_long_put_nbi(&target[1][0], &value, 1, next);
    shmem_ctx_long_put_nbi(ctx, &target[1][1], &value, 1, next);
    shmem_sync_all();
    CHECK(shmem_long_g(&target[1][0], next) == 2, "sync has completed a put");
    shmem_sync_all();
    shmem_barrier_all();
    CHECK(target[1][0] == 5, "the barrier has not completed a put");
    CHECK(target[1][1] == 3, "the barrier has completed another context's put");
    shmem_barrier_all();
    shmem_ctx_quiet(ctx);
    CHECK(shmem_long_g(&target[1][1], next) == 5, "quiet has not");
}

int main(void)
{
    shmem_ctx_t first;
    shmem_ctx_t second;

    shmem_init();
    next = (shmem_my_pe() + 1) % shmem_n_pes();
    CHECK(!check_is_near(next), "mapped memory has no outstanding operations");
    CHECK((shmem_ctx_create(0, &first) == 0) && (shmem_ctx_create(0, &second) == 0), "contexts");
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
