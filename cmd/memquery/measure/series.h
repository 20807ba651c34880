/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMQUERY_MEASURE_SERIES_H
#define MEMQUERY_MEASURE_SERIES_H

/* Repetitions of one figure, and whether they agree. */

#include <stdbool.h>
#include <stddef.h>

enum { MEASURE_SERIES_LEAST = 3, MEASURE_SERIES_MOST = 9 };

struct measure_series {
    size_t count;
    double values[MEASURE_SERIES_MOST]; /* in order of size */
};

/* Add a repetition. False when no more are needed: they agree, or the maximum is reached. */
bool measure_series_add(struct measure_series *series, double value);

/* The median: an outlier, fast or slow, does not move it. */
double measure_series_median(const struct measure_series *series);

/* Width of the middle half relative to the median. */
double measure_series_spread(const struct measure_series *series);

/* Is that small enough? */
bool measure_series_agree(const struct measure_series *series);

#endif /* MEMQUERY_MEASURE_SERIES_H */
