/* SPDX-License-Identifier: BSD-3-Clause */
/* queue_memory.c: memory that is allocated and freed in the order of queues.
 *
 * A free puts the block into a bin of its queue, with the queue's mark: no driver call. A request
 * takes, in this order,
 *   1. a block that was freed on its own queue: the order is right by itself;
 *   2. one of another queue whose work is known to be complete, or to precede;
 *   3. free memory that the allocator's pool holds;
 *   4. one of another queue, for whose work this queue then waits, by an event;
 *   5. memory that the pool takes from the driver.
 * So queues stay independent while there is memory for each, and the pool grows only when no queue
 * keeps a block of the size. What is kept for other sizes goes back to the pool when its use is
 * complete: before 5 as many bytes as are requested, before 3 if that is much of the pool. */

#include "core/allocator.h"
#include "core/base/error.h"
#include "core/base/platform.h"
#include "core/debug/watch.h"
#include "core/engine/allocator_record.h"
#include "core/engine/heap.h"
#include "core/engine/kept.h"
#include "core/engine/pointer_map.h"
#include "core/engine/pool.h"
#include "core/engine/store.h"
#include "core/plan.h"
#include "core/queue.h"
#include <stdlib.h>

enum { ALIGN_LEAST = 256, EXCESS_SHARE = 16 };

/* ---- blocks of a queue ---- */

static void serve_engine(enum msp_kept_task task);

/* What the queue keeps of a pool, first in its list from now on; NULL: nothing, or no memory. Queue
 * locked. */
static inline struct msp_kept *find_kept(struct msp_queue *q, const struct msp_pool *pool)
{
    struct msp_kept **link = &q->kept;
    struct msp_kept *kept;

    if (MSP_LIKELY((*link != NULL) && ((*link)->pool == pool))) {
        return *link;
    }
    while ((*link != NULL) && ((*link)->pool != pool)) {
        link = &(*link)->next;
    }
    kept = *link;
    if (kept != NULL) {
        *link      = kept->next;
        kept->next = q->kept;
        q->kept    = kept;
    }
    return kept;
}

static struct msp_kept *need_kept(struct msp_queue *q, struct msp_pool *pool)
{
    struct msp_kept *kept = find_kept(q, pool);

    if (kept == NULL) {
        kept = calloc(1, sizeof(*kept));
        if (kept != NULL) {
            kept->pool = pool;
            kept->next = q->kept;
            q->kept    = kept;
            msp_kept_set_owner(serve_engine);
        }
    }
    return kept;
}

static struct msp_record *take_from(struct msp_queue *q, const struct msp_pool *pool,
                                    size_t size_bytes, size_t align_bytes, uint64_t mark_max)
{
    struct msp_kept *kept = find_kept(q, pool);

    return (kept == NULL) ? NULL : msp_kept_take(kept, size_bytes, align_bytes, mark_max);
}

/* False without memory: the caller frees the block otherwise. */
static bool put_into(struct msp_queue *q, struct msp_record *r, uint64_t mark)
{
    struct msp_kept *kept = need_kept(q, msp_pool_of(r));

    if (kept != NULL) {
        msp_kept_put(kept, r, mark);
    }
    return kept != NULL;
}

/* For the next request of that queue, if anything. Queue not locked. */
static void put_back(struct msp_queue *q, struct msp_record *r, uint64_t mark)
{
    msp_lock(&q->lock);
    (void)put_into(q, r, mark); /* it was just taken from there: there is a bin */
    msp_unlock(&q->lock);
}

struct msp_record *msp_queue_empty(struct msp_queue *q)
{
    struct msp_record *list = NULL;
    size_t all              = SIZE_MAX;
    struct msp_kept *kept;
    struct msp_kept *next;

    for (kept = q->kept; kept != NULL; kept = next) {
        next = kept->next;
        list = msp_kept_take_bytes(kept, MSP_MARK_ALL, &all, list);
        msp_kept_publish(kept);
        free(kept);
    }
    q->kept = NULL;
    return list;
}

