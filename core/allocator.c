/* SPDX-License-Identifier: BSD-3-Clause */
/* allocator.c: making, finding and ending allocators.
 *
 * A handle is mark | generation | index. Finding one is two loads and a comparison: the record of
 * the index must carry exactly that handle. Records come in pages that are never freed; ending an
 * allocator clears its handle, and the record waits until its last block is freed.
 *
 * table_lock guards the list of unused records, the making of plans and ending. It is not held
 * while a driver is opened for a new allocator, but is for a predefined one's first use. */

#include "core/base/error.h"
#include "core/base/fork.h"
#include "core/base/platform.h"
#include "core/debug/watch.h"
#include "core/engine/allocator_record.h"
#include "core/engine/heap.h"
#include "core/engine/retired.h"
#include "core/partitioner.h"
#include "core/plan_table.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    INDEX_BITS  = 20,
    INDEX_MASK  = (1 << INDEX_BITS) - 1,
    INDEX_FIRST = 16, /* handles end in other numbers than the predefined ones: msp_heap_slot() */
    GENERATION_BITS = 20,
    PAGE_SHIFT      = 8,
    PAGE_RECORDS    = 1 << PAGE_SHIFT,
    PAGES_MAX       = 1 << (INDEX_BITS - PAGE_SHIFT),
    PREDEFINED      = 9, /* by handle; 0 is none */
};

/* Of an account that waits to be used again. */
#define SCOPE_UNUSED UINT64_MAX

static const uintptr_t handle_mark      = UINT64_C(0x4d53410000000000);
static const uintptr_t handle_mark_bits = UINT64_C(0xffffff0000000000);

