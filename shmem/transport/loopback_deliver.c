/* SPDX-License-Identifier: BSD-3-Clause */
/* loopback_deliver.c: received messages are executed in the order of their due times: at once and
 * in the order of arrival with seed 0, else after a random part of SHMEMX_LOOPBACK_DELAY_US. One
 * that a fence has put behind others is blocked until these are executed. All by the thread. */

#include "shmem/control/memory.h"
#include "shmem/option.h"
#include "shmem/transport/atomic.h"
#include "shmem/transport/loopback.h"
#include "shmem/transport/own.h"
#include "shmem/transport/rma.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SERVICE "an operation of another PE on memory of this one"

/* Of the operations of one PE on one context. */
struct source {
    uint64_t executed;
    struct msp_loopback_message *blocked;
};

static struct source **sources; /* by PE, then by context; NULL: none yet */

/* A heap, the first due at its root. */
static struct msp_loopback_message **waiting;
static size_t waiting_count;
static size_t waiting_max;

static uint64_t arrivals;
static uint64_t random_state; /* 0: in order */
static uint64_t delay_ns;

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return ((uint64_t)now.tv_sec * 1000000000u) + (uint64_t)now.tv_nsec;
}

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

memspan_status_t msp_loopback_deliver_open(void)
{
    uint64_t seed = msp_shmem_option_number(MEMSPAN_SHMEM_LOOPBACK_SEED);

    sources = calloc((size_t)msp_job.pe_count, sizeof *sources);
    if (sources == NULL) {
        return memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for %d PEs", msp_job.pe_count);
    }
    delay_ns     = msp_shmem_option_number(MEMSPAN_SHMEM_LOOPBACK_DELAY_US) * 1000;
    random_state = (seed * UINT64_C(0x9e3779b97f4a7c15)) ^ ((seed == 0) ? 0 : (uint64_t)msp_job.pe);
    arrivals     = 0;
    return MEMSPAN_OK;
}

void msp_loopback_deliver_close(void)
{
    int pe;

    for (pe = 0; (sources != NULL) && (pe < msp_job.pe_count); pe++) {
        free(sources[pe]);
    }
    free(sources);
    free(waiting);
    sources       = NULL;
    waiting       = NULL;
    waiting_count = 0;
    waiting_max   = 0;
}

/* ---- what waits ---- */

static bool is_earlier(const struct msp_loopback_message *a, const struct msp_loopback_message *b)
{
    return (a->due_ns != b->due_ns) ? (a->due_ns < b->due_ns) : (a->arrival < b->arrival);
}

static void push(struct msp_loopback_message *message)
{
    size_t at = waiting_count++;

    if (waiting_count > waiting_max) {
        waiting_max = (waiting_max == 0) ? 64 : 2 * waiting_max;
        waiting     = realloc(waiting, waiting_max * sizeof(*waiting));
        if (waiting == NULL) {
            msp_fatal("loopback: no memory for %zu messages", waiting_max);
        }
    }
    for (; (at > 0) && is_earlier(message, waiting[(at - 1) / 2]); at = (at - 1) / 2) {
        waiting[at] = waiting[(at - 1) / 2];
    }
    waiting[at] = message;
}

static struct msp_loopback_message *pop(void)
{
    struct msp_loopback_message *first = waiting[0];
    struct msp_loopback_message *last  = waiting[--waiting_count];
    size_t at                          = 0;
    size_t child;

    for (; (child = (2 * at) + 1) < waiting_count; at = child) {
        if ((child + 1 < waiting_count) && is_earlier(waiting[child + 1], waiting[child])) {
            child++;
        }
        if (!is_earlier(waiting[child], last)) {
            break;
        }
        waiting[at] = waiting[child];
    }
    waiting[at] = last;
    return first;
}

void msp_loopback_accept(struct msp_loopback_message *message)
{
    message->arrival = arrivals++;
    message->due_ns =
        ((random_state == 0) || (delay_ns == 0)) ? 0 : now_ns() + (next_random() % delay_ns);
    push(message);
}

static struct source *source_of(const struct msp_loopback_header *header)
{
    struct source **row = &sources[header->pe];

