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

/* Parse @p text ("" is "cores") for the machine @p topology; hwloc is open. Places have those of
 * the processors @p allowed (NULL: all), and one without any does not count. False when the text is
 * malformed or no place is left; then @p problem has the mistake and its position, and *places_p is
 * empty. */
bool msp_places_parse(const char *text, hwloc_topology_t topology, hwloc_const_bitmap_t allowed,
                      struct msp_places *places_p, char *problem, size_t problem_size);

/* place_process.c: the places of the OpenMP runtime in this process. False: it has none. No lock
 * held. */
bool msp_places_of_runtime(struct msp_places *places_p);

/* place_process.c: the processors that the process may use; NULL: unknown. */
hwloc_bitmap_t msp_places_allowed(void);

void msp_places_free(struct msp_places *places);

#endif /* MEMSPAN_CORE_TOPOLOGY_PLACE_H */
