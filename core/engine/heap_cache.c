/* SPDX-License-Identifier: BSD-3-Clause */
/* heap_cache.c: medium blocks that were freed and wait for the next request.
 *
 * Cutting and joining blocks is cheap but needs the pool's lock and touches its neighbours'
 * records; a program that frees and allocates similar sizes does neither here. A request is served
 * from its own bin or one that is at most an eighth larger. A block that is freed first gets the
 * entry of its size, where there is none yet (heap.h); others go into their bins.
 *
 * The cached bytes are bounded for the process: a cache keeps no more than it has been lent, in
 * steps, of one sum. It goes back when it has waited for the decay time, by the thread that
 * notices, and before a request fails for lack of memory. */

#include "core/engine/allocator_record.h"
#include "core/engine/decay.h"
#include "core/engine/heap.h"
#include "core/engine/pressure.h"
#include <stdlib.h>

enum {
    MOST_BYTES  = 32 << 20, /* lent in all, and a share of the pools' bytes: */
    HELD_SHARE  = 8,
    STEP_BYTES  = 256 << 10, /* lent at a time */
    MOST_BLOCKS = 512,       /* in a cache */
    BINS_ABOVE  = 8,
    TURNS       = 8, /* fast paths between two looks at the clock */
    MISSES      = 8, /* blocks freed for an entry whose block is in use, until one gets it */
};

static _Atomic int64_t lent_bytes; /* to all caches */

static unsigned bin_of(const struct msp_record *r)
{
    return msp_fit_bin(r->size);
}

static inline struct msp_record *take_first(struct msp_heap_cache *cache, unsigned bin)
{
    struct msp_record *r = cache->first[bin];
    uint64_t last        = (r->kept_after == NULL) ? 1 : 0; /* as often as not: no branch */

    cache->first[bin] = r->kept_after;
    cache->filled[bin / 64] &= ~(last << (bin % 64));
    cache->bytes -= msp_record_bytes(r);
    cache->count--;
    return r;
}

/* The first filled bin of [bin, bin + BINS_ABOVE], or -1. */
static int find_bin(const struct msp_heap_cache *cache, unsigned bin)
{
    unsigned word = bin / 64;
    uint64_t bits = cache->filled[word] >> (bin % 64);

    if ((bin % 64 != 0) && (word + 1 < MSP_HEAP_WORDS)) {
        bits |= cache->filled[word + 1] << (64 - bin % 64);
    }
    bits &= (UINT64_C(2) << BINS_ABOVE) - 1;
    return (bits == 0) ? -1 : (int)bin + __builtin_ctzll(bits);
}

/* A filled bin with blocks for so many bytes, or -1. All in the bin after that of the unit before
 * are large enough, and none below is sure to be. A block that had the same size stands in that
 * very bin: it is looked at first, so that nothing waits for the bits that its freeing has set. */
static inline __attribute__((always_inline)) int find_bin_for(const struct msp_heap_cache *cache,
                                                              size_t size_bytes)
{
    uint32_t units = (uint32_t)((size_bytes + MSP_UNIT_BYTES - 1) >> MSP_UNIT_SHIFT);
    unsigned bin   = msp_fit_bin(units - 1) + 1;

    return MSP_LIKELY(cache->first[bin] != NULL) ? (int)bin : find_bin(cache, bin);
}

/* Takes a block for so many bytes out; NULL when there is none that does. */
static struct msp_record *take_block(struct msp_heap_cache *cache, size_t size_bytes)
{
    int bin = find_bin_for(cache, size_bytes);

    return (bin < 0) ? NULL : take_first(cache, (unsigned)bin);
}

