/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_ENGINE_ALLOCATOR_RECORD_H
#define MEMSPAN_CORE_ENGINE_ALLOCATOR_RECORD_H

/* An allocator as the core sees it. Records are never freed, only used again under another
 * generation of the handle, so a stale handle leads to a record that shows it. */

#include "core/engine/account.h"
#include "core/engine/provider.h"
#include "core/engine/retired.h"
#include "core/engine/trait_table.h"
#include <memspan/allocator.h>

/* The kind and place of memory, and the reasons. */
struct msp_plan {
    const struct msp_space *space;
    struct msp_provider *provider; /* NULL until msp_plan_provide() */
    struct msp_provider_spec spec; /* nodes and importers point into the arrays below */
    memspan_kind_t kind_asked;
    memspan_kind_t kind_given;
    const struct msp_device *resident;
    size_t
        blocked_bytes; /* from here on a block is spread over all nodes by itself; else SIZE_MAX */
    bool exact;
    bool serves; /* exact, or a stronger kind of memory that keeps all requested properties */
    bool warns;  /* a trait that was given is not followed: more than information */
    bool migratable;
    char why[512];
    int *nodes;
    const struct msp_device **importers;
};

#define MSP_PREDEFINED_COUNT 9 /* by handle; 0 is none */

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
    _Atomic uint64_t users;        /* above; the record is not used again while there are any */
    uint64_t traced_bytes;         /* live ones that the trace has seen; under its lock */
    _Atomic uint64_t spare_number; /* of the request that it may serve again (spare.h); 0: none */
    struct msp_retired past;       /* of its lives as a spare, in sections of their threads */
    uint32_t index;                /* of the record; the predefined ones have their handle */
    uint32_t generation;
    struct msp_allocator *next_unused;
    _Atomic(const char *) name; /* "omp_default_mem_alloc", or interned; NULL: none */
} __attribute__((aligned(MSP_CACHE_LINE_BYTES))); /* threads use records side by side */

/* "" without one. It stays, also when the allocator gets another. */
static inline const char *memspan_allocator_name(const struct msp_allocator *allocator)
{
    const char *name = atomic_load_explicit(&allocator->name, memory_order_acquire);

    return (name == NULL) ? "" : name;
}

/* The live allocator of a handle, without error record; NULL for 0 and anything stale or foreign.
 */
struct msp_allocator *msp_allocator_find(memspan_allocator_h handle);

/* True when the handle is predefined or names a live allocator of ours: two loads, no lock. A false
 * answer means that it is stale, garbage, or the OpenMP runtime's own. */
bool msp_allocator_known(memspan_allocator_h allocator);

/* True when the handle was ours once: it carries our mark. The runtime's own never do. */
bool msp_allocator_is_marked(memspan_allocator_h allocator);

/* msp_allocator_find(), and until it is released its record stays, also when the allocator is
 * destroyed. */
struct msp_allocator *msp_allocator_pin(memspan_allocator_h handle);

/* The same for 0 (the default allocator) and other vendors' handles too; NULL with an error. */
struct msp_allocator *msp_allocator_acquire(memspan_allocator_h handle);

/* NULL has no effect. */
void msp_allocator_release(struct msp_allocator *allocator);

/* True where each team or contention group has a pool of its own. Not before there is a provider.
 */
bool msp_allocator_is_divided(const struct msp_allocator *allocator);

/* Blocks in use, as far as published. */
int64_t msp_allocator_live_count(const struct msp_allocator *allocator);

/* Close it to calls; false, and nothing has changed, where one is under way or it has ended. */
bool msp_allocator_close_unused(struct msp_allocator *allocator, uintptr_t handle);

/* A spare (spare.h) is given up. */
void msp_allocator_end_spare(struct msp_allocator *allocator);

/* The counts of spares join those of retired ones. The table is locked, and the threads are
 * stopped. */
void msp_allocator_publish_spares(void);

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

bool msp_allocator_is_predefined(const struct msp_allocator *allocator);

/* An unused record; NULL with an error. Table locked, as for publish(), after which the record's
 * handle, which it returns, is found. */
struct msp_allocator *msp_allocator_take_record(void);
uintptr_t msp_allocator_publish(struct msp_allocator *allocator);

/* All records that were ever used, in order; NULL after the last. Unused ones have handle 0. */
struct msp_allocator *msp_allocator_at(size_t i);

/* While it is held no allocator is made or ended, so that records may be looked at; pools may be
 * locked under it. */
void msp_allocator_lock_table(void);
void msp_allocator_unlock_table(void);

#endif /* MEMSPAN_CORE_ENGINE_ALLOCATOR_RECORD_H */
