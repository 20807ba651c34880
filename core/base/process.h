/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_BASE_PROCESS_H
#define MEMSPAN_CORE_BASE_PROCESS_H

/* The process: whom it trusts, its memory and its stack. */

#include <stdbool.h>
#include <stdint.h>
#include <sys/auxv.h>

/* ---- trust ---- */

/* Whether the environment may decide which code this process loads. It may not where the process
 * has more rights than the user who started it (set-user-id, set-group-id, file capabilities; the
 * kernel marks it by AT_SECURE): drivers, hwloc and PMIx load libraries that the environment names,
 * so such a process opens none of them. Header only, because both libraries use it. */

#define MSP_UNTRUSTED_REASON "the program runs with more rights than its user (set-user-id)"
#define MSP_UNTRUSTED_HINT   "start it without set-user-id, set-group-id and file capabilities"

/* Any thread. */
static inline bool msp_environment_is_trusted(void)
{
    return getauxval(AT_SECURE) == 0;
}

/* ---- memory ---- */

/* How much host memory this process may use: the machine's, or less by a control group. Linked into
 * both libraries. */

struct msp_memory_limits {
    uint64_t total_bytes;    /* the machine's */
    uint64_t capacity_bytes; /* the machine's memory, or less by a cgroup */
    uint64_t free_bytes;     /* available now, page cache that would be given up counted in */
    const char *source;      /* the source */
};

/* Read anew at each call: a few small files. */
void msp_memory_limits_read(struct msp_memory_limits *limits_p);

/* ---- stack ---- */

/* Work that is done once and needs more stack than a small thread has: programs start threads with
 * 16 KiB, and hwloc and drivers use more than that. */

/* Whether the calling thread's stack has 128 KiB left; true also when its bounds are not known. */
bool msp_stack_has_capacity(void);

typedef void msp_stack_body_t(void *argument);

/* Call @p body: on a thread made for it, which is waited for, where the calling thread's stack has
 * no such space. The calling thread has the error record that body leaves. Locks that the
 * caller holds stay the caller's: body takes none of them. */
void msp_stack_run(msp_stack_body_t *body, void *argument);

/* ---- valgrind ---- */

/* Whether valgrind runs the process. The first call reads /proc/self/maps. */
bool msp_valgrind_runs(void);

#endif /* MEMSPAN_CORE_BASE_PROCESS_H */
