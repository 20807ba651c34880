/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_TRANSPORT_CALL_H
#define MEMSPAN_SHMEM_TRANSPORT_CALL_H

/* Calls: functions of the program, its handlers, that run on another PE (active messages).
 *
 *     call.c         handlers, the threads that execute them, calls to PEs of other hosts
 *     call_inbox.c   queues in the control memory, for PEs of this host
 *
 * A call is a record: its handler's number and a payload. Records travel together: those to a PE of
 * this host are written to a queue, and are visible to that PE in groups; those to a PE of another
 * host fill a buffer, which is one message. A thread that waits, or orders operations, sends what
 * it has held back.
 *
 * Threads. Handlers run in threads that call OpenSHMEM, while those wait or poll, one handler at a
 * time. So a program of one thread needs no atomics in them. A handler's own calls are kept until
 * it has returned, and are made by a thread that waits. A PE executes in every wait, so PEs whose
 * queues are full do not wait for each other for ever. */

#include "shmem/context.h"
#include "shmem/transport/transport.h"
#include <shmemx.h>
#include <string.h>

enum { MSP_CALL_HANDLERS_MAX = 1024 };

struct msp_call_record {
    uint32_t handler;
    uint32_t size_bytes; /* of the payload behind it, without the padding to 8 bytes */
};

/* Of a record with so many bytes. */
static inline size_t msp_call_record_bytes(size_t size_bytes)
{
    return sizeof(struct msp_call_record) + ((size_bytes + 7) & ~(size_t)7);
}

static inline void msp_call_record_write(char *to, uint32_t handler, const void *payload,
                                         size_t size_bytes)
{
    const struct msp_call_record record = {.handler = handler, .size_bytes = (uint32_t)size_bytes};

    memcpy(to, &record, sizeof record);
    if (MSP_LIKELY(size_bytes == sizeof(uint64_t))) { /* a load and a store */
        memcpy(to + sizeof record, payload, sizeof(uint64_t));
    } else if (size_bytes != 0) {
        memcpy(to + sizeof record, payload, size_bytes);
    }
}

extern atomic_bool msp_call_is_on MSP_HIDDEN; /* this PE has a handler */

/* shmemx_handler_add(). */
memspan_status_t msp_call_handler_add(shmemx_handler_t handler, void *data, int *id_p);
int msp_call_handler_count(void);
/* Drops what is left at the end of a job. */
void msp_call_close(void);

/* @p id is that of a handler, @p pe the world's number of a PE. */
void msp_call_post(const char *call, int id, const void *payload, size_t size_bytes, int pe);

/* The calling thread, which the library has started, executes no handlers. */
void msp_call_never(void);

/* The calling thread works for a kernel, or no more: it executes no handlers meanwhile, and waits
 * for none, as their PEs may wait for the kernel. True: it did so before. */
bool msp_call_is_for_kernel(bool is_for_kernel);

/* Sends what is held back, and executes what has arrived. True: there was something. */
bool msp_call_progress_slow(void);

static inline bool msp_call_progress(void)
{
    return MSP_UNLIKELY(atomic_load_explicit(&msp_call_is_on, memory_order_relaxed)) &&
           msp_call_progress_slow();
}

/* Fence sends; quiet waits until all calls are executed, of whichever context. Calls have one queue
 * to other hosts: behind the operations of a context with a queue of its own, a fence waits for
 * those. */
void msp_call_order(const struct msp_context *context, bool completes);

/* Runs the handler of the record from @p pe at @p at, behind which @p bytes are readable, in a
 * thread that executes (call.c). How long the record is. Fatal where it is malformed. */
size_t msp_call_execute(int pe, const char *at, size_t bytes);

/* ---- queues (call_inbox.c): PEs of this host, by local index ---- */

memspan_status_t msp_call_inbox_open(void);
void msp_call_inbox_close(void);
/* False: the queue is full. *is_visible_p: the PE sees the record already. */
bool msp_call_inbox_put(int local_index, uint32_t handler, const void *payload, size_t size_bytes,
                        bool *is_visible_p);
/* Whether a record of that size fits by now. */
bool msp_call_inbox_has_space(int local_index, size_t size_bytes);
/* All PEs see all records. */
void msp_call_inbox_flush(void);
/* Records that are visible by now are executed. */
void msp_call_inbox_wait(void);
/* True: there were some. */
bool msp_call_inbox_execute(void);

#endif /* MEMSPAN_SHMEM_TRANSPORT_CALL_H */
