/* SPDX-License-Identifier: BSD-3-Clause */
/* Two-level segregated fit, held to a plain map of units. Addresses are made up and not mapped.
 */

#include "core/engine/fit.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { UNITS = 700, RANGES = 2, BLOCKS_MAX = UNITS * RANGES, OFTEN = 30000 };

#define RANGE_ADDRESS ((uintptr_t)0x7000000)

struct block {
    uint32_t id;
    unsigned range;
    uint32_t offset;
    uint32_t size;
};

static struct msp_fit fit;
static struct msp_range ranges[RANGES];
static uint32_t owner[RANGES][UNITS]; /* by unit: the record of the used block there, 0: free */
static struct block live[BLOCKS_MAX];
static unsigned live_count;

static uint32_t between(uint32_t least, uint32_t most)
{
    return least + (uint32_t)rand() % (most - least + 1);
}

static void begin(void)
{
    unsigned i;

    srand(11);
    memset(owner, 0, sizeof(owner));
    live_count = 0;
    cr_assert(msp_fit_init(&fit));
    for (i = 0; i < RANGES; i++) {
        /* Side by side, and neither on a large boundary. */
        uintptr_t address = RANGE_ADDRESS + (3 + (uintptr_t)i * UNITS) * MSP_UNIT_BYTES;
        cr_assert(msp_fit_add_range(&fit, &ranges[i], address, UNITS, false));
    }
}

static void expect_whole(void)
{
    const char *problem = msp_fit_check(&fit);

    cr_assert_null(problem, "%s", (problem == NULL) ? "" : problem);
}

static void end(void)
{
    unsigned i;

    while (live_count > 0) {
        msp_fit_give(&fit, live[--live_count].id);
    }
    expect_whole();
    for (i = 0; i < RANGES; i++) {
        cr_assert_eq(ranges[i].used_count, 0);
        msp_fit_remove_range(&fit, &ranges[i]);
    }
    cr_assert_eq(fit.free_units, 0);
    expect_whole();
    msp_fit_clear(&fit);
}

/* ---- the model ---- */

static uintptr_t address_of(unsigned range, uint32_t unit)
{
    return ranges[range].address + (uintptr_t)unit * MSP_UNIT_BYTES;
}

static void own(unsigned range, uint32_t offset, uint32_t size, uint32_t from, uint32_t to)
{
    uint32_t i;

    for (i = offset; i < offset + size; i++) {
        cr_assert_eq(owner[range][i], from, "unit %u of range %u", i, range);
        owner[range][i] = to;
    }
}

static uint32_t free_run(unsigned range, uint32_t unit)
{
    uint32_t i = unit;

    while ((i < UNITS) && (owner[range][i] == 0)) {
        i++;
    }
    return i - unit;
}

static bool has_room(uint32_t size, size_t align)
{
    unsigned r;
    uint32_t i;

    for (r = 0; r < RANGES; r++) {
        for (i = 0; i < UNITS; i++) {
            if (((address_of(r, i) & (align - 1)) == 0) && (free_run(r, i) >= size)) {
                return true;
            }
        }
    }
    return false;
}

static void expect_as_the_map(void)
{
    uint32_t largest  = 0;
    size_t free_units = 0;
    unsigned r;
    uint32_t i;

    for (r = 0; r < RANGES; r++) {
        for (i = 0; i < UNITS; i++) {
            uint32_t run = free_run(r, i);
            largest      = (run > largest) ? run : largest;
            free_units += (run > 0);
        }
    }
    cr_assert_eq(fit.free_units, free_units);
    cr_assert_eq(msp_fit_largest(&fit), largest);
    expect_whole();
}

/* ---- operations on both ---- */

static void take(uint32_t size, size_t align, bool thorough)
{
    uint32_t id = msp_fit_take(&fit, size, align, thorough);
    const struct msp_record *r;

    if (id == 0) {
        cr_assert(!thorough || !has_room(size, align), "%u units on %zu overlooked", size, align);
        return;
    }
    r = msp_fit_record(&fit, id);
    cr_assert_eq(r->size, size);
    cr_assert_eq((uintptr_t)msp_record_address(r) & (align - 1), 0);
    live[live_count] = (struct block){id, r->range == &ranges[1], r->offset, size};
    own(live[live_count].range, r->offset, size, 0, id);
    live_count++;
}

