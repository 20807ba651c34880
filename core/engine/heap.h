/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_ENGINE_HEAP_H
#define MEMSPAN_CORE_ENGINE_HEAP_H

/* A heap is one thread's part of one account: a current slab for each class of small sizes, lists
 * of its other slabs, medium blocks that were freed and may be wanted again, the credit that is
 * charged already, and counters of its blocks. Objects have none: what they take is charged by
 * their slab (slab.h), and a query counts them and their bytes in the slabs. It is changed in its
 * thread's sections alone (or while all are stopped), so that allocating and freeing take no lock
 * and no atomic read-modify-write.
 *
 * Medium blocks that a thread frees and allocates again and again have an entry each, by the size
 * requested: the block stays in it while it is in use, and is found there by its address when it is
 * freed. Charges and counts are those of any block.
 *
 * The inline functions here are the hot paths. They decide nothing: any case that is not plain
 * (no free object, another thread's object, a pointer that is no object, a watched thread) leaves
 * them with nothing changed, and the slow paths start anew. */

#include "core/engine/account.h"
#include "core/engine/pointer_map.h"
#include "core/engine/slab.h"
#include "core/engine/thread.h"

enum {
    MSP_HEAP_BINS          = 288,
    MSP_HEAP_WORDS         = (MSP_HEAP_BINS + 63) / 64,
    MSP_MEDIUM_MAX_BYTES   = 1 << 20, /* of a block that a heap keeps */
    MSP_HEAP_TURNS         = 8,       /* slow paths between two looks at the clock */
    MSP_HEAP_SWAPS         = 32,      /* the same of lists that change places, at most */
    MSP_RECENT_SHIFT       = 29,
    MSP_RECENT_COUNT       = 1 << (32 - MSP_RECENT_SHIFT),
    MSP_RECENT_BLOCK_SHIFT = 13, /* larger blocks have entries: */
};
_Static_assert((1 << MSP_RECENT_BLOCK_SHIFT) == MSP_SMALL_MAX_BYTES, "blocks above small sizes");

/* Credit of those without a limit: never used up, never too much. */
#define MSP_CREDIT_UNLIMITED (INT64_C(1) << 62)

/* A block and the entry belong together while the record's number is the entry's: whatever takes
 * the block elsewhere, or changes its size, clears it (msp_record_leave()). */
struct msp_recent {
    size_t free_bytes;         /* size_bytes while the block waits here; 0: in use */
    void *address;             /* of the block */
    struct msp_record *record; /* NULL: the entry has no block */
    size_t size_bytes;         /* requested */
    struct msp_heap *heap;
    uint32_t number; /* never 0 */
    uint32_t bytes;  /* of the block */
    uint32_t round;  /* of the decay that saw it first since it was freed, if */
    bool seen;
    uint8_t misses; /* other blocks of its place that were freed */
} __attribute__((aligned(MSP_CACHE_LINE_BYTES)));

/* Freed medium blocks, all of one pool, by bin of the fit, linked by kept_after. */
struct msp_heap_cache {
    struct msp_pool *pool;               /* NULL: nothing is kept */
    const struct msp_provider *provider; /* of that pool */
    const struct msp_fit *fit;           /* of that pool */
    uint64_t filled[MSP_HEAP_WORDS];
    struct msp_record *first[MSP_HEAP_BINS];
    size_t bytes;
    size_t recent_bytes; /* of the blocks that have entries, in use or not */
    size_t lent_bytes;   /* of the limit of all caches: no more than that is kept */
    unsigned count;
    unsigned turns;
};

struct msp_heap {
    struct msp_slab *direct[MSP_SMALL_STEPS];      /* by size: the current slab of its class */
    struct msp_slab *current[MSP_CLASS_COUNT + 1]; /* by class; neither is ever NULL */
    const uint8_t *class_of;                       /* by size, for the allocator's alignment */
    _Atomic uintptr_t handle; /* the allocator's; UINTPTR_MAX: no fast path leads here */
    size_t medium_max_bytes;  /* of a block that the fast path of medium sizes may give */

    /* granted is what the account was charged for this heap: credit, objects_charge, and what its
     * blocks take. Counts are of blocks alone. */
    int64_t granted;
    int64_t credit;         /* charged and not used */
    int64_t credit_least;   /* since it was last published, as far as it has grown since */
    int64_t count_then;     /* live blocks when credit was least */
    int64_t credit_most;    /* credit above it goes back to the account */
    int64_t objects_charge; /* of all its slabs */
    int64_t offered_count;  /* objects that have been in a list to allocate from */
    int64_t allocated_count;
    int64_t freed_count;

