/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c: one request, one mapping.
 *
 * Order matters: map, choose the nodes, then lock, because locking touches the pages and they must
 * land on the requested nodes. A request that names no node and is not pinned stops after mmap()
 * and the advice about huge pages. */

#include "backends/host/host.h"
#include "core/base/platform.h"
#include "core/base/text.h"
#include "core/topology/pages.h"
#include "core/topology/topology.h"
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

static memspan_status_t refuse_argument(const struct host *host, const char *what, size_t value)
{
    return host->services->fail(MEMSPAN_ERR_INVALID, "host", "", 0, "", NULL, "%s: %zu", what,
                                value);
}

static memspan_status_t check_request(const struct host *host, int ordinal,
                                      const memspan_request_t *request)
{
    if ((ordinal != 0) && (ordinal != MEMSPAN_HOST)) {
        return host->services->fail(MEMSPAN_ERR_NOT_FOUND, "host", "", 0, "", NULL,
                                    "the host has one device, 0, and not %d", ordinal);
    }
    if ((request->kind != MEMSPAN_KIND_HOST) && (request->kind != MEMSPAN_KIND_HOST_PINNED)) {
        return host->services->fail(MEMSPAN_ERR_UNSUPPORTED, "host", "", 0, "", NULL,
                                    "the host alone offers no %s memory",
                                    memspan_kind_name(request->kind));
    }
    if ((request->size_bytes == 0) || (request->size_bytes > SIZE_MAX / 2)) {
        return refuse_argument(host, "size in bytes out of range", request->size_bytes);
    }
    if ((request->align_bytes != 0) &&
        (!msp_is_power_of_two(request->align_bytes) || (request->align_bytes > SIZE_MAX / 4))) {
        return refuse_argument(host, "alignment is no power of two, or out of range",
                               request->align_bytes);
    }
    if ((request->page_size_bytes != 0) && (!msp_is_power_of_two(request->page_size_bytes) ||
                                            (request->page_size_bytes < msp_page_size()) ||
                                            (request->page_size_bytes > SIZE_MAX / 4))) {
        return refuse_argument(host, "page size is no power of two, or less than a page",
                               request->page_size_bytes);
    }
    return MEMSPAN_OK;
}

/* The effect of the option MEMSPAN_HUGE_PAGES on a request that leaves the page size open. */
static size_t choose_page_size(const struct host *host, const memspan_request_t *request)
{
    if (request->page_size_bytes != 0) {
        return request->page_size_bytes;
    }
    if ((host->huge_pages == HUGE_PAGES_ON) && (request->size_bytes >= HOST_HUGE_PAGE_BYTES) &&
        (request->size_bytes % HOST_HUGE_PAGE_BYTES == 0) &&
        host_pages_reserved(request->size_bytes, HOST_HUGE_PAGE_BYTES)) {
        return HOST_HUGE_PAGE_BYTES;
    }
    return 0;
}

/* Base pages are requested by name, or by parts of less than a huge page, each on the next node. */
static bool wants_base_pages(const memspan_request_t *request)
{
    return (request->page_size_bytes != 0) ||
           ((request->spread == MEMSPAN_SPREAD_INTERLEAVED) && (request->node_count > 1) &&
            (request->part_size_bytes != 0) && (request->part_size_bytes < HOST_HUGE_PAGE_BYTES));
}

/* Transparent huge pages: advice costs a call and an unlucky start wastes up to two of them, so
 * only from the size of one on. */
void host_advise(const struct host *host, const memspan_request_t *request,
                 const memspan_block_t *block)
{
    if (block->page_size_bytes > msp_page_size()) {
        return;
    }
    if (wants_base_pages(request)) {
        madvise(block->address, block->size_bytes, MADV_NOHUGEPAGE);
    } else if ((host->huge_pages != HUGE_PAGES_OFF) &&
               ((request->flags & MEMSPAN_REQUEST_SPARSE) == 0) &&
               (block->size_bytes >= HOST_HUGE_PAGE_BYTES)) {
        madvise(block->address, block->size_bytes, MADV_HUGEPAGE);
    }
}

