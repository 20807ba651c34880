/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BENCH_STATS_H
#define MEMSPAN_BENCH_STATS_H

/* Samples of one measurement, one a round, and their summary. The median is compared: on a shared
 * machine a disturbance changes the mean. */

#include <stdbool.h>
#include <stddef.h>

#define BENCH_ROUNDS_MAX 64

struct bench_samples {
    double values[BENCH_ROUNDS_MAX];
    size_t count;
};

struct bench_summary {
    double min;
    double median; /* of an even number: the mean of the middle two */
    double p99;    /* nearest rank: with fewer than 100 samples the largest */
    double max;
    double mean;
    double stddev; /* of the sample (n - 1); 0 for a single one */
};

/* Add a sample; those beyond BENCH_ROUNDS_MAX are refused. */
bool bench_samples_add(struct bench_samples *samples, double value);

/* False, and nothing written, where there is no sample. */
bool bench_samples_summarize(const struct bench_samples *samples, struct bench_summary *summary_p);

/* The median, or NAN where there is no sample. */
double bench_samples_median(const struct bench_samples *samples);

#endif /* MEMSPAN_BENCH_STATS_H */
