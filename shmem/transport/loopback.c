/* SPDX-License-Identifier: BSD-3-Clause */
/* loopback.c: operations as messages.
 *
 * Each context has a queue: how many of its operations are outstanding, and for each PE how many it
 * has sent and how many of these a fence has put before the next ones. A message carries the
 * latter, and its receiver executes it when it has executed so many. (A count is enough: none
 * behind the fence can be among them.) Quiet waits until nothing is outstanding.
 *
 * SHMEMX_LOOPBACK_LAZY keeps nonblocking operations here until quiet or fence of their context: as
 * late as the standard allows. */

#include "shmem/transport/loopback.h"
#include "shmem/control/memory.h"
#include "shmem/control/wait.h"
#include "shmem/option.h"
#include "shmem/transport/order.h"
#include "shmem/transport/rma.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct queue {
    _Atomic uint64_t outstanding;
    struct msp_loopback_message *held; /* of the lazy mode, last one first */
    struct {
        uint64_t sent;
        uint64_t fenced;
    } peers[]; /* by PE */
};

static struct queue *_Atomic queues[MSP_CONTEXT_MAX] MSP_SPARSE;
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER; /* making, held, peers */
static bool is_lazy;

enum { PIECE_BYTES = 64 << 10 };

/* A message has the key of its segment, as that of a network has: a stale one is found. */
static _Atomic uint64_t own_keys[MSP_SEGMENT_MAX] MSP_SPARSE;
static uint64_t *peer_keys[MSP_SEGMENT_MAX] MSP_SPARSE; /* by PE */
static uint64_t last_key;

struct msp_loopback_message *msp_loopback_message(const struct msp_loopback_header *header,
                                                  size_t payload_bytes)
{
    struct msp_loopback_message *message = malloc(sizeof *message + payload_bytes);

    if (message == NULL) {
        msp_fatal("loopback: no memory for a message of %zu bytes", payload_bytes);
    }
    *message           = (struct msp_loopback_message){.header = *header, .payload = message->data};
    message->header.pe = msp_job.pe;
    message->header.payload_bytes = payload_bytes;
    return message;
}

/* ---- keys ---- */

static memspan_status_t register_segment(unsigned segment, void *key, size_t *key_bytes_p)
{
    uint64_t made = (++last_key << 16) | (uint64_t)(msp_job.pe + 1);

    atomic_store(&own_keys[segment], made);
    memcpy(key, &made, sizeof made);
    *key_bytes_p = sizeof made;
    return MEMSPAN_OK;
}

static memspan_status_t connect_segment(unsigned segment, int pe, const void *key, size_t key_bytes)
{
    if (peer_keys[segment] == NULL) {
        peer_keys[segment] = calloc((size_t)msp_job.pe_count, sizeof *peer_keys[segment]);
    }
    if ((peer_keys[segment] == NULL) || (key_bytes != sizeof(uint64_t))) {
        return memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for the keys of a segment");
    }
    memcpy(&peer_keys[segment][pe], key, key_bytes);
    return MEMSPAN_OK;
}

static void release_segment(unsigned segment)
{
    atomic_store(&own_keys[segment], 0);
    free(peer_keys[segment]);
    peer_keys[segment] = NULL;
}

uint64_t msp_loopback_key(unsigned segment)
{
    return (segment < MSP_SEGMENT_MAX) ? atomic_load(&own_keys[segment]) : 0;
}

static uint64_t key_of(const struct msp_target *target)
{
    const uint64_t *keys = peer_keys[target->segment - msp_segments];

    return (keys != NULL) ? keys[target->pe] : 0;
}

/* ---- queues ---- */

/* A queue outlives its context: the next one of that index goes on counting. */
static memspan_status_t open_queue(unsigned context, long options)
{
    struct queue *queue = atomic_load(&queues[context]);

    (void)options;
    if (queue == NULL) {
        queue = calloc(1, sizeof *queue + ((size_t)msp_job.pe_count * sizeof queue->peers[0]));
        atomic_store_explicit(&queues[context], queue, memory_order_release);
    }
    return (queue != NULL) ? MEMSPAN_OK
                           : memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for a context");
}