/* ---- blocks of other queues ---- */

struct request {
    struct msp_queue *queue;
    struct msp_pool *pool;
    size_t size_bytes;
    size_t align_bytes;
};

/* Of one pool, or (NULL) of all. */
static size_t kept_bytes(struct msp_queue *q, const struct msp_pool *pool)
{
    const struct msp_kept *kept;
    size_t bytes = 0;

    msp_lock(&q->lock);
    for (kept = q->kept; kept != NULL; kept = kept->next) {
        bytes += ((pool == NULL) || (kept->pool == pool)) ? kept->bytes : 0;
    }
    msp_unlock(&q->lock);
    return bytes;
}

static struct msp_record *take_known(const struct request *want, struct msp_queue *other, bool look)
{
    struct msp_record *r = NULL;
    uint64_t known;

    if (kept_bytes(other, want->pool) == 0) {
        return NULL; /* the driver need not look */
    }
    known = msp_queue_known(want->queue, other, look);
    if (known != 0) {
        msp_lock(&other->lock);
        r = take_from(other, want->pool, want->size_bytes, want->align_bytes, known);
        msp_unlock(&other->lock);
    }
    return r;
}

/* The lock of edges is released where the host waits. */
static struct msp_record *take_ordered(const struct request *want, struct msp_queue *other)
{
    struct msp_record *r;
    uint64_t mark;
    bool waited;

    msp_lock(&other->lock);
    r = take_from(other, want->pool, want->size_bytes, want->align_bytes, MSP_MARK_ALL);
    msp_unlock(&other->lock);
    if (r == NULL) {
        return NULL;
    }
    mark = r->queue_mark;
    msp_queue_pin(other);
    if (msp_queue_order(want->queue, other, mark, false, MSP_WAIT_REUSE, &waited) != MEMSPAN_OK) {
        put_back(other, r, mark);
        r = NULL;
    }
    msp_queue_leave_call(other);
    return r;
}

static bool pool_has(const struct request *want)
{
    uint32_t units = (uint32_t)((want->size_bytes + MSP_UNIT_BYTES - 1) >> MSP_UNIT_SHIFT);
    bool has;

    msp_pool_lock(want->pool);
    has = msp_fit_has(msp_pool_fit(want->pool), units, want->align_bytes);
    msp_pool_unlock(want->pool);
    return has;
}

/* Step 2 without the driver, and with the driver's answers; step 4. */
enum source { KNOWN, LOOKED_AT, ORDERED };

/* Lock of edges held, which ORDERED may release meanwhile. */
static struct msp_record *take_elsewhere(const struct request *want, enum source source)
{
    uint32_t count       = msp_queue_count();
    struct msp_record *r = NULL;
    uint32_t i;

    for (i = 1; (r == NULL) && (i < count); i++) {
        struct msp_queue *other = msp_queue_at(i);
        if ((other != want->queue) && msp_queue_is_open(other)) {
            r = (source == ORDERED) ? take_ordered(want, other)
                                    : take_known(want, other, source == LOOKED_AT);
        }
    }
    return r;
}

/* ---- back to the pools ---- */

/* Whether the last event has happened, as far as it is not known. Lock of edges held. */
static void look_at_event(struct msp_queue *q)
{
    const struct msp_device *d = q->device;
    int done                   = 0;

    if ((q->event_mark > q->done_mark) &&
        (d->table->event_done(d->state, d->ordinal, q->event, &done) == MEMSPAN_OK) &&
        (done != 0)) {
        q->done_mark = q->event_mark;
    }
}

/* Marks of the queue whose work is complete; @p thorough: waits for all of it. Lock of edges held,
 * which is released while the host waits. */
static uint64_t complete_of(struct msp_queue *q, bool thorough)
{
    if (thorough) {
        (void)msp_queue_finish(q, false, MSP_WAIT_EXHAUSTED); /* what failed stays where it is */
    } else if (q->counts.has_events != 0) {
        look_at_event(q);
        if ((q->event_mark <= q->done_mark) && ((q->flags & MEMSPAN_QUEUE_LASTING) != 0)) {
            (void)msp_queue_record(q);
            look_at_event(q);
        }
    }
    return q->done_mark;
}

