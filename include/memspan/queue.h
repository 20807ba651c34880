/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_QUEUE_H
#define MEMSPAN_QUEUE_H

#include <memspan/allocator.h>
#include <memspan/transfer.h>

/** @file queue.h
 * Queues: work of a device in order (a CUDA or HIP stream, an OpenCL command queue), and memory
 * that is allocated and freed in that order.
 *
 * Work on one queue runs in order; work on two queues runs in any order, unless one waits for the
 * other. memspan_alloc_on() gives memory to the work that follows on its queue, memspan_free_on()
 * takes it back from the work that precedes. So a block that was freed on a queue serves the next
 * request of that queue at once, without a driver call, also while the device still uses it. For
 * another queue the library orders the two: by its knowledge of complete work, or by an event for
 * which that queue waits. The host waits for neither.
 *
 * The memory is that of any allocator: device, managed, pinned or ordinary host memory, from the
 * library's pools, never from the driver's stream-ordered pools.
 *
 * A handle is a number, never dereferenced; a stale one is recognised. Queues of one device may use
 * each other's blocks; so may queues of several devices that share an allocator.
 *
 * Threads: every call may run on any thread. Calls on one queue take effect in the order in which
 * they are made; the program orders those of several threads. No call may be made from a signal
 * handler, or on a queue whose work is being captured into a graph: the driver's error is returned.
 */

MEMSPAN_BEGIN_DECLS

typedef struct memspan_queue_name *memspan_queue_h;

#define MEMSPAN_QUEUE_NULL MEMSPAN_CONSTANT(memspan_queue_h, 0)

/** What a queue is in its driver. */
typedef enum memspan_queue_type {
    MEMSPAN_QUEUE_OWN = 0, /**< made by the library; native: NULL */
    MEMSPAN_QUEUE_CUDA,    /**< cudaStream_t or CUstream; NULL: the legacy default stream */
    MEMSPAN_QUEUE_HIP,     /**< hipStream_t; NULL: the default stream */
    MEMSPAN_QUEUE_OPENCL,  /**< cl_command_queue, in order */
    /** ze_command_list_handle_t, immediate: of zeCommandListCreateImmediate(). What other lists
     * hold runs when they are executed, and a ze_command_queue_handle_t takes no commands. */
    MEMSPAN_QUEUE_LEVEL_ZERO
} memspan_queue_type_t;

enum memspan_queue_flag {
    /** The program ends its native queue only after memspan_queue_close(). Without this flag a free
     * records an event at once, because the native queue may be gone by the next call. Of no effect
     * with MEMSPAN_QUEUE_LEVEL_ZERO: only calls that name such a queue may use its list, which is
     * the program's thread's. */
    MEMSPAN_QUEUE_LASTING = 1u << 0
};

/** Open a queue of @p device: a new one, or @p native, which stays the program's. A native queue of
 * an OpenMP interop object is of its foreign runtime's type. A device without queues, the host
 * among them, does its work in the call.
 *
 * @param flags enum memspan_queue_flag; of native queues
 *
 * Errors: MEMSPAN_ERR_NOT_FOUND (no such device), MEMSPAN_ERR_INVALID (queue_p NULL, an unknown
 * type or flag, a native queue that the driver refuses), MEMSPAN_ERR_UNSUPPORTED (the driver of the
 * device has other queues: the message names them), MEMSPAN_ERR_LIMIT (1,023 queues are open),
 * MEMSPAN_ERR_NO_MEMORY, MEMSPAN_ERR_DRIVER, MEMSPAN_ERR_FORKED. */
MEMSPAN_API memspan_status_t memspan_queue_open(int device, memspan_queue_type_t type, void *native,
                                                unsigned flags, memspan_queue_h *queue_p);

/** The queue of @p native with these flags: opened by the first call, found without a lock by later
 * ones, and open until memspan_queue_close(). A native queue at the address of one that has ended
 * gets the same queue: the program waits for the work of a native queue before it ends it, or
 * closes its queue first.
 *
 * Errors: those of memspan_queue_open(); MEMSPAN_ERR_INVALID: also MEMSPAN_QUEUE_OWN. */
MEMSPAN_API memspan_status_t memspan_queue_get(int device, memspan_queue_type_t type, void *native,
                                               unsigned flags, memspan_queue_h *queue_p);

