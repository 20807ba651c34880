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
};

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
        msp_heap_charge_slab(heap, slab, -(int64_t)charge);
        if (msp_account_is_limited(heap->account)) { /* the freeing thread has taken it back */
            heap->granted -= (int64_t)charge;
            heap->credit -= (int64_t)charge;
            heap->credit_least -= (int64_t)charge;
        }
    }
    return count;
}

void msp_heap_become_partial(struct msp_heap *heap, struct msp_slab *slab)
{
    msp_heap_list_remove(&heap->full[slab->class_index], slab);
    msp_heap_list_add(&heap->partial[slab->class_index], slab);
    msp_slab_set_state(slab, MSP_SLAB_PARTIAL);
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
        } else if (slab->first_freed != MSP_OBJECT_NONE) {
            clear_full(heap, slab);
        }
    }
}

void msp_heap_set_current(struct msp_heap *heap, unsigned c, struct msp_slab *slab)
{
    size_t step = msp_classes[c].size_bytes >> MSP_CLASS_STEP_SHIFT;

    heap->current[c] = slab;
    heap->used_classes |= UINT32_C(1) << c;
    for (; heap->class_of[step] == c; step--) { /* no bytes have another class */
        heap->direct[step] = slab;
    }
}

static void make_current(struct msp_heap *heap, struct msp_slab *slab)
{
    msp_slab_set_state(slab, MSP_SLAB_CURRENT);
    msp_heap_set_current(heap, slab->class_index, slab);
}

/* The current slab has nothing left: put it among the full ones and take one with free objects.
 * False: there is none. */