    struct msp_account *account;
    struct msp_thread *thread;
    struct msp_slab *partial[MSP_CLASS_COUNT];
    struct msp_slab *full[MSP_CLASS_COUNT];
    bool ends_with_null;      /* a refusal is final: a limit for all threads, and no fallback */
    uint32_t used_classes;    /* a bit for each that has had a slab */
    struct msp_record *grown; /* the block that grew last, and where it was; or NULL */
    const void *grown_at;
    unsigned empty_slabs; /* among the partial ones */
    unsigned turns;
    bool is_host_memory;
    bool is_loose;           /* some slab of a limited account is charged for more than it has */
    bool by_team;            /* else by contention group: */
    uintptr_t scoped_handle; /* of an allocator whose pools are teams' or groups'; else 0 */
    int64_t published_bytes;
    int64_t published_count;
    int64_t published_allocated;
    int64_t published_waiting;
    struct msp_pool *pool; /* where the published waiting bytes are counted */
    uint64_t failed_count; /* not published yet */
    struct msp_heap *next; /* of the thread; also links unused records */
    struct msp_heap *previous;
    struct msp_heap *next_hashed; /* in the thread's heap_of */
    struct msp_heap *next_of_account;
    struct msp_heap *previous_of_account;
    struct msp_slab none; /* stands where there is no current slab */

    /* These stay when the record is used again. */
    _Atomic(struct msp_slab *) announced; /* slabs in which others have freed, and were full */
    struct msp_heap_cache *cache;         /* NULL until the first block is freed */
    struct msp_recent recent[MSP_RECENT_COUNT];
};

/* ---- hot ---- */

/* Before credit grows: the earlier value may be the least since it was last published. */
static inline void msp_heap_note_least(struct msp_heap *heap)
{
    if (heap->credit < heap->credit_least) {
        heap->credit_least = heap->credit;
        heap->count_then   = heap->allocated_count - heap->freed_count;
    }
}

static inline unsigned msp_heap_slot(uintptr_t handle)
{
    return (unsigned)handle & (MSP_THREAD_SLOTS - 1);
}

/* In a section: the thread's heap of that handle, if it is in its slot; else NULL. */
static inline struct msp_heap *msp_heap_at(const struct msp_thread *t, uintptr_t handle)
{
    unsigned slot = msp_heap_slot(handle);

    if (MSP_UNLIKELY(t->handles[slot] != handle)) {
        return NULL;
    }
    MSP_ASSUME(t->slots[slot] != NULL);
    return t->slots[slot];
}

/* The list of free objects is empty. True: that of freed ones stands in its place, charged already,
 * and its first object is the caller's. Now and then the slow path is taken for it, which looks at
 * the clock. */
static inline bool msp_heap_swap(struct msp_heap *heap, struct msp_slab *slab)
{
    slab->free_left = 0;
    if ((slab->first_freed == MSP_OBJECT_NONE) || (slab->charge < slab->charge_full) ||
        (heap->turns % MSP_HEAP_SWAPS == MSP_HEAP_SWAPS - 1)) {
        return false;
    }
    heap->turns++;
    msp_slab_swap(slab);
    heap->offered_count += slab->free_left--;
    return true;
}

/* In a section: whether nothing can come of a request, for which the heap has nothing charged: its
 * allocator's pool_size is used up, no credit is lent, and its fallback is NULL. Counted then. */
static inline bool msp_heap_refuses(struct msp_heap *heap, size_t size_bytes, uint64_t *charged_p)
{
    const struct msp_account *account = heap->account;

    if (MSP_LIKELY(!heap->ends_with_null) || (size_bytes - 1 >= SIZE_MAX / 2) ||
        atomic_load_explicit(&account->lending, memory_order_seq_cst)) {
        return false;
    }
    *charged_p = atomic_load_explicit(&account->charged_bytes, memory_order_seq_cst);
    if (size_bytes + MSP_CHARGE_OVERHEAD_BYTES <=
        account->limit_bytes - *charged_p + (uint64_t)heap->credit) {
        return false;
    }
    heap->failed_count++;
    return true;
}

/* What a request was refused for; limit_bytes 0: it was not. */
struct msp_refusal {
    uint64_t limit_bytes;
    uint64_t charged_bytes;
};

