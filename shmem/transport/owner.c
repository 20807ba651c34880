/* SPDX-License-Identifier: BSD-3-Clause */
/* remote.c: put, get and atomics on memory that only its owner reaches.
 *
 * Where the driver opens it for others, puts and gets are its copies (remote_share.h). All else:
 *
 * Each PE that has such memory has a thread that does what others ask of it. They ask through a
 * ring in its slot of the node's control memory: cells with room for a piece of data each, used in
 * the order of tickets. A ticket's cell goes through
 *
 *     turn == ticket          free for whoever drew the ticket
 *     turn == ticket + 1      asked: the owner's thread does it, in the order of tickets
 *     turn == ticket + 2      done, with data or an old value for who asked (puts skip this)
 *     turn == ticket + CELLS  free again
 *
 * where tickets are counted in steps of 4, so that these never meet. What one PE asks of another is
 * done in order, so that fence and quiet need no more than that the last ticket is done.
 *
 * A put is complete, for its caller, when its pieces are in cells. Whoever waits for a cell takes
 * the answers to its own questions meanwhile, so that two that wait for each other's cells cannot
 * hold up each other. All atomics on such memory are done by its owner under one lock: by the
 * thread, and by the owner's own calls. */

#include "shmem/transport/owner.h"
#include "shmem/control/memory.h"
#include "shmem/control/wait.h"
#include "shmem/transport/driver_share.h"
#include "shmem/transport/order.h"
#include <linux/futex.h>
#include <memspan/allocator.h>
#include <memspan/transfer.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    CELLS       = 60,
    PIECE_BYTES = 64 << 10,
    STEP        = 4, /* of tickets */
    LAP         = CELLS * STEP,
    AHEAD       = 4,    /* questions of one get under way at a time */
    SPINS       = 2000, /* looks of the service before it sleeps */
};

enum request { REQUEST_PUT, REQUEST_GET, REQUEST_ATOMIC };

struct cell {
    _Alignas(MSP_CACHE_LINE_BYTES) _Atomic uint64_t turn;
    uint32_t request;
    uint32_t operation;
    uint32_t number; /* of the memory */
    int32_t asker;   /* local index */
    uint64_t offset_bytes;
    uint64_t size_bytes;
    uint64_t value;
    uint64_t condition;
};

struct ring {
    _Alignas(MSP_CACHE_LINE_BYTES) _Atomic uint64_t next; /* ticket to draw */
    _Alignas(MSP_CACHE_LINE_BYTES) _Atomic uint64_t done; /* all tickets below it */
    _Alignas(MSP_CACHE_LINE_BYTES) atomic_uint is_asleep; /* futex word of the service */
    atomic_bool ends;
    struct cell cells[CELLS];
    struct msp_remote_token tokens[MSP_REMOTE_SHARE_MAX]; /* by number */
    _Alignas(4096) char data[CELLS][PIECE_BYTES];
};

_Static_assert(sizeof(struct ring) <= sizeof(((struct msp_control_offsets *)0)->REMOTE),
               "a ring fits into its area");

struct msp_remote {
    unsigned number;
};

static struct msp_remote remotes[MSP_REMOTE_MAX];
static _Atomic int segment_of[MSP_REMOTE_MAX]; /* of this PE's; 0: none */

static _Atomic uint64_t *issued; /* by local index: what this PE has put there ends below it */

static pthread_t service;
static bool service_runs;
static pthread_mutex_t serve_lock = PTHREAD_MUTEX_INITIALIZER; /* guards service_runs */
static pthread_mutex_t word_lock  = PTHREAD_MUTEX_INITIALIZER; /* atomics on this PE's memory */

static struct ring *ring_of(int local_index)
{
    return MSP_CONTROL_AREA(local_index, REMOTE);
}

static struct cell *cell_of(struct ring *ring, uint64_t ticket)
{
    return &ring->cells[(ticket / STEP) % CELLS];
}

/* The cells' turns are zero at first: counted so, every cell's first ticket finds it free. */
static uint64_t turn_of(const struct cell *cell, uint64_t ticket)
{
    uint64_t turn = atomic_load_explicit(&cell->turn, memory_order_acquire);

    return (turn == 0) ? (ticket % LAP) : turn;
}

