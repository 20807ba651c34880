/* SPDX-License-Identifier: BSD-3-Clause */
/* allocator_record.c: the table of allocators, and when a record is used again.
 *
 * A handle is mark | generation | index. Finding one is two loads and a comparison: the record of
 * the index must carry exactly that handle. Records come in pages that are never freed; ending an
 * allocator clears its handle, and the record waits until its last block is freed.
 *
 * table_lock guards the list of unused records, the making of plans and ending. It is not held
 * while a driver is opened for a new allocator, but is for a predefined one's first use. */

#include "core/engine/allocator_record.h"
#include "core/base/error.h"
#include "core/base/fork.h"
#include "core/base/omp_hook.h"
#include "core/engine/heap.h"
#include "core/engine/retired.h"
#include "core/engine/spare.h"
#include <stdlib.h>

enum {
    INDEX_BITS  = 20,
    INDEX_MASK  = (1 << INDEX_BITS) - 1,
    INDEX_FIRST = 16, /* handles end in other numbers than the predefined ones: msp_heap_slot() */
    GENERATION_BITS = 20,
    PAGE_SHIFT      = 8,
    PAGE_RECORDS    = 1 << PAGE_SHIFT,
    PAGES_MAX       = 1 << (INDEX_BITS - PAGE_SHIFT),
};

static const uintptr_t handle_mark      = UINT64_C(0x4d53410000000000);
static const uintptr_t handle_mark_bits = UINT64_C(0xffffff0000000000);

static struct msp_allocator predefined[MSP_PREDEFINED_COUNT] = {
    {.handle = 0}, {.handle = 1}, {.handle = 2}, {.handle = 3}, {.handle = 4},
    {.handle = 5}, {.handle = 6}, {.handle = 7}, {.handle = 8},
};
static _Atomic(struct msp_allocator *) pages[PAGES_MAX] MSP_SPARSE;
static atomic_size_t record_count;
static struct msp_allocator *unused; /* under table_lock, as is record_count's growth */
MSP_LOCK_STATIC(table_lock, MSP_RANK_ALLOCATORS);

/* ---- finding ---- */

