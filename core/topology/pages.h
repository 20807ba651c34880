/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_TOPOLOGY_PAGES_H
#define MEMSPAN_CORE_TOPOLOGY_PAGES_H

#include <memspan/backend.h>
#include <stdbool.h>

/* Host pages for drivers that reach host memory, or take pages into their tables: mapped, aligned
 * and bound to NUMA nodes before they are touched. */

/* Take pages by @p request (size, alignment, page size, nodes and spread; other flags than strict
 * are the caller's). Errors are recorded as @p backend's. On success @p pages_p has address,
 * size_bytes (whole pages, all of which are to be given back), page_size_bytes, node and the flag
 * zeroed. With pages that are not on the requested nodes the node is -1; strict requests fail then.
 */
memspan_status_t msp_pages_take(const memspan_services_t *services, const char *backend,
                                const memspan_request_t *request, memspan_block_t *pages_p);

/* Bind the pages at @p base, which are untouched, to the nodes that @p request names, if any.
 * *node_p becomes the node where all are on one. */
memspan_status_t msp_pages_bind(const memspan_request_t *request, void *base, int *node_p);

/* Advise huge pages for memory that a driver took from the process's own, as the host's backend
 * does for its own: the aligned and large enough parts, unless MEMSPAN_HUGE_PAGES or the request
 * forbid it. It is untouched. */
void msp_pages_advise(const memspan_services_t *services, const memspan_request_t *request,
                      void *address, size_t size_bytes);

/* How many of 100 pages of a mapping, which may be gone by now, are in memory; 0 only where none
 * is, or it cannot be known. Of a large one, parts are looked at, others each time: no step of a
 * program's touches is that of the parts. */
int msp_pages_touched(const void *address, size_t size_bytes);

/* These pages do not become huge ones; or they may. */
void msp_pages_keep_small(void *address, size_t size_bytes);
void msp_pages_allow_huge(void *address, size_t size_bytes);

void msp_pages_give_back(void *address, size_t size_bytes);

/* Lock pages into memory, or unlock them; as mlock() and munlock(), with errno. By the system call:
 * the sanitizers' mlock() does nothing and returns 0. */
int msp_pages_lock(const void *address, size_t size_bytes);
void msp_pages_unlock(const void *address, size_t size_bytes);

/* ---- locked pages ---- */

/* Locked pages: the meaning of "pinned" for memory of the host. */

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

#endif /* MEMSPAN_CORE_TOPOLOGY_PAGES_H */
