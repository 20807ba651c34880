/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_HOOK_H
#define MEMSPAN_HOOK_H

#include <memspan/allocator.h>

/** @file hook.h
 * Hooks: functions of a profiler or a tool that are told what is allocated and freed.
 *
 * While no hooks are installed, nothing is paid for them.
 *
 * What is reported is what the program asks for: a moved reallocation is one event, the library's
 * own steps on the way are none. Memory of other allocators (the OpenMP runtime's own, the C
 * library's) is not reported.
 *
 * Order: the events of one address come in the order of its life, in whatever threads they happen:
 * `allocated` before the program has the address, `freeing` before the memory can be given to
 * anybody else. Between addresses, and between several tables of hooks, there is no order.
 *
 * Threads: a hook runs on the thread that makes the call, with no lock of the library held, and
 * several threads run it at once. Events that begin after memspan_hooks_add() has returned are
 * reported, those under way may be. A child of fork() keeps the hooks.
 *
 * What a hook may do: call its own code and the C library, and the queries and counters of this
 * library. The block hooks (allocated, freeing, reallocated, fallback_used, failed) may also
 * allocate and free through this library, which is not reported to any hook. The chunk hooks may
 * not, since a pool is in the middle of something: such a call is refused with
 * MEMSPAN_ERR_CONFLICT. A hook returns: no longjmp(), exception or pthread_exit() leaves it. The
 * records it is given end with the call.
 *
 * A double free, or a free of what is no block, is refused without an event. */

MEMSPAN_BEGIN_DECLS

/** A block, live when it is reported. New members are added at the end. */
typedef struct memspan_hook_block {
    size_t struct_size; /**< bytes that the library fills in */
    void *address;
    size_t size_bytes;             /**< that were asked for */
    memspan_allocator_h allocator; /**< whose it is; 0 when that has been destroyed */
    memspan_space_h space;         /**< of that allocator */
    memspan_kind_t kind;           /**< what was given */
    int device;                    /**< whose driver it comes from, or MEMSPAN_HOST */
    int fallback;                  /**< 1: came from a fallback of the allocator that was asked */
} memspan_hook_block_t;

/** A piece of memory that a pool takes from a driver and divides, or a very large block. */
typedef struct memspan_hook_chunk {
    size_t struct_size;
    const char *backend; /**< "host", "opencl"; lives as long as the process */
    int device;          /**< MEMSPAN_HOST, or a device number */
    memspan_kind_t kind;
    void *address;
    size_t size_bytes;
    uint64_t held_bytes;  /**< that the pool holds with this chunk */
    uint64_t duration_ns; /**< what taking it took; 0 when it is given back */
} memspan_hook_chunk_t;

/** A request that the allocator it was made to could not meet. */
typedef struct memspan_hook_request {
    size_t struct_size;
    memspan_allocator_h asked;
    memspan_allocator_h given; /**< the fallback that met it; 0: nobody did */
    size_t size_bytes;
    void *address; /**< NULL: nobody did */
} memspan_hook_request_t;

/** A table of hooks; those that are NULL are not called. Set struct_size, the rest to zero. */
typedef struct memspan_hooks {
    size_t struct_size; /**< in: sizeof(memspan_hooks_t) */
    void *data;         /**< first argument of every hook */
    void (*allocated)(void *data, const memspan_hook_block_t *block);
    /** Before a block is freed: it is still there, and may be read where the host may. */
    void (*freeing)(void *data, const memspan_hook_block_t *block);
    /** After a block was given another size: in place (both addresses are the same), or, moved,
     * after the contents were copied and before @p old is freed. */
    void (*reallocated)(void *data, const memspan_hook_block_t *old,
                        const memspan_hook_block_t *block);
    void (*chunk_taken)(void *data, const memspan_hook_chunk_t *chunk);
    /** Before a chunk is given back to its driver. */
    void (*chunk_giving_back)(void *data, const memspan_hook_chunk_t *chunk);
    /** A request was met by a fallback; `allocated` or `reallocated` comes as well, after. */
    void (*fallback_used)(void *data, const memspan_hook_request_t *request);
    /** A request was met by nobody and the caller gets NULL. */
    void (*failed)(void *data, const memspan_hook_request_t *request);
} memspan_hooks_t;

/** Names installed hooks. A name, not an address; a stale one is recognised. */
typedef struct memspan_hooks_name *memspan_hooks_h;

/** Install a copy of @p hooks.
 *
 * Errors: MEMSPAN_ERR_INVALID (NULL, struct_size not set, no hook in the table),
 * MEMSPAN_ERR_UNSUPPORTED (a member that this version does not know is set), MEMSPAN_ERR_LIMIT (16
 * tables are installed already). */
MEMSPAN_API memspan_status_t memspan_hooks_add(const memspan_hooks_t *hooks,
                                               memspan_hooks_h *hooks_p);

/** Take hooks away. When it returns no thread runs one of them or will, so that `data` may be
 * freed. Called from inside a hook it does not wait for other threads.
 *
 * Errors: MEMSPAN_ERR_NOT_FOUND (@p hooks names none that are installed). */
MEMSPAN_API memspan_status_t memspan_hooks_remove(memspan_hooks_h hooks);

MEMSPAN_END_DECLS
#endif /* MEMSPAN_HOOK_H */
