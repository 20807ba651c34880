/* SPDX-License-Identifier: BSD-3-Clause */
/* queue_user.c: queues that use a block beside the one that it is freed on, and managed blocks that
 * are attached to one queue. */

#include "core/base/error.h"
#include "core/debug/guard.h"
#include "core/engine/provider.h"
#include "core/queue.h"
#include <stdlib.h>

/* Queues that use a block beside the one that it is freed on. A note may outlive its block: it then
 * orders the next block at that address once more than is needed. */
struct note {
    struct note *next;
    const void *address;
    memspan_queue_h user;
    bool attached; /* by memspan_queue_attach() */
};

enum { NOTE_LISTS = 1024 };

static struct note *notes[NOTE_LISTS]; /* under the lock of edges */
atomic_size_t msp_queue_notes;

static struct note **list_of(const void *address)
{
    uint64_t hash = ((uintptr_t)address >> MSP_UNIT_SHIFT) * UINT64_C(0x9e3779b97f4a7c15);

    return &notes[hash >> 54];
}

memspan_status_t msp_queue_record_now(struct msp_queue *q)
{
    return (!q->is_immediate && (q->counts.has_events != 0) && (msp_queue_record(q) == MEMSPAN_OK))
               ? MEMSPAN_OK
               : msp_queue_finish(q, true, MSP_WAIT_FREE);
}

/* Lock of edges held. */
static memspan_status_t add_note(const void *address, memspan_queue_h user, bool attached)
{
    struct note **list = list_of(address);
    struct note *n;

    for (n = *list; n != NULL; n = n->next) {
        if ((n->address == address) && (n->attached == attached) &&
            (attached || (n->user == user))) {
            n->user = user;
            return MEMSPAN_OK;
        }
    }
    n = malloc(sizeof(*n));
    if (n == NULL) {
        return memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory to note a queue of the block at %p",
                             address);
    }
    *n    = (struct note){*list, address, user, attached};
    *list = n;
    atomic_fetch_add_explicit(&msp_queue_notes, 1, memory_order_relaxed);
    return MEMSPAN_OK;
}

static void drop_note(struct note **link)
{
    struct note *n = *link;

    *link = n->next;
    free(n);
    atomic_fetch_sub_explicit(&msp_queue_notes, 1, memory_order_relaxed);
}

bool msp_queue_find_block(const void *pointer, struct msp_block_view *view_p)
{
    return (pointer != NULL) && msp_block_find(pointer, view_p) && (view_p->address == pointer);
}

static memspan_status_t refuse_address(const void *pointer)
{
    memspan_error(MEMSPAN_ERR_NOT_FOUND, "%p is not the start of a live block of Memspan", pointer);
    return msp_error_hint("give the address that the allocation returned");
}

memspan_status_t memspan_used_on(void *pointer, memspan_queue_h queue)
{
    struct msp_block_view view;
    struct msp_queue *q;
    memspan_status_t status;

    if (!msp_queue_find_block(pointer, &view)) {
        return refuse_address(pointer);
    }
    q = msp_queue_enter(queue);
    if (q == NULL) {
        return memspan_error_last()->status;
    }
    msp_queue_lock_edges();
    status = add_note(pointer, queue, false);
    if ((status == MEMSPAN_OK) && ((q->flags & MEMSPAN_QUEUE_LASTING) == 0)) {
        status = msp_queue_record_now(q);
    }
    msp_queue_unlock_edges();
    msp_queue_leave(q);
    msp_waits_flush();
    return status;
}

/* Take the notes of a block out of their list. Lock of edges held. */
static struct note *take_notes(const void *pointer)
{
    struct note **link = list_of(pointer);
    struct note *taken = NULL;

    while (*link != NULL) {
        struct note *n = *link;

        if (n->address == pointer) {
            *link   = n->next;
            n->next = taken;
            taken   = n;
        } else {
            link = &n->next;
        }
    }
    return taken;
}

/* The lock of edges held, which is released where the host waits. */
static memspan_status_t order_user(struct msp_queue *q, const struct note *n, bool *waited_p)
{
    struct msp_queue *user  = msp_queue_at((uint32_t)(uintptr_t)n->user & (MSP_QUEUES_MAX - 1));
    memspan_status_t status = MEMSPAN_OK;
    bool waited             = false;

    if (atomic_load(&user->handle) == (uintptr_t)n->user) { /* closed: its work is complete */
        msp_queue_pin(user);
        status = msp_queue_order(q, user, MSP_MARK_ALL, false, MSP_WAIT_EDGE, &waited);
        msp_queue_leave_call(user);
    }
    *waited_p = *waited_p || waited;
    return status;
}

