/* SPDX-License-Identifier: BSD-3-Clause */
/* allocate.c: memory from allocators.
 *
 * The fast paths are in heap.h. Other requests are charged against pool_size first, so that the
 * limit is exact and one thread's refused request never makes another's fail; then the store is
 * called; then, if either refused, the fallback trait decides. A block's record has the account
 * that it is charged to. */

#include "core/allocator.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/option.h"
#include "core/base/platform.h"
#include "core/debug/follow.h"
#include "core/debug/guard.h"
#include "core/debug/watch.h"
#include "core/engine/allocator_record.h"
#include "core/engine/heap.h"
#include "core/engine/store.h"
#include "core/plan.h"
#include "core/transfer.h"
#include <memspan/placement.h>
#include <memspan/transfer.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ALIGN_LEAST = 16, FALLBACKS_MAX = 64 };

/* ---- one allocator, no fallback ---- */

struct ask {
    size_t size_bytes;
    size_t align_bytes;          /* power of two; the caller's request */
    bool zeroed;                 /* in: requested */
    const struct msp_plan *plan; /* instead of the allocator's own, or NULL */
    bool fallback;
    bool grows;    /* for a block that has outgrown its place */
    bool is_block; /* a block of the pool, of any size: no object of a slab */
};

static memspan_status_t take_divided(struct msp_allocator *a, struct msp_request *request,
                                     bool *zeroed_p, void **address_p)
{
    struct msp_partitioning partitioning;
    memspan_status_t status;

    request->size_bytes = msp_round_up(request->size_bytes, msp_page_size());
    if (request->size_bytes == 0) {
        return memspan_error(MEMSPAN_ERR_NO_MEMORY, "%zu bytes are more than can be addressed",
                             request->owner.requested_bytes);
    }
    status = msp_partitioner_divide(a->traits.partitioner, a->traits.partitioner_arg, a->index,
                                    a->space->handle, request->size_bytes, &partitioning);
    if (status != MEMSPAN_OK) {
        return status;
    }
    request->parts      = partitioning.parts;
    request->part_count = partitioning.part_count;
    status              = msp_block_take(request, zeroed_p, address_p);
    msp_partitioner_release(a->traits.partitioner, &partitioning);
    return status;
}

static memspan_status_t take_block(struct msp_allocator *a, const struct msp_plan *plan,
                                   struct msp_request *request, bool *zeroed_p, void **address_p)
{
    if (MSP_UNLIKELY(a->traits.partition == MEMSPAN_VALUE_PARTITIONER)) {
        return take_divided(a, request, zeroed_p, address_p);
    }
    if ((request->size_bytes >= plan->blocked_bytes) &&
        (request->align_bytes < request->provider->direct_bytes)) {
        /* Spread over nodes: a mapping of its own, whose shares are those of its size. */
        request->align_bytes = request->provider->direct_bytes;
        request->grows       = false;
    }
    return msp_block_take(request, zeroed_p, address_p);
}

/* No bytes of so many for the account: over its limit, or there is none any more. */
static memspan_status_t refuse(const struct msp_account *account, uint64_t bytes)
{
    if (atomic_load_explicit(&account->closed, memory_order_relaxed)) {
        return memspan_error(MEMSPAN_ERR_NOT_FOUND, "the allocator does not exist any more");
    }
    return msp_error_limit(bytes, account->limit_bytes,
                           atomic_load_explicit(&account->charged_bytes, memory_order_relaxed));
}

static bool may_be_object(const struct msp_allocator *a, const struct msp_plan *plan,
                          const struct ask *ask)
{
    return !msp_guarding() && (ask->plan == NULL) && !ask->is_block &&
           (a->traits.partition != MEMSPAN_VALUE_PARTITIONER) &&
           (ask->size_bytes < plan->blocked_bytes) &&
           atomic_load_explicit(&a->has_objects, memory_order_relaxed);
}

