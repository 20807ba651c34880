/* SPDX-License-Identifier: BSD-3-Clause */
/* fit.c: the choice of a free block for a request; cutting and joining blocks. */

#include "core/engine/fit.h"
#include <string.h>
#include <sys/mman.h>

/* ---- records ---- */

#define SEGMENT_BYTES (MSP_FIT_SEGMENT_RECORDS * sizeof(struct msp_record))

static void *map(size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);

    return (p == MAP_FAILED) ? NULL : p;
}

static bool add_segment(struct msp_fit *fit)
{
    struct msp_record *segment;

    if (fit->segment_count == MSP_FIT_SEGMENTS_MAX) {
        return false;
    }
    if (fit->segment_count < fit->reserved_count) {
        segment = (void *)(fit->reserved + fit->segment_count * SEGMENT_BYTES);
    } else {
        /* Not of the heap: the array that leads here is mapped, where leak checkers do not look. */
        segment = map(SEGMENT_BYTES);
        if (segment == NULL) {
            return false;
        }
    }
    fit->segments[fit->segment_count++] = segment;
    return true;
}

/* A page of them at a time: a process that allocates little touches no more. */
static bool add_records(struct msp_fit *fit)
{
    enum { BATCH = 4096 / sizeof(struct msp_record) };
    uint32_t first = fit->record_count;
    uint32_t i;

    if ((first == fit->segment_count << MSP_FIT_SEGMENT_SHIFT) && !add_segment(fit)) {
        return false;
    }
    for (i = first + BATCH; i-- > first;) {
        if (i != 0) {
            msp_fit_record(fit, i)->bin_after = fit->unused_record;
            fit->unused_record                = i;
        }
    }
    fit->record_count = first + BATCH;
    return true;
}

/* Makes sure that @p count (at most 2) more records can be had without failing. */
static bool reserve(struct msp_fit *fit, unsigned count)
{
    uint32_t id = fit->unused_record;

    for (; count > 0; count--) {
        if (id == 0) {
            return add_records(fit);
        }
        id = msp_fit_record(fit, id)->bin_after;
    }
    return true;
}

static uint32_t new_record(struct msp_fit *fit)
{
    uint32_t id          = fit->unused_record;
    struct msp_record *r = msp_fit_record(fit, id);

    fit->unused_record = r->bin_after;
    memset(r, 0, offsetof(struct msp_record, recent)); /* no block that is free has a number */
    return id;
}

static void drop_record(struct msp_fit *fit, uint32_t id)
{
    struct msp_record *r = msp_fit_record(fit, id);

    memset(r, 0, offsetof(struct msp_record, recent)); /* no block that is free has a number */
    r->bin_after       = fit->unused_record;
    fit->unused_record = id;
}

bool msp_fit_init(struct msp_fit *fit)
{
    memset(fit, 0, sizeof(*fit));
    fit->segments = map(MSP_FIT_SEGMENTS_MAX * sizeof(struct msp_record *));
    return fit->segments != NULL;
}

bool msp_fit_reserve(struct msp_fit *fit, uint32_t units)
{
    /* Record 0 is unused, and a block that is cut has two spare ones at hand. */
    uint64_t count = (uint64_t)units / MSP_FIT_SEGMENT_RECORDS + 2;

    count         = (count > MSP_FIT_SEGMENTS_MAX) ? MSP_FIT_SEGMENTS_MAX : count;
    fit->reserved = map(count * SEGMENT_BYTES);
    if (fit->reserved == NULL) {
        return false;
    }
    fit->reserved_count = (uint32_t)count;
    return true;
}

void msp_fit_clear(struct msp_fit *fit)
{
    uint32_t i;

    if (fit->reserved_count > 0) {
        munmap(fit->reserved, fit->reserved_count * SEGMENT_BYTES);
    }
    for (i = fit->reserved_count; i < fit->segment_count; i++) {
        munmap(fit->segments[i], SEGMENT_BYTES);
    }
    if (fit->segments != NULL) {
        munmap(fit->segments, MSP_FIT_SEGMENTS_MAX * sizeof(struct msp_record *));
    }
    memset(fit, 0, sizeof(*fit));
}

/* ---- bins ---- */

static void bin_of(uint32_t size, unsigned *fl, unsigned *sl)
{
    uint32_t bin = msp_fit_bin(size);

    *fl = bin >> MSP_FIT_SL_SHIFT;
    *sl = bin & (MSP_FIT_SL_COUNT - 1);
}

