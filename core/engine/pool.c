/* SPDX-License-Identifier: BSD-3-Clause */
/* pool.c: chunks divided into blocks.
 *
 * Chunks grow with the pool, so that a large pool has few seams, and shrink again when the driver
 * has no more of that size. A block from direct_bytes upwards is a chunk of its own. Empty chunks
 * wait for the decay time before they go back: taking one from a driver costs as much as a thousand
 * allocations.
 *
 * A small block that is freed waits, one of each size, for the next request of its size, uncut and
 * not joined: programs make an allocator, allocate and free one block, and end it. */

#include "core/base/error.h"
#include "core/base/lock.h"
#include "core/base/option.h"
#include "core/base/platform.h"
#include "core/engine/decay.h"
#include "core/engine/density.h"
#include "core/engine/pointer_map.h"
#include "core/engine/pool_state.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    TURNS = 8, /* frees that leave a block waiting, between two looks at the clock */
};

struct msp_pool *msp_pool_create(struct msp_provider *provider)
{
    struct msp_pool *pool = calloc(1, sizeof(*pool));

    if ((pool == NULL) || !msp_fit_init(&pool->fit)) {
        free(pool);
        return NULL;
    }
    pool->provider = provider;
    msp_lock_init(&pool->lock, MSP_RANK_POOLS);
    return pool;
}

const struct msp_provider *msp_pool_provider(const struct msp_pool *pool)
{
    return pool->provider;
}

const struct msp_fit *msp_pool_fit(const struct msp_pool *pool)
{
    return &pool->fit;
}

static uint64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* ---- chunks ---- */

static bool enter_chunk(struct msp_pool *pool, struct msp_chunk *chunk, bool exact)
{
    bool zeroed = (chunk->block.flags & MEMSPAN_BLOCK_ZEROED) != 0;
    bool entered;

    msp_lock(&pool->lock);
    entered = msp_fit_add_range(&pool->fit, &chunk->range, (uintptr_t)chunk->address,
                                (uint32_t)(chunk->size_bytes >> MSP_UNIT_SHIFT), zeroed);
    if (entered) {
        chunk->empty_since_ms = now_ms();
        pool->divided_bytes += chunk->size_bytes;
        pool->empty_bytes += chunk->size_bytes;
        chunk->exact_bytes = exact ? chunk->size_bytes : 0;
        pool->exact_bytes += chunk->exact_bytes;
        atomic_store_explicit(&chunk->ready, true, memory_order_release);
        atomic_store_explicit(&chunk->kept_bytes, pool->provider->eager ? 0 : chunk->size_bytes,
                              memory_order_release);
    }
    msp_unlock(&pool->lock);
    return entered;
}

/* The size of the next chunk: a share of the bytes held already, within bounds. */
static size_t chunk_size_for(const struct msp_pool *pool, size_t need)
{
    const struct msp_provider *p = pool->provider;
    size_t held                  = pool->divided_bytes - pool->exact_bytes;
    size_t size                  = p->chunk_bytes;

    if ((pool->divided_bytes == 0) && (need <= p->chunk_first_bytes)) {
        return p->chunk_first_bytes;
    }
    for (; (size < p->chunk_max_bytes) && (size < held / p->growth_divisor); size *= 2) {
    }
    return (size < need) ? msp_round_up(need, p->chunk_bytes) : size;
}

/* For a block that large: as many of its size as make a 32nd of the bytes in use, so that programs
 * that take many of them do not call the driver for each; at least one. */
static size_t exact_size_for(const struct msp_pool *pool, size_t least)
{
    size_t spare = (pool->divided_bytes - pool->empty_bytes) / 32;
    size_t size  = least + spare / least * least;

    return (size > pool->provider->chunk_max_bytes) ? least : size;
}

/* The bytes that a chunk must have for a block: so much that the bins are sure to find it there,
 * now and at the next request; and of a large block no more. */