/* Memory for an account, charged and counted here; or, if @p paid, already. */
static memspan_status_t take_memory(struct msp_allocator *a, struct msp_account *account,
                                    const struct ask *ask, bool paid, bool *zeroed_p,
                                    void **address_p)
{
    const struct msp_plan *plan   = (ask->plan != NULL) ? ask->plan : a->plan;
    struct msp_provider *provider = msp_plan_provider_here(plan);
    size_t align =
        (a->traits.alignment > ask->align_bytes) ? a->traits.alignment : ask->align_bytes;
    uint64_t bytes             = (uint64_t)ask->size_bytes + MSP_CHARGE_OVERHEAD_BYTES;
    struct msp_request request = {.provider    = provider,
                                  .size_bytes  = ask->size_bytes,
                                  .align_bytes = (align < ALIGN_LEAST) ? ALIGN_LEAST : align,
                                  .owner       = {account, ask->size_bytes, ask->fallback},
                                  .grows       = ask->grows,
                                  .apart       = (provider != NULL) &&
                                           msp_follow_wants(provider, ask->size_bytes),
                                  .objects = may_be_object(a, plan, ask)};
    memspan_status_t status;
    bool refused = false;

    if (provider == NULL) {
        return memspan_error_last()->status;
    }
    *address_p = msp_store_take_object(&request, paid ? bytes : 0, &refused);
    if (*address_p != NULL) {
        if (paid) { /* slabs count theirs */
            msp_heap_credit(account, 0, 0, 1);
        }
        *zeroed_p = false;
        return MEMSPAN_OK;
    }
    if (refused || (!paid && !msp_heap_debit(account, bytes, 1))) {
        return refuse(account, bytes);
    }
    status = take_block(a, plan, &request, zeroed_p, address_p);
    if ((status != MEMSPAN_OK) && !paid) {
        msp_heap_credit(account, bytes, 0, 1);
    }
    return status;
}

static memspan_status_t clear(struct msp_allocator *a, const struct ask *ask, void *address)
{
    const struct msp_provider *provider =
        (ask->plan != NULL) ? ask->plan->provider : msp_allocator_provider(a);
    const struct msp_device *d = provider->spec.device;

    /* Managed memory may be the device's now: its driver fills it. */
    if ((provider->spec.kind != MEMSPAN_KIND_MANAGED) && msp_provider_host_touches(provider)) {
        memset(address, 0, ask->size_bytes);
        return MEMSPAN_OK;
    }
    return msp_fill_by(d, address, 0, ask->size_bytes);
}

static void *allocate_from(struct msp_allocator *a, const struct ask *ask)
{
    bool zeroed = ask->zeroed;
    struct msp_account *account;
    void *address;

    if (msp_allocator_provider(a) == NULL) {
        return NULL; /* also makes a predefined allocator's traits */
    }
    if (MSP_UNLIKELY(ask->size_bytes > (SIZE_MAX >> 4))) {
        memspan_error(MEMSPAN_ERR_NO_MEMORY, "%zu bytes are more than can be addressed",
                      ask->size_bytes);
        return NULL;
    }
    account = msp_allocator_account(a);
    if ((account == NULL) ||
        MSP_UNLIKELY(take_memory(a, account, ask, false, &zeroed, &address) != MEMSPAN_OK)) {
        return NULL;
    }
    if (ask->zeroed && !zeroed && (clear(a, ask, address) != MEMSPAN_OK)) {
        msp_block_give(address, false);
        return NULL;
    }
    return address;
}

/* ---- fallback ---- */

/* OpenMP: abort_fb ends the program when the request cannot be satisfied. */
__attribute__((noreturn)) static void end_program(const struct msp_allocator *a, size_t size_bytes)
{
    char line[1200];
    int n = snprintf(line, sizeof(line),
                     "memspan: %zu bytes cannot be allocated: %s\n"
                     "memspan: the program ends because the allocator%s%s has the trait "
                     "fallback=abort_fb\n",
                     size_bytes, memspan_error_text(),
                     (memspan_allocator_name(a)[0] != '\0') ? " " : "", memspan_allocator_name(a));

    n = (n < (int)sizeof(line)) ? n : (int)sizeof(line) - 1;
    if (write(STDERR_FILENO, line, (size_t)n) < 0) {
        /* There is nowhere left to report it. */
    }
    msp_watch_ending();
    abort();
}

/* The allocator to try when @p a refused, pinned; NULL: there is none. */
static struct msp_allocator *next_to_ask(struct msp_allocator *a, size_t size_bytes)
{
    struct msp_allocator *next = NULL;

    switch (a->traits.fallback) {
    case MEMSPAN_VALUE_ABORT_FB:
        end_program(a, size_bytes);
    case MEMSPAN_VALUE_ALLOCATOR_FB:
        next = msp_allocator_pin(a->traits.fb_data);
        if (next == NULL) {
            next = msp_allocator_pin(msp_allocator_of_vendor(a->traits.fb_data));
        }
        break;
    case MEMSPAN_VALUE_DEFAULT_MEM_FB:
        next = msp_allocator_pin(MEMSPAN_ALLOCATOR_DEFAULT);
        break;
    default: /* null_fb */
        break;
    }
    if (next == a) {
        msp_allocator_release(next);
        return NULL;
    }
    return next;
}

