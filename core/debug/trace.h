/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_DEBUG_TRACE_H
#define MEMSPAN_CORE_DEBUG_TRACE_H

/* The allocation trace (MEMSPAN_TRACE): events as Chrome's trace format has them. */

#include "core/engine/store.h"

struct msp_allocator;

/* Begin, if the environment requests it: sets MSP_WATCH_TRACE. */
void msp_trace_start(void);

void msp_trace_allocated(const struct msp_block_view *block);
void msp_trace_freeing(const struct msp_block_view *block);
void msp_trace_reallocated(const struct msp_block_view *old, const struct msp_block_view *block);

/* A request satisfied by a fallback (@p given), or refused (NULL). */
void msp_trace_request(const struct msp_allocator *asked, const struct msp_allocator *given,
                       size_t size_bytes, const void *address);

void msp_trace_chunk_taken(const struct msp_chunk *chunk, uint64_t duration_ns);
void msp_trace_chunk_giving_back(const struct msp_chunk *chunk);

/* Write the buffered events. */
void msp_trace_flush(void);

#endif /* MEMSPAN_CORE_DEBUG_TRACE_H */