static memspan_status_t map_block(const struct host *host, const memspan_request_t *request,
                                  memspan_block_t *block)
{
    size_t page_size = choose_page_size(host, request);
    size_t align =
        (request->align_bytes > msp_page_size()) ? request->align_bytes : msp_page_size();
    memspan_status_t status;

    if ((page_size == 0) && (host->huge_pages != HUGE_PAGES_OFF) &&
        (request->size_bytes >= HOST_HUGE_PAGE_BYTES) && (align < HOST_HUGE_PAGE_BYTES)) {
        align = HOST_HUGE_PAGE_BYTES;
    }
    status = host_pages_map(host, request->size_bytes, align, page_size, &block->address,
                            &block->size_bytes);
    if ((status != MEMSPAN_OK) && (page_size != request->page_size_bytes)) {
        /* Another process took the reserved pages meanwhile; they were not requested by name. */
        page_size = 0;
        status    = host_pages_map(host, request->size_bytes, align, page_size, &block->address,
                                   &block->size_bytes);
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    block->page_size_bytes = (page_size == 0) ? msp_page_size() : page_size;
    return MEMSPAN_OK;
}

memspan_status_t host_alloc(void *state, int ordinal, const memspan_request_t *request,
                            memspan_block_t *block_p)
{
    struct host *host     = state;
    memspan_block_t block = {.node = -1, .flags = MEMSPAN_BLOCK_ZEROED};
    memspan_status_t status;
    bool pinned;

    if ((request == NULL) || (block_p == NULL)) {
        return host->services->fail(MEMSPAN_ERR_INVALID, "host", "", 0, "", NULL,
                                    "request or block_p is NULL");
    }
    status = check_request(host, ordinal, request);
    if (status != MEMSPAN_OK) {
        return status;
    }
    status = map_block(host, request, &block);
    if (status != MEMSPAN_OK) {
        return status;
    }
    host_advise(host, request, &block);
    if (host_place_is_wanted(request)) {
        status = host_place(host, request, &block);
    }
    pinned = (request->kind == MEMSPAN_KIND_HOST_PINNED) ||
             ((request->flags & MEMSPAN_REQUEST_PINNED) != 0);
    if ((status == MEMSPAN_OK) && pinned) {
        if (!host_place_is_wanted(request)) {
            msp_topology_hold(block.address, block.size_bytes);
        }
        status = msp_lock_pages(host->services, "host", true, &block);
    }
    if (status != MEMSPAN_OK) {
        munmap(block.address, block.size_bytes);
        return status;
    }
    if ((block.flags & MEMSPAN_BLOCK_PINNED) == 0) {
        block.flags |= MEMSPAN_BLOCK_MIGRATABLE;
    }
    *block_p = block;
    return MEMSPAN_OK;
}

memspan_status_t host_free(void *state, int ordinal, const memspan_block_t *block)
{
    struct host *host = state;
    int error;

    (void)ordinal;
    if ((block == NULL) || (block->address == NULL)) {
        return host->services->fail(MEMSPAN_ERR_INVALID, "host", "", 0, "", NULL,
                                    "no block to give back");
    }
    /* Unmapping unlocks. */
    if (munmap(block->address, host_block_mapped(block)) != 0) {
        error = errno;
        return host->services->fail(
            MEMSPAN_ERR_DRIVER, "host", "munmap", error, strerrordesc_np(error),
            (error == ENOMEM) ? "raise vm.max_map_count" : NULL,
            "%zu bytes at %p could not be given back", block->size_bytes, block->address);
    }
    return MEMSPAN_OK;
}

/* Once a part is unmapped, the kernel's daemon for huge pages would fill the holes again: an advice
 * forbids it. Pages that are huge already stay so, but for those that have holes. */
int host_purge(void *state, int ordinal, const memspan_block_t *block, void *address,
               size_t size_bytes, int first)
{
    int saved_errno = errno;
    bool done;

    (void)state;
    (void)ordinal;
    if ((first != 0) && (block->size_bytes >= HOST_HUGE_PAGE_BYTES)) {
        madvise(block->address, block->size_bytes, MADV_NOHUGEPAGE);
    }
    done  = (madvise(address, size_bytes, MADV_DONTNEED) ==
            0); /* not pages that the program has locked */
    errno = saved_errno;
    return done;
}