static size_t need_of(const struct msp_pool *pool, size_t size_bytes, size_t align_bytes)
{
    uint32_t units = (uint32_t)((size_bytes + MSP_UNIT_BYTES - 1) >> MSP_UNIT_SHIFT);

    if (size_bytes >= pool->provider->exact_bytes) {
        return (size_t)msp_fit_round(units) << MSP_UNIT_SHIFT;
    }
    return size_bytes + size_bytes / 32 + MSP_UNIT_BYTES +
           ((align_bytes > MSP_GRANULE_BYTES) ? align_bytes : 0);
}

/* Takes a new chunk with space for @p need bytes, or a smaller one that still has when the driver
 * refuses. It starts on a boundary of @p align_bytes. */
static memspan_status_t grow(struct msp_pool *pool, size_t need, size_t align_bytes)
{
    struct msp_chunk *chunk = NULL;
    size_t least            = msp_round_up(need, (pool->provider->chunk_bytes < MSP_GRANULE_BYTES)
                                                     ? pool->provider->chunk_bytes
                                                     : MSP_GRANULE_BYTES);
    bool exact              = need >= pool->provider->exact_bytes;
    struct msp_request request = {.provider    = pool->provider,
                                  .align_bytes = exact ? align_bytes : 0};
    memspan_status_t status;
    size_t size;

    msp_pool_settle(pool);
    msp_decay_press(pool);
    msp_decay_look(pool);
    msp_lock(&pool->lock);
    msp_pool_refill(pool);
    size = exact ? exact_size_for(pool, least) : chunk_size_for(pool, least);
    msp_unlock(&pool->lock);
    for (;;) {
        request.size_bytes = size;
        status             = msp_density_take_divided(&request, need, &chunk);
        if ((status == MEMSPAN_OK) || (size == least) ||
            ((status != MEMSPAN_ERR_NO_MEMORY) && (status != MEMSPAN_ERR_LIMIT))) {
            break;
        }
        size = (size / 2 > least) ? size / 2 : least;
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    if (enter_chunk(pool, chunk, exact)) {
        return MEMSPAN_OK;
    }
    msp_chunk_give_back(chunk);
    return memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for a pool's records");
}

/* Lock held. */
static void give(struct msp_pool *pool, uint32_t id)
{
    struct msp_chunk *chunk = msp_chunk_of(msp_fit_record(&pool->fit, id));

    pool->fit.round = msp_decay_round();
    msp_fit_give(&pool->fit, id);
    if (chunk->range.used_count == 0) {
        chunk->empty_since_ms = now_ms();
        pool->empty_bytes += chunk->size_bytes;
    }
}

/* ---- blocks that wait ---- */

/* False: it is large, or another one of that size waits already. Lock held. */
static bool let_wait(struct msp_pool *pool, struct msp_record *r)
{
    if ((r->size > MSP_POOL_WAITING_SIZES) || (pool->waiting[r->size - 1] != NULL) ||
        pool->provider->eager || msp_decay_is_at_once()) {
        return false;
    }
    r->zeroed = false;
    atomic_store_explicit(&r->use, MSP_USE_CACHED, memory_order_relaxed);
    pool->waiting[r->size - 1] = r;
    return true;
}

/* One of exactly that size, on any boundary; NULL: none waits. Lock held. */
static struct msp_record *take_waiting(struct msp_pool *pool, uint32_t units)
{
    struct msp_record *r = NULL;

    if (units <= MSP_POOL_WAITING_SIZES) {
        r                        = pool->waiting[units - 1];
        pool->waiting[units - 1] = NULL;
    }
    return r;
}

/* All go back. Lock held. */
static void end_waiting(struct msp_pool *pool)
{
    uint32_t units;

    for (units = 1; units <= MSP_POOL_WAITING_SIZES; units++) {
        struct msp_record *r = take_waiting(pool, units);

        if (r != NULL) {
            give(pool, msp_pool_id(r));
        }
    }
}

/* Takes empty chunks out that have waited since before @p since_ms, and those beyond @p keep bytes;
 * a list by range.next. Lock held. */
static struct msp_range *leave_empty(struct msp_pool *pool, uint64_t since_ms, size_t keep)
{
    struct msp_range *leaving = NULL;
    struct msp_range *range;
    struct msp_range *next;

    for (range = pool->fit.ranges; range != NULL; range = next) {
        struct msp_chunk *chunk = msp_chunk_of_range(range);

        next = range->next;
        if ((range->used_count > 0) ||
            ((chunk->empty_since_ms > since_ms) && (pool->empty_bytes <= keep))) {
            continue;
        }
        atomic_store_explicit(&chunk->ready, false, memory_order_release);
        atomic_store_explicit(&chunk->kept_bytes, 0, memory_order_release);
        msp_fit_remove_range(&pool->fit, range);
        MSP_ASSERT((pool->divided_bytes >= chunk->size_bytes) &&
                   (pool->empty_bytes >= chunk->size_bytes));
        pool->divided_bytes -= chunk->size_bytes;
        pool->exact_bytes -= chunk->exact_bytes;
        pool->empty_bytes -= chunk->size_bytes;
        range->next = leaving;
        leaving     = range;
    }
    return leaving;
}

static size_t give_back(struct msp_range *leaving)
{
    struct msp_range *next;
    size_t total = 0;

    for (; leaving != NULL; leaving = next) {
        next = leaving->next;
        total += msp_chunk_of_range(leaving)->size_bytes;
        msp_chunk_give_back(msp_chunk_of_range(leaving)); /* a failure is logged there */
    }
    return total;
}

void msp_pool_settle(struct msp_pool *pool)
{
    struct msp_range *leaving = NULL;
    uint64_t decay_ms         = msp_option_number(MSP_OPTION_DECAY_MS);
    uint64_t now;
    size_t keep;
    bool over;

    msp_lock(&pool->lock);
    end_waiting(pool);
    over = msp_pool_is_over(pool);
    keep = over ? msp_pool_retention_bytes(pool) / 2 : msp_pool_retention_bytes(pool);
    now  = (pool->empty_bytes == 0) ? 0 : now_ms();
    if ((pool->empty_bytes > keep) ||
        ((pool->empty_bytes > 0) && (now - pool->settled_at_ms >= decay_ms / 4))) {
        pool->settled_at_ms = now;
        leaving             = leave_empty(pool, (now > decay_ms) ? now - decay_ms : 0, keep);
    }
    msp_unlock(&pool->lock);
    give_back(leaving);
    if (over) {
        msp_pool_purge_surplus(pool, 2 * keep);
    }
}

bool msp_pool_has_grown(struct msp_pool *pool)
{
    enum { STEP_LEAST = 16 << 20 };
    size_t step;
    bool grown = false;

    msp_lock(&pool->lock);
    if (pool->divided_bytes < pool->grown_bytes) {
        pool->grown_bytes = pool->divided_bytes;
    }
    step = (pool->grown_bytes / 2 > STEP_LEAST) ? pool->grown_bytes / 2 : STEP_LEAST;
    if (pool->divided_bytes - pool->grown_bytes >= step) {
        pool->grown_bytes = pool->divided_bytes;
        grown             = true;
    }
    msp_unlock(&pool->lock);
    return grown;
}

size_t msp_pool_trim(struct msp_pool *pool)
{
    struct msp_range *leaving;

    msp_lock(&pool->lock);
    end_waiting(pool);
    leaving = leave_empty(pool, UINT64_MAX, 0);
    msp_unlock(&pool->lock);
    return give_back(leaving);
}

/* ---- blocks ---- */

static void set_block(struct msp_record *r, const struct msp_request *request)
{
    r->account         = request->owner.account;
    r->requested_bytes = request->owner.requested_bytes;
    r->fallback        = request->owner.fallback;
    r->grown           = request->grows;
    atomic_store_explicit(&r->use, MSP_USE_BLOCK, memory_order_relaxed);
}

static memspan_status_t alloc_direct(const struct msp_request *request,
                                     struct msp_record **record_p)
{
    struct msp_chunk *chunk;
    memspan_status_t status = msp_density_take_block(request, &chunk);

    if (status != MEMSPAN_OK) {
        return status;
    }
    chunk->range  = (struct msp_range){.address = (uintptr_t)chunk->address};
    chunk->direct = (struct msp_record){.range  = &chunk->range,
                                        .zeroed = (chunk->block.flags & MEMSPAN_BLOCK_ZEROED) != 0};
    set_block(&chunk->direct, request);
    chunk->is_direct = true;
    atomic_store_explicit(&chunk->ready, true, memory_order_release);
    *record_p = &chunk->direct;
    return MEMSPAN_OK;
}

/* One block out of the chunks that there are, for @p request or, without one, for a slab; NULL
 * when there is none. */
static struct msp_record *carve(struct msp_pool *pool, size_t size_bytes, size_t align_bytes,
                                bool thorough, const struct msp_request *request)
{
    uint32_t units       = (uint32_t)((size_bytes + MSP_UNIT_BYTES - 1) >> MSP_UNIT_SHIFT);
    struct msp_record *r = NULL;
    struct msp_chunk *chunk;
    uint32_t id = 0;

    msp_lock(&pool->lock);
    if ((request != NULL) && (align_bytes == MSP_UNIT_BYTES)) {
        r = take_waiting(pool, units);
    }
    if (r != NULL) {
        set_block(r, request);
        goto out_unlock;
    }
    if (request != NULL) {
        id = (request->grows ? msp_fit_take_to_grow
                             : msp_fit_take_usual)(&pool->fit, msp_fit_round(units), align_bytes);
    }
    if ((id == 0) && ((request == NULL) || thorough)) {
        id = msp_fit_take(&pool->fit, units, align_bytes, thorough);
    }
    if (id != 0) {
        r     = msp_fit_record(&pool->fit, id);
        chunk = msp_chunk_of(r);
        if (request != NULL) {
            set_block(r, request);
        } else {
            atomic_store_explicit(&r->use, MSP_USE_SLAB, memory_order_relaxed);
        }
        MSP_ASSERT((chunk->range.used_count != 1) || (pool->empty_bytes >= chunk->size_bytes));
        if (chunk->range.used_count == 1) {
            pool->empty_bytes -= chunk->size_bytes;
            atomic_store_explicit(&chunk->holed, false,
                                  memory_order_relaxed); /* no slab is there */
            msp_chunk_refill(chunk);
        }
    }
out_unlock:
    msp_unlock(&pool->lock);
    return r;
}

memspan_status_t msp_pool_alloc(struct msp_pool *pool, const struct msp_request *request,
                                struct msp_record **record_p)
{
    size_t direct_bytes = pool->provider->direct_bytes;
    size_t align = (request->align_bytes > MSP_UNIT_BYTES) ? request->align_bytes : MSP_UNIT_BYTES;
    bool grown   = false;
    memspan_status_t status;

    if ((request->parts != NULL) || request->apart || (request->size_bytes >= direct_bytes) ||
        (align >= direct_bytes)) {
        return alloc_direct(request, record_p);
    }
    for (;;) {
        /* In a new chunk there is space, though perhaps not where one looks first. */
        *record_p = carve(pool, request->size_bytes, align, grown, request);
        if (*record_p != NULL) {
            break;
        }
        status = grow(pool, need_of(pool, request->size_bytes, align), align);
        if (status != MEMSPAN_OK) {
            /* The driver has no more; a smaller chunk may still do. */
            *record_p =
                request->thorough ? carve(pool, request->size_bytes, align, true, request) : NULL;
            if (*record_p == NULL) {
                return status;
            }
            break;
        }
        grown = true;
    }
    return MEMSPAN_OK;
}

memspan_status_t msp_pool_take_slab(struct msp_pool *pool, size_t size_bytes,
                                    struct msp_record **record_p)
{
    struct msp_record *r;
    memspan_status_t status;

    for (;;) {
        r = carve(pool, size_bytes, size_bytes, false, NULL);
        if (r != NULL) {
            *record_p = r;
            return MEMSPAN_OK;
        }
        status = grow(pool, (size_bytes > MSP_GRANULE_BYTES) ? 2 * size_bytes : size_bytes, 0);
        if (status != MEMSPAN_OK) {
            return status;
        }
    }
}

void msp_pool_give_slab(struct msp_record *r)
{
    struct msp_pool *pool = msp_pool_of(r);

    msp_lock(&pool->lock);
    give(pool, msp_pool_id(r));
    msp_unlock(&pool->lock);
}

void msp_pool_free(struct msp_record *r)
{
    struct msp_pool *pool = msp_pool_of(r);
    bool settle;
    bool waits;
    bool look;

    if (r->size == 0) {
        msp_chunk_give_back(msp_chunk_of(r)); /* a failure is logged there */
        return;
    }
    msp_lock(&pool->lock);
    waits = let_wait(pool, r);
    if (!waits) {
        give(pool, msp_pool_id(r));
    }
    settle = !waits && ((pool->empty_bytes > 0) || msp_pool_is_over(pool));
    look   = !waits || (++pool->turns % TURNS == 0);
    msp_unlock(&pool->lock);
    if (settle) {
        msp_pool_settle(pool);
    }
    if (look) {
        msp_decay_look(pool);
    }
}

void msp_pool_free_list(struct msp_pool *pool, struct msp_record *first)
{
    struct msp_record *next;

    msp_lock(&pool->lock);
    for (; first != NULL; first = next) {
        next = first->kept_after;
        give(pool, msp_pool_id(first));
    }
    msp_unlock(&pool->lock);
}

/* A block that is a chunk. A driver's chunk stays as it is, unless half of it would be wasted. One
 * that grows gets more than it needs where that costs no memory, so that its pages may be huge.
 */
static struct msp_record *resize_direct(struct msp_record *r, size_t size_bytes, size_t align_bytes,
                                        bool may_move)
{
    struct msp_chunk *chunk = msp_chunk_of(r);
    struct msp_provider *p  = chunk->provider;
    bool grows              = size_bytes > chunk->size_bytes;
    size_t size             = size_bytes;

    if (!grows && (size_bytes > chunk->size_bytes / 2)) {
        return r;
    }
    if (!may_move || !p->resizes || (size_bytes > SIZE_MAX / 4) ||
        (!grows && (size_bytes < MSP_APART_BYTES) && !p->eager)) {
        return NULL;
    }
    if (grows && !p->eager) {
        size = msp_round_up(size_bytes + size_bytes / 8, MSP_GRANULE_BYTES);
    }
    return msp_chunk_resize(chunk, size, align_bytes, &chunk) ? &chunk->direct : NULL;
}

/* Another size for a block where it stands. One that grows gets space for more steps if there is
 * some, as one that moves does. */
static bool resize_here(struct msp_pool *pool, struct msp_record *r, size_t size_bytes)
{
    uint32_t units = (uint32_t)((size_bytes + MSP_UNIT_BYTES - 1) >> MSP_UNIT_SHIFT);
    uint32_t more  = (size_bytes > r->requested_bytes) ? units / 4 : 0;
    bool done;

    msp_lock(&pool->lock);
    r->grown = r->grown || (more > 0);
    done     = ((more > 0) && msp_fit_resize(&pool->fit, msp_pool_id(r), units + more)) ||
           msp_fit_resize(&pool->fit, msp_pool_id(r), units);
    msp_unlock(&pool->lock);
    return done;
}

struct msp_record *msp_pool_resize(struct msp_record *r, size_t size_bytes, size_t align_bytes,
                                   bool may_move)
{
    struct msp_pool *pool = msp_pool_of(r);

    if (r->size == 0) {
        return resize_direct(r, size_bytes, align_bytes, may_move);
    }
    if ((size_bytes >= r->requested_bytes) && (size_bytes <= msp_record_bytes(r))) {
        return r; /* space that it was given for growing stays its own */
    }
    if (size_bytes >= pool->provider->direct_bytes) {
        return NULL;
    }
    return resize_here(pool, r, size_bytes) ? r : NULL;
}

struct msp_record *msp_pool_find(struct msp_chunk *chunk, const void *pointer)
{
    size_t offset = (size_t)((const unsigned char *)pointer - chunk->address);
    uint32_t id;

    if ((offset >= chunk->size_bytes) ||
        !atomic_load_explicit(&chunk->ready, memory_order_acquire)) {
        return NULL;
    }
    if (chunk->is_direct) {
        return &chunk->direct;
    }
    id = msp_range_find(&chunk->range, offset);
    return (id == 0) ? NULL : msp_fit_record(&chunk->provider->pool->fit, id);
}

/* ---- measures and invariants ---- */

void msp_pool_count_waiting(struct msp_pool *pool, int64_t bytes)
{
    atomic_fetch_add_explicit(&pool->waiting_bytes, bytes, memory_order_relaxed);
}

void msp_pool_measure(struct msp_pool *pool, struct msp_pool_measure *m)
{
    int64_t waiting = atomic_load_explicit(&pool->waiting_bytes, memory_order_relaxed);

    m->held_bytes = atomic_load_explicit(&pool->provider->held_bytes, memory_order_relaxed);
    msp_lock(&pool->lock);
    end_waiting(pool);
    m->free_bytes = ((uint64_t)pool->fit.free_units << MSP_UNIT_SHIFT) +
                    (uint64_t)((waiting > 0) ? waiting : 0);
    m->largest_free_bytes = (uint64_t)msp_fit_largest(&pool->fit) << MSP_UNIT_SHIFT;
    msp_unlock(&pool->lock);
}

static const char *check_sums(const struct msp_pool *pool)
{
    struct msp_range *range;
    size_t divided = 0;
    size_t empty   = 0;

    for (range = pool->fit.ranges; range != NULL; range = range->next) {
        divided += msp_chunk_of_range(range)->size_bytes;
        empty += (range->used_count == 0) ? msp_chunk_of_range(range)->size_bytes : 0;
    }
    return ((divided == pool->divided_bytes) && (empty == pool->empty_bytes))
               ? NULL
               : "the bytes in chunks are miscounted";
}

memspan_status_t msp_pool_check(struct msp_pool *pool)
{
    const char *problem;

    msp_lock(&pool->lock);
    problem = msp_fit_check(&pool->fit);
    problem = (problem == NULL) ? check_sums(pool) : problem;
    msp_unlock(&pool->lock);
    return (problem == NULL) ? MEMSPAN_OK
                             : memspan_error(MEMSPAN_ERR_INTERNAL, "pool of %s memory: %s",
                                             memspan_kind_name(pool->provider->spec.kind), problem);
}

void msp_pool_lock(struct msp_pool *pool)
{
    msp_lock(&pool->lock);
}

void msp_pool_unlock(struct msp_pool *pool)
{
    msp_unlock(&pool->lock);
}

/* All pools are locked at once: past the check of ranks. */
void msp_pool_before_fork(struct msp_pool *pool)
{
    pthread_mutex_lock(&pool->lock.mutex);
}

void msp_pool_after_fork(struct msp_pool *pool)
{
    pthread_mutex_unlock(&pool->lock.mutex);
}