static void give(unsigned i)
{
    own(live[i].range, live[i].offset, live[i].size, live[i].id, 0);
    msp_fit_give(&fit, live[i].id);
    live[i] = live[--live_count];
}

static void resize(unsigned i, uint32_t size)
{
    struct block *b = &live[i];
    uint32_t end_of = b->offset + b->size;
    uint32_t behind = (end_of < UNITS) ? free_run(b->range, end_of) : 0;
    bool can        = size <= b->size + behind;

    cr_assert_eq(msp_fit_resize(&fit, b->id, size), can, "%u to %u with %u behind", b->size, size,
                 behind);
    cr_assert_eq(msp_fit_record(&fit, b->id)->offset, b->offset);
    cr_assert_eq(msp_fit_record(&fit, b->id)->size, can ? size : b->size);
    if (can) {
        own(b->range, b->offset, b->size, b->id, 0);
        own(b->range, b->offset, size, 0, b->id);
        b->size = size;
    }
}

static void find(void)
{
    unsigned r    = between(0, RANGES - 1);
    uint32_t unit = between(0, UNITS - 1);
    uint32_t id   = msp_range_find(&ranges[r], (size_t)unit * MSP_UNIT_BYTES + 77);

    cr_assert_neq(id, 0);
    if (owner[r][unit] != 0) {
        cr_assert_eq(id, owner[r][unit]);
    } else {
        cr_assert(msp_fit_record(&fit, id)->is_free);
    }
}

static void step(void)
{
    unsigned what = between(0, 9);

    if ((what < 5) && (live_count < BLOCKS_MAX)) {
        uint32_t size = (between(0, 3) > 0) ? between(1, 12) : between(1, 120);
        take(size, MSP_UNIT_BYTES << (between(0, 2) ? 0 : between(0, 6)), between(0, 1));
    } else if (live_count > 0) {
        unsigned i = between(0, live_count - 1);
        if (what < 8) {
            give(i);
        } else {
            resize(i, between(1, live[i].size + 8));
        }
    }
}

Test(fit, does_what_a_map_of_units_does)
{
    unsigned n;

    begin();
    for (n = 0; n < OFTEN; n++) {
        step();
        find();
        if (n % 50 == 0) {
            expect_as_the_map();
        }
        while ((n % 5000 == 4999) && (live_count > 0)) {
            give(between(0, live_count - 1));
        }
    }
    end();
}

Test(fit, the_same_calls_get_the_same_blocks)
{
    enum { STEPS = 4000 };
    static uint64_t first[STEPS];
    unsigned round;
    unsigned n;

    for (round = 0; round < 2; round++) {
        begin();
        for (n = 0; n < STEPS; n++) {
            uint64_t last;
            step();
            last = (live_count == 0)
                       ? 0
                       : ((uint64_t)live[live_count - 1].offset << 1 | live[live_count - 1].range);
            if (round == 0) {
                first[n] = last;
            }
            cr_assert_eq(last, first[n]);
        }
        end();
    }
}

/* ---- one thing at a time ---- */

Test(fit, a_range_is_one_block_and_ranges_are_never_joined)
{
    begin();
    cr_expect_eq(msp_fit_largest(&fit), UNITS);
    cr_expect_eq(msp_fit_take(&fit, UNITS + 1, MSP_UNIT_BYTES, true), 0,
                 "they touch, but a block is in one of them");
    take(UNITS, MSP_UNIT_BYTES, false);
    take(UNITS, MSP_UNIT_BYTES, false);
    cr_assert_eq(live_count, 2);
    cr_expect_neq(live[0].range, live[1].range);
    cr_expect_eq(msp_fit_largest(&fit), 0);
    cr_expect_eq(msp_fit_take(&fit, 1, MSP_UNIT_BYTES, true), 0);
    give(0);
    give(0);
    expect_as_the_map();
    end();
}

