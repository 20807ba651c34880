/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_DEBUG_WAITS_H
#define MEMSPAN_CORE_DEBUG_WAITS_H

/* Waits of the host in calls on queues (MEMSPAN_DEBUG=queues), by reason and call stack: each is
 * time in which a program with other calls would go on. They are printed when the process ends. */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum msp_wait_reason {
    MSP_WAIT_NONE,      /* requested by the program */
    MSP_WAIT_OBJECT,    /* a free of a small object */
    MSP_WAIT_FREE,      /* a free of other memory that a queue does not keep */
    MSP_WAIT_EDGE,      /* two queues without an event */
    MSP_WAIT_REUSE,     /* memory of another queue without an event */
    MSP_WAIT_EXHAUSTED, /* no other memory was left */
    MSP_WAIT_COPY,      /* a copy or fill that the host does */
    MSP_WAIT_CALL,      /* a function that is called by the call itself */
    MSP_WAIT_COUNT
};

extern atomic_bool msp_waits_are_counted;

void msp_waits_start(void);

/* A wait of the calling thread; its call stack is read by msp_waits_flush(). Any lock may be held.
 */
void msp_waits_note(enum msp_wait_reason reason, uint64_t duration_ns);

/* At the end of each call that may have waited, without a lock. */
void msp_waits_flush_slow(void);

static inline void msp_waits_flush(void)
{
    if (atomic_load_explicit(&msp_waits_are_counted, memory_order_relaxed)) {
        msp_waits_flush_slow();
    }
}

#endif /* MEMSPAN_CORE_DEBUG_WAITS_H */
