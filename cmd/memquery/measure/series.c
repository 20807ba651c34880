/* SPDX-License-Identifier: BSD-3-Clause */
/* series.c: the median of repetitions, and the width of their middle half. The best repetition
 * is no figure: a slow machine in one and a clock step in another make it an outlier. */

#include "cmd/memquery/measure/measure.h"
#include <string.h>

static const double agreement = 0.05;

bool measure_series_add(struct measure_series *series, double value)
{
    size_t at = series->count;

    if (series->count == MEASURE_SERIES_MOST) {
        return false;
    }
    while ((at > 0) && (series->values[at - 1] > value)) {
        at--;
    }
    memmove(&series->values[at + 1], &series->values[at],
            (series->count - at) * sizeof(series->values[0]));
    series->values[at] = value;
    series->count++;
    return (series->count < MEASURE_SERIES_MOST) && !measure_series_agree(series);
}

double measure_series_median(const struct measure_series *series)
{
    size_t middle = series->count / 2;

    if (series->count == 0) {
        return 0;
    }
    return (series->count % 2 == 1) ? series->values[middle]
                                    : (series->values[middle - 1] + series->values[middle]) / 2;
}

/* Without a quarter at each end; of three, all. */
double measure_series_spread(const struct measure_series *series)
{
    size_t cut    = series->count / 4;
    double median = measure_series_median(series);

    if ((series->count == 0) || (median <= 0)) {
        return 0;
    }
    return (series->values[series->count - 1 - cut] - series->values[cut]) / median;
}

bool measure_series_agree(const struct measure_series *series)
{
    return (series->count >= MEASURE_SERIES_LEAST) && (measure_series_spread(series) <= agreement);
}
