/* SPDX-License-Identifier: BSD-3-Clause */
/* fit.c: records, bins, and which free block serves a request. */

#include "core/fit.h"
#include <stdlib.h>
#include <string.h>

/* ---- records ---- */

static bool add_segment(struct memspan_fit *fit)
{
    struct memspan_record *segment;
    uint32_t first = fit->segment_count << MEMSPAN_FIT_SEGMENT_SHIFT;
    uint32_t i;

    if (fit->segment_count == MEMSPAN_FIT_SEGMENTS_MAX) {
        return false;
    }
    segment = calloc(MEMSPAN_FIT_SEGMENT_RECORDS, sizeof(*segment));
    if (segment == NULL) {
        return false;
    }
    fit->segments[fit->segment_count++] = segment;
    for (i = MEMSPAN_FIT_SEGMENT_RECORDS; i-- > 0;) {
        if (first + i != 0) {
            segment[i].bin_after = fit->unused_record;
            fit->unused_record   = first + i;
        }
    }
    return true;
}

/* Makes sure that @p count more records can be had without failing. */
bool memspan_fit_reserve(struct memspan_fit *fit, unsigned count)
{
    uint32_t id = fit->unused_record;

    for (; count > 0; count--) {
        if (id == 0) {
            return add_segment(fit);
        }
        id = memspan_fit_record(fit, id)->bin_after;
    }
    return true;
}

uint32_t memspan_fit_new_record(struct memspan_fit *fit)
{
    uint32_t id              = fit->unused_record;
    struct memspan_record *r = memspan_fit_record(fit, id);

    fit->unused_record = r->bin_after;
    memset(r, 0, sizeof(*r));
    return id;
}

void memspan_fit_drop_record(struct memspan_fit *fit, uint32_t id)
{
    struct memspan_record *r = memspan_fit_record(fit, id);

    memset(r, 0, sizeof(*r));
    r->bin_after       = fit->unused_record;
    fit->unused_record = id;
}

/* ---- bins ---- */

static void bin_of(uint32_t size, unsigned *fl, unsigned *sl)
{
    if (size < MEMSPAN_FIT_SL_COUNT) {
        *fl = 0;
        *sl = size;
    } else {
        unsigned log = 31 - (unsigned)__builtin_clz(size);
        *fl          = log - MEMSPAN_FIT_SL_SHIFT + 1;
        *sl          = (size >> (log - MEMSPAN_FIT_SL_SHIFT)) & (MEMSPAN_FIT_SL_COUNT - 1);
    }
}

void memspan_fit_insert(struct memspan_fit *fit, uint32_t id)
{
    struct memspan_record *r = memspan_fit_record(fit, id);
    unsigned fl;
    unsigned sl;
    uint32_t head;

    bin_of(r->size, &fl, &sl);
    head          = fit->bins[fl][sl];
    r->bin_before = 0;
    r->bin_after  = head;
    if (head != 0) {
        memspan_fit_record(fit, head)->bin_before = id;
    }
    fit->bins[fl][sl] = id;
    fit->sl_map[fl] |= 1u << sl;
    fit->fl_map |= 1u << fl;
}

void memspan_fit_remove(struct memspan_fit *fit, uint32_t id)
{
    struct memspan_record *r = memspan_fit_record(fit, id);
    unsigned fl;
    unsigned sl;

    bin_of(r->size, &fl, &sl);
    if (r->bin_after != 0) {
        memspan_fit_record(fit, r->bin_after)->bin_before = r->bin_before;
    }
    if (r->bin_before != 0) {
        memspan_fit_record(fit, r->bin_before)->bin_after = r->bin_after;
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

/* The first of a free block's units on a boundary, or none if the rest is too short. */
static bool fits(const struct memspan_fit *fit, uint32_t id, uint32_t size, size_t align_bytes,
                 uint32_t *skip_p)
{
    const struct memspan_record *r = memspan_fit_record(fit, id);
    uintptr_t start   = (uintptr_t)r->chunk->address + ((size_t)r->offset << MEMSPAN_UNIT_SHIFT);
    uintptr_t aligned = (start + align_bytes - 1) & ~(uintptr_t)(align_bytes - 1);
    uint32_t skip     = (uint32_t)((aligned - start) >> MEMSPAN_UNIT_SHIFT);

    *skip_p = skip;
    return (r->size >= skip) && (r->size - skip >= size);
}

/* A free block for @p size units on a boundary; 0 if there is none. First where any block of the
 * bin is large enough, whatever its address; then, to leave nothing unused, by looking. */
uint32_t memspan_fit_find(const struct memspan_fit *fit, uint32_t size, size_t align_bytes,
                          uint32_t *skip_p)
{
    uint32_t slack = (uint32_t)((align_bytes - 1) >> MEMSPAN_UNIT_SHIFT);
    uint32_t sure  = size + slack;
    unsigned fl;
    unsigned sl;
    uint32_t map;
    uint32_t id;

    if (sure >= MEMSPAN_FIT_SL_COUNT) { /* up to the next bin's lower end: any block there is large
                                           enough */
        sure += (1u << (31 - (unsigned)__builtin_clz(sure) - MEMSPAN_FIT_SL_SHIFT)) - 1;
    }
    bin_of(sure, &fl, &sl);
    map = fit->sl_map[fl] & (~0u << sl);
    if (map == 0) {
        uint32_t above = (fl + 1 < 32) ? (fit->fl_map & (~0u << (fl + 1))) : 0;
        if (above != 0) {
            fl  = (unsigned)__builtin_ctz(above);
            map = fit->sl_map[fl];
        }
    }
    if (map != 0) {
        id = fit->bins[fl][__builtin_ctz(map)];
        if (fits(fit, id, size, align_bytes, skip_p)) {
            return id;
        }
    }
    bin_of(size, &fl, &sl);
    for (; fl < MEMSPAN_FIT_FL_COUNT; fl++, sl = 0) {
        for (; sl < MEMSPAN_FIT_SL_COUNT; sl++) {
            for (id = fit->bins[fl][sl]; id != 0; id = memspan_fit_record(fit, id)->bin_after) {
                if (fits(fit, id, size, align_bytes, skip_p)) {
                    return id;
                }
            }
        }
    }
    return 0;
}

const char *memspan_fit_check(const struct memspan_fit *fit, size_t free_count)
{
    unsigned fl;
    unsigned sl;
    uint32_t id;

    for (fl = 0; fl < MEMSPAN_FIT_FL_COUNT; fl++) {
        for (sl = 0; sl < MEMSPAN_FIT_SL_COUNT; sl++) {
            bool marked = ((fit->sl_map[fl] >> sl) & 1) != 0;
            if (marked != (fit->bins[fl][sl] != 0)) {
                return "a bin and its bit differ";
            }
            for (id = fit->bins[fl][sl]; id != 0; id = memspan_fit_record(fit, id)->bin_after) {
                unsigned own_fl;
                unsigned own_sl;
                bin_of(memspan_fit_record(fit, id)->size, &own_fl, &own_sl);
                if (memspan_fit_record(fit, id)->used || (own_fl != fl) || (own_sl != sl)) {
                    return "a block is in a bin that is not its own";
                }
                free_count--;
            }
        }
    }
    return (free_count == 0) ? NULL : "free blocks and blocks in bins differ in number";
}
