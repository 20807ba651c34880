/* SPDX-License-Identifier: BSD-3-Clause */
/* slab.c: making slabs, and moving objects between their lists. */

#include "core/engine/slab.h"
#include "core/base/error.h"
#include "core/base/fork.h"
#include "core/base/log.h"
#include "core/engine/pointer_map.h"
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

static struct msp_slab *take_record(unsigned class_index)
{
    size_t size = sizeof(struct msp_slab) +
                  ((size_t)msp_classes[class_index].capacity + 2) * sizeof(uint16_t);
    struct msp_slab *slab;

    msp_lock(&arena_lock);
    slab = unused[class_index];
    if (slab != NULL) {
        unused[class_index] = slab->next;
    } else {
        slab = carve_record(msp_round_up(size, MSP_CACHE_LINE_BYTES));
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
    bool zeroed = false;

    if (slab == NULL) {
        memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for a slab's record");
        return NULL;
    }
    slab->class_index = (uint8_t)class_index;
    if (msp_pool_take_slab(pool, class->slab_bytes, &r, &zeroed) != MEMSPAN_OK) {
        put_record(slab);
        return NULL;
    }
    atomic_store_explicit(&slab->thread, NULL, memory_order_relaxed);
    atomic_store_explicit(&slab->heap, NULL, memory_order_relaxed);
    slab->address    = msp_record_address(r);
    slab->base       = (uintptr_t)slab->address - class->size_bytes;
    slab->size_bytes = class->size_bytes;
    slab->divisor    = class->divisor;
    slab->first_free = MSP_OBJECT_NONE;
    msp_slab_set_freed(slab, 0, MSP_OBJECT_NONE);
    slab->edge       = MSP_EDGE_NEVER;
    slab->made       = 0;
    slab->seen_freed = UINT64_MAX;
    slab->seen_free  = MSP_OBJECT_NONE;
    slab->purged     = false;
    slab->capacity   = class->capacity;
    msp_slab_set_state(slab, MSP_SLAB_CURRENT);
    slab->zeroed = zeroed;
    slab->chunk  = msp_chunk_of(r);
    slab->record = r;
    atomic_store_explicit(&slab->remote, MSP_REMOTE_EMPTY, memory_order_relaxed);
    atomic_store_explicit(&slab->account, account, memory_order_relaxed);
    /* No object's word says live: fresh records are zero, used ones had all objects freed. */
    msp_map_replace(slab->address, class->slab_bytes, entry_of(slab, slab->chunk));
    return slab;
}

void msp_slab_destroy(struct msp_slab *slab)
{
    struct msp_record *r = slab->record;

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
        if ((slab->objects[i] & MSP_OBJECT_LIVE) != 0) {
            size_t start  = (size_t)(i - 1) * slab->size_bytes;
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
            bytes += (end - first) * page;
        }
    }
    return bytes;
}

/* About a page of them: objects that are freed and allocated again and again stay within these. */
bool msp_slab_make_objects(struct msp_slab *slab)
{
    enum { PAGE_BYTES = 4096, LEAST = 8 };
    unsigned first = slab->made + 1u;
    unsigned count;
    unsigned last;
    unsigned i;

    if (slab->made == slab->capacity) {
        return false;
    }
    count = PAGE_BYTES / slab->size_bytes;
    last  = slab->made + ((count > LEAST) ? count : LEAST);
    last  = (last < slab->capacity) ? last : slab->capacity;
    for (i = first; i < last; i++) {
        slab->objects[i] = (uint16_t)(MSP_OBJECT_FRESH | (i + 1));
    }
    slab->objects[last] = MSP_OBJECT_FRESH | MSP_OBJECT_NONE;
    slab->first_free    = first;
    slab->made          = (uint16_t)last;
    msp_slab_set_freed(slab, msp_slab_handed(slab) + last - first + 1, MSP_OBJECT_NONE);
    return true;
}

static unsigned next_of(const struct msp_slab *slab, unsigned i)
{
    return slab->objects[i] & MSP_OBJECT_VALUE;
}

unsigned msp_slab_used(const struct msp_slab *slab)
{
    unsigned used = msp_slab_handed(slab);
    unsigned i;

    for (i = slab->first_free; i != MSP_OBJECT_NONE; i = next_of(slab, i)) {
        used--;
    }
    return used;
}

void msp_slab_settle(struct msp_slab *slab)
{
    unsigned used = msp_slab_used(slab);
    unsigned last = slab->first_free;

    if (last == MSP_OBJECT_NONE) {
        return;
    }
    while (next_of(slab, last) != MSP_OBJECT_NONE) {
        last = next_of(slab, last);
    }
    slab->objects[last] = (uint16_t)((slab->objects[last] & ~(unsigned)MSP_OBJECT_VALUE) |
                                     msp_slab_first_freed(slab));
    msp_slab_set_freed(slab, used, slab->first_free);
    slab->first_free = MSP_OBJECT_NONE;
}

/* ---- the remote list ---- */

uint64_t msp_slab_push_remote(struct msp_slab *slab, unsigned i, uint64_t charge)
{
    uint64_t old = atomic_load_explicit(&slab->remote, memory_order_relaxed);
    uint64_t new;

    do {
        slab->objects[i] = (uint16_t)(MSP_OBJECT_REMOTE | (old & MSP_OBJECT_VALUE));
        new = ((old & ~MSP_REMOTE_FULL & ~(uint64_t)0xffff) | i) + (UINT64_C(1) << 16) +
              (charge << 32);
    } while (!atomic_compare_exchange_weak_explicit(&slab->remote, &old, new, memory_order_seq_cst,
                                                    memory_order_relaxed));
    return old;
}

unsigned msp_slab_collect(struct msp_slab *slab, uint64_t *charge_p)
{
    uint64_t list = atomic_load_explicit(&slab->remote, memory_order_relaxed);
    unsigned count;
    unsigned first = msp_slab_first_freed(slab);
    unsigned i;
    unsigned n;

    *charge_p = 0;
    if ((list & ~MSP_REMOTE_FULL) == MSP_REMOTE_EMPTY) {
        return 0;
    }
    list      = atomic_exchange_explicit(&slab->remote, MSP_REMOTE_EMPTY, memory_order_seq_cst);
    count     = (unsigned)(list >> 16) & 0xffff;
    *charge_p = (list & ~MSP_REMOTE_FULL) >> 32;
    i         = (unsigned)list & MSP_OBJECT_VALUE;
    for (n = 0; n < count; n++) {
        unsigned word = (i <= slab->capacity) ? slab->objects[i] : 0;

        if ((word & MSP_OBJECT_REMOTE) == 0) {
            /* The same object twice in the list: two threads freed it at the same time. */
            msp_log(MEMSPAN_LOG_ERROR, "core", "an object of %u bytes near %p was freed twice",
                    slab->size_bytes, (void *)slab->address);
            break;
        }
        slab->objects[i] = (uint16_t)first;
        first            = i;
        i                = word & MSP_OBJECT_VALUE;
    }
    MSP_ASSERT(msp_slab_handed(slab) >= n);
    msp_slab_set_freed(slab, msp_slab_handed(slab) - n, first);
    return n;
}
