/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_ENGINE_DECAY_H
#define MEMSPAN_CORE_ENGINE_DECAY_H

/* Unused memory goes back when MEMSPAN_DECAY_MS is over, in every cache: blocks that
 * heaps keep, slabs without objects, free pages of slabs and pools, empty chunks.
 *
 * No thread runs for that. A call that leaves the fast path looks at the clock now and then; one of
 * them finds that half the decay time is over since the last round, and does the round for all
 * threads. Rounds are counted, and cached memory has the number of its round: it goes in the second
 * round after. A process that does not allocate keeps its memory. */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct msp_pool;

/* The number of the last round. */
extern _Atomic uint32_t msp_decay_rounds;

static inline uint32_t msp_decay_round(void)
{
    return atomic_load_explicit(&msp_decay_rounds, memory_order_relaxed);
}

/* Whether memory cached in round @p then is to go back in round @p now. */
static inline bool msp_decay_is_over(uint32_t then, uint32_t now)
{
    return now - then >= 2;
}

/* A round, if one is due. Chunks go back to the drivers of that pool and to the host alone: a
 * driver may wait for its device, and a thread waits for its own requests only. No lock is held,
 * and the caller is in no section. */
void msp_decay_look(const struct msp_pool *pool);

/* The pool is about to take more from its driver. Where it has grown by half since it was looked at
 * last, pages of slabs go back first, at any age: a program that is done with the objects of one
 * size before it makes those of the next never has the pages of all. As look(). */
void msp_decay_press(struct msp_pool *pool);

/* Give back all pages of slabs and of free blocks in pools; returns the bytes. */
size_t msp_decay_purge_all(void);

/* Whether nothing is to be kept at all: MEMSPAN_DECAY_MS=0. */
bool msp_decay_is_at_once(void);

/* A round that another thread was in does not go on in a child. */

#endif /* MEMSPAN_CORE_ENGINE_DECAY_H */
