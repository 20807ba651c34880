/* SPDX-License-Identifier: BSD-3-Clause */
/* variable.c: a tree in the order of device and address (a treap: a node has a random priority, and
 * none above its parent's, so that the depth is logarithmic for any order of calls). */

#include "core/omp/mapped.h"
#include <stdlib.h>

static struct msp_omp_variable *root;

static bool is_at_or_before(const struct msp_omp_variable *v, int device, uintptr_t address)
{
    return (v->device < device) || ((v->device == device) && (v->begin <= address));
}

/* The last variable that begins at or before the address, and the first behind it; or NULL. */
static void neighbours(int device, uintptr_t address, struct msp_omp_variable **last_p,
                       struct msp_omp_variable **next_p)
{
    struct msp_omp_variable *v    = root;
    struct msp_omp_variable *last = NULL;
    struct msp_omp_variable *next = NULL;

    while (v != NULL) {
        if (is_at_or_before(v, device, address)) {
            last = v;
            v    = v->after;
        } else {
            next = v;
            v    = v->before;
        }
    }
    *last_p = ((last != NULL) && (last->device == device)) ? last : NULL;
    *next_p = ((next != NULL) && (next->device == device)) ? next : NULL;
}

static struct msp_omp_variable *last_before(int device, uintptr_t address)
{
    struct msp_omp_variable *last;
    struct msp_omp_variable *next;

    neighbours(device, address, &last, &next);
    return last;
}

struct msp_omp_variable *msp_omp_variable_find(int device, const void *begin, size_t size_bytes)
{
    struct msp_omp_variable *v = last_before(device, (uintptr_t)begin);
    size_t before              = (v == NULL) ? 0 : (uintptr_t)begin - v->begin;

    return ((v != NULL) && (before < v->size_bytes) && (size_bytes <= v->size_bytes - before))
               ? v
               : NULL;
}

struct msp_omp_variable *msp_omp_variable_find_empty(int device, const void *address)
{
    uintptr_t at = (uintptr_t)address;
    struct msp_omp_variable *last;
    struct msp_omp_variable *next;

    neighbours(device, at, &last, &next);
    if ((last != NULL) && ((at < last->begin + last->size_bytes) || (at < last->base))) {
        return last;
    }
    return ((next != NULL) && (at >= next->base)) ? next : NULL;
}

bool msp_omp_variable_overlaps(int device, const void *begin, size_t size_bytes)
{
    const struct msp_omp_variable *v = last_before(device, (uintptr_t)begin + size_bytes - 1);

    return (v != NULL) && (v->begin + v->size_bytes > (uintptr_t)begin);
}

struct msp_omp_variable *msp_omp_variable_of(int device)
{
    return last_before(device, UINTPTR_MAX);
}

static uint32_t random_priority(void)
{
    static uint64_t state;

    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 32);
}

struct msp_omp_variable *msp_omp_variable_add(const struct msp_omp_variable *variable)
{
    struct msp_omp_variable *added = malloc(sizeof *added);
    struct msp_omp_variable **link = &root;
    struct msp_omp_variable **before;
    struct msp_omp_variable **after;
    struct msp_omp_variable *v;

    if (added == NULL) {
        return NULL;
    }
    *added          = *variable;
    added->priority = random_priority();
    while ((*link != NULL) && ((*link)->priority >= added->priority)) {
        link = is_at_or_before(*link, added->device, added->begin) ? &(*link)->after
                                                                   : &(*link)->before;
    }
    /* The old variable is divided into the parts before and after the new one. */
    v      = *link;
    *link  = added;
    before = &added->before;
    after  = &added->after;
    while (v != NULL) {
        if (is_at_or_before(v, added->device, added->begin)) {
            *before = v;
            before  = &v->after;
            v       = v->after;
        } else {
            *after = v;
            after  = &v->before;
            v      = v->before;
        }
    }
    *before = NULL;
    *after  = NULL;
    return added;
}

void msp_omp_variable_remove(struct msp_omp_variable *variable)
{
    struct msp_omp_variable *before = variable->before;
    struct msp_omp_variable *after  = variable->after;
    struct msp_omp_variable **link  = &root;

    while (*link != variable) {
        link = is_at_or_before(*link, variable->device, variable->begin) ? &(*link)->after
                                                                         : &(*link)->before;
    }
    while ((before != NULL) && (after != NULL)) {
        if (before->priority >= after->priority) {
            *link  = before;
            link   = &before->after;
            before = before->after;
        } else {
            *link = after;
            link  = &after->before;
            after = after->before;
        }
    }
    *link = (before != NULL) ? before : after;
    free(variable);
}