/* In a section: a kept block, charged and counted; NULL when there is none, or it is too much. */
static inline __attribute__((always_inline)) struct msp_record *take_charged(struct msp_heap *heap,
                                                                             size_t size_bytes)
{
    uint64_t bytes            = size_bytes + MSP_CHARGE_OVERHEAD_BYTES;
    struct msp_recent *recent = msp_heap_recent(heap, size_bytes);
    bool waits                = (recent->free_bytes == size_bytes);
    int bin                   = waits ? 0 : find_bin_for(heap->cache, size_bytes);
    struct msp_record *r;

    if ((bin < 0) ||
        (MSP_UNLIKELY(heap->credit < (int64_t)bytes) && !msp_heap_borrow(heap, bytes))) {
        return NULL;
    }
    if (waits) {
        recent->free_bytes = 0;
        r                  = recent->record;
    } else {
        r                  = take_first(heap->cache, (unsigned)bin);
        r->requested_bytes = size_bytes;
        r->fallback        = false;
    }
    atomic_store_explicit(&r->use, MSP_USE_BLOCK, memory_order_relaxed);
    heap->credit -= (int64_t)bytes;
    heap->allocated_count++;
    return r;
}

void *msp_heap_take_middle(struct msp_heap *heap, size_t size_bytes, struct msp_pool **pool_p)
{
    struct msp_heap_cache *cache  = heap->cache;
    const struct msp_allocator *a = heap->account->allocator;
    struct msp_record *r          = NULL;

    if ((cache != NULL) && (size_bytes <= heap->medium_max_bytes) &&
        (cache->provider == atomic_load_explicit(&a->provider, memory_order_acquire))) {
        r = take_charged(heap, size_bytes);
        /* A fast path that was taken often leads here for the clock. */
        *pool_p = ((++cache->turns % TURNS == 0) || (heap->turns % MSP_HEAP_SWAPS == 0))
                      ? cache->pool
                      : NULL;
    }
    return (r == NULL) ? NULL : msp_record_address(r);
}

void *msp_heap_alloc_middle(uintptr_t handle, size_t align_bytes, size_t size_bytes)
{
    struct msp_pool *pool = NULL;
    struct msp_heap *heap;
    void *address;

    if ((size_bytes <= MSP_SMALL_MAX_BYTES) || (align_bytes > MSP_UNIT_BYTES) ||
        !msp_is_power_of_two(align_bytes)) {
        return NULL;
    }
    heap    = msp_heap_at(msp_thread_enter_fast(), handle);
    address = (heap == NULL) ? NULL : msp_heap_take_middle(heap, size_bytes, &pool);
    msp_thread_leave();
    if (MSP_UNLIKELY(pool != NULL)) {
        msp_decay_look(pool);
    }
    return address;
}

struct msp_record *msp_heap_alloc_cached(struct msp_pool *pool, const struct msp_request *request)
{
    struct msp_thread *t = msp_account_had_heaps(request->owner.account) ? msp_thread_get() : NULL;
    struct msp_record *r = NULL;
    struct msp_heap *heap;

    if ((t == NULL) || (request->size_bytes > MSP_MEDIUM_MAX_BYTES) || (request->parts != NULL) ||
        (request->align_bytes > MSP_UNIT_BYTES)) {
        return NULL;
    }
    msp_thread_enter(t);
    heap = msp_heap_find(t, request->owner.account);
    if ((heap != NULL) && (heap->cache != NULL) && (heap->cache->pool == pool)) {
        r = take_block(heap->cache, request->size_bytes);
    }
    if (r != NULL) {
        r->requested_bytes = request->owner.requested_bytes;
        r->account         = request->owner.account;
        r->fallback        = request->owner.fallback;
        r->grown           = request->grows;
        atomic_store_explicit(&r->use, MSP_USE_BLOCK, memory_order_relaxed);
    }
    msp_thread_leave();
    return r;
}

/* Moves the first of a bin to a list. */
static void move_first(struct msp_heap_cache *cache, unsigned bin, struct msp_record **list)
{
    struct msp_record *r = take_first(cache, bin);

    r->kept_after = *list;
    *list         = r;
}

