/* SPDX-License-Identifier: BSD-3-Clause */
/* heap_all.c: operations on heaps from outside, while their threads are stopped or held. No driver
 * is called before they go on: an empty chunk waits in its pool, and settling comes last. */

#include "core/base/error.h"
#include "core/engine/allocator_record.h"
#include "core/engine/heap.h"
#include "core/engine/kept.h"
#include "core/engine/retired.h"
#include <stdlib.h>

/* ---- counters ---- */

/* Objects that others have freed in full slabs, whose announcement was lost or is on its way. */
static void collect_full(struct msp_heap *heap, int c)
{
    struct msp_slab *slab;
    struct msp_slab *next;

    for (slab = heap->full[c]; slab != NULL; slab = next) {
        next = slab->next;
        if ((atomic_load_explicit(&slab->remote, memory_order_relaxed) & MSP_REMOTE_FULL) == 0) {
            msp_heap_collect(heap, slab);
            msp_heap_become_partial(heap, slab);
        }
    }
}

void msp_heap_collect_all(struct msp_heap *heap)
{
    struct msp_slab *slab;
    int c;

    msp_heap_drain(heap);
    for (c = 0; c < MSP_CLASS_COUNT; c++) {
        msp_heap_collect(heap, heap->current[c]);
        for (slab = heap->partial[c]; slab != NULL; slab = slab->next) {
            heap->empty_slabs -= (msp_slab_handed(slab) == 0) ? 1 : 0;
            msp_heap_collect(heap, slab);
            heap->empty_slabs += (msp_slab_handed(slab) == 0) ? 1 : 0;
        }
        collect_full(heap, c);
    }
}

void msp_heap_tighten_all(struct msp_heap *heap)
{
    struct msp_slab *slab;
    int c;

    msp_heap_collect_all(heap);
    for (c = 0; c < MSP_CLASS_COUNT; c++) {
        if (!msp_slab_is_none(heap->current[c])) {
            msp_heap_tighten(heap, heap->current[c]);
        }
        for (slab = heap->partial[c]; slab != NULL; slab = slab->next) {
            msp_heap_tighten(heap, slab);
        }
        for (slab = heap->full[c]; slab != NULL; slab = slab->next) {
            msp_heap_tighten(heap, slab);
        }
    }
    heap->is_loose = false;
}

struct counts {
    int64_t live_bytes;
    int64_t live_count;
    int64_t allocated_count;
};

/* What an exact charge says, or what is counted in a walk. */
static void count_slab(struct counts *counts, const struct msp_slab *slab, bool exact)
{
    int64_t bytes  = slab->charge - msp_slab_handed(slab) * (int64_t)MSP_CHARGE_OVERHEAD_BYTES;
    unsigned count = exact ? msp_slab_handed(slab) : msp_slab_measure(slab, &bytes);

    counts->live_bytes += bytes;
    counts->live_count += count;
    counts->allocated_count -= slab->free_left;
}

static void count_slabs(struct counts *counts, const struct msp_slab *slab, bool exact)
{
    for (; slab != NULL; slab = slab->next) {
        count_slab(counts, slab, exact);
    }
}

/* @p exact: all slabs are tightened, and what others free meanwhile counts as live. */
static struct counts count_all(const struct msp_heap *heap, bool exact)
{
    int64_t blocks       = heap->allocated_count - heap->freed_count;
    struct counts counts = {heap->granted - heap->credit - heap->objects_charge -
                                blocks * (int64_t)MSP_CHARGE_OVERHEAD_BYTES,
                            blocks, heap->allocated_count + heap->offered_count};
    int c;

    for (c = 0; c < MSP_CLASS_COUNT; c++) {
        if (!msp_slab_is_none(heap->current[c])) {
            count_slab(&counts, heap->current[c], exact);
        }
        count_slabs(&counts, heap->partial[c], exact);
        count_slabs(&counts, heap->full[c], exact);
    }
    return counts;
}

/* The most that has been charged but credit, objects as if they were used in full. */
static int64_t peak_of(struct msp_heap *heap)
{
    msp_heap_note_least(heap);
    return heap->granted - heap->credit_least -
           heap->count_then * (int64_t)MSP_CHARGE_OVERHEAD_BYTES;
}

