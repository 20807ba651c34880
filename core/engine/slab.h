/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_ENGINE_SLAB_H
#define MEMSPAN_CORE_ENGINE_SLAB_H

/* A slab is a run of granules divided into objects of one size. It belongs to one account and, at
 * any time, to one thread's heap or to the account's orphans.
 *
 * Beside it, never in it, stands one 16-bit word an object:
 *
 *   0fssssssssssssss  live; s: the bytes requested; f: given by a fallback
 *   10nnnnnnnnnnnnnn  free, in a list of the owner's, or never made; n: the next
 *   11nnnnnnnnnnnnnn  freed by another thread, in the remote list
 *
 * Objects are counted from 1, and 0 ends a list. An index is that number with the uppermost bit, as
 * in the word of a free object, so that following a list needs no arithmetic.
 *
 * The owner has two lists and needs no atomics: it allocates from one and frees into the other,
 * which becomes the first when that is empty. With a single list each allocation would wait for the
 * store of the free before it, whose address comes out of the pointer map: some twenty cycles.
 *
 * The account is charged by the slab, when objects join the list to allocate from: allocating and
 * freeing change no counter of the heap's or the account's. Live bytes are read from the words.
 *
 * Other threads push onto the remote list, one compare and swap
 * that also carries how much was given back; the owner takes the whole list at once. When the last
 * free object is taken the owner sets FULL in the word of the remote list, and the thread that then
 * frees first - clearing it - announces that to the owner's heap.
 *
 * Records of slabs are never given back to the system, only used again: a stale pointer to one
 * leads to some slab's record, and every such path checks again under a lock. */

#include "core/engine/account.h"
#include "core/engine/pool.h"
#include "core/engine/size_class.h"

struct msp_heap;
struct msp_thread;

enum {
    MSP_OBJECT_FREE     = 0x8000, /* of a word, and of every index */
    MSP_OBJECT_FALLBACK = 0x4000, /* of a live one */
    MSP_OBJECT_REMOTE   = 0x4000, /* of one in the remote list */
    MSP_OBJECT_VALUE    = 0x3fff,
    MSP_OBJECT_NONE     = MSP_OBJECT_FREE, /* end of a list */
    MSP_EDGE_NEVER      = -(1 << 24),      /* less than any count */
    MSP_SLAB_FREE_SHARE = 8, /* a full slab is one with free objects again when this part of it is
                                free: less is not worth the change */
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
    uintptr_t base;      /* the object of index i starts at base + i * size_bytes */
    uint64_t divisor;    /* of the class */
    uint64_t whole;      /* the same again: msp_slab_index() */
    uint64_t size_bytes; /* of an object */
    uint16_t capacity;   /* 0: stands where a heap has none */
    uint8_t class_index;
    _Atomic(struct msp_account *) account;

    /* The owner's. Handed objects are live, in the remote list or in that of first_free. */
    uint32_t first_free __attribute__((aligned(MSP_CACHE_LINE_BYTES))); /* to be allocated */
    int32_t free_left;     /* in the list of first_free */
    uint32_t first_freed;  /* by the owner since that list was made */
    int32_t left;          /* frees until so many are handed as edge says */
    int32_t edge;          /* handed count after a free at which something has to change */
    uint16_t made;         /* objects that have ever been in a list */
    _Atomic uint8_t state; /* enum msp_slab_state; other threads that free read it, too */
    bool tight;            /* charge is exact, and every free of the owner's changes it */
    int64_t charge;      /* at least that of its live objects, and of full objects for free_left */
    int64_t charge_full; /* that of all objects that were made */
    uint32_t seen_free;  /* first_free, first_freed and left at the last look whether the slab is */
    uint32_t seen_freed; /* used */
    int32_t seen_left;
    bool purged; /* its free pages have been given back, and it was not used since */
    unsigned char *address;
    struct msp_slab *next;
    struct msp_slab *previous;
    struct msp_chunk *chunk;
    struct msp_record *record; /* of its memory in the pool */

    /* Shared by all threads. */
    _Atomic uint64_t remote __attribute__((aligned(MSP_CACHE_LINE_BYTES)));
    _Atomic(struct msp_slab *) next_announced;
    atomic_bool announced; /* in, or on its way to, some heap's list of announced slabs */
}; /* and behind it capacity + 2 words, of which the first and the last are never live */

/* A slab of @p class_index over memory of @p pool; without an owner yet. NULL with an error
 * recorded. */
struct msp_slab *msp_slab_create(struct msp_pool *pool, unsigned class_index,
                                 struct msp_account *account);

