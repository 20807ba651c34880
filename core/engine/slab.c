/* SPDX-License-Identifier: BSD-3-Clause */
/* slab.c: making slabs, and moving objects between their lists. */

#include "core/engine/slab.h"
#include "core/base/error.h"
#include "core/base/fork.h"
#include "core/base/log.h"
#include "core/engine/pointer_map.h"
#include "core/engine/thread.h"
#include <string.h>
#include <sys/mman.h>

/* ---- records ---- */

enum { ARENA_BYTES = 1 << 18 };

MSP_LOCK_STATIC(arena_lock, MSP_RANK_SLABS);
static unsigned char *arena;
static size_t arena_left;
static struct msp_slab *unused[MSP_CLASS_COUNT]; /* by class: their sizes differ */

static struct msp_slab *carve_record(size_t size)
{
    void *record;

    if (arena_left < size) {
        void *more =
            mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (more == MAP_FAILED) {
            return NULL;
        }
        arena      = more;
        arena_left = ARENA_BYTES;
    }
    record = arena;
    arena += size;
    arena_left -= size;
    return record;
}

/* Used ones have had all objects freed; in a new one none is live either. */
static struct msp_slab *take_record(unsigned class_index)
{
    size_t words = (size_t)msp_classes[class_index].capacity + 2;
    size_t size  = sizeof(struct msp_slab) + words * sizeof(uint16_t);
    struct msp_slab *slab;
    size_t i;

    msp_lock(&arena_lock);
    slab = unused[class_index];
    if (slab != NULL) {
        unused[class_index] = slab->next;
    } else {
        slab = carve_record(msp_round_up(size, MSP_CACHE_LINE_BYTES));
        for (i = 0; (slab != NULL) && (i < words); i++) {
            *msp_slab_word(slab, MSP_OBJECT_FREE + i) = MSP_OBJECT_FREE;
        }
    }
    msp_unlock(&arena_lock);
    return slab;
}

static void put_record(struct msp_slab *slab)
{
    msp_lock(&arena_lock);
    slab->next                = unused[slab->class_index];
    unused[slab->class_index] = slab;
    msp_unlock(&arena_lock);
}

/* ---- slabs ---- */

static uintptr_t entry_of(const struct msp_slab *slab, const struct msp_chunk *chunk)
{
    return msp_map_entry(slab, chunk->provider->spec.kind, MSP_ENTRY_SLAB);
}

struct msp_slab *msp_slab_create(struct msp_pool *pool, unsigned class_index,
                                 struct msp_account *account)
{
    const struct msp_class *class = &msp_classes[class_index];
    struct msp_slab *slab         = take_record(class_index);
    struct msp_record *r;

    if (slab == NULL) {
        memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for a slab's record");
        return NULL;
    }
    slab->class_index = (uint8_t)class_index;
    if (msp_pool_take_slab(pool, class->slab_bytes, &r) != MEMSPAN_OK) {
        put_record(slab);
        return NULL;
    }
    atomic_store_explicit(&slab->thread, NULL, memory_order_relaxed);
    atomic_store_explicit(&slab->heap, NULL, memory_order_relaxed);
    slab->address = msp_record_address(r);
    slab->base    = (uintptr_t)slab->address - (uintptr_t)(MSP_OBJECT_FREE + 1) * class->size_bytes;
    slab->size_bytes  = class->size_bytes;
    slab->divisor     = class->divisor;
    slab->whole       = class->divisor;
    slab->first_free  = MSP_OBJECT_NONE;
    slab->first_freed = MSP_OBJECT_NONE;
    slab->free_left   = 0;
    slab->made        = 0;
    slab->charge      = 0;
    slab->charge_full = 0;
    slab->tight       = false;
    slab->seen_free   = 0;
    slab->purged      = false;
    slab->capacity    = class->capacity;
    atomic_store_explicit(&slab->state, MSP_SLAB_CURRENT, memory_order_relaxed);
    msp_slab_set_handed(slab, 0);
    slab->chunk  = msp_chunk_of(r);
    slab->record = r;
    atomic_store_explicit(&slab->remote, MSP_REMOTE_EMPTY, memory_order_relaxed);
    atomic_store_explicit(&slab->account, account, memory_order_relaxed);
    msp_map_replace(slab->address, class->slab_bytes, entry_of(slab, slab->chunk));
    return slab;
}

void msp_slab_forget(struct msp_slab *slab)
{
    struct msp_thread *t = atomic_load_explicit(&slab->thread, memory_order_relaxed);
    uintptr_t granule    = (uintptr_t)slab->address >> MSP_GRANULE_SHIFT;
    size_t count         = msp_classes[slab->class_index].slab_bytes >> MSP_GRANULE_SHIFT;

    for (; (t != NULL) && (count > 0); count--, granule++) {
        unsigned place = (unsigned)granule & (MSP_THREAD_GRANULES - 1);

        if (t->granules[place] == granule) {
            t->granules[place] = msp_thread_nothing(place);
        }
    }
}

