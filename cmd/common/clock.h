/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CMD_COMMON_CLOCK_H
#define CMD_COMMON_CLOCK_H

/* Wall-clock time and processor time of this process; on a shared machine the second is steadier.
 */

#include <stdint.h>
#include <sys/resource.h>
#include <time.h>

static inline int64_t cli_clock_read(clockid_t clock)
{
    struct timespec now;

    (void)clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline int64_t cli_clock_ns(void)
{
    return cli_clock_read(CLOCK_MONOTONIC);
}

static inline double cli_clock_s(void)
{
    return 1e-9 * (double)cli_clock_ns();
}

static inline int64_t cli_clock_cpu_ns(void)
{
    return cli_clock_read(CLOCK_PROCESS_CPUTIME_ID);
}

/* Page faults of this process: each costs time of the kernel, which no clock shows separately. */
static inline int64_t cli_clock_faults(void)
{
    struct rusage usage;

    return (getrusage(RUSAGE_SELF, &usage) == 0) ? usage.ru_minflt + usage.ru_majflt : 0;
}

#endif /* CMD_COMMON_CLOCK_H */