/* Sizes of one bin, many that are too small in front of the one that is not. */
Test(fit, thorough_finding_overlooks_nothing)
{
    enum { TOO_SMALL = 16, SHORT = 129, LONG = 131 };
    uint32_t too_small[TOO_SMALL];
    struct msp_range range;
    uint32_t large;
    uint32_t id;
    unsigned i;

    cr_assert_eq(msp_fit_bin(SHORT), msp_fit_bin(LONG));
    cr_assert(msp_fit_init(&fit));
    cr_assert(msp_fit_add_range(&fit, &range, 0, LONG + 1 + TOO_SMALL * (SHORT + 1), false));
    large = msp_fit_take(&fit, LONG, MSP_UNIT_BYTES, true);
    cr_assert_neq(msp_fit_take(&fit, 1, MSP_UNIT_BYTES, true), 0);
    for (i = 0; i < TOO_SMALL; i++) {
        too_small[i] = msp_fit_take(&fit, SHORT, MSP_UNIT_BYTES, true);
        cr_assert_neq(msp_fit_take(&fit, 1, MSP_UNIT_BYTES, true), 0);
    }
    msp_fit_give(&fit, large); /* first in is last out */
    for (i = 0; i < TOO_SMALL; i++) {
        msp_fit_give(&fit, too_small[i]);
    }
    cr_expect_eq(msp_fit_take(&fit, LONG, MSP_UNIT_BYTES, false), 0);
    id = msp_fit_take(&fit, LONG, MSP_UNIT_BYTES, true);
    cr_assert_neq(id, 0);
    cr_expect_eq(msp_fit_record(&fit, id)->offset, 0);
    expect_whole();
}

Test(fit, rounding_leads_to_the_smallest_of_a_bin)
{
    uint32_t size;

    for (size = 1; size < 300000; size += (size < 5000) ? 1 : 97) {
        uint32_t rounded = msp_fit_round(size);

        cr_assert_geq(rounded, size);
        cr_assert_leq(rounded - size, size / 32);
        cr_assert(msp_fit_bin(rounded) > msp_fit_bin(rounded - 1));
        cr_assert_leq(msp_fit_bin(size), msp_fit_bin(size + 1));
    }
    cr_expect_lt(msp_fit_bin(UINT32_MAX), MSP_FIT_FL_COUNT * MSP_FIT_SL_COUNT);
}

Test(fit, zeros_are_told_until_a_block_was_used)
{
    struct msp_range range;
    uint32_t a;
    uint32_t b;

    cr_assert(msp_fit_init(&fit));
    cr_assert(msp_fit_add_range(&fit, &range, 0, 100, true));
    a = msp_fit_take(&fit, 10, MSP_UNIT_BYTES, true);
    b = msp_fit_take(&fit, 10, MSP_UNIT_BYTES, true);
    cr_expect(msp_fit_record(&fit, a)->zeroed && msp_fit_record(&fit, b)->zeroed);
    msp_fit_give(&fit, a);
    a = msp_fit_take(&fit, 10, MSP_UNIT_BYTES, true);
    cr_expect_eq(msp_fit_record(&fit, a)->offset, 0);
    cr_expect_not(msp_fit_record(&fit, a)->zeroed);
    msp_fit_give(&fit, b); /* joined with what is still zero behind it */
    b = msp_fit_take(&fit, 90, MSP_UNIT_BYTES, true);
    cr_expect_not(msp_fit_record(&fit, b)->zeroed);
    msp_fit_give(&fit, a);
    msp_fit_give(&fit, b);
    a = msp_fit_take(&fit, 10, MSP_UNIT_BYTES, true);
    b = msp_fit_take(&fit, 90, MSP_UNIT_BYTES, true);
    cr_expect_not(msp_fit_record(&fit, b)->zeroed, "a part is no more zero than the whole");
    msp_fit_give(&fit, a);
    msp_fit_give(&fit, b);
    msp_fit_remove_range(&fit, &range);
    msp_fit_clear(&fit);
}

Test(fit, blocks_above_half_a_tebibyte_have_a_bin)
{
    const uint32_t units = (UINT32_C(1) << 31) + 1000;
    struct msp_range range;
    uint32_t a;
    uint32_t b;

    cr_assert(msp_fit_init(&fit));
    if (!msp_fit_add_range(&fit, &range, 0, units, false)) {
        msp_fit_clear(&fit);
        cr_skip_test("no address space for such a range");
    }
    expect_whole();
    cr_expect_eq(msp_fit_largest(&fit), units);
    a = msp_fit_take(&fit, 3, MSP_UNIT_BYTES, false);
    b = msp_fit_take(&fit, units - 3, MSP_UNIT_BYTES, true);
    cr_assert((a != 0) && (b != 0));
    msp_fit_give(&fit, a);
    msp_fit_give(&fit, b);
    cr_expect_eq(msp_fit_largest(&fit), units);
    expect_whole();
    msp_fit_remove_range(&fit, &range);
    msp_fit_clear(&fit);
}

