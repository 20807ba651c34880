/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_GUARD_REPORT_H
#define MEMSPAN_CORE_GUARD_REPORT_H

/* What the guard has found, in words on standard error. */

#include "core/guard_table.h"

enum memspan_guard_fault {
    MEMSPAN_GUARD_DOUBLE_FREE,   /* the block was freed before */
    MEMSPAN_GUARD_INTERIOR,      /* the address lies in the block, or in its fence */
    MEMSPAN_GUARD_WILD,          /* in memory of Memspan, where no block is known */
    MEMSPAN_GUARD_STRANGER,      /* not in memory of Memspan */
    MEMSPAN_GUARD_DAMAGED,       /* the fence was written to */
    MEMSPAN_GUARD_WRITTEN_FREED, /* the block was written to after its free */
};

struct memspan_guard_finding {
    enum memspan_guard_fault fault;
    const char *call;                        /* "free", "realloc"; NULL when nobody called */
    const void *address;                     /* that it was given */
    const struct memspan_guard_block *block; /* a copy; NULL when there is none */
    struct memspan_fence_damage damage;
};

/* Blocks of one line of the program that were not freed. */
struct memspan_guard_leak {
    struct memspan_guard_block first; /* the oldest of them; a copy */
    size_t count;
    uint64_t bytes;
};

/* How the user wants it. Set before the guard is on. */
struct memspan_guard_wishes {
    bool goes_on;  /* after a finding */
    bool fails;    /* the exit status says that something was found */
    bool no_leaks; /* are told */
};
extern struct memspan_guard_wishes memspan_guard_wishes;

/* True when anything was reported. */
bool memspan_guard_reported(void);

/* Print a finding; ends the program unless the user wants it to go on. No lock of the library may
 * be held. */
void memspan_guard_report(const struct memspan_guard_finding *finding);

/* Print which block was missed by an access that a closed page has stopped, and from where: return
 * addresses, the instruction's own first. */
void memspan_guard_report_fault(const void *address, bool is_write,
                                const struct memspan_guard_block *block, void *const *frames,
                                size_t depth);

/* Print what was not freed: @p shown of @p groups, and the sums over all. */
void memspan_guard_report_leaks(const struct memspan_guard_leak *leaks, size_t shown, size_t groups,
                                uint64_t count, uint64_t bytes);

/* Print what is known of a block, for a debugger. */
void memspan_guard_report_block(const void *address, const struct memspan_guard_block *block);

void memspan_guard_report_before_fork(void);
void memspan_guard_report_after_fork(void);

#endif /* MEMSPAN_CORE_GUARD_REPORT_H */
