/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_ENGINE_SLAB_H
#define MEMSPAN_CORE_ENGINE_SLAB_H

/* A slab is a run of granules divided into objects of one size. It belongs to one account and, at
 * any time, to one thread's heap or to the account's orphans.
 *
 * Beside it, never in it, stands one 16-bit word an object:
 *
 *   1fcccccccccccccc  live; c: its charge, bytes requested and overhead; f: given by a fallback
 *   0znnnnnnnnnnnnnn  free, in a list of the owner's; n: the next; z: never allocated so far
 *   01nnnnnnnnnnnnnn  freed by another thread, in the remote list
 *
 * Objects are counted from 1, and 0 ends a list.
 *
 * The owner has two lists and needs no atomics: it allocates from one and frees into the other,
 * which becomes the first when that is empty. With a single list each allocation would wait for the
 * store of the free before it, whose address comes out of the pointer map: some twenty cycles.
 *
 * Other threads push onto the remote list, one compare and swap
 * that also carries how much was given back; the owner takes the whole list at once. When the last
 * free object is taken the owner sets FULL in the word of the remote list, and the thread that then
 * frees first - clearing it - announces that to the owner's heap.
 *
 * Records of slabs are never given back to the system, only used again: a stale pointer to one
 * leads to some slab's record, and every such path checks again under a lock. */

#include "core/engine/pool.h"
#include "core/engine/size_class.h"

struct msp_heap;
struct msp_thread;

enum {
    MSP_OBJECT_LIVE     = 0x8000,
    MSP_OBJECT_FALLBACK = 0x4000, /* of a live one */
    MSP_OBJECT_FRESH    = 0x4000, /* of one in the owner's list */
    MSP_OBJECT_REMOTE   = 0x4000, /* of one in the remote list */
    MSP_OBJECT_VALUE    = 0x3fff,
    MSP_OBJECT_NONE     = 0,      /* end of a list */
    MSP_EDGE_NEVER      = 0xffff, /* more than any count */
};

/* The remote list: first object 16 bits, how many 16, charge of them 31, FULL 1. */
#define MSP_REMOTE_EMPTY ((uint64_t)MSP_OBJECT_NONE)
#define MSP_REMOTE_FULL  (UINT64_C(1) << 63)

enum msp_slab_state {
    MSP_SLAB_CURRENT,   /* its class is served from it */
    MSP_SLAB_PARTIAL,   /* in the heap's list of slabs with free objects */
    MSP_SLAB_FULL,      /* in the heap's list of full ones; FULL is set */
    MSP_SLAB_ANNOUNCED, /* among the full ones; a thread has cleared FULL and announces it */
    MSP_SLAB_ORPHAN,    /* in the account's list; thread is NULL */
};

struct msp_slab {
    /* Read by threads that free; they change with the owner alone. */
    _Atomic(struct msp_thread *) thread; /* whose heap it is in; NULL: orphan */
    _Atomic(struct msp_heap *) heap;
    uintptr_t base;      /* object i starts at base + i * size_bytes */
    uint64_t divisor;    /* of the class */
    uint32_t size_bytes; /* of an object */
    uint16_t capacity;
    uint8_t class_index;
    bool zeroed; /* memory that was never allocated is zero */
    _Atomic(struct msp_account *) account;
    unsigned char *address;

    /* The owner's. */
    uint32_t first_free __attribute__((aligned(MSP_CACHE_LINE_BYTES))); /* to be allocated */
    uint32_t edge; /* handed count after a free at which the lists change */
    /* Above: how many objects are handed: live, in the remote list or in that of first_free. Below:
     * the first that the owner has freed since the list of first_free was made. One word, so that
     * freeing is one store. */
    uint64_t freed;
    uint16_t made;         /* objects that have ever been in a list */
    _Atomic uint8_t state; /* enum msp_slab_state; other threads that free read it, too */
    uint32_t seen_free;    /* first_free and freed at the last look whether the slab is */
    uint64_t seen_freed;   /* used */
    bool purged;           /* its free pages have been given back, and it was not used since */
    struct msp_slab *next;
    struct msp_slab *previous;
    struct msp_chunk *chunk;
    struct msp_record *record; /* of its memory in the pool */

    /* Shared by all threads. */
    _Atomic uint64_t remote __attribute__((aligned(MSP_CACHE_LINE_BYTES)));
    _Atomic(struct msp_slab *) next_announced;
    atomic_bool announced; /* in, or on its way to, some heap's list of announced slabs */
    uint16_t objects[];    /* capacity + 2; the first and the last are never live */
};

