/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_OMP_ENVIRONMENT_H
#define MEMSPAN_CORE_OMP_ENVIRONMENT_H

/* The text of OMP_ALLOCATOR, and the names of predefined allocators and spaces. */

#include "core/omp/abi.h"
#include <stdbool.h>

enum { MEMSPAN_OMP_TRAITS_MAX = 32 };

/* What an allocator text asks for. */
struct memspan_omp_wish {
    memspan_omp_allocator_t allocator; /* a predefined one, vendors' included; else 0 and: */
    memspan_omp_space_t space;
    memspan_trait_t traits[MEMSPAN_OMP_TRAITS_MAX];
    size_t trait_count;
};

/* Parse "omp_high_bw_mem_alloc", "omp_high_bw_mem_space" (the predefined allocator of that space),
 * or "omp_high_bw_mem_space:pinned=true,alignment=64". Case and blanks do not matter.
 * MEMSPAN_ERR_INVALID with the word at fault. */
memspan_status_t memspan_omp_wish_parse(const char *text, struct memspan_omp_wish *wish_p);

/* The allocator with that name; 0 when there is none. */
memspan_omp_allocator_t memspan_omp_allocator_named(const char *name);

/* The predefined allocator of a predefined space, vendors' included; 0 for any other space. */
memspan_omp_allocator_t memspan_omp_allocator_of_space(memspan_omp_space_t space);

#endif /* MEMSPAN_CORE_OMP_ENVIRONMENT_H */