/* Every unit a block, and the records of all of them in what was reserved. */
Test(fit, reserved_records_are_enough)
{
    const uint32_t units = 3070; /* so that the last one reserved is needed */
    struct msp_range range;
    uint32_t i;

    cr_assert(msp_fit_init(&fit));
    cr_assert(msp_fit_reserve(&fit, units));
    cr_assert(msp_fit_add_range(&fit, &range, 0, units, false));
    for (i = 0; i < units; i++) {
        cr_assert_neq(msp_fit_take(&fit, 1, MSP_UNIT_BYTES, false), 0);
    }
    cr_expect_eq(fit.segment_count, fit.reserved_count);
    for (i = 0; i < fit.segment_count; i++) {
        cr_assert_eq((unsigned char *)fit.segments[i],
                     fit.reserved + (size_t)i * MSP_FIT_SEGMENT_RECORDS * 64);
    }
    for (i = 0; i < units; i++) {
        msp_fit_give(&fit, msp_range_find(&range, (size_t)i * MSP_UNIT_BYTES));
    }
    expect_whole();
    msp_fit_remove_range(&fit, &range);
    msp_fit_clear(&fit);
}

/* ---- what the check sees ---- */

/* Something wrong in one place is seen and named, and nothing is once it is right again. */
#define EXPECT_SEEN(place, wrong, words)                                                           \
    do {                                                                                           \
        __typeof__(place) right = (place);                                                         \
        const char *problem;                                                                       \
        (place) = (wrong);                                                                         \
        problem = msp_fit_check(&fit);                                                             \
        cr_expect_not_null(problem, #place);                                                       \
        cr_expect_not_null(strstr((problem == NULL) ? "" : problem, words), #place ": %s",         \
                           problem);                                                               \
        (place) = right;                                                                           \
        expect_whole();                                                                            \
    } while (0)

Test(fit, the_check_sees_planted_damage)
{
    struct msp_record *used;
    struct msp_record *hole;
    uint32_t *bin;
    uint32_t *bits;
    unsigned i;

    begin();
    for (i = 0; i < 7; i++) {
        take(10, MSP_UNIT_BYTES, false);
    }
    used = msp_fit_record(&fit, live[2].id);
    hole = msp_fit_record(&fit, live[3].id);
    msp_fit_give(&fit, live[1].id);
    msp_fit_give(&fit, live[3].id); /* the first of its bin */
    bin  = &fit.bins[0][10];
    bits = &fit.sl_map[0];
    EXPECT_SEEN(used->offset, used->offset + 1, "not where its neighbour ends");
    EXPECT_SEEN(used->before, 0, "not where its neighbour ends");
    EXPECT_SEEN(used->range, &ranges[used->range == &ranges[0]], "not where its neighbour ends");
    EXPECT_SEEN(used->size, used->size - 1, "not where its neighbour ends");
    EXPECT_SEEN(hole->size, 0, "size or start");
    EXPECT_SEEN(hole->size, UNITS, "size or start");
    EXPECT_SEEN(used->range->record_at[msp_range_slot(used->range, used->offset)], live[4].id,
                "size or start");
    EXPECT_SEEN(used->is_free, true, "side by side");
    EXPECT_SEEN(hole->is_free, false, "miscounted");
    EXPECT_SEEN(used->range->used_count, 0, "miscounted");
    EXPECT_SEEN(used->range->units, UNITS + 1, "do not fill it");
    EXPECT_SEEN(fit.free_units, fit.free_units + 1, "free bytes are miscounted");
    EXPECT_SEEN(*bits, *bits & ~(1u << 10), "a bin and its bit differ");
    EXPECT_SEEN(*bin, 0, "a bin and its bit differ");
    EXPECT_SEEN(*bin, live[2].id, "in a bin that is not its own");
    EXPECT_SEEN(hole->bin_after, 0, "differ in number");
    live[3] = live[--live_count];
    live[1] = live[--live_count];
    end();
}
