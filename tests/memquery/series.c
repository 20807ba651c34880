/* SPDX-License-Identifier: BSD-3-Clause */
/* series.c: a figure is the median of repetitions that agree; outliers do not move it. */

#include "cmd/memquery/measure/measure.h"
#include <stdio.h>

static int failures;

static void expect(int holds, const char *what)
{
    if (!holds) {
        printf("FAILED: %s\n", what);
        failures++;
    }
}

static struct measure_series series_of(const double *values, size_t count, size_t *taken_p)
{
    struct measure_series series = {0};
    size_t i;

    for (i = 0; i < count; i++) {
        if (!measure_series_add(&series, values[i])) {
            i++;
            break;
        }
    }
    *taken_p = i;
    return series;
}

static int near(double a, double b)
{
    return (a > b * 0.999) && (a < b * 1.001);
}

int main(void)
{
    static const double alike[]  = {100, 101, 99, 7, 7, 7};
    static const double fast[]   = {20, 100, 101, 102, 7};
    static const double slow[]   = {100, 900, 101, 102, 7};
    static const double two[]    = {100, 20, 900, 101, 102, 99, 100, 7};
    static const double wild[20] = {10, 20, 30, 40, 50, 60, 70, 80, 90, 100,
                                    10, 20, 30, 40, 50, 60, 70, 80, 90, 100};
    struct measure_series series;
    size_t taken;

    series = series_of(alike, 6, &taken);
    expect(taken == 3, "three that agree are enough");
    expect(near(measure_series_median(&series), 100), "the median of three");
    expect(near(measure_series_spread(&series), 0.02), "the spread of three is all of them");

    series = series_of(fast, 5, &taken);
    expect(taken == 4, "one that is too fast asks for one more");
    expect(measure_series_agree(&series), "the others agree");
    expect(near(measure_series_median(&series), 100.5), "one that is too fast is not the figure");

    series = series_of(slow, 5, &taken);
    expect(taken == 4, "one that is too slow asks for one more");
    expect(near(measure_series_median(&series), 101.5), "one that is too slow is not the figure");

    series = series_of(two, 8, &taken);
    expect(taken < 8, "two outliers among six or seven");
    expect(near(measure_series_median(&series), 100) || near(measure_series_median(&series), 100.5),
           "two outliers are not the figure");

    series = series_of(wild, 20, &taken);
    expect(taken == MEASURE_SERIES_MOST, "there is an end to it");
    expect(!measure_series_agree(&series), "and that they do not agree is known");
    expect(measure_series_spread(&series) > 0.5, "as is how far they are apart");
    expect(!measure_series_add(&series, 1), "no more than there is room for");

    series = (struct measure_series){0};
    expect(near(1 + measure_series_median(&series), 1) && !measure_series_agree(&series),
           "nothing is no figure");
    return (failures == 0) ? 0 : 1;
}
