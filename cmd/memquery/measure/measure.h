/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMQUERY_MEASURE_H
#define MEMQUERY_MEASURE_H

/* --measure: bandwidth and latency of each memory from each device, by using it.
 *
 * The figures are in memory that all children share with the parent. A child names a cell before
 * it measures it: when a driver crashes or hangs, the next child leaves that cell out and
 * continues. */

#include "cmd/memquery/model/snapshot.h"
#include "cmd/memquery/options.h"
#include <stdint.h>

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

/* Measure in children and fill options->measure.figures. The exit code says whether a driver
 * failed. */
int measure_run(struct options *options);

/* The cell of a resource's memory from a device of the snapshot; NULL where nothing was
 * measured. */
const struct measure_cell *measure_cell_of(const struct measure_figures *figures,
                                           const struct snapshot *snapshot,
                                           const struct resource *resource, size_t device);

/* The cell of a memory from a device, added where it is missing; NULL without room. */
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

#endif /* MEMQUERY_MEASURE_H */