/* A list of complete blocks of all queues with @p bytes bytes, of one pool or (NULL) of all. Lock
 * of edges held, which is released while the host waits. */
static struct msp_record *collect(const struct msp_pool *pool, size_t bytes, bool thorough)
{
    struct msp_record *list = NULL;
    uint32_t count          = msp_queue_count();
    uint32_t i;

    for (i = 1; (i < count) && (bytes > 0); i++) {
        struct msp_queue *q = msp_queue_at(i);
        struct msp_kept *kept;
        uint64_t complete;

        if (!msp_queue_is_open(q) || (kept_bytes(q, pool) == 0)) {
            continue;
        }
        msp_queue_pin(q);
        complete = complete_of(q, thorough);
        msp_lock(&q->lock);
        for (kept = q->kept; kept != NULL; kept = kept->next) {
            if ((pool == NULL) || (kept->pool == pool)) {
                list = msp_kept_take_bytes(kept, complete, &bytes, list);
            }
        }
        msp_unlock(&q->lock);
        msp_queue_leave_call(q);
    }
    return list;
}

/* Bytes to give back where queues keep more than a sixteenth of the pool's bytes: down to half of
 * that, so that the drivers are not called again soon. */
static size_t excess_bytes(const struct msp_pool *pool)
{
    size_t limit =
        atomic_load_explicit(&msp_pool_provider(pool)->held_bytes, memory_order_relaxed) /
        EXCESS_SHARE;
    uint32_t count = msp_queue_count();
    size_t bytes   = 0;
    uint32_t i;

    for (i = 1; i < count; i++) {
        bytes += kept_bytes(msp_queue_at(i), pool);
    }
    return (bytes > limit) ? bytes - limit / 2 : 0;
}

static void publish(void)
{
    uint32_t count = msp_queue_count();
    uint32_t i;

    for (i = 1; i < count; i++) {
        struct msp_queue *q = msp_queue_at(i);
        struct msp_kept *kept;

        msp_lock(&q->lock);
        for (kept = q->kept; kept != NULL; kept = kept->next) {
            msp_kept_publish(kept);
        }
        msp_unlock(&q->lock);
    }
}

static void serve_engine(enum msp_kept_task task)
{
    struct msp_record *list;

    if (task == MSP_KEPT_PUBLISH) {
        publish();
        return;
    }
    msp_queue_lock_edges();
    list = collect(NULL, SIZE_MAX, task == MSP_KEPT_RETURN_ALL);
    msp_queue_unlock_edges();
    msp_kept_release(list);
}

/* ---- allocating ---- */

/* Hooks and the trace see what queues keep as any other memory, on the slow paths. */
static bool may_keep_watched(void)
{
    return msp_watching() && !msp_guarding() && !msp_placing();
}

/* The pool of ordinary requests of that size; NULL: each request has an own way, or none yet. */
static struct msp_pool *pool_of(const struct msp_allocator *a, size_t size_bytes, bool is_watched)
{
    const struct msp_provider *provider;

    if ((atomic_load_explicit(&a->provider, memory_order_acquire) == NULL) ||
        (!is_watched && !msp_is_unwatched()) ||
        (a->traits.partition == MEMSPAN_VALUE_PARTITIONER) ||
        (size_bytes >= a->plan->blocked_bytes)) {
        return NULL;
    }
    provider = msp_plan_provider_here(a->plan);
    return (provider == NULL) ? NULL : provider->pool;
}

/* The block, charged; NULL: the limit refuses it. Queue locked. */
static void *hand_out(struct msp_allocator *a, struct msp_queue *q, struct msp_record *r,
                      size_t size_bytes, uint64_t *counter)
{
    struct msp_account *account = msp_allocator_account(a);
    void *address = (account == NULL) ? NULL : msp_kept_hand_out(r, account, size_bytes);

    if (address != NULL) {
        q->counts.allocated_count++;
        (*counter)++;
    }
    return address;
}

