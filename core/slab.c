/* SPDX-License-Identifier: BSD-3-Clause */
/* slab.c: making slabs, and moving objects between their lists. */

#include "core/slab.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/pointer_map.h"
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

/* ---- records ---- */

enum { ARENA_BYTES = 1 << 18 };

static pthread_mutex_t arena_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned char *arena;
static size_t arena_left;
static struct memspan_slab *unused[MEMSPAN_CLASS_COUNT]; /* by class: their sizes differ */

static struct memspan_slab *carve_record(size_t size)
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

static struct memspan_slab *take_record(unsigned class_index)
{
    size_t size = sizeof(struct memspan_slab) +
                  ((size_t)memspan_classes[class_index].capacity + 2) * sizeof(uint16_t);
    struct memspan_slab *slab;

    pthread_mutex_lock(&arena_lock);
    slab = unused[class_index];
    if (slab != NULL) {
        unused[class_index] = slab->next;
    } else {
        slab = carve_record(memspan_round_up(size, MEMSPAN_CACHE_LINE_BYTES));
    }
    pthread_mutex_unlock(&arena_lock);
    return slab;
}

static void put_record(struct memspan_slab *slab)
{
    pthread_mutex_lock(&arena_lock);
    slab->next                = unused[slab->class_index];
    unused[slab->class_index] = slab;
    pthread_mutex_unlock(&arena_lock);
}

void memspan_slab_before_fork(void)
{
    pthread_mutex_lock(&arena_lock);
}

void memspan_slab_after_fork(void)
{
    pthread_mutex_unlock(&arena_lock);
}

/* ---- slabs ---- */

static uintptr_t entry_of(const struct memspan_slab *slab, const struct memspan_chunk *chunk)
{
    return memspan_map_entry(slab, chunk->provider->spec.kind, MEMSPAN_ENTRY_SLAB);
}

struct memspan_slab *memspan_slab_create(struct memspan_pool *pool, unsigned class_index,
                                         struct memspan_account *account)
{
    const struct memspan_class *class = &memspan_classes[class_index];
    struct memspan_slab *slab         = take_record(class_index);
    struct memspan_record *r;
    bool zeroed = false;

    if (slab == NULL) {
        memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for a slab's record");
        return NULL;
    }
    slab->class_index = (uint8_t)class_index;
    if (memspan_pool_take_slab(pool, class->slab_bytes, &r, &zeroed) != MEMSPAN_OK) {
        put_record(slab);
        return NULL;
    }
    atomic_store_explicit(&slab->thread, NULL, memory_order_relaxed);
    atomic_store_explicit(&slab->heap, NULL, memory_order_relaxed);
    slab->address    = memspan_record_address(r);
    slab->base       = (uintptr_t)slab->address - class->size_bytes;
    slab->size_bytes = class->size_bytes;
    slab->divisor    = class->divisor;
    slab->first_free = MEMSPAN_OBJECT_NONE;
    memspan_slab_set_freed(slab, 0, MEMSPAN_OBJECT_NONE);
    slab->edge       = MEMSPAN_EDGE_NEVER;
    slab->made       = 0;
    slab->seen_freed = UINT64_MAX;
    slab->seen_free  = MEMSPAN_OBJECT_NONE;
    slab->purged     = false;
    slab->capacity   = class->capacity;
    memspan_slab_set_state(slab, MEMSPAN_SLAB_CURRENT);
    slab->zeroed = zeroed;
    slab->chunk  = memspan_chunk_of(r);
    slab->record = r;
    atomic_store_explicit(&slab->remote, MEMSPAN_REMOTE_EMPTY, memory_order_relaxed);
    atomic_store_explicit(&slab->account, account, memory_order_relaxed);
    /* No object's word says live: fresh records are zero, used ones had all objects freed. */
    memspan_map_replace(slab->address, class->slab_bytes, entry_of(slab, slab->chunk));
    return slab;
}

void memspan_slab_destroy(struct memspan_slab *slab)
{
    struct memspan_record *r = slab->record;

    memspan_map_replace(slab->address, memspan_classes[slab->class_index].slab_bytes,
                        memspan_chunk_entry(slab->chunk));
    put_record(slab);
    memspan_pool_give_slab(r);
}

/* A bit for each page that a live object reaches into. */
static uint64_t used_pages(const struct memspan_slab *slab, unsigned page_shift)
{
    uint64_t pages = 0;
    unsigned i;

    for (i = 1; i <= slab->made; i++) {
        if ((slab->objects[i] & MEMSPAN_OBJECT_LIVE) != 0) {
            size_t start  = (size_t)(i - 1) * slab->size_bytes;
            unsigned last = (unsigned)((start + slab->size_bytes - 1) >> page_shift);

            pages |= (UINT64_C(2) << last) - (UINT64_C(1) << (start >> page_shift));
        }
    }
    return pages;
}