static void insert(struct msp_fit *fit, uint32_t id)
{
    struct msp_record *r = msp_fit_record(fit, id);
    unsigned fl;
    unsigned sl;
    uint32_t head;

    MSP_ASSERT((r->size > 0) && !r->is_free);
    bin_of(r->size, &fl, &sl);
    head          = fit->bins[fl][sl];
    r->is_free    = true;
    r->bin_before = 0;
    r->bin_after  = head;
    if (head != 0) {
        msp_fit_record(fit, head)->bin_before = id;
    }
    fit->bins[fl][sl] = id;
    fit->sl_map[fl] |= 1u << sl;
    fit->fl_map |= 1u << fl;
    fit->free_units += r->size;
    fit->dirty_units += r->dirty ? r->size : 0;
}

static void take_out(struct msp_fit *fit, uint32_t id)
{
    struct msp_record *r = msp_fit_record(fit, id);
    unsigned fl;
    unsigned sl;

    MSP_ASSERT(r->is_free && (fit->free_units >= r->size));
    bin_of(r->size, &fl, &sl);
    r->is_free = false;
    fit->free_units -= r->size;
    fit->dirty_units -= r->dirty ? r->size : 0;
    if (r->bin_after != 0) {
        msp_fit_record(fit, r->bin_after)->bin_before = r->bin_before;
    }
    if (r->bin_before != 0) {
        msp_fit_record(fit, r->bin_before)->bin_after = r->bin_after;
        return;
    }
    fit->bins[fl][sl] = r->bin_after;
    if (r->bin_after == 0) {
        fit->sl_map[fl] &= ~(1u << sl);
        if (fit->sl_map[fl] == 0) {
            fit->fl_map &= ~(1u << fl);
        }
    }
}

/* ---- blocks ---- */

static void mark_start(struct msp_range *range, uint32_t offset, uint32_t id)
{
    _Atomic uint64_t *word = &range->starts[offset / 64];
    uint64_t bit           = UINT64_C(1) << (offset % 64);
    uint64_t bits          = atomic_load_explicit(word, memory_order_relaxed);

    atomic_store_explicit(&range->record_at[msp_range_slot(range, offset)], id,
                          memory_order_relaxed);
    /* Written under the lock alone: a load and a store are enough beside lock-free readers. */
    atomic_store_explicit(word, (id != 0) ? (bits | bit) : (bits & ~bit), memory_order_relaxed);
}

/* Cuts a block in two; the second part's record, which is in no bin yet. Needs a reserved record.
 */
static uint32_t split(struct msp_fit *fit, uint32_t id, uint32_t first_size)
{
    struct msp_record *r    = msp_fit_record(fit, id);
    uint32_t rest_id        = new_record(fit);
    struct msp_record *rest = msp_fit_record(fit, rest_id);

    rest->range      = r->range;
    rest->offset     = r->offset + first_size;
    rest->size       = r->size - first_size;
    rest->before     = id;
    rest->after      = r->after;
    rest->zeroed     = r->zeroed;
    rest->dirty      = r->dirty;
    rest->free_since = r->free_since;
    if (r->after != 0) {
        msp_fit_record(fit, r->after)->before = rest_id;
    }
    r->after = rest_id;
    r->size  = first_size;
    mark_start(r->range, rest->offset, rest_id);
    return rest_id;
}

/* Joins a block with the one after it, whose record goes. Neither is in a bin. */
static void join(struct msp_fit *fit, uint32_t id)
{
    struct msp_record *r    = msp_fit_record(fit, id);
    uint32_t next_id        = r->after;
    struct msp_record *next = msp_fit_record(fit, next_id);

    /* The larger part's: a piece that is cut off and comes back at the edge does not make it
     * younger. */
    r->free_since = (next->size > r->size) ? next->free_since : r->free_since;
    r->size += next->size;
    r->zeroed = r->zeroed && next->zeroed;
    r->dirty  = r->dirty || next->dirty;
    r->after  = next->after;
    if (next->after != 0) {
        msp_fit_record(fit, next->after)->before = id;
    }
    mark_start(r->range, next->offset, 0);
    drop_record(fit, next_id);
}

/* The units of a free block before the first on a boundary; false if the rest is too short. */
static bool fits(const struct msp_fit *fit, uint32_t id, uint32_t size, size_t align_bytes,
                 uint32_t *skip_p)
{
    const struct msp_record *r = msp_fit_record(fit, id);
    uintptr_t start            = (uintptr_t)msp_record_address(r);
    uintptr_t aligned          = (start + align_bytes - 1) & ~(uintptr_t)(align_bytes - 1);
    size_t skip                = (aligned - start) >> MSP_UNIT_SHIFT;

    *skip_p = (uint32_t)skip;
    return (r->size >= skip) && (r->size - skip >= size);
}

