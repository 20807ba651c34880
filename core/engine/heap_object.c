/* SPDX-License-Identifier: BSD-3-Clause */
/* heap_object.c: objects when the current slab has none, objects of other threads, slabs between
 * lists and owners. */

#include "core/base/error.h"
#include "core/base/omp_hook.h"
#include "core/engine/allocator_record.h"
#include "core/engine/decay.h"
#include "core/engine/heap.h"

enum {
    EMPTY_SLABS_KEPT = 4,
    EMPTY_SLABS_MOST = 32,
    FULL_LOOKED_AT   = 8,
    FREE_SHARE = 8, /* a full slab is one with free objects again when this part of it is free: less
                       is not worth the change */
    TURNS = 8,      /* ways out of the shortest between two looks at the clock */
};

struct msp_slab msp_slab_none = {
    .first_free = MSP_OBJECT_NONE, .edge = MSP_EDGE_NEVER, .remote = MSP_REMOTE_EMPTY};

/* ---- slabs ---- */

static void give_back(struct msp_slab *slab)
{
    struct msp_pool *pool = msp_pool_of(slab->record);

    msp_slab_destroy(slab);
    msp_pool_settle(pool);
    msp_decay_look(pool);
}

void msp_heap_list_add(struct msp_slab **list, struct msp_slab *slab)
{
    slab->previous = NULL;
    slab->next     = *list;
    if (*list != NULL) {
        (*list)->previous = slab;
    }
    *list = slab;
}

void msp_heap_list_remove(struct msp_slab **list, struct msp_slab *slab)
{
    if (slab->next != NULL) {
        slab->next->previous = slab->previous;
    }
    if (slab->previous != NULL) {
        slab->previous->next = slab->next;
    } else {
        *list = slab->next;
    }
}

unsigned msp_heap_collect(struct msp_heap *heap, struct msp_slab *slab)
{
    uint64_t charge;
    unsigned count = msp_slab_collect(slab, &charge);

    if (count > 0) {
        msp_heap_note_least(heap);
        heap->freed_count += count;
        if (msp_account_is_limited(heap->account)) {
            heap->granted -= (int64_t)charge; /* the freeing thread has taken the charge back */
            heap->credit_least -= (int64_t)charge;
        } else {
            heap->credit += (int64_t)charge;
        }
    }
    return count;
}

void msp_heap_become_partial(struct msp_heap *heap, struct msp_slab *slab)
{
    msp_heap_list_remove(&heap->full[slab->class_index], slab);
    msp_heap_list_add(&heap->partial[slab->class_index], slab);
    msp_slab_set_state(slab, MSP_SLAB_PARTIAL);
    slab->edge = 0;
    heap->empty_slabs += (msp_slab_handed(slab) == 0) ? 1 : 0;
}

void msp_heap_drain(struct msp_heap *heap)
{
    struct msp_slab *slab;
    struct msp_slab *next;

    if (atomic_load_explicit(&heap->announced, memory_order_relaxed) == NULL) {
        return;
    }
    slab = atomic_exchange_explicit(&heap->announced, NULL, memory_order_acquire);
    for (; slab != NULL; slab = next) {
        next = atomic_load_explicit(&slab->next_announced, memory_order_relaxed);
        /* Before the collecting: a thread that frees afterwards must be able to announce it again.
         */
        atomic_store_explicit(&slab->announced, false, memory_order_seq_cst);
        /* A late one may announce a slab that has been found, and filled again, since. */
        if ((atomic_load_explicit(&slab->thread, memory_order_relaxed) == heap->thread) &&
            (atomic_load_explicit(&slab->heap, memory_order_relaxed) == heap) &&
            ((msp_slab_state(slab) == MSP_SLAB_FULL) ||
             (msp_slab_state(slab) == MSP_SLAB_ANNOUNCED)) &&
            ((atomic_load_explicit(&slab->remote, memory_order_relaxed) & MSP_REMOTE_FULL) == 0)) {
            msp_heap_collect(heap, slab);
            msp_heap_become_partial(heap, slab);
        }
    }
}

/* A slab that counted as full has space enough, or is needed for the little it has. */
static void clear_full(struct msp_heap *heap, struct msp_slab *slab)
{
    if ((atomic_fetch_and_explicit(&slab->remote, ~MSP_REMOTE_FULL, memory_order_acq_rel) &
         MSP_REMOTE_FULL) != 0) {
        msp_heap_become_partial(heap, slab);
    } else {
        msp_slab_set_state(slab, MSP_SLAB_ANNOUNCED);
        slab->edge = MSP_EDGE_NEVER;
    }
}