size_t memspan_slab_purge(struct memspan_slab *slab)
{
    size_t page         = memspan_page_size();
    unsigned page_shift = (unsigned)__builtin_ctzll(page);
    unsigned count      = memspan_classes[slab->class_index].slab_bytes >> page_shift;
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
            memspan_chunk_purge(slab->chunk, slab->address + first * page, (end - first) * page)) {
            bytes += (end - first) * page;
        }
    }
    return bytes;
}

/* About a page of them: what is freed and allocated again and again goes round in these. */
bool memspan_slab_make_objects(struct memspan_slab *slab)
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
        slab->objects[i] = (uint16_t)(MEMSPAN_OBJECT_FRESH | (i + 1));
    }
    slab->objects[last] = MEMSPAN_OBJECT_FRESH | MEMSPAN_OBJECT_NONE;
    slab->first_free    = first;
    slab->made          = (uint16_t)last;
    memspan_slab_set_freed(slab, memspan_slab_handed(slab) + last - first + 1, MEMSPAN_OBJECT_NONE);
    return true;
}

static unsigned next_of(const struct memspan_slab *slab, unsigned i)
{
    return slab->objects[i] & MEMSPAN_OBJECT_VALUE;
}

unsigned memspan_slab_used(const struct memspan_slab *slab)
{
    unsigned used = memspan_slab_handed(slab);
    unsigned i;

    for (i = slab->first_free; i != MEMSPAN_OBJECT_NONE; i = next_of(slab, i)) {
        used--;
    }
    return used;
}

void memspan_slab_settle(struct memspan_slab *slab)
{
    unsigned used = memspan_slab_used(slab);
    unsigned last = slab->first_free;

    if (last == MEMSPAN_OBJECT_NONE) {
        return;
    }
    while (next_of(slab, last) != MEMSPAN_OBJECT_NONE) {
        last = next_of(slab, last);
    }
    slab->objects[last] = (uint16_t)((slab->objects[last] & ~(unsigned)MEMSPAN_OBJECT_VALUE) |
                                     memspan_slab_first_freed(slab));
    memspan_slab_set_freed(slab, used, slab->first_free);
    slab->first_free = MEMSPAN_OBJECT_NONE;
}

/* ---- the remote list ---- */

uint64_t memspan_slab_push_remote(struct memspan_slab *slab, unsigned i, uint64_t charge)
{
    uint64_t old = atomic_load_explicit(&slab->remote, memory_order_relaxed);
    uint64_t new;

    do {
        slab->objects[i] = (uint16_t)(MEMSPAN_OBJECT_REMOTE | (old & MEMSPAN_OBJECT_VALUE));
        new = ((old & ~MEMSPAN_REMOTE_FULL & ~(uint64_t)0xffff) | i) + (UINT64_C(1) << 16) +
              (charge << 32);
    } while (!atomic_compare_exchange_weak_explicit(&slab->remote, &old, new, memory_order_seq_cst,
                                                    memory_order_relaxed));
    return old;
}

unsigned memspan_slab_collect(struct memspan_slab *slab, uint64_t *charge_p)
{
    uint64_t list = atomic_load_explicit(&slab->remote, memory_order_relaxed);
    unsigned count;
    unsigned first = memspan_slab_first_freed(slab);
    unsigned i;
    unsigned n;

    *charge_p = 0;
    if ((list & ~MEMSPAN_REMOTE_FULL) == MEMSPAN_REMOTE_EMPTY) {
        return 0;
    }
    list      = atomic_exchange_explicit(&slab->remote, MEMSPAN_REMOTE_EMPTY, memory_order_seq_cst);
    count     = (unsigned)(list >> 16) & 0xffff;
    *charge_p = (list & ~MEMSPAN_REMOTE_FULL) >> 32;
    i         = (unsigned)list & MEMSPAN_OBJECT_VALUE;
    for (n = 0; n < count; n++) {
        unsigned word = (i <= slab->capacity) ? slab->objects[i] : 0;

        if ((word & MEMSPAN_OBJECT_REMOTE) == 0) {
            /* The same object twice in the list: two threads freed it at the same time. */
            memspan_log(MEMSPAN_LOG_ERROR, "core", "an object of %u bytes near %p was freed twice",
                        slab->size_bytes, (void *)slab->address);
            break;
        }
        slab->objects[i] = (uint16_t)first;
        first            = i;
        i                = word & MEMSPAN_OBJECT_VALUE;
    }
    memspan_slab_set_freed(slab, memspan_slab_handed(slab) - n, first);
    return n;
}
