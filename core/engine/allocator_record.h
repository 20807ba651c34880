/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_ENGINE_ALLOCATOR_RECORD_H
#define MEMSPAN_CORE_ENGINE_ALLOCATOR_RECORD_H

/* An allocator as the core sees it. Records are never freed, only used again under another
 * generation of the handle, so a stale handle leads to a record that says so. */

#include "core/allocator.h"
#include "core/engine/account.h"
#include "core/plan.h"

/* In msp_allocator.users: calls under way that use the record, whether more may begin, and the
 * generation of the handle that they must have. */
#define MSP_USERS_OPEN  (UINT64_C(1) << 31)
#define MSP_USERS_COUNT (MSP_USERS_OPEN - 1)

struct msp_allocator {
    _Atomic uintptr_t handle;                /* 0 while the record is unused or outlives it */
    _Atomic(struct msp_provider *) provider; /* NULL until the first allocation */
    const struct msp_space *space;
    struct msp_traits traits;
    struct msp_plan *plan;      /* in the table of plans; NULL: not made yet */
    atomic_bool has_objects;    /* small blocks come from the heaps of threads */
    atomic_bool zombie;         /* destroyed, with live memory; the last free ends it */
    atomic_bool warned;         /* its fallback was reported */
    struct msp_account account; /* the first; others follow where the trait access divides */
    _Atomic uint64_t fallback_count;
    _Atomic uint64_t users; /* above; the record is not used again while there are any */
    uint64_t traced_bytes;  /* live ones that the trace has seen; under its lock */
    uint32_t index;         /* of the record; the predefined ones have their handle */
    uint32_t generation;
    struct msp_allocator *next_unused;
    _Atomic(const char *) name; /* "omp_default_mem_alloc", or interned; NULL: none */
};

/* "" without one. It stays, also when the allocator gets another. */
static inline const char *memspan_allocator_name(const struct msp_allocator *allocator)
{
    const char *name = atomic_load_explicit(&allocator->name, memory_order_acquire);

    return (name == NULL) ? "" : name;
}

/* The live allocator of a handle, without error record; NULL for 0 and anything stale or foreign.
 */
struct msp_allocator *msp_allocator_find(memspan_allocator_h handle);

/* The same, and until it is released its record stays, also when the allocator is destroyed. */
struct msp_allocator *msp_allocator_pin(memspan_allocator_h handle);

/* The same for 0 (the default allocator) and other vendors' handles too; NULL with an error. */
struct msp_allocator *msp_allocator_acquire(memspan_allocator_h handle);

/* NULL has no effect. */
void msp_allocator_release(struct msp_allocator *allocator);

/* Make sure that the plan is made. */
memspan_status_t msp_allocator_ensure_plan(struct msp_allocator *allocator);

/* The provider of ordinary blocks; NULL with an error. */
struct msp_provider *msp_allocator_provider(struct msp_allocator *allocator);

/* The account that the calling thread is charged to. NULL with an error recorded. */
struct msp_account *msp_allocator_account(struct msp_allocator *allocator);

/* True where each team or contention group has a pool of its own. Not before there is a provider.
 */
bool msp_allocator_is_divided(const struct msp_allocator *allocator);

/* Blocks in use, as far as published. */
int64_t msp_allocator_live_count(const struct msp_allocator *allocator);

/* The last block of a destroyed allocator has been freed. */
void msp_allocator_bury(struct msp_allocator *allocator);

/* Blocks were freed that no heap counts: if they were a destroyed allocator's last, it ends. */
static inline void msp_allocator_settle(struct msp_allocator *allocator)
{
    if (MSP_UNLIKELY(atomic_load(&allocator->zombie)) &&
        (msp_allocator_live_count(allocator) == 0)) {
        msp_allocator_bury(allocator);
    }
}

/* All records that were ever used, in order; NULL after the last. Unused ones have handle 0. */
struct msp_allocator *msp_allocator_at(size_t i);

/* While it is held no allocator is made or ended, so that records may be looked at; pools may be
 * locked under it. */
void msp_allocator_lock_table(void);
void msp_allocator_unlock_table(void);

#endif /* MEMSPAN_CORE_ENGINE_ALLOCATOR_RECORD_H */
