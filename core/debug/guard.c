/* SPDX-License-Identifier: BSD-3-Clause */
/* guard.c: guarded blocks from their allocation until their memory is used again.
 *
 * A block in use is in the table. A free claims it under the lock, so that of two frees one is the
 * second; then its red zone is checked, its memory closed, and it waits, still in the table, in the
 * quarantine, until that is full. Only then the pool has its memory back. A backend
 * that checks accesses has it back at once, for its own checks are the better ones; then the block
 * stays in the table only to be reported, until its addresses are another's.
 *
 * The lock is held for the table and the quarantine alone: never while a pool, a driver, the
 * unwinder or a report runs. The memory of a block is accessed by the thread that has made it, has
 * claimed it, or has taken it out of the table. */

#include "core/debug/guard.h"
#include "core/base/error.h"
#include "core/base/fork.h"
#include "core/base/log.h"
#include "core/debug/guard_report.h"
#include "core/engine/allocator_record.h"
#include "core/engine/heap.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The limit of the quarantine. */
#define QUARANTINE_BYTES_MAX ((uint64_t)64 << 20)
enum {
    QUARANTINE_COUNT_MAX = 1 << 16,
    /* Blocks in use that have pages of a checking backend by themselves, which costs addresses. */
    APART_COUNT_MAX = 4096,
    EXIT_STATUS     = 86,
    LOCK_TRIES      = 1000, /* of a millisecond, in a signal handler */
};

MSP_LOCK_STATIC(guard_lock, MSP_RANK_GUARD); /* guards the table and: */
static struct msp_guard_block *quarantine_first;
static struct msp_guard_block *quarantine_last;
static uint64_t quarantine_bytes;
static uint64_t quarantine_count;
static uint64_t quarantine_split;
static uint64_t split_count; /* blocks of split mappings, in use or in quarantine */
static uint64_t apart_count; /* in use */
static uint64_t serial;
static struct msp_guard_counts counts;

/* ---- leaving the quarantine ---- */

/* Memory of a driver that came from the parent may still be the parent's: its bytes mean nothing.
 */
static bool is_inherited(const struct msp_guard_block *b)
{
    return (b->process != getpid()) &&
           ((b->zone.provider->spec.device->table->flags & MEMSPAN_BACKEND_IS_HOST) == 0);
}

/* The bytes that a block in quarantine costs. Closed pages hold addresses, hardly memory. */
static uint64_t quarantine_cost(const struct msp_guard_block *b)
{
    if (b->returned) {
        return 64;
    }
    return (b->zone.closed_front_bytes == b->zone.raw_bytes) ? b->zone.raw_bytes / 16 + 64
                                                             : b->zone.raw_bytes;
}

/* Takes the blocks that waited longest out of the table until the rest is within bounds, or all.
 * Lock held. */
static struct msp_guard_block *take_over_due(bool all)
{
    struct msp_guard_block *due   = NULL;
    struct msp_guard_block **tail = &due;
    struct msp_guard_block *b;

    while (((b = quarantine_first) != NULL) &&
           (all || (quarantine_bytes > QUARANTINE_BYTES_MAX) ||
            (quarantine_count > QUARANTINE_COUNT_MAX) ||
            (quarantine_split > msp_guard_settings.split_max / 2))) {
        quarantine_first = b->next;
        if (quarantine_first == NULL) {
            quarantine_last = NULL;
        }
        quarantine_bytes -= quarantine_cost(b);
        quarantine_count--;
        quarantine_split -= b->zone.split ? 1 : 0;
        if (!b->replaced) {
            msp_guard_table_remove(b);
        }
        b->next = NULL;
        *tail   = b;
        tail    = &b->next;
    }
    return due;
}

/* Gives the memory of blocks back to their pools. No lock held. */
static void give_back(struct msp_guard_block *due)
{
    struct msp_red_zone_damage damage;
    struct msp_guard_block *b;
    struct msp_guard_block *next;

    for (b = due; b != NULL; b = next) {
        bool split = b->zone.split;

        next = b->next;
        if (!b->returned && !is_inherited(b) && !msp_red_zone_check_closed(&b->zone, &damage)) {
            msp_guard_report(&(struct msp_guard_finding){
                .fault = MSP_GUARD_WRITTEN_FREED, .block = b, .damage = damage});
        }
        if (!b->returned && msp_red_zone_lower(&b->zone)) {
            msp_store_drop(b->zone.raw);
        } else if (!b->returned) {
            msp_log(MEMSPAN_LOG_WARN, "guard", "%zu bytes at %p stay closed and are lost",
                    b->zone.raw_bytes, (void *)b->zone.raw);
        }
        msp_lock(&guard_lock);
        split_count -= split ? 1 : 0;
        msp_guard_table_drop(b);
        msp_unlock(&guard_lock);
    }
}

