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
    _Atomic(struct memspan_thread *) thread; /* whose heap it is in; NULL: nobody's */
    _Atomic(struct memspan_heap *) heap;
    unsigned char *address;
    uint32_t size_bytes; /* of an object */
    uint32_t reciprocal;
    uint16_t first_free;
    uint16_t used_count;
    uint16_t edge; /* used_count after a free at which the lists change */
    uint16_t made; /* objects that have ever been in a list */
    uint16_t capacity;
    uint8_t class_index;
    uint8_t state; /* enum memspan_slab_state */
    bool zeroed;   /* what was never given out is zero */
    _Atomic uint64_t remote __attribute__((aligned(MEMSPAN_CACHE_LINE_BYTES)));
    _Atomic(struct memspan_account *) account;
    struct memspan_slab *next;
    struct memspan_slab *previous;
    _Atomic(struct memspan_slab *) next_announced;
    atomic_bool announced; /* in, or on its way to, some heap's list of announced slabs */
    struct memspan_chunk *chunk;
    struct memspan_record *record; /* of its memory in the pool */
    uint16_t objects[];            /* capacity + 1; the last is never live */
};

/* A slab of @p class_index over memory of @p pool; nobody's yet. NULL with an error recorded. */
struct memspan_slab *memspan_slab_create(struct memspan_pool *pool, unsigned class_index,
                                         struct memspan_account *account);

/* Give a slab without live objects back. Calls no driver. */
void memspan_slab_destroy(struct memspan_slab *slab);

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

/* The object that holds @p pointer; *offset_p: the bytes before it. capacity: none. */
static inline uint32_t memspan_slab_index(const struct memspan_slab *slab, const void *pointer,
                                          uint32_t *offset_p)
{
    uint32_t offset = (uint32_t)((const unsigned char *)pointer - slab->address);
    uint32_t i      = (uint32_t)(((uint64_t)offset * slab->reciprocal) >> 32);

    *offset_p = offset - i * slab->size_bytes;
    return i;
}

/* Push an object that another thread owns onto the remote list. */
uint64_t memspan_slab_push_remote(struct memspan_slab *slab, uint32_t index, uint64_t charge);

void memspan_slab_before_fork(void);
void memspan_slab_after_fork(void);

#endif /* MEMSPAN_CORE_SLAB_H */