/* The same at the end of a fast path. */
static inline void msp_heap_say_refused(struct msp_heap *heap, size_t size_bytes,
                                        struct msp_refusal *refusal)
{
    if ((refusal != NULL) && msp_heap_refuses(heap, size_bytes, &refusal->charged_bytes)) {
        refusal->limit_bytes = heap->account->limit_bytes;
    }
}

/* The entry for blocks of that size. */
static inline struct msp_recent *msp_heap_recent(struct msp_heap *heap, size_t size_bytes)
{
    return &heap->recent[(uint32_t)size_bytes * UINT32_C(0x9e3779b1) >> MSP_RECENT_SHIFT];
}

/* A block of @p size_bytes, more than MSP_SMALL_MAX_BYTES, that waits in its entry; NULL: take the
 * slow path. */
static inline __attribute__((always_inline)) void *
msp_heap_alloc_recent(uintptr_t handle, size_t size_bytes, struct msp_refusal *refusal)
{
    int64_t bytes         = (int64_t)(size_bytes + MSP_CHARGE_OVERHEAD_BYTES);
    struct msp_heap *heap = msp_heap_at(msp_thread_enter_fast(), handle);
    struct msp_recent *recent;

    if (MSP_UNLIKELY(heap == NULL)) {
        goto out_leave;
    }
    recent = msp_heap_recent(heap, size_bytes);
    if (MSP_UNLIKELY(recent->free_bytes != size_bytes) || MSP_UNLIKELY(heap->credit < bytes) ||
        MSP_UNLIKELY(++heap->turns % MSP_HEAP_SWAPS == 0)) {
        msp_heap_say_refused(heap, size_bytes, refusal);
        goto out_leave;
    }
    heap->credit -= bytes;
    heap->allocated_count++;
    recent->free_bytes = 0;
    atomic_store_explicit(&recent->record->use, MSP_USE_BLOCK, memory_order_relaxed);
    msp_thread_leave();
    MSP_ASSUME(recent->address != NULL);
    return recent->address;

out_leave:
    msp_thread_leave();
    return NULL;
}

/* An object, or a block that waits in its entry, of @p size_bytes on a boundary of at most
 * MSP_SMALL_ALIGN_MAX, a power of two, from the allocator of @p handle. NULL: take the slow path,
 * unless, where the caller handles that, it is refused. */
static inline __attribute__((always_inline)) void *msp_heap_alloc_fast(uintptr_t handle,
                                                                       size_t align_bytes,
                                                                       size_t size_bytes,
                                                                       struct msp_refusal *refusal)
{
    size_t step;
    struct msp_heap *heap;
    struct msp_slab *slab;
    void *address;
    uint32_t i;

    if (MSP_UNLIKELY(size_bytes > MSP_SMALL_MAX_BYTES)) {
        return (align_bytes > MSP_UNIT_BYTES) ? NULL
                                              : msp_heap_alloc_recent(handle, size_bytes, refusal);
    }
    heap = msp_heap_at(msp_thread_enter_fast(), handle);
    if (MSP_UNLIKELY(heap == NULL)) {
        goto out_leave;
    }
    step = (size_bytes + 15) >> MSP_CLASS_STEP_SHIFT;
    slab = heap->direct[step];
    if (align_bytes > 16) { /* tables stand in order of alignment */
        const uint8_t *asked = msp_class_table(align_bytes);

        slab = (asked > heap->class_of) ? heap->current[asked[step]] : slab;
    }
    if (MSP_UNLIKELY(--slab->free_left < 0) && !msp_heap_swap(heap, slab)) {
        msp_heap_say_refused(heap, size_bytes, refusal);
        goto out_leave;
    }
    i                       = slab->first_free;
    slab->first_free        = *msp_slab_word(slab, i);
    *msp_slab_word(slab, i) = (uint16_t)size_bytes;
    msp_thread_leave();
    address = msp_slab_object(slab, i);
    MSP_ASSUME(address != NULL); /* the caller's test costs nothing */
    return address;

out_leave:
    msp_thread_leave();
    return NULL;
}

/* In a section: free an object of a slab of the calling thread's. False: take the slow path. */
static inline __attribute__((always_inline)) bool msp_heap_free_in(struct msp_slab *slab,
                                                                   const void *pointer)
{
    bool start;
    size_t i = msp_slab_index(slab, pointer, &start);

    if (MSP_UNLIKELY(!start) || MSP_UNLIKELY(!msp_slab_is_live(slab, i))) {
        return false;
    }
    if (MSP_UNLIKELY(--slab->left == 0)) {
        slab->left = 1;
        return false;
    }
    *msp_slab_word(slab, i) = (uint16_t)slab->first_freed;
    slab->first_freed       = (uint32_t)i;
    return true;
}

