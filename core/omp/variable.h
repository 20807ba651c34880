/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_OMP_VARIABLE_H
#define MEMSPAN_CORE_OMP_VARIABLE_H

/* The mapped variables with memory of an allocator, by device and host address. They do not
 * overlap. Callers hold the lock of mapped.c; a pointer is valid until its variable is removed. */

#include "core/omp/abi.h"
#include <stdbool.h>

struct msp_omp_variable {
    int device;
    uintptr_t base;  /* on the host: where the array begins of which this is a section */
    uintptr_t begin; /* on the host */
    size_t size_bytes;
    void *memory; /* on the device */
    msp_omp_map_free *release;
    size_t count;      /* references of map clauses */
    size_t hold_count; /* of those with ompx_hold */
    bool changes;      /* begins or ends with the present call */
    struct msp_omp_variable *next_changed;
    struct msp_omp_variable *before; /* of the tree in variable.c */
    struct msp_omp_variable *after;
    uint32_t priority;
};

/* The variable that holds all these bytes, or NULL. */
struct msp_omp_variable *msp_omp_variable_find(int device, const void *begin, size_t size_bytes);

/* The variable that a section of no bytes at this address belongs to, or NULL. The runtime's rule:
 * an address between the base and the begin of a variable counts as its own. */
struct msp_omp_variable *msp_omp_variable_find_empty(int device, const void *address);

/* True when a variable has one of these bytes. */
bool msp_omp_variable_overlaps(int device, const void *begin, size_t size_bytes);

/* One of the device's variables, or NULL. */
struct msp_omp_variable *msp_omp_variable_of(int device);

/* Add a copy of @p variable; NULL without memory. */
struct msp_omp_variable *msp_omp_variable_add(const struct msp_omp_variable *variable);
void msp_omp_variable_remove(struct msp_omp_variable *variable);

#endif /* MEMSPAN_CORE_OMP_VARIABLE_H */