void msp_slab_destroy(struct msp_slab *slab)
{
    struct msp_record *r = slab->record;

    msp_slab_forget(slab);
    atomic_store_explicit(&slab->thread, NULL, memory_order_relaxed);
    msp_map_replace(slab->address, msp_classes[slab->class_index].slab_bytes,
                    msp_chunk_entry(slab->chunk));
    put_record(slab);
    msp_pool_give_slab(r);
}

/* A bit for each page that a live object reaches into. */
static uint64_t used_pages(const struct msp_slab *slab, unsigned page_shift)
{
    uint64_t pages = 0;
    unsigned i;

    for (i = 1; i <= slab->made; i++) {
        if (msp_slab_is_live(slab, MSP_OBJECT_FREE + i)) {
            size_t start  = (i - 1) * slab->size_bytes;
            unsigned last = (unsigned)((start + slab->size_bytes - 1) >> page_shift);

            pages |= (UINT64_C(2) << last) - (UINT64_C(1) << (start >> page_shift));
        }
    }
    return pages;
}

size_t msp_slab_purge(struct msp_slab *slab)
{
    size_t page         = msp_page_size();
    unsigned page_shift = (unsigned)__builtin_ctzll(page);
    unsigned count      = msp_classes[slab->class_index].slab_bytes >> page_shift;
    size_t bytes        = 0;
    unsigned first;
    unsigned end;
    uint64_t used;

    slab->purged = true;
    if (!slab->chunk->can_purge || (count < 2) || (count > 64)) {
        return 0;
    }
    used = used_pages(slab, page_shift);
    if ((unsigned)__builtin_popcountll(used) > count - count / 4) {
        return 0;
    }
    for (first = 0; first < count; first = end + 1) {
        for (end = first; (end < count) && (((used >> end) & 1) == 0); end++) {
        }
        if ((end > first) &&
            msp_chunk_purge(slab->chunk, slab->address + first * page, (end - first) * page)) {
            atomic_store_explicit(&slab->chunk->holed, true, memory_order_relaxed);
            bytes += (end - first) * page;
        }
    }
    return bytes;
}

/* ---- the lists ---- */

/* Handed objects after a free that changes more than the lists. A slab that is full already below
 * that waits for its next free. */
static int32_t edge_of(const struct msp_slab *slab, int32_t handed)
{
    int32_t full = slab->capacity - 1 - slab->capacity / MSP_SLAB_FREE_SHARE;

    if (slab->tight) {
        return handed - 1;
    }
    switch (msp_slab_state(slab)) {
    case MSP_SLAB_PARTIAL:
        return 0;
    case MSP_SLAB_FULL:
        return (handed > full) ? full : handed - 1;
    default:
        return MSP_EDGE_NEVER;
    }
}

void msp_slab_set_handed(struct msp_slab *slab, unsigned handed)
{
    slab->edge = edge_of(slab, (int32_t)handed);
    slab->left = (int32_t)handed - slab->edge;
}

/* About a page of them: objects that are freed and allocated again and again stay within these. But
 * enough that the lists change places seldom. */
unsigned msp_slab_available(const struct msp_slab *slab)
{
    enum { PAGE_BYTES = 4096, LEAST = 16, LEAST_LARGE = 8 };
    unsigned count = PAGE_BYTES / (unsigned)slab->size_bytes;
    unsigned least = (slab->size_bytes > PAGE_BYTES / 4) ? LEAST_LARGE : LEAST;
    unsigned rest  = slab->capacity - slab->made;

    if (slab->first_freed != MSP_OBJECT_NONE) {
        return slab->made - msp_slab_handed(slab);
    }
    count = (count > least) ? count : least;
    return (count < rest) ? count : rest;
}

/* Objects that have never been in a list. */
static void make_objects(struct msp_slab *slab, unsigned count)
{
    unsigned first = MSP_OBJECT_FREE + slab->made + 1;
    unsigned i;

    slab->made        = (uint16_t)(slab->made + count);
    slab->charge_full = slab->made * msp_slab_unit(slab);
    for (i = first; i < first + count - 1; i++) {
        *msp_slab_word(slab, i) = (uint16_t)(i + 1);
    }
    *msp_slab_word(slab, i) = MSP_OBJECT_NONE;
    slab->first_free        = first;
}