static void report_fallback(struct msp_allocator *a, struct msp_allocator *given, size_t size_bytes,
                            void *address)
{
    int policy;

    atomic_fetch_add_explicit(&a->fallback_count, 1, memory_order_relaxed);
    if (MSP_UNLIKELY(msp_watching())) {
        msp_watch_fallback(a, given, size_bytes, address);
    }
    policy = msp_option_choice(MSP_OPTION_FALLBACK);
    if ((policy != MSP_FALLBACK_QUIET) && !atomic_exchange(&a->warned, true)) {
        /* By default no warning: libgomp falls back in silence, and there are scripts that check
         * standard error. libomp warns once where a space is not there. */
        msp_log((policy == MSP_FALLBACK_INFO) ? MEMSPAN_LOG_INFO : MEMSPAN_LOG_WARN, "core",
                "%zu bytes came from a fallback (said once for each allocator): %s", size_bytes,
                memspan_error_text());
    }
}

static void *fail(struct msp_allocator *first, size_t size_bytes)
{
    if (MSP_UNLIKELY(msp_watching())) {
        msp_watch_failed(first, size_bytes);
    }
    return NULL;
}

/* One allocator's answer. */
static void *ask_one(struct msp_allocator *first, struct msp_allocator *a, const struct ask *ask)
{
    void *address = allocate_from(a, ask);

    if (MSP_UNLIKELY(address == NULL)) {
        atomic_fetch_add_explicit(&a->account.failed_count, 1, memory_order_relaxed);
    } else if (MSP_UNLIKELY(a != first)) {
        report_fallback(first, a, ask->size_bytes, address);
    }
    return address;
}

static void *allocate(struct msp_allocator *first, struct ask *ask)
{
    struct msp_allocator *a = first;
    struct msp_allocator *next;
    void *address = ask_one(first, a, ask);
    int asked;

    for (asked = 1; (address == NULL) && (asked < FALLBACKS_MAX); asked++) {
        /* A fallback still keeps the alignment that the first allocator promised. */
        ask->align_bytes =
            (a->traits.alignment > ask->align_bytes) ? a->traits.alignment : ask->align_bytes;
        ask->plan     = NULL;
        ask->fallback = true;
        next          = next_to_ask(a, ask->size_bytes);
        msp_allocator_release((a == first) ? NULL : a);
        if (next == NULL) {
            return fail(first, ask->size_bytes);
        }
        a       = next;
        address = ask_one(first, a, ask);
    }
    msp_allocator_release((a == first) ? NULL : a);
    if (address == NULL) {
        memspan_error(MEMSPAN_ERR_CONFLICT, "the fallbacks of an allocator lead round in a circle");
        return fail(first, ask->size_bytes);
    }
    return address;
}

/* Inside a chunk hook no memory is given or taken. */
static bool forbidden(void)
{
    return MSP_UNLIKELY(msp_watching()) && msp_watch_refuses();
}

/* The allocator that MEMSPAN_PLACEMENT gives to the calling code instead of @p a, pinned; NULL:
 * nothing. An allocator that the program made has traits that it would lose. */
static struct msp_allocator *find_placement(const struct msp_allocator *a, const struct ask *ask)
{
    memspan_allocator_h handle = (memspan_allocator_h)atomic_load(&a->handle);

    msp_watch_start();
    if (!msp_placing() || (ask->size_bytes < MEMSPAN_PLACEMENT_BYTES) || (ask->plan != NULL) ||
        ((uintptr_t)handle > (uintptr_t)MEMSPAN_ALLOCATOR_THREAD)) {
        return NULL;
    }
    return msp_allocator_pin(memspan_placement_find());
}

static void *allocate_and_report(struct msp_allocator *a, struct ask *ask)
{
    struct msp_allocator *placed = find_placement(a, ask);
    void *address                = allocate((placed != NULL) ? placed : a, ask);

    msp_allocator_release(placed);
    if (MSP_UNLIKELY(msp_watching()) && (address != NULL)) {
        msp_watch_allocated(address);
    }
    return address;
}

/* ---- public ---- */

void *msp_allocate_block(struct msp_allocator *a, size_t align_bytes, size_t size_bytes)
{
    struct ask ask = {.size_bytes = size_bytes, .align_bytes = align_bytes, .is_block = true};

    return forbidden() ? NULL : allocate_and_report(a, &ask);
}

