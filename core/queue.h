/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_QUEUE_H
#define MEMSPAN_CORE_QUEUE_H

/* Queues inside the core, and the order of their work.
 *
 * The blocks that are freed on a queue get its *mark*, a number that grows with each event that is
 * recorded on the queue. So an event covers all marks up to that of its recording, and three
 * numbers decide whether memory with mark m of queue A may serve queue B without an event: A's
 * done_mark (m or less is complete), B's seen[A] (what B does from now on starts after m), or that
 * A and B are the same. Marks of a record grow over all its lives.
 *
 * Records are never freed, only used again under another generation of the handle.
 *
 * Locks: a queue's own lock guards its handle, its native queue, what it keeps and its counters.
 * The lock of edges guards events, done marks and seen marks of all queues; it is taken first, and
 * opening and closing hold both. Calls of a driver that do not wait for work are made under them.
 * What waits holds neither: a queue that is entered stays open without a lock. */

#include "core/base/lock.h"
#include "core/debug/waits.h"
#include "core/device/device.h"
#include <memspan/queue.h>
#include <stdatomic.h>

enum { MSP_QUEUES_MAX = 1024 };

#define MSP_MARK_ALL UINT64_MAX

/* A handle is this mark, a generation and an index. */
enum { MSP_QUEUE_MARK_SHIFT = 40 };
#define MSP_QUEUE_MARK UINT64_C(0x4d5351)

static inline bool msp_queue_is_handle(uintptr_t value)
{
    return (value >> MSP_QUEUE_MARK_SHIFT) == MSP_QUEUE_MARK;
}

/* The interop construct that opened a queue, and will close it. */
enum msp_queue_interop { MSP_INTEROP_NO, MSP_INTEROP_TARGET, MSP_INTEROP_TARGETSYNC };

struct msp_kept;
struct msp_calls_on;
struct msp_event_wait;

struct msp_queue {
    msp_lock_t lock;
    _Atomic uintptr_t handle; /* 0: not open */
    const struct msp_device *device;
    void *native; /* of the backend; NULL: the device's own queue */
    memspan_queue_type_t type;
    void *given; /* native queue of the program; may be gone */
    enum msp_queue_interop interop;
    unsigned flags;
    bool is_immediate;          /* its work is done in the call */
    atomic_uint users;          /* calls of the driver under way; closing waits for them */
    atomic_bool ends_in_call;   /* its last work is a function that was called on it */
    struct msp_kept *kept;      /* by pool; the last one used comes first */
    struct msp_calls_on *calls; /* NULL: no function was called on it */
    uint64_t mark;              /* of blocks that are freed now */
    memspan_queue_info_t counts;

    /* Under the lock of edges. */
    bool is_used; /* open, or not closed to the end */
    void *event;
    struct msp_event_wait
        *waits;          /* of the host, for its events: none is recorded again meanwhile */
    uint64_t event_mark; /* that it covers; 0: none is recorded */
    uint64_t done_mark;
    uint64_t *seen; /* by index of the other queue; NULL: nothing */
    uint32_t index;
    uint32_t generation;
};

/* The queue of a handle, locked; NULL with an error. */
struct msp_queue *msp_queue_acquire(memspan_queue_h handle);

static inline void msp_queue_release(struct msp_queue *queue)
{
    msp_unlock(&queue->lock);
}

/* The same, not locked: it stays open until it is left. NULL has no effect there. */
struct msp_queue *msp_queue_enter(memspan_queue_h handle);

/* An open one stays so until it is left. Lock of edges, or its own, held. */
static inline void msp_queue_pin(struct msp_queue *queue)
{
    atomic_fetch_add_explicit(&queue->users, 1, memory_order_relaxed);
}

/* After a function on it, or a pin; below: after anything else. */
static inline void msp_queue_leave_call(struct msp_queue *queue)
{
    atomic_fetch_sub_explicit(&queue->users, 1, memory_order_release);
}

static inline void msp_queue_leave(struct msp_queue *queue)
{
    if (queue != NULL) {
        atomic_store_explicit(&queue->ends_in_call, false, memory_order_relaxed);
        msp_queue_leave_call(queue);
    }
}

/* The record of an index that was ever used, or NULL. */
struct msp_queue *msp_queue_at(uint32_t index);
uint32_t msp_queue_count(void);

static inline bool msp_queue_is_open(const struct msp_queue *queue)
{
    return atomic_load_explicit(&queue->handle, memory_order_relaxed) != 0;
}

