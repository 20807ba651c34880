/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_ALLOCATABLE_H
#define MEMSPAN_CORE_ALLOCATABLE_H

#include <memspan/allocator.h>

/* Calls of the Fortran module memspan (include/fortran/memory.py); no header declares them. */

/* What the compiler of the module says of itself, by compiler_version() and compiler_options(); the
 * first call. flang 23 compiles an assignment that changes the size of an allocatable variable to
 * malloc() and free(), which ends a program whose variable is placed: MEMSPAN_ERR_UNSUPPORTED,
 * unless -fno-realloc-lhs rules such assignments out. */
MEMSPAN_API memspan_status_t memspan_fortran_compiled(const char *version, const char *options);

/* From now on flang's runtime allocates the variable of this descriptor, of ISO_Fortran_binding.h,
 * from the allocator. The variable is allocatable and not allocated. Errors:
 * MEMSPAN_ERR_UNSUPPORTED where the compiler's allocate has no such choice, MEMSPAN_ERR_INVALID,
 * MEMSPAN_ERR_LIMIT. */
MEMSPAN_API memspan_status_t memspan_fortran_place(void *descriptor, memspan_allocator_h allocator);

/* MEMSPAN_OK: the allocate statement of a placed variable, which gave this address, was compiled to
 * a call of the runtime. */
MEMSPAN_API memspan_status_t memspan_fortran_placed(const void *pointer);

#endif /* MEMSPAN_CORE_ALLOCATABLE_H */
