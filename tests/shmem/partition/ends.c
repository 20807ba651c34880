/* SPDX-License-Identifier: BSD-3-Clause */
/* ends.c [BACKEND]: partition 5, which the host may not be able to touch, is the source and the
 * target of every operation at once. A backend that is off is a skip. */

#include "tests/shmem/check.h"
#include <memspan/memspan.h>
#include <shmemx.h>
#include <stdlib.h>
#include <string.h>

enum { PARTITION = 5, LARGE = 150001, SMALL = 64, ROUNDS = 2 };

static int me;
static int count;
static int to;
static int from;
static long values[3 * LARGE];

static long number(int pe, int round, int i)
{
    return ((long)pe * 1000000007L) + ((long)round * 1000003L) + i;
}

static long *allocate(size_t n)
{
    long *memory = shmemx_partition_calloc(n, sizeof(long), PARTITION);

    CHECK(memory != NULL, "%s", memspan_error_text());
    return memory;
}

/* This PE's numbers of @p round into its own copy. */
static void fill(long *memory, int n, int round)
{
    for (int i = 0; i < n; i++) {
        values[i] = number(me, round, i);
    }
    shmem_long_put(memory, values, (size_t)n, me);
}

static void verify(const char *what, const long *memory, int n, int pe, int round)
{
    memset(values, 0, sizeof values);
    shmem_long_get(values, memory, (size_t)n, me);
    for (int i = 0; i < n; i++) {
        CHECK(values[i] == number(pe, round, i), "%s: element %d of PE %d is %ld", what, i, pe,
              values[i]);
    }
    shmem_barrier_all();
}

static void move(shmem_ctx_t context, int n)
{
    long *source = allocate((size_t)n);
    long *dest   = allocate((size_t)n);

    for (int round = 0; round < ROUNDS; round++) {
        fill(source, n, round);
        shmem_barrier_all();
        shmem_ctx_long_put(context, dest, source, (size_t)n, to);
        shmem_ctx_quiet(context);
        shmem_barrier_all();
        verify("put", dest, n, from, round);
        shmem_ctx_long_get(context, dest, source, (size_t)n, to);
        verify("got", dest, n, to, round);
        shmem_ctx_long_put_nbi(context, dest, source, (size_t)n, to);
        shmem_ctx_quiet(context);
        shmem_barrier_all();
        verify("put, nonblocking", dest, n, from, round);
        shmem_ctx_long_get_nbi(context, dest, source, (size_t)n, to);
        shmem_ctx_quiet(context);
        verify("got, nonblocking", dest, n, to, round);
    }
    shmem_free(dest);
    shmem_free(source);
}

static void move_strided(int n)
{
    long *source = allocate((size_t)n * 2);
    long *dest   = allocate((size_t)n * 3);

    for (int gets = 0; gets < 2; gets++) {
        int owner = gets ? to : from;

        memset(values, 0, sizeof values);
        shmem_long_put(dest, values, (size_t)n * 3, me);
        fill(source, n * 2, 5);
        shmem_barrier_all();
        (gets ? shmem_long_iget : shmem_long_iput)(dest, source, 3, 2, (size_t)n, to);
        shmem_barrier_all();
        shmem_long_get(values, dest, (size_t)n * 3, me);
        for (int i = 0; i < n * 3; i++) {
            long wanted = (i % 3 == 0) ? number(owner, 5, i / 3 * 2) : 0;

            CHECK(values[i] == wanted, "strided: element %d is %ld, not %ld", i, values[i], wanted);
        }
        shmem_barrier_all();
    }
    shmem_free(dest);
    shmem_free(source);
}

/* The signal is in that memory too. */
static void signals(int n)
{
    long *source     = allocate((size_t)n);
    long *dest       = allocate((size_t)n);
    uint64_t *signal = (uint64_t *)allocate(1);

    for (int round = 1; round <= 2 * ROUNDS; round++) {
        fill(source, n, round);
        if (round % 2 == 0) {
            shmem_long_put_signal(dest, source, (size_t)n, signal, (uint64_t)round,
                                  SHMEM_SIGNAL_SET, to);
        } else {
            shmem_long_put_signal_nbi(dest, source, (size_t)n, signal, 1, SHMEM_SIGNAL_ADD, to);
        }
        (void)shmem_signal_wait_until(signal, SHMEM_CMP_GE, (uint64_t)round);
        verify("signalled", dest, n, from, round);
        CHECK(shmem_signal_fetch(signal) == (uint64_t)round, "%lu",
              (unsigned long)shmem_signal_fetch(signal));
        shmem_quiet();
        shmem_barrier_all();
    }
    shmem_free(signal);
    shmem_free(dest);
    shmem_free(source);
}

