/* SPDX-License-Identifier: BSD-3-Clause */
/* queue.c: opening and closing queues, and the order between them. */

#include "core/queue.h"
#include "core/base/error.h"
#include "core/base/fork.h"
#include "core/base/platform.h"
#include "core/device/driver.h"
#include "core/engine/kept.h"
#include "core/engine/provider.h"
#include "core/engine/watch_flag.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { GENERATION_SHIFT = 16, PAUSE_NS = 20000, PAUSE_NS_MAX = 500000 };
#define GENERATION_MASK UINT64_C(0xffffff)

static _Atomic(struct msp_queue *) records[MSP_QUEUES_MAX];
static _Atomic uint32_t record_count = 1; /* 0 stays unused: no handle is only a mark */
static atomic_bool is_forked;

static void forget_all(void);

static msp_lock_t edges_lock = MSP_LOCK_INIT(MSP_RANK_QUEUE_EDGES);
static void lock_before_fork(void);
static void unlock_after_fork(void);
MSP_FORK_ITEM(queues) = {.rank         = MSP_RANK_QUEUE_EDGES,
                         .before       = lock_before_fork,
                         .after_parent = unlock_after_fork,
                         .after_child  = forget_all};

void msp_queue_lock_edges(void)
{
    msp_lock(&edges_lock);
}

void msp_queue_unlock_edges(void)
{
    msp_unlock(&edges_lock);
}

static void lock_before_fork(void)
{
    msp_queue_lock_edges();
}

static void unlock_after_fork(void)
{
    msp_queue_unlock_edges();
}

/* In a forked child no driver works, and another thread's call may have been cut short. */
static void forget_all(void)
{
    uint32_t i;

    for (i = 1; i < msp_queue_count(); i++) {
        struct msp_queue *q = msp_queue_at(i);
        if (q != NULL) {
            msp_lock_init(&q->lock, MSP_RANK_QUEUES);
            atomic_store(&q->handle, 0);
            atomic_store(&q->users, 0);
            q->is_used = false;
            q->waits   = NULL;
            q->kept    = NULL;
            q->calls   = NULL;
            atomic_store(&is_forked, true);
        }
    }
    msp_queue_unlock_edges();
}

/* ---- the table ---- */

struct msp_queue *msp_queue_at(uint32_t index)
{
    return atomic_load_explicit(&records[index], memory_order_acquire);
}

uint32_t msp_queue_count(void)
{
    return atomic_load_explicit(&record_count, memory_order_acquire);
}

static void refuse(memspan_queue_h handle)
{
    if (atomic_load(&is_forked)) {
        memspan_error(MEMSPAN_ERR_FORKED, "queue 0x%llx is the parent's: this process was forked",
                      (unsigned long long)(uintptr_t)handle);
        return;
    }
    memspan_error(MEMSPAN_ERR_NOT_FOUND, "there is no queue 0x%llx",
                  (unsigned long long)(uintptr_t)handle);
    msp_error_hint("queues come from memspan_queue_open(), and end with memspan_queue_close()");
}

struct msp_queue *msp_queue_acquire(memspan_queue_h handle)
{
    uintptr_t value     = (uintptr_t)handle;
    uint32_t index      = (uint32_t)value & (MSP_QUEUES_MAX - 1);
    struct msp_queue *q = msp_queue_at(index);

    if (MSP_LIKELY((q != NULL) && (value != 0))) {
        msp_lock(&q->lock);
        if (MSP_LIKELY(atomic_load_explicit(&q->handle, memory_order_relaxed) == value)) {
            return q;
        }
        msp_unlock(&q->lock);
    }
    refuse(handle);
    return NULL;
}

struct msp_queue *msp_queue_enter(memspan_queue_h handle)
{
    struct msp_queue *q = msp_queue_acquire(handle);

    if (q != NULL) {
        msp_queue_pin(q);
        msp_queue_release(q);
    }
    return q;
}

/* A record that is not used; NULL with an error. Lock of edges held. */
static struct msp_queue *take_record(void)
{
    uint32_t count = msp_queue_count();
    struct msp_queue *q;
    uint32_t i;