static struct msp_allocator predefined[PREDEFINED] = {
    {.handle = 0}, {.handle = 1}, {.handle = 2}, {.handle = 3}, {.handle = 4},
    {.handle = 5}, {.handle = 6}, {.handle = 7}, {.handle = 8},
};
static const char *const predefined_names[PREDEFINED] = {
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
static const uintptr_t predefined_spaces[PREDEFINED] = {0, 99, 1, 2, 3, 4, 99, 99, 99};

static _Atomic(struct msp_allocator *) pages[PAGES_MAX] MSP_SPARSE;
static atomic_size_t record_count;
static struct msp_allocator *unused; /* under table_lock, as is record_count's growth */
MSP_LOCK_STATIC(table_lock, MSP_RANK_ALLOCATORS);

/* ---- finding ---- */

static bool is_predefined(const struct msp_allocator *a)
{
    return (a >= predefined) && (a < predefined + PREDEFINED);
}

static struct msp_allocator *record_at(size_t index)
{
    struct msp_allocator *page =
        atomic_load_explicit(&pages[index >> PAGE_SHIFT], memory_order_acquire);

    return (page == NULL) ? NULL : &page[index & (PAGE_RECORDS - 1)];
}

bool msp_allocator_is_marked(memspan_allocator_h handle)
{
    return ((uintptr_t)handle & handle_mark_bits) == handle_mark;
}

struct msp_allocator *msp_allocator_find(memspan_allocator_h handle)
{
    uintptr_t value = (uintptr_t)handle;
    struct msp_allocator *a;

    if (value - 1 < PREDEFINED - 1) {
        return &predefined[value];
    }
    if (!msp_allocator_is_marked(handle)) {
        return NULL;
    }
    a = record_at((value - INDEX_FIRST) & INDEX_MASK);
    if ((a == NULL) || (atomic_load_explicit(&a->handle, memory_order_acquire) != value)) {
        return NULL;
    }
    return a;
}

bool msp_allocator_known(memspan_allocator_h handle)
{
    return msp_allocator_find(handle) != NULL;
}

static void no_allocator(memspan_allocator_h handle)
{
    unsigned long long value = (unsigned long long)(uintptr_t)handle;

    if (msp_allocator_is_marked(handle)) {
        memspan_error(MEMSPAN_ERR_NOT_FOUND, "allocator 0x%llx does not exist any more", value);
        msp_error_hint("it was destroyed");
    } else {
        memspan_error(MEMSPAN_ERR_NOT_FOUND, "0x%llx names no allocator of Memspan", value);
        msp_error_hint("handles come from omp_init_allocator or memspan_allocator_create");
    }
}

static uint64_t generation_of(uintptr_t handle)
{
    return (uint64_t)((handle >> INDEX_BITS) & ((1u << GENERATION_BITS) - 1)) << 32;
}

struct msp_allocator *msp_allocator_pin(memspan_allocator_h handle)
{
    struct msp_allocator *a = msp_allocator_find(handle);
    uint64_t open           = generation_of((uintptr_t)handle) | MSP_USERS_OPEN;
    uint64_t users;

    if ((a == NULL) || is_predefined(a)) {
        return a;
    }
    users = atomic_load_explicit(&a->users, memory_order_relaxed);
    do {
        if ((users & ~MSP_USERS_COUNT) != open) {
            return NULL;
        }
        /* Acquire pairs with the release in create(): the record is seen as it was made. */
    } while (!atomic_compare_exchange_weak_explicit(&a->users, &users, users + 1,
                                                    memory_order_seq_cst, memory_order_relaxed));
    return a;
}

struct msp_allocator *msp_allocator_acquire(memspan_allocator_h handle)
{
    struct msp_allocator *a;

    if (handle == MEMSPAN_ALLOCATOR_NULL) {
        handle = msp_allocator_default();
    }
    a = msp_allocator_pin(handle);
    if (MSP_UNLIKELY(a == NULL)) {
        a = msp_allocator_pin(msp_allocator_of_vendor(handle));
        if (a == NULL) {
            no_allocator(handle);
        }
    }
    return a;
}

void msp_allocator_release(struct msp_allocator *a)
{
    if ((a != NULL) && !is_predefined(a) &&
        ((atomic_fetch_sub(&a->users, 1) & (MSP_USERS_OPEN | MSP_USERS_COUNT)) == 1)) {
        msp_allocator_bury(a); /* the last one, of an allocator that was destroyed meanwhile */
    }
}

struct msp_allocator *msp_allocator_at(size_t i)
{
    if (i < PREDEFINED - 1) {
        return &predefined[i + 1];
    }
    i -= PREDEFINED - 1;
    return (i < atomic_load_explicit(&record_count, memory_order_acquire)) ? record_at(i) : NULL;
}

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
    account->begins_with_heaps = account->by_thread || is_predefined(a);
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

/* Whoever wants nothing special shares a plan. table_lock held; NULL with an error recorded. */
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
    uintptr_t number = (uintptr_t)(a - predefined);

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

/* The plan has its provider: allocations may begin. table_lock held. */
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
    msp_lock(&table_lock);
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
    msp_unlock(&table_lock);
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

bool msp_allocator_is_divided(const struct msp_allocator *a)
{
    return (a->traits.pool_size != SIZE_MAX) && ((a->traits.access == MEMSPAN_VALUE_PTEAM) ||
                                                 (a->traits.access == MEMSPAN_VALUE_CGROUP));
}

/* The account of a team or group, made or used again for it. Accounts are locked. */
static struct msp_account *divide(struct msp_allocator *a, uint64_t scope)
{
    struct msp_account *unused_one = NULL;
    struct msp_account *account;

    for (account = a->account.next; account != NULL; account = account->next) {
        if (account->scope == scope) {
            return account;
        }
        unused_one = (account->scope == SCOPE_UNUSED) ? account : unused_one;
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
    account = divide(a, (scope == SCOPE_UNUSED) ? 0 : scope);
    msp_account_unlock();
    if (account == NULL) {
        memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for the account of a team");
    }
    return account;
}

/* ---- making ---- */

/* An unused record, or NULL with an error. */
static struct msp_allocator *take_record(void)
{
    size_t index            = atomic_load_explicit(&record_count, memory_order_relaxed);
    struct msp_allocator *a = unused;

    if (a != NULL) {
        unused = a->next_unused;
        return a;
    }
    if ((index >> PAGE_SHIFT) >= PAGES_MAX) {
        memspan_error(MEMSPAN_ERR_LIMIT, "there are %zu allocators already", index);
        return NULL;
    }
    if (record_at(index) == NULL) {
        struct msp_allocator *page = calloc(PAGE_RECORDS, sizeof(*page));
        if (page == NULL) {
            memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for an allocator's record");
            return NULL;
        }
        /* Pairs with the acquire in record_at(). */
        atomic_store_explicit(&pages[index >> PAGE_SHIFT], page, memory_order_release);
    }
    a        = record_at(index);
    a->index = (uint32_t)index;
    atomic_store_explicit(&record_count, index + 1, memory_order_release);
    return a;
}

static void put_record(struct msp_allocator *a)
{
    a->next_unused = unused;
    unused         = a;
}

/* Fills a record that nobody has the handle of yet; the handle. */
static uintptr_t fill(struct msp_allocator *a, const struct msp_space *space,
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
    a->generation = (a->generation + 1) & ((1u << GENERATION_BITS) - 1);
    return handle_mark | ((uintptr_t)a->generation << INDEX_BITS) |
           ((a->index + INDEX_FIRST) & INDEX_MASK);
}

static memspan_status_t create(const struct msp_space *space, const struct msp_traits *traits,
                               memspan_allocator_h *allocator_p, bool *plain_p)
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
    msp_lock(&table_lock);
    plan = plain ? get_plain_plan(space) : msp_plan_table_enter(&made);
    a    = (plan == NULL) ? NULL : take_record();
    if (a == NULL) {
        msp_unlock(&table_lock);
        return memspan_error_last()->status;
    }
    handle = fill(a, space, traits, plan);
    atomic_store_explicit(&a->users, generation_of(handle) | MSP_USERS_OPEN, memory_order_release);
    /* Pairs with the acquire in find(): whoever holds the handle sees the record. */
    atomic_store_explicit(&a->handle, handle, memory_order_release);
    msp_unlock(&table_lock);
    *allocator_p = (memspan_allocator_h)handle;
    return MEMSPAN_OK;
}

/* Make and say what is other than asked. */
static memspan_status_t create_and_report(const struct msp_space *space,
                                          const struct msp_traits *traits,
                                          memspan_allocator_h *allocator_p)
{
    bool plain;
    memspan_status_t status = create(space, traits, allocator_p, &plain);

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

    if (allocator_p == NULL) {
        return memspan_error(MEMSPAN_ERR_INVALID, "nowhere to put the allocator (NULL)");
    }
    status = read_request(space_handle, given, count, &space, &traits);
    return (status == MEMSPAN_OK) ? create_and_report(space, &traits, allocator_p) : status;
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
    return (status == MEMSPAN_OK) ? create_and_report(base->space, &traits, allocator_p) : status;
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
    status = (allocator_p == NULL)
                 ? memspan_error(MEMSPAN_ERR_INVALID, "nowhere to put the allocator (NULL)")
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
        status = create(space, &traits, &handle, &plain);
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
    if (is_predefined(a)) {
        return memspan_error(MEMSPAN_ERR_INVALID, "a predefined allocator keeps its name");
    }
    msp_lock(&table_lock);
    kept = (name[0] == '\0') ? "" : msp_name_intern(name);
    if (kept != NULL) {
        atomic_store_explicit(&a->name, kept, memory_order_release);
    }
    msp_unlock(&table_lock);
    msp_allocator_release(a);
    return (kept != NULL) ? MEMSPAN_OK
                          : memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for a name");
}

/* ---- ending ---- */

/* Nobody counts any more: plain loads do, and the counters begin anew with the record. */
static void add_to_retired(struct msp_allocator *a)
{
    memspan_kind_t kind = (a->plan == NULL) ? MEMSPAN_KIND_NONE : a->plan->kind_given;
    struct msp_retired *group;
    struct msp_account *account;

    group = msp_retired_group(memspan_allocator_name(a), kind);
    group->allocator_count++;
    for (account = &a->account; account != NULL; account = account->next) {
        if (!msp_account_is_untouched(account)) {
            msp_retired_add(group, account);
            msp_account_init(account, a);
            atomic_store_explicit(&account->closed, true, memory_order_relaxed);
        }
        account->scope = SCOPE_UNUSED;
    }
    group->fallback_count += atomic_load_explicit(&a->fallback_count, memory_order_relaxed);
    atomic_store_explicit(&a->fallback_count, 0, memory_order_relaxed);
}

/* The record can be used again. table_lock held. */
static void retire(struct msp_allocator *a)
{
    if (a->traits.partitioner != 0) {
        msp_partitioner_forget_allocator(a->traits.partitioner, a->index);
    }
    add_to_retired(a);
    a->plan = NULL;
    put_record(a);
}

/* Some of its memory lives, or a call is under way that has found it. */
static bool is_in_use(const struct msp_allocator *a)
{
    return ((atomic_load(&a->users) & MSP_USERS_COUNT) != 0) || (msp_allocator_live_count(a) != 0);
}

memspan_status_t memspan_allocator_destroy(memspan_allocator_h handle)
{
    bool closed = false;
    struct msp_provider *provider;
    struct msp_account *account;
    struct msp_allocator *a;

    if (((uintptr_t)handle < PREDEFINED) ||
        (!msp_allocator_is_marked(handle) &&
         (msp_allocator_of_vendor(handle) != MEMSPAN_ALLOCATOR_NULL))) {
        return MEMSPAN_OK;
    }
    msp_lock(&table_lock);
    a = msp_allocator_find(handle);
    if (a == NULL) {
        msp_unlock(&table_lock);
        no_allocator(handle);
        return MEMSPAN_ERR_NOT_FOUND;
    }
    atomic_store_explicit(&a->handle, 0, memory_order_release);
    atomic_fetch_and(&a->users, ~MSP_USERS_OPEN);
    provider = atomic_load_explicit(&a->provider, memory_order_relaxed);
    for (account = &a->account; account != NULL; account = account->next) {
        closed = msp_heap_close(account) || closed;
    }
    if (!is_in_use(a)) {
        retire(a);
    } else {
        atomic_store(&a->zombie, true);
        /* The last use may have ended just before zombie was set: then no other thread looks. */
        if (!is_in_use(a) && atomic_exchange(&a->zombie, false)) {
            retire(a);
        }
    }
    msp_unlock(&table_lock);
    if (closed && (provider != NULL)) {
        msp_pool_settle(provider->pool);
    }
    return MEMSPAN_OK;
}

void msp_allocator_bury(struct msp_allocator *a)
{
    msp_lock(&table_lock);
    if (!is_in_use(a) && atomic_exchange(&a->zombie, false)) {
        retire(a);
    }
    msp_unlock(&table_lock);
}

int64_t msp_allocator_live_count(const struct msp_allocator *a)
{
    const struct msp_account *account;
    int64_t count = 0;

    for (account = &a->account; account != NULL; account = account->next) {
        count += atomic_load(&account->live_count);
    }
    return count;
}

void msp_allocator_lock_table(void)
{
    msp_lock(&table_lock);
}

void msp_allocator_unlock_table(void)
{
    msp_unlock(&table_lock);
}
