/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_COLLECTIVE_COMBINE_H
#define MEMSPAN_SHMEM_COLLECTIVE_COMBINE_H

/* The arithmetic of reductions: one loop for each operation and C type. */

#include "shmem/collective/collective.h"

/* to[i] = x[i] OPERATION y[i]; to may be x or y. */
typedef void (*msp_combine_t)(void *to, const void *x, const void *y, size_t count);

/* NULL: the type has no such operation. */
msp_combine_t msp_combine_of(enum msp_reduction operation, enum msp_number type);

size_t msp_number_bytes(enum msp_number type);

#endif /* MEMSPAN_SHMEM_COLLECTIVE_COMBINE_H */