bool msp_allocator_is_predefined(const struct msp_allocator *a)
{
    return (a >= predefined) && (a < predefined + MSP_PREDEFINED_COUNT);
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

    if (value - 1 < MSP_PREDEFINED_COUNT - 1) {
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

    if ((a == NULL) || msp_allocator_is_predefined(a)) {
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
    if ((a != NULL) && !msp_allocator_is_predefined(a) &&
        ((atomic_fetch_sub(&a->users, 1) & (MSP_USERS_OPEN | MSP_USERS_COUNT)) == 1)) {
        msp_allocator_bury(a); /* the last one, of an allocator that was destroyed meanwhile */
    }
}

struct msp_allocator *msp_allocator_at(size_t i)
{
    if (i < MSP_PREDEFINED_COUNT - 1) {
        return &predefined[i + 1];
    }
    i -= MSP_PREDEFINED_COUNT - 1;
    return (i < atomic_load_explicit(&record_count, memory_order_acquire)) ? record_at(i) : NULL;
}

/* ---- making ---- */

struct msp_allocator *msp_allocator_take_record(void)
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
        /* One more for the boundary: memory that the system zeroes takes none until used. */
        void *memory               = calloc(PAGE_RECORDS + 1, sizeof(struct msp_allocator));
        struct msp_allocator *page = (void *)msp_round_up((uintptr_t)memory, MSP_CACHE_LINE_BYTES);
        if (memory == NULL) {
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

uintptr_t msp_allocator_publish(struct msp_allocator *a)
{
    uintptr_t handle;

    a->generation = (a->generation + 1) & ((1u << GENERATION_BITS) - 1);
    handle        = handle_mark | ((uintptr_t)a->generation << INDEX_BITS) |
             ((a->index + INDEX_FIRST) & INDEX_MASK);
    atomic_store_explicit(&a->users, generation_of(handle) | MSP_USERS_OPEN, memory_order_release);
    /* Pairs with the acquire in find(): a thread that holds the handle sees the record. */
    atomic_store_explicit(&a->handle, handle, memory_order_release);
    return handle;
}

/* ---- ending ---- */

static void put_record(struct msp_allocator *a)
{
    a->next_unused = unused;
    unused         = a;
}

/* No thread counts any more: plain loads do, and the counters begin anew with the record. */
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
        account->scope = MSP_SCOPE_UNUSED;
    }
    group->fallback_count += atomic_load_explicit(&a->fallback_count, memory_order_relaxed);
    atomic_store_explicit(&a->fallback_count, 0, memory_order_relaxed);
}

/* Spares are plain, and have no name. table_lock held. */
static void add_past(struct msp_allocator *a)
{
    struct msp_retired *group;

    if (a->past.allocator_count > 0) {
        group = msp_retired_group("", MEMSPAN_KIND_HOST);
        group->allocator_count += a->past.allocator_count;
        group->allocated_count += a->past.allocated_count;
        group->failed_count += a->past.failed_count;
        group->fallback_count += a->past.fallback_count;
        group->peak_bytes += a->past.peak_bytes;
        a->past = (struct msp_retired){.allocator_count = 0};
    }
}

/* The record can be used again, or the thread keeps it. table_lock held. */
static void retire(struct msp_allocator *a)
{
    bool kept           = msp_spare_may_keep(a) && (memspan_allocator_name(a)[0] == '\0');
    uint64_t limit      = a->account.limit_bytes;
    bool ends_with_null = a->account.ends_with_null;

    if (a->traits.partitioner != 0) {
        msp_partitioner_forget_allocator(a->traits.partitioner, a->index);
    }
    add_to_retired(a);
    add_past(a);
    if (kept) {
        msp_account_init(&a->account, a);
        a->account.scope             = 0;
        a->account.limit_bytes       = limit;
        a->account.ends_with_null    = ends_with_null;
        a->account.begins_with_heaps = true;
        msp_spare_keep_first(a);
        return;
    }
    a->plan = NULL;
    put_record(a);
}

void msp_allocator_end_spare(struct msp_allocator *a)
{
    struct msp_provider *provider = atomic_load_explicit(&a->provider, memory_order_relaxed);

    msp_lock(&table_lock);
    (void)msp_heap_close(&a->account);
    atomic_store_explicit(&a->spare_number, 0, memory_order_relaxed);
    add_past(a);
    msp_account_init(&a->account, a);
    atomic_store_explicit(&a->account.closed, true, memory_order_relaxed);
    a->account.scope = MSP_SCOPE_UNUSED;
    a->plan          = NULL;
    put_record(a);
    msp_unlock(&table_lock);
    msp_pool_settle(provider->pool);
}

void msp_allocator_publish_spares(void)
{
    struct msp_allocator *a;
    size_t i;

    for (i = 0; (a = msp_allocator_at(i)) != NULL; i++) {
        add_past(a);
    }
}

/* Some of its memory lives, or a call is under way that has found it. */
static bool is_in_use(const struct msp_allocator *a)
{
    return ((atomic_load(&a->users) & MSP_USERS_COUNT) != 0) || (msp_allocator_live_count(a) != 0);
}

bool msp_allocator_close_unused(struct msp_allocator *a, uintptr_t handle)
{
    uint64_t open = generation_of(handle) | MSP_USERS_OPEN;

    return atomic_compare_exchange_strong(&a->users, &open, open & ~MSP_USERS_OPEN);
}

/* The same while calls are under way: one caller closes it, and ends it. */
static bool close_to_calls(struct msp_allocator *a, uintptr_t handle)
{
    uint64_t open  = generation_of(handle) | MSP_USERS_OPEN;
    uint64_t users = atomic_load_explicit(&a->users, memory_order_relaxed);

    do {
        if ((users & ~MSP_USERS_COUNT) != open) {
            return false;
        }
    } while (!atomic_compare_exchange_weak(&a->users, &users, users & ~MSP_USERS_OPEN));
    return true;
}

memspan_status_t memspan_allocator_destroy(memspan_allocator_h handle)
{
    enum msp_spare_answer answer = msp_spare_keep(handle);
    bool closed                  = false;
    struct msp_provider *provider;
    struct msp_account *account;
    struct msp_allocator *a;

    if (answer == MSP_SPARE_KEPT) {
        return MEMSPAN_OK;
    }
    if (((uintptr_t)handle < MSP_PREDEFINED_COUNT) ||
        (!msp_allocator_is_marked(handle) &&
         (msp_allocator_of_vendor(handle) != MEMSPAN_ALLOCATOR_NULL))) {
        return MEMSPAN_OK;
    }
    msp_lock(&table_lock);
    a = msp_allocator_find(handle);
    if ((a == NULL) || ((answer == MSP_SPARE_NO) && !close_to_calls(a, (uintptr_t)handle))) {
        msp_unlock(&table_lock);
        no_allocator(handle);
        return MEMSPAN_ERR_NOT_FOUND;
    }
    atomic_store_explicit(&a->handle, 0, memory_order_release);
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

bool msp_allocator_is_divided(const struct msp_allocator *a)
{
    return (a->traits.pool_size != SIZE_MAX) && ((a->traits.access == MEMSPAN_VALUE_PTEAM) ||
                                                 (a->traits.access == MEMSPAN_VALUE_CGROUP));
}

void msp_allocator_lock_table(void)
{
    msp_lock(&table_lock);
}

void msp_allocator_unlock_table(void)
{
    msp_unlock(&table_lock);
}
