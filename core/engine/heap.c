/* SPDX-License-Identifier: BSD-3-Clause */
/* heap.c: making a thread's heap, and finding it.
 *
 * A heap is found anew in every section, never carried from one into the next: between two sections
 * another thread may have closed it. */

#include "core/engine/heap.h"
#include "core/base/error.h"
#include "core/base/fork.h"
#include "core/engine/allocator_record.h"
#include <stdlib.h>
#include <string.h>

/* Records are never freed, only used again. */
static struct msp_heap *unused;
MSP_LOCK_STATIC(unused_lock, MSP_RANK_HEAPS);

/* ---- making and finding ---- */

/* The entries of all heaps have numbers of their own. */
static void number_recent(struct msp_heap *heap)
{
    static _Atomic uint32_t last;
    uint32_t first = atomic_fetch_add_explicit(&last, MSP_RECENT_COUNT, memory_order_relaxed) + 1;
    uint32_t i;

    for (i = 0; i < MSP_RECENT_COUNT; i++) {
        heap->recent[i].heap   = heap;
        heap->recent[i].number = first + i;
    }
}

static struct msp_heap *take_record(void)
{
    struct msp_heap *heap;

    msp_lock(&unused_lock);
    heap = unused;
    if (heap != NULL) {
        unused = heap->next;
    }
    msp_unlock(&unused_lock);
    if (heap == NULL) {
        heap =
            aligned_alloc(MSP_CACHE_LINE_BYTES, msp_round_up(sizeof(*heap), MSP_CACHE_LINE_BYTES));
        if (heap != NULL) {
            memset(heap, 0, sizeof(*heap));
            number_recent(heap);
        }
    }
    return heap;
}

void msp_heap_put_record(struct msp_heap *heap)
{
    msp_lock(&unused_lock);
    heap->next = unused;
    unused     = heap;
    msp_unlock(&unused_lock);
}

/* The credit that a heap may use without a charge. */
static int64_t first_credit(const struct msp_account *account)
{
    if (account->by_thread) {
        return (account->limit_bytes < (uint64_t)MSP_CREDIT_UNLIMITED)
                   ? (int64_t)account->limit_bytes
                   : MSP_CREDIT_UNLIMITED;
    }
    return msp_account_is_limited(account) ? 0 : MSP_CREDIT_UNLIMITED;
}

void msp_heap_lend_first(struct msp_heap *heap)
{
    bool limited = msp_account_is_limited(heap->account);
    int64_t credit =
        limited ? (int64_t)msp_account_lend_first(heap->account) : first_credit(heap->account);

    if (heap->objects_charge > credit) { /* it is for the slabs that the heap has, too */
        msp_heap_tighten_all(heap);
    }
    heap->granted      = credit;
    heap->credit       = credit - heap->objects_charge;
    heap->credit_least = heap->credit;
    heap->credit_most  = limited ? 2 * credit : INT64_MAX;
}

/* A request beyond the pool's usual boundary, or one to be spread over nodes by itself, does not
 * take the fast path. */
static size_t medium_max(const struct msp_allocator *a)
{
    size_t blocked = (a->plan == NULL) ? 0 : a->plan->blocked_bytes;

    if ((a->traits.alignment > MSP_UNIT_BYTES) || (blocked == 0)) {
        return 0;
    }
    return (blocked > MSP_MEDIUM_MAX_BYTES) ? MSP_MEDIUM_MAX_BYTES : blocked - 1;
}

