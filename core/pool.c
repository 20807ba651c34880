/* SPDX-License-Identifier: BSD-3-Clause */
/* pool.c: chunks divided into blocks, with every record outside the memory.
 *
 * A chunk is a row of blocks, free or used, without gaps; two free blocks never stand side by side.
 * Which free block serves a request is fit.c's matter; here blocks are cut and joined, chunks taken
 * and given back. A block from direct_bytes upwards is a chunk of its own.
 *
 * One lock a pool guards everything of it. No driver is called with the lock held: a chunk is taken
 * first and entered then, taken out first and given back then. */

#include "core/pool.h"
#include "core/base/error.h"
#include "core/base/platform.h"
#include "core/fit.h"
#include "core/pointer_map.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A chunk as its pool sees it (chunk->pool_data). */
struct blocks {
    struct blocks *next; /* in the pool's list of chunks that are divided */
    struct blocks *previous;
    struct memspan_chunk *chunk;
    uint32_t *record_at; /* by unit: the record of the block that starts there */
    uint64_t *starts;    /* a bit for each unit where a block starts */
    uint32_t units;
    uint32_t used_count;
    uint32_t direct_record; /* its only record, for a block that is a chunk */
};

struct memspan_pool {
    struct memspan_provider *provider;
    pthread_mutex_t lock;
    struct blocks *chunks;
    size_t empty_chunks;
    struct memspan_fit fit;
};

/* ---- blocks ---- */

static struct blocks *blocks_of(const struct memspan_record *r)
{
    return r->chunk->pool_data;
}

static void mark_start(struct blocks *b, uint32_t offset, uint32_t id)
{
    b->record_at[offset] = id;
    if (id != 0) {
        b->starts[offset / 64] |= UINT64_C(1) << (offset % 64);
    } else {
        b->starts[offset / 64] &= ~(UINT64_C(1) << (offset % 64));
    }
}

/* Cuts a block in two; the second part's record, which is in no bin yet. Needs a reserved record.
 */
static uint32_t split(struct memspan_pool *pool, uint32_t id, uint32_t first_size)
{
    struct memspan_record *r    = memspan_fit_record(&pool->fit, id);
    uint32_t rest_id            = memspan_fit_new_record(&pool->fit);
    struct memspan_record *rest = memspan_fit_record(&pool->fit, rest_id);

    rest->chunk  = r->chunk;
    rest->offset = r->offset + first_size;
    rest->size   = r->size - first_size;
    rest->before = id;
    rest->after  = r->after;
    if (r->after != 0) {
        memspan_fit_record(&pool->fit, r->after)->before = rest_id;
    }
    r->after = rest_id;
    r->size  = first_size;
    mark_start(blocks_of(r), rest->offset, rest_id);
    return rest_id;
}

/* Joins a block with the one after it, whose record goes. Neither is in a bin. */
static void join(struct memspan_pool *pool, uint32_t id)
{
    struct memspan_record *r    = memspan_fit_record(&pool->fit, id);
    uint32_t next_id            = r->after;
    struct memspan_record *next = memspan_fit_record(&pool->fit, next_id);

    r->size += next->size;
    r->after = next->after;
    if (next->after != 0) {
        memspan_fit_record(&pool->fit, next->after)->before = id;
    }
    mark_start(blocks_of(r), next->offset, 0);
    memspan_fit_drop_record(&pool->fit, next_id);
}

/* Takes a block out of the free ones. NULL when no block is large enough. */
static void *carve(struct memspan_pool *pool, uint32_t size, size_t align_bytes,
                   const struct memspan_block_owner *owner)
{
    uint32_t skip;
    uint32_t id = memspan_fit_find(&pool->fit, size, align_bytes, &skip);
    struct memspan_record *r;

    if ((id == 0) || !memspan_fit_reserve(&pool->fit, 2)) {
        return NULL;
    }
    memspan_fit_remove(&pool->fit, id);
    if (skip > 0) {
        uint32_t rest = split(pool, id, skip);
        memspan_fit_insert(&pool->fit, id);
        id = rest;
    }
    r = memspan_fit_record(&pool->fit, id);
    if (r->size > size) {
        memspan_fit_insert(&pool->fit, split(pool, id, size));
    }
    r->used  = true;
    r->owner = *owner;
    if (blocks_of(r)->used_count++ == 0) {
        pool->empty_chunks--;
    }
    return memspan_record_address(r);
}