/* Where a thread looks for the entry of a block: no two blocks are nearer than that. */
static inline unsigned msp_recent_place(const void *pointer)
{
    return (unsigned)((uintptr_t)pointer >> MSP_RECENT_BLOCK_SHIFT) & (MSP_THREAD_BLOCKS - 1);
}

/* In a section: free a block that has an entry. False: take the slow path. */
static inline __attribute__((always_inline)) bool msp_heap_free_recent(const struct msp_thread *t,
                                                                       const void *pointer)
{
    unsigned place = msp_recent_place(pointer);
    struct msp_recent *recent;
    struct msp_record *r;
    struct msp_heap *heap;
    int64_t credit;

    /* Most objects of other threads are told apart without a look at the table. */
    if ((((uintptr_t)pointer & (MSP_UNIT_BYTES - 1)) != 0) ||
        (t->blocks[place] != (uintptr_t)pointer)) {
        return false;
    }
    recent = t->recents[place];
    r      = recent->record;
    heap   = recent->heap;
    credit = heap->credit + (int64_t)(recent->size_bytes + MSP_CHARGE_OVERHEAD_BYTES);
    if (MSP_UNLIKELY(recent->free_bytes != 0) ||
        MSP_UNLIKELY(atomic_load_explicit(&r->recent, memory_order_relaxed) != recent->number) ||
        MSP_UNLIKELY(credit > heap->credit_most)) {
        return false;
    }
    msp_heap_note_least(heap);
    heap->credit = credit;
    heap->freed_count++;
    recent->free_bytes = recent->size_bytes;
    recent->seen       = false;
    atomic_store_explicit(&r->use, MSP_USE_CACHED, memory_order_relaxed);
    return true;
}

/* Free an object of a slab that the calling thread has used before, or a block that has an entry of
 * its own. False: it may be another's, or take the slow path. */
static inline __attribute__((always_inline)) bool msp_heap_free_fast(const void *pointer)
{
    uintptr_t granule          = (uintptr_t)pointer >> MSP_GRANULE_SHIFT;
    unsigned place             = (unsigned)granule & (MSP_THREAD_GRANULES - 1);
    const struct msp_thread *t = msp_thread_enter_fast();
    bool done                  = MSP_LIKELY(t->granules[place] == granule)
                                     ? msp_heap_free_in(t->slabs[place], pointer)
                                     : msp_heap_free_recent(t, pointer);

    msp_thread_leave();
    return done;
}

/* The same where the thread may not have used its slab yet; @p entry: the object's in the pointer
 * map. */
bool msp_heap_free_at(uintptr_t entry, const void *pointer);

/* ---- slow: of the calling thread ---- */

/* Charge @p bytes and count @p blocks allocated: to the calling thread's heap for the account, made
 * on first use, or straight to the account when the thread can have none. False: over the limit, or
 * the account is closed; nothing is charged. */
bool msp_heap_debit(struct msp_account *account, uint64_t bytes, int blocks);

/* Take a charge back: of @p freed blocks that were given back, of @p undone that never came to be.
 */
void msp_heap_credit(struct msp_account *account, uint64_t bytes, int freed, int undone);

/* An object of at most MSP_SMALL_MAX_BYTES on a boundary of at most MSP_SMALL_ALIGN_MAX, charged
 * here; of its charge @p paid_bytes, all or nothing, are charged already. NULL with an error
 * recorded, or without when the thread can have no heap; if *refused_p, without one, because of
 * the limit. */
void *msp_heap_alloc_object(const struct msp_request *request, uint64_t paid_bytes,
                            bool *refused_p);

/* Free an object of any thread, and, unless @p keep_charge, take its charge back: else the caller
 * has it. False when no live object starts there. */
bool msp_heap_free_object(struct msp_slab *slab, void *pointer, bool keep_charge);

/* The same for an entry of the pointer map; false when that is no slab. */
static inline bool msp_heap_free_other(uintptr_t entry, void *pointer)
{
    return ((entry & MSP_ENTRY_SLAB) != 0) &&
           msp_heap_free_object(msp_entry_record(entry), pointer, false);
}

/* Another size for a live object, in its place and charged here. False: nothing has changed. */
bool msp_heap_resize_object(struct msp_slab *slab, const void *address, size_t size_bytes);

/* An object of the calling thread's heap when its current slab has none, but another has. NULL:
 * take the slow path; but if *refused_p, nothing can come of it (as msp_heap_refuses()). */