/* Takes the larger half out: one list. */
static struct msp_record *take_half(struct msp_heap_cache *cache)
{
    struct msp_record *list = NULL;
    size_t most             = cache->bytes / 2;
    unsigned bin            = MSP_HEAP_BINS;

    while ((bin-- > 0) && ((cache->bytes > most) || (cache->count > MOST_BLOCKS / 2))) {
        while ((cache->first[bin] != NULL) &&
               ((cache->bytes > most) || (cache->count > MOST_BLOCKS / 2))) {
            move_first(cache, bin, &list);
        }
    }
    return list;
}

/* Lists begin with the newest block, so older ones stand behind it. */
static inline __attribute__((always_inline)) void put(struct msp_heap_cache *cache,
                                                      struct msp_record *r)
{
    unsigned bin = bin_of(r);

    r->zeroed     = false;
    r->kept_since = msp_decay_round();
    r->kept_after = cache->first[bin];
    atomic_store_explicit(&r->use, MSP_USE_CACHED, memory_order_relaxed);
    cache->first[bin] = r;
    cache->filled[bin / 64] |= UINT64_C(1) << (bin % 64);
    cache->bytes += msp_record_bytes(r);
    cache->count++;
}

/* ---- entries ---- */

/* The entry has no block any more. The block, if it waits, is the caller's. */
static void end_entry(struct msp_heap *heap, struct msp_recent *recent)
{
    struct msp_thread *t = heap->thread;
    unsigned place       = msp_recent_place(recent->address);

    if (t->recents[place] == recent) {
        t->blocks[place]  = msp_thread_no_block(place);
        t->recents[place] = NULL;
    }
    heap->cache->recent_bytes -= recent->bytes;
    recent->record     = NULL;
    recent->free_bytes = 0;
}

/* In a section: a block that the heap may keep waits in the entry of its size. False: another one
 * has it. */
static bool enter(struct msp_heap *heap, struct msp_record *r)
{
    size_t size_bytes         = r->requested_bytes;
    struct msp_recent *recent = msp_heap_recent(heap, size_bytes);
    void *address             = msp_record_address(r);
    unsigned place            = msp_recent_place(address);

    if ((recent->free_bytes != 0) || (size_bytes <= MSP_SMALL_MAX_BYTES) ||
        (size_bytes > heap->medium_max_bytes)) {
        return false;
    }
    if (recent->record != NULL) {
        if ((recent->record != r) && (++recent->misses % MISSES != 0)) {
            return false;
        }
        end_entry(heap, recent);
    }
    recent->free_bytes = size_bytes;
    recent->size_bytes = size_bytes;
    recent->address    = address;
    recent->record     = r;
    recent->bytes      = (uint32_t)msp_record_bytes(r);
    recent->seen       = false;
    heap->cache->recent_bytes += recent->bytes;
    heap->thread->blocks[place]  = (uintptr_t)address;
    heap->thread->recents[place] = recent;
    r->zeroed                    = false;
    r->fallback                  = false;
    atomic_store_explicit(&r->recent, recent->number, memory_order_relaxed);
    atomic_store_explicit(&r->use, MSP_USE_CACHED, memory_order_relaxed);
    return true;
}

/* Ends entries: of blocks that have waited since before @p round, and of those in use that were not
 * seen since; or, if @p all, each. Those that waited join the list. */
static void end_entries(struct msp_heap *heap, uint32_t round, bool all, struct msp_record **list)
{
    struct msp_recent *recent;

    for (recent = heap->recent; recent < heap->recent + MSP_RECENT_COUNT; recent++) {
        struct msp_record *r = recent->record;

        if ((r != NULL) && !all && !recent->seen) {
            recent->seen  = true;
            recent->round = round;
        } else if ((r != NULL) && (all || msp_decay_is_over(recent->round, round))) {
            if (recent->free_bytes != 0) {
                msp_record_leave(r);
                r->kept_after = *list;
                *list         = r;
            }
            end_entry(heap, recent);
        }
    }
}

