/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_DEBUG_GUARD_REPORT_H
#define MEMSPAN_CORE_DEBUG_GUARD_REPORT_H

#include "core/debug/call_stack.h"
#include "core/debug/red_zone.h"
#include "core/engine/store.h"
#include <sys/types.h>

/* Guarded blocks by address: those in use and those that were freed but kept. A lookup answers for
 * any address inside, red zones included. Callers hold the guard's lock. */

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

/* ---- reports ---- */

/* The guard's findings, in words on standard error. */

enum msp_guard_fault {
    MSP_GUARD_DOUBLE_FREE,   /* the block was freed before */
    MSP_GUARD_INTERIOR,      /* the address lies in the block, or in its red zone */
    MSP_GUARD_WILD,          /* in memory of Memspan, outside of any block */
    MSP_GUARD_STRANGER,      /* not in memory of Memspan */
    MSP_GUARD_DAMAGED,       /* the red zone was written to */
    MSP_GUARD_WRITTEN_FREED, /* the block was written to after its free */
};

struct msp_guard_finding {
    enum msp_guard_fault fault;
    const char *call;                    /* "free", "realloc"; NULL without a call */
    const void *address;                 /* that it was given */
    const struct msp_guard_block *block; /* a copy; NULL when there is none */
    struct msp_red_zone_damage damage;
};

/* Blocks of one line of the program that were not freed. */
struct msp_guard_leak {
    struct msp_guard_block first; /* the oldest of them; a copy */
    size_t count;
    uint64_t bytes;
};

/* The user's setting, and what the system lets the guard do. Set before the guard is on. */
struct msp_guard_settings {
    bool goes_on;       /* after a finding */
    bool fails;         /* the exit status shows that there was a finding */
    bool no_leaks;      /* are reported */
    bool regions;       /* pages can be closed by guard regions */
    uint64_t split_max; /* blocks whose closed pages are mappings of their own */
};
extern struct msp_guard_settings msp_guard_settings;

/* True when anything was reported. */
bool msp_guard_reported(void);

/* Print a finding; ends the program unless the user's setting lets it go on. No lock of the library
 * may be held. */
void msp_guard_report(const struct msp_guard_finding *finding);

/* Print which block was missed by an access that a closed page has stopped, and from where: return
 * addresses, the instruction's own first. */
void msp_guard_report_fault(const void *address, bool is_write, const struct msp_guard_block *block,
                            void *const *frames, size_t depth);

/* Print the leaks: @p shown of @p groups, and the sums over all. */
void msp_guard_report_leaks(const struct msp_guard_leak *leaks, size_t shown, size_t groups,
                            uint64_t count, uint64_t bytes);

/* Print a block's record, for a debugger. */
void msp_guard_report_block(const void *address, const struct msp_guard_block *block);

/* ---- faults ---- */

/* An access that a closed page of the guard has stopped: report the block, before the program ends.
 */

/* Install the handler of SIGSEGV. With MEMSPAN_DEBUG=guard, and never otherwise. */
void msp_guard_fault_watch(void);

#endif /* MEMSPAN_CORE_DEBUG_GUARD_REPORT_H */