/* The first of those freed. */
static void take_freed(struct msp_slab *slab, unsigned count)
{
    unsigned all  = slab->made - msp_slab_handed(slab);
    unsigned last = slab->first_freed;

    slab->first_free  = slab->first_freed;
    slab->first_freed = MSP_OBJECT_NONE;
    if (count < all) {
        while (--count > 0) {
            last = msp_slab_word_of(slab, last);
        }
        slab->first_freed          = msp_slab_word_of(slab, last);
        *msp_slab_word(slab, last) = MSP_OBJECT_NONE;
    }
}

void msp_slab_refill(struct msp_slab *slab, unsigned count)
{
    if (slab->first_freed != MSP_OBJECT_NONE) {
        take_freed(slab, count);
    } else {
        make_objects(slab, count);
    }
    slab->free_left = (int32_t)count;
    msp_slab_set_handed(slab, msp_slab_handed(slab) + count);
}

unsigned msp_slab_settle(struct msp_slab *slab)
{
    unsigned count = (unsigned)slab->free_left;
    unsigned last  = slab->first_free;

    if (count > 0) {
        while (msp_slab_word_of(slab, last) != MSP_OBJECT_NONE) {
            last = msp_slab_word_of(slab, last);
        }
        *msp_slab_word(slab, last) = (uint16_t)slab->first_freed;
        slab->first_freed          = slab->first_free;
        slab->first_free           = MSP_OBJECT_NONE;
        slab->free_left            = 0;
        msp_slab_set_handed(slab, msp_slab_handed(slab) - count);
    }
    return count;
}

unsigned msp_slab_measure(const struct msp_slab *slab, int64_t *bytes_p)
{
    const uint16_t *words = (const uint16_t *)(slab + 1);
    unsigned live         = 0;
    int64_t bytes         = 0;
    unsigned n;

    if (msp_slab_used(slab) > 0) {
        for (n = 1; n <= slab->made; n++) {
            /* Another thread may be freeing the object. */
            unsigned word = __atomic_load_n(&words[n], __ATOMIC_RELAXED);
            unsigned free = word >> 15;

            live += 1 - free;
            bytes += (word & MSP_OBJECT_VALUE) & (free - 1);
        }
    }
    *bytes_p = bytes;
    return live;
}

/* ---- the remote list ---- */

uint64_t msp_slab_push_remote(struct msp_slab *slab, unsigned i, uint64_t charge)
{
    uint64_t old = atomic_load_explicit(&slab->remote, memory_order_relaxed);
    uint64_t new;

    do {
        __atomic_store_n(msp_slab_word(slab, i),
                         (uint16_t)(MSP_OBJECT_FREE | MSP_OBJECT_REMOTE | (old & MSP_OBJECT_VALUE)),
                         __ATOMIC_RELAXED);
        new = ((old & ~MSP_REMOTE_FULL & ~(uint64_t)0xffff) | i) + (UINT64_C(1) << 16) +
              (charge << 32);
    } while (!atomic_compare_exchange_weak_explicit(&slab->remote, &old, new, memory_order_seq_cst,
                                                    memory_order_relaxed));
    return old;
}

unsigned msp_slab_collect(struct msp_slab *slab, uint64_t *charge_p)
{
    uint64_t list  = atomic_load_explicit(&slab->remote, memory_order_relaxed);
    unsigned first = slab->first_freed;
    unsigned count;
    unsigned i;
    unsigned n;

    *charge_p = 0;
    if ((list & ~MSP_REMOTE_FULL) == MSP_REMOTE_EMPTY) {
        return 0;
    }
    list      = atomic_exchange_explicit(&slab->remote, MSP_REMOTE_EMPTY, memory_order_seq_cst);
    count     = (unsigned)(list >> 16) & 0xffff;
    *charge_p = (list & ~MSP_REMOTE_FULL) >> 32;
    i         = (unsigned)list & 0xffff;
    for (n = 0; n < count; n++) {
        unsigned word =
            (i - MSP_OBJECT_FREE <= slab->capacity) ? msp_slab_word_of(slab, i) : MSP_OBJECT_FREE;

        if ((word & (MSP_OBJECT_FREE | MSP_OBJECT_REMOTE)) !=
            (MSP_OBJECT_FREE | MSP_OBJECT_REMOTE)) {
            /* The same object twice in the list: two threads freed it at the same time. */
            msp_log(MEMSPAN_LOG_ERROR, "core", "an object of %u bytes near %p was freed twice",
                    (unsigned)slab->size_bytes, (void *)slab->address);
            break;
        }
        *msp_slab_word(slab, i) = (uint16_t)first;
        first                   = i;
        i                       = MSP_OBJECT_FREE | (word & MSP_OBJECT_VALUE);
    }
    MSP_ASSERT(msp_slab_handed(slab) >= n);
    slab->first_freed = first;
    msp_slab_set_handed(slab, msp_slab_handed(slab) - n);
    return n;
}