static size_t waiting_bytes(const struct msp_heap *heap)
{
    size_t bytes = 0;
    unsigned i;

    for (i = 0; i < MSP_RECENT_COUNT; i++) {
        bytes += (heap->recent[i].free_bytes != 0) ? heap->recent[i].bytes : 0;
    }
    return bytes;
}

size_t msp_heap_cached_bytes(const struct msp_heap *heap)
{
    return (heap->cache == NULL) ? 0 : heap->cache->bytes + waiting_bytes(heap);
}

static const char *check_entry(const struct msp_recent *recent)
{
    const struct msp_record *r = recent->record;
    bool waits                 = (recent->free_bytes != 0);

    if (waits && (recent->free_bytes != recent->size_bytes)) {
        return "an entry waits for another size than its block's";
    }
    if (!waits && (atomic_load(&r->recent) != recent->number)) {
        return NULL; /* the block has been freed elsewhere, or has another size */
    }
    if ((msp_record_address(r) != recent->address) || (r->requested_bytes != recent->size_bytes) ||
        (msp_record_bytes(r) != recent->bytes) ||
        (atomic_load(&r->use) != (waits ? MSP_USE_CACHED : MSP_USE_BLOCK))) {
        return "an entry's block is not as the entry says";
    }
    return NULL;
}

const char *msp_heap_check_entries(const struct msp_heap *heap)
{
    const struct msp_heap_cache *cache = heap->cache;
    const char *problem                = NULL;
    size_t bytes                       = 0;
    unsigned i;

    for (i = 0; (problem == NULL) && (i < MSP_RECENT_COUNT); i++) {
        if (heap->recent[i].record != NULL) {
            bytes += heap->recent[i].bytes;
            problem = check_entry(&heap->recent[i]);
        }
    }
    if ((problem == NULL) && (cache != NULL) &&
        ((cache->recent_bytes != bytes) || (cache->bytes + bytes > cache->lent_bytes))) {
        problem = "a cache keeps other bytes than it counts";
    }
    return problem;
}

/* Where the fast path leads, it must find no block that was allocated with other traits. */
static bool is_usual(const struct msp_heap *heap, const struct msp_pool *pool)
{
    const struct msp_allocator *a = heap->account->allocator;

    return (atomic_load_explicit(&heap->handle, memory_order_relaxed) == UINTPTR_MAX) ||
           (atomic_load_explicit(&a->provider, memory_order_acquire)->pool == pool);
}

/* The heap's cache, ready for blocks of that pool; NULL: it has none, or is at another's. */
static struct msp_heap_cache *cache_for(struct msp_heap *heap, struct msp_pool *pool)
{
    struct msp_heap_cache *cache = heap->cache;

    if ((cache != NULL) && (cache->pool != pool) && (cache->count == 0) &&
        (waiting_bytes(heap) == 0)) {
        struct msp_record *none = NULL;

        end_entries(heap, 0, true, &none);
        cache->pool     = is_usual(heap, pool) ? pool : NULL;
        cache->provider = is_usual(heap, pool) ? msp_pool_provider(pool) : NULL;
        cache->fit      = msp_pool_fit(pool);
    }
    return ((cache != NULL) && (cache->pool == pool)) ? cache : NULL;
}

/* The cache is made outside of a section, and lost again if the heap is closed by then. */
static void make_cache(struct msp_thread *t, struct msp_account *account)
{
    struct msp_heap_cache *cache = calloc(1, sizeof(*cache));
    struct msp_heap *heap;

    msp_thread_enter(t);
    heap = msp_heap_find(t, account);
    if ((heap != NULL) && (heap->cache == NULL)) {
        heap->cache = cache;
        cache       = NULL;
    }
    msp_thread_leave();
    free(cache);
}

/* ---- the bound ---- */