static void close_queue(unsigned context)
{
    if (atomic_load(&atomic_load(&queues[context])->outstanding) != 0) {
        msp_fatal("loopback: a context is closed with operations outstanding");
    }
}

static struct queue *queue_of(const struct msp_context *context)
{
    return atomic_load_explicit(&queues[context - msp_contexts], memory_order_acquire);
}

static void send_held(struct queue *queue)
{
    struct msp_loopback_message *message;
    struct msp_loopback_message *next;

    pthread_mutex_lock(&queue_lock);
    message     = queue->held;
    queue->held = NULL;
    pthread_mutex_unlock(&queue_lock);
    for (; message != NULL; message = next) {
        next = message->next;
        msp_loopback_send(message->header.pe, message);
    }
}

static void issue(const struct msp_target *target, struct msp_loopback_message *message,
                  bool is_held)
{
    struct queue *queue = queue_of(target->context);

    atomic_fetch_add(&queue->outstanding, 1);
    pthread_mutex_lock(&queue_lock);
    message->header.before = queue->peers[target->pe].fenced;
    queue->peers[target->pe].sent++;
    if (is_held && is_lazy) {
        message->header.pe = target->pe;
        message->next      = queue->held;
        queue->held        = message;
    }
    pthread_mutex_unlock(&queue_lock);
    if (!is_held || !is_lazy) {
        msp_loopback_send(target->pe, message);
    }
}

void msp_loopback_complete(const struct msp_loopback_message *reply)
{
    struct msp_loopback_record *record = reply->header.record;
    struct queue *queue                = atomic_load(&queues[reply->header.context]);

    if (record != NULL) {
        msp_rma_move(record->call, record->dest, reply->payload, reply->header.payload_bytes);
        if (record->is_allocated) {
            free(record);
        } else {
            atomic_store_explicit(&record->is_done, true, memory_order_release);
        }
    }
    atomic_fetch_sub(&queue->outstanding, 1);
    msp_doorbell_notify(msp_job.local_index);
}

static void order(const struct msp_context *context, bool completes)
{
    struct queue *queue = atomic_load(&queues[context - msp_contexts]);
    int pe;

    if (queue == NULL) {
        return;
    }
    send_held(queue);
    if (completes) {
        MSP_WAIT(atomic_load_explicit(&queue->outstanding, memory_order_acquire) == 0);
        return;
    }
    pthread_mutex_lock(&queue_lock);
    for (pe = 0; pe < msp_job.pe_count; pe++) {
        queue->peers[pe].fenced = queue->peers[pe].sent;
    }
    pthread_mutex_unlock(&queue_lock);
}

/* ---- operations ---- */

static struct msp_loopback_header header_of(const struct msp_target *target,
                                            enum msp_loopback_kind kind)
{
    return (struct msp_loopback_header){.kind         = kind,
                                        .context      = (unsigned)(target->context - msp_contexts),
                                        .segment      = (unsigned)(target->segment - msp_segments),
                                        .offset_bytes = target->offset_bytes,
                                        .key          = key_of(target)};
}

static void send_put(const struct msp_target *target, const struct msp_loopback_header *header,
                     const void *source, size_t size_bytes, bool refers)
{
    bool is_buffer                       = refers && msp_rma_host_touches(source);
    struct msp_loopback_message *message = msp_loopback_message(header, is_buffer ? 0 : size_bytes);

    if (is_buffer) {
        message->payload              = source;
        message->header.payload_bytes = size_bytes;
    } else {
        msp_rma_move(target->call, message->data, source, size_bytes);
    }
    issue(target, message, refers && (header->operation == MSP_ATOMIC_FETCH));
}

static void put(const struct msp_target *target, const void *source, size_t size_bytes,
                unsigned flags)
{
    const struct msp_loopback_header header = header_of(target, MSP_LOOPBACK_PUT);

    send_put(target, &header, source, size_bytes, (flags & MSP_OP_NONBLOCKING) != 0);
}

static void put_signal(const struct msp_target *target, const void *source, size_t size_bytes,
                       const struct msp_target *signal, uint64_t value, bool adds, unsigned flags)
{
    struct msp_loopback_header header = header_of(target, MSP_LOOPBACK_PUT);

    header.signal_segment      = (unsigned)(signal->segment - msp_segments);
    header.signal_offset_bytes = signal->offset_bytes;
    header.signal_key          = key_of(signal);
    header.operation           = adds ? MSP_ATOMIC_ADD : MSP_ATOMIC_SET;
    header.value               = value;
    send_put(target, &header, source, size_bytes, (flags & MSP_OP_NONBLOCKING) != 0);
}