static char *data_of(struct ring *ring, uint64_t ticket)
{
    return ring->data[(ticket / STEP) % CELLS];
}

/* ---- copies between memory that the host may not touch ---- */

static bool host_touches(const void *address)
{
    const struct msp_segment *segment = msp_segment_of(address);

    if ((uintptr_t)address - (uintptr_t)segment->base < segment->size_bytes) {
        return segment->host_touches;
    }
    return memspan_pointer_kind(address) != MEMSPAN_KIND_DEVICE;
}

static void copy(const char *call, void *to, const void *from, size_t size_bytes)
{
    if (to == from) {
        return; /* drivers refuse it */
    }
    if (host_touches(to) && host_touches(from)) {
        msp_rma_copy(to, from, size_bytes);
    } else if (memspan_copy(to, from, size_bytes) != MEMSPAN_OK) {
        msp_fatal_error(call);
    }
}

static uint64_t apply(const char *call, enum msp_atomic operation, void *word, size_t size_bytes,
                      uint64_t value, uint64_t condition)
{
    uint64_t here = 0;
    uint64_t old;

    pthread_mutex_lock(&word_lock);
    if (host_touches(word)) {
        old = msp_atomic_apply(operation, word, size_bytes, value, condition);
    } else {
        copy(call, &here, word, size_bytes);
        old = msp_atomic_apply(MSP_ATOMIC_FETCH, &here, size_bytes, 0, 0);
        if (operation != MSP_ATOMIC_FETCH) {
            (void)msp_atomic_apply(operation, &here, size_bytes, value, condition);
            copy(call, word, &here, size_bytes);
        }
    }
    pthread_mutex_unlock(&word_lock);
    return old;
}

/* ---- the owner's thread ---- */

#define SERVICE "what another PE asked of this one's device memory"

static void serve(struct ring *ring, struct cell *cell, uint64_t ticket)
{
    int index                         = atomic_load(&segment_of[cell->number]);
    const struct msp_segment *segment = &msp_segments[index];
    char *own                         = segment->base + cell->offset_bytes;
    char *data                        = data_of(ring, ticket);

    if ((index == 0) || (cell->offset_bytes >= segment->size_bytes) ||
        (cell->size_bytes > segment->size_bytes - cell->offset_bytes)) {
        msp_fatal("PE %d asked for memory of this PE that is not there (any more)",
                  msp_job.local_pes[cell->asker]);
    }
    if (cell->request == REQUEST_PUT) {
        copy(SERVICE, own, data, cell->size_bytes);
    } else if (cell->request == REQUEST_GET) {
        copy(SERVICE, data, own, cell->size_bytes);
    } else {
        cell->value = apply(SERVICE, (enum msp_atomic)cell->operation, own, cell->size_bytes,
                            cell->value, cell->condition);
    }
    if (cell->request != REQUEST_GET) {
        msp_doorbell_notify_at(msp_job.local_index, own, cell->size_bytes);
    }
}

static void finish(struct ring *ring, struct cell *cell, uint64_t ticket)
{
    int asker     = cell->asker;
    uint64_t turn = ticket + ((cell->request == REQUEST_PUT) ? (uint64_t)LAP : 2);

    atomic_store_explicit(&ring->done, ticket + STEP, memory_order_release);
    atomic_store_explicit(&cell->turn, turn, memory_order_release);
    msp_doorbell_notify(asker);
}

/* Until the cell of @p ticket is asked; false when the service ends. */
static bool wait_for_request(struct ring *ring, const struct cell *cell, uint64_t ticket)
{
    unsigned looks = 0;

    for (;;) {
        if (turn_of(cell, ticket) == ticket + 1) {
            return true;
        }
        if (atomic_load(&ring->ends)) {
            return false;
        }
        if (looks++ < SPINS) {
            msp_wait_relax();
            continue;
        }
        /* Who asks looks at this after he has asked, both in one order. */
        atomic_store(&ring->is_asleep, 1);
        atomic_thread_fence(memory_order_seq_cst);
        if ((turn_of(cell, ticket) != ticket + 1) && !atomic_load(&ring->ends)) {
            syscall(SYS_futex, &ring->is_asleep, FUTEX_WAIT, 1, NULL, NULL, 0);
        }
        atomic_store(&ring->is_asleep, 0);
        looks = 0;
    }
}

