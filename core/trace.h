/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_TRACE_H
#define MEMSPAN_CORE_TRACE_H

/* The allocation trace (MEMSPAN_TRACE): events as Chrome's trace format has them. */

#include "core/store.h"

struct memspan_allocator;

/* Begin, if the environment asks for it: sets MEMSPAN_WATCH_TRACE. */
void memspan_trace_start(void);

void memspan_trace_allocated(const struct memspan_block_view *block);
void memspan_trace_freeing(const struct memspan_block_view *block);
void memspan_trace_reallocated(const struct memspan_block_view *old,
                               const struct memspan_block_view *block);

/* A request met by a fallback (@p given), or by nobody (NULL). */
void memspan_trace_request(const struct memspan_allocator *asked,
                           const struct memspan_allocator *given, size_t size_bytes,
                           const void *address);

void memspan_trace_chunk_taken(const struct memspan_chunk *chunk, uint64_t duration_ns);
void memspan_trace_chunk_giving_back(const struct memspan_chunk *chunk);

/* Write what is buffered. */
void memspan_trace_flush(void);

void memspan_trace_before_fork(void);
void memspan_trace_after_fork_parent(void);
void memspan_trace_after_fork_child(void);

#endif /* MEMSPAN_CORE_TRACE_H */
