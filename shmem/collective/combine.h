/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_COLLECTIVE_COMBINE_H
#define MEMSPAN_SHMEM_COLLECTIVE_COMBINE_H

/* The arithmetic of reductions: one loop for each operation and C type. */

#include "shmem/collective/collective.h"

/* to[i] = x[i] OPERATION y[i]; to may be x or y. */
typedef void (*memspan_combine_t)(void *to, const void *x, const void *y, size_t count);

/* NULL: the type has no such operation. */
memspan_combine_t memspan_combine_of(enum memspan_reduction operation, enum memspan_number type);

size_t memspan_number_bytes(enum memspan_number type);

#endif /* MEMSPAN_SHMEM_COLLECTIVE_COMBINE_H */