static void publish(struct msp_heap *heap, bool exact)
{
    struct counts now = count_all(heap, exact);
    int64_t above     = peak_of(heap) - now.live_bytes;

    msp_account_publish(heap->account, now.live_bytes - heap->published_bytes,
                        now.live_count - heap->published_count,
                        (uint64_t)(now.allocated_count - heap->published_allocated),
                        (above > 0) ? above : 0);
    if (heap->failed_count > 0) {
        atomic_fetch_add_explicit(&heap->account->failed_count, heap->failed_count,
                                  memory_order_relaxed);
        heap->failed_count = 0;
    }
    heap->published_bytes     = now.live_bytes;
    heap->published_count     = now.live_count;
    heap->published_allocated = now.allocated_count;
    heap->count_then          = heap->allocated_count - heap->freed_count;
    heap->credit_least        = heap->credit;
}

bool msp_heap_is_empty(const struct msp_heap *heap)
{
    bool empty       = (heap->allocated_count == heap->freed_count);
    uint32_t classes = heap->used_classes;
    const struct msp_slab *slab;
    unsigned c;

    for (; empty && (classes != 0); classes &= classes - 1) {
        c     = (unsigned)__builtin_ctz(classes);
        empty = (msp_slab_used(heap->current[c]) == 0) && (heap->full[c] == NULL);
        for (slab = heap->partial[c]; empty && (slab != NULL); slab = slab->next) {
            empty = (msp_slab_handed(slab) == 0);
        }
    }
    return empty;
}

/* Objects that wait to be allocated. */
static int64_t count_waiting(const struct msp_heap *heap)
{
    uint32_t classes = heap->used_classes;
    int64_t count    = 0;

    for (; classes != 0; classes &= classes - 1) {
        count += heap->current[__builtin_ctz(classes)]->free_left;
    }
    return count;
}

bool msp_heap_has_published_all(const struct msp_heap *heap)
{
    const struct msp_account *a = heap->account;

    return (atomic_load_explicit(&a->live_count, memory_order_relaxed) == heap->published_count) &&
           (atomic_load_explicit(&a->live_bytes, memory_order_relaxed) == heap->published_bytes) &&
           (atomic_load_explicit(&a->allocated_count, memory_order_relaxed) ==
            (uint64_t)heap->published_allocated);
}

/* Published counters, and failures, are rare in a short life: stores that are not needed would make
 * the line of the account travel. */
static void end_published(struct msp_account *account, struct msp_heap *heap)
{
    atomic_store_explicit(&account->live_count, 0, memory_order_relaxed);
    atomic_store_explicit(&account->live_bytes, 0, memory_order_relaxed);
    atomic_store_explicit(&account->allocated_count, 0, memory_order_relaxed);
    atomic_store_explicit(&account->failed_count, 0, memory_order_relaxed);
    atomic_store_explicit(&account->peak_bytes, 0, memory_order_relaxed);
    heap->published_count     = 0;
    heap->published_bytes     = 0;
    heap->published_allocated = 0;
    heap->failed_count        = 0;
}

void msp_heap_end_counts(struct msp_heap *heap, struct msp_retired *past)
{
    struct msp_account *account = heap->account;
    int64_t published           = atomic_load_explicit(&account->peak_bytes, memory_order_relaxed);
    uint64_t failed   = atomic_load_explicit(&account->failed_count, memory_order_relaxed);
    int64_t waiting   = count_waiting(heap);
    int64_t allocated = heap->allocated_count + heap->offered_count - waiting;
    int64_t peak      = (allocated == 0) ? 0 : peak_of(heap);

    past->allocated_count += (uint64_t)allocated;
    past->failed_count += heap->failed_count + failed;
    past->peak_bytes += (uint64_t)((peak > published) ? peak : published);
    if ((published != 0) || (failed + heap->failed_count != 0) ||
        (heap->published_allocated != 0)) {
        end_published(account, heap);
    }
    heap->allocated_count = 0;
    heap->freed_count     = 0;
    heap->offered_count   = waiting; /* so that none has been allocated */
    heap->count_then      = 0;
    heap->credit_least    = heap->credit;
}

