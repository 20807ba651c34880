/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_DEBUG_CALL_STACK_H
#define MEMSPAN_CORE_DEBUG_CALL_STACK_H

/* Where calls came from. Equal stacks are kept once and for ever, so that a million blocks of one
 * line of a program cost one record and stacks compare by address. */

#include <stddef.h>
#include <stdint.h>

enum { MSP_CALL_STACK_FRAMES_MAX = 24 };

struct msp_call_stack {
    struct msp_call_stack *next; /* of those with the same hash */
    uint64_t hash;
    size_t depth;
    void *frames[]; /* return addresses, the innermost first */
};

/* Make ready: the first walk of a stack loads the unwinder. */
void msp_call_stack_start(void);

/* The stack of the caller, without the library's own innermost frames. NULL when it cannot be had.
 * To be called without any lock: the walk may wait for the dynamic linker's. */
const struct msp_call_stack *msp_call_stack_here(void);

#endif /* MEMSPAN_CORE_DEBUG_CALL_STACK_H */
