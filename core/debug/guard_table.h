/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_DEBUG_GUARD_TABLE_H
#define MEMSPAN_CORE_DEBUG_GUARD_TABLE_H

/* Guarded blocks by address: those in use and those that were freed but kept. A lookup answers for
 * any address inside, red zones included. Callers hold the guard's lock. */

#include "core/debug/call_stack.h"
#include "core/debug/red_zone.h"
#include "core/engine/store.h"
#include <sys/types.h>

struct msp_guard_block {
    struct msp_guard_block *left;
    struct msp_guard_block *right;
    struct msp_guard_block *next; /* of those freed, in the order of their frees */
    struct msp_red_zone zone;
    struct msp_block_owner owner;
    struct msp_chunk *chunk;
    const struct msp_call_stack *alloc_stack;
    const struct msp_call_stack *free_stack;
    uint64_t serial; /* of the allocation */
    uint32_t priority;
    pid_t process;
    pid_t alloc_thread;
    pid_t free_thread;
    bool freed;
    bool closed;        /* freed, and not to be accessed */
    bool returned;      /* freed, and its backend has the memory and watches it */
    bool replaced;      /* returned, and another block is there: not in the table any more */
    char allocator[32]; /* its name: it may be destroyed before the block is freed */
};

/* A record, zeroed; NULL when there is no memory. Takes no part in the table. */
struct msp_guard_block *msp_guard_table_new(void);
void msp_guard_table_drop(struct msp_guard_block *block);

void msp_guard_table_insert(struct msp_guard_block *block);
void msp_guard_table_remove(struct msp_guard_block *block);

/* The block whose memory holds @p address; NULL if none. */
struct msp_guard_block *msp_guard_table_find(const void *address);

/* The block that ends nearest below @p address or holds it; NULL if none. */
struct msp_guard_block *msp_guard_table_below(const void *address);

/* The first block above @p address; NULL after the last. From NULL on it walks all, in order. */
struct msp_guard_block *msp_guard_table_above(const void *address);

#endif /* MEMSPAN_CORE_DEBUG_GUARD_TABLE_H */
