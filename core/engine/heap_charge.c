/* SPDX-License-Identifier: BSD-3-Clause */
/* heap_charge.c: what a heap takes of its account: credit, which its slabs and blocks use.
 *
 * Invariant, of a limited account: a slab's charge is at least what its live objects take, and the
 * whole of each object in its list to allocate from. It is exact, and no object is in the list,
 * where the slab is tight. */

#include "core/base/error.h"
#include "core/engine/allocator_record.h"
#include "core/engine/heap.h"
#include <sched.h>

/* ---- credit ---- */

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
    uint64_t missing           = bytes - (uint64_t)heap->credit;
    uint64_t extra             = 1;
    const uint64_t medium_most = MSP_MEDIUM_MAX_BYTES + MSP_CHARGE_OVERHEAD_BYTES;

    if (!msp_account_charge(heap->account, missing, &extra, lent_p)) {
        return false;
    }
    if (extra > 0) { /* so much that a block of this size can go and come */
        heap->credit_most = (int64_t)(2 * extra + ((bytes <= medium_most) ? 2 * bytes : 0));
    }
    grant(heap, (int64_t)(missing + extra));
    return true;
}

void msp_heap_borrow_ahead(struct msp_heap *heap)
{
    uint64_t lent = msp_account_is_limited(heap->account) ? msp_account_lend(heap->account) : 0;

    if (lent > 0) {
        heap->credit_most = (int64_t)(2 * lent);
        grant(heap, (int64_t)lent);
    }
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
        *lent_p = heap->is_loose;
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

bool msp_heap_can_recall(const struct msp_account *account, const struct msp_heap *heap)
{
    return account->by_thread ? heap->is_loose
                              : msp_account_is_limited(account) &&
                                    atomic_load_explicit(&account->lending, memory_order_seq_cst);
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

/* ---- slabs ---- */

void msp_heap_tighten(struct msp_heap *heap, struct msp_slab *slab)
{
    int64_t bytes;
    unsigned live;

    heap->offered_count -= msp_slab_settle(slab);
    for (;;) {
        msp_heap_collect(heap, slab);
        live = msp_slab_measure(slab, &bytes);
        if (live == msp_slab_used(slab)) {
            break;
        }
        sched_yield(); /* another thread is on its way through freeing an object */
    }
    bytes += live * (int64_t)MSP_CHARGE_OVERHEAD_BYTES;
    msp_heap_charge_slab(heap, slab, bytes - slab->charge);
    slab->tight = heap->account->by_thread || msp_account_is_limited(heap->account);
    msp_slab_set_handed(slab, msp_slab_handed(slab));
}

void msp_heap_drop(struct msp_heap *heap, struct msp_slab *slab)
{
    heap->offered_count -= msp_slab_settle(slab);
    msp_heap_charge_slab(heap, slab, -slab->charge);
}

/* A slab without objects in its list gets exactly one, for so many bytes. False: the credit and
 * what can be borrowed do not do. */
static bool offer_one(struct msp_heap *heap, struct msp_slab *slab, uint64_t bytes)
{
    slab->tight = slab->tight || ((slab->charge == 0) && (msp_slab_handed(slab) == 0));
    if (!slab->tight || ((heap->credit < (int64_t)bytes) && !msp_heap_borrow(heap, bytes))) {
        return false;
    }
    msp_heap_charge_slab(heap, slab, (int64_t)bytes);
    msp_slab_refill(slab, 1);
    heap->offered_count++;
    return true;
}

/* What a slab is charged too much may have to be called back: only where something is lent. */
static bool may_be_loose(const struct msp_heap *heap)
{
    return !msp_account_is_limited(heap->account) ||
           atomic_load_explicit(&heap->account->lending, memory_order_relaxed);
}

bool msp_heap_offer(struct msp_heap *heap, struct msp_slab *slab, uint64_t bytes)
{
    int64_t count  = msp_slab_available(slab);
    int64_t unit   = msp_slab_unit(slab);
    int64_t charge = slab->charge - msp_slab_handed(slab) * unit; /* for those that join the list */

    if (count * unit > charge + heap->credit) {
        msp_heap_borrow_ahead(heap);
        if (count * unit > charge + heap->credit) {
            count = (charge + heap->credit) / unit;
        }
    }
    if ((count <= 0) || !may_be_loose(heap)) {
        return offer_one(heap, slab, bytes);
    }
    if (count * unit > charge) {
        msp_heap_charge_slab(heap, slab, count * unit - charge);
    }
    slab->tight    = false;
    heap->is_loose = true;
    msp_slab_refill(slab, (unsigned)count);
    heap->offered_count += count;
    return true;
}