static int64_t free_bytes_in(const struct msp_slab *slab)
{
    int64_t free_bytes = 0;

    for (; slab != NULL; slab = slab->next) {
        free_bytes += (int64_t)msp_classes[slab->class_index].slab_bytes -
                      (int64_t)msp_slab_handed(slab) * slab->size_bytes;
    }
    return free_bytes;
}

/* Tell the pool how much of it waits in the heap. */
static void publish_waiting(struct msp_heap *heap)
{
    const struct msp_allocator *a = heap->account->allocator;
    struct msp_provider *provider = atomic_load_explicit(&a->provider, memory_order_acquire);
    int64_t waiting               = (int64_t)msp_heap_cached_bytes(heap);
    int c;

    for (c = 0; c < MSP_CLASS_COUNT; c++) {
        const struct msp_slab *current = heap->current[c];
        if (!msp_slab_is_none(current)) {
            waiting += (int64_t)msp_classes[c].slab_bytes -
                       (int64_t)msp_slab_used(current) * current->size_bytes;
        }
        waiting += free_bytes_in(heap->partial[c]);
    }
    if (provider != NULL) {
        msp_pool_count_waiting(provider->pool, waiting - heap->published_waiting);
        heap->published_waiting = waiting;
        heap->pool              = provider->pool;
    }
}

void msp_heap_publish_all(void)
{
    struct msp_thread *t;
    struct msp_heap *heap;

    msp_kept_call_owner(MSP_KEPT_PUBLISH);
    msp_thread_stop_all();
    for (t = msp_thread_first(); t != NULL; t = t->next) {
        for (heap = t->heaps; heap != NULL; heap = heap->next) {
            msp_heap_collect_all(heap);
            publish(heap, false);
            publish_waiting(heap);
        }
    }
    msp_thread_resume_all();
}

/* ---- credit ---- */

static void take_credit(struct msp_heap *heap)
{
    int64_t credit = heap->credit;

    if (msp_account_is_limited(heap->account)) {
        msp_heap_note_least(heap);
        heap->granted -= credit;
        heap->credit      = 0;
        heap->credit_most = 0;
        heap->credit_least -= credit;
        msp_account_uncharge(heap->account, (uint64_t)credit);
    }
}

void msp_heap_recall(struct msp_account *account)
{
    enum { CAUTION = 1024 }; /* charges without lending, afterwards */
    struct msp_heap *heap;

    msp_thread_stop_all();
    msp_account_lock();
    for (heap = account->heaps; heap != NULL; heap = heap->next_of_account) {
        msp_heap_tighten_all(heap);
        take_credit(heap);
    }
    atomic_store_explicit(&account->lending, false, memory_order_seq_cst);
    atomic_store_explicit(&account->caution, CAUTION, memory_order_relaxed);
    msp_account_unlock();
    msp_thread_resume_all();
}

/* ---- ending ---- */

void msp_heap_add_orphan(struct msp_account *account, struct msp_slab *slab)
{
    msp_slab_set_state(slab, MSP_SLAB_ORPHAN);
    msp_heap_list_add(&account->orphans, slab);
    atomic_fetch_add_explicit(&account->orphan_count, 1, memory_order_relaxed);
}

/* A slab of a heap that ends, exactly charged and counted, becomes the account's, or goes back.
 * Accounts are locked. */
static void release_slab(struct msp_heap *heap, struct msp_slab *slab)
{
    msp_slab_forget(slab);
    /* A thread that frees from now on handles the slab itself; one that freed before has pushed. */
    atomic_store_explicit(&slab->thread, NULL, memory_order_seq_cst);
    atomic_fetch_and_explicit(&slab->remote, ~MSP_REMOTE_FULL, memory_order_seq_cst);
    msp_heap_collect_orphan(heap->account, slab);
    if (msp_slab_handed(slab) == 0) {
        msp_slab_set_state(slab, MSP_SLAB_CURRENT);
        msp_slab_destroy(slab);
    } else {
        msp_heap_add_orphan(heap->account, slab);
    }
}

