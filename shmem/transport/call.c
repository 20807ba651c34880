/* SPDX-License-Identifier: BSD-3-Clause */
/* call.c: handlers, the threads that execute them, and calls to PEs of other hosts. */

#include "shmem/transport/call.h"
#include "shmem/control/wait.h"
#include "shmem/transport/order.h"
#include <pthread.h>
#include <shmem/types.h>
#include <stdlib.h>

enum { BUFFER_BYTES = 8 << 10 /* of calls to a PE of another host that travel together */ };

struct handler {
    shmemx_handler_t run;
    void *data;
};

/* Calls to a PE of another host. */
struct buffer {
    struct buffer *next; /* of those that are not empty */
    int pe;
    size_t used_bytes;
    char records[];
};

/* A call that a handler has made. Its record follows. */
struct later {
    const char *call;
    int pe;
};

struct later_list {
    char *bytes;
    size_t used_bytes;
    size_t capacity_bytes;
};

atomic_bool msp_call_is_on;

static struct handler handlers[MSP_CALL_HANDLERS_MAX] MSP_SPARSE;
static atomic_int handler_count;
static pthread_mutex_t handler_lock = PTHREAD_MUTEX_INITIALIZER; /* guards adding */

/* Guards what follows, and the sides of queues, where threads share them. Never held in a wait. */
static pthread_mutex_t post_lock = PTHREAD_MUTEX_INITIALIZER;
static struct buffer **buffers; /* by PE; NULL: no PE of another host was called */
static struct buffer *filling;
static atomic_uint sending;      /* buffers that a thread has taken, and not sent so far */
static atomic_bool is_held_back; /* a record in a queue or a buffer, or in `later` */

static atomic_bool is_executing;    /* a thread of this PE executes; it owns `later` */
static _Thread_local bool executes; /* it is this one */
static _Thread_local bool never;    /* this thread is none of the program's */
static _Thread_local bool for_kernel;
static struct later_list later;
static atomic_bool is_catching_up; /* a thread of this PE makes the calls of `later` */

static void lock(void)
{
    if (msp_job_has_threads()) {
        pthread_mutex_lock(&post_lock);
    }
}

static void unlock(void)
{
    if (msp_job_has_threads()) {
        pthread_mutex_unlock(&post_lock);
    }
}

/* ---- handlers ---- */

int msp_call_handler_count(void)
{
    return atomic_load_explicit(&handler_count, memory_order_acquire);
}

static memspan_status_t add(shmemx_handler_t handler, void *data, int *id_p)
{
    const int id = atomic_load(&handler_count);
    memspan_status_t status;

    if (id == MSP_CALL_HANDLERS_MAX) {
        return memspan_error(MEMSPAN_ERR_LIMIT, "all %d handlers are in use", id);
    }
    if (id == 0) {
        status = msp_call_inbox_open();
        if (status != MEMSPAN_OK) {
            return status;
        }
    }
    handlers[id] = (struct handler){.run = handler, .data = data};
    atomic_store_explicit(&handler_count, id + 1, memory_order_release);
    atomic_store(&msp_order_pending, true); /* quiet and fence have calls to look after */
    atomic_store_explicit(&msp_call_is_on, true, memory_order_release);
    *id_p = id;
    return MEMSPAN_OK;
}

memspan_status_t msp_call_handler_add(shmemx_handler_t handler, void *data, int *id_p)
{
    memspan_status_t status;

    pthread_mutex_lock(&handler_lock);
    status = add(handler, data, id_p);
    pthread_mutex_unlock(&handler_lock);
    return status;
}

static void free_buffers(void)
{
    int pe;

    for (pe = 0; (buffers != NULL) && (pe < msp_job.pe_count); pe++) {
        free(buffers[pe]);
    }
    free(buffers);
    buffers = NULL;
    filling = NULL;
}

void msp_call_close(void)
{
    static int key;

    if (later.used_bytes != 0) {
        msp_warn_once(&key, "calls that handlers have made during the last barrier are dropped");
    }
    free(later.bytes);
    later = (struct later_list){.bytes = NULL};
    free_buffers();
    msp_call_inbox_close();
    atomic_store(&handler_count, 0);
    atomic_store(&msp_call_is_on, false);
    atomic_store(&is_held_back, false);
}

/* ---- to other hosts ---- */

static struct buffer *new_buffer(const char *call, int pe)
{
    struct buffer *buffer = malloc(sizeof *buffer + BUFFER_BYTES);

    if (buffers == NULL) {
        buffers = calloc((size_t)msp_job.pe_count, sizeof(struct buffer *));
    }
    if ((buffer == NULL) || (buffers == NULL)) {
        msp_fatal("%s: no memory for a buffer of calls to PE %d", call, pe);
    }
    *buffer     = (struct buffer){.next = filling, .pe = pe};
    filling     = buffer;
    buffers[pe] = buffer;
    return buffer;
}

