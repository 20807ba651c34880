/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_SLAB_H
#define MEMSPAN_CORE_SLAB_H

/* A slab is a run of granules divided into objects of one size. It belongs to one account and, at
 * any time, to one thread's heap or to nobody (the account's orphans).
 *
 * Beside it, never in it, stands one 16-bit word an object:
 *
 *   1fssssssssssssss  live; s: bytes of its place that were not asked for; f: given by a fallback
 *   0znnnnnnnnnnnnnn  free, in the owner's list; n: the next; z: never given out since it was made
 *   01nnnnnnnnnnnnnn  freed by another thread, in the remote list
 *
 * The next is named by its place: the number of the 16-byte step in its window of 256 KiB, which no
 * slab crosses. A place follows from a pointer, and a pointer from a place, without asking which
 * object that is, so that freeing and allocating again do not wait for each other's look-ups.
 *
 * The owner's list needs no atomics. Other threads push onto the remote list, one compare and swap
 * that also carries how much was given back; the owner takes the whole list at once. When the last
 * free object has gone the owner sets FULL in the word of the remote list, and who then frees
 * first - clearing it - tells the owner's heap.
 *
 * Records of slabs are never given back to the system, only used again: a stale pointer to one
 * leads to some slab's record, and every such path checks again under a lock. */

#include "core/pool.h"
#include "core/size_class.h"

struct memspan_heap;
struct memspan_thread;

enum {
    MEMSPAN_OBJECT_LIVE     = 0x8000,
    MEMSPAN_OBJECT_FALLBACK = 0x4000, /* of a live one */
    MEMSPAN_OBJECT_FRESH    = 0x4000, /* of one in the owner's list */
    MEMSPAN_OBJECT_REMOTE   = 0x4000, /* of one in the remote list */
    MEMSPAN_OBJECT_VALUE    = 0x3fff,
    MEMSPAN_OBJECT_NONE     = 0x3fff, /* end of a list */
    MEMSPAN_EDGE_NEVER      = 0xffff,

    MEMSPAN_WINDOW_SHIFT = 18,
};

/* The remote list: first object 16 bits, how many 16, charge of them 31, FULL 1. */
#define MEMSPAN_REMOTE_EMPTY ((uint64_t)MEMSPAN_OBJECT_NONE)
#define MEMSPAN_REMOTE_FULL  (UINT64_C(1) << 63)

enum memspan_slab_state {
    MEMSPAN_SLAB_CURRENT,   /* its class is served from it */
    MEMSPAN_SLAB_PARTIAL,   /* in the heap's list of slabs with room */
    MEMSPAN_SLAB_FULL,      /* in the heap's list of full ones; FULL is set */
    MEMSPAN_SLAB_ANNOUNCED, /* among the full ones; somebody has cleared FULL and tells the heap */
    MEMSPAN_SLAB_ORPHAN,    /* in the account's list; thread is NULL */
};

struct memspan_slab {
    /* Whoever frees reads these; they change with the owner alone. */
    _Atomic(struct memspan_thread *) thread; /* whose heap it is in; NULL: nobody's */
    _Atomic(struct memspan_heap *) heap;
    unsigned char *window; /* where places are counted from */
    uint32_t size_bytes;   /* of an object */
    uint32_t reciprocal;
    uint16_t first_place; /* of the slab's first object */
    uint16_t capacity;
    uint8_t class_index;
    bool zeroed; /* what was never given out is zero */
    _Atomic(struct memspan_account *) account;
    unsigned char *address;

    /* The owner's. */
    uint16_t first_free __attribute__((aligned(MEMSPAN_CACHE_LINE_BYTES)));
    uint16_t used_count;
    uint16_t edge;         /* used_count after a free at which the lists change */
    uint16_t made;         /* objects that have ever been in a list */
    _Atomic uint8_t state; /* enum memspan_slab_state; read by who frees without owning, too */
    uint16_t seen_used; /* used_count and first_free when somebody looked last whether the slab */
    uint16_t seen_free; /* is used */
    bool purged;        /* its free pages have been given back, and nobody used it since */
    struct memspan_slab *next;
    struct memspan_slab *previous;
    struct memspan_chunk *chunk;
    struct memspan_record *record; /* of its memory in the pool */