    for (i = 1; i < count; i++) {
        q = msp_queue_at(i);
        if (!q->is_used) {
            return q;
        }
    }
    if (count == MSP_QUEUES_MAX) {
        memspan_error(MEMSPAN_ERR_LIMIT, "%d queues are open", MSP_QUEUES_MAX - 1);
        return NULL;
    }
    q = calloc(1, sizeof(*q));
    if (q == NULL) {
        memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for a queue");
        return NULL;
    }
    msp_lock_init(&q->lock, MSP_RANK_QUEUES);
    q->index = count;
    q->mark  = 1;
    atomic_store_explicit(&records[count], q, memory_order_release);
    atomic_store_explicit(&record_count, count + 1, memory_order_release);
    return q;
}

/* ---- order ---- */

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* The mark of all that was freed until now; what is freed from now on has the next. */
static uint64_t next_mark(struct msp_queue *q)
{
    uint64_t mark;

    msp_lock(&q->lock);
    mark = q->mark++;
    msp_unlock(&q->lock);
    return mark;
}

uint64_t msp_queue_known(const struct msp_queue *q, struct msp_queue *other, bool look)
{
    uint64_t known = (q->seen == NULL) ? 0 : q->seen[other->index];
    int done       = 0;

    if ((q == other) || other->is_immediate) {
        return MSP_MARK_ALL;
    }
    if (look && (other->event_mark > other->done_mark) && (other->event_mark > known) &&
        (other->device->table->event_done(other->device->state, other->device->ordinal,
                                          other->event, &done) == MEMSPAN_OK) &&
        (done != 0)) {
        other->done_mark = other->event_mark;
    }
    return (other->done_mark > known) ? other->done_mark : known;
}

/* A wait of the host for an event of a queue. The event is the waiter's as long as it is in the
 * list: a later recording is one of another event. */
struct msp_event_wait {
    struct msp_event_wait *next;
    void *event;
};

static bool is_waited_for(const struct msp_queue *q, const void *event)
{
    const struct msp_event_wait *w = q->waits;

    while ((w != NULL) && (w->event != event)) {
        w = w->next;
    }
    return w != NULL;
}

memspan_status_t msp_queue_record(struct msp_queue *q)
{
    const struct msp_device *d = q->device;
    uint64_t mark              = next_mark(q);
    void *event                = is_waited_for(q, q->event) ? NULL : q->event;
    memspan_status_t status    = d->table->event_record(d->state, d->ordinal, q->native, &event);

    if (status == MEMSPAN_OK) {
        q->event      = event;
        q->event_mark = mark;
    }
    atomic_store_explicit(&q->ends_in_call, false, memory_order_relaxed);
    return status;
}

/* The native queue may be gone. Pauses grow with the time waited. */
memspan_status_t msp_queue_wait_event(const struct msp_queue *q, void *event)
{
    const struct msp_device *d = q->device;
    struct timespec pause      = {0, PAUSE_NS};
    memspan_status_t status;
    int done = 0;

    msp_rank_check_wait("an event");
    for (;;) {
        status = d->table->event_done(d->state, d->ordinal, event, &done);
        if ((status != MEMSPAN_OK) || (done != 0)) {
            return status;
        }
        nanosleep(&pause, NULL);
        pause.tv_nsec += (pause.tv_nsec < PAUSE_NS_MAX) ? (pause.tv_nsec / 16) : 0;
    }
}

/* Lock of edges held, but not while it waits. */
static memspan_status_t wait_last_event(struct msp_queue *q)
{
    struct msp_event_wait wait   = {q->waits, q->event};
    struct msp_event_wait **link = &q->waits;
    const struct msp_device *d   = q->device;
    memspan_status_t status;

    q->waits = &wait;
    msp_queue_unlock_edges();
    status = msp_queue_wait_event(q, wait.event);
    msp_queue_lock_edges();
    while (*link != &wait) {
        link = &(*link)->next;
    }
    *link = wait.next;
    if ((q->event != wait.event) && !is_waited_for(q, wait.event)) {
        (void)d->table->event_destroy(d->state, d->ordinal, wait.event);
    }
    return status;
}

/* Lock of edges held, but not while it waits. */
static memspan_status_t finish(struct msp_queue *q, bool is_alive)
{
    const struct msp_device *d = q->device;
    memspan_status_t status    = msp_queue_check_wait(q);
    uint64_t mark;

    if (status != MEMSPAN_OK) {
        return status;
    }
    if (is_alive || ((q->flags & MEMSPAN_QUEUE_LASTING) != 0)) {
        atomic_store_explicit(&q->ends_in_call, false, memory_order_relaxed);
        mark = next_mark(q);
        msp_queue_unlock_edges();
        status = d->table->synchronize(d->state, d->ordinal, q->native);
        msp_queue_lock_edges();
    } else {
        mark   = q->event_mark;
        status = (q->event == NULL) ? MEMSPAN_OK : wait_last_event(q);
    }
    if ((status == MEMSPAN_OK) && (mark > q->done_mark)) {
        q->done_mark = mark;
    }
    return status;
}

