/* SPDX-License-Identifier: BSD-3-Clause */
/* bell.c: whoever sleeps is woken by what he waits for, wherever in a put it lies: a lost ring
 * shows as the rest of a nap, a millisecond in the middle. Of many rounds the median counts: what
 * others do to the machine meanwhile is in the worst ones. */

#include "tests/shmem/check.h"
#include <shmem.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WORDS = 4096, ROUNDS = 31, STRIDE = 16 };

static long words[WORDS];
static double sent_at;
static long answer;

static double now_us(void)
{
    struct timespec at;

    clock_gettime(CLOCK_MONOTONIC, &at);
    return ((double)at.tv_sec * 1e6) + ((double)at.tv_nsec * 1e-3);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

static void send(size_t count, size_t stride, long round)
{
    long source[WORDS];
    size_t i;

    for (i = 0; i < count; i++) {
        source[i] = round;
    }
    usleep(1500 + (useconds_t)(round * 331 % 2000)); /* the other sleeps by then */
    shmem_double_p(&sent_at, now_us(), 1);
    if (stride == 1) {
        shmem_long_put(words, source, count, 1);
    } else {
        shmem_long_iput(words, source, (ptrdiff_t)stride, 1, count, 1);
    }
    shmem_long_wait_until(&answer, SHMEM_CMP_EQ, round);
}

static void last_of(size_t count, size_t stride)
{
    double late_us[ROUNDS];
    long round;

    memset(words, 0, sizeof words);
    answer = 0;
    shmem_barrier_all();
    for (round = 1; round <= ROUNDS; round++) {
        if (shmem_my_pe() == 0) {
            send(count, stride, round);
        } else {
            shmem_long_wait_until(&words[(count - 1) * stride], SHMEM_CMP_EQ, round);
            late_us[round - 1] = now_us() - sent_at;
            shmem_long_p(&answer, round, 0);
        }
    }
    if (shmem_my_pe() == 1) {
        qsort(late_us, ROUNDS, sizeof late_us[0], compare);
        CHECK(late_us[ROUNDS / 2] < 600, "the last of %zu words, %zu apart, was seen after %.0f us",
              count, stride, late_us[ROUNDS / 2]);
    }
    shmem_barrier_all();
}

int main(void)
{
    shmem_init();
    last_of(1, 1);
    last_of(64, 1);
    last_of(WORDS, 1);
    last_of(64, STRIDE);
    shmem_finalize();
    return 0;
}
