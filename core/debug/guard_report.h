/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_DEBUG_GUARD_REPORT_H
#define MEMSPAN_CORE_DEBUG_GUARD_REPORT_H

/* The guard's findings, in words on standard error. */

#include "core/debug/guard_table.h"

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

/* The user's setting. Set before the guard is on. */
struct msp_guard_settings {
    bool goes_on;  /* after a finding */
    bool fails;    /* the exit status shows that there was a finding */
    bool no_leaks; /* are reported */
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

#endif /* MEMSPAN_CORE_DEBUG_GUARD_REPORT_H */
