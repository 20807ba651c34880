/* SPDX-License-Identifier: BSD-3-Clause */
/* store.c: the part of the engine that serves a request, and the one that a pointer belongs to. */

#include "core/engine/store.h"
#include "core/base/error.h"
#include "core/engine/allocator_record.h"
#include "core/engine/heap.h"
#include "core/engine/kept.h"
#include "core/engine/watch_flag.h"

/* ---- taking ---- */

static bool can_be_object(const struct msp_request *request)
{
    return request->objects && !request->provider->eager && (request->parts == NULL) &&
           (request->size_bytes <= MSP_SMALL_MAX_BYTES) &&
           (request->align_bytes <= MSP_SMALL_ALIGN_MAX) &&
           msp_account_earns_heaps(request->owner.account);
}

/* The reserve of a block that grows, so that growing in steps copies each byte a few times and not
 * at every step. */
static void add_slack(struct msp_request *request)
{
    enum { SLACK_SHARE = 4 };

    if (!request->grows || (request->size_bytes <= MSP_SMALL_MAX_BYTES)) {
        return;
    }
    if (request->provider->resizes &&
        (request->provider->eager || (request->size_bytes >= MSP_APART_BYTES))) {
        request->apart = true;
    } else {
        request->size_bytes += request->size_bytes / SLACK_SHARE;
    }
}

void *msp_store_take_object(const struct msp_request *request, uint64_t paid_bytes, bool *refused_p)
{
    *refused_p = false;
    return can_be_object(request) ? msp_heap_alloc_object(request, paid_bytes, refused_p) : NULL;
}

memspan_status_t msp_store_take(const struct msp_request *request, bool *zeroed_p, void **address_p)
{
    struct msp_pool *pool    = request->provider->pool;
    struct msp_request block = *request;
    struct msp_record *r;
    memspan_status_t status = MEMSPAN_OK;

    block.zeroed = *zeroed_p;
    add_slack(&block);
    r = block.apart ? NULL : msp_heap_alloc_cached(pool, &block);
    if (r == NULL) {
        status = msp_pool_alloc(pool, &block, &r);
    }
    if ((status == MEMSPAN_ERR_NO_MEMORY) || (status == MEMSPAN_ERR_LIMIT)) {
        /* Before a refusal: heaps and queues give back their cached memory. */
        msp_heap_reclaim();
        msp_kept_call_owner(MSP_KEPT_RETURN_ALL);
        msp_provider_settle_all(false);
        block.thorough   = true;
        block.size_bytes = request->size_bytes;
        status           = msp_pool_alloc(pool, &block, &r);
    }
    if (status == MEMSPAN_OK) {
        *zeroed_p  = r->zeroed;
        *address_p = msp_record_address(r);
    }
    return status;
}

/* Whether the account is charged directly, for a block that comes from the pool. */
static bool is_plain(const struct msp_allocator *a, size_t align_bytes, size_t size_bytes)
{
    return (size_bytes <= MSP_SMALL_MAX_BYTES) && (align_bytes == 1) &&
           (a->traits.alignment <= MSP_UNIT_BYTES) && msp_is_unwatched() &&
           atomic_load_explicit(&a->has_objects, memory_order_relaxed) &&
           !msp_allocator_is_divided(a) && !msp_account_earns_heaps(&a->account);
}

