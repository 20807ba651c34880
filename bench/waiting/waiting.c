/* SPDX-License-Identifier: BSD-3-Clause */
/* waiting.c: SECONDS of barriers, and of words handed around the ring of PEs; what one takes, in
 * microseconds. waiting.sh builds it with each library and runs it beside other work. */

#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BATCH = 16 };

static long word;
static int goes_on;

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (1e-9 * (double)now.tv_nsec);
}

static void pass_around(long turn)
{
    const int next = (shmem_my_pe() + 1) % shmem_n_pes();

    if (shmem_my_pe() == 0) {
        shmem_long_p(&word, turn, next);
        shmem_long_wait_until(&word, SHMEM_CMP_GE, turn);
    } else {
        shmem_long_wait_until(&word, SHMEM_CMP_GE, turn);
        shmem_long_p(&word, turn, next);
    }
    shmem_quiet();
}

/* PE 0 has the clock, and one answer for all. */
static int all_go_on(double end_s)
{
    const int answer = (now_s() < end_s);
    int pe;

    if (shmem_my_pe() == 0) {
        for (pe = shmem_n_pes() - 1; pe >= 0; pe--) {
            shmem_int_p(&goes_on, answer, pe);
        }
    }
    shmem_barrier_all();
    return goes_on;
}

static double measure(double seconds, int is_ring)
{
    static long turn;
    const double begin_s = now_s();
    long count           = 0;

    do {
        for (int i = 0; i < BATCH; i++) {
            if (is_ring) {
                pass_around(++turn);
            } else {
                shmem_barrier_all();
            }
        }
        count += BATCH + !is_ring;
    } while (all_go_on(begin_s + seconds));
    return 1e6 * (now_s() - begin_s) / (double)count;
}

int main(int argc, char **argv)
{
    const double seconds = (argc > 1) ? atof(argv[1]) : 1;
    double barrier_us;
    double ring_us;

    shmem_init();
    shmem_barrier_all();
    barrier_us = measure(seconds, 0);
    ring_us    = measure(seconds, 1);
    if (shmem_my_pe() == 0) {
        printf("barrier %.2f\nring %.2f\n", barrier_us, ring_us);
    }
    shmem_finalize();
    return 0;
}
