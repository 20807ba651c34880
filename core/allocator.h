/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_ALLOCATOR_H
#define MEMSPAN_CORE_ALLOCATOR_H

/* What the OpenMP room needs of allocators beyond the public calls. */

#include <memspan/allocator.h>
#include <stdbool.h>

/* True when the handle is predefined or names a live allocator of ours: two loads, no lock. A false
 * answer means that it is stale, garbage, or the OpenMP runtime's own. */
bool msp_allocator_known(memspan_allocator_h allocator);

/* True when the handle was ours once: it carries our mark. The runtime's own never do. */
bool msp_allocator_is_marked(memspan_allocator_h allocator);

/* True when @p pointer lies in memory that is ours (live or not). No lock. */
bool msp_pointer_is_ours(const void *pointer);

/* What memspan_aligned_alloc() and memspan_free() do when the short way (core/engine/heap.h) does
 * not serve. Freeing what is not ours is no finding of the guard yet: the caller may know who else
 * to ask. */
void *msp_allocate_slowly(memspan_allocator_h allocator, size_t align_bytes, size_t size_bytes);
memspan_status_t msp_free_slowly(void *pointer);

/* calloc on a boundary (omp_aligned_calloc). */
void *msp_allocate_zeroed(memspan_allocator_h allocator, size_t align_bytes, size_t count,
                          size_t size_bytes);

/* The default allocator of the calling task (OpenMP's def-allocator-var). Implemented in
 * core/omp/icv.c; may be a handle that only the OpenMP runtime knows. */
memspan_allocator_h msp_allocator_default(void);

/* Which parallel team (access pteam) or contention group (cgroup) the calling thread is in, as a
 * number. Implemented in core/omp/scope.c. */
uint64_t msp_allocator_scope(bool team);

/* Predefined handles of other implementations (LLVM 100-102, GCC 200-201 ...): the allocator of
 * ours that stands for it, made on first use; 0 when there is none. */
memspan_allocator_h msp_allocator_of_vendor(memspan_allocator_h allocator);

#endif /* MEMSPAN_CORE_ALLOCATOR_H */
