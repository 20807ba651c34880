/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_TRANSPORT_TRANSPORT_H
#define MEMSPAN_SHMEM_TRANSPORT_TRANSPORT_H

#include "shmem/context.h"
#include "shmem/transport/segment.h"

/* The contract of a transport: how bytes reach a PE's copy of a segment.
 *
 * Operations on memory that is mapped here do not come this far: peer.h resolves it inline. All
 * others are resolved once, into a target, whose transport executes them:
 *
 *     target.transport      reaches
 *     smp                   mapped memory with a buffer of a device's, this PE's own memory
 *     driver_share, owner   memory of a PE of this host that is not mapped here
 *     msp_job.transport     PEs of other hosts
 *
 * Rules for all transports
 *
 * Threads. open(), close() and the functions of segments and contexts are called by one thread at a
 * time; all others by any number of threads at once.
 *
 * Failure. Functions that return a status leave an error record. An operation that fails ends the
 * job, with the name of the program's call (target->call).
 *
 * Completion. An operation is outstanding from its call to its completion: then its effect is
 * visible to every PE, and the target's doorbell has been notified. put() returns when the source
 * may be reused; get(), and an atomic() that fetches, when the result is there. With
 * MSP_OP_NONBLOCKING they may return at once and use the local buffer until order(context, true)
 * returns. An atomic() that does not fetch may be outstanding after its return. A transport that
 * returns with operations outstanding sets msp_order_pending (order.h), or order() is not called.
 * How it learns of completions (replies, counters, flushes) is its own matter.
 *
 * Order. Each context has a queue of outstanding operations of its own. Quiet (completes) waits for
 * that context's operations alone. Fence delivers those before it to a PE before those after it to
 * the same PE. Nothing else is ordered, not even two puts to one word, except that put_signal()
 * delivers its data before its signal.
 *
 * Atomicity. An atomic operation is atomic with those of all PEs on that word, whichever path they
 * take: the owner's processor, its host's PEs, the transport. A network whose atomics are not
 * coherent with the processor, or that lacks an operation, a size or a kind of memory, sends them
 * to the owner, which executes them (own.h); all operations on one word then take that path.
 *
 * Progress. Operations of this PE, and those of others on its memory, advance without a call: by a
 * thread where they need one. Waits and polls call progress() all the same, as they see arrivals
 * sooner.
 *
 * Memory. The owner of a segment registers it; the transport fetches addresses and keys of peers
 * itself. Any put, get or atomic() takes memory that the host cannot touch, at both ends. Local
 * buffers are the transport's matter, to copy or to register. */

enum msp_operation_flag {
    MSP_OP_NONBLOCKING = 1u << 0, /* shmem_*_nbi: quiet completes it */
};

/* One place in one PE's copy of a segment, and the path to it. */
struct msp_target {
    const char *call; /* the routine that the program called, for messages */
    const struct msp_context *context;
    const struct msp_transport *transport;
    const struct msp_segment *segment; /* this PE's record; its index is the same in all PEs */
    uint64_t offset_bytes;             /* from the segment's start */
    char *direct;                      /* where memspan_copy() reaches it; NULL: nowhere here */
    int pe;                            /* the job's number */
};

enum msp_atomic {
    MSP_ATOMIC_FETCH,
    MSP_ATOMIC_SET,
    MSP_ATOMIC_SWAP,
    MSP_ATOMIC_COMPARE_SWAP,
    MSP_ATOMIC_ADD,
    MSP_ATOMIC_AND,
    MSP_ATOMIC_OR,
    MSP_ATOMIC_XOR,
};

struct msp_atomic_request {
    enum msp_atomic operation;
    unsigned size_bytes; /* 4 or 8 */
    uint64_t value;
    uint64_t condition; /* of MSP_ATOMIC_COMPARE_SWAP */
    void *fetch;        /* gets the old value, size_bytes of it; NULL: it does not fetch */
};

/* Blocks of a strided operation, in bytes; strides are at least block_bytes. */
struct msp_blocks {
    ptrdiff_t target_stride_bytes;
    ptrdiff_t local_stride_bytes;
    size_t block_bytes;
    size_t block_count;
};

/* The table. Members marked "or NULL" may be NULL. A transport to other hosts has all members of
 * the last part, the other transports have none of them. */
struct msp_transport {
    const char *name;

    void (*put)(const struct msp_target *target, const void *source, size_t size_bytes,
                unsigned flags);
    void (*get)(const struct msp_target *target, void *dest, size_t size_bytes, unsigned flags);
    /* Or NULL: one put or get a block. */
    void (*put_strided)(const struct msp_target *target, const void *source,
                        const struct msp_blocks *blocks);
    void (*get_strided)(const struct msp_target *target, void *dest,
                        const struct msp_blocks *blocks);
    /* @p signal is another target on the same PE, a uint64_t. Or NULL: put, fence, atomic. */
    void (*put_signal)(const struct msp_target *target, const void *source, size_t size_bytes,
                       const struct msp_target *signal, uint64_t value, bool adds, unsigned flags);
    void (*atomic)(const struct msp_target *target, const struct msp_atomic_request *request,
                   unsigned flags);
    void (*order)(const struct msp_context *context, bool completes);

