/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_SYMMETRIC_SYMMETRIC_HEAP_H
#define MEMSPAN_CORE_SYMMETRIC_SYMMETRIC_HEAP_H

/* A heap over one range of memory that it never touches and whose address it does not have: its
 * results are offsets. Heaps that were made alike and called alike give the same offsets, in every
 * process: nothing depends on addresses, time, chance, other heaps or other threads. Failing is a
 * part of that, so address space for every record that can come to be needed is reserved when a
 * heap is made, and the pages of records that are in use are all that it costs.
 *
 * Objects up to 1 KiB stand in slabs (symmetric_slab.h), larger ones are blocks of a fit.
 *
 * Threads: any may call, there is one lock a heap. The lock keeps the heap whole; it cannot order
 * the calls. Where several threads of a process use one heap, the program must see to it that they
 * call in the same order in every process, as OpenSHMEM requires of collective calls anyway.
 * Queries (find, measure, check) change nothing and may be called in one process alone. A child of
 * fork() must leave its parent's heaps alone: the lock may be held there for ever. */

#include "core/base/lock.h"
#include "core/symmetric/symmetric_slab.h"
#include <memspan/status.h>

/* A live block. Its place is larger than requested, by rounding. */
struct msp_symmetric_block {
    size_t offset_bytes;
    size_t size_bytes; /* asked for */
    size_t capacity_bytes;
};

struct msp_symmetric_measure {
    size_t size_bytes;         /* of the heap: the given size, down to whole units */
    size_t free_bytes;         /* in the place of no live block */
    size_t largest_free_bytes; /* the largest block that would be given now; small ones may find
                                  space in slabs although this is 0 */
    size_t live_bytes;         /* asked for */
    size_t peak_bytes;         /* the most that live_bytes has been */
    size_t live_count;
    uint64_t call_count;  /* allocations, frees and resizes, failed ones included */
    uint64_t call_digest; /* a number made of all those calls and their answers, in order */
};

struct msp_symmetric_heap {
    size_t base_align_bytes;
    msp_lock_t lock; /* guards all that follows */
    struct msp_fit fit;
    struct msp_range range;
    struct msp_symmetric_slabs slabs;
    bool has_slabs;    /* else small objects are blocks, too */
    size_t held_bytes; /* of the places of live blocks */
    size_t live_bytes;
    size_t peak_bytes;
    size_t live_count;
    uint64_t call_count;
    uint64_t call_digest;
};

/* A heap of @p size_bytes; the part beyond a multiple of 256 stays unused. Its memory will stand on
 * a boundary of @p base_align_bytes (a power of two) in every process: no more can be promised to
 * those who allocate. */
memspan_status_t msp_symmetric_heap_create(size_t size_bytes, size_t base_align_bytes,
                                           struct msp_symmetric_heap **heap_p);

/* Into a new heap: live blocks that an earlier one had, by ascending offset, each on a boundary of
 * 256 bytes. From now on all blocks are on such boundaries, so that any can be restored.
 * MEMSPAN_ERR_INVALID: they overlap, or are not in the heap. */
memspan_status_t msp_symmetric_heap_restore(struct msp_symmetric_heap *heap,
                                            const struct msp_symmetric_block *blocks, size_t count);

/* End a heap and its blocks. NULL is allowed. No other thread may be using it. */
void msp_symmetric_heap_destroy(struct msp_symmetric_heap *heap);

/* @p size_bytes (> 0) on a boundary of @p align_bytes (a power of two, at most that of the base).
 * MEMSPAN_ERR_NO_MEMORY when there is no space. */
memspan_status_t msp_symmetric_heap_alloc(struct msp_symmetric_heap *heap, size_t size_bytes,
                                          size_t align_bytes, size_t *offset_p);

/* Free the block that starts at that offset. MEMSPAN_ERR_NOT_FOUND, with a message about that
 * offset, when no live block does. */
memspan_status_t msp_symmetric_heap_free(struct msp_symmetric_heap *heap, size_t offset_bytes);

/* Another size (> 0) for the block that starts at @p offset_bytes. Where it can stay - it always
 * can when it shrinks and stands on that boundary - *offset_p is the same offset. Otherwise a
 * second block has been allocated at *offset_p and the first one is still live: the caller copies
 * the contents, then frees the first. On failure nothing has changed. */
memspan_status_t msp_symmetric_heap_resize(struct msp_symmetric_heap *heap, size_t offset_bytes,
                                           size_t size_bytes, size_t align_bytes, size_t *offset_p);

/* The live block whose place holds that offset, be it its first or not. MEMSPAN_ERR_NOT_FOUND when
 * there is none. */
memspan_status_t msp_symmetric_heap_find(struct msp_symmetric_heap *heap, size_t offset_bytes,
                                         struct msp_symmetric_block *block_p);

/* The requested bytes of the block that starts at that offset; fails as freeing does. */
memspan_status_t msp_symmetric_heap_size(struct msp_symmetric_heap *heap, size_t offset_bytes,
                                         size_t *size_p);

void msp_symmetric_heap_measure(struct msp_symmetric_heap *heap,
                                struct msp_symmetric_measure *measure_p);

/* Walk all invariants. */
memspan_status_t msp_symmetric_heap_check(struct msp_symmetric_heap *heap);

#endif /* MEMSPAN_CORE_SYMMETRIC_SYMMETRIC_HEAP_H */