    if (*row == NULL) {
        *row = calloc(MSP_CONTEXT_MAX, sizeof **row);
        if (*row == NULL) {
            msp_fatal("loopback: no memory for the contexts of PE %d", header->pe);
        }
    }
    return &(*row)[header->context];
}

/* ---- executing ---- */

static char *own_address(const struct msp_loopback_header *header, unsigned index, uint64_t key,
                         uint64_t offset_bytes, uint64_t size_bytes)
{
    const struct msp_segment *segment = &msp_segments[index];

    msp_own_order();
    if ((key == 0) || (key != msp_loopback_key(index)) || (offset_bytes > segment->size_bytes) ||
        (size_bytes > segment->size_bytes - offset_bytes)) {
        msp_fatal("PE %d operates on memory of this PE that does not exist (any more)", header->pe);
    }
    return segment->base + offset_bytes;
}

static uint64_t apply(const struct msp_loopback_header *header, unsigned segment, uint64_t key,
                      uint64_t offset_bytes, unsigned size_bytes)
{
    void *word   = own_address(header, segment, key, offset_bytes, size_bytes);
    uint64_t old = msp_own_atomic(SERVICE, word,
                                  &(struct msp_atomic_request){.operation  = header->operation,
                                                               .size_bytes = size_bytes,
                                                               .value      = header->value,
                                                               .condition  = header->condition});

    if (header->operation != MSP_ATOMIC_FETCH) {
        msp_own_notify(segment, word, size_bytes);
    }
    return old;
}

static void execute_put(const struct msp_loopback_message *message)
{
    const struct msp_loopback_header *header = &message->header;
    void *own = own_address(header, header->segment, header->key, header->offset_bytes,
                            header->payload_bytes);

    msp_own_put(SERVICE, own, message->payload, header->payload_bytes);
    msp_own_notify(header->segment, own, header->payload_bytes);
    if (header->operation != MSP_ATOMIC_FETCH) {
        (void)apply(header, header->signal_segment, header->signal_key, header->signal_offset_bytes,
                    sizeof(uint64_t));
    }
}

static void execute(struct msp_loopback_message *message)
{
    const struct msp_loopback_header *header = &message->header;
    struct msp_loopback_header answer        = {
               .kind = MSP_LOOPBACK_REPLY, .context = header->context, .record = header->record};
    size_t data_bytes                  = (header->kind == MSP_LOOPBACK_GET) ? header->size_bytes
                                         : (header->record != NULL)         ? header->word_bytes
                                                                            : 0;
    struct msp_loopback_message *reply = msp_loopback_message(&answer, data_bytes);

    if (header->kind == MSP_LOOPBACK_PUT) {
        execute_put(message);
    } else if (header->kind == MSP_LOOPBACK_GET) {
        msp_own_get(SERVICE, reply->data,
                    own_address(header, header->segment, header->key, header->offset_bytes,
                                header->size_bytes),
                    data_bytes);
    } else {
        uint64_t old =
            apply(header, header->segment, header->key, header->offset_bytes, header->word_bytes);

        if (data_bytes != 0) {
            msp_bits_to(reply->data, old, data_bytes);
        }
    }
    msp_loopback_reply(message->connection, reply);
}

/* Those whose turn has come are due at once. */
static void unblock(struct source *source)
{
    struct msp_loopback_message **place = &source->blocked;

    while (*place != NULL) {
        struct msp_loopback_message *message = *place;

        if (message->header.before <= source->executed) {
            *place          = message->next;
            message->due_ns = 0;
            push(message);
        } else {
            place = &message->next;
        }
    }
}

static void deliver(struct msp_loopback_message *message)
{
    struct source *source;

    if (message->header.kind == MSP_LOOPBACK_REPLY) {
        msp_loopback_complete(message);
        free(message);
        return;
    }
    source = source_of(&message->header);
    if (message->header.before > source->executed) {
        message->next   = source->blocked;
        source->blocked = message;
        return;
    }
    execute(message);
    source->executed++;
    free(message);
    unblock(source);
}

int64_t msp_loopback_deliver(void)
{
    while (waiting_count > 0) {
        uint64_t due = waiting[0]->due_ns;
        uint64_t now = (due == 0) ? 0 : now_ns();

        if (due > now) {
            return (int64_t)(due - now);
        }
        deliver(pop());
    }
    return -1;
}
