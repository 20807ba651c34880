/* SPDX-License-Identifier: BSD-3-Clause */
/* Which memory was used in a window, by reads and by writes, and the estimates. */

#include "core/debug/use_sample.h"
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>

enum { PARTS = 4, PART_BYTES = 2 << 20, PAGE = 4096 };

/* Parts of a mapping that the kernel sums up apart: a page without access is between them. */
static void make_parts(struct msp_use_range ranges[PARTS])
{
    char *memory = mmap(NULL, PARTS * (PART_BYTES + PAGE), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    cr_assert(memory != MAP_FAILED);
    cr_assert_eq(madvise(memory, PARTS * (PART_BYTES + PAGE), MADV_NOHUGEPAGE), 0);
    for (size_t i = 0; i < PARTS; i++, memory += PART_BYTES + PAGE) {
        memset(memory, 1, PART_BYTES);
        cr_assert_eq(mprotect(memory + PART_BYTES, PAGE, PROT_NONE), 0);
        ranges[i] = (struct msp_use_range){.start = (uintptr_t)memory,
                                           .end   = (uintptr_t)memory + PART_BYTES};
    }
}

static void use(const struct msp_use_range *range, size_t pages, bool write)
{
    volatile char *at = (volatile char *)range->start;

    for (size_t i = 0; i < pages; i++, at += PAGE) {
        if (write) {
            *at = 2;
        } else {
            (void)*at;
        }
    }
}

Test(use_sample, reads_and_writes_are_seen_where_they_are)
{
    struct msp_use_range ranges[PARTS];
    const char *problem = NULL;

    make_parts(ranges);
    for (int round = 0; round < 3; round++) {
        if (!msp_use_begin(&problem)) {
            cr_skip("%s", problem);
        }
        use(&ranges[0], PART_BYTES / PAGE, false);
        use(&ranges[2], PART_BYTES / PAGE / 2, true);
        cr_assert(msp_use_end(ranges, PARTS, &problem), "%s", problem);
        for (size_t i = 0; i < PARTS; i++) {
            cr_expect_float_eq(ranges[i].resident_bytes, PART_BYTES, PAGE);
        }
        cr_expect_float_eq(ranges[0].used_bytes, PART_BYTES, PAGE);
        cr_expect_float_eq(ranges[1].used_bytes, 0, PAGE);
        cr_expect_float_eq(ranges[2].used_bytes, PART_BYTES / 2, PAGE);
        cr_expect_float_eq(ranges[3].used_bytes, 0, PAGE);
    }
}

/* One mapping has one sum: its ranges have shares of it. */
Test(use_sample, ranges_of_one_mapping_have_shares)
{
    struct msp_use_range ranges[PARTS];
    struct msp_use_range halves[2];
    const char *problem = NULL;

    make_parts(ranges);
    if (!msp_use_begin(&problem)) {
        cr_skip("%s", problem);
    }
    use(&ranges[1], PART_BYTES / PAGE / 2, false);
    halves[0] = halves[1] = ranges[1];
    halves[0].end = halves[1].start = ranges[1].start + PART_BYTES / 2;
    cr_assert(msp_use_end(halves, 2, &problem), "%s", problem);
    cr_expect_float_eq(halves[0].used_bytes, PART_BYTES / 4, PAGE);
    cr_expect_float_eq(halves[1].used_bytes, PART_BYTES / 4, PAGE);
}

Test(use_sample, an_estimate_counts_what_was_seen_once_for_several)
{
    struct msp_use_range range = {.resident_bytes = 1000, .used_bytes = 500};

    cr_expect_float_eq(msp_use_estimate(&range), 1000 * log(2), 1e-3);
    range.used_bytes = 1000;
    cr_expect_float_eq(msp_use_estimate(&range), 1000 * log(64), 1e-2);
    range.used_bytes = 0;
    cr_expect_float_eq(msp_use_estimate(&range), 0, 1e-9);
    range.resident_bytes = 0;
    cr_expect_float_eq(msp_use_estimate(&range), 0, 1e-9);
    for (double x = 1; x > 1e-9; x *= 0.7) {
        cr_expect_float_eq(msp_use_minus_log(x), -log(x), 1e-4);
    }
}