void *msp_allocate_slow(memspan_allocator_h handle, size_t align_bytes, size_t size_bytes)
{
    struct msp_allocator *a;
    struct ask ask;
    void *address = NULL;
    bool refused  = false;

    if (size_bytes > MSP_SMALL_MAX_BYTES) {
        address = msp_heap_alloc_middle((uintptr_t)handle, align_bytes, size_bytes);
    }
    if (address != NULL) {
        return address;
    }
    a = msp_allocator_acquire(handle);
    if ((a == NULL) || (size_bytes == 0) || forbidden()) {
        msp_allocator_release(a);
        return NULL;
    }
    if (MSP_UNLIKELY(!msp_is_power_of_two(align_bytes))) {
        memspan_error(MEMSPAN_ERR_INVALID, "alignment %zu is no power of two", align_bytes);
    } else {
        address = msp_store_take_first(a, align_bytes, size_bytes, &refused);
        if ((address == NULL) && !refused) {
            ask     = (struct ask){.size_bytes = size_bytes, .align_bytes = align_bytes};
            address = allocate_and_report(a, &ask);
        }
    }
    msp_allocator_release(a);
    return address;
}

/* Records it; NULL. */
static void *refuse_at_limit(size_t size_bytes, struct msp_refusal refusal)
{
    msp_error_limit(size_bytes + MSP_CHARGE_OVERHEAD_BYTES, refusal.limit_bytes,
                    refusal.charged_bytes);
    return NULL;
}

void *memspan_alloc(memspan_allocator_h handle, size_t size_bytes)
{
    struct msp_refusal refusal = {0};
    void *address              = msp_heap_alloc_fast((uintptr_t)handle, 1, size_bytes, &refusal);
    bool refused;

    if (MSP_LIKELY(address != NULL)) {
        return address;
    }
    if (refusal.limit_bytes != 0) {
        return refuse_at_limit(size_bytes, refusal);
    }
    if (size_bytes > MSP_SMALL_MAX_BYTES) {
        return msp_allocate_slow(handle, 1, size_bytes);
    }
    address = msp_heap_alloc_next((uintptr_t)handle, size_bytes, &refused);
    if ((address == NULL) && !refused) {
        address = msp_heap_alloc_scoped((uintptr_t)handle, size_bytes, &refused);
    }
    return ((address != NULL) || refused) ? address : msp_allocate_slow(handle, 1, size_bytes);
}

void *memspan_aligned_alloc(memspan_allocator_h handle, size_t align_bytes, size_t size_bytes)
{
    void *address = NULL;

    if (align_bytes == 1) {
        return memspan_alloc(handle, size_bytes);
    }
    if (MSP_LIKELY(msp_is_power_of_two(align_bytes) && (align_bytes <= MSP_SMALL_ALIGN_MAX))) {
        address = msp_heap_alloc_fast((uintptr_t)handle, align_bytes, size_bytes, NULL);
    }
    return MSP_LIKELY(address != NULL) ? address
                                       : msp_allocate_slow(handle, align_bytes, size_bytes);
}

/* The fast paths and clearing; NULL: take the slow path. */
static void *allocate_zeroed_fast(memspan_allocator_h handle, size_t align_bytes, size_t count,
                                  size_t size_bytes)
{
    void *address = NULL;
    size_t total;

    if (__builtin_mul_overflow(count, size_bytes, &total) || (total > MSP_MEDIUM_MAX_BYTES) ||
        !msp_is_power_of_two(align_bytes) || (align_bytes > MSP_SMALL_ALIGN_MAX) ||
        !msp_heap_is_cleared_by_host((uintptr_t)handle)) {
        return NULL;
    }
    address = (total > MSP_SMALL_MAX_BYTES)
                  ? msp_heap_alloc_middle((uintptr_t)handle, align_bytes, total)
                  : msp_heap_alloc_fast((uintptr_t)handle, align_bytes, total, NULL);
    return (address == NULL) ? NULL : memset(address, 0, total);
}

static void *allocate_zeroed(struct msp_allocator *a, size_t align_bytes, size_t count,
                             size_t size_bytes)
{
    struct ask ask = {.align_bytes = align_bytes, .zeroed = true};

    if (!msp_is_power_of_two(align_bytes)) {
        memspan_error(MEMSPAN_ERR_INVALID, "alignment %zu is no power of two", align_bytes);
        return NULL;
    }
    if (__builtin_mul_overflow(count, size_bytes, &ask.size_bytes)) {
        ask.size_bytes = SIZE_MAX; /* cannot be satisfied: the fallback decides */
    }
    return allocate_and_report(a, &ask);
}

