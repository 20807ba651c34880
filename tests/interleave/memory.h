/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_INTERLEAVE_MEMORY_H
#define MEMSPAN_TESTS_INTERLEAVE_MEMORY_H

/* Memory as C11 has it (N1570, 5.1.2.4 and 7.17.3), without loads that see later stores.
 *
 * Each atomic object has the values that were stored to it, in order. A thread knows for each
 * object from which of them on it may still see. A load sees any of those; release and acquire,
 * memory fences, locks and membarrier() pass knowledge on. Other accesses are checked for data
 * races. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

uint64_t memory_load(const volatile void *address, unsigned size, int order, const void *place);
void memory_store(volatile void *address, unsigned size, uint64_t value, int order,
                  const void *place);
/* The new value from the old one; false: none is stored, and @p failure_order counts. */
typedef bool memory_change(uint64_t *value, uint64_t argument, uint64_t condition);
/* The old value. */
uint64_t memory_modify(volatile void *address, unsigned size, memory_change *change,
                       uint64_t argument, uint64_t condition, int order, int failure_order,
                       const void *place);
void memory_order(int order, const void *place);

/* An access that is not atomic. */
void memory_access(const volatile void *address, size_t size_bytes, bool is_write,
                   const void *place);
/* The range is new: no thread has used it. */
void memory_renew(const void *address, size_t size_bytes);
/* The range is free: no thread may use it any more. */
void memory_free(const void *address, size_t size_bytes, const void *place);

/* Every thread passes a sequentially consistent memory fence. */
void memory_barrier_of_all(void);
/* The thread has waited: it sees what is there by now. */
void memory_refresh(unsigned thread);
/* Knowledge goes through an object: the thread leaves its own there, or takes it. */
void memory_release_to(uintptr_t object, unsigned thread);
void memory_acquire_from(uintptr_t object, unsigned thread);

void memory_tick(unsigned thread);
void memory_thread_start(unsigned thread, unsigned parent);
void memory_thread_end(unsigned thread);
void memory_thread_join(unsigned thread); /* by the calling one */
/* In the child of a fork(): the other threads have done what they have done. */
void memory_keep_own(void);

/* File and line of a place in the code, in a buffer of its own. */
const char *memory_place(const void *place);
/* The same with the file's whole path. */
const char *memory_place_path(const void *place);

#endif /* MEMSPAN_TESTS_INTERLEAVE_MEMORY_H */
