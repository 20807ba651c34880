/* SPDX-License-Identifier: BSD-3-Clause */
/* call_inbox.c: calls between PEs of a host.
 *
 * In the slot of each PE there is a queue for each PE of the host that calls it, which alone writes
 * there: no PE waits for another one's store, and none takes a lock. Places are counted in bytes
 * and only rise. The caller writes records, and makes them visible in groups, by one store of the
 * tail and one bit of the callee's mask. The callee exchanges the mask, and runs the records up to
 * each tail that it finds. A caller that stores a tail sets the bit afterwards, and a callee that
 * clears the bit loads the tail afterwards: no record is left behind. */

#include "shmem/control/memory.h"
#include "shmem/control/wait.h"
#include "shmem/transport/call.h"
#include <stdlib.h>

enum {
    CALLERS_MAX = 1024, /* PEs of a host */
    QUEUE_BYTES = 32 << 10,
    GROUP_BYTES = 2 << 10, /* of records that become visible together */
    BATCH_BYTES = 4 << 10, /* executed, before the caller may use their place */
    MASK_BITS   = 64,
};

/* The handler of a record up to the queue's end. No enumerator: one beyond int's range changes the
 * type of all enumerators. */
#define SKIP UINT32_MAX

struct queue {
    _Alignas(MSP_CACHE_LINE_BYTES) _Atomic uint64_t tail; /* the caller's: visible below it */
    _Alignas(MSP_CACHE_LINE_BYTES) _Atomic uint64_t head; /* the callee's: executed below it */
    _Alignas(MSP_CACHE_LINE_BYTES) char bytes[QUEUE_BYTES];
};

struct inbox {
    _Alignas(MSP_CACHE_LINE_BYTES) _Atomic uint64_t masks[CALLERS_MAX / MASK_BITS];
    /* The PE has a handler: one without looks for no calls. Apart from the masks, which change. */
    _Alignas(MSP_CACHE_LINE_BYTES) atomic_bool is_open;
    struct queue queues[CALLERS_MAX]; /* by the caller's local index */
};

_Static_assert(sizeof(struct inbox) <= sizeof(((struct msp_control_offsets *)0)->CALL),
               "an inbox fits into its area");
_Static_assert(2 * (SHMEMX_CALL_MAX_BYTES + 8) <= QUEUE_BYTES, "a record fits wherever it begins");

/* This PE's side of its queue in another PE. Guarded by the lock of call.c, where threads share. */
struct side {
    uint64_t written;
    _Atomic uint64_t visible; /* waits read it without the lock */
    uint64_t head;            /* as last seen */
    bool is_open;             /* as last seen */
    bool is_held_back;        /* in the list of those with records that are not visible */
    int next;
};

static struct side *sides;       /* by local index */
static int first_held_back = -1; /* local index */

static struct inbox *inbox_of(int local_index)
{
    return MSP_CONTROL_AREA(local_index, CALL);
}

static struct queue *queue_to(int local_index)
{
    return &inbox_of(local_index)->queues[msp_job.local_index];
}

memspan_status_t msp_call_inbox_open(void)
{
    if (msp_job.local_count > CALLERS_MAX) {
        return memspan_error(MEMSPAN_ERR_LIMIT, "%d PEs on this host: handlers serve at most %d",
                             msp_job.local_count, CALLERS_MAX);
    }
    sides = calloc((size_t)msp_job.local_count, sizeof *sides);
    if (sides == NULL) {
        return memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for the calls of %d PEs",
                             msp_job.local_count);
    }
    atomic_store_explicit(&inbox_of(msp_job.local_index)->is_open, true, memory_order_release);
    return MEMSPAN_OK;
}

void msp_call_inbox_close(void)
{
    if (sides != NULL) {
        atomic_store_explicit(&inbox_of(msp_job.local_index)->is_open, false, memory_order_relaxed);
    }
    free(sides);
    sides           = NULL;
    first_held_back = -1;
}

/* ---- calling ---- */

/* A PE that sleeps wakes for a call, whatever it waits for. */
static void wake(int local_index)
{
    struct msp_doorbell *doorbell = &msp_doorbells.by_index[local_index];

    if ((atomic_load_explicit(&doorbell->sleepers, memory_order_relaxed) != 0) ||
        (atomic_load_explicit(&doorbell->memory_sleepers, memory_order_relaxed) != 0)) {
        msp_doorbell_notify_slow(local_index);
    }
}

static void show(int local_index)
{
    const unsigned mine = (unsigned)msp_job.local_index;
    struct side *side   = &sides[local_index];

    atomic_store_explicit(&side->visible, side->written, memory_order_relaxed);
    atomic_store_explicit(&queue_to(local_index)->tail, side->written, memory_order_release);
    atomic_fetch_or(&inbox_of(local_index)->masks[mine / MASK_BITS], UINT64_C(1)
                                                                         << (mine % MASK_BITS));
    wake(local_index);
}

/* Of the next record, and of the rest of the queue where it does not fit there. */
static size_t place_bytes(const struct side *side, size_t record_bytes)
{
    size_t left = QUEUE_BYTES - (size_t)(side->written % QUEUE_BYTES);

    return (left < record_bytes) ? left + record_bytes : record_bytes;
}

