/* SPDX-License-Identifier: BSD-3-Clause */
/* allocator.c: making allocators, their plans, accounts and names. */

#include "core/allocator.h"
#include "core/base/error.h"
#include "core/base/fork.h"
#include "core/base/omp_hook.h"
#include "core/base/platform.h"
#include "core/debug/watch.h"
#include "core/engine/allocator_record.h"
#include "core/engine/heap.h"
#include "core/engine/retired.h"
#include "core/engine/spare.h"
#include "core/plan.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const predefined_names[MSP_PREDEFINED_COUNT] = {
    "null",
    "omp_default_mem_alloc",
    "omp_large_cap_mem_alloc",
    "omp_const_mem_alloc",
    "omp_high_bw_mem_alloc",
    "omp_low_lat_mem_alloc",
    "omp_cgroup_mem_alloc",
    "omp_pteam_mem_alloc",
    "omp_thread_mem_alloc",
};
static const uintptr_t predefined_spaces[MSP_PREDEFINED_COUNT] = {0, 99, 1, 2, 3, 4, 99, 99, 99};

static void set_up_account(struct msp_allocator *a, struct msp_account *account, uint64_t scope)
{
    msp_account_init(account, a);
    account->scope          = scope;
    account->ends_with_null = (a->traits.fallback == MEMSPAN_VALUE_NULL_FB);
    if (a->traits.pool_size != SIZE_MAX) {
        account->limit_bytes = a->traits.pool_size;
        account->by_thread   = (a->traits.access == MEMSPAN_VALUE_THREAD);
    }
    /* A limit that is each thread's is kept by the threads' heaps. */
    account->begins_with_heaps = account->by_thread || msp_allocator_is_predefined(a);
}

/* ---- plans ---- */

/* The plan that serves the traits, its own until it is in the table. False with an error. */
static bool make_plan(const struct msp_space *space, const struct msp_traits *traits,
                      struct msp_plan *plan_p)
{
    const struct msp_space *resolved;

    msp_watch_start();
    msp_fork_prepare();
    resolved = msp_space_resolve(space->handle);
    return (resolved != NULL) && (msp_plan_make(resolved, traits, plan_p) == MEMSPAN_OK);
}

/* Plain allocators share a plan. Table locked; NULL with an error recorded. */
static struct msp_plan *get_plain_plan(const struct msp_space *space)
{
    struct msp_plan *plan = msp_plan_table_find(space);

    if (MSP_LIKELY(plan != NULL)) {
        return plan;
    }
    msp_watch_start();
    msp_fork_prepare();
    return msp_plan_table_plain(space);
}

static void set_up_predefined(struct msp_allocator *a)
{
    uintptr_t number = atomic_load_explicit(&a->handle, memory_order_relaxed);

    a->space = msp_space_find((memspan_space_h)predefined_spaces[number]);
    msp_traits_default(&a->traits, false);
    a->index = (uint32_t)number;
    atomic_store_explicit(&a->name, predefined_names[number], memory_order_release);
    if (number == 1) {
        a->traits.fallback = MEMSPAN_VALUE_NULL_FB;
    }
    set_up_account(a, &a->account, 0);
    if (number >= 6) {
        a->traits.access = (number == 6)   ? MEMSPAN_VALUE_CGROUP
                           : (number == 7) ? MEMSPAN_VALUE_PTEAM
                                           : MEMSPAN_VALUE_THREAD;
    }
}

/* The plan has its provider: allocations may begin. table locked. */
static void open_for_use(struct msp_allocator *a)
{
    const struct msp_plan *plan = a->plan;

    atomic_store_explicit(&a->has_objects,
                          !plan->provider->eager && (plan->spec.spread != MEMSPAN_SPREAD_NEAREST) &&
                              (a->traits.partition != MEMSPAN_VALUE_PARTITIONER) &&
                              (a->traits.alignment <= MSP_SMALL_ALIGN_MAX) &&
                              (plan->blocked_bytes > MSP_SMALL_MAX_BYTES),
                          memory_order_relaxed);
    /* Pairs with the acquires here and in provider(): the plan is seen whole. */
    atomic_store_explicit(&a->provider, plan->provider, memory_order_release);
}

static struct msp_plan *plan_of_predefined(const struct msp_allocator *a)
{
    struct msp_plan plan;

    if (msp_plan_is_plain(a->space, &a->traits)) {
        return get_plain_plan(a->space);
    }
    return make_plan(a->space, &a->traits, &plan) ? msp_plan_table_enter(&plan) : NULL;
}

