/* SPDX-License-Identifier: BSD-3-Clause */
/* variable.c: an array in ascending order of device and address. */

#include "core/omp/variable.h"
#include <stdlib.h>
#include <string.h>

static struct msp_omp_variable *variables;
static size_t variable_count;
static size_t capacity;

/* How many variables begin at or before the address. */
static size_t rank(int device, uintptr_t address)
{
    size_t low  = 0;
    size_t high = variable_count;

    while (low < high) {
        size_t middle                    = low + (high - low) / 2;
        const struct msp_omp_variable *v = &variables[middle];

        if ((v->device < device) || ((v->device == device) && (v->begin <= address))) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The last variable that begins at or before the address, or NULL. */
static struct msp_omp_variable *last_before(int device, uintptr_t address)
{
    size_t count = rank(device, address);

    return ((count > 0) && (variables[count - 1].device == device)) ? &variables[count - 1] : NULL;
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
    uintptr_t at               = (uintptr_t)address;
    size_t next                = rank(device, at);
    struct msp_omp_variable *v = last_before(device, at);

    if ((v != NULL) && ((at < v->begin + v->size_bytes) || (at < v->base))) {
        return v;
    }
    v = &variables[next];
    return ((next < variable_count) && (v->device == device) && (at >= v->base)) ? v : NULL;
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

bool msp_omp_variable_add(const struct msp_omp_variable *variable)
{
    size_t index = rank(variable->device, variable->begin);

    if (variable_count == capacity) {
        size_t more                     = (capacity == 0) ? 16 : 2 * capacity;
        struct msp_omp_variable *longer = realloc(variables, more * sizeof *variables);

        if (longer == NULL) {
            return false;
        }
        variables = longer;
        capacity  = more;
    }
    memmove(&variables[index + 1], &variables[index], (variable_count - index) * sizeof *variables);
    variables[index] = *variable;
    variable_count++;
    return true;
}

void msp_omp_variable_remove(struct msp_omp_variable *variable)
{
    size_t index = (size_t)(variable - variables);

    variable_count--;
    memmove(variable, variable + 1, (variable_count - index) * sizeof *variables);
}