void msp_guard_trim(void)
{
    struct msp_guard_block *due;

    msp_lock(&guard_lock);
    due = take_over_due(true);
    msp_unlock(&guard_lock);
    give_back(due);
}

/* ---- allocation ---- */

static void name_allocator(struct msp_guard_block *b)
{
    const struct msp_allocator *a = b->owner.account->allocator;

    if (memspan_allocator_name(a)[0] != '\0') {
        snprintf(b->allocator, sizeof(b->allocator), "%s", memspan_allocator_name(a));
    } else {
        snprintf(b->allocator, sizeof(b->allocator), "allocator:%u.%u", a->index, a->generation);
    }
}

/* A record, whether its block may have closed pages, or a checking backend's by themselves, and
 * whether closed pages may split mappings. */
static struct msp_guard_block *new_block(bool *pages_p, bool *may_split_p)
{
    struct msp_guard_block *b;

    msp_lock(&guard_lock);
    b = msp_guard_table_new();
    if (b != NULL) {
        *may_split_p = split_count < msp_guard_settings.split_max;
        *pages_p = (*may_split_p || msp_guard_settings.regions) && (apart_count < APART_COUNT_MAX);
        split_count += *may_split_p ? 1 : 0;
        b->serial = ++serial;
    }
    msp_unlock(&guard_lock);
    return b;
}

static memspan_status_t take_once(const struct msp_red_zone *zone,
                                  const struct msp_request *request, bool *zeroed_p, void **raw_p)
{
    struct msp_request raw = *request;

    raw.size_bytes            = zone->raw_bytes;
    raw.align_bytes           = zone->raw_align_bytes;
    raw.owner.requested_bytes = zone->raw_bytes;
    raw.objects               = false;
    return msp_store_take(&raw, zeroed_p, raw_p);
}

static bool is_shortage(memspan_status_t status)
{
    return (status == MEMSPAN_ERR_NO_MEMORY) || (status == MEMSPAN_ERR_LIMIT);
}

/* The store's memory for a zone; where there is too little, without those that wait, and then
 * without a red zone. */
static memspan_status_t take_zone(struct msp_red_zone *zone, const struct msp_request *request,
                                  bool *zeroed_p, void **raw_p)
{
    bool zeroed             = *zeroed_p;
    memspan_status_t status = take_once(zone, request, &zeroed, raw_p);

    if (is_shortage(status)) {
        msp_guard_trim();
        zeroed = *zeroed_p;
        status = take_once(zone, request, &zeroed, raw_p);
    }
    if (is_shortage(status) && (zone->raw_bytes != request->size_bytes)) {
        msp_red_zone_plan_bare(zone->provider, zone->size_bytes, request->align_bytes,
                               request->size_bytes, zone);
        zeroed = *zeroed_p;
        status = take_once(zone, request, &zeroed, raw_p);
    }
    if (status == MEMSPAN_OK) {
        *zeroed_p = zeroed;
    }
    return status;
}

/* Blocks that were returned to their backend, where the memory is another's now. Lock held. */
static void replace_returned(const struct msp_guard_block *by)
{
    const unsigned char *end  = by->zone.raw + by->zone.raw_bytes;
    struct msp_guard_block *b = msp_guard_table_find(by->zone.raw);

    if (b == NULL) {
        b = msp_guard_table_above(by->zone.raw);
    }
    while ((b != NULL) && b->returned && (b->zone.raw < end)) {
        struct msp_guard_block *next = msp_guard_table_above(b->zone.raw);

        msp_guard_table_remove(b);
        b->replaced = true;
        b           = next;
    }
}

/* Counts a block in use. True for the first that should have a closed page and has none. Lock held.
 */
static bool count(const struct msp_guard_block *b)
{
    bool refused = b->zone.closable && !b->zone.paged;

    counts.blocks++;
    counts.closed += b->zone.paged ? 1 : 0;
    counts.refused += refused ? 1 : 0;
    return refused && (counts.refused == 1);
}

static void tell_refused(const struct msp_guard_block *b, uint64_t closed)
{
    msp_log(MEMSPAN_LOG_WARN, "guard",
            "no page is closed behind a block of %zu bytes, as behind %llu before it: mappings are "
            "too many (vm.max_map_count), or its pages are reserved huge ones; it has patterns "
            "alone, as others from now on: reads beyond them are not detected",
            b->zone.size_bytes, (unsigned long long)closed);
}