memspan_status_t msp_allocator_ensure_plan(struct msp_allocator *a)
{
    memspan_status_t status;

    if (atomic_load_explicit(&a->provider, memory_order_acquire) != NULL) {
        return MEMSPAN_OK;
    }
    msp_allocator_lock_table();
    if (a->space == NULL) {
        set_up_predefined(a);
    }
    if (a->plan == NULL) { /* one of the predefined, for the first time */
        a->plan = plan_of_predefined(a);
    }
    status = (a->plan == NULL) ? memspan_error_last()->status : msp_plan_provide(a->plan);
    if (status == MEMSPAN_OK) {
        open_for_use(a);
    }
    msp_allocator_unlock_table();
    return status;
}

struct msp_provider *msp_allocator_provider(struct msp_allocator *a)
{
    struct msp_provider *p = atomic_load_explicit(&a->provider, memory_order_acquire);

    if (MSP_LIKELY(p != NULL)) {
        return p;
    }
    return (msp_allocator_ensure_plan(a) == MEMSPAN_OK)
               ? atomic_load_explicit(&a->provider, memory_order_acquire)
               : NULL;
}

/* ---- accounts ---- */

/* The account of a team or group, made or used again for it. Accounts are locked. */
static struct msp_account *divide(struct msp_allocator *a, uint64_t scope)
{
    struct msp_account *unused_one = NULL;
    struct msp_account *account;

    for (account = a->account.next; account != NULL; account = account->next) {
        if (account->scope == scope) {
            return account;
        }
        unused_one = (account->scope == MSP_SCOPE_UNUSED) ? account : unused_one;
    }
    account = unused_one;
    if (account == NULL) {
        account = calloc(1, sizeof(*account));
        if (account == NULL) {
            return NULL;
        }
    }
    set_up_account(a, account, scope);
    if (unused_one == NULL) {
        /* Last: statistics walk the list without the lock. */
        atomic_store_explicit(&account->next, a->account.next, memory_order_relaxed);
        atomic_store_explicit(&a->account.next, account, memory_order_release);
    }
    return account;
}

struct msp_account *msp_allocator_account(struct msp_allocator *a)
{
    struct msp_account *account;
    uint64_t scope;

    if (MSP_LIKELY(!msp_allocator_is_divided(a))) {
        return &a->account;
    }
    scope = msp_allocator_scope(a->traits.access == MEMSPAN_VALUE_PTEAM);
    msp_account_lock();
    account = divide(a, (scope == MSP_SCOPE_UNUSED) ? 0 : scope);
    msp_account_unlock();
    if (account == NULL) {
        memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for the account of a team");
    }
    return account;
}

/* ---- making ---- */

/* Fill a record that has no handle yet. */
static void fill(struct msp_allocator *a, const struct msp_space *space,
                 const struct msp_traits *traits, struct msp_plan *plan)
{
    a->space  = space;
    a->traits = *traits;
    a->plan   = plan;
    atomic_store_explicit(&a->name, NULL, memory_order_relaxed);
    set_up_account(a, &a->account, 0);
    atomic_store_explicit(&a->provider, NULL, memory_order_relaxed);
    if (plan->provider != NULL) {
        open_for_use(a);
    }
    atomic_store_explicit(&a->zombie, false, memory_order_relaxed);
    atomic_store_explicit(&a->warned, false, memory_order_relaxed);
}

/* The request means the same whenever it is made, and one account is all it has. */
static bool may_be_spare(const struct msp_allocator *a)
{
    return (a->traits.fallback != MEMSPAN_VALUE_ALLOCATOR_FB) && (a->traits.partitioner == 0) &&
           (a->traits.preferred_location == MSP_NO_DEVICE) && !a->account.by_thread &&
           !msp_allocator_is_divided(a);
}

/* @p spare_number as of msp_spare_ask(). */
static memspan_status_t create(const struct msp_space *space, const struct msp_traits *traits,
                               uint64_t spare_number, memspan_allocator_h *allocator_p,
                               bool *plain_p)
{
    bool plain              = msp_plan_is_plain(space, traits);
    struct msp_allocator *a = NULL;
    struct msp_plan *plan;
    struct msp_plan made;
    uintptr_t handle;

    *plain_p = plain;
    if (!plain && !make_plan(space, traits, &made)) { /* opens drivers: not with the lock held */
        return memspan_error_last()->status;
    }
    msp_allocator_lock_table();
    plan = plain ? get_plain_plan(space) : msp_plan_table_enter(&made);
    a    = (plan == NULL) ? NULL : msp_allocator_take_record();
    if (a == NULL) {
        msp_allocator_unlock_table();
        return memspan_error_last()->status;
    }
    fill(a, space, traits, plan);
    atomic_store_explicit(&a->spare_number, (plain && may_be_spare(a)) ? spare_number : 0,
                          memory_order_relaxed);
    handle = msp_allocator_publish(a);
    msp_allocator_unlock_table();
    *allocator_p = (memspan_allocator_h)handle;
    return MEMSPAN_OK;
}

