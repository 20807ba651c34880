/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_BASE_MEMORY_LIMIT_H
#define MEMSPAN_CORE_BASE_MEMORY_LIMIT_H

/* How much host memory this process may use: the machine's, or less by a control group. Linked into
 * both libraries. */

#include <stdint.h>

struct msp_memory_limits {
    uint64_t total_bytes;    /* the machine's */
    uint64_t capacity_bytes; /* the machine's memory, or less by a cgroup */
    uint64_t free_bytes;     /* available now, page cache that would be given up counted in */
    const char *source;      /* the source */
};

/* Read anew at each call: a few small files. */
void msp_memory_limits_read(struct msp_memory_limits *limits_p);

#endif /* MEMSPAN_CORE_BASE_MEMORY_LIMIT_H */