/* A slab of @p class_index over memory of @p pool; without an owner yet. NULL with an error
 * recorded. */
struct msp_slab *msp_slab_create(struct msp_pool *pool, unsigned class_index,
                                 struct msp_account *account);

/* Give a slab without live objects back. Calls no driver. */
void msp_slab_destroy(struct msp_slab *slab);

/* Give pages without live objects back to the system, where they are a quarter of the slab or more;
 * returns the bytes. Its objects stay where they are, in their lists. While the threads are
 * stopped. */
size_t msp_slab_purge(struct msp_slab *slab);

/* The list of free objects is empty, and that of freed ones too: take some that were never used.
 * False: there are none. By the owner. */
bool msp_slab_make_objects(struct msp_slab *slab);

/* Take the remote list into that of freed objects. Returns the number of objects; *charge_p: their
 * charge. By the owner, or while there is none. */
unsigned msp_slab_collect(struct msp_slab *slab, uint64_t *charge_p);

/* Say that the slab is full; false if another thread has freed meanwhile. */
static inline bool msp_slab_set_full(struct msp_slab *slab)
{
    uint64_t expected = MSP_REMOTE_EMPTY;

    return atomic_compare_exchange_strong_explicit(&slab->remote, &expected,
                                                   MSP_REMOTE_EMPTY | MSP_REMOTE_FULL,
                                                   memory_order_acq_rel, memory_order_acquire);
}

static inline unsigned msp_slab_first_freed(const struct msp_slab *slab)
{
    return (uint32_t)slab->freed;
}

static inline unsigned msp_slab_handed(const struct msp_slab *slab)
{
    return (unsigned)(slab->freed >> 32);
}

static inline void msp_slab_set_freed(struct msp_slab *slab, unsigned handed, unsigned first)
{
    slab->freed = ((uint64_t)handed << 32) | first;
}

/* The list of free objects is empty: take the list of freed ones, or some that were never used.
 * False: there are none. By the owner. */
static inline bool msp_slab_refill(struct msp_slab *slab)
{
    unsigned first = msp_slab_first_freed(slab);

    if (first == MSP_OBJECT_NONE) {
        return msp_slab_make_objects(slab);
    }
    slab->first_free = first;
    msp_slab_set_freed(slab, slab->made, MSP_OBJECT_NONE); /* every one of them */
    return true;
}

/* Objects in use, or in the remote list. By the owner, or while it is stopped. */
unsigned msp_slab_used(const struct msp_slab *slab);

/* Objects that were never allocated join the freed ones, which are used first. For a slab that
 * ceases to be its class's current one. */
void msp_slab_settle(struct msp_slab *slab);

static inline unsigned msp_slab_state(const struct msp_slab *slab)
{
    return atomic_load_explicit(&slab->state, memory_order_relaxed);
}

static inline void msp_slab_set_state(struct msp_slab *slab, enum msp_slab_state state)
{
    atomic_store_explicit(&slab->state, (uint8_t)state, memory_order_relaxed);
}

__extension__ typedef unsigned __int128 msp_wide_t;

/* @p n / size, for n below 2^32 and the divisor of the size; *whole_p: nothing is left over
 * (Lemire, Kaser, Kurz: Faster remainder by direct computation). */
static inline size_t msp_divide(size_t n, uint64_t divisor, bool *whole_p)
{
    msp_wide_t product = (msp_wide_t)n * divisor;

    *whole_p = (uint64_t)product < divisor;
    return (size_t)(product >> 64);
}

/* The index of the slab's object that holds @p pointer, an address in its granules; capacity + 1:
 * none does. *start_p: it starts there. */
static inline size_t msp_slab_index(const struct msp_slab *slab, const void *pointer, bool *start_p)
{
    return msp_divide((uintptr_t)pointer - slab->base, slab->divisor, start_p);
}

/* Where the object of an index starts. */
static inline void *msp_slab_object(const struct msp_slab *slab, size_t index)
{
    return (void *)(slab->base + index * slab->size_bytes);
}

/* Push an object that another thread owns onto the remote list. */
uint64_t msp_slab_push_remote(struct msp_slab *slab, unsigned i, uint64_t charge);

#endif /* MEMSPAN_CORE_ENGINE_SLAB_H */