static void count_wait(struct msp_queue *q, enum msp_wait_reason reason, uint64_t begin_ns)
{
    uint64_t duration_ns = now_ns() - begin_ns;

    msp_queue_trace(q, "host waits", NULL, 0, (msp_watch_now() == 0) ? 0 : begin_ns);
    msp_lock(&q->lock);
    q->counts.waited_ns += duration_ns;
    msp_unlock(&q->lock);
    msp_waits_note(reason, duration_ns);
}

memspan_status_t msp_queue_finish(struct msp_queue *q, bool is_alive, enum msp_wait_reason reason)
{
    uint64_t begin_ns = now_ns();
    memspan_status_t status;

    if (((reason == MSP_WAIT_REUSE) || (reason == MSP_WAIT_EXHAUSTED)) && msp_queue_in_function()) {
        return MEMSPAN_ERR_CONFLICT; /* without a record: there may be other memory */
    }
    status = finish(q, is_alive);
    count_wait(q, reason, begin_ns);
    return status;
}

memspan_status_t msp_queue_synchronize(struct msp_queue *q, enum msp_wait_reason reason)
{
    const struct msp_device *d = q->device;
    uint64_t begin_ns          = now_ns();
    memspan_status_t status    = msp_queue_check_wait(q);

    if (status == MEMSPAN_OK) {
        status = d->table->synchronize(d->state, d->ordinal, q->native);
        count_wait(q, reason, begin_ns);
    }
    return status;
}

/* Of the event of @p other that @p q waits for. @p is_new: recorded just now, so that what @p other
 * had seen then, @p q has seen, too. */
static void note_seen(struct msp_queue *q, const struct msp_queue *other, bool is_new)
{
    uint32_t i;

    if (q->seen == NULL) {
        q->seen = calloc(MSP_QUEUES_MAX, sizeof(*q->seen));
    }
    if (q->seen == NULL) {
        return; /* without the knowledge there are more events */
    }
    for (i = 0; is_new && (other->seen != NULL) && (i < msp_queue_count()); i++) {
        q->seen[i] = (other->seen[i] > q->seen[i]) ? other->seen[i] : q->seen[i];
    }
    q->seen[other->index] = other->event_mark;
}

memspan_status_t msp_queue_order(struct msp_queue *q, struct msp_queue *other, uint64_t mark,
                                 bool is_alive, enum msp_wait_reason reason, bool *waited_p)
{
    const struct msp_device *d = q->device;
    bool records_now =
        (mark > other->event_mark) && (is_alive || ((other->flags & MEMSPAN_QUEUE_LASTING) != 0));
    uint64_t started_ns     = msp_watch_now();
    memspan_status_t status = MEMSPAN_ERR_UNSUPPORTED;

    *waited_p = false;
    if ((q == other) || other->is_immediate) {
        return MEMSPAN_OK;
    }
    if (!q->is_immediate && (d->table == other->device->table) && (d->table->event_wait != NULL) &&
        (!records_now || (msp_queue_record(other) == MEMSPAN_OK)) && (other->event != NULL)) {
        status = d->table->event_wait(d->state, d->ordinal, q->native, other->event);
    }
    if (status == MEMSPAN_OK) {
        note_seen(q, other, records_now);
        msp_queue_trace_order(q, other, started_ns);
        return MEMSPAN_OK;
    }
    *waited_p = true;
    return msp_queue_finish(other, is_alive, reason);
}

/* ---- opening ---- */

static memspan_status_t check(memspan_queue_type_t type, const void *native, unsigned flags)
{
    if ((unsigned)type > MEMSPAN_QUEUE_LEVEL_ZERO) {
        return memspan_error(MEMSPAN_ERR_INVALID, "%d is no type of a queue", (int)type);
    }
    if ((flags & ~(unsigned)MEMSPAN_QUEUE_LASTING) != 0) {
        return memspan_error(MEMSPAN_ERR_INVALID, "0x%x has unknown flags of a queue", flags);
    }
    if ((type == MEMSPAN_QUEUE_OWN) && (native != NULL)) {
        return memspan_error(MEMSPAN_ERR_INVALID, "a native queue is given, but not its type");
    }
    return MEMSPAN_OK;
}

