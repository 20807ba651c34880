/* SPDX-License-Identifier: BSD-3-Clause */
/* worker.c: messages that are not executed where they are received.
 *
 * A thread executes those that may block (copies by drivers of devices, registrations), in the
 * order of arrival. So the queue is progressed meanwhile: a device is copied while the network
 * moves the piece before. It starts with the first such message. Calls of handlers are the
 * program's threads' (transport/call.h). */

#include "shmem/network/message.h"
#include "shmem/network/peer.h"
#include "shmem/transport/call.h"
#include "shmem/transport/own.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct item {
    struct item *next;
    struct msp_network_reply *reply;
    struct msp_network_header header;
    size_t payload_bytes;
    _Alignas(8) char payload[];
};

static struct item *_Atomic executed; /* the last first; replies of one PE have no order */
static struct item *_Atomic calls;    /* not executed so far, the last first */

static pthread_mutex_t worker_lock = PTHREAD_MUTEX_INITIALIZER; /* guards all below */
static pthread_cond_t has_changed  = PTHREAD_COND_INITIALIZER;
static struct item *items;
static struct item **items_end = &items;
static atomic_bool is_pending; /* items is not empty */
static bool runs;
static bool ends;
static pthread_t thread;

/* The oldest; NULL: the worker ends. */
static struct item *take_item(void)
{
    struct item *item;

    pthread_mutex_lock(&worker_lock);
    while ((items == NULL) && !ends) {
        pthread_cond_wait(&has_changed, &worker_lock);
    }
    item = ends ? NULL : items;
    if (item != NULL) {
        items     = item->next;
        items_end = (items == NULL) ? &items : items_end;
        atomic_store_explicit(&is_pending, items != NULL, memory_order_relaxed);
    }
    pthread_mutex_unlock(&worker_lock);
    return item;
}

static void push(struct item *_Atomic *list, struct item *item)
{
    item->next = atomic_load(list);
    while (!atomic_compare_exchange_weak(list, &item->next, item)) {
    }
}

/* The main channel may be locked for long, while its queue is progressed: then who has it, or the
 * transport's thread, sends the reply. */
static void answer(void)
{
    struct msp_network_channel *channel = msp_network.main;
    bool is_sent                        = false;

    if (pthread_mutex_trylock(&channel->lock) == 0) {
        msp_network_worker_answer();
        (void)msp_network_acknowledge();
        (void)msp_network_reply();
        is_sent = msp_network_is_all_answered();
        pthread_mutex_unlock(&channel->lock);
    }
    if (!is_sent) {
        msp_network_wake();
    }
}

static void *run(void *unused)
{
    struct item *item;

    (void)unused;
    while ((item = take_item()) != NULL) {
        item->reply = msp_network_execute(&item->header, item->payload);
        push(&executed, item);
        answer();
    }
    return NULL;
}

bool msp_network_worker_is_pending(void)
{
    return atomic_load_explicit(&is_pending, memory_order_relaxed);
}

void msp_network_worker_answer(void)
{
    struct item *item = NULL;

    if (atomic_load_explicit(&executed, memory_order_relaxed) != NULL) {
        item = atomic_exchange(&executed, NULL);
    }
    while (item != NULL) {
        struct item *next = item->next;

        msp_network_answer(&item->header, item->reply);
        free(item);
        item = next;
    }
}

static struct item *copy(const struct msp_network_header *header, const void *payload,
                         size_t payload_bytes)
{
    struct item *item = malloc(sizeof *item + payload_bytes);

    if (item == NULL) {
        msp_fatal("no memory for a message of %zu bytes from PE %d", payload_bytes, header->pe);
    }
    item->next          = NULL;
    item->reply         = NULL;
    item->header        = *header;
    item->payload_bytes = payload_bytes;
    if (payload_bytes != 0) {
        memcpy(item->payload, payload, payload_bytes);
    }
    return item;
}

void msp_network_worker_leave(const struct msp_network_header *header, const void *payload,
                              size_t payload_bytes)
{
    struct item *item = copy(header, payload, payload_bytes);

    pthread_mutex_lock(&worker_lock);
    *items_end = item;
    items_end  = &item->next;
    atomic_store_explicit(&is_pending, true, memory_order_relaxed);
    if (!runs) {
        ends = false;
        runs = (msp_own_thread_start(&thread, run, "messages that may block") == MEMSPAN_OK);
    }
    if (!runs) {
        msp_fatal_error("an operation of another PE");
    }
    pthread_cond_signal(&has_changed);
    pthread_mutex_unlock(&worker_lock);
}

/* ---- calls ---- */

void msp_network_call_leave(const struct msp_network_header *header, const void *records,
                            size_t bytes)
{
    push(&calls, copy(header, records, bytes));
    if (msp_call_handler_count() == 0) { /* no thread would look for it */
        (void)msp_network_execute_calls();
    }
}

/* All, the first first. */
static struct item *take_calls(void)
{
    struct item *item  = atomic_exchange(&calls, NULL);
    struct item *first = NULL;

    while (item != NULL) {
        struct item *next = item->next;

        item->next = first;
        first      = item;
        item       = next;
    }
    return first;
}

bool msp_network_execute_calls(void)
{
    struct item *item = NULL;
    bool is_any;

    if (atomic_load_explicit(&calls, memory_order_relaxed) != NULL) {
        item = take_calls();
    }
    is_any = (item != NULL);
    while (item != NULL) {
        struct item *next = item->next;
        size_t at         = 0;

        while (at < item->payload_bytes) {
            at += msp_call_execute(item->header.pe, item->payload + at, item->payload_bytes - at);
        }
        push(&executed, item);
        item = next;
    }
    if (is_any) {
        answer();
    }
    return is_any;
}

/* ---- the end ---- */

static void drop(struct item *item)
{
    while (item != NULL) {
        struct item *next = item->next;

        free(item);
        item = next;
    }
}

void msp_network_worker_close(void)
{
    if (runs) {
        pthread_mutex_lock(&worker_lock);
        ends = true;
        pthread_cond_signal(&has_changed);
        pthread_mutex_unlock(&worker_lock);
        pthread_join(thread, NULL);
        runs = false;
    }
    msp_network_worker_answer();
    drop(items);
    drop(atomic_exchange(&calls, NULL));
    items     = NULL;
    items_end = &items;
    atomic_store(&is_pending, false);
}
