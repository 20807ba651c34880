/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BENCH_RMA_BATCH_H
#define MEMSPAN_BENCH_RMA_BATCH_H

/* Batches of one point: the same operation a number of times, by the clock, several times over. The
 * best batch says what the operation costs, the median includes disturbances.
 *
 * Only the C library and Linux: the compiler wrappers of all peers build this, with _GNU_SOURCE. */

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

enum { BATCHES_MAX = 11, BATCHES_QUICK = 2 };

/* Long against the 25 ns of the clock, short against a tick. */
enum { BATCH_NS = 100000, BATCH_QUICK_NS = 2000, POINT_NS = 200000000 };

struct batches {
    double per_operation_ns[BATCHES_MAX];
    size_t count;
    double spent_ns;
};

static inline double batch_now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

/* Sorted by insertion: the best is the first, the median in the middle. */
static inline void batches_add(struct batches *batches, double per_operation_ns)
{
    size_t at = batches->count++;

    while ((at > 0) && (batches->per_operation_ns[at - 1] > per_operation_ns)) {
        batches->per_operation_ns[at] = batches->per_operation_ns[at - 1];
        at--;
    }
    batches->per_operation_ns[at] = per_operation_ns;
}

static inline double batches_median(const struct batches *batches)
{
    return (batches->per_operation_ns[(batches->count - 1) / 2] +
            batches->per_operation_ns[batches->count / 2]) /
           2;
}

/* How many operations the next batch gets after @p operations of them took @p took_ns; 0: enough.
 * A batch that was too short is not counted, and the next one has twice as many. */
static inline size_t batches_next(struct batches *batches, size_t operations, double took_ns,
                                  bool quick)
{
    batches->spent_ns += took_ns;
    if ((took_ns < (quick ? BATCH_QUICK_NS : BATCH_NS)) && (operations < ((size_t)1 << 22))) {
        return 2 * operations;
    }
    batches_add(batches, took_ns / (double)operations);
    if ((batches->count == (quick ? (size_t)BATCHES_QUICK : (size_t)BATCHES_MAX)) ||
        (batches->spent_ns > POINT_NS)) {
        return 0;
    }
    return operations;
}

/* A point: its name, the best batch and the median one. */
static inline void batch_print(const char *point, double best, double median)
{
    printf("%s %.9g %.9g\n", point, best, median);
    (void)fflush(stdout); /* a figure counts also where the process crashes later */
}

/* Bind this process to one of the processors in @p allowed, by its index in turn. */
static inline void batch_bind(const cpu_set_t *allowed, int index)
{
    int left = index % CPU_COUNT(allowed);
    cpu_set_t one;

    for (int i = 0; i < CPU_SETSIZE; i++) {
        if (CPU_ISSET(i, allowed) && (left-- == 0)) {
            CPU_ZERO(&one);
            CPU_SET(i, &one);
            (void)sched_setaffinity(0, sizeof(one), &one);
            return;
        }
    }
}

#endif /* MEMSPAN_BENCH_RMA_BATCH_H */