static void words(void)
{
    long *word = allocate(4);
    long old   = 0;

    shmem_long_p(word, 7 + me, to);
    shmem_barrier_all();
    CHECK(shmem_long_g(word, to) == 7 + me, "%ld", shmem_long_g(word, to));
    shmem_barrier_all();
    shmem_long_atomic_fetch_add_nbi(&old, word, 5, to);
    shmem_quiet();
    CHECK(old == 7 + me, "%ld", old);
    CHECK(shmem_long_atomic_compare_swap(word, 12 + me, 3, to) == 12 + me, "compared wrongly");
    shmem_barrier_all();
    shmem_long_p(word + 1, 1, to); /* seen by a PE that waits for it */
    shmem_long_wait_until(word + 1, SHMEM_CMP_EQ, 1);
    CHECK(shmem_long_atomic_swap(word, 4, to) == 3, "not swapped");
    shmem_barrier_all();
    shmem_free(word);
}

/* Element by element. */
static void exchange(long *dest, const long *source, int n)
{
    size_t all = (size_t)n * (size_t)count;

    shmem_long_alltoalls(SHMEM_TEAM_WORLD, dest, source, 1, 1, (size_t)n);
    shmem_long_get(values, dest, all, me);
    for (size_t i = 0; i < all; i++) {
        CHECK(values[i] == number((int)(i / (size_t)n), 9, (me * n) + (int)(i % (size_t)n)),
              "alltoalls %zu", i);
    }
    shmem_barrier_all();
}

static void collect(int n)
{
    size_t all   = (size_t)n * (size_t)count;
    long *source = allocate(all);
    long *dest   = allocate(all);

    fill(source, (int)all, 9);
    shmem_barrier_all();
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, dest, source, (size_t)n);
    shmem_long_get(values, dest, (size_t)n, me);
    for (int i = 0; i < n; i++) {
        long wanted = 0;

        for (int pe = 0; pe < count; pe++) {
            wanted += number(pe, 9, i);
        }
        CHECK(values[i] == wanted, "sum %d is %ld, not %ld", i, values[i], wanted);
    }
    shmem_barrier_all();
    shmem_long_fcollect(SHMEM_TEAM_WORLD, dest, source, (size_t)n);
    shmem_long_get(values, dest, all, me);
    for (size_t i = 0; i < all; i++) {
        CHECK(values[i] == number((int)(i / (size_t)n), 9, (int)(i % (size_t)n)), "fcollect %zu",
              i);
    }
    shmem_barrier_all();
    shmem_long_broadcast(SHMEM_TEAM_WORLD, dest, source, (size_t)n, 0);
    verify("broadcast", dest, n, 0, 9);
    if (n == SMALL) {
        exchange(dest, source, n);
    }
    shmem_free(dest);
    shmem_free(source);
}

static int is_on(const char *backend)
{
    for (int i = 0; i < memspan_backend_count(); i++) {
        memspan_backend_info_t info = {.struct_size = sizeof info};

        if ((strcmp(memspan_backend_name(i), backend) == 0) &&
            (memspan_backend_describe(i, &info) == MEMSPAN_OK)) {
            return info.on && (info.device_count > 0);
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    shmemx_partition_info_t info = {.struct_size = sizeof info};
    shmem_ctx_t context;

    if ((argc > 1) && !is_on(argv[1])) {
        printf("skipped: %s is off\n", argv[1]);
        return 77;
    }
    shmem_init();
    me    = shmem_my_pe();
    count = shmem_n_pes();
    to    = (me + 1) % count;
    from  = (me + count - 1) % count;
    CHECK(shmemx_partition_info(PARTITION, &info) == 0, "%s", memspan_error_text());
    CHECK(info.kind == SHMEMX_KIND_DEVICE, "given %s: %s", info.kind_name, info.why);
    CHECK((info.remote[0] != '\0') == (shmem_team_n_pes(SHMEM_TEAM_SHARED) < count), "%s",
          info.remote);
    move(SHMEM_CTX_DEFAULT, SMALL);
    move(SHMEM_CTX_DEFAULT, LARGE);
    CHECK(shmem_ctx_create(SHMEM_CTX_PRIVATE, &context) == 0, "no context");
    move(context, LARGE);
    shmem_ctx_destroy(context);
    move_strided(SMALL);
    signals(SMALL);
    signals(LARGE);
    words();
    collect(SMALL);
    collect(LARGE / count);
    shmem_finalize();
    return 0;
}
