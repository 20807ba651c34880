/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_DEBUG_USE_SAMPLE_H
#define MEMSPAN_CORE_DEBUG_USE_SAMPLE_H

/* Which memory of the process is used: by the accessed bits of its page tables, which the processor
 * sets at reads and writes. The kernel clears them (/proc/self/clear_refs) and sums them up for
 * each mapping (Referenced in /proc/self/smaps), without privileges. Between the two is a window of
 * time. Pages of 2 MiB have one bit.
 *
 * Costs: both walk all page tables of the process. Cleared pages look unused to the kernel's
 * reclaim, too. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A range of mappings. Ranges that differ in what the kernel keeps for a mapping are summed up
 * apart; others have equal shares of their common mapping. */
struct msp_use_range {
    uintptr_t start; /* page boundaries */
    uintptr_t end;
    double resident_bytes; /* out */
    double used_bytes;     /* out: of the pages that were accessed in the window */
};

/* Begin a window. False, with a reason, where the bits cannot be cleared. One thread at a time. */
bool msp_use_begin(const char **problem_p);

/* End it: sets the results of @p ranges, which are in ascending order and do not overlap. */
bool msp_use_end(struct msp_use_range *ranges, size_t count, const char **problem_p);

/* Bytes that were used in the window when each access is to any of the pages: a page that is used
 * twice is seen once. */
double msp_use_estimate(const struct msp_use_range *range);

/* -ln(x) for 0 < x <= 1, to six digits; the library needs no libm. */
double msp_use_minus_log(double x);

#endif /* MEMSPAN_CORE_DEBUG_USE_SAMPLE_H */