/* Its thread no longer finds it by its granules. While that thread is in no section: the caller, or
 * stopped. */
void msp_slab_forget(struct msp_slab *slab);

/* Give a slab without live objects back. Calls no driver. */
void msp_slab_destroy(struct msp_slab *slab);

/* Give pages without live objects back to the system, where they are a quarter of the slab or more;
 * returns the bytes. Its objects stay where they are, in their lists. While the threads are
 * stopped. */
size_t msp_slab_purge(struct msp_slab *slab);

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

/* The word of an index. */
static inline uint16_t *msp_slab_word(struct msp_slab *slab, size_t i)
{
    return (uint16_t *)(slab + 1) + (i - MSP_OBJECT_FREE);
}

static inline unsigned msp_slab_word_of(const struct msp_slab *slab, size_t i)
{
    return ((const uint16_t *)(slab + 1))[i - MSP_OBJECT_FREE];
}

static inline bool msp_slab_is_live(const struct msp_slab *slab, size_t i)
{
    return (msp_slab_word_of(slab, i) & MSP_OBJECT_FREE) == 0;
}

/* Where a heap has no slab of a class stands one without objects. */
static inline bool msp_slab_is_none(const struct msp_slab *slab)
{
    return slab->capacity == 0;
}

/* By the owner, or while it is stopped, as those below. */
static inline unsigned msp_slab_handed(const struct msp_slab *slab)
{
    return (unsigned)(slab->edge + slab->left);
}

/* Objects in use, or in the remote list. */
static inline unsigned msp_slab_used(const struct msp_slab *slab)
{
    return (unsigned)(slab->edge + slab->left - slab->free_left);
}

/* So many are handed. */
void msp_slab_set_handed(struct msp_slab *slab, unsigned handed);

/* The list of free objects is empty: how many can be in the next. */
unsigned msp_slab_available(const struct msp_slab *slab);

/* The list of free objects is empty: make one of @p count, at most msp_slab_available(). */
void msp_slab_refill(struct msp_slab *slab, unsigned count);

/* The same with all that were freed, of a current slab that is not tight. */
static inline void msp_slab_swap(struct msp_slab *slab)
{
    slab->first_free  = slab->first_freed;
    slab->first_freed = MSP_OBJECT_NONE;
    slab->free_left   = slab->made - (slab->edge + slab->left);
    slab->left        = slab->made - slab->edge;
}

/* Objects that wait to be allocated join the freed ones; returns how many. */
unsigned msp_slab_settle(struct msp_slab *slab);

/* The bytes requested in live objects. Returns how many these are: less than msp_slab_used() while
 * another thread is on its way through freeing one, or has. */
unsigned msp_slab_measure(const struct msp_slab *slab, int64_t *bytes_p);

static inline unsigned msp_slab_state(const struct msp_slab *slab)
{
    return atomic_load_explicit(&slab->state, memory_order_relaxed);
}

/* By the owner, or while there is none. */
static inline void msp_slab_set_state(struct msp_slab *slab, enum msp_slab_state state)
{
    atomic_store_explicit(&slab->state, (uint8_t)state, memory_order_relaxed);
    msp_slab_set_handed(slab, msp_slab_handed(slab));
}

/* What each object takes of the account at most. */
static inline int64_t msp_slab_unit(const struct msp_slab *slab)
{
    return (int64_t)slab->size_bytes + (int64_t)MSP_CHARGE_OVERHEAD_BYTES;
}

__extension__ typedef unsigned __int128 msp_wide_t;

/* The index of the slab's object that holds @p pointer, an address in its granules; capacity + 1:
 * none does. *start_p: it starts there. A division whose dividend is below 2^32 (Lemire, Kaser,
 * Kurz: Faster remainder by direct computation); whole equals divisor, so that neither needs a
 * register. */
static inline size_t msp_slab_index(const struct msp_slab *slab, const void *pointer, bool *start_p)
{
    msp_wide_t product = (msp_wide_t)((uintptr_t)pointer - slab->base) * slab->divisor;

    *start_p = (uint64_t)product < slab->whole;
    return (size_t)(product >> 64);
}

/* Where the object of an index starts. */
static inline void *msp_slab_object(const struct msp_slab *slab, size_t index)
{
    return (void *)(slab->base + index * slab->size_bytes);
}

/* Push an object that another thread owns onto the remote list. */
uint64_t msp_slab_push_remote(struct msp_slab *slab, unsigned i, uint64_t charge);

#endif /* MEMSPAN_CORE_ENGINE_SLAB_H */
