/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_DEBUG_WATCHER_H
#define MEMSPAN_CORE_DEBUG_WATCHER_H

/* Those that watch allocations: a program's hooks, and the trace. */

#include "core/engine/allocator_record.h"
#include "core/engine/store.h"
#include <memspan/hook.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- labels ---- */

/* The names of allocators and providers in statistics and traces. Both return the buffer. */

enum { MSP_LABEL_BYTES = 96 };

/* "omp_default_mem_alloc", or "allocator:INDEX.GENERATION". */
const char *msp_allocator_label(const struct msp_allocator *allocator,
                                char buffer[MSP_LABEL_BYTES]);

/* "provider:NUMBER", in the order in which they were made. */
const char *msp_provider_label(const struct msp_provider *provider, char buffer[MSP_LABEL_BYTES]);

/* ---- statistics ---- */

/* Prints a line for each queue; false: it cannot write. The owner of queues sets it. */
typedef bool msp_stats_queues_fn(int fd);
extern _Atomic(msp_stats_queues_fn *) msp_stats_queues;

/* ---- hooks ---- */

/* The tables of hooks that are installed (include/memspan/hook.h), and calling them. */

/* The hooks of a table; memspan_hooks_t has their arguments. */
enum msp_hook {
    MSP_HOOK_ALLOCATED,
    MSP_HOOK_FREEING,
    MSP_HOOK_REALLOCATED,
    MSP_HOOK_CHUNK_TAKEN,
    MSP_HOOK_CHUNK_GIVING_BACK,
    MSP_HOOK_FALLBACK_USED,
    MSP_HOOK_FAILED,
};

/* Call that hook of every table with the records it takes (@p second: the new block of a
 * reallocation, else NULL). Nothing when the calling thread is inside a hook. No lock is held. */
void msp_hook_call(enum msp_hook hook, const void *first, const void *second);

/* True when the calling thread is inside a chunk hook. */
bool msp_hook_in_chunk_hook(void);

/* ---- the trace ---- */

/* The allocation trace (MEMSPAN_TRACE): events as Chrome's trace format has them. */

struct msp_allocator;

/* Begin, if the environment requests it: sets MSP_WATCH_TRACE. */
void msp_trace_start(void);

void msp_trace_allocated(const struct msp_block_view *block);
void msp_trace_freeing(const struct msp_block_view *block);
void msp_trace_reallocated(const struct msp_block_view *old, const struct msp_block_view *block);

/* A request satisfied by a fallback (@p given), or refused (NULL). */
void msp_trace_request(const struct msp_allocator *asked, const struct msp_allocator *given,
                       size_t size_bytes, const void *address);

/* Pages of a block went from one tier to another (MEMSPAN_PLACEMENT=auto): what they were used a
 * second, each byte, and the seconds a second that it saves. */
void msp_trace_placement(const void *address, size_t size_bytes, const char *from, const char *to,
                         double uses, double saves);

void msp_trace_chunk_taken(const struct msp_chunk *chunk, uint64_t duration_ns);
void msp_trace_chunk_giving_back(const struct msp_chunk *chunk);

/* A call on a queue, in a row of the queue. */
struct msp_queue_event {
    const char *name; /* of the call */
    const void *address;
    size_t size_bytes;
    uint64_t started_ns;
    int device;
    uint32_t queue; /* index and generation: a row for each life */
    uint32_t generation;
    uint32_t other; /* the queue that it waits for; 0: none */
    uint32_t other_generation;
};
void msp_trace_queue(const struct msp_queue_event *event);

/* Write the buffered events. */
void msp_trace_flush(void);

/* ---- the trace's file ---- */

/* The file of a trace: a JSON document that is whole after every write, so that a process that dies
 * leaves all writes so far. No locking here; the trace does. */

enum msp_trace_file_result {
    MSP_TRACE_FILE_OK,
    MSP_TRACE_FILE_FULL,   /* the limit is reached */
    MSP_TRACE_FILE_FAILED, /* a write failed; msp_trace_file_problem() has the reason */
};

/* Create the file that @p pattern names: %p is the process, %% a percent sign. @p child: of a fork,
 * so that the name must not be the parent's. limit_bytes 0: none. False: why is the problem. */
bool msp_trace_file_open(const char *pattern, bool child, uint64_t limit_bytes);

bool msp_trace_file_is_open(void);

/* Why the last open or write failed: "NAME: reason". */
const char *msp_trace_file_problem(void);
/* Which limit the file has, with its bytes. */
const char *msp_trace_file_limit(void);

/* Append one event's text, without comma. Written when enough has come together. */
enum msp_trace_file_result msp_trace_file_append(const char *text, size_t length, uint64_t now_ns);

enum msp_trace_file_result msp_trace_file_flush(void);

/* Write the rest and close. */
void msp_trace_file_close(void);

/* In a forked child: the file and the buffered events are the parent's. */
void msp_trace_file_forget(void);

#endif /* MEMSPAN_CORE_DEBUG_WATCHER_H */
