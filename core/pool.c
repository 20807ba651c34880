/* SPDX-License-Identifier: BSD-3-Clause */
/* pool.c: two-level segregated fit over chunks, with records outside the memory.
 *
 * A chunk is a row of blocks, free or used, without gaps; two free blocks never stand side by side.
 * Sizes and offsets count units of 64 bytes. Each block has a record; records are numbered from 1
 * (0 is none), live in segments that never move, and know their neighbours in the chunk and, when
 * free, in their bin. A bin holds free blocks of one size range: 16 ranges a power of two, and two
 * bitmaps find the first non-empty bin that is surely large enough in a few instructions.
 *
 * A block from direct_bytes upwards is a chunk of its own.
 *
 * One lock a pool guards everything of it. No driver is called with the lock held: a chunk is taken
 * first and entered then, taken out first and given back then. */

#include "core/pool.h"
#include "core/base/error.h"
#include "core/base/platform.h"
#include "core/pointer_map.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    UNIT_SHIFT      = 6, /* a cache line: no two blocks share one */
    SL_SHIFT        = 4,
    SL_COUNT        = 1 << SL_SHIFT,
    FL_COUNT        = 32 - SL_SHIFT,
    SEGMENT_SHIFT   = 10,
    SEGMENT_RECORDS = 1 << SEGMENT_SHIFT,
    SEGMENTS_MAX    = 1 << 16, /* 64 Mi blocks */
};
#define UNIT_BYTES ((size_t)1 << UNIT_SHIFT)

struct record {
    struct memspan_chunk *chunk;
    struct memspan_block_owner owner;
    uint32_t offset; /* units from the chunk's start */
    uint32_t size;   /* units; 0 for a direct block */
    uint32_t before; /* neighbours in the chunk */
    uint32_t after;
    uint32_t bin_before; /* neighbours in the bin; bin_after also links unused records */
    uint32_t bin_after;
    bool used;
};

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
    struct record *segments[SEGMENTS_MAX];
    uint32_t segment_count;
    uint32_t unused_record; /* head of the list of records without a block */
    uint32_t fl_map;
    uint32_t sl_map[FL_COUNT];
    uint32_t bins[FL_COUNT][SL_COUNT];
};

/* ---- records ---- */

static struct record *record_of(const struct memspan_pool *pool, uint32_t id)
{
    return &pool->segments[id >> SEGMENT_SHIFT][id & (SEGMENT_RECORDS - 1)];
}

static bool add_segment(struct memspan_pool *pool)
{
    struct record *segment;
    uint32_t first = pool->segment_count << SEGMENT_SHIFT;
    uint32_t i;

    if (pool->segment_count == SEGMENTS_MAX) {
        return false;
    }
    segment = calloc(SEGMENT_RECORDS, sizeof(*segment));
    if (segment == NULL) {
        return false;
    }
    pool->segments[pool->segment_count++] = segment;
    for (i = SEGMENT_RECORDS; i-- > 0;) {
        if (first + i != 0) {
            segment[i].bin_after = pool->unused_record;
            pool->unused_record  = first + i;
        }
    }
    return true;
}

/* Makes sure that @p count more records can be had without failing. */
static bool reserve_records(struct memspan_pool *pool, unsigned count)
{
    uint32_t id = pool->unused_record;

    for (; count > 0; count--) {
        if (id == 0) {
            return add_segment(pool);
        }
        id = record_of(pool, id)->bin_after;
    }
    return true;
}

static uint32_t new_record(struct memspan_pool *pool)
{
    uint32_t id      = pool->unused_record;
    struct record *r = record_of(pool, id);

    pool->unused_record = r->bin_after;
    memset(r, 0, sizeof(*r));
    return id;
}

static void drop_record(struct memspan_pool *pool, uint32_t id)
{
    struct record *r = record_of(pool, id);

    memset(r, 0, sizeof(*r));
    r->bin_after        = pool->unused_record;
    pool->unused_record = id;
}

/* ---- bins ---- */