/* A block of another queue, which is this one's from now on. */
static void *hand_out_other(struct msp_allocator *a, struct msp_queue *q, struct msp_record *r,
                            size_t size_bytes, uint64_t *counter)
{
    bool kept = true;
    memspan_status_t status;
    void *address;

    msp_lock(&q->lock);
    address = hand_out(a, q, r, size_bytes, counter);
    if (address == NULL) {
        kept = put_into(q, r, q->mark);
    }
    msp_unlock(&q->lock);
    if (!kept) { /* no memory for bins */
        msp_queue_lock_edges();
        status = msp_queue_finish(q, true, MSP_WAIT_REUSE);
        msp_queue_unlock_edges();
        r->kept_after = NULL;
        msp_kept_release((status == MEMSPAN_OK) ? r : NULL);
    }
    return address;
}

/* A backend that checks compares the order of its work. */
static void note_allocated(const struct msp_queue *q, const void *address, size_t size_bytes)
{
    const struct msp_device *d = q->device;

    if (d->table->queue_allocated != NULL) {
        (void)d->table->queue_allocated(d->state, d->ordinal, q->native, address, size_bytes);
    }
}

/* Step 1. Queue locked. */
static inline void *take_own(struct msp_allocator *a, const struct request *want)
{
    struct msp_queue *q = want->queue;
    struct msp_record *r =
        take_from(q, want->pool, want->size_bytes, want->align_bytes, MSP_MARK_ALL);
    void *address = NULL;

    if (MSP_LIKELY(r != NULL)) {
        address = hand_out(a, q, r, want->size_bytes, &q->counts.reused_in_order);
        if (address == NULL) {
            (void)put_into(q, r, r->queue_mark); /* where it was: there are bins */
        }
    }
    return address;
}

/* Steps 2 and 4; NULL: it is the pool's turn. The queue is entered, not locked. */
static void *take_other(struct msp_allocator *a, struct msp_queue *q, const struct request *want)
{
    uint64_t *counter       = &q->counts.reused_after_event;
    struct msp_record *list = NULL;
    struct msp_record *r;

    msp_queue_lock_edges();
    r = take_elsewhere(want, KNOWN);
    r = (r == NULL) ? take_elsewhere(want, LOOKED_AT) : r;
    if ((r == NULL) && pool_has(want)) {
        list = collect(want->pool, excess_bytes(want->pool), false);
    } else if (r == NULL) {
        counter = &q->counts.reused_after_wait;
        r       = take_elsewhere(want, ORDERED);
        list    = (r == NULL) ? collect(want->pool, want->size_bytes, false) : NULL;
    }
    msp_queue_unlock_edges();
    msp_kept_release(list);
    return (r == NULL) ? NULL : hand_out_other(a, q, r, want->size_bytes, counter);
}

/* Steps 3 and 5. */
static void *take_new(struct msp_allocator *a, struct msp_queue *q, const struct request *want)
{
    void *address = msp_allocate_block(a, want->align_bytes, want->size_bytes);

    if (address != NULL) {
        msp_lock(&q->lock);
        q->counts.allocated_count++;
        msp_unlock(&q->lock);
        note_allocated(q, address, want->size_bytes);
    }
    return address;
}

/* All steps, with events. The queue is entered, not locked. */
static void *allocate_watched(struct msp_allocator *a, struct msp_queue *q, struct request want)
{
    uint64_t started_ns = msp_watch_now();
    const char *name    = "alloc in order";
    void *address       = NULL;

    want.pool = may_keep_watched() ? pool_of(a, want.size_bytes, true) : NULL;
    if (want.pool != NULL) {
        msp_lock(&q->lock);
        address = take_own(a, &want);
        msp_unlock(&q->lock);
    }
    if ((address == NULL) && (want.pool != NULL)) {
        name    = "alloc of another queue";
        address = take_other(a, q, &want);
    }
    if (address != NULL) {
        msp_watch_allocated(address);
    } else {
        name    = "alloc";
        address = take_new(a, q, &want);
    }
    msp_queue_trace(q, name, address, want.size_bytes, started_ns);
    return address;
}