    /* ---- to other hosts alone ---- */

    bool is_silent;    /* it does not notify the doorbell of the target PE: waiters poll */
    bool is_uncounted; /* progress() may store what another thread of this PE waits for, likewise */
    /* Start, on every PE; no PE of the job has operations outstanding at its end. */
    memspan_status_t (*open)(void);
    /* Peers may end from here on. True when the launcher's barrier has shown that all expect it. */
    bool (*leave)(void);
    void (*close)(void);
    /* This PE's copy may be reached from now on; no peer uses it any more. */
    memspan_status_t (*segment_register)(unsigned segment);
    void (*segment_release)(unsigned segment);
    /* The queue of a context that a program creates and destroys: its index, and the options of
     * shmem_ctx_create(); nothing is outstanding when it is closed. The default and the internal
     * context exist from open() to close(). */
    memspan_status_t (*context_open)(unsigned context, long options);
    void (*context_close)(unsigned context);
    /* True when anything has happened. @p is_wait: the caller looks for that now, and calls again
     * or left() afterwards; work that is not urgent may be put off. */
    bool (*progress)(bool is_wait);
    void (*left)(void);
    /* Calls of handlers (call.h) on @p pe, at most call_max_bytes; @p owned is freed when they are
     * sent. */
    void (*call)(const char *call, int pe, const void *records, size_t bytes, void *owned);
    size_t call_max_bytes;
    /* How many of those, made by this PE, were not executed so far. */
    uint64_t (*calls_outstanding)(void);
    /* Executes those that have arrived, by msp_call_execute(), one thread at a time. True: there
     * were some. */
    bool (*execute_calls)(void);
    /* A thread of this PE is about to sleep on its doorbell, and has announced it. */
    void (*sleeping)(void);
    /* A thread waits for long: look whether peers are there; fatal when one is not. */
    void (*watch)(void);
};

/* ---- the dispatcher (transport.c) ---- */

/* Opens the transport to other hosts. Every PE of the job calls both, and the first before a
 * barrier of the launcher's. */
memspan_status_t msp_transport_open(void);
/* @p synchronise: a barrier of all PEs by the transport, for a launcher that serves no more. NULL:
 * no PE has used the transport yet. */
void msp_transport_close(void (*synchronise)(void));

/* The place of @p address in @p pe's copy. Fatal, with the name of the call, when the address, the
 * size, the PE or its team is wrong, or nothing reaches it. */
struct msp_target msp_target_resolve(const char *call, const struct msp_context *context,
                                     const void *address, size_t size_bytes, int pe);

/* The same for the library's own use: @p offset_bytes of a segment by its index, on a PE of another
 * host, in the library's own context (msp_context_internal()). With MSP_SEGMENT_CONTROL: of that
 * PE's slot in its control memory. */
struct msp_target msp_target_at(const char *call, unsigned segment, uint64_t offset_bytes, int pe);

void msp_target_put(const struct msp_target *target, const void *source, size_t size_bytes,
                    unsigned flags);
void msp_target_get(const struct msp_target *target, void *dest, size_t size_bytes, unsigned flags);
void msp_target_put_strided(const struct msp_target *target, const void *source,
                            const struct msp_blocks *blocks);
void msp_target_get_strided(const struct msp_target *target, void *dest,
                            const struct msp_blocks *blocks);
/* One put or get a block: for a transport whose own strided calls do not take these blocks. */
void msp_target_put_blocks(const struct msp_target *target, const void *source,
                           const struct msp_blocks *blocks);
void msp_target_get_blocks(const struct msp_target *target, void *dest,
                           const struct msp_blocks *blocks);
void msp_target_put_signal(const struct msp_target *target, const void *source, size_t size_bytes,
                           const struct msp_target *signal, uint64_t value, bool adds,
                           unsigned flags);
void msp_target_atomic(const struct msp_target *target, const struct msp_atomic_request *request,
                       unsigned flags);

/* A 64-bit flag of the library: stored, or added to; outstanding when it returns. Not ordered
 * behind puts: msp_target_put_signal() is. */
void msp_target_store(const struct msp_target *target, uint64_t value);
void msp_target_add(const struct msp_target *target, uint64_t value);

/* Advance the work of the transport to other hosts. */
static inline void msp_transport_progress(void)
{
    if (msp_job.transport != NULL) {
        (void)msp_job.transport->progress(false);
    }
}

/* ---- mapped memory ---- */

/* Mapped memory (target->direct). */
extern const struct msp_transport msp_transport_smp MSP_HIDDEN;

#endif /* MEMSPAN_SHMEM_TRANSPORT_TRANSPORT_H */
