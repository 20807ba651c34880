/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_TOPOLOGY_LOCK_PAGES_H
#define MEMSPAN_CORE_TOPOLOGY_LOCK_PAGES_H

/* Locked pages: the meaning of "pinned" for memory of the host. */

#include <memspan/backend.h>
#include <stdbool.h>

struct msp_lock_limits {
    uint64_t limit_bytes;  /* RLIMIT_MEMLOCK; UINT64_MAX: none */
    uint64_t locked_bytes; /* by this process, now */
};

void msp_lock_limits_read(struct msp_lock_limits *limits_p);

/* Whether so many bytes can be made resident now, or an error of @p backend: with less memory than
 * that, the kernel would end a process instead of refusing. */
memspan_status_t msp_lock_check_limit(const memspan_services_t *services, const char *backend,
                                      size_t size_bytes);

/* Lock the block's pages; it gets the flag pinned. Where the system refuses: an error of
 * @p backend, or, unless @p is_required, a line of the log. */
memspan_status_t msp_lock_pages(const memspan_services_t *services, const char *backend,
                                bool is_required, memspan_block_t *block);

#endif /* MEMSPAN_CORE_TOPOLOGY_LOCK_PAGES_H */
