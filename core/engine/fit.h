/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_ENGINE_FIT_H
#define MEMSPAN_CORE_ENGINE_FIT_H

/* Two-level segregated fit over ranges of memory that is never accessed: records are elsewhere.
 *
 * A range is a sequence of blocks, free or used, without gaps; two free blocks never stand side by
 * side. Sizes and offsets count units of 256 bytes. Free blocks of all ranges of one fit are kept
 * in bins by size, 32 bins a power of two, and bitmaps find the first bin that is surely large
 * enough in a few instructions. The same calls in the same order give the same blocks, in every
 * process.
 *
 * Threads: nothing here locks, but msp_range_find(), which may run beside anything else. */

#include "core/base/platform.h"
#include <stdatomic.h>

enum {
    MSP_UNIT_SHIFT          = 8,
    MSP_FIT_SL_SHIFT        = 5,
    MSP_FIT_SL_COUNT        = 1 << MSP_FIT_SL_SHIFT,
    MSP_FIT_FL_COUNT        = 32 - MSP_FIT_SL_SHIFT + 1,
    MSP_FIT_SEGMENT_SHIFT   = 10,
    MSP_FIT_SEGMENT_RECORDS = 1 << MSP_FIT_SEGMENT_SHIFT,
    MSP_FIT_SEGMENTS_MAX    = 1 << 16, /* 64 Mi blocks */
};
#define MSP_UNIT_BYTES ((size_t)1 << MSP_UNIT_SHIFT)

struct msp_account;

/* The use of a block; NONE while it is free. Changed without the fit's lock by the block's owner.
 */
enum msp_use {
    MSP_USE_NONE = 0,
    MSP_USE_BLOCK,  /* the program's memory */
    MSP_USE_CACHED, /* freed, waiting in a thread's heap, a queue or its pool */
    MSP_USE_SLAB,   /* divided into objects */
};

/* One cache line a block. */
struct msp_record {
    struct msp_range *range;
    struct msp_account *account; /* of a block in use */
    union {
        size_t requested_bytes;
        uint32_t kept_since; /* of one in a heap's cache: the round of the decay */
        uint64_t queue_mark; /* of one that a queue keeps (kept.h) */
    };
    uint32_t offset; /* units from the range's start */
    uint32_t size;   /* units */
    uint32_t before; /* neighbours in the range; 0: none */
    uint32_t after;
    union {
        struct {
            uint32_t bin_before; /* neighbours in the bin; bin_after also links unused records */
            uint32_t bin_after;
        };
        struct msp_record *kept_after; /* the next that a heap or a queue keeps */
    };
    bool is_free;
    bool zeroed; /* free: every byte is zero */
    bool fallback;
    _Atomic uint8_t use;     /* enum msp_use */
    bool dirty;              /* free: a part of it may have been used */
    bool grown;              /* in use: it was given space to grow, and took some */
    uint32_t free_since;     /* free: fit.round when most of it was given back */
    _Atomic uint32_t recent; /* the number of the heap's entry that has it (heap.h); 0: none */
} __attribute__((aligned(MSP_CACHE_LINE_BYTES)));
_Static_assert(sizeof(struct msp_record) == 64, "a record is a cache line");

struct msp_range {
    uintptr_t address; /* of its first byte; 0 where offsets alone matter */
    uint32_t units;
    uint32_t used_count;         /* blocks that are not free */
    _Atomic uint32_t *record_at; /* by slot of a unit: the record of the block that starts there */
    uint32_t granule_slots;      /* that come first */
    _Atomic uint64_t *starts;    /* a bit for each unit where a block starts */
    size_t records_mapped_bytes; /* of the two arrays */
    struct msp_range *next;      /* the fit's ranges */
    struct msp_range *previous;
};

struct msp_fit {
    struct msp_record **segments; /* never move: the array is address space for all */
    uint32_t segment_count;
    uint32_t reserved_count; /* of them, from the first on, that stand in one mapping, */
    unsigned char *reserved; /* this block */
    uint32_t record_count;   /* made: in use, free and unused */
    uint32_t unused_record;  /* head of the list of records without a block */
    struct msp_range *ranges;
    size_t free_units;
    size_t dirty_units; /* of them */
    uint32_t round;     /* a number that the owner changes now and then */
    uint32_t fl_map;
    uint32_t sl_map[MSP_FIT_FL_COUNT];
    uint32_t bins[MSP_FIT_FL_COUNT][MSP_FIT_SL_COUNT];
};

static inline struct msp_record *msp_fit_record(const struct msp_fit *fit, uint32_t id)
{
    return &fit->segments[id >> MSP_FIT_SEGMENT_SHIFT][id & (MSP_FIT_SEGMENT_RECORDS - 1)];
}

static inline void *msp_record_address(const struct msp_record *r)
{
    return (void *)(r->range->address + ((size_t)r->offset << MSP_UNIT_SHIFT));
}

