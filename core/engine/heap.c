/* SPDX-License-Identifier: BSD-3-Clause */
/* heap.c: making a thread's heap, and charging beyond its credit.
 *
 * A heap is found anew in every section, never carried from one into the next: between two sections
 * another thread may have closed it. */

#include "core/engine/heap.h"
#include "core/base/error.h"
#include "core/base/fork.h"
#include "core/engine/allocator_record.h"
#include <stdlib.h>
#include <string.h>

enum { CAUTION = 1024 }; /* charges without lending, after credit was called back */

struct msp_heap msp_heap_none[2] = {{.handle = 0}, {.handle = UINTPTR_MAX}};

/* Records are never freed, only used again. */
static struct msp_heap *unused;
MSP_LOCK_STATIC(unused_lock, MSP_RANK_HEAPS);

/* ---- making and finding ---- */

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

    heap->credit       = credit;
    heap->granted      = credit;
    heap->credit_least = credit;
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
    int i;

    msp_heap_drain(heap); /* announced too late to the record's last owner */
    memset(heap, 0, offsetof(struct msp_heap, announced));
    heap->credit       = first_credit(account);
    heap->granted      = heap->credit;
    heap->credit_least = heap->credit;
    heap->credit_most  = msp_account_is_limited(account) ? 0 : INT64_MAX;
    for (i = 0; i <= MSP_CLASS_COUNT; i++) {
        heap->current[i] = &msp_slab_none;
    }
    heap->account          = account;
    heap->thread           = t;
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

