/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_OMP_NAMED_H
#define MEMSPAN_OMP_NAMED_H

/* The mapped variables that take memory from the devices' allocators (mapped.h): all, until the
 * program names some. mapped.c holds its lock around these functions. */

#include <memspan/allocator.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool msp_omp_named_has(const void *begin, size_t size_bytes);
memspan_status_t msp_omp_named_add(uintptr_t begin, size_t size_bytes);
memspan_status_t msp_omp_named_remove(uintptr_t begin);
/* Variables in its memory; until the end of the program. */
memspan_status_t msp_omp_named_add_allocator(memspan_allocator_h allocator);

#endif /* MEMSPAN_OMP_NAMED_H */
