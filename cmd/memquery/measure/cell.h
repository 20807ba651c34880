/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMQUERY_MEASURE_CELL_H
#define MEMQUERY_MEASURE_CELL_H

/* One memory, opened to be measured from each device in turn. */

#include "cmd/memquery/measure/measure.h"
#include "cmd/memquery/measure/work.h"

struct measure_bed {
    memspan_allocator_h allocator;
    memspan_kind_t kind;
    int home;
    double *arrays; /* three of them, one after the other */
    size_t count;   /* elements of each */
    void *nodes;
    struct measure_chain chain;
    void *result; /* in the same memory: where the end of a walk is written */
    int64_t budget_ns;
    char problem[256]; /* why there is no memory; "" */
};

/* Take memory of that resource. What fails is in bed->problem; close it in any case. */
void measure_bed_open(struct measure_bed *bed, const struct snapshot *snapshot,
                      const struct space_row *row, const struct resource *resource, bool full,
                      int64_t budget_ns);
void measure_bed_close(struct measure_bed *bed);

/* Measure it from that device, to which there is no obstacle; the cell says what came of it. */
void measure_bed_use(struct measure_bed *bed, const struct device_row *device,
                     const memspan_reach_t *reach, struct measure_cell *cell);

#endif /* MEMQUERY_MEASURE_CELL_H */