static void release_list(struct msp_heap *heap, struct msp_slab *slab)
{
    struct msp_slab *next;

    for (; slab != NULL; slab = next) {
        next = slab->next;
        release_slab(heap, slab);
    }
}

static void release_slabs(struct msp_heap *heap)
{
    int c;

    for (c = 0; c < MSP_CLASS_COUNT; c++) {
        if (!msp_slab_is_none(heap->current[c])) {
            release_slab(heap, heap->current[c]);
        }
        release_list(heap, heap->partial[c]);
        release_list(heap, heap->full[c]);
        heap->partial[c] = NULL;
        heap->full[c]    = NULL;
    }
}

/* Ends a heap that is out of its thread's list. Accounts are locked. */
static void retire(struct msp_heap *heap)
{
    struct msp_account *account = heap->account;

    atomic_store_explicit(&heap->handle, UINTPTR_MAX, memory_order_relaxed);
    msp_heap_flush(heap);
    msp_heap_tighten_all(heap);
    take_credit(heap);
    publish(heap, true);
    release_slabs(heap);
    msp_heap_drain(heap); /* only clears marks: no slab is its own any more */
    if (heap->pool != NULL) {
        msp_pool_count_waiting(heap->pool, -heap->published_waiting);
    }
    if (heap->next_of_account != NULL) {
        heap->next_of_account->previous_of_account = heap->previous_of_account;
    }
    if (heap->previous_of_account != NULL) {
        heap->previous_of_account->next_of_account = heap->next_of_account;
    } else {
        account->heaps = heap->next_of_account;
    }
    heap->account = NULL;
    heap->thread  = NULL;
    msp_heap_put_record(heap);
}

void msp_heap_retire_all(struct msp_thread *t)
{
    struct msp_heap *heap = t->heaps;
    struct msp_heap *next;
    unsigned i;

    t->heaps = NULL;
    free(t->heap_of);
    t->heap_of      = NULL;
    t->heap_of_size = 0;
    t->heap_count   = 0;
    for (i = 0; i < MSP_THREAD_SLOTS; i++) {
        t->handles[i] = msp_thread_nothing(i);
    }
    for (; heap != NULL; heap = next) {
        next = heap->next;
        msp_account_lock();
        retire(heap);
        msp_account_unlock();
    }
}

bool msp_heap_close(struct msp_account *account)
{
    bool own;

    atomic_store_explicit(&account->closed, true, memory_order_seq_cst);
    if (!atomic_load_explicit(&account->had_heaps, memory_order_seq_cst)) {
        return false;
    }
    msp_account_lock();
    own = (account->heaps == NULL) || ((account->heaps->next_of_account == NULL) &&
                                       (account->heaps->thread == msp_thread_here.record));
    msp_account_unlock();
    if (own) {
        msp_thread_hold();
    } else {
        msp_thread_stop_all();
    }
    msp_account_lock();
    while (account->heaps != NULL) {
        msp_heap_leave_thread(account->heaps);
        retire(account->heaps);
    }
    msp_account_unlock();
    if (own) {
        msp_thread_release();
    } else {
        msp_thread_resume_all();
    }
    return true;
}

/* ---- memory ---- */

static void release_empty(struct msp_heap *heap, struct msp_slab **list)
{
    struct msp_slab *slab;
    struct msp_slab *next;

    for (slab = *list; slab != NULL; slab = next) {
        next = slab->next;
        if (msp_slab_handed(slab) == 0) {
            msp_heap_list_remove(list, slab);
            msp_heap_drop(heap, slab);
            msp_slab_destroy(slab);
        }
    }
}

static void reclaim(struct msp_heap *heap)
{
    int c;

    msp_heap_collect_all(heap);
    for (c = 0; c < MSP_CLASS_COUNT; c++) {
        struct msp_slab *slab = heap->current[c];

        if (!msp_slab_is_none(slab) && (msp_slab_used(slab) == 0)) {
            msp_heap_unset_current(heap, (unsigned)c);
            msp_heap_drop(heap, slab);
            msp_slab_destroy(slab);
        }
        release_empty(heap, &heap->partial[c]);
    }
    heap->empty_slabs = 0;
    msp_heap_flush(heap);
}