void *msp_store_take_first(struct msp_allocator *a, size_t align_bytes, size_t size_bytes,
                           bool *refused_p)
{
    struct msp_account *account = &a->account;
    struct msp_provider *p      = atomic_load_explicit(&a->provider, memory_order_acquire);
    uint64_t bytes              = (uint64_t)size_bytes + MSP_CHARGE_OVERHEAD_BYTES;
    struct msp_request request  = {.provider    = p,
                                   .size_bytes  = size_bytes,
                                   .align_bytes = MSP_UNIT_BYTES,
                                   .owner       = {account, size_bytes, false}};
    struct msp_record *r;

    *refused_p = false;
    if ((p == NULL) || !is_plain(a, align_bytes, size_bytes)) {
        return NULL;
    }
    if (!msp_heap_debit(account, bytes, 1)) {
        *refused_p = account->ends_with_null &&
                     !atomic_load_explicit(&account->closed, memory_order_relaxed);
        if (*refused_p) {
            atomic_fetch_add_explicit(&account->failed_count, 1, memory_order_relaxed);
            msp_error_limit(bytes, account->limit_bytes,
                            atomic_load_explicit(&account->charged_bytes, memory_order_relaxed));
        }
        return NULL;
    }
    if (msp_pool_alloc(p->pool, &request, &r) != MEMSPAN_OK) {
        msp_heap_credit(account, bytes, 0, 1);
        return NULL;
    }
    return msp_record_address(r);
}

/* ---- finding ---- */

static struct msp_chunk *chunk_of_entry(uintptr_t entry)
{
    return ((entry & MSP_ENTRY_SLAB) != 0) ? ((struct msp_slab *)msp_entry_record(entry))->chunk
                                           : msp_entry_record(entry);
}

struct msp_chunk *msp_store_chunk(const void *address)
{
    struct msp_chunk *chunk = chunk_of_entry(msp_map_find(address));

    if ((chunk == NULL) || ((const unsigned char *)address >= chunk->address + chunk->size_bytes)) {
        return NULL;
    }
    return chunk;
}

static bool find_object(const struct msp_slab *slab, const void *address,
                        struct msp_block_view *view_p)
{
    bool start;
    size_t i      = msp_slab_index(slab, address, &start);
    unsigned word = msp_slab_word_of(slab, i);

    if ((word & MSP_OBJECT_FREE) != 0) {
        return false;
    }
    *view_p = (struct msp_block_view){
        .chunk          = slab->chunk,
        .address        = msp_slab_object(slab, i),
        .capacity_bytes = slab->size_bytes,
        .owner          = {.account         = atomic_load_explicit(&slab->account, memory_order_relaxed),
                           .requested_bytes = word & MSP_OBJECT_VALUE,
                           .fallback        = (word & MSP_OBJECT_FALLBACK) != 0},
        .is_object      = true};
    return true;
}

/* The block of a pool that is in use and holds the address; NULL: there is none. */
static struct msp_record *find_record(struct msp_chunk *chunk, const void *address)
{
    struct msp_record *r = msp_pool_find(chunk, address);

    return ((r != NULL) && (atomic_load_explicit(&r->use, memory_order_relaxed) == MSP_USE_BLOCK))
               ? r
               : NULL;
}

bool msp_store_find(const void *address, struct msp_block_view *view_p)
{
    uintptr_t entry = msp_map_find(address);
    struct msp_record *r;

    if (entry == 0) {
        return false;
    }
    if ((entry & MSP_ENTRY_SLAB) != 0) {
        return find_object(msp_entry_record(entry), address, view_p);
    }
    r = find_record(msp_entry_record(entry), address);
    if (r == NULL) {
        return false;
    }
    *view_p = (struct msp_block_view){.chunk          = msp_chunk_of(r),
                                      .address        = msp_record_address(r),
                                      .capacity_bytes = msp_block_capacity(r),
                                      .owner          = {.account         = r->account,
                                                         .requested_bytes = r->requested_bytes,
                                                         .fallback        = r->fallback}};
    return true;
}

bool msp_store_look(const void *address, struct msp_block_view *view_p)
{
    uintptr_t entry = msp_map_find(address);
    struct msp_provider *p;
    bool found;

    if ((entry == 0) || ((entry & MSP_ENTRY_SLAB) != 0)) {
        return msp_store_find(address, view_p);
    }
    p = ((struct msp_chunk *)msp_entry_record(entry))->provider;
    if (p == NULL) {
        return false; /* the record is being used again */
    }
    msp_pool_lock(p->pool);
    found = msp_store_find(address, view_p) && (view_p->owner.account != NULL);
    msp_pool_unlock(p->pool);
    return found;
}

