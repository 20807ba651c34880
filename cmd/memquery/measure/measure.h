/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMQUERY_MEASURE_H
#define MEMQUERY_MEASURE_H

#include "cmd/memquery/model/model.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* measure.c: --measure: bandwidth and latency of each memory from each device, by using it.
 *
 * The figures are in memory that all children share with the parent. A child names a cell before
 * it measures it: when a driver crashes or hangs, the next child leaves that cell out and
 * continues. */

/* How a device used the memory. */
enum measure_method {
    MEASURE_NOTHING,
    MEASURE_LOADS,  /* the host's threads, loads and stores */
    MEASURE_KERNEL, /* the library's built-in kernels on the device */
    MEASURE_COPY,   /* copies between it and the device's own memory: it cannot load and store */
    MEASURE_FILL    /* fills: the device has no built-in kernels */
};

enum measure_state {
    MEASURE_TODO,
    MEASURE_DONE,   /* at least one figure is known */
    MEASURE_WAIVED, /* it cannot be measured, or not without a change of state */
    MEASURE_FAILED  /* it should have been possible */
};

/* One memory from one device. Reasons are empty where the figure is known. */
struct measure_cell {
    char resource[48]; /* "node0", "cuda0.device" */
    char device[32];   /* "cuda:0" */
    enum measure_state state;
    enum measure_method method;
    double bandwidth_bytes_per_s; /* 0: not known */
    double latency_ns;            /* 0: not known */
    double bandwidth_spread;      /* of its repetitions, relative to the figure */
    double latency_spread;
    char bandwidth_reason[256];
    char latency_reason[256];
    int64_t measured_at; /* seconds since 1970; 0: never */
    bool full;           /* measured with the large sizes */
    bool settled;        /* the repetitions agreed */
    bool busy;           /* other work used the processors */
};

enum { MEASURE_CELLS_MAX = 2048 };

struct measure_figures {
    size_t count;
    int running;  /* index of the current cell; -1: none */
    int failures; /* cells during which a child ended */
    struct measure_cell cells[MEASURE_CELLS_MAX];
};

/* Measure in children and fill options->measure.figures. The exit code shows whether a driver
 * failed. */
int measure_run(struct options *options);

/* The cell of a resource's memory from a device of the snapshot; NULL where nothing was
 * measured. */
const struct measure_cell *measure_cell_of(const struct measure_figures *figures,
                                           const struct snapshot *snapshot,
                                           const struct resource *resource, size_t device);

/* The cell of a NUMA node's memory from the host, or NULL. */
const struct measure_cell *measure_cell_of_node(const struct measure_figures *figures,
                                                const struct snapshot *snapshot, int os_index);

/* The cell of a memory from a device, added where it is missing; NULL without space. */
struct measure_cell *measure_figures_cell(struct measure_figures *figures, const char *resource,
                                          const char *device);

/* Why the memory of a resource is never measured from that device, or NULL. */
const char *measure_obstacle(const struct snapshot *snapshot, const struct resource *resource,
                             size_t device);

/* Why the figure of a cell (which may be NULL) of that resource and device is missing, or "". */
const char *measure_reason(const struct measure_cell *cell, const struct snapshot *snapshot,
                           const struct resource *resource, size_t device);

/* The larger spread of the cell's figures in percent, rounded up. */
int measure_spread_percent(const struct measure_cell *cell);

/* "loads", "kernel", "copy", "fill", "". */
const char *measure_method_name(enum measure_method method);

/* "2026-11-21T15:02:11Z", or "" for never. */
struct measure_date {
    char text[32];
};
struct measure_date measure_date(int64_t seconds);

/* "measured now, quick"; "" where there is no figure. */
const char *measure_source(const struct measure_cell *cell);

/* "measured (quick) 2026-01-01T00:00:00Z"; "" where nothing was. */
void measure_dates(const struct measure_figures *figures, char *text, size_t size);

/* The section of the table; nothing without figures. */
void measure_print(const struct measure_figures *figures, const struct snapshot *snapshot,
                   FILE *out);

/* series.c: repetitions of one figure, and whether they agree. */

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

/* work.c: the work on memory while it is measured. */

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

/* busy.c: detects other work on the processors during a measurement. */

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

/* cell.c: one memory, allocated to be measured from each device in turn. */

struct measure_memory {
    memspan_allocator_h allocator;
    memspan_kind_t kind;
    int home;
    double *arrays; /* three, one after the other */
    size_t count;   /* elements of each */
    void *nodes;
    struct measure_chain chain;
    void *result; /* in the same memory: where a walk stores its last address */
    int64_t budget_ns;
    char problem[256]; /* why there is no memory, or "" */
};

/* Allocate memory of that resource. On failure memory->problem has the reason; close it in any
 * case. */
void measure_memory_open(struct measure_memory *memory, const struct snapshot *snapshot,
                         const struct space_row *row, const struct resource *resource, bool full,
                         int64_t budget_ns);
void measure_memory_close(struct measure_memory *memory);

/* Measure it from that device, to which there is no obstacle, and fill the cell. */
void measure_memory_use(struct measure_memory *memory, const struct device_row *device,
                        const memspan_reach_t *reach, struct measure_cell *cell);

#endif /* MEMQUERY_MEASURE_H */