/* Steps 2 to 5. The queue is entered, not locked. */
static void *allocate_slow(struct msp_allocator *a, struct msp_queue *q, const struct request *want)
{
    void *address = (want->pool == NULL) ? NULL : take_other(a, q, want);

    return (address == NULL) ? take_new(a, q, want) : address;
}

/* The queue is locked, and is not afterwards. */
static void *allocate(struct msp_allocator *a, struct msp_queue *q, size_t size_bytes)
{
    size_t align_bytes  = (a->traits.alignment > ALIGN_LEAST) ? a->traits.alignment : ALIGN_LEAST;
    struct request want = {q, pool_of(a, size_bytes, false), size_bytes, align_bytes};
    void *address       = MSP_LIKELY(want.pool != NULL) ? take_own(a, &want) : NULL;

    if (MSP_LIKELY(address != NULL)) {
        msp_queue_release(q);
        return address;
    }
    msp_queue_pin(q);
    msp_queue_release(q);
    address = msp_watching() ? allocate_watched(a, q, want) : allocate_slow(a, q, &want);
    msp_queue_leave(q);
    msp_waits_flush();
    return address;
}

void *memspan_alloc_on(memspan_allocator_h allocator, size_t size_bytes, memspan_queue_h queue)
{
    struct msp_allocator *a = msp_allocator_acquire(allocator);
    struct msp_queue *q     = (a == NULL) ? NULL : msp_queue_acquire(queue);
    void *address           = NULL;

    if ((q != NULL) && (size_bytes > 0)) {
        address = allocate(a, q, size_bytes);
    } else if (q != NULL) {
        msp_queue_release(q);
    }
    msp_allocator_release(a);
    return address;
}

/* ---- freeing ---- */

/* Whether blocks that are freed on the queue wait in it. */
static inline bool keeps(const struct msp_queue *q, bool is_watched)
{
    return !q->is_immediate && (is_watched || msp_is_unwatched()) &&
           (((q->flags & MEMSPAN_QUEUE_LASTING) != 0) || (q->counts.has_events != 0));
}

/* The block waits in the queue. False, and nothing has changed: it is none of a pool, or there is
 * no memory for bins. Queue locked. */
static inline bool keep(struct msp_queue *q, void *pointer, bool is_watched,
                        struct msp_kept_charge *charge_p)
{
    struct msp_record *r = keeps(q, is_watched) ? msp_kept_claim(pointer, charge_p) : NULL;

    if ((r != NULL) && !put_into(q, r, q->mark)) {
        atomic_store_explicit(&r->use, MSP_USE_BLOCK, memory_order_release);
        r = NULL;
    }
    return r != NULL;
}

/* The device's backend waits and checks in queue_freed(). */
static bool is_checked_by(const struct msp_device *d, const struct msp_block_view *view)
{
    return (d->table->queue_freed != NULL) &&
           (view->chunk->provider->spec.device->table == d->table);
}

static void free_later(void *pointer)
{
    (void)memspan_free(pointer);
}