/* Before more memory is taken: slabs with few free objects, and those whose announcement was lost
 * because they changed hands at that moment. */
static void look_at_full(struct msp_heap *heap, unsigned c)
{
    struct msp_slab *slab = heap->full[c];
    struct msp_slab *next;
    int n;

    for (n = 0; (slab != NULL) && (n < FULL_LOOKED_AT); n++, slab = next) {
        next = slab->next;
        if ((atomic_load_explicit(&slab->remote, memory_order_relaxed) & MSP_REMOTE_FULL) == 0) {
            msp_heap_collect(heap, slab);
            msp_heap_become_partial(heap, slab);
        } else if (msp_slab_first_freed(slab) != MSP_OBJECT_NONE) {
            clear_full(heap, slab);
        }
    }
}

static void make_current(struct msp_heap *heap, struct msp_slab *slab)
{
    msp_slab_set_state(slab, MSP_SLAB_CURRENT);
    slab->edge                       = MSP_EDGE_NEVER;
    heap->current[slab->class_index] = slab;
}

/* The current slab has nothing left: put it among the full ones and take one with free objects.
 * False: there is none. */
static bool next_slab(struct msp_heap *heap, unsigned c)
{
    struct msp_slab *slab = heap->current[c];

    if (slab != &msp_slab_none) {
        if (!msp_slab_set_full(slab)) {
            msp_heap_collect(heap, slab);
            return true;
        }
        msp_slab_set_state(slab, MSP_SLAB_FULL);
        slab->edge = slab->capacity - 1u - slab->capacity / FREE_SHARE;
        msp_heap_list_add(&heap->full[c], slab);
        heap->current[c] = &msp_slab_none;
    }
    msp_heap_drain(heap);
    if (heap->partial[c] == NULL) {
        look_at_full(heap, c);
    }
    slab = heap->partial[c];
    if (slab == NULL) {
        return false;
    }
    heap->empty_slabs -= (msp_slab_handed(slab) == 0) ? 1 : 0;
    msp_heap_list_remove(&heap->partial[c], slab);
    make_current(heap, slab);
    return true;
}

/* Looks for objects wherever the heap may have some. */
static __attribute__((noinline)) bool find_objects(struct msp_heap *heap, unsigned c)
{
    for (;;) {
        struct msp_slab *slab = heap->current[c];

        if ((slab->first_free != MSP_OBJECT_NONE) || msp_slab_refill(slab)) {
            return true;
        }
        if ((msp_heap_collect(heap, slab) == 0) && !next_slab(heap, c)) {
            return false;
        }
    }
}

/* Makes sure that the current slab has a free object in its list. False: the heap has none of that
 * class. Where a thread has few objects of each size, every other allocation takes this path. */
static inline bool fill_current(struct msp_heap *heap, unsigned c)
{
    struct msp_slab *slab = heap->current[c];

    if ((slab->first_free != MSP_OBJECT_NONE) || (msp_slab_first_freed(slab) == MSP_OBJECT_NONE)) {
        return find_objects(heap, c);
    }
    return msp_slab_refill(slab);
}

/* An orphan with free objects, or a new slab. */
static struct msp_slab *find_slab(struct msp_account *account, struct msp_pool *pool, unsigned c)
{
    struct msp_slab *slab = NULL;

    if (atomic_load_explicit(&account->orphan_count, memory_order_relaxed) > 0) {
        msp_account_lock();
        for (slab = account->orphans; slab != NULL; slab = slab->next) {
            if ((slab->class_index == c) && (msp_pool_of(slab->record) == pool) &&
                ((msp_slab_handed(slab) < slab->capacity) ||
                 (atomic_load_explicit(&slab->remote, memory_order_relaxed) != MSP_REMOTE_EMPTY))) {
                msp_heap_list_remove(&account->orphans, slab);
                atomic_fetch_sub_explicit(&account->orphan_count, 1, memory_order_relaxed);
                msp_slab_set_state(slab, MSP_SLAB_CURRENT);
                break;
            }
        }
        msp_account_unlock();
    }
    msp_decay_look(pool);
    return (slab != NULL) ? slab : msp_slab_create(pool, c, account);
}

