/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMQUERY_MEASURE_CACHE_H
#define MEMQUERY_MEASURE_CACHE_H

/* Figures of earlier runs: a file a machine in $XDG_CACHE_HOME/memspan or ~/.cache/memspan, which
 * this user alone can have written. It is never needed, and what is wrong with it is said in
 * figures->cache_note. */

#include "cmd/memquery/measure/measure.h"

/* Fill the cells that have the same key as what was measured, with large sizes where these are
 * wanted. A figure whose repetitions did not agree, or that was taken while others used the
 * processors, is taken over only where nothing is to be measured. */
void measure_cache_load(struct measure_figures *figures, const struct measure_request *request);

/* Keep what has been measured, beside what is there of other devices. */
void measure_cache_store(struct measure_figures *figures);

#endif /* MEMQUERY_MEASURE_CACHE_H */