/* The first block of the first bin from which on all are large enough, wherever they stand. */
static uint32_t find_sure(const struct msp_fit *fit, uint32_t size, size_t align_bytes,
                          uint32_t *skip_p)
{
    uint64_t sure = (uint64_t)size + ((align_bytes - 1) >> MSP_UNIT_SHIFT);
    unsigned fl;
    unsigned sl;
    uint32_t map;
    uint32_t above;

    if (sure > UINT32_MAX / 2) {
        return 0;
    }
    bin_of(msp_fit_round((uint32_t)sure), &fl, &sl);
    map = fit->sl_map[fl] & (~0u << sl);
    if (map == 0) {
        above = fit->fl_map & (~0u << 1 << fl);
        if (above == 0) {
            return 0;
        }
        fl  = (unsigned)__builtin_ctz(above);
        map = fit->sl_map[fl];
    }
    sl = (unsigned)__builtin_ctz(map);
    return fits(fit, fit->bins[fl][sl], size, align_bytes, skip_p) ? fit->bins[fl][sl] : 0;
}

/* Any block that is large enough, by looking at @p most of them. */
static uint32_t find_looking(const struct msp_fit *fit, uint32_t size, size_t align_bytes,
                             size_t most, uint32_t *skip_p)
{
    uint32_t bin = msp_fit_bin(size);
    uint32_t id;

    for (; bin < MSP_FIT_FL_COUNT * MSP_FIT_SL_COUNT; bin++) {
        unsigned fl = bin >> MSP_FIT_SL_SHIFT;
        if (fit->sl_map[fl] == 0) {
            bin |= MSP_FIT_SL_COUNT - 1;
            continue;
        }
        id = fit->bins[fl][bin & (MSP_FIT_SL_COUNT - 1)];
        for (; id != 0; id = msp_fit_record(fit, id)->bin_after) {
            if (fits(fit, id, size, align_bytes, skip_p)) {
                return id;
            }
            if (--most == 0) {
                return 0;
            }
        }
    }
    return 0;
}

bool msp_fit_has(const struct msp_fit *fit, uint32_t size, size_t align_bytes)
{
    uint32_t skip = 0;

    return find_sure(fit, msp_fit_round(size), align_bytes, &skip) != 0;
}

uint32_t msp_fit_take(struct msp_fit *fit, uint32_t size, size_t align_bytes, bool thorough)
{
    uint32_t skip = 0;
    uint32_t id   = find_sure(fit, size, align_bytes, &skip);
    struct msp_record *r;

    if (id == 0) {
        id = find_looking(fit, size, align_bytes, thorough ? SIZE_MAX : 8, &skip);
    }
    if ((id == 0) || !reserve(fit, 2)) {
        return 0;
    }
    take_out(fit, id);
    if (skip > 0) {
        uint32_t rest = split(fit, id, skip);
        insert(fit, id);
        id = rest;
    }
    r = msp_fit_record(fit, id);
    if (r->size > size) {
        insert(fit, split(fit, id, size));
    }
    r->range->used_count++;
    return id;
}

void msp_fit_give(struct msp_fit *fit, uint32_t id)
{
    struct msp_record *r = msp_fit_record(fit, id);

    MSP_ASSERT(r->range->used_count > 0);
    r->range->used_count--;
    r->account    = NULL;
    r->zeroed     = false;
    r->dirty      = true;
    r->free_since = fit->round;
    atomic_store_explicit(&r->use, MSP_USE_NONE, memory_order_relaxed);
    if ((r->after != 0) && msp_fit_record(fit, r->after)->is_free) {
        take_out(fit, r->after);
        join(fit, id);
    }
    if ((r->before != 0) && msp_fit_record(fit, r->before)->is_free) {
        id = r->before;
        take_out(fit, id);
        join(fit, id);
    }
    insert(fit, id);
}