/* ---- chunks ---- */

static void destroy_blocks(struct blocks *b)
{
    if (b != NULL) {
        free(b->record_at);
        free(b->starts);
        free(b);
    }
}

static struct blocks *create_blocks(struct memspan_chunk *chunk, uint32_t units)
{
    struct blocks *b = calloc(1, sizeof(*b));

    if (b == NULL) {
        return NULL;
    }
    b->chunk     = chunk;
    b->units     = units;
    b->record_at = calloc(units, sizeof(*b->record_at));
    b->starts    = calloc((units + 63) / 64, sizeof(*b->starts));
    if ((b->record_at == NULL) || (b->starts == NULL)) {
        destroy_blocks(b);
        return NULL;
    }
    return b;
}

/* Enters a chunk as one free block. Lock held. */
static bool enter_chunk(struct memspan_pool *pool, struct blocks *b)
{
    struct memspan_record *r;
    uint32_t id;

    if (!memspan_fit_reserve(&pool->fit, 1)) {
        return false;
    }
    id                  = memspan_fit_new_record(&pool->fit);
    r                   = memspan_fit_record(&pool->fit, id);
    r->chunk            = b->chunk;
    r->size             = b->units;
    b->chunk->pool_data = b;
    mark_start(b, 0, id);
    memspan_fit_insert(&pool->fit, id);
    b->next = pool->chunks;
    if (b->next != NULL) {
        b->next->previous = b;
    }
    pool->chunks = b;
    pool->empty_chunks++;
    return true;
}

/* Takes a chunk without used blocks out. Lock held; the caller gives it back without the lock. */
static void leave_chunk(struct memspan_pool *pool, struct blocks *b)
{
    uint32_t id = b->record_at[0];

    memspan_fit_remove(&pool->fit, id);
    memspan_fit_drop_record(&pool->fit, id);
    if (b->next != NULL) {
        b->next->previous = b->previous;
    }
    if (b->previous != NULL) {
        b->previous->next = b->next;
    } else {
        pool->chunks = b->next;
    }
    pool->empty_chunks--;
}

static void give_back(struct blocks *b)
{
    memspan_chunk_give_back(b->chunk); /* a failure is logged there; nothing can be done here */
    destroy_blocks(b);
}

/* Takes a new chunk with room for @p need bytes: of the usual size, or less when that is refused.
 */