void *msp_allocate_zeroed(memspan_allocator_h handle, size_t align_bytes, size_t count,
                          size_t size_bytes)
{
    void *address = allocate_zeroed_fast(handle, align_bytes, count, size_bytes);
    struct msp_allocator *a;

    if (MSP_LIKELY(address != NULL)) {
        return address;
    }
    a = msp_allocator_acquire(handle);
    if ((a != NULL) && (count > 0) && (size_bytes > 0) && !forbidden()) {
        address = allocate_zeroed(a, align_bytes, count, size_bytes);
    }
    msp_allocator_release(a);
    return address;
}

void *memspan_calloc(memspan_allocator_h handle, size_t count, size_t size_bytes)
{
    return msp_allocate_zeroed(handle, 1, count, size_bytes);
}

static void *allocate_with(struct msp_allocator *a, size_t size_bytes, const memspan_trait_t *given,
                           size_t count)
{
    struct ask ask           = {.size_bytes = size_bytes, .align_bytes = 1};
    struct msp_traits traits = a->traits;
    const struct msp_space *space;
    struct msp_plan plan;
    void *address = NULL;
    size_t i;

    if (msp_traits_apply(&traits, a->space->target, given, count) != MEMSPAN_OK) {
        return NULL;
    }
    for (i = 0; i < count; i++) {
        if ((given[i].key == MEMSPAN_TRAIT_POOL_SIZE) || (given[i].key == MEMSPAN_TRAIT_FALLBACK) ||
            (given[i].key == MEMSPAN_TRAIT_FB_DATA)) {
            memspan_error(MEMSPAN_ERR_INVALID,
                          "trait %s belongs to the allocator, not to one allocation",
                          memspan_trait_key_text(given[i].key));
            msp_error_hint("derive an allocator with memspan_allocator_derive()");
            return NULL;
        }
    }
    space = msp_space_resolve(a->space->handle);
    if ((space == NULL) || (msp_plan_make(space, &traits, &plan) != MEMSPAN_OK)) {
        return NULL;
    }
    msp_plan_report(&plan);
    if (msp_plan_provide(&plan) == MEMSPAN_OK) {
        ask.align_bytes = traits.alignment;
        ask.plan        = &plan;
        address         = allocate_and_report(a, &ask);
    }
    msp_plan_clear(&plan);
    return address;
}

void *memspan_alloc_with(memspan_allocator_h handle, size_t size_bytes,
                         const memspan_trait_t *given, size_t count)
{
    struct msp_allocator *a = msp_allocator_acquire(handle);
    void *address           = NULL;

    if ((a != NULL) && (size_bytes > 0) && !forbidden() &&
        (msp_allocator_ensure_plan(a) == MEMSPAN_OK)) {
        address = allocate_with(a, size_bytes, given, count);
    }
    msp_allocator_release(a);
    return address;
}

/* ---- changing sizes ---- */

static void report_resized(const struct msp_block_view *old, void *address)
{
    if (MSP_UNLIKELY(msp_watching())) {
        msp_watch_reallocated(old, address);
    }
}

/* Moves the contents of a block to a new one, which takes over its charge. */
static void *move_within(struct msp_allocator *a, const struct msp_block_view *old,
                         size_t size_bytes)
{
    size_t old_bytes = old->owner.requested_bytes;
    struct ask ask   = {
          .size_bytes = size_bytes, .align_bytes = 1, .grows = (size_bytes > old_bytes)};
    bool zeroed = false;
    void *address;

    if (take_memory(a, old->owner.account, &ask, true, &zeroed, &address) != MEMSPAN_OK) {
        return NULL;
    }
    if (memspan_copy(address, old->address, (old_bytes < size_bytes) ? old_bytes : size_bytes) !=
        MEMSPAN_OK) {
        msp_block_give(address, true);
        msp_heap_debit(old->owner.account, 0, 1); /* that free was counted */
        return NULL;
    }
    report_resized(old, address);
    msp_block_give(old->address, true);
    return address;
}

static void *resize_in_place(const struct msp_allocator *a, const struct msp_block_view *old,
                             size_t size_bytes)
{
    void *address = msp_block_resize(old->address, size_bytes, a->traits.alignment);

    if (address != NULL) {
        report_resized(old, address);
    }
    return address;
}

