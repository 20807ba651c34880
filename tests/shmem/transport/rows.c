/* SPDX-License-Identifier: BSD-3-Clause */
/* rows.c: rows of small operations, which a transport may send together. They arrive although
 * nothing follows them, in order where a fence wants it, and in fewer messages than operations. */

#include "tests/shmem/check.h"
#include <shmemx.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    ROW         = 300,
    ROUNDS      = 100,
    WAIT_S      = 20,
    AREA_BYTES  = 128 << 10,
    LARGE_BYTES = 100000,
    COUNTED     = 1000,
    STRIDED     = 3000
};

static const size_t sizes[] = {8, 3, 100, 2048, 1, 5000, 16, 40000, 8, 700};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

static long words[ROW];
static long posted[ROW];
static long answer;
static long flag;
static long counter;
static unsigned char *area;
static unsigned char *local;
static int me;
static int next;

/* @p word becomes @p value, while this thread makes no calls that could help. */
static void await(const long *word, long value)
{
    const struct timespec step = {0, 1000000};
    int i;

    for (i = 0; (i < WAIT_S * 1000) && (__atomic_load_n(word, __ATOMIC_ACQUIRE) != value); i++) {
        nanosleep(&step, NULL);
    }
    CHECK(__atomic_load_n(word, __ATOMIC_ACQUIRE) == value, "%ld after %d s", *word, WAIT_S);
}

/* The last of a row is not followed by a quiet, nor by any other call. */
static void last_one_arrives(void)
{
    static long source[ROW];
    long round;
    int i;

    for (round = 1; round <= 10; round++) {
        for (i = 0; i < ROW; i++) {
            source[i] = round;
            shmem_long_put_nbi(&posted[i], &source[i], 1, next);
        }
        for (i = 0; i < ROW; i++) {
            shmem_long_p(&words[i], round, next);
        }
        await(&words[ROW - 1], round);
        shmem_quiet();
        shmem_barrier_all();
        CHECK(words[0] == round && posted[0] == round && posted[ROW - 1] == round, "round %ld",
              round);
        shmem_barrier_all();
    }
}

/* Rows of all sizes, with and without a wait of their caller, then a fence and a flag. */
static void fence_orders(shmem_ctx_t ctx)
{
    size_t at;
    int round;
    int i;

    flag = 0;
    shmem_barrier_all();
    for (round = 1; round <= ROUNDS; round++) {
        memset(local, round, AREA_BYTES);
        for (i = 0, at = 0; i < 2 * SIZES; at += sizes[i % SIZES], i++) {
            if ((i + round) % 3 == 0) {
                shmem_ctx_putmem(ctx, area + at, local + at, sizes[i % SIZES], next);
            } else {
                shmem_ctx_putmem_nbi(ctx, area + at, local + at, sizes[i % SIZES], next);
            }
        }
        shmem_ctx_fence(ctx);
        shmem_ctx_long_p(ctx, &flag, round, next);
        shmem_long_wait_until(&flag, SHMEM_CMP_GE, round);
        for (i = 0; i < (int)at; i++) {
            CHECK(area[i] == (unsigned char)round, "round %d, byte %d: %d", round, i, area[i]);
        }
        shmem_ctx_quiet(ctx);
        shmem_barrier_all();
    }
}

/* Of puts to one place, with a fence between them, the last one stays: small ones of which some may
 * wait, then a large one. */
static void last_one_stays(shmem_ctx_t ctx)
{
    int round;
    int i;

    for (round = 1; round <= ROUNDS; round++) {
        for (i = 0; i < SIZES; i++) {
            local[i] = 0;
            shmem_ctx_putmem_nbi(ctx, area, local + i, 1, next);
        }
        shmem_ctx_fence(ctx);
        memset(local + SIZES, round, LARGE_BYTES);
        shmem_ctx_putmem(ctx, area, local + SIZES, LARGE_BYTES, next);
        shmem_ctx_quiet(ctx);
        shmem_barrier_all();
        CHECK(area[0] == (unsigned char)round, "round %d: %d", round, area[0]);
        shmem_barrier_all();
    }
}

