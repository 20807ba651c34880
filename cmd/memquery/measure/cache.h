/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMQUERY_MEASURE_CACHE_H
#define MEMQUERY_MEASURE_CACHE_H

/* Figures of earlier runs: one file a machine in $XDG_CACHE_HOME/memspan or ~/.cache/memspan,
 * which this user alone can have written. It is optional; a problem with it is described in
 * figures->cache_note. */

#include "cmd/memquery/measure/measure.h"

/* Fill the cells whose key is in the file, with large sizes where these are asked for. A figure
 * whose repetitions did not agree, or that was taken on a busy machine, is used only where
 * nothing is to be measured. */
void measure_cache_load(struct measure_figures *figures, const struct measure_request *request);

/* Store the figures beside those of other devices. */
void measure_cache_store(struct measure_figures *figures);

#endif /* MEMQUERY_MEASURE_CACHE_H */
