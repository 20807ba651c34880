/* SPDX-License-Identifier: BSD-3-Clause */
/* map_count.c: references of variables that are there. */

#include "core/omp/mapped.h"

/* The variable of an entry that means no more than its use, if it is there; else NULL. */
static struct msp_omp_variable *find_used(const struct msp_omp_data *d, int i, int64_t allowed)
{
    const int64_t plain =
        MSP_MAP_TO | MSP_MAP_FROM | MSP_MAP_PARAMETER | MSP_MAP_IMPLICIT | MSP_MAP_PRESENT;
    size_t size_bytes = (d->sizes[i] > 0) ? (size_t)d->sizes[i] : 1;

    return (((d->types[i] & ~(plain | allowed)) == 0) && !msp_omp_entry_has_mapper(d, i))
               ? msp_omp_variable_find(d->number, d->begins[i], size_bytes)
               : NULL;
}

/* The variable lives on when one reference is taken. */
static bool outlives_one(const struct msp_omp_variable *v)
{
    return (v->count > 0) && (v->count + v->hold_count > 1);
}

bool msp_omp_map_count(const struct msp_omp_data *d, bool begins, int64_t allowed, int64_t ignored)
{
    struct msp_omp_variable *v;
    int i;

    for (i = 0; i < d->count; i++) {
        if ((d->types[i] & ignored) != 0) {
            continue;
        }
        v = find_used(d, i, allowed);
        if ((v == NULL) || (!begins && !outlives_one(v))) {
            break;
        }
        v->count = begins ? v->count + 1 : v->count - 1;
    }
    if (i == d->count) {
        return true;
    }
    while (i-- > 0) {
        if ((d->types[i] & ignored) == 0) {
            v        = find_used(d, i, allowed);
            v->count = begins ? v->count - 1 : v->count + 1;
        }
    }
    return false;
}
