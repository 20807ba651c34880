/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/common/bench.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
    double left  = *(const double *)a;
    double right = *(const double *)b;

    return (left > right) - (left < right);
}

bool bench_samples_add(struct bench_samples *samples, double value)
{
    if (samples->count == BENCH_ROUNDS_MAX) {
        return false;
    }
    samples->values[samples->count++] = value;
    return true;
}

static double spread(const double *values, size_t count, double mean)
{
    double sum = 0;

    if (count < 2) {
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        sum += (values[i] - mean) * (values[i] - mean);
    }
    return sqrt(sum / (double)(count - 1));
}

bool bench_samples_summarize(const struct bench_samples *samples, struct bench_summary *summary_p)
{
    double sorted[BENCH_ROUNDS_MAX];
    size_t count = samples->count;
    double sum   = 0;

    if (count == 0) {
        return false;
    }
    memcpy(sorted, samples->values, count * sizeof(sorted[0]));
    qsort(sorted, count, sizeof(sorted[0]), compare);
    for (size_t i = 0; i < count; i++) {
        sum += sorted[i];
    }
    summary_p->min    = sorted[0];
    summary_p->median = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
    summary_p->p99    = sorted[(99 * count + 99) / 100 - 1];
    summary_p->max    = sorted[count - 1];
    summary_p->mean   = sum / (double)count;
    summary_p->stddev = spread(sorted, count, summary_p->mean);
    return true;
}

double bench_samples_median(const struct bench_samples *samples)
{
    struct bench_summary summary;

    return bench_samples_summarize(samples, &summary) ? summary.median : NAN;
}