static void bin_of(uint32_t size, unsigned *fl, unsigned *sl)
{
    if (size < SL_COUNT) {
        *fl = 0;
        *sl = size;
    } else {
        unsigned log = 31 - (unsigned)__builtin_clz(size);
        *fl          = log - SL_SHIFT + 1;
        *sl          = (size >> (log - SL_SHIFT)) & (SL_COUNT - 1);
    }
}

static void bin_insert(struct memspan_pool *pool, uint32_t id)
{
    struct record *r = record_of(pool, id);
    unsigned fl;
    unsigned sl;
    uint32_t head;

    bin_of(r->size, &fl, &sl);
    head          = pool->bins[fl][sl];
    r->bin_before = 0;
    r->bin_after  = head;
    if (head != 0) {
        record_of(pool, head)->bin_before = id;
    }
    pool->bins[fl][sl] = id;
    pool->sl_map[fl] |= 1u << sl;
    pool->fl_map |= 1u << fl;
}

static void bin_remove(struct memspan_pool *pool, uint32_t id)
{
    struct record *r = record_of(pool, id);
    unsigned fl;
    unsigned sl;

    bin_of(r->size, &fl, &sl);
    if (r->bin_after != 0) {
        record_of(pool, r->bin_after)->bin_before = r->bin_before;
    }
    if (r->bin_before != 0) {
        record_of(pool, r->bin_before)->bin_after = r->bin_after;
        return;
    }
    pool->bins[fl][sl] = r->bin_after;
    if (r->bin_after == 0) {
        pool->sl_map[fl] &= ~(1u << sl);
        if (pool->sl_map[fl] == 0) {
            pool->fl_map &= ~(1u << fl);
        }
    }
}

/* The first of a free block's units on a boundary, or none if the rest is too short. */
static bool fits(const struct memspan_pool *pool, uint32_t id, uint32_t size, size_t align_bytes,
                 uint32_t *skip_p)
{
    const struct record *r = record_of(pool, id);
    uintptr_t start        = (uintptr_t)r->chunk->address + ((size_t)r->offset << UNIT_SHIFT);
    uintptr_t aligned      = (start + align_bytes - 1) & ~(uintptr_t)(align_bytes - 1);
    uint32_t skip          = (uint32_t)((aligned - start) >> UNIT_SHIFT);

    *skip_p = skip;
    return (r->size >= skip) && (r->size - skip >= size);
}

/* A free block for @p size units on a boundary; 0 if there is none. First where any block of the
 * bin is large enough, whatever its address; then, to leave nothing unused, by looking. */
static uint32_t find_free(const struct memspan_pool *pool, uint32_t size, size_t align_bytes,
                          uint32_t *skip_p)
{
    uint32_t slack = (uint32_t)((align_bytes - 1) >> UNIT_SHIFT);
    uint32_t sure  = size + slack;
    unsigned fl;
    unsigned sl;
    uint32_t map;
    uint32_t id;

    if (sure >= SL_COUNT) { /* up to the next bin's lower end: any block there is large enough */
        sure += (1u << (31 - (unsigned)__builtin_clz(sure) - SL_SHIFT)) - 1;
    }
    bin_of(sure, &fl, &sl);
    map = pool->sl_map[fl] & (~0u << sl);
    if (map == 0) {
        uint32_t above = (fl + 1 < 32) ? (pool->fl_map & (~0u << (fl + 1))) : 0;
        if (above != 0) {
            fl  = (unsigned)__builtin_ctz(above);
            map = pool->sl_map[fl];
        }
    }
    if (map != 0) {
        id = pool->bins[fl][__builtin_ctz(map)];
        if (fits(pool, id, size, align_bytes, skip_p)) {
            return id;
        }
    }
    bin_of(size, &fl, &sl);
    for (; fl < FL_COUNT; fl++, sl = 0) {
        for (; sl < SL_COUNT; sl++) {
            for (id = pool->bins[fl][sl]; id != 0; id = record_of(pool, id)->bin_after) {
                if (fits(pool, id, size, align_bytes, skip_p)) {
                    return id;
                }
            }
        }
    }
    return 0;
}

