/* SPDX-License-Identifier: BSD-3-Clause */
/* queue_native.c: the queue of a native queue, by a table without a lock for its readers.
 *
 * Invariant: an entry's key is stored last, and entries are never removed: one whose queue was
 * closed gets the next queue of the same native queue. Entries are written under the lock of edges.
 */

#include "core/base/error.h"
#include "core/base/platform.h"
#include "core/queue.h"

enum { ENTRIES = 2 * MSP_QUEUES_MAX };

struct entry {
    _Atomic uintptr_t key; /* the native queue's address and 1; 0: unused */
    int device;
    memspan_queue_type_t type;
    unsigned flags;
    _Atomic uintptr_t handle;
};

/* What an entry is found by. */
struct native {
    uintptr_t key;
    int device;
    memspan_queue_type_t type;
    unsigned flags;
};

static struct entry entries[ENTRIES];

/* The entry, or the unused one that is its place; NULL: the table is full. */
static struct entry *find_entry(const struct native *n)
{
    uint32_t at = (uint32_t)(((n->key >> 4) * UINT64_C(0x9e3779b97f4a7c15)) >> 53);
    int i;

    for (i = 0; i < ENTRIES; i++) {
        struct entry *e = &entries[(at + (uint32_t)i) % ENTRIES];
        uintptr_t found = atomic_load_explicit(&e->key, memory_order_acquire);
        if ((found == 0) || ((found == n->key) && (e->device == n->device) &&
                             (e->type == n->type) && (e->flags == n->flags))) {
            return e;
        }
    }
    return NULL;
}

/* 0: none, or one that is closed. */
static uintptr_t handle_of(struct entry *e)
{
    uintptr_t handle          = 0;
    const struct msp_queue *q = NULL;

    if ((e != NULL) && (atomic_load_explicit(&e->key, memory_order_relaxed) != 0)) {
        handle = atomic_load_explicit(&e->handle, memory_order_acquire);
        q      = msp_queue_at((uint32_t)handle & (MSP_QUEUES_MAX - 1));
    }
    return ((q != NULL) && (atomic_load_explicit(&q->handle, memory_order_relaxed) == handle))
               ? handle
               : 0;
}

/* Lock of edges held. False: another thread was first, or there is no place. */
static bool enter(const struct native *n, uintptr_t handle)
{
    struct entry *e = find_entry(n);

    if ((e == NULL) || (handle_of(e) != 0)) {
        return false;
    }
    if (atomic_load_explicit(&e->key, memory_order_relaxed) == 0) {
        e->device = n->device;
        e->type   = n->type;
        e->flags  = n->flags;
    }
    atomic_store_explicit(&e->handle, handle, memory_order_release);
    atomic_store_explicit(&e->key, n->key, memory_order_release);
    return true;
}

static memspan_status_t open_and_enter(const struct native *n, void *native,
                                       memspan_queue_h *queue_p)
{
    memspan_queue_h queue;
    memspan_status_t status = memspan_queue_open(n->device, n->type, native, n->flags, &queue);
    uintptr_t other;
    bool entered;

    if (status != MEMSPAN_OK) {
        return status;
    }
    msp_queue_lock_edges();
    entered = enter(n, (uintptr_t)queue);
    other   = entered ? (uintptr_t)queue : handle_of(find_entry(n));
    msp_queue_unlock_edges();
    if (!entered) {
        (void)memspan_queue_close(queue);
    }
    if (other == 0) {
        return memspan_error(MEMSPAN_ERR_LIMIT, "%d native queues have had a queue", ENTRIES);
    }
    *queue_p = (memspan_queue_h)other;
    return MEMSPAN_OK;
}

memspan_status_t memspan_queue_get(int device, memspan_queue_type_t type, void *native,
                                   unsigned flags, memspan_queue_h *queue_p)
{
    const struct native n = {(uintptr_t)native + 1, device, type, flags};
    uintptr_t handle;

    if ((queue_p == NULL) || (type == MEMSPAN_QUEUE_OWN)) {
        return memspan_error(MEMSPAN_ERR_INVALID, "%s",
                             (queue_p == NULL)
                                 ? "no place for the queue's handle"
                                 : "a queue of the library's own has no native queue");
    }
    handle = handle_of(find_entry(&n));
    if (MSP_UNLIKELY(handle == 0)) {
        return open_and_enter(&n, native, queue_p);
    }
    *queue_p = (memspan_queue_h)handle;
    return MEMSPAN_OK;
}
