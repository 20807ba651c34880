/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_OMP_ALLOCATOR_H
#define MEMSPAN_CORE_OMP_ALLOCATOR_H

/* From the arguments of OpenMP calls to those of the core. */

#include "core/omp/abi.h"
#include <memspan/allocator.h>
#include <stdbool.h>

/* omp_init_allocator() for every caller (C, Fortran, compilers, OMP_ALLOCATOR). Calls no OpenMP
 * routine when the space is a host space: a runtime may be initialising itself, under its lock.
 * 0 with an error record on failure. */
msp_omp_allocator_t msp_omp_allocator_make(msp_omp_space_t space, int trait_count,
                                           const memspan_trait_t *traits);

/* Whose an allocator handle is. */
enum msp_omp_owner {
    MSP_OMP_OURS,   /* *allocator_p is a live allocator of ours */
    MSP_OMP_THEIRS, /* it may be the real runtime's own */
    MSP_OMP_UNKNOWN /* stale or impossible; the error record has which */
};

/* Resolve null, vendors' and special handles; the slow half of allocating calls. */
enum msp_omp_owner msp_omp_allocator_resolve(msp_omp_allocator_t allocator,
                                             memspan_allocator_h *allocator_p);

/* Add traits that a vendor's space or allocator implies, unless the program gave the same key.
 * @p traits has space for @p capacity; returns the new count. */
size_t msp_omp_vendor_traits(msp_omp_space_t space, memspan_trait_t *traits, size_t count,
                             size_t capacity);

/* The space of ours behind a handle given to an OpenMP call: 0 is the default, vendors' spaces
 * stand for target spaces with the default device. MEMSPAN_ERR_* when that cannot be had. */
memspan_status_t msp_omp_space_from(msp_omp_space_t space, memspan_space_h *space_p);

bool msp_omp_space_is_vendor(msp_omp_space_t space);

/* The allocator, made once, for a whole space with all traits at their default; it outlives every
 * omp_destroy_allocator(). */
msp_omp_allocator_t msp_omp_allocator_for_space(memspan_space_h space);

/* True for those. */
bool msp_omp_allocator_is_shared(msp_omp_allocator_t allocator);

/* Run the release callbacks of partitions whose allocator is destroyed. No lock held. */
void msp_omp_partitions_collect(void);

#endif /* MEMSPAN_CORE_OMP_ALLOCATOR_H */