size_t msp_fit_find_dirty(const struct msp_fit *fit, uint32_t least, uint32_t round, uint32_t *ids,
                          size_t count)
{
    uint32_t bin = MSP_FIT_FL_COUNT * MSP_FIT_SL_COUNT;
    size_t found = 0;
    uint32_t id;

    if (fit->dirty_units < least) {
        return 0;
    }
    while ((bin-- > msp_fit_bin(least)) && (found < count)) {
        id = fit->bins[bin >> MSP_FIT_SL_SHIFT][bin & (MSP_FIT_SL_COUNT - 1)];
        for (; (id != 0) && (found < count); id = msp_fit_record(fit, id)->bin_after) {
            const struct msp_record *r = msp_fit_record(fit, id);

            if (r->dirty && (r->size >= least) && ((int32_t)(round - r->free_since) >= 0) &&
                (r->range->used_count > 0)) {
                ids[found++] = id;
            }
        }
    }
    return found;
}

void msp_fit_set_clean(struct msp_fit *fit, uint32_t id, bool zeroed)
{
    struct msp_record *r = msp_fit_record(fit, id);

    fit->dirty_units -= r->size;
    r->dirty  = false;
    r->zeroed = zeroed;
}

static bool grow(struct msp_fit *fit, uint32_t id, uint32_t size)
{
    struct msp_record *r = msp_fit_record(fit, id);
    uint32_t next        = r->after;
    uint32_t missing     = size - r->size;

    if ((next == 0) || !msp_fit_record(fit, next)->is_free ||
        (msp_fit_record(fit, next)->size < missing) || !reserve(fit, 1)) {
        return false;
    }
    take_out(fit, next);
    if (msp_fit_record(fit, next)->size > missing) {
        insert(fit, split(fit, next, missing));
    }
    join(fit, id);
    return true;
}

bool msp_fit_resize(struct msp_fit *fit, uint32_t id, uint32_t size)
{
    struct msp_record *r = msp_fit_record(fit, id);

    if (size >= r->size) {
        return (size == r->size) || grow(fit, id, size);
    }
    if (!reserve(fit, 1)) {
        return false;
    }
    r->zeroed = false;
    r->range->used_count++;
    msp_fit_give(fit, split(fit, id, size));
    return true;
}

uint32_t msp_fit_take_to_grow(struct msp_fit *fit, uint32_t size, size_t align_bytes)
{
    enum { ROOM_TIMES = 64 };
    uint32_t id = (size > UINT32_MAX / ROOM_TIMES)
                      ? 0
                      : msp_fit_take(fit, size * ROOM_TIMES, align_bytes, false);

    if (id == 0) {
        return msp_fit_take(fit, size, align_bytes, false);
    }
    if (!msp_fit_resize(fit, id, size)) { /* no record for the rest: not so much then */
        msp_fit_give(fit, id);
        return msp_fit_take(fit, size, align_bytes, false);
    }
    return id;
}

/* ---- ranges ---- */

bool msp_fit_add_range(struct msp_fit *fit, struct msp_range *range, uintptr_t address,
                       uint32_t units, bool zeroed)
{
    size_t granules    = msp_round_up((size_t)units / 256 + 1, 4096 / sizeof(uint32_t));
    size_t index_bytes = msp_round_up((granules + units) * sizeof(uint32_t), 64);
    size_t bytes       = index_bytes + ((size_t)units + 63) / 64 * sizeof(uint64_t);
    unsigned char *both;
    struct msp_record *r;
    uint32_t id;

    if (!reserve(fit, 1)) {
        return false;
    }
    both = map(bytes); /* address space: only records of used memory are ever touched */
    if (both == NULL) {
        return false;
    }
    *range = (struct msp_range){.address              = address,
                                .units                = units,
                                .record_at            = (void *)both,
                                .granule_slots        = (uint32_t)granules,
                                .starts               = (void *)(both + index_bytes),
                                .records_mapped_bytes = bytes,
                                .next                 = fit->ranges};
    if (fit->ranges != NULL) {
        fit->ranges->previous = range;
    }
    fit->ranges = range;
    id          = new_record(fit);
    r           = msp_fit_record(fit, id);
    r->range    = range;
    r->size     = units;
    r->zeroed   = zeroed;
    mark_start(range, 0, id);
    insert(fit, id);
    return true;
}

void msp_fit_remove_range(struct msp_fit *fit, struct msp_range *range)
{
    uint32_t id = msp_range_record(range, 0);

    take_out(fit, id);
    drop_record(fit, id);
    if (range->next != NULL) {
        range->next->previous = range->previous;
    }
    if (range->previous != NULL) {
        range->previous->next = range->next;
    } else {
        fit->ranges = range->next;
    }
    munmap((void *)range->record_at, range->records_mapped_bytes);
}