/* Make the allocator, and log deviations from the request. */
static memspan_status_t create_and_report(const struct msp_space *space,
                                          const struct msp_traits *traits, uint64_t spare_number,
                                          memspan_allocator_h *allocator_p)
{
    bool plain;
    memspan_status_t status = create(space, traits, spare_number, allocator_p, &plain);

    if ((status == MEMSPAN_OK) && !plain) {
        msp_plan_report(msp_allocator_find(*allocator_p)->plan);
    }
    return status;
}

/* The space's record and the traits, checked. */
static memspan_status_t read_request(memspan_space_h handle, const memspan_trait_t *given,
                                     size_t count, const struct msp_space **space_p,
                                     struct msp_traits *traits_p)
{
    *space_p = msp_space_find(handle);
    if (*space_p == NULL) {
        return memspan_error(MEMSPAN_ERR_INVALID, "0x%llx names no memory space",
                             (unsigned long long)(uintptr_t)handle);
    }
    msp_traits_default(traits_p, (*space_p)->target);
    return msp_traits_set(traits_p, (*space_p)->target, given, count);
}

memspan_status_t memspan_allocator_create(memspan_space_h space_handle,
                                          const memspan_trait_t *given, size_t count,
                                          memspan_allocator_h *allocator_p)
{
    const struct msp_space *space;
    struct msp_traits traits;
    memspan_status_t status;
    uintptr_t again;

    if (allocator_p == NULL) {
        return memspan_error(MEMSPAN_ERR_INVALID, "allocator_p is NULL");
    }
    again = msp_spare_take(space_handle, given, count);
    if (again != 0) {
        *allocator_p = (memspan_allocator_h)again;
        return MEMSPAN_OK;
    }
    status = read_request(space_handle, given, count, &space, &traits);
    return (status == MEMSPAN_OK)
               ? create_and_report(space, &traits, msp_spare_ask(space_handle, given, count),
                                   allocator_p)
               : status;
}

static memspan_status_t derive(struct msp_allocator *base, const memspan_trait_t *given,
                               size_t count, memspan_allocator_h *allocator_p)
{
    struct msp_traits traits;
    memspan_status_t status = msp_allocator_ensure_plan(base);

    if (status != MEMSPAN_OK) {
        return status;
    }
    traits = base->traits;
    status = msp_traits_apply(&traits, base->space->target, given, count);
    return (status == MEMSPAN_OK) ? create_and_report(base->space, &traits, 0, allocator_p)
                                  : status;
}

memspan_status_t memspan_allocator_derive(memspan_allocator_h base_handle,
                                          const memspan_trait_t *given, size_t count,
                                          memspan_allocator_h *allocator_p)
{
    struct msp_allocator *base = msp_allocator_acquire(base_handle);
    memspan_status_t status;

    if (base == NULL) {
        return memspan_error_last()->status;
    }
    status = (allocator_p == NULL) ? memspan_error(MEMSPAN_ERR_INVALID, "allocator_p is NULL")
                                   : derive(base, given, count, allocator_p);
    msp_allocator_release(base);
    return status;
}

memspan_status_t memspan_allocator_plan(memspan_space_h space_handle, const memspan_trait_t *given,
                                        size_t count, memspan_allocator_info_t *info_p)
{
    const struct msp_space *space;
    struct msp_traits traits;
    memspan_allocator_h handle;
    bool plain;
    memspan_status_t status = read_request(space_handle, given, count, &space, &traits);

    if (status == MEMSPAN_OK) {
        status = create(space, &traits, 0, &handle, &plain);
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    status = memspan_allocator_describe(handle, info_p);
    memspan_allocator_destroy(handle);
    return status;
}

/* ---- names ---- */

/* Names stand in lines of words and in JSON. */
static bool is_name(const char *text)
{
    size_t length = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                 "_-.:/+");

    return (text[length] == '\0') && (length < sizeof(((memspan_allocator_info_t *)0)->name));
}

memspan_status_t memspan_allocator_set_name(memspan_allocator_h handle, const char *name)
{
    struct msp_allocator *a;
    const char *kept;

    if ((name == NULL) || !is_name(name)) {
        memspan_error(MEMSPAN_ERR_INVALID, "\"%.40s\" cannot be an allocator's name",
                      (name == NULL) ? "(NULL)" : name);
        return msp_error_hint("at most 31 letters, digits and _ - . : / +; \"\": none");
    }
    a = msp_allocator_acquire(handle);
    if (a == NULL) {
        return memspan_error_last()->status;
    }
    if (msp_allocator_is_predefined(a)) {
        return memspan_error(MEMSPAN_ERR_INVALID, "a predefined allocator keeps its name");
    }
    msp_allocator_lock_table();
    kept = (name[0] == '\0') ? "" : msp_name_intern(name);
    if (kept != NULL) {
        atomic_store_explicit(&a->name, kept, memory_order_release);
    }
    msp_allocator_unlock_table();
    msp_allocator_release(a);
    return (kept != NULL) ? MEMSPAN_OK
                          : memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for a name");
}
