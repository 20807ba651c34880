/* SPDX-License-Identifier: BSD-3-Clause */
/* service.c: execution of a view's requests, on a context of its own, by one thread at a time.
 *
 * Each queue is executed in the order of its tickets. Requests with replies from other PEs (gets,
 * fetching atomics) are started, and answered together: one quiet completes all of them that were
 * there at the same time.
 *
 * Kernels on the host's processors call msp_device_serve() behind each request. A thread that finds
 * another one at work leaves its request to that one, which checks for requests again at its end.
 * Requests of other devices are the work of the view's own thread. Without requests that thread
 * polls, then sleeps on the view's word. It also looks for failed peers while a kernel waits. */

#include "shmem/bootstrap.h"
#include "shmem/control/wait.h"
#include "shmem/device/device.h"
#include "shmem/job.h"
#include "shmem/transport/atomic.h"
#include "shmem/transport/call.h"
#include "shmem/transport/order.h"
#include "shmem/transport/own.h"
#include "shmem/transport/peer.h"
#include "shmem/transport/rma.h"
#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    SPINS    = 2000, /* rounds over the queues before it sleeps */
    ROUNDS   = 8,    /* over the queues that a kernel's thread makes for others */
    DEFERRED = 64,   /* replies that one quiet completes, at most */
    WATCH_MS = 125,
    SLOW_US  = 50, /* of sleep, where the device cannot wake the thread */
};

static const char call[] = "an OpenSHMEM operation of a kernel";

/* Requests of one queue that are started and not answered. */
struct batch {
    shmemx_device_queue_t *queue;
    uint64_t tickets[DEFERRED];
    unsigned count;
};

/* ---- execution ---- */

/* The order of msp_atomic; -1: no atomic operation. */
static int atomic_of(uint32_t operation)
{
    switch (operation) {
    case SHMEMX_DEVICE_FETCH:
        return MSP_ATOMIC_FETCH;
    case SHMEMX_DEVICE_SET:
    case SHMEMX_DEVICE_SIGNAL_SET:
        return MSP_ATOMIC_SET;
    case SHMEMX_DEVICE_SWAP:
        return MSP_ATOMIC_SWAP;
    case SHMEMX_DEVICE_COMPARE_SWAP:
        return MSP_ATOMIC_COMPARE_SWAP;
    case SHMEMX_DEVICE_ADD:
    case SHMEMX_DEVICE_SIGNAL_ADD:
        return MSP_ATOMIC_ADD;
    case SHMEMX_DEVICE_AND:
        return MSP_ATOMIC_AND;
    case SHMEMX_DEVICE_OR:
        return MSP_ATOMIC_OR;
    case SHMEMX_DEVICE_XOR:
        return MSP_ATOMIC_XOR;
    default:
        return -1;
    }
}

static char *address_of(uint64_t where)
{
    unsigned number = (unsigned)(where >> 48);
    uint64_t offset = where & (((uint64_t)1 << 48) - 1);

    if (number == SHMEMX_DEVICE_RAW) {
        return (char *)(uintptr_t)offset;
    }
    if (number >= MSP_SEGMENT_MAX) {
        msp_fatal("%s: there is no segment %u", call, number);
    }
    return msp_segments[number].base + offset;
}

/* A word of barriers of devices, in the control memory. Other PEs' are only set; a device that does
 * not load those of its own PE asks for them. */
static void execute_word(shmemx_device_cell_t *cell)
{
    uint64_t at     = cell->where & (((uint64_t)1 << 48) - 1);
    int local_index = msp_job_local_index(cell->pe);
    uint64_t *word;

    if (local_index < 0) {
        struct msp_target target = msp_target_at(
            call, MSP_SEGMENT_CONTROL, at + offsetof(struct msp_control_offsets, DEVICE), cell->pe);

        msp_target_store(&target, cell->value);
        return;
    }
    word = (uint64_t *)(void *)((char *)msp_device_words_of(local_index) + at);
    if (cell->operation == SHMEMX_DEVICE_SET) {
        __atomic_store_n(word, cell->value, __ATOMIC_RELEASE);
    } else {
        cell->value = __atomic_load_n(word, __ATOMIC_ACQUIRE);
    }
}