/* ---- blocks ---- */

static struct blocks *blocks_of(const struct record *r)
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
    struct record *r    = record_of(pool, id);
    uint32_t rest_id    = new_record(pool);
    struct record *rest = record_of(pool, rest_id);

    rest->chunk  = r->chunk;
    rest->offset = r->offset + first_size;
    rest->size   = r->size - first_size;
    rest->before = id;
    rest->after  = r->after;
    if (r->after != 0) {
        record_of(pool, r->after)->before = rest_id;
    }
    r->after = rest_id;
    r->size  = first_size;
    mark_start(blocks_of(r), rest->offset, rest_id);
    return rest_id;
}

/* Joins a block with the one after it, whose record goes. Neither is in a bin. */
static void join(struct memspan_pool *pool, uint32_t id)
{
    struct record *r    = record_of(pool, id);
    uint32_t next_id    = r->after;
    struct record *next = record_of(pool, next_id);

    r->size += next->size;
    r->after = next->after;
    if (next->after != 0) {
        record_of(pool, next->after)->before = id;
    }
    mark_start(blocks_of(r), next->offset, 0);
    drop_record(pool, next_id);
}

static void *address_of(const struct record *r)
{
    return r->chunk->address + ((size_t)r->offset << UNIT_SHIFT);
}

/* Takes a block out of the free ones. NULL when no block is large enough. */
static void *carve(struct memspan_pool *pool, uint32_t size, size_t align_bytes,
                   const struct memspan_block_owner *owner)
{
    uint32_t skip;
    uint32_t id = find_free(pool, size, align_bytes, &skip);
    struct record *r;

    if ((id == 0) || !reserve_records(pool, 2)) {
        return NULL;
    }
    bin_remove(pool, id);
    if (skip > 0) {
        uint32_t rest = split(pool, id, skip);
        bin_insert(pool, id);
        id = rest;
    }
    r = record_of(pool, id);
    if (r->size > size) {
        bin_insert(pool, split(pool, id, size));
    }
    r->used  = true;
    r->owner = *owner;
    if (blocks_of(r)->used_count++ == 0) {
        pool->empty_chunks--;
    }
    return address_of(r);
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
    struct record *r;
    uint32_t id;

    if (!reserve_records(pool, 1)) {
        return false;
    }
    id                  = new_record(pool);
    r                   = record_of(pool, id);
    r->chunk            = b->chunk;
    r->size             = b->units;
    b->chunk->pool_data = b;
    mark_start(b, 0, id);
    bin_insert(pool, id);
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

    bin_remove(pool, id);
    drop_record(pool, id);
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
    b = create_blocks(chunk, (uint32_t)(chunk->size_bytes >> UNIT_SHIFT));
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
    struct record *r;
    memspan_status_t status = memspan_chunk_take(pool->provider, size_bytes, align_bytes, *zeroed_p,
                                                 parts, part_count, &chunk);

    if (status != MEMSPAN_OK) {
        return status;
    }
    b = create_blocks(chunk, 1);
    pthread_mutex_lock(&pool->lock);
    if ((b == NULL) || !reserve_records(pool, 1)) {
        pthread_mutex_unlock(&pool->lock);
        destroy_blocks(b);
        memspan_chunk_give_back(chunk);
        return memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for a pool's records");
    }
    b->direct_record = new_record(pool);
    r                = record_of(pool, b->direct_record);
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
    units     = (uint32_t)((size_bytes + UNIT_BYTES - 1) >> UNIT_SHIFT);
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
static struct record *find_used(struct memspan_pool *pool, const struct blocks *b,
                                const void *address)
{
    size_t unit = (size_t)((const unsigned char *)address - b->chunk->address) >> UNIT_SHIFT;
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
    return record_of(pool, id)->used ? record_of(pool, id) : NULL;
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
                               const struct record *r)
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
                  address, (size_t)((const char *)address - (const char *)address_of(r)),
                  r->owner.requested_bytes, address_of(r));
    return memspan_error_hint("free the address that the allocation returned");
}

