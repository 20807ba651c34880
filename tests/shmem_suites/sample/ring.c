/* SPDX-License-Identifier: BSD-3-Clause */
/* ring.c: puts, gets, signals and waits around a ring, in loops, branches and conditions, beside
 * operations of the host: a context, a put of long double, a collective, a freed block. */

#include <shmem.h>
#include <stdio.h>

enum { WORDS = 300, LAPS = 3 };

static uint64_t signals[2];
static long sum[2], total;

static int lap(long *block, long *copy, int number)
{
    int me   = shmem_my_pe();
    int next = (me + 1) % shmem_n_pes();
    int bad  = 0;

    for (int i = 0; i < WORDS; i++) {
        if (i % 7 == 0) {
            continue;
        }
        if (i == WORDS - 10) {
            break;
        }
        shmem_long_p(&block[i], (long)me * 1000 + i + number, next);
    }
    shmem_quiet();
    for (int i = 0; i < WORDS - 10; i++) {
        if (i % 7 != 0 && shmem_long_g(&block[i], next) != (long)me * 1000 + i + number) {
            printf("PE %d: word %d\n", me, i);
            bad++;
        }
    }
    shmem_long_get(copy, block, WORDS, next);
    shmem_putmem_signal(block, copy, WORDS * sizeof *copy, &signals[0], (uint64_t)number,
                        SHMEM_SIGNAL_SET, next);
    if (shmem_signal_wait_until(&signals[0], SHMEM_CMP_GE, (uint64_t)number) > LAPS) {
        bad++;
    }
    while (!shmem_uint64_test(&signals[0], SHMEM_CMP_GE, (uint64_t)number)) {
    }
    me = (me == 0) ? shmem_n_pes() - 1 : me - 1;
    for (int i = 0; i < WORDS - 10; i++) {
        bad += (i % 7 != 0 && block[i] != (long)me * 1000 + i + number) ? 1 : 0;
    }
    return bad;
}

int main(void)
{
    static long double wide;
    int bad = 0;

    shmem_init();
    long *block = shmem_malloc(WORDS * sizeof *block);
    long copy[WORDS];
    int me = shmem_my_pe(), all = shmem_n_pes();

    for (int i = 0; i < WORDS; i++) {
        block[i] = 0;
    }
    shmem_barrier_all();
    for (int number = 1; number <= LAPS; number++) {
        bad += lap(block, copy, number);
        shmem_barrier_all();
    }
    /* Outstanding on the host when a region's barrier begins. */
    shmem_ctx_long_put_nbi(SHMEM_CTX_DEFAULT, block, copy, WORDS, (me + 1) % all);
    shmem_longdouble_p(&wide, 2.5L, (me + 1) % all);
    shmem_barrier_all();
    bad += (wide == 2.5L) ? 0 : 1;
    sum[0] = me;
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &sum[1], &sum[0], 1);
    switch ((int)shmem_long_g(&sum[0], 0)) {
    case 0:
        shmem_long_atomic_add(&total, sum[1] + me, (me + 1) % all);
        break;
    default:
        bad++;
    }
    shmem_free(block);
    bad += (total == sum[1] + (me + all - 1) % all) ? 0 : 1;
    printf("PE %d of %d: %d wrong\n", me, all, bad);
    shmem_finalize();
    return bad != 0;
}
