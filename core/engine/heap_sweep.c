/* SPDX-License-Identifier: BSD-3-Clause */
/* heap_sweep.c: heaps give back memory that they have kept too long: blocks, slabs without objects,
 * and pages of slabs in which no object lives.
 *
 * Heaps are changed by their threads alone, so all threads are stopped for it, a short time after
 * another; in between the walk remembers where it was. That may be closed when it goes on: then the
 * rest waits for the next walk. Memory counts as unused when it looks as it did in
 * the walk before, so that allocating and freeing leave no marks. */

#include "core/engine/allocator_record.h"
#include "core/engine/decay.h"
#include "core/engine/heap.h"

enum { VISITS_PER_SLICE = 2048, VISITS_PER_HEAP = 4, VISITS_PER_PURGE = 32 };

/* Whether the slab was not used since the last look. */
static bool is_cold(struct msp_slab *slab)
{
    bool cold = (slab->seen_freed == slab->first_freed) && (slab->seen_left == slab->left) &&
                (slab->seen_free == slab->first_free);

    slab->seen_freed = slab->first_freed;
    slab->seen_left  = slab->left;
    slab->seen_free  = slab->first_free;
    slab->purged     = slab->purged && cold;
    return cold;
}

static void purge(struct msp_sweep *sweep, struct msp_slab *slab)
{
    if (!slab->purged && (msp_slab_used(slab) < slab->capacity)) {
        sweep->purged_bytes += msp_slab_purge(slab);
        sweep->looks -= VISITS_PER_PURGE;
    }
}

/* Objects that others have freed in a slab with free objects count as free. */
static void collect(struct msp_heap *heap, struct msp_slab *slab)
{
    unsigned before = (msp_slab_used(slab) == 0) ? 1 : 0;

    if (msp_heap_collect(heap, slab) > 0) {
        heap->empty_slabs += ((msp_slab_used(slab) == 0) ? 1 : 0) - before;
    }
}

static void look_at_current(struct msp_sweep *sweep, struct msp_heap *heap, unsigned c)
{
    struct msp_slab *slab = heap->current[c];
    bool cold;

    if (msp_slab_is_none(slab)) {
        return;
    }
    msp_heap_collect(heap, slab);
    cold = is_cold(slab) || (sweep->force == MSP_SWEEP_ALL);
    if (cold && (msp_slab_used(slab) == 0)) {
        msp_heap_unset_current(heap, c);
        msp_heap_drop(heap, slab);
        msp_slab_destroy(slab);
    } else if (cold) {
        purge(sweep, slab);
    }
}

/* One with free objects. False: it is there no longer. */
static bool look_at(struct msp_sweep *sweep, struct msp_heap *heap, struct msp_slab *slab)
{
    bool cold;

    collect(heap, slab);
    cold = is_cold(slab) || (sweep->force != MSP_SWEEP_OLD);
    if (cold && (msp_slab_used(slab) == 0)) {
        msp_heap_list_remove(&heap->partial[slab->class_index], slab);
        heap->empty_slabs--;
        msp_heap_drop(heap, slab);
        msp_slab_destroy(slab);
        return false;
    }
    if (cold) {
        purge(sweep, slab);
    }
    return true;
}

/* Whether the walk can go on behind that slab. */
static bool is_there(const struct msp_heap *heap, const struct msp_slab *slab, unsigned c)
{
    return (slab != NULL) && (atomic_load_explicit(&slab->heap, memory_order_relaxed) == heap) &&
           (slab->class_index == c) && (msp_slab_state(slab) == MSP_SLAB_PARTIAL) &&
           (atomic_load_explicit(&slab->thread, memory_order_relaxed) == heap->thread);
}

/* False: the slice is over. */
static bool walk_class(struct msp_sweep *sweep, struct msp_heap *heap, unsigned c)
{
    struct msp_slab *slab;
    struct msp_slab *next;

    if (is_there(heap, sweep->slab, c)) {
        slab = sweep->slab->next;
    } else {
        look_at_current(sweep, heap, c);
        slab = heap->partial[c];
    }
    sweep->slab = NULL;
    for (; slab != NULL; slab = next) {
        next = slab->next;
        if (sweep->looks-- <= 0) {
            return false;
        }
        if (look_at(sweep, heap, slab)) {
            sweep->slab = slab;
        }
    }
    sweep->slab = NULL;
    return true;
}

static bool walk_heap(struct msp_sweep *sweep, struct msp_heap *heap)
{
    if (sweep->heap != heap) {
        msp_heap_drain(heap);
        msp_heap_decay(heap, sweep->round);
        sweep->heap        = heap;
        sweep->class_index = 0;
        sweep->slab        = NULL;
        sweep->looks -= VISITS_PER_HEAP;
    }
    for (; sweep->class_index < MSP_CLASS_COUNT; sweep->class_index++) {
        if (!walk_class(sweep, heap, sweep->class_index)) {
            return false;
        }
    }
    sweep->heap = NULL;
    return true;
}

static bool walk(struct msp_sweep *sweep)
{
    struct msp_thread *t;
    struct msp_heap *heap;

    for (t = msp_thread_first(); t != NULL; t = t->next) {
        for (heap = t->heaps; heap != NULL; heap = heap->next) {
            if (((sweep->heap == NULL) || (sweep->heap == heap)) && !walk_heap(sweep, heap)) {
                return false;
            }
        }
    }
    return true;
}

/* Slabs of threads that have ended: no thread looks for space in them while their lists are locked.
 */
static void walk_orphans(struct msp_sweep *sweep, struct msp_account *account)
{
    struct msp_slab *slab;

    for (slab = account->orphans; slab != NULL; slab = slab->next) {
        bool cold = is_cold(slab) || (sweep->force == MSP_SWEEP_ALL);

        if (cold) {
            purge(sweep, slab);
        }
        sweep->looks--;
    }
}

/* False: the slice is over. */
static bool walk_accounts(struct msp_sweep *sweep)
{
    struct msp_allocator *a;
    struct msp_account *account;

    for (; (a = msp_allocator_at(sweep->allocator)) != NULL; sweep->allocator++) {
        if (sweep->looks <= 0) {
            return false;
        }
        for (account = &a->account; account != NULL;
             account = atomic_load_explicit(&account->next, memory_order_acquire)) {
            if (atomic_load_explicit(&account->orphan_count, memory_order_relaxed) > 0) {
                msp_account_lock();
                walk_orphans(sweep, account);
                msp_account_unlock();
            }
        }
    }
    return true;
}

bool msp_heap_sweep(struct msp_sweep *sweep)
{
    sweep->looks = VISITS_PER_SLICE;
    msp_thread_stop_all();
    sweep->walked = sweep->walked || walk(sweep);
    sweep->done   = sweep->walked && walk_accounts(sweep);
    msp_thread_resume_all();
    return sweep->done;
}