/* Enters a block whose red zone is written, or drops a record that was not used (@p keep false).
 * The mapping that was counted ahead (@p counted) counts where there is one. */
static void settle(struct msp_guard_block *b, bool counted, bool keep)
{
    bool first_refused = false;
    uint64_t closed;

    msp_lock(&guard_lock);
    split_count -= (counted && !(keep && b->zone.split)) ? 1 : 0;
    if (keep) {
        apart_count += b->zone.apart ? 1 : 0;
        first_refused = count(b);
        replace_returned(b);
        msp_guard_table_insert(b);
    } else {
        msp_guard_table_drop(b);
    }
    closed = counts.closed;
    msp_unlock(&guard_lock);
    if (first_refused) {
        tell_refused(b, closed);
    }
}

memspan_status_t msp_guard_alloc(const struct msp_request *request, bool *zeroed_p,
                                 void **address_p)
{
    const struct msp_call_stack *stack = msp_call_stack_here();
    bool pages                         = false;
    bool may_split                     = false;
    struct msp_guard_block *b          = new_block(&pages, &may_split);
    memspan_status_t status;
    void *raw;

    if (b == NULL) {
        return memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for a guarded block's record");
    }
    /* A block divided into parts has the size of their sum. */
    if ((request->parts != NULL) ||
        !msp_red_zone_plan(request->provider, request->owner.requested_bytes, request->align_bytes,
                           pages, &b->zone)) {
        msp_red_zone_plan_bare(request->provider, request->owner.requested_bytes,
                               request->align_bytes, request->size_bytes, &b->zone);
    }
    status = take_zone(&b->zone, request, zeroed_p, &raw);
    if (status != MEMSPAN_OK) {
        settle(b, may_split, false);
        return status;
    }
    msp_red_zone_raise(&b->zone, raw, may_split);
    b->owner        = request->owner;
    b->chunk        = msp_store_chunk(raw);
    b->alloc_stack  = stack;
    b->alloc_thread = gettid();
    b->process      = getpid();
    name_allocator(b);
    *address_p = b->zone.address;
    settle(b, may_split, true);
    return MEMSPAN_OK;
}

/* ---- free ---- */

/* The block that starts at the address and is in use, claimed by the caller. *status_p, when there
 * is none: MEMSPAN_OK if no block holds the address either. */
static struct msp_guard_block *claim(void *address, const struct msp_call_stack *stack,
                                     memspan_status_t *status_p)
{
    struct msp_guard_block *b;

    *status_p = MEMSPAN_OK;
    msp_lock(&guard_lock);
    b = msp_guard_table_find(address);
    if ((b != NULL) && (b->zone.address != address)) {
        memspan_error(MEMSPAN_ERR_NOT_FOUND,
                      "%p is inside a block of %zu bytes at %p, or in its red zone", address,
                      b->zone.size_bytes, (void *)b->zone.address);
        *status_p = msp_error_hint("free the address that the allocation returned");
        b         = NULL;
    } else if ((b != NULL) && b->freed) {
        memspan_error(MEMSPAN_ERR_NOT_FOUND,
                      "%p is in memory of Memspan, but no live block is there", address);
        *status_p = msp_error_hint("it was freed before");
        b         = NULL;
    } else if (b != NULL) {
        b->freed       = true;
        b->free_stack  = stack;
        b->free_thread = gettid();
    }
    msp_unlock(&guard_lock);
    return b;
}

static void enter_quarantine(struct msp_guard_block *b, const struct msp_red_zone *zone)
{
    struct msp_guard_block *due;

    msp_lock(&guard_lock);
    counts.blocks--;
    counts.closed -= b->zone.paged ? 1 : 0;
    split_count += (zone->split && !b->zone.split) ? 1 : 0;
    b->zone     = *zone;
    b->closed   = !zone->apart;
    b->returned = zone->apart;
    b->next     = NULL;
    apart_count -= zone->apart ? 1 : 0;
    if (quarantine_last == NULL) {
        quarantine_first = b;
    } else {
        quarantine_last->next = b;
    }
    quarantine_last = b;
    quarantine_bytes += quarantine_cost(b);
    quarantine_count++;
    quarantine_split += b->zone.split ? 1 : 0;
    due = take_over_due(false);
    msp_unlock(&guard_lock);
    if (zone->apart) {
        msp_store_drop(zone->raw);
    }
    give_back(due);
}