static void execute_atomic(const struct msp_context *context, shmemx_device_cell_t *cell,
                           enum msp_atomic operation, char *to, bool is_alone)
{
    uint64_t *fetch = ((cell->operation & SHMEMX_DEVICE_REPLIES) != 0) ? &cell->value : NULL;
    uint64_t value  = cell->value;
    unsigned index;
    void *near = msp_peer_resolve(to, cell->size_bytes, cell->pe, &index);

    if ((near == NULL) && (fetch != NULL) && is_alone) {
        *fetch = msp_atomic_slow(call, context, operation, to, cell->size_bytes, value,
                                 cell->condition, cell->pe);
        return;
    }
    if (near == NULL) {
        cell->value = 0;
        msp_atomic_post_slow(call, context, operation, to, cell->size_bytes, value, cell->condition,
                             cell->pe, fetch);
        return;
    }
    value = msp_atomic_near(operation, near, index, to, cell->size_bytes, value, cell->condition);
    if (fetch != NULL) {
        *fetch = value;
    }
}

/* Start it; one with a reply that is alone ends here. */
static void execute(const struct msp_context *context, shmemx_device_cell_t *cell, char *data,
                    bool is_alone)
{
    uint32_t operation = cell->operation & ~(uint32_t)SHMEMX_DEVICE_REPLIES;
    char *to;

    if (cell->size_bytes <= sizeof cell->value) {
        data = (char *)&cell->value;
    }
    if (cell->where >> 48 == MSP_SEGMENT_CONTROL) {
        execute_word(cell);
        return;
    }
    to = address_of(cell->where);
    if (operation == SHMEMX_DEVICE_PUT) {
        msp_put(call, context, to, data, cell->size_bytes, cell->pe, 0);
    } else if (operation == SHMEMX_DEVICE_GET) {
        msp_get(call, context, data, to, cell->size_bytes, cell->pe,
                is_alone ? 0 : MSP_OP_NONBLOCKING);
    } else if (operation == SHMEMX_DEVICE_NOTIFY) {
        msp_peer_notify((unsigned)msp_job_local_index(cell->pe), to, cell->size_bytes);
    } else if (atomic_of(operation) >= 0) {
        if ((operation == SHMEMX_DEVICE_SIGNAL_SET) || (operation == SHMEMX_DEVICE_SIGNAL_ADD)) {
            msp_fence(context);
        }
        execute_atomic(context, cell, (enum msp_atomic)atomic_of(operation), to, is_alone);
    } else {
        msp_fatal("%s: there is no operation %u", call, operation);
    }
}

/* All that was started is complete. */
static void complete(const struct msp_context *context, struct batch *batch, uint64_t ticket)
{
    unsigned i;

    msp_quiet(context);
    __atomic_store_n(&shmemx_device_progress_of(batch->queue)->ordered, ticket, __ATOMIC_RELEASE);
    __atomic_store_n(&shmemx_device_progress_of(batch->queue)->complete, ticket, __ATOMIC_RELEASE);
    for (i = 0; i < batch->count; i++) {
        shmemx_device_answer(batch->queue, shmemx_device_cell_of(batch->queue, batch->tickets[i]),
                             batch->tickets[i]);
    }
    batch->count = 0;
}

/* One request; its cell is answered, or joins the batch. */
static void serve_cell(const struct msp_context *context, struct batch *batch, uint64_t ticket)
{
    shmemx_device_queue_t *queue = batch->queue;
    shmemx_device_cell_t *cell   = shmemx_device_cell_of(queue, ticket);
    uint64_t next                = ticket + SHMEMX_DEVICE_STEP;
    bool is_alone;

    if (cell->operation == (SHMEMX_DEVICE_FENCE | SHMEMX_DEVICE_REPLIES)) {
        msp_fence(context);
        __atomic_store_n(&shmemx_device_progress_of(queue)->ordered, ticket + SHMEMX_DEVICE_STEP,
                         __ATOMIC_RELEASE);
        shmemx_device_answer(queue, cell, ticket);
        return;
    }
    if (cell->operation == (SHMEMX_DEVICE_QUIET | SHMEMX_DEVICE_REPLIES)) {
        complete(context, batch, ticket + SHMEMX_DEVICE_STEP);
        shmemx_device_answer(queue, cell, ticket);
        return;
    }
    is_alone = (batch->count == 0) &&
               !shmemx_device_is_requested(shmemx_device_cell_of(queue, next), next);
    execute(context, cell, shmemx_device_data_of(queue, ticket), is_alone);
    if (is_alone || ((cell->operation & SHMEMX_DEVICE_REPLIES) == 0)) {
        shmemx_device_answer(queue, cell, ticket);
        return;
    }
    batch->tickets[batch->count++] = ticket;
    if (batch->count == DEFERRED) {
        complete(context, batch, ticket + SHMEMX_DEVICE_STEP);
    }
}

