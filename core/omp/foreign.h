/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_OMP_FOREIGN_H
#define MEMSPAN_CORE_OMP_FOREIGN_H

/* Handles and blocks of the real OpenMP runtime. They come from paths that cannot be interposed:
 * its own start-up, static copies, routines found with dlsym(). They are recognised and handed
 * back to it, never dereferenced. */

#include "core/omp/abi.h"
#include "core/omp/runtime.h"
#include <stdbool.h>

/* Read @p size bytes at any address; false when they cannot be read. Never faults. */
bool msp_omp_read_safely(const void *address, void *buffer, size_t size);

/* The space and the allocator of symmetric memory. It is the same as with a runtime's: the handle
 * is passed on to its runtime, and blocks are recorded. */
enum { MSP_OMP_SYMMETRIC = 300 };

/* A block of a real runtime. */
struct msp_omp_block {
    enum msp_omp_family family; /* MSP_OMP_FAMILY_COUNT: whichever comes next */
    size_t size_bytes;          /* that were requested; SIZE_MAX when unknown */
    msp_omp_allocator_t allocator;
};

/* True when the handle can be one that a runtime made: it is the address of bytes that look like
 * its record. False for predefined handles. */
bool msp_omp_foreign_is_allocator(msp_omp_allocator_t allocator);

/* The words before @p pointer, for tests: true when they are the record that the family writes
 * before its blocks. */
bool msp_omp_block_is_libgomp(const void *pointer, struct msp_omp_block *block_p);
bool msp_omp_block_is_libomp(const void *pointer, struct msp_omp_block *block_p);

/* True when @p pointer is the start of a live block that a real runtime made. */
bool msp_omp_foreign_recognise(const void *pointer, struct msp_omp_block *block_p);

/* Ask the real runtime for memory with a handle that is not ours. NULL with an error record when
 * the handle cannot be one of a runtime's, or there is no runtime. align_bytes 0: none requested.
 */
void *msp_omp_foreign_alloc(msp_omp_allocator_t allocator, size_t align_bytes, size_t size_bytes,
                            bool zeroed);

/* Give a block back to the runtime it came from. False, with an error record, when it is no block
 * of a runtime's. */
bool msp_omp_foreign_free(void *pointer);

#endif /* MEMSPAN_CORE_OMP_FOREIGN_H */
