/* SPDX-License-Identifier: BSD-3-Clause */
/* given_back.c: where chunks were that went back to their drivers, for the messages of a second
 * free. Only the last ones: addresses are used again. One that changes while it is read gives a
 * wrong hint. */

#include "core/base/platform.h"
#include "core/engine/provider.h"

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
