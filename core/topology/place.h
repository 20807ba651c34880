/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_TOPOLOGY_PLACE_H
#define MEMSPAN_CORE_TOPOLOGY_PLACE_H

/* OMP_PLACES: from text to sets of processors. */

#include "core/topology/hwloc.h"
#include <stdbool.h>

struct msp_places {
    hwloc_bitmap_t *sets; /* operating-system numbers of processors, one set a place */
    int count;
};

/* Parse @p text ("" is "cores") for the machine @p topology; hwloc is open. False when it is
 * malformed; then @p problem has the mistake and its position, and *places_p is empty. */
bool msp_places_parse(const char *text, hwloc_topology_t topology, struct msp_places *places_p,
                      char *problem, size_t problem_size);

void msp_places_free(struct msp_places *places);

#endif /* MEMSPAN_CORE_TOPOLOGY_PLACE_H */
