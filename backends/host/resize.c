/* SPDX-License-Identifier: BSD-3-Clause */
/* resize.c: another size for a block, by moving its pages instead of their contents.
 *
 * A block that grows moves once to where it has as many bytes of address space behind it as it then
 * has itself, mapped without access: that costs addresses and no memory, and the next growth stays
 * in place. Growing into it takes two calls: the first part of the reserve is unmapped, and the
 * block's mapping extended over it. So a block stays one mapping, with one policy, one lock and one
 * advice, the unit that the kernel moves as a whole. Another thread's mapping may come into the gap
 * between the two calls: then the library copies.
 *
 * block->cookie holds the bytes mapped in all, 0 where that is the block alone. */

#include "backends/host/host.h"
#include "core/base/platform.h"
#include "core/base/process.h"
#include "core/base/text.h"
#include "core/topology/pages.h"
#include "core/topology/topology.h"
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

size_t host_block_mapped(const memspan_block_t *block)
{
    return (block->cookie == NULL) ? block->size_bytes : (size_t)(uintptr_t)block->cookie;
}

static void set_size(memspan_block_t *block, size_t size_bytes, size_t mapped_bytes)
{
    block->size_bytes = size_bytes;
    block->cookie     = (mapped_bytes > size_bytes) ? (void *)(uintptr_t)mapped_bytes : NULL;
    block->flags &= ~(unsigned)MEMSPAN_BLOCK_ZEROED;
}

static memspan_status_t refuse_resize(const struct host *host, size_t size_bytes, const char *call,
                                      int error)
{
    char size[32];

    return host->services->fail(MEMSPAN_ERR_NO_MEMORY, "host", call, error,
                                (error == 0) ? "" : strerrordesc_np(error), host_limits_hint(error),
                                "a block cannot get %s",
                                msp_text_from_size(size, sizeof(size), size_bytes));
}

/* A strict policy on a full node does not fail: the kernel ends the process instead. */
static bool nodes_have(const memspan_request_t *request, size_t size_bytes)
{
    bool strict = (request->flags & MEMSPAN_REQUEST_STRICT) != 0;
    size_t i;

    for (i = 0; strict && (i < request->node_count); i++) {
        if (size_bytes > msp_numa_node_free(request->nodes[i])) {
            return false;
        }
    }
    return true;
}

/* Pages that are spread by shares of the block's size, or run by run, are several mappings. */
static bool is_one_mapping(const memspan_request_t *request, const memspan_block_t *block)
{
    bool runs = (request->spread == MEMSPAN_SPREAD_INTERLEAVED) && (request->node_count > 1) &&
                (request->part_size_bytes > msp_page_size());

    return (block->page_size_bytes <= msp_page_size()) && !runs &&
           (request->spread != MEMSPAN_SPREAD_BLOCKED) && (request->spread != MEMSPAN_SPREAD_PARTS);
}

static memspan_status_t shrink(const struct host *host, memspan_block_t *block, size_t size_bytes,
                               memspan_resize_accept_t accept, void *context)
{
    char *end = (char *)block->address + size_bytes;

    if (!accept(context, block->address, size_bytes)) {
        return refuse_resize(host, size_bytes, "", 0);
    }
    if (munmap(end, host_block_mapped(block) - size_bytes) != 0) {
        return refuse_resize(host, size_bytes, "munmap", errno);
    }
    set_size(block, size_bytes, size_bytes);
    return MEMSPAN_OK;
}

static memspan_status_t extend(const struct host *host, memspan_block_t *block, size_t size_bytes,
                               memspan_resize_accept_t accept, void *context)
{
    char *address = block->address;
    size_t mapped = host_block_mapped(block);

    if (!accept(context, address, size_bytes)) {
        return refuse_resize(host, size_bytes, "", 0);
    }
    munmap(address + block->size_bytes, size_bytes - block->size_bytes);
    if (mremap(address, block->size_bytes, size_bytes, 0) == MAP_FAILED) {
        int error = errno;

        if (mapped > size_bytes) {
            munmap(address + size_bytes, mapped - size_bytes);
        }
        block->cookie = NULL;
        return refuse_resize(host, size_bytes, "mremap", error);
    }
    set_size(block, size_bytes, mapped);
    return MEMSPAN_OK;
}

