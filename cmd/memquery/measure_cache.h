/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMQUERY_MEASURE_CACHE_H
#define MEMQUERY_MEASURE_CACHE_H

/* Figures of earlier runs: a file a machine in $XDG_CACHE_HOME/memspan or ~/.cache/memspan, which
 * this user alone can have written. It is never needed, and what is wrong with it is said in
 * board->cache_note. */

#include "measure.h"

/* Fill the cells that have the same key as what was measured; @p full: with large sizes. */
void measure_cache_load(struct measure_board *board, bool full);

/* Keep what has been measured, beside what is there of other devices. */
void measure_cache_store(struct measure_board *board);

#endif /* MEMQUERY_MEASURE_CACHE_H */