/* Locked; the caller sends it without the lock. */
static void detach(struct buffer *buffer)
{
    struct buffer **place = &filling;

    while (*place != buffer) {
        place = &(*place)->next;
    }
    *place              = buffer->next;
    buffers[buffer->pe] = NULL;
    atomic_fetch_add(&sending, 1);
}

/* Callees keep what they have not executed: it is limited. */
static void send_buffer(const char *call, struct buffer *buffer)
{
    enum { OUTSTANDING_MAX = 64 };

    MSP_WAIT(msp_job.transport->calls_outstanding() < OUTSTANDING_MAX);
    msp_job.transport->call(call, buffer->pe, buffer->records, buffer->used_bytes, buffer);
    atomic_fetch_sub(&sending, 1);
}

/* The buffer that was full, and has to be sent; NULL: none. */
static struct buffer *collect(const char *call, int id, const void *payload, size_t size_bytes,
                              int pe)
{
    const size_t most         = msp_job.transport->call_max_bytes;
    const size_t buffer_bytes = (most < BUFFER_BYTES) ? most : BUFFER_BYTES;
    const size_t record_bytes = msp_call_record_bytes(size_bytes);
    struct buffer *buffer     = (buffers != NULL) ? buffers[pe] : NULL;
    struct buffer *full       = NULL;

    if ((buffer != NULL) && (buffer->used_bytes + record_bytes > buffer_bytes)) {
        detach(buffer);
        full   = buffer;
        buffer = NULL;
    }
    if (buffer == NULL) {
        buffer = new_buffer(call, pe);
    }
    msp_call_record_write(buffer->records + buffer->used_bytes, (uint32_t)id, payload, size_bytes);
    buffer->used_bytes += record_bytes;
    return full;
}

static void send_all(const char *call)
{
    struct buffer *buffer;

    lock();
    while ((buffer = filling) != NULL) {
        detach(buffer);
        unlock();
        send_buffer(call, buffer);
        lock();
    }
    unlock();
}

/* ---- calling ---- */

static void hold_back(void)
{
    if (!atomic_load_explicit(&is_held_back, memory_order_relaxed)) {
        atomic_store(&is_held_back, true);
    }
}

static bool execute(void);

static bool has_space(int local_index, size_t size_bytes)
{
    bool has;

    lock();
    has = msp_call_inbox_has_space(local_index, size_bytes);
    unlock();
    return has;
}

static void post_here(int local_index, int id, const void *payload, size_t size_bytes)
{
    bool is_visible;

    lock();
    while (MSP_UNLIKELY(
        !msp_call_inbox_put(local_index, (uint32_t)id, payload, size_bytes, &is_visible))) {
        unlock();
        MSP_WAIT(has_space(local_index, size_bytes));
        lock();
    }
    unlock();
    if (is_visible) {
        (void)execute(); /* a PE that calls without waiting executes too */
    } else {
        hold_back();
    }
}

static void post_there(const char *call, int id, const void *payload, size_t size_bytes, int pe)
{
    struct buffer *full;

    lock();
    full = collect(call, id, payload, size_bytes, pe);
    unlock();
    hold_back();
    if (full != NULL) {
        send_buffer(call, full);
        (void)execute();
    }
}

/* A call of a handler. */
static void keep(const char *call, int id, const void *payload, size_t size_bytes, int pe)
{
    const struct later head = {.call = call, .pe = pe};
    const size_t bytes      = sizeof head + msp_call_record_bytes(size_bytes);
    size_t capacity_bytes   = later.capacity_bytes;
    char *grown;

    while (later.used_bytes + bytes > capacity_bytes) {
        capacity_bytes = (capacity_bytes == 0) ? BUFFER_BYTES : 2 * capacity_bytes;
    }
    if (capacity_bytes != later.capacity_bytes) {
        grown = realloc(later.bytes, capacity_bytes);
        if (grown == NULL) {
            msp_fatal("%s: no memory for %zu bytes of calls that handlers make", call,
                      capacity_bytes);
        }
        later.bytes          = grown;
        later.capacity_bytes = capacity_bytes;
    }
    memcpy(later.bytes + later.used_bytes, &head, sizeof head);
    msp_call_record_write(later.bytes + later.used_bytes + sizeof head, (uint32_t)id, payload,
                          size_bytes);
    later.used_bytes += bytes;
    hold_back();
}

