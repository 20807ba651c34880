/* SPDX-License-Identifier: BSD-3-Clause */
/* owner.c: the owner-served transport: memory that other PEs of the host cannot map.
 *
 * Each PE that has such memory runs a thread, its service, which executes requests of others
 * through a ring buffer in its slot of the control memory: cells, each with space for a piece of
 * data, used in the order of tickets. A cell's turn is the state of its ticket:
 *
 *     turn == ticket          free for the PE that drew the ticket
 *     turn == ticket + 1      requested; the service executes in the order of tickets
 *     turn == ticket + 2      executed, with data or an old value for the requester (not for puts)
 *     turn == ticket + CELLS  free again
 *
 * where tickets are counted in steps of 4, so that these never coincide. Requests of one PE to
 * another are executed in order, so fence and quiet wait until the last ticket is executed, of
 * whichever context.
 *
 * A put returns when its pieces are in cells. A PE that waits for a cell takes the replies to its
 * own gets meanwhile, so that two PEs that wait for cells of each other cannot deadlock. */

#include "shmem/transport/owner.h"
#include "shmem/control/memory.h"
#include "shmem/control/wait.h"
#include "shmem/transport/order.h"
#include "shmem/transport/own.h"
#include "shmem/transport/rma.h"
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    CELLS       = 60,
    PIECE_BYTES = 64 << 10,
    STEP        = 4, /* of tickets */
    LAP         = CELLS * STEP,
    AHEAD       = 4,    /* requests of one get outstanding at a time */
    SPINS       = 2000, /* polls of the service before it sleeps */
};

enum request { REQUEST_PUT, REQUEST_GET, REQUEST_ATOMIC };

struct cell {
    _Alignas(MSP_CACHE_LINE_BYTES) _Atomic uint64_t turn;
    uint32_t request;
    uint32_t operation;
    uint32_t segment;
    int32_t requester; /* local index */
    uint64_t offset_bytes;
    uint64_t size_bytes;
    uint64_t value;
    uint64_t condition;
};

struct ring {
    _Alignas(MSP_CACHE_LINE_BYTES) _Atomic uint64_t next; /* ticket to draw */
    _Alignas(MSP_CACHE_LINE_BYTES) _Atomic uint64_t done; /* tickets below it are executed */
    _Alignas(MSP_CACHE_LINE_BYTES) atomic_uint is_asleep; /* futex word of the service */
    atomic_bool ends;
    struct cell cells[CELLS];
    struct msp_driver_token tokens[MSP_SEGMENT_MAX];
    _Alignas(4096) char data[CELLS][PIECE_BYTES];
};

_Static_assert(sizeof(struct ring) <= sizeof(((struct msp_control_offsets *)0)->OWNER),
               "a ring fits into its area");

static _Atomic uint64_t *issued; /* by local index: this PE's puts there end below it */

static pthread_t service;
static bool service_runs;
static pthread_mutex_t serve_lock = PTHREAD_MUTEX_INITIALIZER; /* guards service_runs */

static struct ring *ring_of(int local_index)
{
    return MSP_CONTROL_AREA(local_index, OWNER);
}

static struct cell *cell_of(struct ring *ring, uint64_t ticket)
{
    return &ring->cells[(ticket / STEP) % CELLS];
}

/* Turns are zero at first: read as the number of the cell's first ticket. */
static uint64_t turn_of(const struct cell *cell, uint64_t ticket)
{
    uint64_t turn = atomic_load_explicit(&cell->turn, memory_order_acquire);

    return (turn == 0) ? (ticket % LAP) : turn;
}

static char *data_of(struct ring *ring, uint64_t ticket)
{
    return ring->data[(ticket / STEP) % CELLS];
}

/* ---- the service ---- */

#define SERVICE "a request of another PE for memory of this one"

static void execute(struct ring *ring, struct cell *cell, uint64_t ticket)
{
    const struct msp_segment *segment = &msp_segments[cell->segment];
    char *data                        = data_of(ring, ticket);
    char *own;

    /* is_served is stored last: the rest of the segment is read after it. */
    if (!atomic_load(&segment->is_served) || (cell->offset_bytes >= segment->size_bytes) ||
        (cell->size_bytes > segment->size_bytes - cell->offset_bytes)) {
        msp_fatal("PE %d requested memory of this PE that does not exist (any more)",
                  msp_job.local_pes[cell->requester]);
    }
    own = segment->base + cell->offset_bytes;
    if (cell->request == REQUEST_PUT) {
        msp_own_put(SERVICE, own, data, cell->size_bytes);
    } else if (cell->request == REQUEST_GET) {
        msp_own_get(SERVICE, data, own, cell->size_bytes);
    } else {
        const struct msp_atomic_request request = {.operation  = (enum msp_atomic)cell->operation,
                                                   .size_bytes = (unsigned)cell->size_bytes,
                                                   .value      = cell->value,
                                                   .condition  = cell->condition};

        cell->value = msp_own_atomic(SERVICE, own, &request);
    }
    if (cell->request != REQUEST_GET) {
        msp_peer_notify((unsigned)msp_job.local_index, own, cell->size_bytes);
    }
}