/* All that is there, of one queue; other queues follow after a lap at most. */
static bool serve_queue(struct msp_device *device, uint32_t index)
{
    const struct msp_context *context = msp_context_of(device->context);
    uint64_t ticket                   = device->tickets[index];
    struct batch batch                = {.queue = shmemx_device_queue_at(device->view, index)};
    uint64_t first                    = ticket;
    uint64_t last                     = ticket + shmemx_device_lap(batch.queue);

    while ((ticket < last) &&
           shmemx_device_is_requested(shmemx_device_cell_of(batch.queue, ticket), ticket)) {
        serve_cell(context, &batch, ticket);
        ticket += SHMEMX_DEVICE_STEP;
    }
    if (batch.count > 0) {
        complete(context, &batch, ticket);
    }
    device->tickets[index] = ticket;
    return ticket != first;
}

static bool serve_all(struct msp_device *device)
{
    bool any = false;
    uint32_t i;

    for (i = 0; i < device->view->queue_count; i++) {
        any = serve_queue(device, i) || any;
    }
    return any;
}

/* ---- by one thread at a time ---- */

/* Of queues whose next tickets these are. Another thread may have executed them since. */
static bool has_requests(const struct msp_device *device, const uint64_t *tickets)
{
    bool has = false;
    uint32_t i;

    for (i = 0; i < MSP_DEVICE_QUEUES; i++) {
        has = has || shmemx_device_is_requested(
                         shmemx_device_cell_of(shmemx_device_queue_at(device->view, i), tickets[i]),
                         tickets[i]);
    }
    return has;
}

/* If no other thread does. True: requests came meanwhile, whose threads found this one at work. */
static bool serve_once(struct msp_device *device, bool *any_p)
{
    uint64_t tickets[MSP_DEVICE_QUEUES];
    bool was_for_kernel;

    if (!shmemx_device_begin_service(shmemx_device_state_of(device->view))) {
        return false;
    }
    was_for_kernel = msp_call_is_for_kernel(true);
    *any_p         = serve_all(device);
    (void)msp_call_is_for_kernel(was_for_kernel);
    memcpy(tickets, device->tickets, sizeof tickets);
    shmemx_device_end_service(shmemx_device_state_of(device->view));
    return has_requests(device, tickets);
}

/* A thread that makes requests until this one sets a flag would keep it here: the view's own thread
 * takes over. */
void msp_device_serve(struct msp_device *device)
{
    unsigned rounds = 0;
    bool any;

    while (serve_once(device, &any)) {
        if (++rounds == ROUNDS) {
            shmemx_device_wake_host(&shmemx_device_state_of(device->view)->is_asleep);
            return;
        }
    }
}

static bool serve(struct msp_device *device)
{
    bool any = false;

    return serve_once(device, &any) || any;
}

/* ---- the thread ---- */

/* As threads that wait in the library do: fatal where a peer has failed, which stops kernels. */
static void watch(struct msp_device *device)
{
    int i;

    if (__atomic_exchange_n(&shmemx_device_state_of(device->view)->has_waited, 0,
                            __ATOMIC_RELAXED) == 0) {
        return;
    }
    if (msp_bootstrap_peer_died(msp_host_pids(), msp_job.local_count, &i)) {
        msp_fatal("PE %d (process %d) has died while a kernel of this PE waited",
                  msp_job.local_pes[i], msp_host_pids()[i]);
    }
    if (msp_job.transport != NULL) {
        msp_job.transport->watch();
    }
}

static int64_t now_ms(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return ((int64_t)time.tv_sec * 1000) + (time.tv_nsec / 1000000);
}

/* The word that a sleeper of a PE of this host waits for. */
struct look {
    uint64_t key;
    const void *word; /* in this PE's mapping; NULL: there is no sleeper, or it waits for more than
                         one word */
    uint64_t value;
};