static int64_t most_lent(void)
{
    uint64_t usual = MOST_BYTES + msp_provider_held_bytes() / HELD_SHARE;
    uint64_t most  = msp_pressure_retention_bytes();

    return (int64_t)((usual < most) ? usual : most);
}

static bool has_capacity(const struct msp_heap_cache *cache, size_t bytes)
{
    return (cache->bytes + cache->recent_bytes + bytes <= cache->lent_bytes) &&
           (cache->count < MOST_BLOCKS);
}

/* Space for one more block of so many bytes. */
static bool borrow(struct msp_heap_cache *cache, size_t bytes)
{
    int64_t more = (int64_t)msp_round_up(bytes, STEP_BYTES);

    if (cache->count >= MOST_BLOCKS) {
        return false;
    }
    if (atomic_fetch_add_explicit(&lent_bytes, more, memory_order_relaxed) + more > most_lent()) {
        atomic_fetch_sub_explicit(&lent_bytes, more, memory_order_relaxed);
        return false;
    }
    cache->lent_bytes += (size_t)more;
    return true;
}

/* Bytes lent beyond those kept can be lent to others. */
static void repay(struct msp_heap_cache *cache, size_t bytes)
{
    cache->lent_bytes -= bytes;
    atomic_fetch_sub_explicit(&lent_bytes, (int64_t)bytes, memory_order_relaxed);
}

/* ---- freeing ---- */

/* The block of a divided chunk that starts at the pointer; NULL: look closer. */
static struct msp_record *find_block(const struct msp_heap_cache *cache,
                                     const struct msp_chunk *chunk, const void *pointer)
{
    size_t offset = (size_t)((const unsigned char *)pointer - chunk->address);
    uint32_t id;

    if ((offset >= atomic_load_explicit(&chunk->kept_bytes, memory_order_acquire)) ||
        ((offset & (MSP_UNIT_BYTES - 1)) != 0) || (chunk->provider != cache->provider)) {
        return NULL;
    }
    id = msp_range_record(&chunk->range, offset >> MSP_UNIT_SHIFT);
    return (id == 0) ? NULL : msp_fit_record(cache->fit, id);
}

/* Whether a block can be kept as it is freed: in use, the heap's account's, of medium size. One
 * that grew goes back: the next begins small, and grows over its memory. */
static bool can_keep(const struct msp_heap *heap, const struct msp_record *r)
{
    return (r->account == heap->account) && !r->grown &&
           (atomic_load_explicit(&r->use, memory_order_relaxed) == MSP_USE_BLOCK) &&
           (msp_record_bytes(r) <= MSP_MEDIUM_MAX_BYTES);
}

/* Keeps a block in a heap that has space, with its charge and its count. */
static inline __attribute__((always_inline)) void keep_charged(struct msp_heap *heap,
                                                               struct msp_record *r)
{
    msp_heap_note_least(heap);
    heap->credit += (int64_t)(r->requested_bytes + MSP_CHARGE_OVERHEAD_BYTES);
    heap->freed_count++;
    if (!enter(heap, r)) {
        msp_record_leave(r);
        put(heap->cache, r); /* it has no requested size then */
    }
    if (MSP_UNLIKELY(heap->credit > heap->credit_most)) {
        msp_heap_return_credit(heap);
    }
}

/* The thread's heap of the account of a block that stands in the pool of the heap used last; NULL:
 * it has none that keeps blocks of that pool. */
static struct msp_heap *find_other(struct msp_thread *t, const struct msp_record *r)
{
    const struct msp_provider *provider = t->heaps->cache->provider;
    struct msp_heap *heap               = msp_heap_find(t, r->account);

    return ((heap != NULL) && (heap->cache != NULL) && (heap->cache->provider == provider)) ? heap
                                                                                            : NULL;
}

