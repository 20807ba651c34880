/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CMD_ADVISE_PRELOAD_SAMPLE_H
#define CMD_ADVISE_PRELOAD_SAMPLE_H

/* How often, and how, the program uses its blocks.
 *
 * A probe is a window of a block whose pages are unmapped. The time until it is accessed gives the
 * rate of accesses; where it is entered gives their kind: a stream enters a window at one of its
 * edges, accesses in no order anywhere. */

#include <stdbool.h>
#include <stdint.h>

/* Begin to sample on a thread of its own, which calls @p save_profile now and then: the program may
 * end without notice. */
void sample_start(void (*save_profile)(void));

/* End; blocks of probes are counted up to now. */
void sample_stop(void);

/* The pages from @p start on are about to be those of no block. Holding the tables' lock. */
void sample_forget(uintptr_t start, uintptr_t end);

/* Where accesses are known from: "page faults", "page tables: REASON", "nothing: REASON". */
const char *sample_source(void);

#endif /* CMD_ADVISE_PRELOAD_SAMPLE_H */