static void *serve_all(void *argument)
{
    struct ring *ring = ring_of(msp_job.local_index);
    uint64_t ticket   = atomic_load(&ring->done);

    (void)argument;
    for (;;) {
        struct cell *cell = cell_of(ring, ticket);

        if (!wait_for_request(ring, cell, ticket)) {
            return NULL;
        }
        serve(ring, cell, ticket);
        finish(ring, cell, ticket);
        ticket += STEP;
    }
}

static void wake(struct ring *ring)
{
    if (atomic_load(&ring->is_asleep) != 0) {
        atomic_store(&ring->is_asleep, 0);
        syscall(SYS_futex, &ring->is_asleep, FUTEX_WAKE, 1, NULL, NULL, 0);
    }
}

/* A thread that takes no signals: they are the program's. */
static memspan_status_t start_service(void)
{
    sigset_t all;
    sigset_t before;
    int error;

    issued = calloc((size_t)msp_job.local_count, sizeof *issued);
    if (issued == NULL) {
        return memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for %d PEs", msp_job.local_count);
    }
    atomic_store(&ring_of(msp_job.local_index)->ends, false);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&service, NULL, serve_all, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0) {
        free(issued);
        issued = NULL;
        return msp_error_native(MEMSPAN_ERR_LIMIT, "", "pthread_create", error, strerror(error),
                                NULL, "no thread for memory that the other PEs cannot map");
    }
    service_runs = true;
    return MEMSPAN_OK;
}

memspan_status_t msp_remote_serve(int segment, unsigned number)
{
    memspan_status_t status = MEMSPAN_OK;

    if (number >= MSP_REMOTE_MAX) {
        return memspan_error(MEMSPAN_ERR_LIMIT, "there are %d remote memories already",
                             MSP_REMOTE_MAX);
    }
    pthread_mutex_lock(&serve_lock);
    if (!service_runs) {
        status = start_service();
    }
    pthread_mutex_unlock(&serve_lock);
    if (status == MEMSPAN_OK) {
        remotes[number].number       = number;
        msp_segments[segment].remote = &remotes[number];
        atomic_store(&segment_of[number], segment);
    }
    return status;
}

void msp_remote_offer(int segment, int device)
{
    const struct msp_segment *own = &msp_segments[segment];

    if ((own->remote != NULL) && (own->remote->number < MSP_REMOTE_SHARE_MAX)) {
        msp_remote_share_offer(&ring_of(msp_job.local_index)->tokens[own->remote->number],
                               own->base, device);
    }
}

void msp_remote_forget(int segment)
{
    if (msp_segments[segment].remote != NULL) {
        msp_remote_share_close(msp_segments[segment].remote->number);
    }
}

void msp_remote_retire(int segment)
{
    struct msp_remote *remote = msp_segments[segment].remote;

    if (remote != NULL) {
        if (remote->number < MSP_REMOTE_SHARE_MAX) {
            atomic_store(&ring_of(msp_job.local_index)->tokens[remote->number].size_bytes, 0);
        }
        atomic_store(&segment_of[remote->number], 0);
        msp_segments[segment].remote = NULL;
    }
}

void msp_remote_close(void)
{
    unsigned number;

    pthread_mutex_lock(&serve_lock);
    if (service_runs) {
        struct ring *ring = ring_of(msp_job.local_index);

        /* Nobody frees what another still has open. */
        for (number = 0; number < MSP_REMOTE_SHARE_MAX; number++) {
            msp_remote_share_close(number);
        }
        msp_host_barrier();
        atomic_store(&ring->ends, true);
        wake(ring);
        pthread_join(service, NULL);
        service_runs = false;
        atomic_store(&msp_order_pending, false);
        free(issued);
        issued = NULL;
    }
    pthread_mutex_unlock(&serve_lock);
}