void *msp_heap_alloc_next(uintptr_t handle, size_t size_bytes, bool *refused_p);

/* The same for an allocator whose pools are teams' or groups'. */
void *msp_heap_alloc_scoped(uintptr_t handle, size_t size_bytes, bool *refused_p);

/* Whether the fast paths' memory for @p handle is ordinary memory, which the host may clear. */
bool msp_heap_is_cleared_by_host(uintptr_t handle);

/* Handle 0 means, for every thread and until msp_heap_forget_null(), the allocator of @p handle:
 * the calling thread's fast paths know it from now on. */
void msp_heap_set_null(uintptr_t handle);
void msp_heap_forget_null(void);

/* The fast paths of medium blocks, in one section each: a block that was freed before, from
 * the allocator of @p handle; and keeping one that is freed. NULL and false: take the slow path. */
void *msp_heap_alloc_middle(uintptr_t handle, size_t align_bytes, size_t size_bytes);
bool msp_heap_free_middle(uintptr_t entry, void *pointer); /* the entry of the pointer map */

/* The fast path of a block that grows: of the allocator of @p handle, or any for 0, when the heap
 * that was used last is the block's and the block has space. False: take the slow path. */
bool msp_heap_grow_middle(const void *pointer, uintptr_t handle, size_t size_bytes);

/* A block that was freed before and does for the request; NULL when there is none. */
struct msp_record *msp_heap_alloc_cached(struct msp_pool *pool, const struct msp_request *request);

/* Keep a block that its owner frees. False: not worth it, and nothing has changed. */
bool msp_heap_keep(struct msp_account *account, struct msp_record *record);

/* ---- rare: of all threads ---- */

/* Hand on a thread's heaps; it never uses a heap again. The threads are held or stopped. */
void msp_heap_retire_all(struct msp_thread *thread);

/* In a section: whether more might be had after a recall. */
bool msp_heap_can_recall(const struct msp_account *account, const struct msp_heap *heap);

/* Call the credit of an account's heaps back, that of their slabs included. */
void msp_heap_recall(struct msp_account *account);

/* Take all heaps of an account away from their threads; slabs with live objects are orphaned. True
 * if there were any. */
bool msp_heap_close(struct msp_account *account);

/* Publish the counters of all heaps. */
void msp_heap_publish_all(void);

/* Give slabs and blocks that no heap needs back to the pools. */
void msp_heap_reclaim(void);

/* A walk through the heaps of all threads that gives memory beyond its age back to the pools. */
enum msp_sweep_force {
    MSP_SWEEP_OLD = 0, /* slabs that are old enough */
    MSP_SWEEP_SLABS,   /* slabs with free objects too, but for those that serve now */
    MSP_SWEEP_ALL      /* all slabs */
};
struct msp_sweep {
    uint32_t round; /* of the decay */
    enum msp_sweep_force force;
    bool done;
    bool walked;           /* all threads; then come the slabs of those that have ended */
    size_t purged_bytes;   /* pages given back to the system */
    size_t allocator;      /* whose are looked at next */
    struct msp_heap *heap; /* where it goes on; NULL: at the first */
    unsigned class_index;
    struct msp_slab *slab; /* the last that was looked at; NULL: none of that class */
    int looks;             /* how many more until the threads must go on */
};

/* A slice of it, during which the threads are stopped: some tenths of a millisecond. True: the walk
 * is done. */
bool msp_heap_sweep(struct msp_sweep *sweep);

/* The broken invariant of a heap's entries; NULL: none. While its thread is stopped. */
const char *msp_heap_check_entries(const struct msp_heap *heap);

/* Walk the invariants of all heaps. */
memspan_status_t msp_heap_check(void);

/* ---- shared by heap*.c ---- */

/* Take a heap out of its thread's list, slots and look-up; or out of the slots alone, without a
 * handle any more. By the thread while no thread stops it, or while it is stopped. */
void msp_heap_leave_thread(struct msp_heap *heap);
void msp_heap_hide(struct msp_heap *heap);

/* In a section of its thread's: it is found by that handle. */
void msp_heap_show(struct msp_heap *heap, uintptr_t handle);

/* The heap of an account among a thread's; it comes to the front of its list. In a section. */
struct msp_heap *msp_heap_find(struct msp_thread *thread, const struct msp_account *account);

/* Enter a section and find, or make, the calling thread's heap. NULL: none can be had, and not in a
 * section. */
struct msp_heap *msp_heap_enter(struct msp_account *account, struct msp_thread **thread_p);

