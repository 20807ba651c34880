/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_PARTITIONER_H
#define MEMSPAN_CORE_PARTITIONER_H

/* Memory partitioners (OpenMP 6.0): a program's callback divides each allocation over the resources
 * of its space. The core asks here for the parts; the OpenMP calls that make and fill partitions
 * are in core/omp/. */

#include <memspan/backend.h> /* memspan_part_t */
#include <memspan/space.h>
#include <stdbool.h>
#include <stdint.h>

/* How one allocation is divided. */
struct msp_partitioning {
    const memspan_part_t *parts;
    size_t part_count;
    void *partition; /* the partitioner's own; see release */
};

/* True when @p partitioner (the value of the trait) is one that omp_init_mempartitioner() made and
 * omp_destroy_mempartitioner() has not ended. Never dereferences it otherwise. */
bool msp_partitioner_valid(uintptr_t partitioner);

/* Divide @p size_bytes (a multiple of the space's page size). Follows the partitioner's lifetime:
 * static: one partition for equal (space, size); allocator: one for each (allocator, size);
 * dynamic: computed every time. MEMSPAN_ERR_INVALID when the parts do not add up, a part is no
 * multiple of the page size, or a resource does not exist. Called without any lock held. */
memspan_status_t msp_partitioner_divide(uintptr_t partitioner, uintptr_t argument,
                                        uintptr_t allocator, memspan_space_h space,
                                        size_t size_bytes, struct msp_partitioning *partitioning_p);

/* The allocation that was divided has ended (dynamic partitions are released with it). */
void msp_partitioner_release(uintptr_t partitioner, struct msp_partitioning *partitioning);

/* The allocator is gone: its partitions of lifetime "allocator" are released. */
void msp_partitioner_forget_allocator(uintptr_t partitioner, uintptr_t allocator);

#endif /* MEMSPAN_CORE_PARTITIONER_H */
