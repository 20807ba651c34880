/* SPDX-License-Identifier: BSD-3-Clause */
/* pool_pages.c: how much of a pool's unused memory stays resident, and the pages of free blocks
 * that go back to the system. */

#include "core/base/platform.h"
#include "core/engine/decay.h"
#include "core/engine/pool_state.h"
#include "core/engine/pressure.h"

size_t msp_pool_retention_bytes(const struct msp_pool *pool)
{
    size_t quarter = (pool->divided_bytes - pool->empty_bytes) / 4;
    size_t most    = msp_pressure_retention_bytes();
    size_t bytes;

    if (pool->provider->eager) {
        return 0;
    }
    bytes = (quarter > pool->provider->chunk_max_bytes) ? quarter : pool->provider->chunk_max_bytes;
    return (bytes < most) ? bytes : most;
}

static size_t dirty_bytes(const struct msp_pool *pool)
{
    return pool->fit.dirty_units << MSP_UNIT_SHIFT;
}

bool msp_pool_is_over(const struct msp_pool *pool)
{
    return !pool->provider->eager && (pool->provider->spec.device->table->purge != NULL) &&
           (pool->provider->spec.importer_count == 0) &&
           (dirty_bytes(pool) > pool->held_dirty + msp_pool_retention_bytes(pool));
}

enum { PURGES_AT_ONCE = 64, PURGE_LEAST_BYTES = 16 << 10, PURGED_AT_ONCE = 16 << 20 };

/* The whole pages of a free block. Lock held. */
static size_t purge_block(struct msp_pool *pool, uint32_t id)
{
    struct msp_record *r = msp_fit_record(&pool->fit, id);
    size_t page          = msp_page_size();
    uintptr_t start      = (uintptr_t)msp_record_address(r);
    uintptr_t first      = msp_round_up(start, page);
    uintptr_t end        = start + msp_record_bytes(r);
    size_t bytes         = (end & ~(uintptr_t)(page - 1)) - first;
    bool done            = msp_chunk_purge(msp_chunk_of(r), (void *)first, bytes);

    msp_fit_set_clean(&pool->fit, id, r->zeroed || (done && (first == start) && (end % page == 0)));
    return done ? bytes : 0;
}

/* Until at most @p most bytes of free blocks have pages. False: there may be more. */
static bool purge_some(struct msp_pool *pool, uint32_t round, size_t most, size_t *bytes_p)
{
    uint32_t least =
        (uint32_t)(msp_round_up(PURGE_LEAST_BYTES, 2 * msp_page_size()) >> MSP_UNIT_SHIFT);
    uint32_t ids[PURGES_AT_ONCE];
    size_t bytes = 0;
    size_t count;
    size_t i;
    bool done;

    msp_lock(&pool->lock);
    count = msp_fit_find_dirty(&pool->fit, least, round, ids, PURGES_AT_ONCE);
    for (i = 0; (i < count) && (bytes < PURGED_AT_ONCE) && (dirty_bytes(pool) > most); i++) {
        bytes += purge_block(pool, ids[i]);
    }
    done = ((i == count) && (count < PURGES_AT_ONCE)) || (dirty_bytes(pool) <= most);
    msp_unlock(&pool->lock);
    *bytes_p += bytes;
    return done;
}

size_t msp_pool_purge(struct msp_pool *pool, uint32_t round)
{
    size_t bytes = 0;

    while (!purge_some(pool, round, 0, &bytes)) {
    }
    return bytes;
}

void msp_pool_purge_surplus(struct msp_pool *pool, size_t keep_bytes)
{
    size_t most  = keep_bytes - keep_bytes / 4;
    size_t bytes = 0;

    while (!purge_some(pool, msp_decay_round(), most, &bytes)) {
    }
    msp_lock(&pool->lock);
    pool->held_dirty = (dirty_bytes(pool) > most) ? dirty_bytes(pool) - most : 0;
    msp_unlock(&pool->lock);
}

void msp_pool_refill(struct msp_pool *pool)
{
    size_t free_bytes = pool->fit.free_units << MSP_UNIT_SHIFT;
    struct msp_range *range;

    if (free_bytes > pool->divided_bytes / 8) {
        return; /* in pieces that are too small for what is requested, but holes */
    }
    for (range = pool->fit.ranges; range != NULL; range = range->next) {
        msp_chunk_refill(msp_chunk_of_range(range));
    }
}