/* In a section: a block of medium size that the heap keeps, of its allocator's pool; now and then
 * *pool_p is a pool to search afterwards for blocks that have waited too long. NULL: take the slow
 * path. */
void *msp_heap_take_middle(struct msp_heap *heap, size_t size_bytes, struct msp_pool **pool_p);

/* In a section: use credit for so many blocks; have the account charged until the credit, which is
 * less, does for so many bytes, or false; give credit beyond the heap's limit back to the account.
 */
static inline void msp_heap_spend(struct msp_heap *heap, uint64_t bytes, int blocks)
{
    heap->credit -= (int64_t)bytes;
    heap->allocated_count += blocks;
}
bool msp_heap_borrow(struct msp_heap *heap, uint64_t bytes);
void msp_heap_return_credit(struct msp_heap *heap);

/* In a section: borrow what the account lends for a slab's next objects. */
void msp_heap_borrow_ahead(struct msp_heap *heap);

/* In a section: so much more of the credit, or less, is a slab's. */
static inline void msp_heap_charge_slab(struct msp_heap *heap, struct msp_slab *slab, int64_t bytes)
{
    if (bytes < 0) {
        msp_heap_note_least(heap);
    }
    heap->credit -= bytes;
    heap->objects_charge += bytes;
    slab->charge += bytes;
}

/* The slab's charge becomes exact; the rest is credit. By the heap's thread, or while it is
 * stopped.
 */
void msp_heap_tighten(struct msp_heap *heap, struct msp_slab *slab);

/* The same for all slabs of a heap. */
void msp_heap_tighten_all(struct msp_heap *heap);

/* The charge of a slab that leaves the heap without live objects is credit. */
void msp_heap_drop(struct msp_heap *heap, struct msp_slab *slab);

/* In a section: a slab without objects in its list gets some, each charged as if it were used in
 * full; near the limit one, charged as requested. False: it has some, but not the credit. */
bool msp_heap_offer(struct msp_heap *heap, struct msp_slab *slab, uint64_t bytes);

/* Make a slab the current one of its class; or, that of a class becomes none. */
void msp_heap_set_current(struct msp_heap *heap, unsigned class_index, struct msp_slab *slab);
static inline void msp_heap_unset_current(struct msp_heap *heap, unsigned class_index)
{
    msp_heap_set_current(heap, class_index, &heap->none);
}

/* Nothing of it is live. */
bool msp_heap_is_empty(const struct msp_heap *heap);

/* Take a slab's remote list, counted and credited. By the heap's thread, or while it is stopped. */
unsigned msp_heap_collect(struct msp_heap *heap, struct msp_slab *slab);
void msp_heap_collect_all(struct msp_heap *heap);

/* In a section, of a heap without live blocks whose account is as new: the credit that it begins
 * with. */
void msp_heap_lend_first(struct msp_heap *heap);

/* In a section, of a heap without live blocks that no other thread has a part of: whether its
 * account has no counts but those that the heap has published; then both counters are added, and
 * begin anew. */
struct msp_retired;
bool msp_heap_has_published_all(const struct msp_heap *heap);
void msp_heap_end_counts(struct msp_heap *heap, struct msp_retired *past);

/* A slab without an owner joins the account's orphans; take what others have freed in one. Accounts
 * are locked. */
void msp_heap_add_orphan(struct msp_account *account, struct msp_slab *slab);
void msp_heap_collect_orphan(struct msp_account *account, struct msp_slab *slab);

/* The record of a heap that is in no list can be used again. */
void msp_heap_put_record(struct msp_heap *heap);

/* A slab from among the full ones has space again. */
void msp_heap_become_partial(struct msp_heap *heap, struct msp_slab *slab);
void msp_heap_list_add(struct msp_slab **list, struct msp_slab *slab);
void msp_heap_list_remove(struct msp_slab **list, struct msp_slab *slab);
/* Slabs whose last object was freed by another thread are announced here; look at them. */
void msp_heap_drain(struct msp_heap *heap);

/* Cached blocks that are too old in that round of the decay go back to the pool. */
void msp_heap_decay(struct msp_heap *heap, uint32_t round);

/* The bytes of all cached blocks. */
size_t msp_heap_cached_bytes(const struct msp_heap *heap);

/* All cached blocks go back to the pool; the pool, for settling, or NULL. */
struct msp_pool *msp_heap_flush(struct msp_heap *heap);

#endif /* MEMSPAN_CORE_ENGINE_HEAP_H */