static void reply(struct ring *ring, struct cell *cell, uint64_t ticket)
{
    int requester = cell->requester;
    uint64_t turn = ticket + ((cell->request == REQUEST_PUT) ? (uint64_t)LAP : 2);

    atomic_store_explicit(&ring->done, ticket + STEP, memory_order_release);
    atomic_store_explicit(&cell->turn, turn, memory_order_release);
    msp_doorbell_notify(requester);
}

/* Until @p ticket is requested; false when the service ends. */
static bool wait_for_request(struct ring *ring, const struct cell *cell, uint64_t ticket)
{
    unsigned polls = 0;

    for (;;) {
        if (turn_of(cell, ticket) == ticket + 1) {
            return true;
        }
        if (atomic_load(&ring->ends)) {
            return false;
        }
        if (polls++ < SPINS) {
            msp_wait_relax();
            continue;
        }
        /* A requester reads this after it has stored its turn, both in one order. */
        atomic_store(&ring->is_asleep, 1);
        atomic_thread_fence(memory_order_seq_cst);
        if ((turn_of(cell, ticket) != ticket + 1) && !atomic_load(&ring->ends)) {
            syscall(SYS_futex, &ring->is_asleep, FUTEX_WAIT, 1, NULL, NULL, 0);
        }
        atomic_store(&ring->is_asleep, 0);
        polls = 0;
    }
}