uint32_t msp_range_find(const struct msp_range *range, size_t offset_bytes)
{
    size_t unit = offset_bytes >> MSP_UNIT_SHIFT;
    uint32_t id;
    uint64_t bits;
    size_t word;

    if (unit >= range->units) {
        return 0;
    }
    id = msp_range_record(range, unit);
    if (id != 0) {
        return id;
    }
    word = unit / 64;
    bits = atomic_load_explicit(&range->starts[word], memory_order_relaxed) &
           (~UINT64_C(0) >> (63 - unit % 64));
    while ((bits == 0) && (word > 0)) {
        bits = atomic_load_explicit(&range->starts[--word], memory_order_relaxed);
    }
    if (bits == 0) {
        return 0;
    }
    unit = word * 64 + 63 - (size_t)__builtin_clzll(bits);
    return msp_range_record(range, unit);
}

uint32_t msp_fit_largest(const struct msp_fit *fit)
{
    uint32_t largest = 0;
    uint32_t id;
    unsigned fl;

    if (fit->fl_map == 0) {
        return 0;
    }
    fl = 31 - (unsigned)__builtin_clz(fit->fl_map);
    id = fit->bins[fl][31 - __builtin_clz(fit->sl_map[fl])];
    for (; id != 0; id = msp_fit_record(fit, id)->bin_after) {
        if (msp_fit_record(fit, id)->size > largest) {
            largest = msp_fit_record(fit, id)->size;
        }
    }
    return largest;
}

/* ---- invariants ---- */

static const char *check_range(const struct msp_fit *fit, const struct msp_range *range,
                               size_t *free_count, size_t *free_units)
{
    uint32_t id     = msp_range_record(range, 0);
    uint32_t before = 0;
    uint32_t offset = 0;
    uint32_t used   = 0;
    bool was_free   = false;

    for (; id != 0; id = msp_fit_record(fit, id)->after) {
        const struct msp_record *r = msp_fit_record(fit, id);

        if ((r->range != range) || (r->offset != offset) || (r->before != before)) {
            return "a block is not where its neighbour ends";
        }
        if ((r->size == 0) || (r->size > range->units - offset) ||
            (msp_range_find(range, (size_t)offset << MSP_UNIT_SHIFT) != id)) {
            return "a block's size or start does not hold";
        }
        if (r->is_free && was_free) {
            return "two free blocks stand side by side";
        }
        was_free = r->is_free;
        used += r->is_free ? 0 : 1;
        *free_count += r->is_free ? 1 : 0;
        *free_units += r->is_free ? r->size : 0;
        before = id;
        offset += r->size;
    }
    if ((offset != range->units) || (used != range->used_count)) {
        return "a range's blocks do not fill it, or are miscounted";
    }
    return NULL;
}

static const char *check_bins(const struct msp_fit *fit, size_t free_count)
{
    size_t dirty = 0;
    uint32_t bin;
    uint32_t id;

    for (bin = 0; bin < MSP_FIT_FL_COUNT * MSP_FIT_SL_COUNT; bin++) {
        unsigned fl = bin >> MSP_FIT_SL_SHIFT;
        unsigned sl = bin & (MSP_FIT_SL_COUNT - 1);

        if ((((fit->sl_map[fl] >> sl) & 1) != 0) != (fit->bins[fl][sl] != 0)) {
            return "a bin and its bit differ";
        }
        for (id = fit->bins[fl][sl]; id != 0; id = msp_fit_record(fit, id)->bin_after) {
            const struct msp_record *r = msp_fit_record(fit, id);
            if (!r->is_free || (msp_fit_bin(r->size) != bin)) {
                return "a block is in a bin that is not its own";
            }
            free_count--;
            dirty += r->dirty ? r->size : 0;
        }
    }
    if (free_count != 0) {
        return "free blocks and blocks in bins differ in number";
    }
    return (dirty == fit->dirty_units) ? NULL : "the dirty bytes are miscounted";
}

const char *msp_fit_check(const struct msp_fit *fit)
{
    const struct msp_range *range;
    const char *problem = NULL;
    size_t free_count   = 0;
    size_t free_units   = 0;

    for (range = fit->ranges; (problem == NULL) && (range != NULL); range = range->next) {
        problem = check_range(fit, range, &free_count, &free_units);
    }
    if ((problem == NULL) && (free_units != fit->free_units)) {
        problem = "the free bytes are miscounted";
    }
    return (problem == NULL) ? check_bins(fit, free_count) : problem;
}
