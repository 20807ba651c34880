/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_ALLOCATOR_H
#define MEMSPAN_CORE_ALLOCATOR_H

/* Allocators beyond the public calls and their table (engine/allocator_record.h). */

#include "core/base/omp_hook.h"
#include "core/engine/allocator_record.h"

/* True when @p pointer lies in memory that is ours (live or not). No lock. */
bool msp_pointer_is_ours(const void *pointer);

/* Make sure that the plan is made. */
memspan_status_t msp_allocator_ensure_plan(struct msp_allocator *allocator);

/* The provider of ordinary blocks; NULL with an error. */
struct msp_provider *msp_allocator_provider(struct msp_allocator *allocator);

/* The account that the calling thread is charged to. NULL with an error recorded. */
struct msp_account *msp_allocator_account(struct msp_allocator *allocator);

/* The slow paths of memspan_aligned_alloc() and memspan_free(), behind the fast path
 * (core/engine/heap.h). Freeing a foreign pointer is no finding of the guard yet: the caller may
 * have another library to try. */
void *msp_allocate_slow(memspan_allocator_h allocator, size_t align_bytes, size_t size_bytes);
memspan_status_t msp_free_slow(uintptr_t entry, void *pointer); /* the entry of the pointer map */

/* A block of the allocator's pool, of any size, which memspan_free_on() can keep for its queue. */
void *msp_allocate_block(struct msp_allocator *allocator, size_t align_bytes, size_t size_bytes);

/* calloc on a boundary (omp_aligned_calloc). */
void *msp_allocate_zeroed(memspan_allocator_h allocator, size_t align_bytes, size_t count,
                          size_t size_bytes);

/* Of the live block that holds @p address; MEMSPAN_ALLOCATOR_NULL: there is none, or its allocator
 * was destroyed. query.c */
memspan_allocator_h msp_allocator_of_block(const void *address);

#endif /* MEMSPAN_CORE_ALLOCATOR_H */
