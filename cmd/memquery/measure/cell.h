/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMQUERY_MEASURE_CELL_H
#define MEMQUERY_MEASURE_CELL_H

/* One memory, allocated to be measured from each device in turn. */

#include "cmd/memquery/measure/measure.h"
#include "cmd/memquery/measure/work.h"

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

/* Allocate memory of that resource. On failure memory->problem says why; close it in any case. */
void measure_memory_open(struct measure_memory *memory, const struct snapshot *snapshot,
                         const struct space_row *row, const struct resource *resource, bool full,
                         int64_t budget_ns);
void measure_memory_close(struct measure_memory *memory);

/* Measure it from that device, to which there is no obstacle, and fill the cell. */
void measure_memory_use(struct measure_memory *memory, const struct device_row *device,
                        const memspan_reach_t *reach, struct measure_cell *cell);

#endif /* MEMQUERY_MEASURE_CELL_H */