static void set_up(struct msp_heap *heap, struct msp_account *account, struct msp_thread *t)
{
    const struct msp_allocator *a = account->allocator;
    size_t align                  = a->traits.alignment;
    unsigned i;

    msp_heap_drain(heap); /* announced too late to the record's last owner */
    memset(heap, 0, offsetof(struct msp_heap, announced));
    heap->credit           = first_credit(account);
    heap->granted          = heap->credit;
    heap->credit_least     = heap->credit;
    heap->credit_most      = msp_account_is_limited(account) ? 0 : INT64_MAX;
    heap->none.first_free  = MSP_OBJECT_NONE;
    heap->none.first_freed = MSP_OBJECT_NONE;
    atomic_store_explicit(&heap->none.remote, MSP_REMOTE_EMPTY, memory_order_relaxed);
    for (i = 0; i <= MSP_CLASS_COUNT; i++) {
        heap->current[i] = &heap->none;
    }
    for (i = 0; i < MSP_SMALL_STEPS; i++) {
        heap->direct[i] = &heap->none;
    }
    heap->account          = account;
    heap->thread           = t;
    heap->ends_with_null   = account->ends_with_null && msp_account_is_limited(account);
    heap->class_of         = msp_class_table((align > MSP_SMALL_ALIGN_MAX) ? 16 : align);
    heap->medium_max_bytes = medium_max(a);
    if (msp_allocator_is_divided(a) &&
        atomic_load_explicit(&a->has_objects, memory_order_relaxed)) {
        heap->scoped_handle = atomic_load_explicit(&a->handle, memory_order_relaxed);
        heap->by_team       = (a->traits.access == MEMSPAN_VALUE_PTEAM);
    }
    heap->is_host_memory = (a->plan != NULL) && (a->plan->kind_given == MEMSPAN_KIND_HOST);
    if (heap->cache != NULL) {
        heap->cache->pool     = NULL; /* empty; for blocks of another's pool before */
        heap->cache->provider = NULL;
    }
    atomic_store_explicit(&heap->handle, UINTPTR_MAX, memory_order_relaxed);
}

/* ---- the heaps of a thread ---- */

