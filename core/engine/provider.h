/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_ENGINE_PROVIDER_H
#define MEMSPAN_CORE_ENGINE_PROVIDER_H

/* A provider is a backend's coarse allocation call with its arguments fixed: one device, one kind,
 * one placement. Equal arguments give the same provider, and each provider has one pool. */

#include "core/device/device.h"
#include "core/device/space.h"
#include "core/engine/density.h"
#include "core/engine/fit.h"
#include <pthread.h>
#include <stdatomic.h>

/* A provider's request; compared as a whole, so it is made with memset(0) first. */
struct msp_provider_spec {
    const struct msp_device *device;
    memspan_kind_t kind;
    unsigned flags; /* enum memspan_request_flag, but ZEROED */
    int resident_ordinal;
    size_t page_size_bytes;
    memspan_spread_t spread;
    size_t part_size_bytes;
    const int *nodes; /* copied when the provider is made */
    size_t node_count;
    const struct msp_device *const *importers; /* likewise */
    size_t importer_count;
};

bool msp_provider_spec_equal(const struct msp_provider_spec *a, const struct msp_provider_spec *b);

struct msp_pool;

struct msp_provider {
    struct msp_provider_spec spec;
    size_t chunk_first_bytes; /* the chunk that the pool takes when it has nothing */
    size_t chunk_bytes;       /* and then at a time, at first */
    size_t chunk_max_bytes;   /* and when it holds much */
    size_t direct_bytes;      /* from here on a block is a chunk of its own */
    size_t exact_bytes;       /* from here on a chunk is taken for the block and no more */
    size_t growth_divisor;    /* of the bytes held: the largest chunk that is taken next */
    bool resizes;             /* blocks that are chunks may get another size, as chunks */
    bool eager;               /* pages go back at once: they count against a limit */
    _Atomic uint64_t held_bytes;
    _Atomic unsigned given_flags;  /* enum memspan_block_flag of the last chunk */
    atomic_size_t given_page_size; /* of the last chunk */
    atomic_bool page_size_missed;  /* pages of the requested size could not be had */
    struct msp_density divided;    /* of chunks that large blocks are cut from */
    struct msp_pool *pool;
    struct msp_provider *next;
};

/* The provider for that specification, made on first use; NULL with an error recorded. */
struct msp_provider *msp_provider_get(const struct msp_provider_spec *spec);

/* Bytes that all of them have of their drivers. */
uint64_t msp_provider_held_bytes(void);

/* First of all providers; they are never freed, so the list may be walked without a lock. */
struct msp_provider *msp_provider_first(void);

/* Memory of one provider, registered in the pointer map. Records are used again, never freed: a
 * stale entry of the map leads to some chunk. */
struct msp_chunk {
    struct msp_provider *provider;
    unsigned char *address;
    size_t size_bytes;
    atomic_size_t kept_bytes; /* its size, if heaps may keep blocks of it; else 0 */
    memspan_block_t block;
    uint64_t serial;                  /* never that of another chunk of this process */
    const struct msp_space *moved_to; /* by memspan_move(), the last time; NULL: never */
    void **import_cookies;
    uint8_t pages;      /* enum msp_chunk_pages */
    bool sparse;        /* it was taken with base pages, by choice */
    bool can_purge;     /* pages of it can go back by themselves */
    atomic_bool purged; /* some have */
    atomic_bool holed;  /* some of slabs, which the pool does not see filled again */

    /* The pool's own. */
    atomic_bool ready; /* the rest is set */
    bool is_direct;    /* one block, direct; else divided, range */
    struct msp_range range;
    struct msp_record direct;
    uint64_t empty_since_ms;
    size_t exact_bytes; /* its size, if it was taken for one block; else 0 */
    struct msp_chunk *next_unused;
};

/* The entry of a chunk's granules in the pointer map. */
uintptr_t msp_chunk_entry(const struct msp_chunk *chunk);

/* The record kept with a block. */
struct msp_block_owner {
    struct msp_account *account; /* the account it is charged to */
    size_t requested_bytes;
    bool fallback; /* given by a fallback of the requested allocator */
};

/* A request for memory: from the allocator's level down to the driver. Each level reads the members
 * that it needs; only owner and objects have no meaning for a chunk. */
struct msp_request {
    struct msp_provider *provider;
    size_t size_bytes;           /* > 0 */
    size_t align_bytes;          /* power of two */
    const memspan_part_t *parts; /* how it is divided, or NULL */
    size_t part_count;
    struct msp_block_owner owner;
    bool objects;  /* may be an object of the thread's heap */
    bool grows;    /* for a block that has outgrown its place: one where it can grow again */
    bool apart;    /* a chunk of its own, of any size */
    bool zeroed;   /* zero bytes requested from the driver, where it allocates this block alone */
    bool sparse;   /* base pages, where the driver has the choice */
    bool thorough; /* nothing else is to be had: look everywhere */
};

/* Take a chunk of the request's size; block.flags shows whether it is zero. */
memspan_status_t msp_chunk_take(const struct msp_request *request, struct msp_chunk **chunk_p);

/* Another size for a chunk that is one block, its contents kept: where it stands or elsewhere,
 * without copying. *chunk_p: its record from now on; the old one is as if it were given back.
 * False: the chunk is as before; the driver may have recorded an error. */
bool msp_chunk_resize(struct msp_chunk *chunk, size_t size_bytes, size_t align_bytes,
                      struct msp_chunk **chunk_p);

/* Move the pages of a chunk that is one block to where provider @p to, of the same device and kind,
 * has its memory; it is a chunk of that one from now on. */
memspan_status_t msp_chunk_move(struct msp_chunk *chunk, struct msp_provider *to);

/* Give a chunk back; nothing in it is in use. */
memspan_status_t msp_chunk_give_back(struct msp_chunk *chunk);

/* Its last part: what the driver has to do. */
memspan_status_t msp_chunk_release(struct msp_chunk *chunk);

/* given_back.c: note that a chunk goes; whether one of those that went last was there. */
void msp_chunk_note_gone(const struct msp_chunk *chunk);
bool msp_chunk_was_here(const void *address);

/* given_back.c: whether the calling thread is in a function that holds a queue; NULL: no function
 * was called on one. What it gives back then is put off (true) until another thread takes a chunk,
 * trims, or has waited for a queue. */
extern bool (*_Atomic msp_chunk_in_function)(void);
bool msp_chunk_put_off(struct msp_chunk *chunk);
void msp_chunk_give_put_off(void);

/* Give the pages of a part of a chunk back to the system, which must be unused; they are zero when
 * they are next used. False: it cannot be done. Waits for nothing: for those who hold a lock, or
 * have the threads stopped. */
bool msp_chunk_purge(struct msp_chunk *chunk, void *address, size_t size_bytes);

/* A chunk whose pages went back is in use again: new pages may be huge, as at first. Not with holes
 * in it, which the kernel's daemon would fill. Waits for nothing. */
void msp_chunk_refill(struct msp_chunk *chunk);

/* True when the host may use loads and stores on the provider's memory at any time; for managed
 * memory, whenever the device is synchronised. */
bool msp_provider_host_touches(const struct msp_provider *provider);

/* Its chunks come and go without a call of another driver than the host's. */
bool msp_provider_is_host_only(const struct msp_provider *provider);

/* Settle all pools (core/engine/pool.h), or those alone whose provider is host only. */
void msp_provider_settle_all(bool host_only);

/* The list of providers; and the pools and records of chunks, whose locks are taken later. */

#endif /* MEMSPAN_CORE_ENGINE_PROVIDER_H */
