/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_FIT_H
#define MEMSPAN_CORE_FIT_H

/* Two-level segregated fit: the free blocks of a pool by size, and the records of all its blocks.
 *
 * Sizes and offsets count units of 64 bytes. Records are numbered from 1 (0 is none) and live in
 * segments that never move. A bin holds free blocks of one size range: 16 ranges a power of two,
 * and two bitmaps find the first non-empty bin that is surely large enough in a few instructions.
 *
 * Threads: none of this locks; the pool does. */

#include "core/pool.h"

enum {
    MEMSPAN_UNIT_SHIFT          = 6, /* a cache line: no two blocks share one */
    MEMSPAN_FIT_SL_SHIFT        = 4,
    MEMSPAN_FIT_SL_COUNT        = 1 << MEMSPAN_FIT_SL_SHIFT,
    MEMSPAN_FIT_FL_COUNT        = 32 - MEMSPAN_FIT_SL_SHIFT,
    MEMSPAN_FIT_SEGMENT_SHIFT   = 10,
    MEMSPAN_FIT_SEGMENT_RECORDS = 1 << MEMSPAN_FIT_SEGMENT_SHIFT,
    MEMSPAN_FIT_SEGMENTS_MAX    = 1 << 16, /* 64 Mi blocks */
};
#define MEMSPAN_UNIT_BYTES ((size_t)1 << MEMSPAN_UNIT_SHIFT)

struct memspan_record {
    struct memspan_chunk *chunk;
    struct memspan_block_owner owner;
    uint32_t offset; /* units from the chunk's start */
    uint32_t size;   /* units; 0 for a block that is a whole chunk */
    uint32_t before; /* neighbours in the chunk */
    uint32_t after;
    uint32_t bin_before; /* neighbours in the bin; bin_after also links unused records */
    uint32_t bin_after;
    bool used;
};

struct memspan_fit {
    struct memspan_record *segments[MEMSPAN_FIT_SEGMENTS_MAX];
    uint32_t segment_count;
    uint32_t unused_record; /* head of the list of records without a block */
    uint32_t fl_map;
    uint32_t sl_map[MEMSPAN_FIT_FL_COUNT];
    uint32_t bins[MEMSPAN_FIT_FL_COUNT][MEMSPAN_FIT_SL_COUNT];
};

static inline struct memspan_record *memspan_fit_record(const struct memspan_fit *fit, uint32_t id)
{
    return &fit->segments[id >> MEMSPAN_FIT_SEGMENT_SHIFT][id & (MEMSPAN_FIT_SEGMENT_RECORDS - 1)];
}

static inline void *memspan_record_address(const struct memspan_record *r)
{
    return r->chunk->address + ((size_t)r->offset << MEMSPAN_UNIT_SHIFT);
}

/* Make sure that @p count more records can be had without failing. */
bool memspan_fit_reserve(struct memspan_fit *fit, unsigned count);

/* A blank record; one must have been reserved. */
uint32_t memspan_fit_new_record(struct memspan_fit *fit);
void memspan_fit_drop_record(struct memspan_fit *fit, uint32_t id);

/* Put a free block into its bin; take it out again. */
void memspan_fit_insert(struct memspan_fit *fit, uint32_t id);
void memspan_fit_remove(struct memspan_fit *fit, uint32_t id);

/* A free block for @p size units on a boundary; 0 if there is none. *skip_p: its units before that
 * boundary. First where any block of a bin is large enough, whatever its address; then, to leave
 * nothing unused, by looking. */
uint32_t memspan_fit_find(const struct memspan_fit *fit, uint32_t size, size_t align_bytes,
                          uint32_t *skip_p);

/* What does not hold of the bins, of which there should be @p free_count blocks in; NULL: all does.
 */
const char *memspan_fit_check(const struct memspan_fit *fit, size_t free_count);

#endif /* MEMSPAN_CORE_FIT_H */