/* An orphaned slab becomes the heap's. Its live objects are charged and counted already, by its
 * last owner: freed here, it makes this heap's share smaller than nothing, and the sums right.
 */
static void adopt(struct msp_heap *heap, struct msp_slab *slab)
{
    atomic_store_explicit(&slab->heap, heap, memory_order_relaxed);
    atomic_store_explicit(&slab->thread, heap->thread, memory_order_seq_cst);
    if (heap->current[slab->class_index] == &msp_slab_none) {
        make_current(heap, slab);
    } else {
        msp_slab_set_state(slab, MSP_SLAB_PARTIAL);
        slab->edge = 0;
        msp_heap_list_add(&heap->partial[slab->class_index], slab);
        heap->empty_slabs += (msp_slab_handed(slab) == 0) ? 1 : 0;
    }
    msp_heap_publish(heap);
}

/* No heap owns the slab: the thread that frees handles it. */
static void reap(struct msp_slab *slab, struct msp_account *account)
{
    bool empty = false;
    uint64_t charge;
    unsigned count;

    msp_account_lock();
    if ((atomic_load_explicit(&slab->account, memory_order_relaxed) == account) &&
        (atomic_load_explicit(&slab->thread, memory_order_seq_cst) == NULL) &&
        (msp_slab_state(slab) == MSP_SLAB_ORPHAN)) {
        count = msp_slab_collect(slab, &charge);
        msp_account_publish(account, (int64_t)(count * MSP_CHARGE_OVERHEAD_BYTES) - (int64_t)charge,
                            -(int64_t)count, 0, 0);
        empty = (msp_slab_handed(slab) == 0);
        if (empty) {
            msp_heap_list_remove(&account->orphans, slab);
            atomic_fetch_sub_explicit(&account->orphan_count, 1, memory_order_relaxed);
            msp_slab_set_state(slab, MSP_SLAB_CURRENT);
        }
    }
    msp_account_unlock();
    if (empty) {
        give_back(slab);
    }
    msp_allocator_settle(account->allocator);
}

/* No heap could be had for a slab that was found. */
static void disown(struct msp_account *account, struct msp_slab *slab)
{
    if (msp_slab_handed(slab) == 0) {
        give_back(slab);
        return;
    }
    msp_account_lock();
    msp_heap_add_orphan(account, slab);
    msp_account_unlock();
    reap(slab, account); /* a thread that freed meanwhile found it in no list */
}

/* Slabs that are empty beyond reason, by other threads' frees: one list. */
static struct msp_slab *take_surplus(struct msp_heap *heap, unsigned c)
{
    struct msp_slab *surplus = NULL;
    struct msp_slab *slab;
    struct msp_slab *next;

    for (slab = heap->partial[c]; (slab != NULL) && (heap->empty_slabs > EMPTY_SLABS_KEPT);
         slab = next) {
        next = slab->next;
        if (msp_slab_handed(slab) == 0) {
            msp_heap_list_remove(&heap->partial[c], slab);
            msp_heap_list_add(&surplus, slab);
            heap->empty_slabs--;
        }
    }
    return surplus;
}

static void give_back_all(struct msp_slab *slab)
{
    struct msp_slab *next;

    for (; slab != NULL; slab = next) {
        next = slab->next;
        give_back(slab);
    }
}

/* Gives out the first free object of a slab that has one. */
static inline void *give_object(struct msp_slab *slab, size_t size_bytes, bool fallback,
                                bool *zeroed_p)
{
    unsigned i     = slab->first_free;
    unsigned word  = slab->objects[i];
    unsigned flags = MSP_OBJECT_LIVE | (fallback ? MSP_OBJECT_FALLBACK : 0);

    slab->first_free = (word & MSP_OBJECT_VALUE);
    slab->objects[i] = (uint16_t)(flags | (size_bytes + MSP_CHARGE_OVERHEAD_BYTES));
    *zeroed_p        = slab->zeroed && ((word & MSP_OBJECT_FRESH) != 0);
    return msp_slab_object(slab, i);
}

/* In a section: an object of a heap that may have to look for one. Now and then *pool_p is a pool
 * to search afterwards for blocks that have waited too long. */
