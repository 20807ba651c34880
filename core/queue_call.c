/* SPDX-License-Identifier: BSD-3-Clause */
/* queue_call.c: functions of the program in the order of a queue.
 *
 * A call records an event and holds the queue. The queue's thread waits for the event, calls the
 * function and releases the hold: in the order of the holds, because event, hold and place in the
 * list are taken under one lock. Each queue has a thread, so that a function may wait for another
 * queue's.
 *
 * A function joins the hold of the one before it where nothing lies between them. That is known of
 * queues that the library made, whose work all comes through it. An event or a wait lies between
 * them, too: work that waits for the first function must not wait for the second. */

#include "core/base/error.h"
#include "core/device/driver.h"
#include "core/engine/provider.h"
#include "core/engine/watch_flag.h"
#include "core/queue.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct call {
    struct call *next;
    memspan_call_t function;
    void *argument;
    void *event; /* the work before it; recorded again by later calls */
    bool joins;  /* the hold of the call before it */
};

struct msp_calls_on {
    struct msp_queue *queue;
    msp_lock_t lock; /* guards what follows */
    pthread_cond_t changed;
    pthread_t thread;
    struct call *first; /* the one that runs, or waits for its event */
    struct call *last;
    struct call *unused;
    bool ends;
};

/* ---- the thread ---- */

bool msp_queue_is_own_thread(struct msp_queue *q)
{
    bool is_own;

    msp_lock(&q->lock);
    is_own = (q->calls != NULL) && (pthread_equal(q->calls->thread, pthread_self()) != 0);
    msp_unlock(&q->lock);
    return is_own;
}

bool msp_queue_in_function(void)
{
    uint32_t count = msp_queue_count();
    bool is_own    = false;
    uint32_t i;

    for (i = 1; !is_own && (i < count); i++) {
        is_own = msp_queue_is_own_thread(msp_queue_at(i));
    }
    return is_own;
}

memspan_status_t msp_queue_check_wait(struct msp_queue *q)
{
    if (!msp_queue_is_own_thread(q)) {
        return MEMSPAN_OK;
    }
    memspan_error(MEMSPAN_ERR_CONFLICT,
                  "a function of queue 0x%llx would wait for that queue, which waits for its end",
                  (unsigned long long)atomic_load(&q->handle));
    return msp_error_hint("the work before the function is complete: use its results there, and "
                          "close the queue, or wait for it, on another thread");
}

static void run(const struct msp_queue *q, const struct call *call)
{
    if (!call->joins) {
        /* Work that failed is over, too. */
        (void)msp_queue_wait_event(q, call->event);
    }
    msp_rank_check_wait("a function of the program");
    call->function(call->argument);
}

/* The hold ends with the last function that joined it. The lock of the calls held. */
static void end_call(struct msp_calls_on *calls, struct call *call)
{
    struct msp_queue *q        = calls->queue;
    const struct msp_device *d = q->device;

    calls->first  = call->next;
    call->next    = calls->unused;
    calls->unused = call;
    if ((calls->first == NULL) || !calls->first->joins) {
        msp_unlock(&calls->lock);
        (void)d->table->queue_release(d->state, d->ordinal, q->native);
        msp_lock(&calls->lock);
    }
    msp_queue_leave_call(q);
    pthread_cond_broadcast(&calls->changed);
}

static void *serve(void *argument)
{
    struct msp_calls_on *calls = argument;
    struct call *call;

    msp_lock(&calls->lock);
    for (;;) {
        while ((calls->first == NULL) && !calls->ends) {
            pthread_cond_wait(&calls->changed, &calls->lock.mutex);
        }
        call = calls->first;
        if (call == NULL) {
            break;
        }
        msp_unlock(&calls->lock);
        run(calls->queue, call);
        msp_lock(&calls->lock);
        end_call(calls, call);
    }
    msp_unlock(&calls->lock);
    return NULL;
}

/* It takes no signals, which are the program's. */
static int start_thread(struct msp_calls_on *calls)
{
    sigset_t all;
    sigset_t before;
    int error;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&calls->thread, NULL, serve, calls);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

/* Queue locked. */
static memspan_status_t need_thread(struct msp_queue *q)
{
    struct msp_calls_on *calls = (q->calls == NULL) ? calloc(1, sizeof(*calls)) : NULL;
    int error;

    if (q->calls != NULL) {
        return MEMSPAN_OK;
    }
    if (calls == NULL) {
        return memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for calls on a queue");
    }
    calls->queue = q;
    msp_lock_init(&calls->lock, MSP_RANK_QUEUE_CALLS);
    pthread_cond_init(&calls->changed, NULL);
    error = start_thread(calls);
    if (error != 0) {
        free(calls);
        return msp_error_native(MEMSPAN_ERR_LIMIT, "", "pthread_create", error, strerror(error),
                                NULL, "no thread for calls on a queue");
    }
    q->calls = calls;
    atomic_store(&msp_chunk_in_function, msp_queue_in_function);
    return MEMSPAN_OK;
}

/* ---- calling ---- */

/* The lock of the calls held. */
static struct call *take_record(struct msp_calls_on *calls)
{
    struct call *call = calls->unused;

    if (call == NULL) {
        call = calloc(1, sizeof(*call));
    } else {
        calls->unused = call->next;
    }
    if (call == NULL) {
        memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for a call on a queue");
    }
    return call;
}

