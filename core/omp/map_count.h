/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_OMP_MAP_COUNT_H
#define MEMSPAN_CORE_OMP_MAP_COUNT_H

/* Maps of variables that are there already, which is most of them in a loop of regions: only
 * references are counted, and the runtime need not be called. */

#include "core/omp/mapped.h"
#include <stdbool.h>

/* Add to the references of the variables of all entries (@p begins), or take from them. False, and
 * nothing has changed, where there is more to do: a variable begins or ends, is the runtime's, or
 * its map means more than its use. Bits of @p allowed may be set all the same; entries with bits of
 * @p ignored do not matter. Callers hold the lock of mapped.c. */
bool msp_omp_map_count(const struct msp_omp_data *data, bool begins, int64_t allowed,
                       int64_t ignored);

#endif /* MEMSPAN_CORE_OMP_MAP_COUNT_H */