/* Address space for a block and, where there is enough, as much again; NULL without. */
static void *reserve(size_t size_bytes, size_t align_bytes, size_t *mapped_p)
{
    size_t slack = align_bytes - msp_page_size();
    size_t total = 2 * size_bytes;
    char *mapping;
    char *aligned;

    mapping =
        mmap(NULL, total + slack, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED) {
        total   = size_bytes;
        mapping = mmap(NULL, total + slack, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                       -1, 0);
    }
    if (mapping == MAP_FAILED) {
        return NULL;
    }
    aligned = (char *)msp_round_up((uintptr_t)mapping, align_bytes);
    if (aligned > mapping) {
        munmap(mapping, (size_t)(aligned - mapping));
    }
    if (mapping + slack > aligned) {
        munmap(aligned + total, (size_t)(mapping + slack - aligned));
    }
    *mapped_p = total;
    return aligned;
}

/* The kernel may or may not have emptied [to, to + size) before it refused. An empty range may be
 * another thread's by now: it is left alone, at the cost of addresses. */
static void drop(char *to, size_t size_bytes, size_t mapped_bytes)
{
#ifdef MAP_FIXED_NOREPLACE
    if (mmap(to, size_bytes, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0) == to) {
        munmap(to, size_bytes);
    }
#endif
    if (mapped_bytes > size_bytes) {
        munmap(to + size_bytes, mapped_bytes - size_bytes);
    }
}

/* By the kernel's call: UCX replaces mremap() of the process by one that ignores where to. The
 * second step is for such libraries: they learn by calls of munmap() that registered pages are
 * gone. */
static bool move_pages(char *from, size_t from_bytes, char *to, size_t to_bytes)
{
    if (syscall(SYS_mremap, from, from_bytes, to_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to) !=
        (long)(uintptr_t)to) {
        return false;
    }
    drop(from, from_bytes, from_bytes);
    return true;
}

static memspan_status_t move(const struct host *host, const memspan_request_t *request,
                             memspan_block_t *block, size_t size_bytes,
                             memspan_resize_accept_t accept, void *context)
{
    size_t align =
        (request->align_bytes > msp_page_size()) ? request->align_bytes : msp_page_size();
    size_t old = host_block_mapped(block);
    size_t mapped;
    char *to;

    if ((size_bytes >= HOST_HUGE_PAGE_BYTES) && (align < HOST_HUGE_PAGE_BYTES)) {
        align = HOST_HUGE_PAGE_BYTES; /* the kernel moves a table of pages at a time then */
    }
    to = reserve(size_bytes, align, &mapped);
    if (to == NULL) {
        return refuse_resize(host, size_bytes, "mmap", errno);
    }
    if (!accept(context, to, size_bytes)) {
        munmap(to, mapped);
        return refuse_resize(host, size_bytes, "", 0);
    }
    if (!move_pages(block->address, block->size_bytes, to, size_bytes)) {
        int error = errno;

        drop(to, size_bytes, mapped);
        return refuse_resize(host, size_bytes, "mremap", error);
    }
    if (old > block->size_bytes) {
        munmap((char *)block->address + block->size_bytes, old - block->size_bytes);
    }
    block->address = to;
    set_size(block, size_bytes, mapped);
    return MEMSPAN_OK;
}

memspan_status_t host_resize(void *state, int ordinal, const memspan_request_t *request,
                             memspan_block_t *block_p, memspan_resize_accept_t accept,
                             void *context)
{
    const struct host *host = state;
    memspan_status_t status = MEMSPAN_OK;
    size_t size;
    size_t before;

    (void)ordinal;
    if ((request == NULL) || (block_p == NULL) || (accept == NULL) || (request->size_bytes == 0) ||
        (request->size_bytes > SIZE_MAX / 4)) {
        return host->services->fail(MEMSPAN_ERR_INVALID, "host", "", 0, "", NULL,
                                    "no block, or a size out of range");
    }
    if (!is_one_mapping(request, block_p)) {
        return MEMSPAN_ERR_UNSUPPORTED;
    }
    size   = msp_round_up(request->size_bytes, msp_page_size());
    before = block_p->size_bytes;
    if (size <= before) {
        return (size == before) ? MEMSPAN_OK : shrink(host, block_p, size, accept, context);
    }
    /* valgrind takes pages that mremap() brings into a reserve for memory that is not there. */
    if (!nodes_have(request, size - before) || msp_valgrind_runs()) {
        return MEMSPAN_ERR_UNSUPPORTED;
    }
    if ((block_p->flags & MEMSPAN_BLOCK_PINNED) != 0) {
        status = msp_lock_check_limit(host->services, "host", size - before);
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    status = (size <= host_block_mapped(block_p))
                 ? extend(host, block_p, size, accept, context)
                 : move(host, request, block_p, size, accept, context);
    if ((status == MEMSPAN_OK) && (before < HOST_HUGE_PAGE_BYTES)) {
        host_advise(host, request, block_p);
    }
    return status;
}