static memspan_status_t grow(struct memspan_pool *pool, size_t need)
{
    struct memspan_chunk *chunk = NULL;
    size_t size                 = pool->provider->chunk_bytes;
    memspan_status_t status;
    struct blocks *b;
    bool entered;

    need = (need < MEMSPAN_GRANULE_BYTES) ? MEMSPAN_GRANULE_BYTES : need;
    for (;;) {
        status = memspan_chunk_take(pool->provider, size, 0, false, NULL, 0, &chunk);
        if ((status == MEMSPAN_OK) || (size / 2 < need) ||
            ((status != MEMSPAN_ERR_NO_MEMORY) && (status != MEMSPAN_ERR_LIMIT))) {
            break;
        }
        size /= 2;
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    b = create_blocks(chunk, (uint32_t)(chunk->size_bytes >> MEMSPAN_UNIT_SHIFT));
    if (b != NULL) {
        pthread_mutex_lock(&pool->lock);
        entered = enter_chunk(pool, b);
        pthread_mutex_unlock(&pool->lock);
        if (entered) {
            return MEMSPAN_OK;
        }
        destroy_blocks(b);
    }
    memspan_chunk_give_back(chunk);
    return memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for a pool's records");
}

/* ---- direct blocks ---- */

static memspan_status_t alloc_direct(struct memspan_pool *pool, size_t size_bytes,
                                     size_t align_bytes, const memspan_part_t *parts,
                                     size_t part_count, const struct memspan_block_owner *owner,
                                     bool *zeroed_p, void **address_p)
{
    struct memspan_chunk *chunk;
    struct blocks *b;
    struct memspan_record *r;
    memspan_status_t status = memspan_chunk_take(pool->provider, size_bytes, align_bytes, *zeroed_p,
                                                 parts, part_count, &chunk);

    if (status != MEMSPAN_OK) {
        return status;
    }
    b = create_blocks(chunk, 1);
    pthread_mutex_lock(&pool->lock);
    if ((b == NULL) || !memspan_fit_reserve(&pool->fit, 1)) {
        pthread_mutex_unlock(&pool->lock);
        destroy_blocks(b);
        memspan_chunk_give_back(chunk);
        return memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for a pool's records");
    }
    b->direct_record = memspan_fit_new_record(&pool->fit);
    r                = memspan_fit_record(&pool->fit, b->direct_record);
    r->chunk         = chunk;
    r->used          = true;
    r->owner         = *owner;
    chunk->pool_data = b;
    *address_p       = chunk->address;
    *zeroed_p        = (chunk->block.flags & MEMSPAN_BLOCK_ZEROED) != 0;
    pthread_mutex_unlock(&pool->lock);
    return MEMSPAN_OK;
}

/* ---- what the header promises ---- */

struct memspan_pool *memspan_pool_create(struct memspan_provider *provider)
{
    struct memspan_pool *pool = calloc(1, sizeof(*pool));

    if (pool != NULL) {
        pool->provider = provider;
        pthread_mutex_init(&pool->lock, NULL);
    }
    return pool;
}

memspan_status_t memspan_pool_alloc(struct memspan_pool *pool, size_t size_bytes,
                                    size_t align_bytes, const memspan_part_t *parts,
                                    size_t part_count, const struct memspan_block_owner *owner,
                                    bool *zeroed_p, void **address_p)
{
    size_t direct_bytes = pool->provider->direct_bytes;
    uint32_t units;
    memspan_status_t status;

    if ((parts != NULL) || (size_bytes >= direct_bytes) || (align_bytes >= direct_bytes)) {
        return alloc_direct(pool, size_bytes, align_bytes, parts, part_count, owner, zeroed_p,
                            address_p);
    }
    units     = (uint32_t)((size_bytes + MEMSPAN_UNIT_BYTES - 1) >> MEMSPAN_UNIT_SHIFT);
    *zeroed_p = false;
    for (;;) {
        pthread_mutex_lock(&pool->lock);
        *address_p = carve(pool, units, align_bytes, owner);
        pthread_mutex_unlock(&pool->lock);
        if (*address_p != NULL) {
            return MEMSPAN_OK;
        }
        status = grow(pool, size_bytes + align_bytes);
        if (status != MEMSPAN_OK) {
            return status;
        }
    }
}

/* The record of the used block that holds the address. Lock held. */
static struct memspan_record *find_used(struct memspan_pool *pool, const struct blocks *b,
                                        const void *address)
{
    size_t unit =
        (size_t)((const unsigned char *)address - b->chunk->address) >> MEMSPAN_UNIT_SHIFT;
    size_t word = unit / 64;
    uint64_t bits;
    uint32_t id;

    if (b->direct_record != 0) {
        id = b->direct_record;
    } else {
        bits = b->starts[word] & (~UINT64_C(0) >> (63 - unit % 64));
        while (bits == 0) { /* ends: a block starts at unit 0 */
            bits = b->starts[--word];
        }
        id = b->record_at[word * 64 + 63 - (size_t)__builtin_clzll(bits)];
    }
    return memspan_fit_record(&pool->fit, id)->used ? memspan_fit_record(&pool->fit, id) : NULL;
}

static struct memspan_chunk *chunk_at(const void *address)
{
    struct memspan_chunk *chunk = memspan_map_find(address);

    if ((chunk == NULL) || ((const unsigned char *)address >= chunk->address + chunk->size_bytes)) {
        return NULL;
    }
    return chunk;
}

static memspan_status_t refuse(const void *address, const struct memspan_chunk *chunk,
                               const struct memspan_record *r)
{
    if (chunk == NULL) {
        memspan_error(MEMSPAN_ERR_NOT_FOUND, "%p is not in memory of Memspan", address);
        return memspan_error_hint("free it with what allocated it");
    }
    if (r == NULL) {
        memspan_error(MEMSPAN_ERR_NOT_FOUND,
                      "%p is in memory of Memspan, but no live block is there", address);
        return memspan_error_hint("it was probably freed before");
    }
    memspan_error(MEMSPAN_ERR_NOT_FOUND, "%p is %zu bytes inside a block of %zu bytes at %p",
                  address,
                  (size_t)((const char *)address - (const char *)memspan_record_address(r)),
                  r->owner.requested_bytes, memspan_record_address(r));
    return memspan_error_hint("free the address that the allocation returned");
}

memspan_status_t memspan_pool_free(void *address, struct memspan_block_owner *owner_p)
{
    struct memspan_chunk *chunk = chunk_at(address);
    struct blocks *leaving      = NULL;
    memspan_status_t status     = MEMSPAN_OK;
    struct memspan_pool *pool;
    struct blocks *b;
    struct memspan_record *r;
    uint32_t id;

    if (chunk == NULL) {
        return refuse(address, NULL, NULL);
    }
    pool = chunk->provider->pool;
    pthread_mutex_lock(&pool->lock);
    b = chunk->pool_data;
    r = (b == NULL) ? NULL : find_used(pool, b, address);
    if ((r == NULL) || (memspan_record_address(r) != address)) {
        status = refuse(address, chunk, r);
        goto out_unlock;
    }
    *owner_p = r->owner;
    r->used  = false;
    if (b->direct_record != 0) {
        memspan_fit_drop_record(&pool->fit, b->direct_record);
        chunk->pool_data = NULL;
        leaving          = b;
        goto out_unlock;
    }
    id = b->record_at[r->offset];
    if ((r->after != 0) && !memspan_fit_record(&pool->fit, r->after)->used) {
        memspan_fit_remove(&pool->fit, r->after);
        join(pool, id);
    }
    if ((r->before != 0) && !memspan_fit_record(&pool->fit, r->before)->used) {
        id = r->before;
        memspan_fit_remove(&pool->fit, id);
        join(pool, id);
    }
    memspan_fit_insert(&pool->fit, id);
    if (--b->used_count == 0) {
        /* One chunk stays for the next request; pages that count against a limit never do. */
        pool->empty_chunks++;
        if ((pool->empty_chunks > 1) || (pool->provider->chunk_bytes == MEMSPAN_GRANULE_BYTES)) {
            leave_chunk(pool, b);
            leaving = b;
        }
    }
out_unlock:
    pthread_mutex_unlock(&pool->lock);
    if (leaving != NULL) {
        give_back(leaving);
    }
    return status;
}

static size_t capacity_of(const struct memspan_record *r)
{
    return (r->size == 0) ? r->chunk->size_bytes : ((size_t)r->size << MEMSPAN_UNIT_SHIFT);
}

bool memspan_pool_find(const void *address, struct memspan_block_view *view_p)
{
    struct memspan_chunk *chunk = chunk_at(address);
    struct memspan_record *r    = NULL;
    struct memspan_pool *pool;

    if (chunk == NULL) {
        return false;
    }
    pool = chunk->provider->pool;
    pthread_mutex_lock(&pool->lock);
    if (chunk->pool_data != NULL) {
        r = find_used(pool, chunk->pool_data, address);
    }
    if (r != NULL) {
        *view_p = (struct memspan_block_view){.chunk          = chunk,
                                              .address        = memspan_record_address(r),
                                              .capacity_bytes = capacity_of(r),
                                              .owner          = r->owner};
    }
    pthread_mutex_unlock(&pool->lock);
    return r != NULL;
}

bool memspan_pool_retag(void *address, const struct memspan_block_owner *owner)
{
    struct memspan_chunk *chunk = chunk_at(address);
    struct memspan_record *r;
    struct memspan_pool *pool;
    bool done = false;

    if (chunk == NULL) {
        return false;
    }
    pool = chunk->provider->pool;
    pthread_mutex_lock(&pool->lock);
    r = (chunk->pool_data == NULL) ? NULL : find_used(pool, chunk->pool_data, address);
    if ((r != NULL) && (owner->requested_bytes <= capacity_of(r)) &&
        ((owner->requested_bytes > capacity_of(r) / 2) ||
         (capacity_of(r) <= 4 * MEMSPAN_UNIT_BYTES))) {
        r->owner = *owner;
        done     = true;
    }
    pthread_mutex_unlock(&pool->lock);
    return done;
}

size_t memspan_pool_trim(struct memspan_pool *pool)
{
    struct blocks *leaving = NULL;
    struct blocks *next;
    struct blocks *b;
    size_t total = 0;

    pthread_mutex_lock(&pool->lock);
    for (b = pool->chunks; b != NULL; b = next) {
        next = b->next;
        if (b->used_count == 0) {
            leave_chunk(pool, b);
            b->next = leaving;
            leaving = b;
        }
    }
    pthread_mutex_unlock(&pool->lock);
    for (b = leaving; b != NULL; b = next) {
        next = b->next;
        total += b->chunk->size_bytes;
        give_back(b);
    }
    return total;
}

void memspan_pool_measure(struct memspan_pool *pool, struct memspan_pool_measure *measure_p)
{
    struct memspan_pool_measure m = {0};
    unsigned bin;
    uint32_t id;

    pthread_mutex_lock(&pool->lock);
    m.held_bytes = atomic_load_explicit(&pool->provider->held_bytes, memory_order_relaxed);
    for (bin = 0; bin < MEMSPAN_FIT_FL_COUNT * MEMSPAN_FIT_SL_COUNT; bin++) {
        id = pool->fit.bins[bin / MEMSPAN_FIT_SL_COUNT][bin % MEMSPAN_FIT_SL_COUNT];
        for (; id != 0; id = memspan_fit_record(&pool->fit, id)->bin_after) {
            uint64_t bytes = (uint64_t)memspan_fit_record(&pool->fit, id)->size
                             << MEMSPAN_UNIT_SHIFT;
            m.free_bytes += bytes;
            m.largest_free_bytes = (bytes > m.largest_free_bytes) ? bytes : m.largest_free_bytes;
        }
    }
    pthread_mutex_unlock(&pool->lock);
    *measure_p = m;
}

/* ---- invariants ---- */

static const char *check_chunk(const struct memspan_pool *pool, const struct blocks *b,
                               size_t *free_count)
{
    uint32_t id     = b->record_at[0];
    uint32_t before = 0;
    uint32_t offset = 0;
    uint32_t used   = 0;
    bool was_free   = false;

    for (; id != 0; id = memspan_fit_record(&pool->fit, id)->after) {
        const struct memspan_record *r = memspan_fit_record(&pool->fit, id);

        if ((r->chunk != b->chunk) || (r->offset != offset) || (r->before != before)) {
            return "a block is not where its neighbour ends";
        }
        if ((r->size == 0) || (r->size > b->units - offset) || (b->record_at[offset] != id)) {
            return "a block's size or start does not hold";
        }
        if (!r->used && was_free) {
            return "two free blocks stand side by side";
        }
        was_free = !r->used;
        used += r->used ? 1 : 0;
        *free_count += r->used ? 0 : 1;
        before = id;
        offset += r->size;
    }
    if ((offset != b->units) || (used != b->used_count)) {
        return "a chunk's blocks do not fill it, or are miscounted";
    }
    return NULL;
}

memspan_status_t memspan_pool_check(struct memspan_pool *pool)
{
    const char *problem = NULL;
    size_t free_count   = 0;
    struct blocks *b;

    pthread_mutex_lock(&pool->lock);
    for (b = pool->chunks; (problem == NULL) && (b != NULL); b = b->next) {
        problem = check_chunk(pool, b, &free_count);
    }
    if (problem == NULL) {
        problem = memspan_fit_check(&pool->fit, free_count);
    }
    pthread_mutex_unlock(&pool->lock);
    return (problem == NULL) ? MEMSPAN_OK
                             : memspan_error(MEMSPAN_ERR_INTERNAL, "pool of %s memory: %s",
                                             memspan_kind_name(pool->provider->spec.kind), problem);
}

void memspan_pool_before_fork(struct memspan_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
}

void memspan_pool_after_fork(struct memspan_pool *pool)
{
    pthread_mutex_unlock(&pool->lock);
}