static inline __attribute__((always_inline)) void *
give_next(struct msp_heap *heap, size_t size_bytes, bool *refused_p, struct msp_pool **pool_p)
{
    uint64_t bytes   = size_bytes + MSP_CHARGE_OVERHEAD_BYTES;
    uint64_t charged = 0;
    bool zeroed;
    unsigned c;

    if (heap->credit < (int64_t)bytes) {
        *refused_p = msp_heap_is_refused(heap, bytes, &charged);
        if (*refused_p) {
            msp_error_limit(bytes, heap->account->limit_bytes, charged);
        }
        return NULL;
    }
    c = heap->class_of[(size_bytes + 15) >> MSP_CLASS_STEP_SHIFT];
    if (!fill_current(heap, c)) {
        return NULL;
    }
    msp_heap_spend(heap, bytes, 1);
    if (++heap->turns % TURNS == 0) {
        *pool_p = msp_pool_of(heap->current[c]->record);
    }
    return give_object(heap->current[c], size_bytes, false, &zeroed);
}

void *msp_heap_alloc_next(uintptr_t handle, size_t size_bytes, bool *refused_p)
{
    void *address         = NULL;
    struct msp_pool *pool = NULL;
    struct msp_heap *heap;

    *refused_p = false;
    if (size_bytes - 1 >= MSP_SMALL_MAX_BYTES) {
        return NULL;
    }
    heap = msp_thread_enter_fast()->slots[msp_heap_slot(handle)];
    if (atomic_load_explicit(&heap->handle, memory_order_relaxed) == handle) {
        address = give_next(heap, size_bytes, refused_p, &pool);
    }
    msp_thread_leave();
    if (MSP_UNLIKELY(pool != NULL)) {
        msp_decay_look(pool);
    }
    return address;
}

/* In a section: the heap that this thread used last, if it is of that divided allocator. Others
 * come to the front by the slow path. */
static struct msp_heap *find_scoped(uintptr_t handle)
{
    struct msp_heap *heap = msp_thread_enter_fast()->heaps;

    return ((heap != NULL) && (handle != 0) && (heap->scoped_handle == handle)) ? heap : NULL;
}

void *msp_heap_alloc_scoped(uintptr_t handle, size_t size_bytes, bool *refused_p)
{
    void *address         = NULL;
    struct msp_pool *pool = NULL;
    struct msp_heap *heap = find_scoped(handle);
    bool known            = (heap != NULL);
    bool by_team          = known && heap->by_team;
    uint64_t scope;

    msp_thread_leave();
    *refused_p = false;
    if (!known || (size_bytes - 1 >= MSP_MEDIUM_MAX_BYTES)) {
        return NULL;
    }
    scope = msp_allocator_scope(by_team);
    heap  = find_scoped(handle);
    if ((heap != NULL) && (heap->account->scope == scope)) {
        address = (size_bytes > MSP_SMALL_MAX_BYTES)
                      ? msp_heap_take_middle(heap, size_bytes, &pool)
                      : give_next(heap, size_bytes, refused_p, &pool);
    }
    msp_thread_leave();
    if (MSP_UNLIKELY(pool != NULL)) {
        msp_decay_look(pool);
    }
    return address;
}

bool msp_heap_is_cleared_by_host(uintptr_t handle)
{
    const struct msp_heap *heap;
    bool cleared;

    heap    = msp_thread_enter_fast()->slots[msp_heap_slot(handle)];
    cleared = (atomic_load_explicit(&heap->handle, memory_order_relaxed) == handle) &&
              heap->is_host_memory;
    msp_thread_leave();
    return cleared;
}

void *msp_heap_alloc_object(const struct msp_request *request, bool *zeroed_p)
{
    const uint8_t *table  = msp_class_table(request->align_bytes);
    unsigned c            = table[(request->size_bytes + 15) >> MSP_CLASS_STEP_SHIFT];
    struct msp_slab *slab = NULL;
    struct msp_slab *surplus;
    struct msp_thread *t;
    struct msp_heap *heap;
    void *address;

    for (;;) {
        heap = msp_heap_enter(request->owner.account, &t);
        if (heap == NULL) {
            if (slab != NULL) {
                disown(request->owner.account, slab);
            }
            return NULL;
        }
        if (slab != NULL) {
            adopt(heap, slab);
            slab = NULL;
        }
        if (fill_current(heap, c)) {
            address = give_object(heap->current[c], request->size_bytes, request->owner.fallback,
                                  zeroed_p);
            surplus = (heap->empty_slabs > EMPTY_SLABS_MOST) ? take_surplus(heap, c) : NULL;
            msp_thread_leave();
            give_back_all(surplus);
            return address;
        }
        msp_thread_leave();
        slab = find_slab(request->owner.account, request->provider->pool, c);
        if (slab == NULL) {
            return NULL;
        }
    }
}