static void *serve(void *argument)
{
    struct ring *ring = ring_of(msp_job.local_index);
    uint64_t ticket   = atomic_load(&ring->done);

    (void)argument;
    for (;;) {
        struct cell *cell = cell_of(ring, ticket);

        if (!wait_for_request(ring, cell, ticket)) {
            return NULL;
        }
        execute(ring, cell, ticket);
        reply(ring, cell, ticket);
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

static memspan_status_t start_service(void)
{
    memspan_status_t status;

    issued = calloc((size_t)msp_job.local_count, sizeof *issued);
    if (issued == NULL) {
        return memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for %d PEs", msp_job.local_count);
    }
    atomic_store(&ring_of(msp_job.local_index)->ends, false);
    status       = msp_own_thread_start(&service, serve, "memory that the other PEs cannot map");
    service_runs = (status == MEMSPAN_OK);
    if (!service_runs) {
        free(issued);
        issued = NULL;
    }
    return status;
}

memspan_status_t msp_owner_serve(int segment)
{
    memspan_status_t status = MEMSPAN_OK;

    pthread_mutex_lock(&serve_lock);
    if (!service_runs) {
        status = start_service();
    }
    pthread_mutex_unlock(&serve_lock);
    atomic_store(&msp_segments[segment].is_served, status == MEMSPAN_OK);
    return status;
}

struct msp_driver_token *msp_owner_token(int local_index, const struct msp_segment *segment)
{
    return &ring_of(local_index)->tokens[segment - msp_segments];
}

void msp_owner_retire(int segment)
{
    struct msp_segment *own = &msp_segments[segment];

    if (own->is_served) {
        atomic_store(&msp_owner_token(msp_job.local_index, own)->size_bytes, 0);
        own->is_served = false;
    }
}

void msp_owner_close(void)
{
    pthread_mutex_lock(&serve_lock);
    if (service_runs) {
        struct ring *ring = ring_of(msp_job.local_index);

        /* No PE frees memory that another still has open. */
        msp_driver_share_close();
        msp_host_barrier();
        atomic_store(&ring->ends, true);
        wake(ring);
        pthread_join(service, NULL);
        service_runs = false;
        free(issued);
        issued = NULL;
    }
    pthread_mutex_unlock(&serve_lock);
}

/* ---- requests ---- */

/* For the service, which needs nothing of a program. A handler that ran meanwhile might wait for
 * the cells that this request holds. */
#define WAIT(condition) MSP_WAIT_LOOP(condition, .is_operation = true)

/* Replies that are still in cells of one ring, oldest first, and where they go. */
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

/* The oldest reply, if it is there. */
static bool take_reply(struct pending *pending)
{
    uint64_t ticket   = pending->tickets[pending->first];
    struct cell *cell = cell_of(pending->ring, ticket);

    if ((pending->count == 0) || (turn_of(cell, ticket) != ticket + 2)) {
        return false;
    }
    msp_rma_move(pending->call, pending->to, data_of(pending->ring, ticket), cell->size_bytes);
    pending->to += cell->size_bytes;
    pending->first = (pending->first + 1) % AHEAD;
    pending->count--;
    release(cell, ticket);
    return true;
}

static bool is_free(const struct cell *cell, uint64_t ticket, struct pending *pending)
{
    while ((pending != NULL) && take_reply(pending)) {
    }
    return turn_of(cell, ticket) == ticket;
}

/* Draw a ticket and wait for its cell. */
static struct cell *claim(struct ring *ring, struct pending *pending, uint64_t *ticket_p)
{
    uint64_t ticket   = atomic_fetch_add(&ring->next, STEP);
    struct cell *cell = cell_of(ring, ticket);

    MSP_WAIT_LOOP(is_free(cell, ticket, pending), .is_unnotified = true, .is_operation = true);
    *ticket_p = ticket;
    return cell;
}

static void post(struct ring *ring, struct cell *cell, uint64_t ticket)
{
    atomic_store_explicit(&cell->turn, ticket + 1, memory_order_release);
    atomic_thread_fence(memory_order_seq_cst);
    wake(ring);
}

static void describe(struct cell *cell, enum request request, const struct msp_target *target,
                     size_t at, size_t size_bytes)
{
    cell->request      = request;
    cell->segment      = (uint32_t)(target->segment - msp_segments);
    cell->requester    = msp_job.local_index;
    cell->offset_bytes = target->offset_bytes + at;
    cell->size_bytes   = size_bytes;
}

/* Puts to @p local_index end at @p ticket, or beyond: threads come in any order. */
static void note_issued(int local_index, uint64_t ticket)
{
    uint64_t before = atomic_load(&issued[local_index]);

    while ((before < ticket + STEP) &&
           !atomic_compare_exchange_weak(&issued[local_index], &before, ticket + STEP)) {
    }
    atomic_store_explicit(&msp_order_pending, true, memory_order_relaxed);
}

static size_t piece_of(size_t left_bytes)
{
    return (left_bytes < PIECE_BYTES) ? left_bytes : (size_t)PIECE_BYTES;
}

static void put(const struct msp_target *target, const void *source, size_t size_bytes,
                unsigned flags)
{
    int local_index   = msp_job_local_index(target->pe);
    struct ring *ring = ring_of(local_index);
    size_t piece;
    size_t at;

    (void)flags;
    for (at = 0; at < size_bytes; at += piece) {
        uint64_t ticket;
        struct cell *cell = claim(ring, NULL, &ticket);

        piece = piece_of(size_bytes - at);
        describe(cell, REQUEST_PUT, target, at, piece);
        msp_rma_move(target->call, data_of(ring, ticket), (const char *)source + at, piece);
        post(ring, cell, ticket);
        note_issued(local_index, ticket);
    }
}

static void get(const struct msp_target *target, void *dest, size_t size_bytes, unsigned flags)
{
    struct ring *ring      = ring_of(msp_job_local_index(target->pe));
    struct pending pending = {.call = target->call, .ring = ring, .to = dest};
    size_t piece;
    size_t at;

    (void)flags;
    for (at = 0; at < size_bytes; at += piece) {
        uint64_t ticket;
        struct cell *cell;

        if (pending.count == AHEAD) {
            WAIT(take_reply(&pending));
        }
        cell  = claim(ring, &pending, &ticket);
        piece = piece_of(size_bytes - at);
        describe(cell, REQUEST_GET, target, at, piece);
        pending.tickets[(pending.first + pending.count++) % AHEAD] = ticket;
        post(ring, cell, ticket);
    }
    while (pending.count > 0) {
        WAIT(take_reply(&pending));
    }
}

static void atomic(const struct msp_target *target, const struct msp_atomic_request *request,
                   unsigned flags)
{
    struct ring *ring = ring_of(msp_job_local_index(target->pe));
    uint64_t ticket;
    struct cell *cell = claim(ring, NULL, &ticket);

    (void)flags;
    describe(cell, REQUEST_ATOMIC, target, 0, request->size_bytes);
    cell->operation = request->operation;
    cell->value     = request->value;
    cell->condition = request->condition;
    post(ring, cell, ticket);
    WAIT(turn_of(cell, ticket) == ticket + 2);
    msp_own_fetched(request, cell->value);
    release(cell, ticket);
}

static void order(const struct msp_context *context, bool completes)
{
    int i;

    (void)context;
    (void)completes;
    for (i = 0; (issued != NULL) && (i < msp_job.local_count); i++) {
        uint64_t requested = atomic_load(&issued[i]);

        if (requested != 0) {
            WAIT(atomic_load_explicit(&ring_of(i)->done, memory_order_acquire) >= requested);
        }
    }
}

const struct msp_transport msp_transport_owner = {
    .name   = "owner",
    .put    = put,
    .get    = get,
    .atomic = atomic,
    .order  = order,
};
