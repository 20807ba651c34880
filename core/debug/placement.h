/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_DEBUG_PLACEMENT_H
#define MEMSPAN_CORE_DEBUG_PLACEMENT_H

/* MEMSPAN_PLACEMENT: predefined allocators by call site.
 *
 * The file is lines; "#" begins a comment. The first line is "memspan-placement 1", all others are
 * "SPACE FRAME...": a word of msp_placement_word() and a call site (call_stack.h). */

#include <memspan/placement.h>
#include <stdbool.h>

struct msp_placed_site {
    memspan_allocator_h allocator;
    const char *frames; /* in the text of the file */
};

struct msp_placement {
    struct msp_placed_site *sites;
    size_t count;
};

/* Parse @p text, which is changed and kept. False, with "line N: reason" in @p problem, when it is
 * no placement file; on success the caller frees placement_p->sites. */
bool msp_placement_parse(char *text, struct msp_placement *placement_p, char *problem,
                         size_t problem_bytes);

/* The word of a space, "high_bw"; NULL after the last. */
const char *msp_placement_word(size_t index);

/* Read the file that the environment names, and begin to place. Once, by msp_watch_start(). */
void msp_placement_start(void);

#endif /* MEMSPAN_CORE_DEBUG_PLACEMENT_H */