void msp_queue_lock_edges(void);
void msp_queue_unlock_edges(void);

/* Marks of @p other that may serve @p queue without an event; MSP_MARK_ALL: all. @p look: ask the
 * driver how far @p other is. Lock of edges held. */
uint64_t msp_queue_known(const struct msp_queue *queue, struct msp_queue *other, bool look);

/* From now on work of @p queue starts after what has a mark of @p other up to @p mark,
 * MSP_MARK_ALL: after all that is on it: by its last event, where that covers the mark, by a new
 * one or, where there is none, by waiting on the host (*waited_p). Here and below @p is_alive: the
 * program has just named @p other (@p queue); else, unless it is lasting, its native queue may be
 * gone, and its last event counts, which covers all that was freed on it. Lock of edges held, which
 * is released while the host waits; both entered. */
memspan_status_t msp_queue_order(struct msp_queue *queue, struct msp_queue *other, uint64_t mark,
                                 bool is_alive, enum msp_wait_reason reason, bool *waited_p);

/* Record an event on a native queue that is there. Lock of edges held, and the queue's not. */
memspan_status_t msp_queue_record(struct msp_queue *queue);

/* Wait on the host for the work of a queue: all that was freed on it is complete. Lock of edges
 * held, which is released while the host waits; the queue is entered, not locked.
 * MEMSPAN_ERR_CONFLICT: the thread is in a function of that queue, for whose end its work waits.
 * For memory alone a function waits for no queue: that one may wait for the function's. */
memspan_status_t msp_queue_finish(struct msp_queue *queue, bool is_alive,
                                  enum msp_wait_reason reason);

/* The same before the host does work of the queue, without marks. No lock held; the queue is
 * entered. */
memspan_status_t msp_queue_synchronize(struct msp_queue *queue, enum msp_wait_reason reason);

/* queue_stats.c: a row of the trace. started_ns: msp_watch_now() before the call. */
void msp_queue_trace(const struct msp_queue *queue, const char *name, const void *address,
                     size_t size_bytes, uint64_t started_ns);
void msp_queue_trace_order(const struct msp_queue *queue, const struct msp_queue *other,
                           uint64_t started_ns);

/* queue_stats.c: from now on statistics have queues; those of one that closes, lock of edges held.
 */
void msp_queue_count_open(void);
void msp_queue_count_closed(const memspan_queue_info_t *counts);

/* A native queue may be gone by the next call: its event is recorded now, or its work waited for.
 * As msp_queue_finish(). */
memspan_status_t msp_queue_record_now(struct msp_queue *queue);

/* queue_user.c: notes of other users of blocks; while there are none, a free looks for none. */
extern atomic_size_t msp_queue_notes;

/* Later work of @p queue starts after that of the block's other users. *attached_p: it is attached
 * to one of them. */
memspan_status_t msp_queue_order_users(struct msp_queue *queue, const void *pointer, bool *waited_p,
                                       bool *attached_p);

/* The live block that starts there. */
struct msp_block_view;
bool msp_queue_find_block(const void *pointer, struct msp_block_view *view_p);

/* Until the work of an event of @p queue is complete. */
memspan_status_t msp_queue_wait_event(const struct msp_queue *queue, void *event);

/* queue_call.c: whether this is the queue's thread, or that of any queue, in a function that holds
 * it. Not for fast paths: memory of threads is scarce. No queue locked. */
bool msp_queue_is_own_thread(struct msp_queue *queue);
bool msp_queue_in_function(void);

/* queue_call.c: an error where the host would wait for the work of a queue in a function of it, for
 * whose end that work waits. */
memspan_status_t msp_queue_check_wait(struct msp_queue *queue);

/* queue_call.c: call a function of the library as memspan_call_on() does. MEMSPAN_ERR_UNSUPPORTED:
 * the driver cannot hold the queue. The queue is entered. */
memspan_status_t msp_queue_call_later(struct msp_queue *queue, memspan_call_t function,
                                      void *argument);

/* queue_call.c: wait for the functions that are called on the queue; end its thread. The queue is
 * entered in the first, closed in the second. */
void msp_queue_calls_drain(struct msp_queue *queue);
void msp_queue_calls_end(struct msp_queue *queue);

/* queue_memory.c: everything that the queue keeps goes to a list (kept.h). Queue locked. */
struct msp_record *msp_queue_empty(struct msp_queue *queue);

#endif /* MEMSPAN_CORE_QUEUE_H */