void msp_heap_reclaim(void)
{
    struct msp_thread *t;
    struct msp_heap *heap;

    msp_thread_stop_all();
    for (t = msp_thread_first(); t != NULL; t = t->next) {
        for (heap = t->heaps; heap != NULL; heap = heap->next) {
            reclaim(heap);
        }
    }
    msp_thread_resume_all();
}

/* ---- invariants ---- */

static const char *check_list(const struct msp_heap *heap, const struct msp_slab *slab, int c,
                              bool full)
{
    for (; slab != NULL; slab = slab->next) {
        if ((atomic_load(&slab->heap) != heap) || (slab->class_index != c)) {
            return "a slab is in the list of another heap or class";
        }
        if (full != (msp_slab_state(slab) != MSP_SLAB_PARTIAL)) {
            return "a slab's state is not that of its list";
        }
        if ((slab->next != NULL) && (slab->next->previous != slab)) {
            return "a list of slabs is broken";
        }
    }
    return NULL;
}

/* The length of a list of free objects; more than there are: it is broken. */
static unsigned count_free(const struct msp_slab *slab, unsigned first)
{
    unsigned count = 0;
    unsigned i;

    for (i = first; i != MSP_OBJECT_NONE; i = msp_slab_word_of(slab, i)) {
        if ((i - MSP_OBJECT_FREE > slab->capacity) || msp_slab_is_live(slab, i) ||
            (++count > slab->capacity)) {
            return slab->capacity + 1u;
        }
    }
    return count;
}

static const char *check_objects(const struct msp_slab *slab)
{
    unsigned offered = count_free(slab, slab->first_free);
    unsigned listed  = offered + count_free(slab, slab->first_freed);
    int64_t bytes;
    int64_t charge;
    unsigned live = msp_slab_measure(slab, &bytes);

    if ((listed > slab->capacity) || (offered != (unsigned)slab->free_left)) {
        return "a slab's free list is broken";
    }
    charge = bytes + live * (int64_t)MSP_CHARGE_OVERHEAD_BYTES;
    if (msp_account_is_limited(atomic_load(&slab->account)) &&
        (slab->tight ? (atomic_load(&slab->remote) == MSP_REMOTE_EMPTY) && (charge != slab->charge)
                     : charge + offered * msp_slab_unit(slab) > slab->charge)) {
        return "a slab is not charged for its objects";
    }
    live += (unsigned)(atomic_load(&slab->remote) >> 16) & 0xffff;
    if ((live != msp_slab_used(slab)) || (live + listed != slab->made)) {
        return "a slab's objects are miscounted";
    }
    return NULL;
}

static const char *check_heap(const struct msp_heap *heap)
{
    const struct msp_slab *slab;
    const char *problem = msp_heap_check_entries(heap);
    int c;

    for (c = 0; (problem == NULL) && (c < MSP_CLASS_COUNT); c++) {
        problem = msp_slab_is_none(heap->current[c]) ? NULL : check_objects(heap->current[c]);
        problem = (problem == NULL) ? check_list(heap, heap->partial[c], c, false) : problem;
        problem = (problem == NULL) ? check_list(heap, heap->full[c], c, true) : problem;
        for (slab = heap->partial[c]; (problem == NULL) && (slab != NULL); slab = slab->next) {
            problem = check_objects(slab);
        }
        for (slab = heap->full[c]; (problem == NULL) && (slab != NULL); slab = slab->next) {
            problem = check_objects(slab);
        }
    }
    return problem;
}

memspan_status_t msp_heap_check(void)
{
    const char *problem = NULL;
    struct msp_thread *t;
    struct msp_heap *heap;

    msp_thread_stop_all();
    for (t = msp_thread_first(); t != NULL; t = t->next) {
        for (heap = t->heaps; (problem == NULL) && (heap != NULL); heap = heap->next) {
            problem = check_heap(heap);
        }
    }
    msp_thread_resume_all();
    return (problem == NULL) ? MEMSPAN_OK
                             : memspan_error(MEMSPAN_ERR_INTERNAL, "a thread's heap: %s", problem);
}
