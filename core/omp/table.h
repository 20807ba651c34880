/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_OMP_TABLE_H
#define MEMSPAN_CORE_OMP_TABLE_H

/* A small map from one word to another, for things that the program names by address: blocks of
 * the real runtime, partitions, partitioners. Slow paths only: one mutex. An empty table answers
 * without it. */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Everything is guarded by msp_omp_table_lock. */
struct msp_omp_table {
    struct msp_omp_entry {
        uintptr_t key; /* 0 free, 1 removed */
        uintptr_t value;
    } * slots;
    size_t capacity;      /* a power of two, or 0 */
    size_t used;          /* slots that are not free */
    _Atomic(size_t) live; /* entries */
};

/* Keys 0 and 1 are not allowed. */
#define MSP_OMP_TABLE_INIT                                                                         \
    {                                                                                              \
        .slots = NULL                                                                              \
    }

/* Add or replace. False when there is no memory for it. */
bool msp_omp_table_put(struct msp_omp_table *table, uintptr_t key, uintptr_t value);

/* The value of @p key; false when there is none. */
bool msp_omp_table_get(struct msp_omp_table *table, uintptr_t key, uintptr_t *value_p);

/* The same, and the entry is removed: of several callers only one gets true. */
bool msp_omp_table_take(struct msp_omp_table *table, uintptr_t key, uintptr_t *value_p);

#endif /* MEMSPAN_CORE_OMP_TABLE_H */