static size_t hash_of(const struct msp_account *account)
{
    uintptr_t value = (uintptr_t)account;

    return (size_t)((value >> 6) * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

static struct msp_heap **bucket_of(const struct msp_thread *t, const struct msp_account *account)
{
    return &t->heap_of[hash_of(account) & (t->heap_of_size - 1)];
}

/* The table has a slot for one more heap; false without memory. The thread's own, in no section. */
static bool grow_table(struct msp_thread *t)
{
    enum { FIRST_SIZE = 16 };
    size_t size = (t->heap_of_size == 0) ? FIRST_SIZE : 2 * t->heap_of_size;
    struct msp_heap **table;
    struct msp_heap *heap;

    if (t->heap_count < t->heap_of_size) {
        return true;
    }
    table = calloc(size, sizeof(struct msp_heap *));
    if (table == NULL) {
        return t->heap_of_size > 0;
    }
    free(t->heap_of);
    t->heap_of      = table;
    t->heap_of_size = size;
    for (heap = t->heaps; heap != NULL; heap = heap->next) {
        struct msp_heap **bucket = bucket_of(t, heap->account);

        heap->next_hashed = *bucket;
        *bucket           = heap;
    }
    return true;
}

static void put_first(struct msp_thread *t, struct msp_heap *heap)
{
    heap->previous = NULL;
    heap->next     = t->heaps;
    if (t->heaps != NULL) {
        t->heaps->previous = heap;
    }
    t->heaps = heap;
}

static void take_out(struct msp_thread *t, struct msp_heap *heap)
{
    if (heap->next != NULL) {
        heap->next->previous = heap->previous;
    }
    if (heap->previous != NULL) {
        heap->previous->next = heap->next;
    } else {
        t->heaps = heap->next;
    }
}

static void empty_slot(struct msp_thread *t, unsigned slot, const struct msp_heap *heap)
{
    if (t->slots[slot] == heap) {
        t->handles[slot] = msp_thread_nothing(slot);
        t->slots[slot]   = NULL;
    }
}

void msp_heap_hide(struct msp_heap *heap)
{
    uintptr_t handle = atomic_load_explicit(&heap->handle, memory_order_relaxed);

    empty_slot(heap->thread, msp_heap_slot(handle), heap);
    empty_slot(heap->thread, 0, heap);
    atomic_store_explicit(&heap->handle, UINTPTR_MAX, memory_order_relaxed);
}

void msp_heap_show(struct msp_heap *heap, uintptr_t handle)
{
    unsigned slot = msp_heap_slot(handle);

    atomic_store_explicit(&heap->handle, handle, memory_order_relaxed);
    heap->thread->handles[slot] = handle;
    heap->thread->slots[slot]   = heap;
}

void msp_heap_leave_thread(struct msp_heap *heap)
{
    struct msp_thread *t   = heap->thread;
    struct msp_heap **link = bucket_of(t, heap->account);

    while (*link != heap) {
        link = &(*link)->next_hashed;
    }
    *link = heap->next_hashed;
    t->heap_count--;
    take_out(t, heap);
    msp_heap_hide(heap);
}

struct msp_heap *msp_heap_find(struct msp_thread *t, const struct msp_account *account)
{
    struct msp_heap *heap = t->heaps;

    if ((heap == NULL) || (heap->account == account)) {
        return heap;
    }
    for (heap = *bucket_of(t, account); (heap != NULL) && (heap->account != account);
         heap = heap->next_hashed) {
    }
    if (heap != NULL) {
        take_out(t, heap);
        put_first(t, heap);
    }
    return heap;
}

/* Into the lists of its account and its thread, both or none: a thread that closes the account
 * finds the heap in both. False: the account was closed meanwhile. */
static bool link_heap(struct msp_heap *heap, struct msp_account *account, struct msp_thread *t)
{
    const struct msp_allocator *a = account->allocator;
    uintptr_t handle              = atomic_load_explicit(&a->handle, memory_order_acquire);
    bool open;

    atomic_store_explicit(&account->had_heaps, true, memory_order_seq_cst);
    msp_thread_hold();
    msp_account_lock();
    open = !atomic_load_explicit(&account->closed, memory_order_seq_cst) && grow_table(t);
    if (open) {
        struct msp_heap **bucket = bucket_of(t, account);

        heap->next_hashed = *bucket;
        *bucket           = heap;
        t->heap_count++;
        heap->next_of_account = account->heaps;
        if (account->heaps != NULL) {
            account->heaps->previous_of_account = heap;
            atomic_store_explicit(&account->is_shared, true, memory_order_relaxed);
        }
        account->heaps = heap;
        put_first(t, heap);
    }
    if (open && (account == &a->account) && (handle != 0) && (account->next == NULL) &&
        atomic_load_explicit(&a->has_objects, memory_order_relaxed)) {
        atomic_store_explicit(&heap->handle, handle, memory_order_relaxed);
    }
    msp_account_unlock();
    msp_thread_release();
    return open;
}

/* Enter a section and find the heap; its slot may have been taken by another's handle. NULL: there
 * is none, and the thread is not in a section. */
static struct msp_heap *enter_known(struct msp_account *account, struct msp_thread *t)
{
    struct msp_heap *heap;
    uintptr_t handle;

    msp_thread_enter(t);
    heap = msp_heap_find(t, account);
    if (heap == NULL) {
        msp_thread_leave();
        return NULL;
    }
    handle = atomic_load_explicit(&heap->handle, memory_order_relaxed);
    if (handle != UINTPTR_MAX) {
        msp_heap_show(heap, handle);
    }
    return heap;
}

/* Enter a section and find, or make, the heap. NULL: none can be had, and not in a section. */
struct msp_heap *msp_heap_enter(struct msp_account *account, struct msp_thread **t_p)
{
    struct msp_thread *t = msp_thread_get();
    struct msp_heap *heap;

    *t_p = t;
    if ((t == NULL) || !msp_account_earns_heaps(account)) {
        return NULL;
    }
    heap = enter_known(account, t);
    if (heap != NULL) {
        return heap;
    }
    heap = take_record();
    if (heap == NULL) {
        return NULL;
    }
    set_up(heap, account, t);
    if (!link_heap(heap, account, t)) {
        msp_heap_put_record(heap);
        return NULL;
    }
    return enter_known(account, t);
}

/* ---- handle 0 ---- */

static atomic_bool null_varies; /* it may mean another allocator in each task */

void msp_heap_set_null(uintptr_t handle)
{
    struct msp_thread *t  = msp_thread_enter_fast();
    struct msp_heap *heap = msp_heap_at(t, handle);

    if ((heap != NULL) && !atomic_load_explicit(&null_varies, memory_order_relaxed)) {
        t->handles[0] = 0;
        t->slots[0]   = heap;
    }
    msp_thread_leave();
}

void msp_heap_forget_null(void)
{
    struct msp_thread *t;

    if (!atomic_load_explicit(&null_varies, memory_order_relaxed)) {
        msp_thread_stop_all();
        atomic_store_explicit(&null_varies, true, memory_order_relaxed);
        for (t = msp_thread_first(); t != NULL; t = t->next) {
            if (t->handles[0] == 0) {
                t->handles[0] = msp_thread_nothing(0);
            }
        }
        msp_thread_resume_all();
    }
}