void msp_call_post(const char *call, int id, const void *payload, size_t size_bytes, int pe)
{
    const unsigned in_run = (unsigned)(pe - msp_job.first_local);
    const int local_index =
        (in_run < (unsigned)msp_job.direct_count) ? (int)in_run : msp_job_local_index(pe);

    if (MSP_UNLIKELY(executes)) {
        keep(call, id, payload, size_bytes, pe);
    } else if (local_index >= 0) {
        post_here(local_index, id, payload, size_bytes);
    } else {
        post_there(call, id, payload, size_bytes, pe);
    }
}

/* ---- executing ---- */

size_t msp_call_execute(int pe, const char *at, size_t bytes)
{
    struct msp_call_record record = {.size_bytes = UINT32_MAX};

    if (bytes >= sizeof record) {
        memcpy(&record, at, sizeof record);
    }
    if ((record.size_bytes > SHMEMX_CALL_MAX_BYTES) ||
        (msp_call_record_bytes(record.size_bytes) > bytes)) {
        msp_fatal("PE %d has sent a malformed call", pe);
    }
    if (record.handler >= (uint32_t)msp_call_handler_count()) {
        msp_fatal("PE %d calls handler %u, which this PE has not added: all PEs add it, and "
                  "synchronise, before one calls it",
                  pe, record.handler);
    }
    handlers[record.handler].run(at + sizeof record, record.size_bytes, pe,
                                 handlers[record.handler].data);
    return msp_call_record_bytes(record.size_bytes);
}

/* True: there was something. One thread at a time; the others leave it to that one. */
static bool execute(void)
{
    bool is_any;

    if (never || for_kernel || atomic_load_explicit(&is_executing, memory_order_relaxed) ||
        atomic_exchange(&is_executing, true)) {
        return false;
    }
    executes = true;
    is_any   = msp_call_inbox_execute();
    if (msp_job.transport != NULL) {
        is_any = msp_job.transport->execute_calls() || is_any;
    }
    executes = false;
    atomic_store(&is_executing, false);
    return is_any;
}

void msp_call_never(void)
{
    never = true;
}

bool msp_call_is_for_kernel(bool is_for_kernel)
{
    bool was = for_kernel;

    for_kernel = is_for_kernel;
    return was;
}

static struct later_list take_later(void)
{
    struct later_list list = {.bytes = NULL};

    if (!atomic_exchange(&is_executing, true)) {
        list  = later;
        later = (struct later_list){.bytes = NULL};
        atomic_store(&is_executing, false);
    } else {
        hold_back(); /* the thread that executes has them */
    }
    return list;
}

/* The calls that handlers have made so far; by one thread at a time, as they have an order. */
static void catch_up(void)
{
    struct later_list list;
    size_t at = 0;

    if (atomic_exchange(&is_catching_up, true)) {
        hold_back();
        return;
    }
    list = take_later();
    while (at < list.used_bytes) {
        struct later head;
        struct msp_call_record record;

        memcpy(&head, list.bytes + at, sizeof head);
        memcpy(&record, list.bytes + at + sizeof head, sizeof record);
        msp_call_post(head.call, (int)record.handler, list.bytes + at + sizeof head + sizeof record,
                      record.size_bytes, head.pe);
        at += sizeof head + msp_call_record_bytes(record.size_bytes);
    }
    free(list.bytes);
    atomic_store(&is_catching_up, false);
}

static void send_held_back(void)
{
    if (atomic_load_explicit(&is_held_back, memory_order_relaxed) &&
        atomic_exchange(&is_held_back, false)) {
        catch_up();
        lock();
        msp_call_inbox_flush();
        unlock();
        send_all("shmemx_call");
    }
}

bool msp_call_progress_slow(void)
{
    bool is_any;

    if (executes) {
        return false; /* a handler that waits for its own put */
    }
    is_any = execute();
    send_held_back();
    return is_any;
}

/* A queue of its own to other hosts. */
static bool has_queue(const struct msp_context *context)
{
    return (msp_job.transport != NULL) &&
           ((context->options & (SHMEM_CTX_PRIVATE | SHMEM_CTX_SERIALIZED)) != 0);
}

void msp_call_order(const struct msp_context *context, bool completes)
{
    if (MSP_LIKELY(!atomic_load_explicit(&msp_call_is_on, memory_order_relaxed)) || for_kernel) {
        return;
    }
    if (executes) {
        msp_fatal("a handler completes or orders operations, or waits for other PEs: the PE that "
                  "it waits for may wait for this handler");
    }
    (void)execute();
    send_held_back();
    if (completes) {
        MSP_WAIT_UNNOTIFIED(!atomic_load(&is_catching_up)); /* another thread */
        msp_call_inbox_wait();
        if (msp_job.transport != NULL) {
            /* In this order: another thread may send calls of this one. */
            MSP_WAIT((atomic_load(&sending) == 0) && (msp_job.transport->calls_outstanding() == 0));
        }
    } else if (has_queue(context)) {
        msp_job.transport->order(context, true);
    }
}