/* ---- giving ---- */

static memspan_status_t refuse_free(const void *address)
{
    const struct msp_chunk *chunk = msp_store_chunk(address);
    struct msp_block_view view;

    if (chunk == NULL) {
        memspan_error(MEMSPAN_ERR_NOT_FOUND, "%p is not in memory of Memspan", address);
        return msp_error_hint(msp_chunk_was_here(address) ? "it was probably freed before"
                                                          : "free it with what allocated it");
    }
    if (!msp_store_find(address, &view) || (view.address == address)) {
        memspan_error(MEMSPAN_ERR_NOT_FOUND,
                      "%p is in memory of Memspan, but no live block is there", address);
        return msp_error_hint("it was probably freed before");
    }
    memspan_error(MEMSPAN_ERR_NOT_FOUND, "%p is %zu bytes inside a block of %zu bytes at %p",
                  address, (size_t)((const char *)address - (const char *)view.address),
                  view.owner.requested_bytes, view.address);
    return msp_error_hint("free the address that the allocation returned");
}

static void give_record(struct msp_record *r, bool keep_charge)
{
    struct msp_account *account = r->account;
    uint64_t charge             = (uint64_t)r->requested_bytes + MSP_CHARGE_OVERHEAD_BYTES;

    msp_record_leave(r);
    atomic_store_explicit(&r->use, MSP_USE_NONE, memory_order_relaxed);
    if (!msp_heap_keep(account, r)) {
        msp_pool_free(r);
    }
    msp_heap_credit(account, keep_charge ? 0 : charge, 1, 0);
}

memspan_status_t msp_store_give(uintptr_t entry, void *address, bool keep_charge)
{
    struct msp_record *r;

    if ((entry & MSP_ENTRY_SLAB) != 0) {
        return msp_heap_free_object(msp_entry_record(entry), address, keep_charge)
                   ? MEMSPAN_OK
                   : refuse_free(address);
    }
    r = (entry == 0) ? NULL : find_record(msp_entry_record(entry), address);
    if ((r == NULL) || (msp_record_address(r) != address)) {
        return refuse_free(address);
    }
    give_record(r, keep_charge);
    return MEMSPAN_OK;
}

memspan_status_t msp_store_drop(void *address)
{
    struct msp_chunk *chunk = msp_store_chunk(address);
    struct msp_record *r    = (chunk == NULL) ? NULL : find_record(chunk, address);

    if ((r == NULL) || (msp_record_address(r) != address)) {
        return refuse_free(address);
    }
    msp_record_leave(r);
    atomic_store_explicit(&r->use, MSP_USE_NONE, memory_order_relaxed);
    msp_pool_free(r);
    return MEMSPAN_OK;
}

/* ---- resizing ---- */

/* Below this, wasting more than half of a place is cheaper than moving. */
enum { WASTE_IGNORED_BYTES = 256 };

static bool is_worth_staying(size_t size_bytes, size_t capacity_bytes)
{
    return (size_bytes <= capacity_bytes) &&
           ((size_bytes > capacity_bytes / 2) || (capacity_bytes <= WASTE_IGNORED_BYTES));
}

void *msp_store_resize(void *address, size_t size_bytes, size_t align_bytes, bool may_move)
{
    uintptr_t entry = msp_map_find(address);
    struct msp_record *r;

    if ((entry & MSP_ENTRY_SLAB) != 0) {
        struct msp_slab *slab = msp_entry_record(entry);

        return (is_worth_staying(size_bytes, slab->size_bytes) &&
                msp_heap_resize_object(slab, address, size_bytes))
                   ? address
                   : NULL;
    }
    r = find_record(msp_entry_record(entry), address);
    if (r == NULL) {
        return NULL;
    }
    msp_record_leave(r);
    r = msp_pool_resize(r, size_bytes, align_bytes, may_move);
    if (r == NULL) {
        return NULL;
    }
    r->requested_bytes = size_bytes;
    return msp_record_address(r);
}
