/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMQUERY_MEASURE_BUSY_H
#define MEMQUERY_MEASURE_BUSY_H

/* Detects other work on the processors during a measurement. */

#include <stdbool.h>
#include <stdint.h>

struct measure_busy {
    int64_t begin_ns;
    int64_t waited_ns; /* this thread, for a processor */
    int64_t own_ns;    /* processor time of this process */
    uint64_t used;     /* ticks of all processors, by all processes */
    uint64_t all;      /* ticks of all processors */
};

void measure_busy_begin(struct measure_busy *busy);

/* @p alone: this process alone works for the figure, so that other processes' use of the
 * processors counts; a device may be another process. */
bool measure_busy_end(const struct measure_busy *busy, bool alone);

#endif /* MEMQUERY_MEASURE_BUSY_H */