/* Of an operation whose result goes to @p dest: waits for it, or leaves a record behind. */
static void issue_and_fetch(const struct msp_target *target, struct msp_loopback_header *header,
                            void *dest, unsigned flags)
{
    struct msp_loopback_record here = {.call = target->call, .dest = dest};
    bool waits                      = ((flags & MSP_OP_NONBLOCKING) == 0);

    header->record = waits ? &here : malloc(sizeof here);
    if (header->record == NULL) {
        msp_fatal("%s: no memory for an outstanding operation", target->call);
    }
    if (!waits) {
        header->record->call         = target->call;
        header->record->dest         = dest;
        header->record->is_allocated = true;
    }
    issue(target, msp_loopback_message(header, 0), !waits);
    if (waits) {
        MSP_WAIT(atomic_load_explicit(&here.is_done, memory_order_acquire));
    }
}

static void get(const struct msp_target *target, void *dest, size_t size_bytes, unsigned flags)
{
    struct msp_loopback_header header = header_of(target, MSP_LOOPBACK_GET);

    header.size_bytes = size_bytes;
    issue_and_fetch(target, &header, dest, flags);
}

static void atomic(const struct msp_target *target, const struct msp_atomic_request *request,
                   unsigned flags)
{
    struct msp_loopback_header header = header_of(target, MSP_LOOPBACK_ATOMIC);

    header.operation  = request->operation;
    header.word_bytes = request->size_bytes;
    header.value      = request->value;
    header.condition  = request->condition;
    if (request->fetch != NULL) {
        issue_and_fetch(target, &header, request->fetch, flags);
    } else {
        issue(target, msp_loopback_message(&header, 0), false);
    }
}

/* ---- start and end ---- */

static memspan_status_t open_all(struct msp_transport_limits *limits_p, void *address,
                                 size_t *address_bytes_p)
{
    memspan_status_t status = msp_loopback_deliver_open();

    if (status == MEMSPAN_OK) {
        status = open_queue(MSP_CONTEXT_DEFAULT, 0);
    }
    if (status == MEMSPAN_OK) {
        status = open_queue(MSP_CONTEXT_INTERNAL, 0);
    }
    if (status == MEMSPAN_OK) {
        status = msp_loopback_wire_open(address, address_bytes_p);
    }
    if (status != MEMSPAN_OK) {
        msp_loopback_deliver_close();
        return status;
    }
    is_lazy = msp_shmem_option_is_on(MEMSPAN_SHMEM_LOOPBACK_LAZY);
    atomic_store(&msp_order_pending, true);
    *limits_p = (struct msp_transport_limits){.piece_max_bytes = PIECE_BYTES,
                                              .atomic_sizes = sizeof(uint32_t) | sizeof(uint64_t)};
    return MEMSPAN_OK;
}

static void close_all(void)
{
    int i;

    msp_loopback_wire_close();
    msp_loopback_deliver_close();
    for (i = 0; i < MSP_CONTEXT_MAX; i++) {
        free(atomic_exchange(&queues[i], NULL));
    }
    for (i = 0; i < MSP_SEGMENT_MAX; i++) {
        release_segment((unsigned)i);
    }
}

const struct msp_transport msp_transport_loopback = {
    .version      = MSP_TRANSPORT_VERSION,
    .capabilities = MSP_TRANSPORT_HAS_THREAD | MSP_TRANSPORT_NOTIFIES | MSP_TRANSPORT_DEVICE_MEMORY,
    .name         = "loopback",
    .open         = open_all,
    .connect      = msp_loopback_wire_connect,
    .close        = close_all,
    .segment_register = register_segment,
    .segment_connect  = connect_segment,
    .segment_release  = release_segment,
    .context_open     = open_queue,
    .context_close    = close_queue,
    .put              = put,
    .get              = get,
    .put_signal       = put_signal,
    .atomic           = atomic,
    .order            = order,
};
