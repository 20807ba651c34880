/* SPDX-License-Identifier: BSD-3-Clause */
/* table.c: open addressing with linear probing; at most three quarters of the slots are in use,
 * so that a search ends. */

#include "core/omp/openmp.h"
#include <pthread.h>
#include <stdlib.h>

enum { FREE = 0, REMOVED = 1, SLOTS_FIRST = 64 };

static size_t first_slot(uintptr_t key, size_t capacity)
{
    /* Fibonacci hashing: addresses differ in the middle bits. */
    return (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (capacity - 1);
}

/* The entry of @p key, or NULL. Lock held. */
static struct msp_omp_entry *find(struct msp_omp_table *table, uintptr_t key)
{
    size_t i;

    if (table->capacity == 0) {
        return NULL;
    }
    i = first_slot(key, table->capacity);
    while (table->slots[i].key != FREE) {
        if (table->slots[i].key == key) {
            return &table->slots[i];
        }
        i = (i + 1) & (table->capacity - 1);
    }
    return NULL;
}

/* Put a key that is not there into a table with space. Lock held. */
static void insert(struct msp_omp_table *table, uintptr_t key, uintptr_t value)
{
    size_t i = first_slot(key, table->capacity);

    while (table->slots[i].key > REMOVED) {
        i = (i + 1) & (table->capacity - 1);
    }
    table->used += (table->slots[i].key == FREE) ? 1 : 0;
    table->slots[i].key   = key;
    table->slots[i].value = value;
}

/* Make space for one more entry, dropping removed ones on the way. Lock held. */
static bool reserve(struct msp_omp_table *table)
{
    size_t live               = atomic_load_explicit(&table->live, memory_order_relaxed);
    struct msp_omp_entry *old = table->slots;
    size_t old_capacity       = table->capacity;
    size_t capacity           = SLOTS_FIRST;
    size_t i;

    if ((table->used + 1) * 4 <= table->capacity * 3) {
        return true;
    }
    while ((live + 1) * 2 > capacity) {
        capacity *= 2;
    }
    table->slots = calloc(capacity, sizeof(*table->slots));
    if (table->slots == NULL) {
        table->slots = old;
        return false;
    }
    table->capacity = capacity;
    table->used     = 0;
    for (i = 0; i < old_capacity; i++) {
        if (old[i].key > REMOVED) {
            insert(table, old[i].key, old[i].value);
        }
    }
    free(old);
    return true;
}

bool msp_omp_table_put(struct msp_omp_table *table, uintptr_t key, uintptr_t value)
{
    struct msp_omp_entry *entry;
    bool done = true;

    msp_lock(&msp_omp_table_lock);
    entry = find(table, key);
    if (entry != NULL) {
        entry->value = value;
    } else if (reserve(table)) {
        insert(table, key, value);
        /* A thread that gets the key after this may look it up, without the lock finding 0. */
        atomic_fetch_add_explicit(&table->live, 1, memory_order_release);
    } else {
        done = false;
    }
    msp_unlock(&msp_omp_table_lock);
    return done;
}

static bool look(struct msp_omp_table *table, uintptr_t key, bool remove, uintptr_t *value_p)
{
    struct msp_omp_entry *entry;

    if (atomic_load_explicit(&table->live, memory_order_acquire) == 0) {
        return false;
    }
    msp_lock(&msp_omp_table_lock);
    entry = find(table, key);
    if (entry != NULL) {
        *value_p = entry->value;
        if (remove) {
            entry->key = REMOVED;
            atomic_fetch_sub_explicit(&table->live, 1, memory_order_relaxed);
        }
    }
    msp_unlock(&msp_omp_table_lock);
    return entry != NULL;
}

bool msp_omp_table_get(struct msp_omp_table *table, uintptr_t key, uintptr_t *value_p)
{
    return look(table, key, false, value_p);
}

bool msp_omp_table_take(struct msp_omp_table *table, uintptr_t key, uintptr_t *value_p)
{
    return look(table, key, true, value_p);
}