/** Wait for the work of a queue, and close it. The memory that was freed on it goes back to its
 * pools. MEMSPAN_QUEUE_NULL: no effect. Calls of other threads on the queue are served first, or
 * find no such queue. Errors: MEMSPAN_ERR_NOT_FOUND (no such queue), MEMSPAN_ERR_CONFLICT (in a
 * function of this queue, for whose end it waits), MEMSPAN_ERR_DRIVER (the queue is closed
 * nevertheless). */
MEMSPAN_API memspan_status_t memspan_queue_close(memspan_queue_h queue);

/** Wait on the host until the work of @p queue is complete. Errors: MEMSPAN_ERR_NOT_FOUND,
 * MEMSPAN_ERR_CONFLICT (in a function of this queue), MEMSPAN_ERR_DRIVER, MEMSPAN_ERR_FORKED. */
MEMSPAN_API memspan_status_t memspan_queue_synchronize(memspan_queue_h queue);

/** Later work of @p queue starts after the work that is on @p other now. The host waits only
 * between two drivers, or where a driver has no events: see waited_ns. Errors:
 * MEMSPAN_ERR_NOT_FOUND, MEMSPAN_ERR_CONFLICT (the host would wait, in a function of @p other),
 * MEMSPAN_ERR_DRIVER, MEMSPAN_ERR_FORKED. */
MEMSPAN_API memspan_status_t memspan_queue_wait(memspan_queue_h queue, memspan_queue_h other);

/** Allocate for the work that follows on @p queue. The host, or another queue, may use the memory
 * only after it has waited for @p queue: what was freed there may be in use until then. Blocks are
 * aligned to at least max(256, the alignment trait). Size 0: NULL.
 *
 * NULL on failure, after the fallback trait was followed; errors are those of memspan_alloc() and
 * MEMSPAN_ERR_NOT_FOUND (no such queue). Before a request fails for lack of memory, memory that was
 * freed on any queue goes back to its pools, and the host waits for the work that uses it, but not
 * in a function of memspan_call_on(), which that work may wait for. */
MEMSPAN_API void *memspan_alloc_on(memspan_allocator_h allocator, size_t size_bytes,
                                   memspan_queue_h queue);

/** Free a block, of memspan_alloc_on() or any other allocation, after the work that is on @p queue
 * now. The queue serves its next requests from it; memspan_trim() returns such memory once the work
 * is complete. Objects of up to 8 KiB of memspan_alloc(), and all memory while MEMSPAN_DEBUG=guard
 * or the driver checks accesses, are freed when the queue's work is complete: this call waits.
 * memspan_free() of any block is allowed too: the program has waited then. NULL: no effect. Errors:
 * MEMSPAN_ERR_NOT_FOUND (no such queue; not the start of a live block), MEMSPAN_ERR_DRIVER. */
MEMSPAN_API memspan_status_t memspan_free_on(void *pointer, memspan_queue_h queue);

/** The work on @p queue uses the block at @p pointer, too: memspan_free_on() of it on another queue
 * takes effect after the work that is on @p queue at that time, by an event. On a native queue
 * without MEMSPAN_QUEUE_LASTING the event is recorded now: the call follows the last use. Errors:
 * MEMSPAN_ERR_NOT_FOUND (no such queue; not the start of a live block), MEMSPAN_ERR_NO_MEMORY. */
MEMSPAN_API memspan_status_t memspan_used_on(void *pointer, memspan_queue_h queue);

/** Attach a block of managed memory to @p queue: from now on its work alone uses the block, so that
 * the host may use it after memspan_queue_synchronize() while other queues work; without this it
 * waits for all of them where the device has no concurrent access (cudaStreamAttachMemAsync() to
 * one stream). Takes effect after the queue's earlier work. MEMSPAN_QUEUE_NULL: detach the block;
 * the program has waited for the work of its queue. Closing that queue, freeing the block and
 * memspan_realloc() detach it, too.
 *
 * Drivers attach an allocation of theirs as a whole: a smaller block, which shares one, is refused,
 * and the hint has the size from which a block is one by itself.
 *
 * Errors: MEMSPAN_ERR_NOT_FOUND (no such queue; not the start of a live block),
 * MEMSPAN_ERR_UNSUPPORTED (not managed memory; a block that shares an allocation; a backend that
 * attaches nothing, which are all but CUDA, HIP and the emulated devices), MEMSPAN_ERR_INVALID (a
 * queue of another backend), MEMSPAN_ERR_NO_MEMORY, MEMSPAN_ERR_DRIVER (also a default stream). An
 * emulated device stops a program whose work or host uses the block otherwise. */