static memspan_status_t open_native(const struct msp_device *d, memspan_queue_type_t type,
                                    void *native, void **queue_p)
{
    memspan_status_t status = MEMSPAN_ERR_UNSUPPORTED;

    if (type == MEMSPAN_QUEUE_OWN) {
        return (d->table->queue_create == NULL)
                   ? MEMSPAN_OK
                   : d->table->queue_create(d->state, d->ordinal, queue_p);
    }
    if (d->table->queue_adopt != NULL) {
        status = d->table->queue_adopt(d->state, d->ordinal, type, native, queue_p);
    }
    if (status == MEMSPAN_ERR_UNSUPPORTED) {
        memspan_error(status, "device %d is served by backend %s, which has no queues of type %d",
                      d->number, d->table->name, (int)type);
        msp_error_hint("memspan_device_describe() has the backend of a device");
    }
    return status;
}

/* Queues of ours last. The calls of other threads would record events on a lasting one, and a list
 * of Level Zero is for one thread at a time. */
static unsigned flags_of(memspan_queue_type_t type, unsigned flags)
{
    if (type == MEMSPAN_QUEUE_OWN) {
        return MEMSPAN_QUEUE_LASTING;
    }
    return (type == MEMSPAN_QUEUE_LEVEL_ZERO) ? 0 : flags;
}

static void set_up(struct msp_queue *q, const struct msp_device *d, memspan_queue_type_t type,
                   unsigned flags, void *given, void *native)
{
    q->is_used      = true;
    q->device       = d;
    q->native       = native;
    q->given        = given;
    q->interop      = MSP_INTEROP_NO;
    q->type         = type;
    q->flags        = flags_of(type, flags);
    q->is_immediate = (type == MEMSPAN_QUEUE_OWN) && (d->table->queue_create == NULL);
    q->event        = NULL;
    q->counts       = (memspan_queue_info_t){
              .struct_size = sizeof(q->counts),
              .device      = d->number,
              .type        = type,
              .has_events  = (d->table->event_record != NULL) && !q->is_immediate,
    };
    q->generation++;
}

memspan_status_t memspan_queue_open(int device, memspan_queue_type_t type, void *native,
                                    unsigned flags, memspan_queue_h *queue_p)
{
    const struct msp_device *d;
    struct msp_queue *q;
    void *opened = NULL;
    memspan_status_t status;
    uintptr_t handle;

    if (queue_p == NULL) {
        return memspan_error(MEMSPAN_ERR_INVALID, "no place for the queue's handle");
    }
    msp_fork_prepare();
    d = msp_device_find(device);
    if (d == NULL) {
        return memspan_error_last()->status;
    }
    status = check(type, native, flags);
    status = (status == MEMSPAN_OK) ? open_native(d, type, native, &opened) : status;
    if (status != MEMSPAN_OK) {
        return status;
    }
    msp_queue_count_open();
    msp_queue_lock_edges();
    q = take_record();
    if (q == NULL) {
        msp_queue_unlock_edges();
        status = memspan_error_last()->status;
        if (opened != NULL) {
            d->table->queue_destroy(d->state, d->ordinal, opened);
        }
        return status;
    }
    msp_lock(&q->lock);
    set_up(q, d, type, flags, native, opened);
    handle = (MSP_QUEUE_MARK << MSP_QUEUE_MARK_SHIFT) |
             ((q->generation & GENERATION_MASK) << GENERATION_SHIFT) | q->index;
    atomic_store_explicit(&q->handle, handle, memory_order_release);
    msp_unlock(&q->lock);
    msp_queue_unlock_edges();
    *queue_p = (memspan_queue_h)handle;
    return MEMSPAN_OK;
}

/* ---- closing ---- */

/* Its memory is free of work when this returns, or goes with a device that failed. No lock held; no
 * other call finds the queue or is in it. */
