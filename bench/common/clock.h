/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BENCH_CLOCK_H
#define MEMSPAN_BENCH_CLOCK_H

/* Nanoseconds that have passed, and nanoseconds of processor time that this process used: on a
 * machine that others use too the second is the steadier number. */

#include <stdint.h>
#include <sys/resource.h>
#include <time.h>

static inline int64_t bench_clock_read(clockid_t clock)
{
    struct timespec now;

    (void)clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline int64_t bench_clock_ns(void)
{
    return bench_clock_read(CLOCK_MONOTONIC);
}

static inline int64_t bench_clock_cpu_ns(void)
{
    return bench_clock_read(CLOCK_PROCESS_CPUTIME_ID);
}

/* Pages that this process touched for the first time, or again after giving them back: each costs
 * the kernel's time, which no clock shows apart. */
static inline int64_t bench_clock_faults(void)
{
    struct rusage usage;

    return (getrusage(RUSAGE_SELF, &usage) == 0) ? usage.ru_minflt + usage.ru_majflt : 0;
}

#endif /* MEMSPAN_BENCH_CLOCK_H */