static void gets_bring(shmem_ctx_t ctx)
{
    static long fetched[ROW];
    size_t at;
    int round;
    int i;

    for (i = 0; i < AREA_BYTES; i++) {
        area[i] = check_byte((uint64_t)me, (size_t)i);
    }
    counter = me;
    shmem_barrier_all();
    for (round = 0; round < ROUNDS / 10; round++) {
        memset(local, 0, AREA_BYTES);
        memset(fetched, 0xff, sizeof fetched);
        for (i = 0, at = 0; i < ROW; at = (at + 97) % 4096, i++) {
            shmem_ctx_getmem_nbi(ctx, local + i * 16, area + at, 16, next);
            shmem_ctx_long_atomic_fetch_nbi(ctx, &fetched[i], &counter, next);
        }
        for (i = 0, at = 16 * ROW; i < SIZES; at += sizes[i], i++) {
            shmem_ctx_getmem_nbi(ctx, local + at, area + at, sizes[i], next);
        }
        shmem_ctx_quiet(ctx);
        for (i = 0; i < 16 * ROW; i++) {
            at = (((size_t)i / 16 * 97) % 4096) + ((size_t)i % 16);
            CHECK(local[i] == check_byte((uint64_t)next, at), "round %d, byte %d", round, i);
        }
        for (at = 16 * ROW; i < 16 * ROW + 40000; i++, at++) {
            CHECK(local[at] == check_byte((uint64_t)next, at), "round %d, byte %zu", round, at);
        }
        CHECK(fetched[0] == next && fetched[ROW - 1] == next, "%ld", fetched[ROW - 1]);
    }
    shmem_barrier_all();
}

/* Several pieces, each to its place. */
static void strided_gets_bring(shmem_ctx_t ctx)
{
    long *mine = (long *)(void *)local;
    long *all  = (long *)(void *)area;
    int i;

    for (i = 0; i < 2 * STRIDED; i++) {
        all[i] = (me * 100000L) + i;
    }
    shmem_barrier_all();
    shmem_ctx_long_iget(ctx, mine, all, 1, 2, STRIDED, next);
    for (i = 0; i < STRIDED; i++) {
        CHECK(mine[i] == (next * 100000L) + (2 * i), "element %d: %ld", i, mine[i]);
    }
    shmem_barrier_all();
}

/* All PEs to one, some of them fetching. */
static void sums_are_exact(shmem_ctx_t ctx)
{
    int i;

    answer = 0;
    shmem_barrier_all();
    for (i = 0; i < COUNTED; i++) {
        if (i % 100 == 99) {
            (void)shmem_ctx_long_atomic_fetch_add(ctx, &answer, 1, 0);
        } else {
            shmem_ctx_long_atomic_add(ctx, &answer, 1, 0);
        }
    }
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
    CHECK(me != 0 || answer == (long)COUNTED * shmem_n_pes(), "%ld", answer);
    shmem_barrier_all();
}

int main(void)
{
    shmem_ctx_t private = SHMEM_CTX_INVALID;

    shmem_init();
    me    = shmem_my_pe();
    next  = (me + 1) % shmem_n_pes();
    area  = shmem_malloc(AREA_BYTES);
    local = malloc(AREA_BYTES);
    CHECK((area != NULL) && (local != NULL), "no memory");
    CHECK(shmem_ctx_create(SHMEM_CTX_PRIVATE, &private) == 0, "no context");
    last_one_arrives();
    fence_orders(SHMEM_CTX_DEFAULT);
    fence_orders(private);
    last_one_stays(SHMEM_CTX_DEFAULT);
    last_one_stays(private);
    gets_bring(SHMEM_CTX_DEFAULT);
    gets_bring(private);
    strided_gets_bring(SHMEM_CTX_DEFAULT);
    strided_gets_bring(private);
    sums_are_exact(SHMEM_CTX_DEFAULT);
    sums_are_exact(private);
    shmem_ctx_destroy(private);
    free(local);
    shmem_finalize();
    return 0;
}