static memspan_status_t end_work(struct msp_queue *q)
{
    const struct msp_device *d = q->device;
    memspan_status_t status    = MEMSPAN_OK;
    memspan_status_t ended;

    if (!q->is_immediate) {
        msp_queue_lock_edges();
        status = msp_queue_finish(q, false, MSP_WAIT_NONE);
        msp_queue_unlock_edges();
    }
    if (q->event != NULL) {
        ended  = d->table->event_destroy(d->state, d->ordinal, q->event);
        status = (status == MEMSPAN_OK) ? ended : status;
    }
    if (q->native != NULL) {
        ended  = d->table->queue_destroy(d->state, d->ordinal, q->native);
        status = (status == MEMSPAN_OK) ? ended : status;
    }
    return status;
}

/* No call finds the queue from now on. NULL: another thread has closed it. */
static struct msp_queue *take_away(memspan_queue_h handle)
{
    struct msp_queue *q;

    msp_queue_lock_edges();
    q = msp_queue_acquire(handle);
    if (q != NULL) {
        atomic_store_explicit(&q->handle, 0, memory_order_relaxed);
        msp_queue_release(q);
    }
    msp_queue_unlock_edges();
    return q;
}

/* Calls of a driver and functions end, so this does. */
static void wait_for_users(struct msp_queue *q)
{
    const struct timespec pause = {0, 20000};

    msp_rank_check_wait("calls on a queue");
    while (atomic_load_explicit(&q->users, memory_order_acquire) != 0) {
        nanosleep(&pause, NULL);
    }
}

/* The record is for the next queue; what this one keeps goes to a list. */
static struct msp_record *give_record(struct msp_queue *q)
{
    struct msp_record *list;

    msp_queue_lock_edges();
    msp_lock(&q->lock);
    list          = msp_queue_empty(q);
    q->done_mark  = q->mark++;
    q->event_mark = 0;
    q->event      = NULL;
    q->native     = NULL;
    msp_queue_count_closed(&q->counts);
    msp_unlock(&q->lock);
    if (q->seen != NULL) {
        memset(q->seen, 0, MSP_QUEUES_MAX * sizeof(*q->seen));
    }
    q->is_used = false;
    msp_queue_unlock_edges();
    return list;
}

memspan_status_t memspan_queue_close(memspan_queue_h handle)
{
    struct msp_queue *q;
    memspan_status_t status;

    if (handle == MEMSPAN_QUEUE_NULL) {
        return MEMSPAN_OK;
    }
    q = msp_queue_enter(handle);
    if (q == NULL) {
        return memspan_error_last()->status;
    }
    status = msp_queue_check_wait(q);
    if (status == MEMSPAN_OK) {
        msp_queue_calls_drain(q); /* the functions may use the queue */
    }
    msp_queue_leave(q);
    if (status != MEMSPAN_OK) {
        return status;
    }
    q = take_away(handle);
    if (q == NULL) {
        return memspan_error_last()->status;
    }
    wait_for_users(q);
    msp_queue_calls_end(q);
    status = end_work(q);
    msp_kept_release(give_record(q));
    msp_chunk_give_put_off();
    return status;
}

/* ---- waiting ---- */

memspan_status_t memspan_queue_synchronize(memspan_queue_h handle)
{
    struct msp_queue *q = msp_queue_enter(handle);
    const struct msp_device *d;
    memspan_status_t status;
    uint64_t started_ns;

    if (q == NULL) {
        return memspan_error_last()->status;
    }
    started_ns = msp_watch_now();
    d          = q->device;
    status     = msp_queue_check_wait(q);
    if (status == MEMSPAN_OK) {
        /* The end of this wait does not depend on later functions. */
        atomic_store_explicit(&q->ends_in_call, false, memory_order_relaxed);
        status = d->table->synchronize(d->state, d->ordinal, q->native);
    }
    msp_queue_trace(q, "synchronize", NULL, 0, started_ns);
    msp_queue_leave(q);
    msp_chunk_give_put_off();
    return status;
}

memspan_status_t memspan_queue_wait(memspan_queue_h handle, memspan_queue_h other_handle)
{
    struct msp_queue *q     = msp_queue_enter(handle);
    struct msp_queue *other = (q == NULL) ? NULL : msp_queue_enter(other_handle);
    bool waited;
    memspan_status_t status;

    if (other == NULL) {
        status = memspan_error_last()->status;
    } else {
        msp_queue_lock_edges();
        status = msp_queue_order(q, other, MSP_MARK_ALL, true, MSP_WAIT_EDGE, &waited);
        msp_queue_unlock_edges();
    }
    msp_queue_leave(other);
    msp_queue_leave(q);
    msp_waits_flush();
    return status;
}