/* ---- asking ---- */

/* Answers that are still in cells of one ring, oldest first: @p to gets them. */
struct pending {
    const char *call;
    struct ring *ring;
    char *to;
    uint64_t tickets[AHEAD];
    unsigned first;
    unsigned count;
};

static void release(struct cell *cell, uint64_t ticket)
{
    atomic_store_explicit(&cell->turn, ticket + LAP, memory_order_release);
}

/* Take the oldest answer, if it is there. */
static bool take_answer(struct pending *pending)
{
    uint64_t ticket   = pending->tickets[pending->first];
    struct cell *cell = cell_of(pending->ring, ticket);

    if ((pending->count == 0) || (turn_of(cell, ticket) != ticket + 2)) {
        return false;
    }
    copy(pending->call, pending->to, data_of(pending->ring, ticket), cell->size_bytes);
    pending->to += cell->size_bytes;
    pending->first = (pending->first + 1) % AHEAD;
    pending->count--;
    release(cell, ticket);
    return true;
}

static bool is_free(const struct cell *cell, uint64_t ticket, struct pending *pending)
{
    while ((pending != NULL) && take_answer(pending)) {
    }
    return turn_of(cell, ticket) == ticket;
}

/* Draw a ticket and wait for its cell. */
static struct cell *claim(struct ring *ring, struct pending *pending, uint64_t *ticket_p)
{
    uint64_t ticket   = atomic_fetch_add(&ring->next, STEP);
    struct cell *cell = cell_of(ring, ticket);

    MSP_WAIT_UNNOTIFIED(is_free(cell, ticket, pending));
    *ticket_p = ticket;
    return cell;
}

static void ask(struct ring *ring, struct cell *cell, uint64_t ticket)
{
    atomic_store(&cell->turn, ticket + 1);
    atomic_thread_fence(memory_order_seq_cst);
    wake(ring);
}

static void describe(struct cell *cell, enum request request, const struct msp_segment *segment,
                     const void *address, size_t size_bytes)
{
    cell->request      = request;
    cell->number       = segment->remote->number;
    cell->asker        = msp_job.local_index;
    cell->offset_bytes = (uint64_t)((const char *)address - segment->base);
    cell->size_bytes   = size_bytes;
}

/* Where the driver reaches another PE's @p address; NULL: only its owner does. */
static char *shared_address(const struct msp_segment *segment, const void *address, int local_index)
{
    unsigned number = segment->remote->number;
    char *base;

    if (number >= MSP_REMOTE_SHARE_MAX) {
        return NULL;
    }
    base = msp_remote_share_open(&ring_of(local_index)->tokens[number], number, local_index);
    return (base != NULL) ? base + ((const char *)address - segment->base) : NULL;
}

static void copy_shared(const char *call, void *to, const void *from, size_t size_bytes)
{
    if (memspan_copy(to, from, size_bytes) != MEMSPAN_OK) {
        msp_fatal_error(call);
    }
}

/* What was put at @p local_index ends at @p ticket, or beyond: threads may come in any order. */
static void note_issued(int local_index, uint64_t ticket)
{
    uint64_t before = atomic_load(&issued[local_index]);

    while ((before < ticket + STEP) &&
           !atomic_compare_exchange_weak(&issued[local_index], &before, ticket + STEP)) {
    }
    atomic_store_explicit(&msp_order_pending, true, memory_order_relaxed);
}