bool msp_heap_free_middle(uintptr_t entry, void *pointer)
{
    struct msp_record *r = NULL;
    struct msp_thread *t;
    struct msp_heap *heap;
    bool kept = false;

    if ((entry & MSP_ENTRY_SLAB) != 0) {
        return false;
    }
    t    = msp_thread_enter_fast();
    heap = t->heaps; /* what was used last */
    if ((heap != NULL) && (heap->cache != NULL)) {
        r = find_block(heap->cache, msp_entry_record(entry), pointer);
    }
    if ((r != NULL) && MSP_UNLIKELY(r->account != heap->account)) {
        heap = find_other(t, r);
    }
    if ((r != NULL) && (heap != NULL) && can_keep(heap, r) &&
        has_capacity(heap->cache, msp_record_bytes(r))) {
        keep_charged(heap, r);
        kept = true;
    }
    msp_thread_leave();
    return kept;
}

static inline bool is_used(const struct msp_record *r)
{
    return atomic_load_explicit(&r->use, memory_order_relaxed) == MSP_USE_BLOCK;
}

/* The block in use of a divided chunk that starts at the pointer; NULL: look closer. */
static struct msp_record *find_used(const void *pointer)
{
    uintptr_t entry               = msp_map_find(pointer);
    const struct msp_chunk *chunk = msp_entry_record(entry);
    struct msp_record *r;
    size_t offset;
    uint32_t id;

    if ((entry == 0) || ((entry & MSP_ENTRY_SLAB) != 0)) {
        return NULL;
    }
    offset = (size_t)((const unsigned char *)pointer - chunk->address);
    if ((offset >= atomic_load_explicit(&chunk->kept_bytes, memory_order_acquire)) ||
        ((offset & (MSP_UNIT_BYTES - 1)) != 0)) {
        return NULL;
    }
    id = msp_range_record(&chunk->range, offset >> MSP_UNIT_SHIFT);
    r  = (id == 0) ? NULL : msp_fit_record(msp_pool_fit(chunk->provider->pool), id);
    return ((r != NULL) && is_used(r)) ? r : NULL;
}

/* The same, and first the block that grew last. Its record may be another's by now, which stands
 * elsewhere. */
static inline struct msp_record *find_grown(struct msp_heap *heap, const void *pointer)
{
    struct msp_record *r = heap->grown;

    if (MSP_LIKELY((heap->grown_at == pointer) && (r != NULL) && is_used(r) &&
                   (msp_record_address(r) == pointer))) {
        return r;
    }
    r              = find_used(pointer);
    heap->grown    = r;
    heap->grown_at = pointer;
    return r;
}

/* Whether a block may be that large without anything but its heap's credit: it has space. */
static bool can_grow(const struct msp_heap *heap, const struct msp_record *r, uintptr_t handle,
                     size_t size_bytes)
{
    return (r->account == heap->account) && (size_bytes >= r->requested_bytes) &&
           (size_bytes <= msp_record_bytes(r)) &&
           (heap->credit >= (int64_t)(size_bytes - r->requested_bytes)) &&
           ((handle == 0) || (atomic_load_explicit(&heap->account->allocator->handle,
                                                   memory_order_relaxed) == handle));
}

bool msp_heap_grow_middle(const void *pointer, uintptr_t handle, size_t size_bytes)
{
    struct msp_heap *heap = msp_thread_enter_fast()->heaps; /* what was used last */
    struct msp_record *r  = (heap == NULL) ? NULL : find_grown(heap, pointer);
    bool grown            = (r != NULL) && can_grow(heap, r, handle, size_bytes);

    if (grown) {
        msp_record_leave(r);
        heap->credit -= (int64_t)(size_bytes - r->requested_bytes);
        r->requested_bytes = size_bytes;
    }
    msp_thread_leave();
    return grown;
}

/* In a section. False: the block is not kept. *surplus_p: blocks to give back, which make space for
 * it instead. */