memspan_status_t msp_queue_order_users(struct msp_queue *q, const void *pointer, bool *waited_p,
                                       bool *attached_p)
{
    memspan_status_t status = MEMSPAN_OK;
    memspan_status_t ordered;
    struct note *taken;

    msp_queue_lock_edges();
    taken = take_notes(pointer);
    while (taken != NULL) {
        struct note *n = taken;

        ordered     = order_user(q, n, waited_p);
        status      = (status == MEMSPAN_OK) ? ordered : status;
        *attached_p = *attached_p || n->attached;
        if (ordered == MEMSPAN_OK) {
            drop_note(&taken);
        } else { /* the block stays live: its next free finds the note */
            taken             = n->next;
            n->next           = *list_of(pointer);
            *list_of(pointer) = n;
        }
    }
    msp_queue_unlock_edges();
    return status;
}

/* ---- attaching ---- */

/* The driver attaches what it allocated as a whole. */
static memspan_status_t check_attach(const void *pointer, const struct msp_chunk *chunk,
                                     const struct msp_queue *q)
{
    const struct msp_provider *provider = chunk->provider;
    const struct msp_device *d          = provider->spec.device;

    if (provider->spec.kind != MEMSPAN_KIND_MANAGED) {
        return memspan_error(MEMSPAN_ERR_UNSUPPORTED,
                             "the block at %p is %s memory: only managed memory is attached",
                             pointer, memspan_kind_name(provider->spec.kind));
    }
    if (d->table->attach == NULL) {
        memspan_error(MEMSPAN_ERR_UNSUPPORTED,
                      "backend %s does not attach memory: work of all queues may use it",
                      d->table->name);
        return msp_error_hint("wait for all work of the device before the host uses the memory");
    }
    if ((q != NULL) && ((q->device->table != d->table) || (q->native == NULL))) {
        return memspan_error(MEMSPAN_ERR_INVALID, "the queue is not of backend %s, which serves %p",
                             d->table->name, pointer);
    }
    if (!chunk->is_direct) {
        memspan_error(MEMSPAN_ERR_UNSUPPORTED,
                      "the block at %p is a part of an allocation of the driver, and a driver "
                      "attaches whole ones",
                      pointer);
        return msp_error_hint("allocate %zu bytes or more: such a block is an allocation by itself",
                              provider->direct_bytes);
    }
    return MEMSPAN_OK;
}

static void drop_attached(const void *address)
{
    struct note **link = list_of(address);

    msp_queue_lock_edges();
    while ((*link != NULL) && (((*link)->address != address) || !(*link)->attached)) {
        link = &(*link)->next;
    }
    if (*link != NULL) {
        drop_note(link);
    }
    msp_queue_unlock_edges();
}

/* The queue is entered. The note precedes the driver's call, which may wait. */
static memspan_status_t attach(void *pointer, const struct msp_chunk *chunk, struct msp_queue *q,
                               memspan_queue_h queue)
{
    const struct msp_device *d = (q == NULL) ? chunk->provider->spec.device : q->device;
    memspan_status_t status    = check_attach(pointer, chunk, q);

    if ((status == MEMSPAN_OK) && (q != NULL)) {
        msp_queue_lock_edges();
        status = add_note(pointer, queue, true);
        msp_queue_unlock_edges();
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    status = d->table->attach(d->state, d->ordinal, (q == NULL) ? NULL : q->native, &chunk->block);
    if ((status == MEMSPAN_OK) == (q == NULL)) {
        drop_attached(pointer);
    }
    return status;
}

memspan_status_t memspan_queue_attach(void *pointer, memspan_queue_h queue)
{
    struct msp_queue *q = NULL;
    struct msp_block_view view;
    memspan_status_t status;

    if (!msp_queue_find_block(pointer, &view)) {
        return refuse_address(pointer);
    }
    if (queue != MEMSPAN_QUEUE_NULL) {
        q = msp_queue_enter(queue);
    }
    status = ((q == NULL) && (queue != MEMSPAN_QUEUE_NULL)) ? memspan_error_last()->status
                                                            : attach(pointer, view.chunk, q, queue);
    msp_queue_leave(q);
    msp_waits_flush();
    return status;
}