void msp_remote_put(const char *call, const struct msp_segment *segment,
                    const struct msp_context *context, void *dest, const void *source,
                    size_t size_bytes, int pe)
{
    int local_index   = msp_job_local_index(pe);
    struct ring *ring = ring_of(local_index);
    size_t at         = 0;
    char *shared;

    (void)context;
    if (pe == msp_job.pe) {
        copy(call, dest, source, size_bytes);
        msp_doorbell_notify_at(msp_job.local_index, dest, size_bytes);
        return;
    }
    shared = shared_address(segment, dest, local_index);
    if (shared != NULL) {
        copy_shared(call, shared, source, size_bytes);
        msp_doorbell_notify_at(local_index, dest, size_bytes);
        return;
    }
    while (at < size_bytes) {
        size_t piece = (size_bytes - at < PIECE_BYTES) ? (size_bytes - at) : PIECE_BYTES;
        uint64_t ticket;
        struct cell *cell = claim(ring, NULL, &ticket);

        describe(cell, REQUEST_PUT, segment, (char *)dest + at, piece);
        copy(call, data_of(ring, ticket), (const char *)source + at, piece);
        ask(ring, cell, ticket);
        note_issued(local_index, ticket);
        at += piece;
    }
}

void msp_remote_get(const char *call, const struct msp_segment *segment,
                    const struct msp_context *context, void *dest, const void *source,
                    size_t size_bytes, int pe)
{
    int local_index        = msp_job_local_index(pe);
    struct ring *ring      = ring_of(local_index);
    struct pending pending = {.call = call, .ring = ring, .to = dest};
    size_t at              = 0;
    char *shared;

    (void)context;
    if (pe == msp_job.pe) {
        copy(call, dest, source, size_bytes);
        return;
    }
    shared = shared_address(segment, source, local_index);
    if (shared != NULL) {
        copy_shared(call, dest, shared, size_bytes);
        return;
    }
    while (at < size_bytes) {
        size_t piece = (size_bytes - at < PIECE_BYTES) ? (size_bytes - at) : PIECE_BYTES;
        uint64_t ticket;
        struct cell *cell;

        if (pending.count == AHEAD) {
            MSP_WAIT(take_answer(&pending));
        }
        cell = claim(ring, &pending, &ticket);
        describe(cell, REQUEST_GET, segment, (const char *)source + at, piece);
        pending.tickets[(pending.first + pending.count++) % AHEAD] = ticket;
        ask(ring, cell, ticket);
        at += piece;
    }
    while (pending.count > 0) {
        MSP_WAIT(take_answer(&pending));
    }
}

uint64_t msp_remote_atomic(const char *call, const struct msp_segment *segment,
                           const struct msp_context *context, enum msp_atomic operation,
                           const void *dest, size_t size_bytes, uint64_t value, uint64_t condition,
                           int pe)
{
    struct ring *ring = ring_of(msp_job_local_index(pe));
    struct cell *cell;
    uint64_t ticket;
    uint64_t old;

    (void)context;
    if (pe == msp_job.pe) {
        old = apply(call, operation, (void *)(uintptr_t)dest, size_bytes, value, condition);
        msp_doorbell_notify_at(msp_job.local_index, dest, size_bytes);
        return old;
    }
    cell = claim(ring, NULL, &ticket);
    describe(cell, REQUEST_ATOMIC, segment, dest, size_bytes);
    cell->operation = operation;
    cell->value     = value;
    cell->condition = condition;
    ask(ring, cell, ticket);
    MSP_WAIT(turn_of(cell, ticket) == ticket + 2);
    old = cell->value;
    release(cell, ticket);
    return old;
}

bool msp_remote_load(const void *address, size_t size_bytes, uint64_t *value_p)
{
    uint64_t here = 0;

    if (host_touches(address)) {
        return false;
    }
    pthread_mutex_lock(&word_lock);
    copy("a wait or a test", &here, address, size_bytes);
    pthread_mutex_unlock(&word_lock);
    *value_p = msp_atomic_apply(MSP_ATOMIC_FETCH, &here, size_bytes, 0, 0);
    return true;
}

/* What is mapped is in order with what is not only when the latter is complete: fence waits too. */
void msp_remote_order(const struct msp_context *context, bool completes)
{
    int i;

    (void)context;
    (void)completes;
    for (i = 0; (issued != NULL) && (i < msp_job.local_count); i++) {
        uint64_t asked = atomic_load(&issued[i]);

        if (asked != 0) {
            MSP_WAIT(atomic_load_explicit(&ring_of(i)->done, memory_order_acquire) >= asked);
        }
    }
}