bool msp_call_inbox_has_space(int local_index, size_t size_bytes)
{
    struct side *side = &sides[local_index];
    size_t bytes      = place_bytes(side, msp_call_record_bytes(size_bytes));

    if (MSP_LIKELY(side->written + bytes - side->head <= QUEUE_BYTES)) {
        return true;
    }
    side->head = atomic_load_explicit(&queue_to(local_index)->head, memory_order_acquire);
    return side->written + bytes - side->head <= QUEUE_BYTES;
}

static void hold_back(int local_index)
{
    struct side *side = &sides[local_index];

    if (!side->is_held_back) {
        side->is_held_back = true;
        side->next         = first_held_back;
        first_held_back    = local_index;
    }
}

static void check_open(int local_index, uint32_t handler)
{
    struct side *side = &sides[local_index];

    side->is_open = atomic_load_explicit(&inbox_of(local_index)->is_open, memory_order_acquire);
    if (!side->is_open) {
        msp_fatal("shmemx_call: PE %d has not added handler %u, nor any other: all PEs add it, and "
                  "synchronise, before one calls it",
                  msp_job.local_pes[local_index], handler);
    }
}

bool msp_call_inbox_put(int local_index, uint32_t handler, const void *payload, size_t size_bytes,
                        bool *is_visible_p)
{
    const size_t record_bytes = msp_call_record_bytes(size_bytes);
    struct side *side         = &sides[local_index];
    char *bytes               = queue_to(local_index)->bytes;
    size_t left;

    if (MSP_UNLIKELY(!side->is_open)) {
        check_open(local_index, handler);
    }
    if (MSP_UNLIKELY(!msp_call_inbox_has_space(local_index, size_bytes))) {
        show(local_index);
        return false;
    }
    left = QUEUE_BYTES - (size_t)(side->written % QUEUE_BYTES);
    if (MSP_UNLIKELY(left < record_bytes)) {
        msp_call_record_write(bytes + QUEUE_BYTES - left, SKIP, NULL, 0);
        side->written += left;
    }
    msp_call_record_write(bytes + (side->written % QUEUE_BYTES), handler, payload, size_bytes);
    side->written += record_bytes;
    if (side->written - atomic_load_explicit(&side->visible, memory_order_relaxed) >= GROUP_BYTES) {
        show(local_index);
        *is_visible_p = true;
    } else {
        hold_back(local_index);
        *is_visible_p = false;
    }
    return true;
}

void msp_call_inbox_flush(void)
{
    while (first_held_back >= 0) {
        struct side *side = &sides[first_held_back];

        if (side->written != atomic_load_explicit(&side->visible, memory_order_relaxed)) {
            show(first_held_back);
        }
        side->is_held_back = false;
        first_held_back    = side->next;
    }
}

void msp_call_inbox_wait(void)
{
    int i;

    for (i = 0; i < msp_job.local_count; i++) {
        const uint64_t visible = atomic_load_explicit(&sides[i].visible, memory_order_relaxed);

        if (visible != 0) {
            MSP_WAIT(atomic_load_explicit(&queue_to(i)->head, memory_order_acquire) >= visible);
        }
    }
}

/* ---- executing ---- */

static bool is_skip(const char *at)
{
    struct msp_call_record record;

    memcpy(&record, at, sizeof record);
    return record.handler == SKIP;
}

static void release(struct queue *queue, int caller, uint64_t head)
{
    atomic_store_explicit(&queue->head, head, memory_order_release);
    msp_doorbell_notify(caller);
}

static void execute_queue(int caller)
{
    struct queue *queue = &inbox_of(msp_job.local_index)->queues[caller];
    const uint64_t tail = atomic_load_explicit(&queue->tail, memory_order_acquire);
    uint64_t head       = atomic_load_explicit(&queue->head, memory_order_relaxed);
    uint64_t released   = head;

    while (head < tail) {
        const size_t at   = (size_t)(head % QUEUE_BYTES);
        const size_t left = QUEUE_BYTES - at;

        head += is_skip(queue->bytes + at)
                    ? left
                    : msp_call_execute(msp_job.local_pes[caller], queue->bytes + at,
                                       (tail - head < left) ? (size_t)(tail - head) : left);
        if (head - released >= BATCH_BYTES) {
            release(queue, caller, head);
            released = head;
        }
    }
    release(queue, caller, head);
}

bool msp_call_inbox_execute(void)
{
    struct inbox *inbox = inbox_of(msp_job.local_index);
    bool is_any         = false;
    unsigned i;

    for (i = 0; i * MASK_BITS < (unsigned)msp_job.local_count; i++) {
        uint64_t mask = atomic_load_explicit(&inbox->masks[i], memory_order_relaxed);

        if (mask != 0) {
            mask   = atomic_exchange(&inbox->masks[i], 0);
            is_any = true;
        }
        for (; mask != 0; mask &= mask - 1) {
            execute_queue((int)((i * MASK_BITS) + (unsigned)__builtin_ctzll(mask)));
        }
    }
    return is_any;
}