static bool next_slab(struct msp_heap *heap, unsigned c)
{
    struct msp_slab *slab = heap->current[c];

    if (!msp_slab_is_none(slab)) {
        if (!msp_slab_set_full(slab)) {
            msp_heap_collect(heap, slab);
            return true;
        }
        msp_slab_set_state(slab, MSP_SLAB_FULL);
        msp_heap_list_add(&heap->full[c], slab);
        msp_heap_unset_current(heap, c);
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

enum offered { OFFERED, NO_OBJECTS, NO_CREDIT };

/* Makes sure that the current slab has a free object in its list, wherever the heap may have some.
 * Where a thread has few objects of each size, every other allocation comes here. */
static enum offered fill_current(struct msp_heap *heap, unsigned c, uint64_t bytes)
{
    for (;;) {
        struct msp_slab *slab = heap->current[c];

        if (slab->free_left > 0) {
            return OFFERED;
        }
        if ((slab->first_freed != MSP_OBJECT_NONE) || (slab->made < slab->capacity)) {
            return msp_heap_offer(heap, slab, bytes) ? OFFERED : NO_CREDIT;
        }
        if ((msp_heap_collect(heap, slab) == 0) && !next_slab(heap, c)) {
            return NO_OBJECTS;
        }
    }
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

/* An orphaned slab becomes the heap's. Its live objects are charged, exactly, and counted already,
 * by its last owner. */
static void adopt(struct msp_heap *heap, struct msp_slab *slab)
{
    int64_t count = msp_slab_handed(slab);

    atomic_store_explicit(&slab->heap, heap, memory_order_relaxed);
    atomic_store_explicit(&slab->thread, heap->thread, memory_order_seq_cst);
    heap->granted += slab->charge;
    heap->objects_charge += slab->charge;
    heap->published_count += count;
    heap->published_bytes += slab->charge - count * (int64_t)MSP_CHARGE_OVERHEAD_BYTES;
    if (msp_slab_is_none(heap->current[slab->class_index])) {
        make_current(heap, slab);
    } else {
        msp_slab_set_state(slab, MSP_SLAB_PARTIAL);
        msp_heap_list_add(&heap->partial[slab->class_index], slab);
        heap->empty_slabs += (count == 0) ? 1 : 0;
    }
}

/* What others have freed in a slab without an owner. Accounts are locked. */
void msp_heap_collect_orphan(struct msp_account *account, struct msp_slab *slab)
{
    uint64_t charge;
    int64_t count = msp_slab_collect(slab, &charge);

    slab->charge -= (int64_t)charge;
    if (count > 0) {
        msp_account_publish(account, count * (int64_t)MSP_CHARGE_OVERHEAD_BYTES - (int64_t)charge,
                            -count, 0, 0);
    }
}

/* No heap owns the slab: the thread that frees handles it. */
static void reap(struct msp_slab *slab, struct msp_account *account)
{
    bool empty = false;

    msp_account_lock();
    if ((atomic_load_explicit(&slab->account, memory_order_relaxed) == account) &&
        (atomic_load_explicit(&slab->thread, memory_order_seq_cst) == NULL) &&
        (msp_slab_state(slab) == MSP_SLAB_ORPHAN)) {
        msp_heap_collect_orphan(account, slab);
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
            msp_heap_drop(heap, slab);
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
static inline void *give_object(struct msp_slab *slab, size_t size_bytes, bool fallback)
{
    unsigned i = slab->first_free;

    slab->free_left--;
    slab->first_free        = *msp_slab_word(slab, i);
    *msp_slab_word(slab, i) = (uint16_t)(size_bytes | (fallback ? MSP_OBJECT_FALLBACK : 0));
    return msp_slab_object(slab, i);
}

/* In a section: an object of a heap that may have to look for one. Now and then *pool_p is a pool
 * to search afterwards for blocks that have waited too long. */
static inline __attribute__((always_inline)) void *
give_next(struct msp_heap *heap, size_t size_bytes, bool *refused_p, struct msp_pool **pool_p)
{
    uint64_t bytes   = size_bytes + MSP_CHARGE_OVERHEAD_BYTES;
    uint64_t charged = 0;
    unsigned c       = heap->class_of[(size_bytes + 15) >> MSP_CLASS_STEP_SHIFT];

    if (heap->current[c]->free_left == 0) { /* else it is charged */
        *refused_p = msp_heap_refuses(heap, size_bytes, &charged);
    }
    if (*refused_p) {
        msp_error_limit(bytes, heap->account->limit_bytes, charged);
        return NULL;
    }
    if (fill_current(heap, c, bytes) != OFFERED) {
        return NULL;
    }
    if (++heap->turns % MSP_HEAP_TURNS == 0) {
        *pool_p = msp_pool_of(heap->current[c]->record);
    }
    return give_object(heap->current[c], size_bytes, false);
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
    heap = msp_heap_at(msp_thread_enter_fast(), handle);
    if (heap != NULL) {
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

    heap    = msp_heap_at(msp_thread_enter_fast(), handle);
    cleared = (heap != NULL) && heap->is_host_memory;
    msp_thread_leave();
    return cleared;
}

/* In a section: an object, of whose charge so much is paid. */
static enum offered try_object(struct msp_heap *heap, const struct msp_request *request, unsigned c,
                               uint64_t paid_bytes, void **address_p)
{
    enum offered offered;

    heap->credit += (int64_t)paid_bytes; /* its own again, in this section */
    offered = fill_current(heap, c, request->size_bytes + MSP_CHARGE_OVERHEAD_BYTES);
    if ((offered == NO_CREDIT) && heap->account->by_thread) {
        msp_heap_collect_all(heap);
        offered = fill_current(heap, c, request->size_bytes + MSP_CHARGE_OVERHEAD_BYTES);
    }
    if (offered == OFFERED) {
        *address_p = give_object(heap->current[c], request->size_bytes, request->owner.fallback);
    } else {
        heap->credit -= (int64_t)paid_bytes;
    }
    return offered;
}

void *msp_heap_alloc_object(const struct msp_request *request, uint64_t paid_bytes, bool *refused_p)
{
    struct msp_account *account = request->owner.account;
    const uint8_t *table        = msp_class_table(request->align_bytes);
    struct msp_slab *slab       = NULL;
    struct msp_slab *surplus;
    unsigned c;
    struct msp_thread *t;
    struct msp_heap *heap;
    enum offered offered;
    bool recall;
    void *address = NULL;

    for (;;) {
        heap = msp_heap_enter(account, &t);
        if (heap == NULL) {
            if (slab != NULL) {
                disown(account, slab);
            }
            return NULL;
        }
        if (slab != NULL) {
            adopt(heap, slab);
            slab = NULL;
        }
        /* The table is there since the thread's first heap is. */
        c       = table[(request->size_bytes + 15) >> MSP_CLASS_STEP_SHIFT];
        offered = try_object(heap, request, c, paid_bytes, &address);
        surplus = (heap->empty_slabs > EMPTY_SLABS_MOST) ? take_surplus(heap, c) : NULL;
        recall  = msp_heap_can_recall(account, heap);
        msp_thread_leave();
        give_back_all(surplus);
        if ((offered == OFFERED) || ((offered == NO_CREDIT) && !recall)) {
            *refused_p = (address == NULL);
            return address;
        }
        if (offered == NO_CREDIT) {
            msp_heap_recall(account);
        } else {
            slab = find_slab(account, request->provider->pool, c);
            if (slab == NULL) {
                return NULL;
            }
        }
    }
}

/* ---- freeing ---- */

/* The owner has freed an object and the handed count is at the edge. A slab to give back, or NULL.
 */
static struct msp_slab *pass_edge(struct msp_heap *heap, struct msp_slab *slab)
{
    int handed = (int)msp_slab_handed(slab);

    switch (msp_slab_state(slab)) {
    case MSP_SLAB_FULL:
        if (handed < slab->capacity - slab->capacity / MSP_SLAB_FREE_SHARE) {
            clear_full(heap, slab);
        }
        return NULL;
    case MSP_SLAB_PARTIAL:
        break;
    default:
        return NULL;
    }
    if (handed > 0) {
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
    int64_t charge        = (int64_t)(msp_slab_word_of(slab, i) & MSP_OBJECT_VALUE) +
                     (int64_t)MSP_CHARGE_OVERHEAD_BYTES;
    struct msp_slab *empty;

    if (slab->tight || keep_charge) {
        msp_heap_charge_slab(heap, slab, -charge);
        heap->credit -= keep_charge ? charge : 0;
    }
    *msp_slab_word(slab, i) = (uint16_t)slab->first_freed;
    slab->first_freed       = (uint32_t)i;
    msp_slab_set_handed(slab, msp_slab_handed(slab) - 1);
    empty = pass_edge(heap, slab);
    if (empty != NULL) {
        msp_heap_drop(heap, empty);
    }
    msp_heap_return_credit(heap);
    return empty;
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

/* The charge of a block is the calling thread's for another one: its heap has it, or the account.
 */
static void take_over_charge(struct msp_account *account, struct msp_thread *t, int64_t charge)
{
    struct msp_heap *heap = (t == NULL) ? NULL : msp_heap_find(t, account);

    if (heap != NULL) {
        heap->granted += charge;
    } else {
        msp_account_publish(account, charge, 0, 0, MSP_NO_PEAK);
    }
}

/* In a section of the freeing thread's, so that a thread that stops all finds no push half done. */
static void free_of_another(struct msp_slab *slab, struct msp_account *account,
                            struct msp_thread *t, size_t i, bool keep_charge)
{
    uint64_t charge = (msp_slab_word_of(slab, i) & MSP_OBJECT_VALUE) + MSP_CHARGE_OVERHEAD_BYTES;

    /* First: another thread may collect the pushed object, and the account may be another's then.
     */
    if (keep_charge) {
        take_over_charge(account, t, (int64_t)charge);
    } else if (msp_account_is_limited(account)) {
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
    live    = msp_slab_is_live(slab, i);
    if (live && own) {
        empty = free_own(slab, i, keep_charge);
    } else if (live) {
        free_of_another(slab, account, t, i, keep_charge);
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

bool msp_heap_free_at(uintptr_t entry, const void *pointer)
{
    uintptr_t granule     = (uintptr_t)pointer >> MSP_GRANULE_SHIFT;
    unsigned place        = (unsigned)granule & (MSP_THREAD_GRANULES - 1);
    struct msp_slab *slab = msp_entry_record(entry);
    struct msp_thread *t;
    bool done = false;

    if (MSP_UNLIKELY((entry & MSP_ENTRY_SLAB) == 0)) {
        return false;
    }
    t = msp_thread_enter_fast();
    if (MSP_LIKELY(atomic_load_explicit(&slab->thread, memory_order_relaxed) == t)) {
        t->granules[place] = granule;
        t->slabs[place]    = slab;
        done               = msp_heap_free_in(slab, pointer);
    }
    msp_thread_leave();
    return done;
}

/* ---- another size ---- */

bool msp_heap_resize_object(struct msp_slab *slab, const void *address, size_t size_bytes)
{
    struct msp_thread *t = msp_thread_get();
    bool start;
    size_t i = msp_slab_index(slab, address, &start);
    unsigned word;
    bool own;
    bool done;
    int64_t more;

    if (t == NULL) {
        return false;
    }
    msp_thread_enter(t);
    own  = (atomic_load_explicit(&slab->thread, memory_order_relaxed) == t);
    word = msp_slab_word_of(slab, i);
    more = (int64_t)size_bytes - (int64_t)(word & MSP_OBJECT_VALUE);
    if (own && slab->tight) {
        struct msp_heap *heap = atomic_load_explicit(&slab->heap, memory_order_relaxed);

        done = (heap->credit >= more) || msp_heap_borrow(heap, (uint64_t)more);
        if (done) {
            msp_heap_charge_slab(heap, slab, more);
            msp_heap_return_credit(heap);
        }
    } else { /* charged as if it were used in full; of another's slab, its owner has to know */
        done = own;
    }
    if (done) {
        *msp_slab_word(slab, i) = (uint16_t)((word & MSP_OBJECT_FALLBACK) | size_bytes);
    }
    msp_thread_leave();
    return done;
}
