/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_OMP_ENVIRONMENT_H
#define MEMSPAN_CORE_OMP_ENVIRONMENT_H

/* The text of OMP_ALLOCATOR, and the names of predefined allocators and spaces. */

#include "core/omp/abi.h"
#include <stdbool.h>

enum { MSP_OMP_TRAITS_MAX = 32 };

/* The allocator that a text describes. */
struct msp_omp_request {
    msp_omp_allocator_t allocator; /* a predefined one, vendors' included; else 0 and: */
    msp_omp_space_t space;
    memspan_trait_t traits[MSP_OMP_TRAITS_MAX];
    size_t trait_count;
};

/* Parse "omp_high_bw_mem_alloc", "omp_high_bw_mem_space" (the predefined allocator of that space),
 * or "omp_high_bw_mem_space:pinned=true,alignment=64". Case and blanks do not matter.
 * MEMSPAN_ERR_INVALID with the word at fault. */
memspan_status_t msp_omp_request_parse(const char *text, struct msp_omp_request *request_p);

/* The allocator with that name; 0 when there is none. */
msp_omp_allocator_t msp_omp_allocator_named(const char *name);

/* The predefined allocator of a predefined space, vendors' included; 0 for any other space. */
msp_omp_allocator_t msp_omp_allocator_of_space(msp_omp_space_t space);

#endif /* MEMSPAN_CORE_OMP_ENVIRONMENT_H */
