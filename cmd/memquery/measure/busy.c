/* SPDX-License-Identifier: BSD-3-Clause */
/* busy.c: two sources. The kernel counts how long this thread was runnable without a processor
 * (schedstat), and how long all processors were used (/proc/stat, in ticks of 10 ms: of use for
 * longer work only). A missing file counts as no other work. */

#include "cmd/common/clock.h"
#include "cmd/memquery/measure/measure.h"
#include <stdio.h>
#include <unistd.h>

static const double most_waited   = 0.05; /* of the elapsed time */
static const double most_others   = 0.10; /* of all processors' time */
static const int64_t ticks_are_ns = 100000000;

static int64_t read_waited_ns(void)
{
    FILE *file             = fopen("/proc/thread-self/schedstat", "re");
    long long waited_ns    = 0;
    long long scheduled_ns = 0;

    if (file == NULL) {
        return 0;
    }
    if (fscanf(file, "%lld %lld", &scheduled_ns, &waited_ns) != 2) {
        waited_ns = 0;
    }
    fclose(file);
    return waited_ns;
}

static void read_ticks(struct measure_busy *busy)
{
    FILE *file                 = fopen("/proc/stat", "re");
    unsigned long long tick[8] = {0}; /* user nice system idle iowait irq softirq steal */

    busy->used = 0;
    busy->all  = 0;
    if (file == NULL) {
        return;
    }
    if (fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &tick[0], &tick[1], &tick[2],
               &tick[3], &tick[4], &tick[5], &tick[6], &tick[7]) == 8) {
        busy->used = tick[0] + tick[1] + tick[2] + tick[5] + tick[6] + tick[7];
        busy->all  = busy->used + tick[3] + tick[4];
    }
    fclose(file);
}

void measure_busy_begin(struct measure_busy *busy)
{
    busy->begin_ns  = cli_clock_ns();
    busy->waited_ns = read_waited_ns();
    busy->own_ns    = cli_clock_cpu_ns();
    read_ticks(busy);
}

bool measure_busy_end(const struct measure_busy *busy, bool alone)
{
    int64_t passed_ns = cli_clock_ns() - busy->begin_ns;
    double waited     = (double)(read_waited_ns() - busy->waited_ns);
    double ticks_s    = (double)sysconf(_SC_CLK_TCK);
    struct measure_busy now;
    double others;

    if (waited > most_waited * (double)passed_ns) {
        return true;
    }
    read_ticks(&now);
    if (!alone || (passed_ns < ticks_are_ns) || (now.all <= busy->all) || (busy->all == 0)) {
        return false;
    }
    others = (double)(now.used - busy->used) -
             (double)(cli_clock_cpu_ns() - busy->own_ns) * ticks_s / 1e9;
    return others > most_others * (double)(now.all - busy->all);
}