/* ---- freeing ---- */

/* The owner has freed an object and the handed count is at the edge. A slab to give back, or NULL.
 */
static struct msp_slab *pass_edge(struct msp_heap *heap, struct msp_slab *slab)
{
    if (msp_slab_state(slab) == MSP_SLAB_FULL) {
        clear_full(heap, slab);
        return NULL;
    }
    if (heap->empty_slabs < EMPTY_SLABS_KEPT) {
        heap->empty_slabs++;
        return NULL;
    }
    msp_heap_list_remove(&heap->partial[slab->class_index], slab);
    return slab;
}

/* In a section of the owner's. */
static struct msp_slab *free_own(struct msp_slab *slab, size_t i, bool keep_charge)
{
    struct msp_heap *heap = atomic_load_explicit(&slab->heap, memory_order_relaxed);

    msp_heap_note_least(heap);
    heap->credit += keep_charge ? 0 : (int64_t)(slab->objects[i] & MSP_OBJECT_VALUE);
    heap->freed_count++;
    slab->objects[i] = (uint16_t)msp_slab_first_freed(slab);
    msp_slab_set_freed(slab, msp_slab_handed(slab) - 1, (unsigned)i);
    msp_heap_return_credit(heap);
    return (msp_slab_handed(slab) == slab->edge) ? pass_edge(heap, slab) : NULL;
}

static void announce(struct msp_slab *slab)
{
    struct msp_heap *heap;
    struct msp_slab *first;

    if ((atomic_load_explicit(&slab->thread, memory_order_seq_cst) == NULL) ||
        atomic_exchange_explicit(&slab->announced, true, memory_order_seq_cst)) {
        return;
    }
    heap  = atomic_load_explicit(&slab->heap, memory_order_relaxed); /* set before the thread */
    first = atomic_load_explicit(&heap->announced, memory_order_relaxed);
    do {
        atomic_store_explicit(&slab->next_announced, first, memory_order_relaxed);
    } while (!atomic_compare_exchange_weak_explicit(&heap->announced, &first, slab,
                                                    memory_order_release, memory_order_relaxed));
}

/* In a section of the freeing thread's, so that a thread that stops all finds no push half done. */
static void free_of_another(struct msp_slab *slab, struct msp_account *account, size_t i,
                            bool keep_charge)
{
    uint64_t charge = keep_charge ? 0 : slab->objects[i] & MSP_OBJECT_VALUE;

    /* First: another thread may collect the pushed object, and the account may be another's then.
     */
    if (msp_account_is_limited(account)) {
        msp_account_uncharge(account, charge);
    }
    if ((msp_slab_push_remote(slab, (unsigned)i, charge) & MSP_REMOTE_FULL) != 0) {
        announce(slab);
    }
}

bool msp_heap_free_object(struct msp_slab *slab, void *pointer, bool keep_charge)
{
    struct msp_thread *t   = msp_thread_get();
    struct msp_slab *empty = NULL;
    bool own               = false;
    bool live              = false;
    bool start;
    size_t i = msp_slab_index(slab, pointer, &start);
    struct msp_account *account;

    if (!start) {
        return false;
    }
    if (t != NULL) {
        msp_thread_enter(t);
        own = (atomic_load_explicit(&slab->thread, memory_order_relaxed) == t);
    }
    account = atomic_load_explicit(&slab->account, memory_order_relaxed);
    live    = (slab->objects[i] & MSP_OBJECT_LIVE) != 0;
    if (live && own) {
        empty = free_own(slab, i, keep_charge);
    } else if (live) {
        free_of_another(slab, account, i, keep_charge);
    }
    if (t != NULL) {
        msp_thread_leave();
    }
    if (empty != NULL) {
        give_back(empty);
    }
    if (live && !own && (atomic_load_explicit(&slab->thread, memory_order_seq_cst) == NULL)) {
        reap(slab, account);
    }
    return live;
}
