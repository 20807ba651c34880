/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_DEBUG_FOLLOW_H
#define MEMSPAN_CORE_DEBUG_FOLLOW_H

/* MEMSPAN_PLACEMENT=auto: pages of blocks go where their use is served best, and the blocks keep
 * their addresses.
 *
 * Blocks are followed that are larger than 1 MiB, of host memory whose place the program left open.
 * Each is a chunk of its own, and is divided into pieces. A thread samples their use
 * (use_sample.h), asks the policy (tier_policy.h) and moves pages. */

#include "core/debug/tier_policy.h"
#include "core/engine/store.h"
#include "core/engine/watch_flag.h"

#define MSP_FOLLOW_BYTES (((size_t)1 << 20) + 1)

/* ---- follow_tiers.c: the machine ---- */

enum { MSP_FOLLOW_NODES_MAX = 64 };

struct msp_follow_tier {
    int nodes[MSP_FOLLOW_NODES_MAX]; /* the operating system's numbers */
    size_t node_count;
    double ns_per_byte;
    uint64_t spare_bytes; /* that are left free */
    char name[48];        /* "hbm (node 1)" */
};

struct msp_follow_tiers {
    struct msp_follow_tier tier[MSP_POLICY_TIERS_MAX];
    int count;
};

/* The tiers of this machine, the fastest first: by the firmware's numbers (HMAT), else by what is
 * usual for the kind of memory. */
void msp_follow_tiers_find(struct msp_follow_tiers *tiers_p);

/* What in the kernel moves pages between tiers by their use; "" when nothing does. @p root: "", or
 * the folder of other files /proc and /sys. */
void msp_follow_tiers_kernel(const char *root, char *text, size_t size_bytes);

/* ---- follow.c ---- */

/* Begin to follow, unless there is nothing to place or the kernel does it; @p forced: also then.
 * The log says what. Once, by msp_placement_start(). */
void msp_follow_start(bool forced);

/* The same with tiers that are given. @p threaded: false for tests, which call
 * msp_follow_round(). */
void msp_follow_begin(const struct msp_follow_tiers *tiers, bool threaded);

/* One round of sampling, decision and moves; the seconds until the next one. */
double msp_follow_round(void);

/* So long a thread pauses after it has used the processor for @p cost_s. */
double msp_follow_pause_s(double cost_s);

/* A block is there; is about to go, to get another size or to be moved by the program. No lock is
 * held. */
void msp_follow_allocated(const struct msp_block_view *block);
void msp_follow_forget(const void *address);

/* Why the followed memory at @p address is where it is. False: it is not followed. */
bool msp_follow_why(const void *address, char *text, size_t size_bytes);

/* Lines "memspan stats placement ..." for memspan_stats_print(). False: it cannot write. */
bool msp_follow_print(int fd);

/* A block of a program's request, with @p provider's memory, is to be a chunk of its own. */
bool msp_follow_wants(const struct msp_provider *provider, size_t size_bytes);

/* End the thread; blocks stay where they are. Any number of times. */
void msp_follow_stop(void);

#endif /* MEMSPAN_CORE_DEBUG_FOLLOW_H */
