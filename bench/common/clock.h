/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BENCH_CLOCK_H
#define MEMSPAN_BENCH_CLOCK_H

/* Wall-clock time and processor time of this process; on a shared machine the second is steadier.
 */

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

/* Page faults of this process: each costs time of the kernel, which no clock shows separately. */
static inline int64_t bench_clock_faults(void)
{
    struct rusage usage;

    return (getrusage(RUSAGE_SELF, &usage) == 0) ? usage.ru_minflt + usage.ru_majflt : 0;
}

#endif /* MEMSPAN_BENCH_CLOCK_H */