MEMSPAN_API memspan_status_t memspan_queue_attach(void *pointer, memspan_queue_h queue);

/** memspan_copy(), memspan_fill(), memspan_prefetch() and memspan_kernel_launch() on a queue: after
 * its earlier work; the call may return before the work is complete. Memory that the driver of the
 * queue does not serve (another driver's) is copied and filled by the host, which waits for the
 * queue first. Errors: as without a queue, MEMSPAN_ERR_NOT_FOUND (no such queue), and
 * MEMSPAN_ERR_CONFLICT (the host would wait, in a function of this queue). */
MEMSPAN_API memspan_status_t memspan_copy_on(memspan_queue_h queue, void *to, const void *from,
                                             size_t size_bytes);
MEMSPAN_API memspan_status_t memspan_fill_on(memspan_queue_h queue, void *to, unsigned char byte,
                                             size_t size_bytes);
MEMSPAN_API memspan_status_t memspan_prefetch_on(memspan_queue_h queue, const void *pointer,
                                                 size_t size_bytes, int device);
MEMSPAN_API memspan_status_t memspan_kernel_launch_on(memspan_queue_h queue,
                                                      const memspan_kernel_call_t *call);

/** A function of the program. In it, no queue that has functions to call may be waited for; calls
 * that would close its own queue, or wait for it, fail with MEMSPAN_ERR_CONFLICT where that queue
 * waits for the function. Where the function runs in the call nothing waits for it: they succeed.
 * Memory that it frees goes back to a driver after the function. An exception that leaves it passes
 * through the call where the function runs in it, and ends the process where it runs on the
 * library's thread. */
typedef void (*memspan_call_t)(void *argument);

/** Call @p function on a thread of the library, after the work that is on @p queue now; later work
 * of @p queue starts after its return. So the function may block, use the library and the driver,
 * and access what the device has written. Calls of one queue run one after the other, those of
 * several queues at the same time. Where the driver cannot hold a queue, the function runs in this
 * call, after the host has waited for @p queue (called_after_wait). Errors: MEMSPAN_ERR_NOT_FOUND
 * (no such queue), MEMSPAN_ERR_INVALID (function NULL), MEMSPAN_ERR_LIMIT (no thread),
 * MEMSPAN_ERR_NO_MEMORY, MEMSPAN_ERR_DRIVER; the function is not called then. */
MEMSPAN_API memspan_status_t memspan_call_on(memspan_queue_h queue, memspan_call_t function,
                                             void *argument);

/** A queue and its counters. Set struct_size first. New members are added at the end. */
typedef struct memspan_queue_info {
    size_t struct_size; /**< in: sizeof(memspan_queue_info_t) */
    int device;
    memspan_queue_type_t type;
    int has_events;              /**< 1: orders other queues without the host */
    uint64_t kept_bytes;         /**< freed on it, for its next requests */
    uint64_t allocated_count;    /**< requests served, of these: */
    uint64_t reused_in_order;    /**< from memory freed on this queue */
    uint64_t reused_after_event; /**< from another queue's memory whose work was known to precede */
    uint64_t reused_after_wait;  /**< from another queue's memory, for which this one waits */
    uint64_t freed_count;
    uint64_t freed_after_wait;  /**< of these, those for which the host waited */
    uint64_t waited_ns;         /**< by the host, in all calls on this queue but synchronize */
    uint64_t called_count;      /**< functions of memspan_call_on() */
    uint64_t called_after_wait; /**< of these, those for which the host waited */
} memspan_queue_info_t;

/** Describe a queue. Errors: MEMSPAN_ERR_NOT_FOUND (no such queue), MEMSPAN_ERR_INVALID (info_p
 * NULL, struct_size not set). */
MEMSPAN_API memspan_status_t memspan_queue_describe(memspan_queue_h queue,
                                                    memspan_queue_info_t *info_p);

MEMSPAN_END_DECLS
#endif /* MEMSPAN_QUEUE_H */