memspan_status_t msp_guard_free(void *address, bool *known_p, struct msp_block_owner *owner_p)
{
    const struct msp_call_stack *stack = msp_call_stack_here();
    struct msp_guard_finding finding   = {
          .fault = MSP_GUARD_DAMAGED, .call = "free", .address = address};
    struct msp_guard_block *b;
    struct msp_guard_block copy;
    struct msp_red_zone zone;
    memspan_status_t status;

    b        = claim(address, stack, &status);
    *known_p = (b != NULL) || (status != MEMSPAN_OK);
    if (b == NULL) {
        return status;
    }
    *owner_p = b->owner;
    if (!is_inherited(b) && !msp_red_zone_check(&b->zone, false, &finding.damage)) {
        copy          = *b;
        copy.freed    = false; /* the caller is doing that */
        finding.block = &copy;
        msp_guard_report(&finding);
    }
    zone = b->zone;
    if (!zone.apart) {
        msp_red_zone_close(&zone);
    }
    enter_quarantine(b, &zone);
    return MEMSPAN_OK;
}

memspan_status_t msp_guard_give(void *address, bool keep_charge)
{
    struct msp_block_owner owner;
    memspan_status_t status;
    bool known;

    status = msp_guard_free(address, &known, &owner);
    if (!known) { /* from before the guard was on, or not a block */
        return msp_store_give(msp_map_find(address), address, keep_charge);
    }
    if (status == MEMSPAN_OK) {
        msp_heap_credit(owner.account,
                        keep_charge ? 0 : owner.requested_bytes + MSP_CHARGE_OVERHEAD_BYTES, 1, 0);
    }
    return status;
}

/* ---- look-ups ---- */

bool msp_guard_find(const void *address, struct msp_block_view *view_p)
{
    const struct msp_guard_block *b;
    bool known;
    bool found;

    msp_lock(&guard_lock);
    b     = msp_guard_table_find(address);
    known = (b != NULL);
    found = known && !b->freed &&
            ((size_t)((const unsigned char *)address - b->zone.address) < b->zone.size_bytes);
    if (found) {
        *view_p = (struct msp_block_view){.chunk          = b->chunk,
                                          .address        = b->zone.address,
                                          .capacity_bytes = b->zone.size_bytes,
                                          .owner          = b->owner};
    }
    msp_unlock(&guard_lock);
    return found || (!known && msp_store_find(address, view_p));
}

void msp_guard_refused(const void *address, const char *call)
{
    struct msp_guard_finding finding = {.call = call, .address = address};
    struct msp_error_saved saved;
    struct msp_block_view view;
    const struct msp_guard_block *b;
    struct msp_guard_block copy;

    msp_lock(&guard_lock);
    b = msp_guard_table_find(address);
    if (b != NULL) {
        copy = *b;
    }
    msp_unlock(&guard_lock);

    msp_error_save(&saved);
    if (b == NULL) {
        finding.fault = (msp_store_chunk(address) != NULL) ? MSP_GUARD_WILD : MSP_GUARD_STRANGER;
        if (msp_store_find(address, &view)) {
            return; /* a block from before the guard was on: the caller reports the mistake */
        }
    } else if (copy.zone.address != address) {
        finding.fault = MSP_GUARD_INTERIOR;
        finding.block = &copy;
    } else if (copy.freed) {
        finding.fault = MSP_GUARD_DOUBLE_FREE;
        finding.block = &copy;
    } else {
        return; /* refused for another reason, or allocated again meanwhile */
    }
    msp_guard_report(&finding);
    msp_error_restore(&saved);
}

void msp_guard_count(struct msp_guard_counts *counts_p)
{
    msp_lock(&guard_lock);
    *counts_p             = counts;
    counts_p->allocated   = serial;
    counts_p->quarantined = quarantine_count;
    counts_p->regions     = msp_guard_settings.regions;
    msp_unlock(&guard_lock);
}

/* The lock, unless it cannot be had: the caller may be a signal handler over its holder. */
static bool lock_soon(void)
{
    int i;

    for (i = 0; i < LOCK_TRIES; i++) {
        if (msp_lock_try(&guard_lock)) {
            return true;
        }
        usleep(1000);
    }
    return false;
}

bool msp_guard_find_closed(const void *address, struct msp_guard_block *block_p)
{
    const struct msp_chunk *chunk = msp_store_chunk(address);
    const struct msp_guard_block *b;
    size_t offset;
    bool found = false;

    if ((chunk == NULL) || !lock_soon()) {
        return false;
    }
    b = msp_guard_table_find(address);
    if ((b != NULL) && b->zone.paged) {
        offset = (size_t)((const unsigned char *)address - b->zone.raw);
        found  = (offset < b->zone.closed_front_bytes) ||
                (offset >= b->zone.raw_bytes - b->zone.closed_back_bytes);
        *block_p = *b;
    }
    msp_unlock(&guard_lock);
    return found;
}

