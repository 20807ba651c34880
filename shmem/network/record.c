/* SPDX-License-Identifier: BSD-3-Clause */
/* record.c: records in chunks that stay where they are; the unused are a list without a lock. */

#include "shmem/network/record.h"
#include "core/base/platform.h"
#include "shmem/error.h"
#include <pthread.h>
#include <stdlib.h>

enum {
    CHUNK  = 64, /* records made at a time */
    CHUNKS = (1 << MSP_NETWORK_RECORD_BITS) / CHUNK,
};

static struct msp_network_record *_Atomic chunks[CHUNKS] MSP_SPARSE;
static pthread_mutex_t grow_lock = PTHREAD_MUTEX_INITIALIZER; /* guards chunk_count */
static uint32_t chunk_count;
/* The first one's index + 1, and above it a count of changes: a record that was taken and given
 * back meanwhile differs from one that stayed. */
static _Atomic uint64_t unused;

/* NULL: none has been made. */
static struct msp_network_record *chunk_of(uint32_t index)
{
    return atomic_load_explicit(&chunks[index / CHUNK], memory_order_acquire);
}

static uint64_t head_of(uint64_t before, uint32_t first)
{
    return (((before >> 32) + 1) << 32) | first;
}

static void push(struct msp_network_record *record)
{
    uint64_t head = atomic_load_explicit(&unused, memory_order_relaxed);

    do {
        atomic_store_explicit(&record->next, (uint32_t)head, memory_order_relaxed);
    } while (!atomic_compare_exchange_weak_explicit(&unused, &head,
                                                    head_of(head, record->index + 1),
                                                    memory_order_release, memory_order_relaxed));
}

/* NULL: there is none. */
static struct msp_network_record *pop(void)
{
    uint64_t head = atomic_load_explicit(&unused, memory_order_acquire);
    struct msp_network_record *record;

    do {
        if ((uint32_t)head == 0) {
            return NULL;
        }
        record = chunk_of((uint32_t)head - 1) + (((uint32_t)head - 1) % CHUNK);
    } while (!atomic_compare_exchange_weak_explicit(
        &unused, &head, head_of(head, atomic_load_explicit(&record->next, memory_order_relaxed)),
        memory_order_acquire, memory_order_acquire));
    return record;
}

static void grow(const char *call)
{
    struct msp_network_record *chunk;
    uint32_t i;

    pthread_mutex_lock(&grow_lock);
    chunk = (chunk_count < CHUNKS) ? calloc(CHUNK, sizeof *chunk) : NULL;
    if (chunk == NULL) {
        msp_fatal("%s: no memory for an outstanding operation", call);
    }
    for (i = 0; i < CHUNK; i++) {
        chunk[i].index = (chunk_count * CHUNK) + i;
        atomic_init(&chunk[i].generation, 1);
    }
    atomic_store_explicit(&chunks[chunk_count++], chunk, memory_order_release);
    for (i = CHUNK; i > 0; i--) {
        push(&chunk[i - 1]);
    }
    pthread_mutex_unlock(&grow_lock);
}

struct msp_network_record *msp_network_record_take(const char *call, int pe, void *dest,
                                                   uint64_t size_bytes)
{
    struct msp_network_record *record;

    while ((record = pop()) == NULL) {
        grow(call);
    }
    record->dest         = dest;
    record->size_bytes   = size_bytes;
    record->block_bytes  = 0;
    record->stride_bytes = 0;
    record->pe           = pe;
    record->is_unwaited  = false;
    record->outstanding  = NULL;
    return record;
}

void msp_network_record_give(struct msp_network_record *record)
{
    uint32_t next = atomic_load_explicit(&record->generation, memory_order_relaxed) + 1;

    atomic_store_explicit(&record->generation, (next < MSP_NETWORK_GENERATIONS) ? next : 1,
                          memory_order_relaxed);
    push(record);
}

uint32_t msp_network_record_ask(struct msp_network_record *record)
{
    atomic_fetch_add_explicit(&record->left, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&record->due, 1, memory_order_release);
    return (atomic_load_explicit(&record->generation, memory_order_relaxed)
            << MSP_NETWORK_RECORD_BITS) |
           record->index;
}

/* Data that is scattered comes in whole blocks. */
static bool fits(const struct msp_network_record *record, uint64_t at, uint64_t data_bytes)
{
    const uint64_t block_bytes = (uint64_t)record->block_bytes;

    return (at <= record->size_bytes) && (data_bytes <= record->size_bytes - at) &&
           ((data_bytes != 0) || (record->size_bytes == 0)) &&
           ((block_bytes == 0) || ((at % block_bytes == 0) && (data_bytes % block_bytes == 0)));
}

struct msp_network_record *msp_network_record_find(uint32_t number, int pe, uint64_t at,
                                                   uint64_t data_bytes)
{
    const uint32_t index              = number & ((1u << MSP_NETWORK_RECORD_BITS) - 1);
    struct msp_network_record *chunk  = chunk_of(index);
    struct msp_network_record *record = (chunk != NULL) ? &chunk[index % CHUNK] : NULL;

    if ((record == NULL) || (atomic_load_explicit(&record->due, memory_order_acquire) == 0) ||
        (atomic_load_explicit(&record->generation, memory_order_relaxed) !=
         number >> MSP_NETWORK_RECORD_BITS) ||
        (record->pe != pe) || !fits(record, at, data_bytes)) {
        return NULL;
    }
    atomic_fetch_sub_explicit(&record->due, 1, memory_order_relaxed);
    return record;
}

void msp_network_record_close(void)
{
    while (chunk_count > 0) {
        free(atomic_exchange(&chunks[--chunk_count], NULL));
    }
    atomic_store(&unused, 0);
}
