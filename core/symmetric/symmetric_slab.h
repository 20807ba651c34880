/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_SYMMETRIC_SYMMETRIC_SLAB_H
#define MEMSPAN_CORE_SYMMETRIC_SYMMETRIC_SLAB_H

/* Small objects of a symmetric heap: slabs of 4 or 16 KiB divided into objects of one size, with a
 * 16-bit word for each object beside the memory.
 *
 *   1sssssssssssssss  live; s: bytes of its place that were not requested
 *   0nnnnnnnnnnnnnnn  free; n: the next free one of the slab
 *
 * The next object depends on the calls before alone: lists are of numbers, never of addresses, and
 * every record has its address space from the beginning. A slab with free objects stands in its
 * class's list; an empty one of a class is kept beside it, others go back to the fit.
 *
 * Threads: nothing here locks. */

#include "core/engine/fit.h"

enum {
    MSP_SYMMETRIC_CLASSES         = 35, /* every 8 from 16, 16 from 64, then 8 a doubling */
    MSP_SYMMETRIC_SMALL_MAX_BYTES = 1024,
    MSP_SYMMETRIC_PAGE_SHIFT      = 12, /* slabs start on such a boundary */
    MSP_SYMMETRIC_LINES_MAX       = 9,  /* cache lines of a slab's record */
    MSP_SYMMETRIC_LIVE            = 0x8000,
    MSP_SYMMETRIC_VALUE           = 0x7fff,
};

struct msp_symmetric_slab {
    uint32_t block;  /* its record in the fit */
    uint32_t page;   /* where it starts */
    uint32_t before; /* neighbours in its class's list; 0: none. after also links unused records */
    uint32_t after;
    uint16_t first_free; /* VALUE: none */
    uint16_t used_count;
    uint16_t made; /* objects that were ever allocated; the words of others mean nothing */
    uint8_t class_index;
    uint8_t lines; /* of this record */
    uint16_t objects[];
};

struct msp_symmetric_class {
    uint32_t size_bytes;
    uint32_t reciprocal; /* 2^32 / size_bytes, rounded up */
    uint32_t slab_units; /* 0: the heap is too small for such slabs */
    uint16_t capacity;
    uint8_t lines;
    uint32_t partial; /* list of slabs that are neither full nor empty */
    uint32_t empty;   /* one that is kept; 0: none */
};

struct msp_symmetric_slabs {
    struct msp_fit *fit;
    struct msp_range *range;
    unsigned char *lines; /* records of slabs; a slab's number is that of its first line */
    uint64_t line_count;
    uint64_t lines_used;                          /* line 0 is unused */
    uint32_t *slab_at;                            /* by page */
    size_t mapped_bytes;                          /* of both arrays */
    uint32_t unused[MSP_SYMMETRIC_LINES_MAX + 1]; /* lists of records, by their lines */
    unsigned empty_count;
    struct msp_symmetric_class classes[MSP_SYMMETRIC_CLASSES];
};

static inline struct msp_symmetric_slab *
msp_symmetric_slab_record(const struct msp_symmetric_slabs *slabs, uint32_t id)
{
    return (void *)(slabs->lines + (size_t)id * MSP_CACHE_LINE_BYTES);
}

/* The slab that holds that offset, which is within the range; 0: none does. */
static inline uint32_t msp_symmetric_slab_at(const struct msp_symmetric_slabs *slabs,
                                             size_t offset_bytes)
{
    return slabs->slab_at[offset_bytes >> MSP_SYMMETRIC_PAGE_SHIFT];
}

static inline size_t msp_symmetric_slab_offset(const struct msp_symmetric_slab *slab)
{
    return (size_t)slab->page << MSP_SYMMETRIC_PAGE_SHIFT;
}

/* Slabs in the one range of @p fit. False without address space. */
bool msp_symmetric_slabs_init(struct msp_symmetric_slabs *slabs, struct msp_fit *fit,
                              struct msp_range *range);
void msp_symmetric_slabs_clear(struct msp_symmetric_slabs *slabs);

/* A place for an object. False when it is no small one, or no slab has free objects nor can be had.
 */
bool msp_symmetric_slabs_take(struct msp_symmetric_slabs *slabs, size_t size_bytes,
                              size_t align_bytes, size_t *offset_p, size_t *capacity_p);

/* The live object of slab @p id whose place holds that offset. */
bool msp_symmetric_slabs_find(const struct msp_symmetric_slabs *slabs, uint32_t id,
                              size_t offset_bytes, unsigned *index_p);

/* Give object @p index of slab @p id back. */
void msp_symmetric_slabs_give(struct msp_symmetric_slabs *slabs, uint32_t id, unsigned index);

/* Give the empty slabs that are kept back to the fit. False when there is none. */
bool msp_symmetric_slabs_drop_empty(struct msp_symmetric_slabs *slabs);

/* Units of the largest free block if the empty slabs had been given back. Changes nothing. */
uint32_t msp_symmetric_slabs_largest(const struct msp_symmetric_slabs *slabs);

/* Bytes in no object, and those of the slabs themselves. */
struct msp_symmetric_slabs_sum {
    size_t slab_bytes;
    size_t object_count;
    size_t object_bytes;    /* of the places of live ones */
    size_t requested_bytes; /* of those */
};

/* The broken invariant; NULL: everything does. Adds up the live objects of slabs. */
const char *msp_symmetric_slabs_check(const struct msp_symmetric_slabs *slabs,
                                      struct msp_symmetric_slabs_sum *sum);

#endif /* MEMSPAN_CORE_SYMMETRIC_SYMMETRIC_SLAB_H */
