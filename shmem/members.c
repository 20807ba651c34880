/* SPDX-License-Identifier: BSD-3-Clause */
/* members.c: the table of a team's PEs, and its inverse by binary search. */

#include "shmem/members.h"
#include <stdlib.h>

struct msp_members *msp_members_make(int count)
{
    struct msp_members *members =
        malloc(sizeof *members + (2 * (size_t)count * sizeof members->pes[0]));

    if (members != NULL) {
        atomic_init(&members->holder_count, 1);
        members->count = count;
    }
    return members;
}

static int by_pe(const void *a, const void *b, void *pes)
{
    const int pe_a = ((const int *)pes)[*(const int *)a];
    const int pe_b = ((const int *)pes)[*(const int *)b];

    return (pe_a > pe_b) - (pe_a < pe_b);
}

void msp_members_sort(struct msp_members *members)
{
    int *places = members->pes + members->count;
    int i;

    for (i = 0; i < members->count; i++) {
        places[i] = i;
    }
    qsort_r(places, (size_t)members->count, sizeof places[0], by_pe, members->pes);
}

void msp_members_hold(struct msp_members *members)
{
    if (members != NULL) {
        atomic_fetch_add_explicit(&members->holder_count, 1, memory_order_relaxed);
    }
}

void msp_members_release(struct msp_members *members)
{
    if ((members != NULL) &&
        (atomic_fetch_sub_explicit(&members->holder_count, 1, memory_order_acq_rel) == 1)) {
        free(members);
    }
}

/* -1: it has no place. */
static int place_of(const struct msp_members *members, int world_pe)
{
    const int *places = members->pes + members->count;
    int low           = 0;
    int high          = members->count - 1;

    while (low <= high) {
        int middle = low + ((high - low) / 2);
        int pe     = members->pes[places[middle]];

        if (pe == world_pe) {
            return places[middle];
        }
        if (pe < world_pe) {
            low = middle + 1;
        } else {
            high = middle - 1;
        }
    }
    return -1;
}

int msp_members_number(const struct msp_members *members, int start, int stride, int size,
                       int world_pe)
{
    int place    = (members == NULL) ? world_pe : place_of(members, world_pe);
    int distance = place - start;

    if (place < 0) {
        return -1;
    }
    if (stride == 0) {
        return (distance == 0) ? 0 : -1;
    }
    return ((distance % stride == 0) && (distance / stride >= 0) && (distance / stride < size))
               ? distance / stride
               : -1;
}