static memspan_status_t hold(struct msp_queue *q, struct call *call)
{
    const struct msp_device *d = q->device;
    memspan_status_t status = d->table->event_record(d->state, d->ordinal, q->native, &call->event);

    if (status == MEMSPAN_OK) {
        status = d->table->queue_hold(d->state, d->ordinal, q->native);
    }
    if (status == MEMSPAN_OK) {
        atomic_store_explicit(&q->ends_in_call, true, memory_order_relaxed);
    }
    return status;
}

/* An event and a hold, and the place in the list. The lock of the calls held. */
static memspan_status_t enqueue(struct msp_calls_on *calls, struct call *call)
{
    struct msp_queue *q = calls->queue;
    memspan_status_t status;

    call->joins = (calls->first != NULL) && (q->type == MEMSPAN_QUEUE_OWN) &&
                  atomic_load_explicit(&q->ends_in_call, memory_order_relaxed);
    status = call->joins ? MEMSPAN_OK : hold(q, call);
    if (status != MEMSPAN_OK) {
        call->next    = calls->unused;
        calls->unused = call;
        return status;
    }
    msp_queue_pin(q); /* the thread's */
    call->next = NULL;
    if (calls->first == NULL) {
        calls->first = call;
    } else {
        calls->last->next = call;
    }
    calls->last = call;
    pthread_cond_broadcast(&calls->changed);
    return MEMSPAN_OK;
}

memspan_status_t msp_queue_call_later(struct msp_queue *q, memspan_call_t function, void *argument)
{
    const memspan_backend_t *table = q->device->table;
    struct call *call;
    memspan_status_t status;

    if (q->is_immediate || (table->queue_hold == NULL) || (table->event_record == NULL)) {
        return MEMSPAN_ERR_UNSUPPORTED;
    }
    msp_lock(&q->lock);
    status = need_thread(q);
    msp_unlock(&q->lock);
    if (status != MEMSPAN_OK) {
        return status;
    }
    msp_lock(&q->calls->lock);
    call   = take_record(q->calls);
    status = MEMSPAN_ERR_NO_MEMORY;
    if (call != NULL) {
        call->function = function;
        call->argument = argument;
        status         = enqueue(q->calls, call);
    }
    msp_unlock(&q->calls->lock);
    return status;
}

static void note_call(struct msp_queue *q, bool is_later, uint64_t started_ns)
{
    msp_lock(&q->lock);
    q->counts.called_count++;
    q->counts.called_after_wait += is_later ? 0 : 1;
    msp_unlock(&q->lock);
    msp_queue_trace(q, is_later ? "call" : "call after a wait", NULL, 0, started_ns);
}

memspan_status_t memspan_call_on(memspan_queue_h handle, memspan_call_t function, void *argument)
{
    uint64_t started_ns = msp_watch_now();
    struct msp_queue *q;
    memspan_status_t status;
    bool is_later;

    if (function == NULL) {
        return memspan_error(MEMSPAN_ERR_INVALID, "no function to call on a queue");
    }
    q = msp_queue_enter(handle);
    if (q == NULL) {
        return memspan_error_last()->status;
    }
    status   = msp_queue_call_later(q, function, argument);
    is_later = (status != MEMSPAN_ERR_UNSUPPORTED);
    if (!is_later) { /* the host waits */
        status = q->is_immediate ? MEMSPAN_OK : msp_queue_synchronize(q, MSP_WAIT_CALL);
    }
    if (status == MEMSPAN_OK) {
        note_call(q, is_later, started_ns);
    }
    msp_queue_leave_call(q);
    msp_waits_flush();
    if (!is_later && (status == MEMSPAN_OK)) {
        msp_rank_check_wait("a function of the program");
        function(argument); /* last: it may close the queue, or end by an exception of C++ */
    }
    return status;
}

/* ---- the end ---- */

void msp_queue_calls_drain(struct msp_queue *q)
{
    struct msp_calls_on *calls;

    msp_lock(&q->lock);
    calls = q->calls;
    msp_unlock(&q->lock);
    msp_rank_check_wait("functions of a queue");
    if (calls == NULL) {
        return;
    }
    msp_lock(&calls->lock);
    while (calls->first != NULL) {
        pthread_cond_wait(&calls->changed, &calls->lock.mutex);
    }
    msp_unlock(&calls->lock);
}

void msp_queue_calls_end(struct msp_queue *q)
{
    struct msp_calls_on *calls = q->calls;
    const struct msp_device *d = q->device;
    struct call *call;

    msp_rank_check_wait("the thread of a queue");
    if (calls == NULL) {
        return;
    }
    msp_lock(&calls->lock);
    calls->ends = true;
    pthread_cond_broadcast(&calls->changed);
    msp_unlock(&calls->lock);
    pthread_join(calls->thread, NULL);
    while ((call = calls->unused) != NULL) {
        calls->unused = call->next;
        if (call->event != NULL) {
            (void)d->table->event_destroy(d->state, d->ordinal, call->event);
        }
        free(call);
    }
    pthread_cond_destroy(&calls->changed);
    msp_lock(&q->lock);
    q->calls = NULL;
    msp_unlock(&q->lock);
    free(calls);
}