/* The block is no heap's any more that had an entry for it. By its owner: before it is anything
 * else, or has another size. */
static inline void msp_record_leave(struct msp_record *r)
{
    atomic_store_explicit(&r->recent, 0, memory_order_relaxed);
}

static inline size_t msp_record_bytes(const struct msp_record *r)
{
    return (size_t)r->size << MSP_UNIT_SHIFT;
}

/* Where in record_at a unit stands: those that begin a granule of 64 KiB apart from the others, so
 * that of a range of slabs, whose granules are all that begin anything, little is ever touched. */
static inline size_t msp_range_slot(const struct msp_range *range, size_t unit)
{
    enum { SHIFT = 8, MASK = (1 << SHIFT) - 1 };

    return ((unit & MASK) == 0) ? unit >> SHIFT : range->granule_slots + unit;
}

static inline uint32_t msp_range_record(const struct msp_range *range, size_t unit)
{
    return atomic_load_explicit(&range->record_at[msp_range_slot(range, unit)],
                                memory_order_relaxed);
}

/* The bin of a size in units, as one number: bins grow with it. */
static inline uint32_t msp_fit_bin(uint32_t size)
{
    uint32_t log;

    if (size < MSP_FIT_SL_COUNT) {
        return size;
    }
    log = 31 - (uint32_t)__builtin_clz(size);
    return ((log - MSP_FIT_SL_SHIFT) << MSP_FIT_SL_SHIFT) + (size >> (log - MSP_FIT_SL_SHIFT));
}

/* A size rounded up to the smallest of a bin, so that a block of it serves a request for that
 * bin's sizes again: at most 1/32 more. */
static inline uint32_t msp_fit_round(uint32_t size)
{
    uint32_t mask;

    if (size < MSP_FIT_SL_COUNT) {
        return size;
    }
    mask = (1u << (31 - (uint32_t)__builtin_clz(size) - MSP_FIT_SL_SHIFT)) - 1;
    return (size > UINT32_MAX - mask) ? size : ((size + mask) & ~mask);
}

/* An empty fit. False without memory. */
bool msp_fit_init(struct msp_fit *fit);

/* Have records for all the blocks that @p units units can become: later no call fails for want of
 * one, however little memory the process has left. Only before the first range. False without
 * address space. */
bool msp_fit_reserve(struct msp_fit *fit, uint32_t units);

/* Release the records of a fit without ranges. */
void msp_fit_clear(struct msp_fit *fit);

/* Enter [address, address + units) as one free block. False without memory for records; then
 * nothing has changed. */
bool msp_fit_add_range(struct msp_fit *fit, struct msp_range *range, uintptr_t address,
                       uint32_t units, bool zeroed);

/* Take a range without used blocks out again. */
void msp_fit_remove_range(struct msp_fit *fit, struct msp_range *range);

/* A block of @p size units (> 0) on a boundary of @p align_bytes, taken out of the free ones; 0
 * when there is none. Not @p thorough: some blocks that are barely large enough are overlooked. */
uint32_t msp_fit_take(struct msp_fit *fit, uint32_t size, size_t align_bytes, bool thorough);

/* Whether a block of that size can be taken, as far as the bins show. */
bool msp_fit_has(const struct msp_fit *fit, uint32_t size, size_t align_bytes);

static inline uint32_t msp_fit_take_usual(struct msp_fit *fit, uint32_t size, size_t align_bytes)
{
    return msp_fit_take(fit, size, align_bytes, false);
}

/* The same, with free memory for many times its size behind it if there is so much anywhere. */
uint32_t msp_fit_take_to_grow(struct msp_fit *fit, uint32_t size, size_t align_bytes);

/* Give a block back. */
void msp_fit_give(struct msp_fit *fit, uint32_t id);

/* The numbers of dirty free blocks of @p least units or more that are no whole range and were given
 * back in round @p round or before, the largest first: at most @p count. */
size_t msp_fit_find_dirty(const struct msp_fit *fit, uint32_t least, uint32_t round, uint32_t *ids,
                          size_t count);

/* A free block counts as never used; @p zeroed: and all of it zero. */
void msp_fit_set_clean(struct msp_fit *fit, uint32_t id, bool zeroed);

/* Make a used block smaller, or larger at the cost of the free block behind it, where it stands.
 * False when it cannot be; then nothing has changed. */
bool msp_fit_resize(struct msp_fit *fit, uint32_t id, uint32_t size);

/* The record of the block that holds that offset of a range, free or used. No lock is needed if the
 * block is in use and stays so meanwhile; else the answer may be any record, or 0. */
uint32_t msp_range_find(const struct msp_range *range, size_t offset_bytes);

/* Units of the largest free block. */
uint32_t msp_fit_largest(const struct msp_fit *fit);

/* The broken invariant; NULL: everything does. */
const char *msp_fit_check(const struct msp_fit *fit);

#endif /* MEMSPAN_CORE_ENGINE_FIT_H */