static bool keep(struct msp_heap *heap, struct msp_record *r, struct msp_record **surplus_p)
{
    struct msp_heap_cache *cache = heap->cache;
    size_t bytes                 = msp_record_bytes(r);

    if (!has_capacity(cache, bytes) && !borrow(cache, bytes)) {
        *surplus_p = take_half(cache); /* the larger ones make space */
        if (!has_capacity(cache, bytes)) {
            return false;
        }
    }
    if (!enter(heap, r)) {
        put(cache, r);
    }
    return true;
}

bool msp_heap_keep(struct msp_account *account, struct msp_record *r)
{
    struct msp_thread *t         = msp_account_had_heaps(account) ? msp_thread_get() : NULL;
    struct msp_pool *pool        = msp_pool_of(r);
    struct msp_heap_cache *cache = NULL;
    struct msp_record *surplus   = NULL;
    struct msp_heap *heap;
    bool without = false;
    bool kept    = false;

    if ((t == NULL) || (r->size == 0) || r->grown || (msp_record_bytes(r) > MSP_MEDIUM_MAX_BYTES) ||
        msp_chunk_of(r)->provider->eager || msp_decay_is_at_once()) {
        return false;
    }
    msp_thread_enter(t);
    heap = msp_heap_find(t, account);
    if (heap != NULL) {
        cache   = cache_for(heap, pool);
        without = (heap->cache == NULL);
    }
    if (cache != NULL) {
        kept = keep(heap, r, &surplus);
    }
    msp_thread_leave();
    if (surplus != NULL) {
        msp_pool_free_list(pool, surplus);
        msp_pool_settle(pool);
    }
    if (without) {
        make_cache(t, account);
    }
    msp_decay_look(pool);
    return kept;
}

/* ---- giving back ---- */

/* Takes blocks that have waited since before the last round out of a bin; adds them to a list. */
static void take_old(struct msp_heap_cache *cache, unsigned bin, uint32_t round,
                     struct msp_record **list)
{
    struct msp_record **link = &cache->first[bin];
    struct msp_record *r;
    struct msp_record *next;

    while ((*link != NULL) && !msp_decay_is_over((*link)->kept_since, round)) {
        link = &(*link)->kept_after;
    }
    r     = *link;
    *link = NULL;
    for (; r != NULL; r = next) {
        next = r->kept_after;
        cache->bytes -= msp_record_bytes(r);
        cache->count--;
        r->kept_after = *list;
        *list         = r;
    }
    if (cache->first[bin] == NULL) {
        cache->filled[bin / 64] &= ~(UINT64_C(1) << (bin % 64));
    }
}

void msp_heap_decay(struct msp_heap *heap, uint32_t round)
{
    struct msp_heap_cache *cache = heap->cache;
    struct msp_record *list      = NULL;
    size_t surplus;
    unsigned bin;

    if ((cache == NULL) || (cache->lent_bytes == 0)) {
        return;
    }
    for (bin = 0; bin < MSP_HEAP_BINS; bin++) {
        if (cache->first[bin] != NULL) {
            take_old(cache, bin, round, &list);
        }
    }
    end_entries(heap, round, false, &list);
    if (list != NULL) {
        msp_pool_free_list(cache->pool, list);
    }
    /* A thread that goes on as before needs most of it again. */
    surplus = cache->lent_bytes - cache->bytes - cache->recent_bytes;
    repay(cache, (surplus > STEP_BYTES) ? surplus / 2 : surplus);
}

struct msp_pool *msp_heap_flush(struct msp_heap *heap)
{
    struct msp_heap_cache *cache = heap->cache;
    struct msp_record *list      = NULL;
    unsigned bin;

    if ((cache == NULL) || (cache->lent_bytes == 0)) {
        return NULL;
    }
    for (bin = 0; bin < MSP_HEAP_BINS; bin++) {
        while (cache->first[bin] != NULL) {
            move_first(cache, bin, &list);
        }
    }
    end_entries(heap, 0, true, &list);
    repay(cache, cache->lent_bytes);
    if (list == NULL) {
        return NULL;
    }
    msp_pool_free_list(cache->pool, list);
    return cache->pool;
}