void msp_guard_describe(const void *address)
{
    const struct msp_guard_block *b;
    struct msp_guard_block copy;

    msp_lock(&guard_lock);
    b = msp_guard_table_below(address);
    if (b == NULL) {
        b = msp_guard_table_above(address);
    }
    if (b != NULL) {
        copy = *b;
    }
    msp_unlock(&guard_lock);
    msp_guard_report_block(address, (b == NULL) ? NULL : &copy);
}

/* ---- the end of the process ---- */

enum { LEAKS_SHOWN = 20 };

/* Adds a block to those of the same place. False when there is no memory. */
static bool add_leak(struct msp_guard_leak **leaks, size_t *groups, size_t *capacity,
                     const struct msp_guard_block *b)
{
    struct msp_guard_leak *more;
    size_t i;

    for (i = 0; i < *groups; i++) {
        struct msp_guard_leak *leak = &(*leaks)[i];

        if ((leak->first.alloc_stack == b->alloc_stack) &&
            (leak->first.owner.account->allocator == b->owner.account->allocator)) {
            leak->first = (b->serial < leak->first.serial) ? *b : leak->first;
            leak->count++;
            leak->bytes += b->zone.size_bytes;
            return true;
        }
    }
    if (*groups == *capacity) {
        more = realloc(*leaks, (*capacity * 2 + 16) * sizeof(**leaks));
        if (more == NULL) {
            return false;
        }
        *leaks    = more;
        *capacity = *capacity * 2 + 16;
    }
    (*leaks)[(*groups)++] = (struct msp_guard_leak){*b, 1, b->zone.size_bytes};
    return true;
}

static int compare_leaks(const void *a, const void *b)
{
    uint64_t x = ((const struct msp_guard_leak *)a)->bytes;
    uint64_t y = ((const struct msp_guard_leak *)b)->bytes;

    return (x < y) - (x > y);
}

static void tell_leaks(void)
{
    struct msp_guard_leak *leaks = NULL;
    const struct msp_guard_block *b;
    pid_t here      = getpid(); /* a parent's blocks are the parent's to free */
    uint64_t count  = 0;
    uint64_t bytes  = 0;
    size_t groups   = 0;
    size_t capacity = 0;

    msp_lock(&guard_lock);
    for (b = msp_guard_table_above(NULL); b != NULL; b = msp_guard_table_above(b->zone.raw)) {
        if (!b->freed && (b->process == here)) {
            count++;
            bytes += b->zone.size_bytes;
            add_leak(&leaks, &groups, &capacity, b);
        }
    }
    msp_unlock(&guard_lock);
    if (count > 0) {
        qsort(leaks, groups, sizeof(*leaks), compare_leaks);
        msp_guard_report_leaks(leaks, (groups < LEAKS_SHOWN) ? groups : LEAKS_SHOWN, groups, count,
                               bytes);
    }
    free(leaks);
}

/* The first block above @p address whose red zone is damaged. */
static bool find_damaged(const void *address, struct msp_guard_finding *finding,
                         struct msp_guard_block *copy)
{
    const struct msp_guard_block *b;
    bool found = false;

    msp_lock(&guard_lock);
    for (b = msp_guard_table_above(address); (b != NULL) && !found;
         b = msp_guard_table_above(b->zone.raw)) {
        /* Drivers may be closed by now. */
        if (is_inherited(b) || b->returned) {
            continue;
        }
        if (b->freed) {
            finding->fault = MSP_GUARD_WRITTEN_FREED;
            found          = b->closed && !msp_red_zone_check_closed(&b->zone, &finding->damage);
        } else {
            finding->fault = MSP_GUARD_DAMAGED;
            found          = !msp_red_zone_check(&b->zone, true, &finding->damage);
        }
        if (found) {
            *copy = *b;
        }
    }
    msp_unlock(&guard_lock);
    return found;
}

__attribute__((destructor)) static void check_at_exit(void)
{
    struct msp_guard_finding finding = {.call = NULL};
    struct msp_guard_block copy;
    const void *after = NULL;

    if (!msp_guarding()) {
        return;
    }
    finding.block = &copy;
    while (find_damaged(after, &finding, &copy)) {
        msp_guard_report(&finding);
        after = copy.zone.raw;
    }
    if (!msp_guard_settings.no_leaks) {
        tell_leaks();
    }
    if (msp_guard_settings.fails && msp_guard_reported()) {
        fflush(NULL); /* exit() would do that after us */
        _exit(EXIT_STATUS);
    }
}