/* The same allocator: only the growth is charged, by the slab of an object in its place, and the
 * block stays where it is if it fits. *refused_p: another allocator may be tried. */
static void *resize_own(struct msp_allocator *a, const struct msp_block_view *old,
                        size_t size_bytes, bool *refused_p)
{
    struct msp_account *account = old->owner.account;
    size_t old_bytes            = old->owner.requested_bytes;
    size_t growth               = (size_bytes > old_bytes) ? size_bytes - old_bytes : 0;
    void *address               = old->is_object ? resize_in_place(a, old, size_bytes) : NULL;

    *refused_p =
        (address == NULL) && ((growth > (SIZE_MAX >> 4)) || !msp_heap_debit(account, growth, 0));
    if (*refused_p) {
        refuse(account, growth);
    }
    if (*refused_p || (address != NULL)) {
        return address;
    }
    address = old->is_object ? NULL : resize_in_place(a, old, size_bytes);
    if (address == NULL) {
        msp_heap_debit(account, 0, 1);
        address = move_within(a, old, size_bytes);
    }
    if (address == NULL) {
        msp_heap_credit(account, growth, 0, 1);
        *refused_p = true;
    } else if (size_bytes < old_bytes) {
        msp_heap_credit(account, old_bytes - size_bytes, 0, 0);
    }
    return address;
}

/* The allocator cannot; if its fallback is where the block already is, it may stay. */
static bool stays_with_fallback(struct msp_allocator *a, const struct msp_block_view *old,
                                size_t size_bytes)
{
    struct msp_allocator *next = (a->traits.fallback == MEMSPAN_VALUE_DEFAULT_MEM_FB)
                                     ? msp_allocator_find(MEMSPAN_ALLOCATOR_DEFAULT)
                                     : NULL;

    return (next != NULL) && (next == old->owner.account->allocator) &&
           (size_bytes <= old->capacity_bytes);
}

static void *move(struct msp_allocator *a, const struct msp_block_view *old, size_t size_bytes)
{
    struct ask ask = {.size_bytes = size_bytes, .align_bytes = 1};
    size_t keep =
        (old->owner.requested_bytes < size_bytes) ? old->owner.requested_bytes : size_bytes;
    void *address = allocate_from(a, &ask);
    bool refused;

    if (address == NULL) {
        if (stays_with_fallback(a, old, size_bytes)) {
            struct msp_allocator *next = old->owner.account->allocator;

            atomic_fetch_add_explicit(&a->account.failed_count, 1, memory_order_relaxed);
            report_fallback(a, next, size_bytes, old->address);
            return resize_own(next, old, size_bytes, &refused);
        }
        address = allocate(a, &ask);
    }
    if (address == NULL) {
        return NULL;
    }
    if (memspan_copy(address, old->address, keep) != MEMSPAN_OK) {
        msp_block_give(address, false);
        return NULL;
    }
    report_resized(old, address);
    msp_block_give(old->address, false);
    return address;
}

/* @p a is pinned, or that of the block, which keeps it. */
static void *resize(struct msp_allocator *a, const struct msp_block_view *old, size_t size_bytes)
{
    void *address;
    bool refused;

    if (a != old->owner.account->allocator) {
        return move(a, old, size_bytes);
    }
    address = resize_own(a, old, size_bytes, &refused);
    return refused ? move(a, old, size_bytes) : address;
}

void *memspan_realloc(memspan_allocator_h handle, void *pointer, size_t size_bytes)
{
    struct msp_block_view old;
    struct msp_allocator *a;
    void *address;

    if (msp_heap_grow_middle(pointer, (uintptr_t)handle, size_bytes)) {
        return pointer;
    }
    if (forbidden()) {
        return NULL;
    }
    if (pointer == NULL) {
        return memspan_alloc(handle, size_bytes);
    }
    if (size_bytes == 0) {
        memspan_free(pointer);
        return NULL;
    }
    if (!msp_block_find(pointer, &old) || (old.address != pointer)) {
        memspan_error(MEMSPAN_ERR_NOT_FOUND, "%p is not the start of a live block of Memspan",
                      pointer);
        msp_block_refused(pointer, "realloc");
        return NULL;
    }
    msp_follow_forget(pointer); /* some of it may go before the change is reported */
    if (handle == MEMSPAN_ALLOCATOR_NULL) {
        return resize(old.owner.account->allocator, &old, size_bytes);
    }
    a       = msp_allocator_acquire(handle);
    address = (a == NULL) ? NULL : resize(a, &old, size_bytes);
    msp_allocator_release(a);
    return address;
}