void msp_heap_leave_thread(struct msp_heap *heap)
{
    struct msp_thread *t   = heap->thread;
    struct msp_heap **link = bucket_of(t, heap->account);
    unsigned i;

    while (*link != heap) {
        link = &(*link)->next_hashed;
    }
    *link = heap->next_hashed;
    t->heap_count--;
    take_out(t, heap);
    for (i = 0; i < MSP_THREAD_SLOTS; i++) {
        if (t->slots[i] == heap) {
            t->slots[i] = msp_heap_none_at(i);
        }
    }
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
        t->slots[msp_heap_slot(handle)] = heap;
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

/* ---- charging ---- */

/* Changes the heap's charge; live bytes and their peak stay as they are. */
static void grant(struct msp_heap *heap, int64_t bytes)
{
    msp_heap_note_least(heap);
    heap->granted += bytes;
    heap->credit += bytes;
    heap->credit_least += bytes;
}

/* Credit beyond the heap's limit goes back to the account. */
void msp_heap_return_credit(struct msp_heap *heap)
{
    int64_t surplus = heap->credit - heap->credit_most / 2;

    if (heap->credit > heap->credit_most) {
        grant(heap, -surplus);
        msp_account_uncharge(heap->account, (uint64_t)surplus);
    }
}

/* In a section: more credit for a limited account's heap. */
static bool borrow(struct msp_heap *heap, uint64_t bytes, bool *lent_p)
{
    uint64_t missing = bytes - (uint64_t)heap->credit;
    uint64_t extra   = 1;

    if (!msp_account_charge(heap->account, missing, &extra, lent_p)) {
        return false;
    }
    if (extra > 0) {
        heap->credit_most = (int64_t)(2 * extra);
    }
    grant(heap, (int64_t)(missing + extra));
    return true;
}

bool msp_heap_borrow(struct msp_heap *heap, uint64_t bytes)
{
    bool lent;

    return !heap->account->by_thread && borrow(heap, bytes, &lent);
}

/* One try; false: the credit does not do. */
static bool debit_heap(struct msp_heap *heap, uint64_t bytes, int blocks, bool *lent_p)
{
    *lent_p = false;
    if (bytes > (uint64_t)MSP_CREDIT_UNLIMITED / 2) {
        return false;
    }
    if ((heap->credit < (int64_t)bytes) && heap->account->by_thread) {
        msp_heap_collect_all(heap);
    }
    if ((heap->credit < (int64_t)bytes) &&
        (heap->account->by_thread || !borrow(heap, bytes, lent_p))) {
        return false;
    }
    msp_heap_spend(heap, bytes, blocks);
    return true;
}

/* The same for a thread that has no heap: straight from the account. @p t NULL: it can have none.
 */
static bool debit_account(struct msp_account *account, struct msp_thread *t, uint64_t bytes,
                          int blocks, bool *lent_p)
{
    uint64_t extra = 0;
    bool done      = true;

    *lent_p = false;
    /* Blocks outlive their allocator and may still change size. */
    if ((blocks != 0) && (bytes != 0) &&
        atomic_load_explicit(&account->closed, memory_order_relaxed)) {
        return false;
    }
    if (msp_account_is_limited(account)) {
        /* No thread may call credit back between the two looks at it. */
        if (t != NULL) {
            msp_thread_enter(t);
        } else {
            msp_thread_hold();
        }
        done = msp_account_charge(account, bytes, &extra, lent_p);
        if (t != NULL) {
            msp_thread_leave();
        } else {
            msp_thread_release();
        }
    }
    if (done) { /* the peak is seen when the bytes are returned: the driver may refuse them yet */
        int64_t live = (int64_t)bytes - blocks * (int)MSP_CHARGE_OVERHEAD_BYTES;

        msp_account_publish(account, live, blocks, (uint64_t)blocks, MSP_NO_PEAK);
    }
    return done;
}

bool msp_heap_debit(struct msp_account *account, uint64_t bytes, int blocks)
{
    struct msp_thread *t;
    struct msp_heap *heap;
    bool lent;
    bool done;

    for (;;) {
        heap = msp_heap_enter(account, &t);
        if (heap != NULL) {
            done = debit_heap(heap, bytes, blocks, &lent);
            msp_thread_leave();
        } else {
            done = debit_account(account, t, bytes, blocks, &lent);
        }
        if (done || !lent) {
            return done;
        }
        msp_heap_recall(account);
        atomic_store_explicit(&account->caution, CAUTION, memory_order_relaxed);
    }
}

/* The same for an account that this thread has no heap of. */
static void credit_account(struct msp_account *account, uint64_t bytes, int freed, int undone)
{
    int blocks   = freed + undone;
    int64_t live = (int64_t)bytes - blocks * (int64_t)MSP_CHARGE_OVERHEAD_BYTES;

    if (msp_account_is_limited(account)) {
        msp_account_uncharge(account, bytes);
    }
    msp_account_publish(account, -live, -blocks, (uint64_t) - (int64_t)undone,
                        (undone != 0) ? MSP_NO_PEAK
                        : (live > 0)  ? live
                                      : 0);
    msp_allocator_settle(account->allocator);
}

void msp_heap_credit(struct msp_account *account, uint64_t bytes, int freed, int undone)
{
    struct msp_thread *t  = msp_account_had_heaps(account) ? msp_thread_get() : NULL;
    struct msp_heap *heap = NULL;

    if (t != NULL) {
        msp_thread_enter(t);
        heap = msp_heap_find(t, account);
        if (heap != NULL) {
            if (undone == 0) { /* what never came to be is no peak */
                msp_heap_note_least(heap);
            }
            heap->credit += (int64_t)bytes;
            heap->freed_count += freed;
            heap->allocated_count -= undone;
            msp_heap_return_credit(heap);
        }
        msp_thread_leave();
    }
    if (heap == NULL) {
        credit_account(account, bytes, freed, undone);
    }
}

bool msp_heap_refuses(uintptr_t handle, size_t size_bytes)
{
    uint64_t bytes   = (uint64_t)size_bytes + MSP_CHARGE_OVERHEAD_BYTES;
    uint64_t charged = 0;
    uint64_t limit   = 0;
    struct msp_heap *heap;
    bool refused = false;

    if (size_bytes - 1 > SIZE_MAX / 2) {
        return false;
    }
    heap = msp_thread_enter_fast()->slots[msp_heap_slot(handle)];
    if (atomic_load_explicit(&heap->handle, memory_order_relaxed) == handle) {
        refused = msp_heap_is_refused(heap, bytes, &charged);
        limit   = heap->account->limit_bytes;
    }
    msp_thread_leave();
    if (refused) {
        msp_error_limit(bytes, limit, charged);
    }
    return refused;
}
