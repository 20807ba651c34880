/* SPDX-License-Identifier: BSD-3-Clause */
/* given_back.c: chunks that go back to their drivers later, and where those were that have gone.
 *
 * A driver waits for all work of a device before it takes memory back: for the queue that is held
 * by a function, too. So in a function nothing goes back. */

#include "core/base/platform.h"
#include "core/engine/provider.h"

bool (*_Atomic msp_chunk_in_function)(void);
static _Atomic(struct msp_chunk *) put_off; /* by next_unused */

static bool is_in_function(void)
{
    bool (*function)(void) = atomic_load(&msp_chunk_in_function);

    return (function != NULL) && function();
}

bool msp_chunk_put_off(struct msp_chunk *chunk)
{
    bool waits = (chunk->provider->spec.device->table->queue_hold != NULL) ||
                 (chunk->import_cookies != NULL);

    if (!waits || !is_in_function()) {
        return false;
    }
    chunk->next_unused = atomic_load(&put_off);
    while (!atomic_compare_exchange_weak(&put_off, &chunk->next_unused, chunk)) {
    }
    return true;
}

void msp_chunk_give_put_off(void)
{
    struct msp_chunk *chunk;

    if ((atomic_load_explicit(&put_off, memory_order_relaxed) == NULL) || is_in_function()) {
        return;
    }
    chunk = atomic_exchange(&put_off, NULL);
    while (chunk != NULL) {
        struct msp_chunk *next = chunk->next_unused;

        (void)msp_chunk_release(chunk); /* a failure is logged there */
        chunk = next;
    }
}

/* For the messages of a second free. Only the last ones: addresses are used again. One that changes
 * while it is read gives a wrong hint. */
enum { GIVEN_BACK_MAX = 256 };
static struct {
    _Atomic uintptr_t address;
    atomic_size_t size_bytes;
} given_back[GIVEN_BACK_MAX] MSP_SPARSE;
static atomic_uint given_back_count;

void msp_chunk_note_gone(const struct msp_chunk *chunk)
{
    unsigned i = atomic_fetch_add_explicit(&given_back_count, 1, memory_order_relaxed);

    i %= GIVEN_BACK_MAX;
    atomic_store_explicit(&given_back[i].address, (uintptr_t)chunk->address, memory_order_relaxed);
    atomic_store_explicit(&given_back[i].size_bytes, chunk->size_bytes, memory_order_relaxed);
}

bool msp_chunk_was_here(const void *address)
{
    unsigned i = 0;

    while (
        (i < GIVEN_BACK_MAX) &&
        ((uintptr_t)address - atomic_load_explicit(&given_back[i].address, memory_order_relaxed) >=
         atomic_load_explicit(&given_back[i].size_bytes, memory_order_relaxed))) {
        i++;
    }
    return i < GIVEN_BACK_MAX;
}