    /* Everybody's. */
    _Atomic uint64_t remote __attribute__((aligned(MEMSPAN_CACHE_LINE_BYTES)));
    _Atomic(struct memspan_slab *) next_announced;
    atomic_bool announced; /* in, or on its way to, some heap's list of announced slabs */
    uint16_t objects[];    /* capacity + 1; the last is never live */
};

/* A slab of @p class_index over memory of @p pool; nobody's yet. NULL with an error recorded. */
struct memspan_slab *memspan_slab_create(struct memspan_pool *pool, unsigned class_index,
                                         struct memspan_account *account);

/* Give a slab without live objects back. Calls no driver. */
void memspan_slab_destroy(struct memspan_slab *slab);

/* Give pages without live objects back to the system, where they are a quarter of the slab or more;
 * returns the bytes. Its objects stay where they are, in their lists. While the threads are
 * stopped. */
size_t memspan_slab_purge(struct memspan_slab *slab);

/* Put more never-used objects into the owner's list. False: all have been. */
bool memspan_slab_make_objects(struct memspan_slab *slab);

/* Take the remote list into the owner's. Returns the number of objects; *charge_p: what they were
 * charged. By the owner, or while nobody else is. */
unsigned memspan_slab_collect(struct memspan_slab *slab, uint64_t *charge_p);

/* Say that the slab is full; false if somebody has freed meanwhile. */
static inline bool memspan_slab_set_full(struct memspan_slab *slab)
{
    uint64_t expected = MEMSPAN_REMOTE_EMPTY;

    return atomic_compare_exchange_strong_explicit(&slab->remote, &expected,
                                                   MEMSPAN_REMOTE_EMPTY | MEMSPAN_REMOTE_FULL,
                                                   memory_order_acq_rel, memory_order_acquire);
}

static inline unsigned memspan_slab_state(const struct memspan_slab *slab)
{
    return atomic_load_explicit(&slab->state, memory_order_relaxed);
}

static inline void memspan_slab_set_state(struct memspan_slab *slab, enum memspan_slab_state state)
{
    atomic_store_explicit(&slab->state, (uint8_t)state, memory_order_relaxed);
}

static inline unsigned memspan_place_of(const void *pointer)
{
    return (unsigned)((uintptr_t)pointer >> MEMSPAN_CLASS_STEP_SHIFT) & MEMSPAN_OBJECT_VALUE;
}

/* A place of the slab divided by the steps of an object, as a number with 26 binary places. */
static inline uint64_t memspan_slab_product(const struct memspan_slab *slab, unsigned place)
{
    return (uint64_t)(place - slab->first_place) * slab->reciprocal;
}

/* Whether an object starts at that pointer and its product. The reciprocal is rounded up: the
 * product of a whole number is above it by less than 2^14 of the last place, that of any other by
 * 2^17 or more. */
static inline bool memspan_slab_is_start(uint64_t product, const void *pointer)
{
    const uint64_t mask =
        ((UINT64_C(1) << MEMSPAN_RECIPROCAL_SHIFT) - 1) & ~((UINT64_C(1) << 17) - 1);

    return ((product & mask) | ((uintptr_t)pointer & 15)) == 0;
}

/* The index of the object that holds a place of the slab; the slab's capacity: none does. */
static inline size_t memspan_slab_index(const struct memspan_slab *slab, unsigned place)
{
    return memspan_slab_product(slab, place) >> MEMSPAN_RECIPROCAL_SHIFT;
}

static inline void *memspan_slab_pointer(const struct memspan_slab *slab, unsigned place)
{
    return slab->window + ((size_t)place << MEMSPAN_CLASS_STEP_SHIFT);
}

/* Where the object of an index starts. */
static inline void *memspan_slab_object(const struct memspan_slab *slab, size_t index)
{
    return slab->address + index * slab->size_bytes;
}

/* Push an object that another thread owns onto the remote list. */
uint64_t memspan_slab_push_remote(struct memspan_slab *slab, unsigned place, uint64_t charge);

void memspan_slab_before_fork(void);
void memspan_slab_after_fork(void);

#endif /* MEMSPAN_CORE_SLAB_H */