static struct look look_at(int local_index)
{
    struct msp_doorbell *doorbell = &msp_doorbells.by_index[local_index];
    struct look look              = {.key = atomic_load(&doorbell->watch_first)};
    uint64_t size                 = atomic_load(&doorbell->watch_last) - look.key;
    unsigned index;

    if ((atomic_load(&doorbell->memory_sleepers) != 0) && (look.key >> 48 < MSP_SEGMENT_MAX) &&
        ((size == sizeof(uint32_t)) || (size == sizeof(uint64_t)))) {
        look.word =
            msp_peer_resolve(address_of(look.key), size, msp_job.local_pes[local_index], &index);
    }
    if (look.word != NULL) {
        look.value = (size == sizeof(uint64_t))
                         ? __atomic_load_n((const uint64_t *)look.word, __ATOMIC_RELAXED)
                         : __atomic_load_n((const uint32_t *)look.word, __ATOMIC_RELAXED);
    }
    return look;
}

/* A kernel that does not notify has stored to the word since the last look. */
static void notify_sleepers(struct look *looks)
{
    int i;

    for (i = 0; i < msp_job.local_count; i++) {
        struct look now = look_at(i);

        if ((now.word != NULL) && (looks[i].word == now.word) && (looks[i].value != now.value)) {
            msp_doorbell_notify_at(i, address_of(now.key), sizeof(uint32_t));
        }
        looks[i] = now;
    }
}

/* A device reads is_asleep after it has stored a turn, both in one order. */
static void sleep_until_request(struct msp_device *device)
{
    const struct timespec duration = {0, device->is_slow ? SLOW_US * 1000L : WATCH_MS * 1000000L};
    uint32_t *word                 = &shmemx_device_state_of(device->view)->is_asleep;

    __atomic_store_n(word, 1, __ATOMIC_SEQ_CST);
    atomic_thread_fence(memory_order_seq_cst);
    if (!serve(device) && !atomic_load(&device->ends)) {
        syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 1, &duration, NULL, 0);
    }
    __atomic_store_n(word, 0, __ATOMIC_RELAXED);
}

static void *run(void *unused)
{
    struct msp_device *device = msp_device_claim();
    struct look *looks        = calloc((size_t)msp_job.local_count, sizeof *looks);
    int64_t watched_ms        = now_ms();
    unsigned rounds           = 0;
    unsigned idle             = 0;

    (void)unused;
    while (!atomic_load(&device->ends)) {
        idle = serve(device) ? 0 : (idle + 1);
        if (idle > 0) {
            msp_wait_relax();
        }
        if (idle > ((device->view->serve != 0) ? 0 : SPINS)) {
            sleep_until_request(device);
            idle = 0;
            if ((device->copy != NULL) && (looks != NULL)) {
                notify_sleepers(looks);
            }
        }
        if (((idle == 0) || (++rounds % SPINS == 0)) && (now_ms() - watched_ms >= WATCH_MS)) {
            watched_ms = now_ms();
            watch(device);
        }
    }
    while (serve(device)) {
    }
    free(looks);
    return NULL;
}

memspan_status_t msp_device_service_start(struct msp_device *device)
{
    memspan_status_t status;

    if (msp_context_create(msp_team_world()->index, 0, &device->context) != 0) {
        return memspan_error_last()->status;
    }
    device->is_slow = !SHMEMX_DEVICE_HAS_KERNEL || !device->reach.runs_here;
    status          = msp_own_thread_start(&device->thread, run, "requests of kernels");
    if (status != MEMSPAN_OK) {
        msp_context_destroy(device->context);
        return status;
    }
    while (!atomic_load(&device->is_claimed)) {
        sched_yield(); /* the next thread must not claim this one's view */
    }
    return MEMSPAN_OK;
}

void msp_device_service_stop(struct msp_device *device)
{
    atomic_store(&device->ends, true);
    __atomic_store_n(&shmemx_device_state_of(device->view)->is_asleep, 0, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &shmemx_device_state_of(device->view)->is_asleep, FUTEX_WAKE_PRIVATE, 1,
            NULL, NULL, 0);
    pthread_join(device->thread, NULL);
    msp_context_destroy(device->context);
}
