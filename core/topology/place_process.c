/* SPDX-License-Identifier: BSD-3-Clause */
/* place_process.c: the processors that the process may use, which OpenMP's runtimes number their
 * places on.
 *
 * A runtime that binds threads has bound the first one already, whose affinity then says nothing
 * about the process; but it has places, which are asked for. Another does not bind, and the first
 * thread still has the affinity with which the process was started. */

#include "core/base/omp_hook.h"
#include "core/topology/place.h"
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

enum { PROCESSORS_MAX = 65536, WORD_BITS = 8 * sizeof(unsigned long) };

static void set_processors(hwloc_bitmap_t set, const int *numbers, int count)
{
    int i;

    for (i = 0; i < count; i++) {
        if ((numbers[i] >= 0) && (numbers[i] < PROCESSORS_MAX)) {
            hwloc_bitmap_set(set, (unsigned)numbers[i]);
        }
    }
}

/* A place of the runtime, of @p count processors; NULL: no memory. */
static hwloc_bitmap_t place_of_runtime(int place, int count)
{
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    int *numbers       = calloc((size_t)count, sizeof(*numbers));

    if ((set != NULL) && (numbers != NULL)) {
        set_processors(set, numbers, msp_place_processors(place, numbers, count));
    }
    free(numbers);
    return set;
}

bool msp_places_of_runtime(struct msp_places *places_p)
{
    int count = msp_place_count();
    int i;

    *places_p = (struct msp_places){NULL, 0};
    if (count <= 0) {
        return false;
    }
    places_p->sets = calloc((size_t)count, sizeof(hwloc_bitmap_t));
    for (i = 0; (places_p->sets != NULL) && (i < count); i++) {
        places_p->sets[i] = place_of_runtime(i, msp_place_processors(i, NULL, 0));
        if (places_p->sets[i] == NULL) {
            msp_places_free(places_p);
            return false;
        }
        places_p->count++;
    }
    return places_p->count > 0;
}

hwloc_bitmap_t msp_places_allowed(void)
{
    unsigned long *mask    = calloc(PROCESSORS_MAX / WORD_BITS, sizeof(*mask));
    hwloc_bitmap_t allowed = hwloc_bitmap_alloc();
    int i;

    if ((mask == NULL) || (allowed == NULL) ||
        (sched_getaffinity(getpid(), PROCESSORS_MAX / 8, (cpu_set_t *)mask) != 0)) {
        hwloc_bitmap_free(allowed);
        allowed = NULL;
    }
    for (i = 0; (allowed != NULL) && (i < PROCESSORS_MAX); i++) {
        if ((mask[i / WORD_BITS] >> (i % WORD_BITS) & 1) != 0) {
            hwloc_bitmap_set(allowed, (unsigned)i);
        }
    }
    free(mask);
    return allowed;
}
