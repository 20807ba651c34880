/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMQUERY_MEASURE_WORK_H
#define MEMQUERY_MEASURE_WORK_H

/* The work on memory while it is measured. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int64_t measure_now_ns(void);

/* A chain of pointers through a block, every node once, in random order. */
struct measure_chain {
    void **nodes; /* addresses in the measured memory */
    size_t count; /* nodes */
    uint32_t *order;
    size_t at; /* position in the order where the next walk begins */
};

enum { MEASURE_STRIDE_BYTES = 128 }; /* a node a cache line, of the widest that exist */

/* Make the order and, in @p image (count * MEASURE_STRIDE_BYTES bytes), the contents of @p
 * nodes; false without memory. */
bool measure_chain_make(struct measure_chain *chain, void *nodes, size_t count, void *image);
void measure_chain_free(struct measure_chain *chain);

/* The first address of a walk, and the last one after @p steps. */
void *measure_chain_begin(const struct measure_chain *chain);
void *measure_chain_end(const struct measure_chain *chain, size_t steps);

/* Follow the chain in this thread; returns the last address. */
void *measure_walk(void *first, size_t steps);

/* z[i] += a * x[i] + y[i], @p passes times, on all processors of this process; returns elapsed
 * nanoseconds. */
int64_t measure_daxpy(double a, const double *x, const double *y, double *z, size_t count,
                      size_t passes);

/* array[i] = value, by the same threads. */
void measure_fill(double *array, size_t count, double value);

/* Bytes of the largest cache, or a typical size. */
size_t measure_cache_bytes(void);

#endif /* MEMQUERY_MEASURE_WORK_H */
