/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_HOOK_H
#define MEMSPAN_HOOK_H

#include <memspan/allocator.h>

/** @file hook.h
 * Hooks: callbacks of a profiler or tool on allocations and frees. They cost nothing while none are
 * installed.
 *
 * Events are the program's requests: a reallocation that moves is one event, the library's internal
 * steps are none. Memory of other allocators (the OpenMP runtime's, the C library's) has no events.
 *
 * Order: the events of one address come in the order of its life, on any threads: `allocated`
 * before the program has the address, `freeing` before the memory can be allocated again. Events of
 * different addresses, and of several hook tables, have no order.
 *
 * Threads: a hook runs on the thread that makes the call, without a lock of the library; several
 * threads may run it at once. Events that begin after memspan_hooks_add() has returned are
 * reported; concurrent ones may be. A child of fork() keeps the hooks.
 *
 * A hook may call its own code, the C library, and this library's queries and counters. The block
 * hooks (allocated, freeing, reallocated, fallback_used, failed) may also allocate and free through
 * this library, without events. The chunk hooks may not, because a pool is being changed: such a
 * call fails with MEMSPAN_ERR_CONFLICT. A hook must return: no longjmp(), exception or
 * pthread_exit(). The records passed to it end with the call.
 *
 * A double free, or a free of an address that is no block, fails without an event. */

MEMSPAN_BEGIN_DECLS

/** A block, live when it is reported. New members are added at the end. */
typedef struct memspan_hook_block {
    size_t struct_size; /**< bytes that the library fills in */
    void *address;
    size_t size_bytes;             /**< as requested */
    memspan_allocator_h allocator; /**< its allocator; 0 after that was destroyed */
    memspan_space_h space;         /**< of that allocator */
    memspan_kind_t kind;           /**< as given */
    int device;                    /**< its driver's device, or MEMSPAN_HOST */
    int fallback;                  /**< 1: from a fallback of the requested allocator */
} memspan_hook_block_t;

/** A chunk: memory that a pool takes from a driver and divides into blocks. */
typedef struct memspan_hook_chunk {
    size_t struct_size;
    const char *backend; /**< "host", "opencl"; lives as long as the process */
    int device;          /**< MEMSPAN_HOST, or a device number */
    memspan_kind_t kind;
    void *address;
    size_t size_bytes;
    uint64_t held_bytes;  /**< of the pool, with this chunk */
    uint64_t duration_ns; /**< of the driver's allocation; 0 when it is returned */
} memspan_hook_chunk_t;

/** A request that its allocator could not satisfy. */
typedef struct memspan_hook_request {
    size_t struct_size;
    memspan_allocator_h asked;
    memspan_allocator_h given; /**< the fallback that satisfied it; 0: none */
    size_t size_bytes;
    void *address; /**< NULL: none did */
} memspan_hook_request_t;

/** A table of hooks; a NULL hook is not called. Set struct_size, the rest to zero. */
typedef struct memspan_hooks {
    size_t struct_size; /**< in: sizeof(memspan_hooks_t) */
    void *data;         /**< first argument of every hook */
    void (*allocated)(void *data, const memspan_hook_block_t *block);
    /** Before a block is freed: it is still live, and readable where the host reaches it. */
    void (*freeing)(void *data, const memspan_hook_block_t *block);
    /** After a block was resized: in place (equal addresses), or moved, with the contents copied
     * and
     * @p old not yet freed. */
    void (*reallocated)(void *data, const memspan_hook_block_t *old,
                        const memspan_hook_block_t *block);
    void (*chunk_taken)(void *data, const memspan_hook_chunk_t *chunk);
    /** Before a chunk is returned to its driver. */
    void (*chunk_giving_back)(void *data, const memspan_hook_chunk_t *chunk);
    /** A fallback satisfied a request; `allocated` or `reallocated` follows. */
    void (*fallback_used)(void *data, const memspan_hook_request_t *request);
    /** A request failed and the caller gets NULL. */
    void (*failed)(void *data, const memspan_hook_request_t *request);
} memspan_hooks_t;

/** Handle of installed hooks: a number, never dereferenced; a stale one is recognised. */
typedef struct memspan_hooks_name *memspan_hooks_h;

/** Install a copy of @p hooks.
 *
 * Errors: MEMSPAN_ERR_INVALID (NULL, struct_size not set, no hook in the table),
 * MEMSPAN_ERR_UNSUPPORTED (a member that this version lacks is set), MEMSPAN_ERR_LIMIT (16 tables
 * are installed). */
MEMSPAN_API memspan_status_t memspan_hooks_add(const memspan_hooks_t *hooks,
                                               memspan_hooks_h *hooks_p);

/** Remove hooks. On return no thread runs one of them, so `data` may be freed. Called from inside a
 * hook it does not wait for other threads.
 *
 * Errors: MEMSPAN_ERR_NOT_FOUND (no such hooks). */
MEMSPAN_API memspan_status_t memspan_hooks_remove(memspan_hooks_h hooks);

MEMSPAN_END_DECLS
#endif /* MEMSPAN_HOOK_H */