memspan_status_t memspan_pool_free(void *address, struct memspan_block_owner *owner_p)
{
    struct memspan_chunk *chunk = chunk_at(address);
    struct blocks *leaving      = NULL;
    memspan_status_t status     = MEMSPAN_OK;
    struct memspan_pool *pool;
    struct blocks *b;
    struct record *r;
    uint32_t id;

    if (chunk == NULL) {
        return refuse(address, NULL, NULL);
    }
    pool = chunk->provider->pool;
    pthread_mutex_lock(&pool->lock);
    b = chunk->pool_data;
    r = (b == NULL) ? NULL : find_used(pool, b, address);
    if ((r == NULL) || (address_of(r) != address)) {
        status = refuse(address, chunk, r);
        goto out_unlock;
    }
    *owner_p = r->owner;
    r->used  = false;
    if (b->direct_record != 0) {
        drop_record(pool, b->direct_record);
        chunk->pool_data = NULL;
        leaving          = b;
        goto out_unlock;
    }
    id = b->record_at[r->offset];
    if ((r->after != 0) && !record_of(pool, r->after)->used) {
        bin_remove(pool, r->after);
        join(pool, id);
    }
    if ((r->before != 0) && !record_of(pool, r->before)->used) {
        id = r->before;
        bin_remove(pool, id);
        join(pool, id);
    }
    bin_insert(pool, id);
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

static size_t capacity_of(const struct record *r)
{
    return (r->size == 0) ? r->chunk->size_bytes : ((size_t)r->size << UNIT_SHIFT);
}

bool memspan_pool_find(const void *address, struct memspan_block_view *view_p)
{
    struct memspan_chunk *chunk = chunk_at(address);
    struct record *r            = NULL;
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
                                              .address        = address_of(r),
                                              .capacity_bytes = capacity_of(r),
                                              .owner          = r->owner};
    }
    pthread_mutex_unlock(&pool->lock);
    return r != NULL;
}

bool memspan_pool_retag(void *address, const struct memspan_block_owner *owner)
{
    struct memspan_chunk *chunk = chunk_at(address);
    struct record *r;
    struct memspan_pool *pool;
    bool done = false;

    if (chunk == NULL) {
        return false;
    }
    pool = chunk->provider->pool;
    pthread_mutex_lock(&pool->lock);
    r = (chunk->pool_data == NULL) ? NULL : find_used(pool, chunk->pool_data, address);
    if ((r != NULL) && (owner->requested_bytes <= capacity_of(r)) &&
        ((owner->requested_bytes > capacity_of(r) / 2) || (capacity_of(r) <= 4 * UNIT_BYTES))) {
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

/* ---- invariants ---- */

static const char *check_chunk(const struct memspan_pool *pool, const struct blocks *b,
                               size_t *free_count)
{
    uint32_t id     = b->record_at[0];
    uint32_t before = 0;
    uint32_t offset = 0;
    uint32_t used   = 0;
    bool was_free   = false;

    for (; id != 0; id = record_of(pool, id)->after) {
        const struct record *r = record_of(pool, id);

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

static const char *check_bins(const struct memspan_pool *pool, size_t free_count)
{
    unsigned fl;
    unsigned sl;
    uint32_t id;

    for (fl = 0; fl < FL_COUNT; fl++) {
        for (sl = 0; sl < SL_COUNT; sl++) {
            bool marked = ((pool->sl_map[fl] >> sl) & 1) != 0;
            if (marked != (pool->bins[fl][sl] != 0)) {
                return "a bin and its bit differ";
            }
            for (id = pool->bins[fl][sl]; id != 0; id = record_of(pool, id)->bin_after) {
                unsigned own_fl;
                unsigned own_sl;
                bin_of(record_of(pool, id)->size, &own_fl, &own_sl);
                if (record_of(pool, id)->used || (own_fl != fl) || (own_sl != sl)) {
                    return "a block is in a bin that is not its own";
                }
                free_count--;
            }
        }
    }
    return (free_count == 0) ? NULL : "free blocks and blocks in bins differ in number";
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
        problem = check_bins(pool, free_count);
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
