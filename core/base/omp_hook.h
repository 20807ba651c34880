/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_BASE_OMP_HOOK_H
#define MEMSPAN_CORE_BASE_OMP_HOOK_H

/* The calls from the rooms below OpenMP into it. These are weak references, which core/omp defines:
 * the first call of a program need not be one of OpenMP, so a registration could come too late, and
 * a call stays direct. In a library without core/omp they are NULL; the inline functions have the
 * result for that case (tests/layers/without_omp.c). */

#include <memspan/allocator.h>
#include <memspan/backend.h> /* memspan_part_t */
#include <stdbool.h>
#include <stdint.h>

#define MSP_OF_OMP __attribute__((weak))

/* ---- allocators ---- */

MSP_OF_OMP memspan_allocator_h msp_omp_default_allocator(void);
MSP_OF_OMP uint64_t msp_omp_allocator_scope(bool team);
MSP_OF_OMP memspan_allocator_h msp_omp_allocator_of_vendor(memspan_allocator_h allocator);

/* The default allocator of the calling task (def-allocator-var); may be a handle of the OpenMP
 * runtime's own. */
static inline memspan_allocator_h msp_allocator_default(void)
{
    return (msp_omp_default_allocator == NULL) ? MEMSPAN_ALLOCATOR_DEFAULT
                                               : msp_omp_default_allocator();
}

/* The parallel team (access pteam) or contention group (cgroup) of the calling thread, as a number.
 */
static inline uint64_t msp_allocator_scope(bool team)
{
    return (msp_omp_allocator_scope == NULL) ? 0 : msp_omp_allocator_scope(team);
}

/* Predefined handles of other implementations (LLVM 100-102, GCC 200-201 ...): the allocator of
 * ours that stands for it, made on first use; 0 when there is none. */
static inline memspan_allocator_h msp_allocator_of_vendor(memspan_allocator_h allocator)
{
    return (msp_omp_allocator_of_vendor == NULL) ? MEMSPAN_ALLOCATOR_NULL
                                                 : msp_omp_allocator_of_vendor(allocator);
}

/* ---- memory partitioners (OpenMP 6.0) ---- */

/* A program's callback divides each allocation over the resources of its space. */
struct msp_partitioning {
    const memspan_part_t *parts;
    size_t part_count;
    void *partition; /* the partitioner's own; see release */
};

MSP_OF_OMP bool msp_omp_partitioner_valid(uintptr_t partitioner);

/* True when @p partitioner (the value of the trait) is one that omp_init_mempartitioner() made and
 * omp_destroy_mempartitioner() has not ended. Never dereferences it otherwise. No other value is
 * given to the calls below. */
static inline bool msp_partitioner_valid(uintptr_t partitioner)
{
    return (msp_omp_partitioner_valid != NULL) && msp_omp_partitioner_valid(partitioner);
}

/* Divide @p size_bytes (a multiple of the space's page size). Follows the partitioner's lifetime:
 * static: one partition for equal (space, size); allocator: one for each (allocator, size);
 * dynamic: computed every time. MEMSPAN_ERR_INVALID when the parts do not add up, a part is no
 * multiple of the page size, or a resource does not exist. Called without any lock held. */
MSP_OF_OMP memspan_status_t msp_partitioner_divide(uintptr_t partitioner, uintptr_t argument,
                                                   uintptr_t allocator, memspan_space_h space,
                                                   size_t size_bytes,
                                                   struct msp_partitioning *partitioning_p);

/* The allocation that was divided has ended (dynamic partitions are released with it). */
MSP_OF_OMP void msp_partitioner_release(uintptr_t partitioner,
                                        struct msp_partitioning *partitioning);

/* The allocator has ended: its partitions of lifetime "allocator" are released. */
MSP_OF_OMP void msp_partitioner_forget_allocator(uintptr_t partitioner, uintptr_t allocator);

/* ---- places ---- */

MSP_OF_OMP int msp_omp_place_count(void);
MSP_OF_OMP int msp_omp_place_processors(int place, int *numbers, int capacity);

/* How many places the OpenMP runtime has; 0: none, or no runtime. Called without any lock held. */
static inline int msp_place_count(void)
{
    return (msp_omp_place_count == NULL) ? 0 : msp_omp_place_count();
}

/* How many processors the place has. Their numbers, where there is capacity for all. */
static inline int msp_place_processors(int place, int *numbers, int capacity)
{
    return (msp_omp_place_processors == NULL) ? 0
                                              : msp_omp_place_processors(place, numbers, capacity);
}

/* ---- target regions ---- */

/* Begin to see tasks of target regions (region_task.c). */
MSP_OF_OMP void msp_omp_watch_tasks(void);

#endif /* MEMSPAN_CORE_BASE_OMP_HOOK_H */