/* What a queue does not keep is freed when its work is complete. The queue is entered. */
static memspan_status_t free_after_wait(struct msp_queue *q, void *pointer, bool *waited_p)
{
    const struct msp_device *d = q->device;
    memspan_status_t status    = MEMSPAN_OK;
    enum msp_wait_reason reason;
    struct msp_block_view view;

    if (q->is_immediate || !msp_queue_find_block(pointer, &view)) {
        return memspan_free(pointer); /* an error of the address is that call's */
    }
    if (msp_queue_is_own_thread(q)) { /* the queue's work waits for this function */
        return msp_queue_call_later(q, free_later, pointer);
    }
    reason = ((msp_map_find(pointer) & MSP_ENTRY_SLAB) != 0) ? MSP_WAIT_OBJECT : MSP_WAIT_FREE;
    if (d->table->queue_freed != NULL) {
        status = d->table->queue_freed(d->state, d->ordinal, q->native, pointer,
                                       view.owner.requested_bytes);
    }
    if (!is_checked_by(d, &view)) {
        msp_queue_lock_edges();
        status    = msp_queue_finish(q, true, reason);
        *waited_p = true;
        msp_queue_unlock_edges();
    } else if (reason == MSP_WAIT_OBJECT) {
        *waited_p = true; /* as on other devices */
        msp_waits_note(reason, 0);
    }
    return (status == MEMSPAN_OK) ? memspan_free(pointer) : status;
}

/* The hooks and the trace see a block before its end, and without a lock. True: they have. */
static bool report_free(const struct msp_queue *q, void *pointer)
{
    bool may_keep = may_keep_watched() && keeps(q, true) && msp_kept_may_claim(pointer);

    if (may_keep) {
        msp_watch_freeing(pointer);
    }
    return may_keep;
}

/* The queue is entered. */
static memspan_status_t free_block(struct msp_queue *q, void *pointer, bool *waited_p)
{
    bool is_reported = report_free(q, pointer);
    struct msp_kept_charge charge;
    memspan_status_t status = MEMSPAN_OK;
    bool kept;

    msp_lock(&q->lock);
    kept = keep(q, pointer, is_reported, &charge);
    msp_unlock(&q->lock);
    if (!kept) {
        return free_after_wait(q, pointer, waited_p);
    }
    msp_kept_give_charge(&charge);
    if ((q->flags & MEMSPAN_QUEUE_LASTING) == 0) {
        msp_queue_lock_edges();
        status = msp_queue_record_now(q);
        msp_queue_unlock_edges();
    }
    return status;
}

/* The queue is entered. */
static memspan_status_t free_slow(struct msp_queue *q, void *pointer)
{
    uint64_t started_ns     = msp_watch_now();
    memspan_status_t status = MEMSPAN_OK;
    bool waited             = false;
    bool attached           = false;
    struct msp_block_view view;
    size_t size_bytes = 0;

    if ((started_ns != 0) && msp_queue_find_block(pointer, &view)) {
        size_bytes = view.owner.requested_bytes;
    }
    if (atomic_load_explicit(&msp_queue_notes, memory_order_relaxed) != 0) {
        status = msp_queue_order_users(q, pointer, &waited, &attached);
    }
    if (status == MEMSPAN_OK) { /* the driver frees an attached block from its queue */
        status = (attached ? free_after_wait : free_block)(q, pointer, &waited);
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    msp_lock(&q->lock);
    q->counts.freed_count++;
    q->counts.freed_after_wait += waited ? 1 : 0;
    msp_unlock(&q->lock);
    msp_queue_trace(q, waited ? "free after a wait" : "free", pointer, size_bytes, started_ns);
    return MEMSPAN_OK;
}

memspan_status_t memspan_free_on(void *pointer, memspan_queue_h queue)
{
    struct msp_kept_charge charge;
    memspan_status_t status;
    struct msp_queue *q;

    if (pointer == NULL) {
        return MEMSPAN_OK;
    }
    q = msp_queue_acquire(queue);
    if (q == NULL) {
        return memspan_error_last()->status;
    }
    if (MSP_LIKELY(((q->flags & MEMSPAN_QUEUE_LASTING) != 0) &&
                   (atomic_load_explicit(&msp_queue_notes, memory_order_relaxed) == 0) &&
                   keep(q, pointer, false, &charge))) {
        q->counts.freed_count++;
        msp_queue_release(q);
        msp_kept_give_charge(&charge);
        return MEMSPAN_OK;
    }
    msp_queue_pin(q);
    msp_queue_release(q);
    status = free_slow(q, pointer);
    msp_queue_leave(q);
    msp_waits_flush();
    return status;
}
