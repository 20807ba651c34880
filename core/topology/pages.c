/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/topology/pages.h"
#include "core/base/platform.h"
#include "core/topology/topology.h"
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MAP_HUGE_SHIFT
#define MAP_HUGE_SHIFT 26
#endif

/* @p size bytes, a multiple of @p page, on a boundary of @p align. NULL, with errno. */
static char *map(size_t size, size_t align, size_t page)
{
    bool huge = page > msp_page_size();
    int flags = MAP_PRIVATE | MAP_ANONYMOUS |
                (huge ? MAP_HUGETLB | (__builtin_ctzll(page) << MAP_HUGE_SHIFT) : 0);
    size_t total = size + ((align > page) ? align - page : 0);
    char *start  = mmap(NULL, total, PROT_READ | PROT_WRITE, flags, -1, 0);
    char *base;

    if (start == MAP_FAILED) {
        return NULL;
    }
    base = (char *)(((uintptr_t)start + align - 1) & ~((uintptr_t)align - 1));
    if (base > start) {
        munmap(start, (size_t)(base - start));
    }
    if (start + total > base + size) {
        munmap(base + size, (size_t)(start + total - (base + size)));
    }
    return base;
}

/* Parts, or equal shares of the nodes. */
static memspan_status_t bind_slices(const memspan_request_t *request, char *base, bool strict)
{
    size_t page  = msp_page_size();
    bool parts   = (request->spread == MEMSPAN_SPREAD_PARTS);
    size_t count = parts ? request->part_count : request->node_count;
    size_t equal = msp_round_up(request->size_bytes / (count ? count : 1) + 1, page);
    size_t done  = 0;
    size_t i;

    for (i = 0; (i < count) && (done < request->size_bytes); i++) {
        size_t size = parts ? msp_round_up(request->parts[i].size_bytes, page) : equal;
        int node    = parts ? request->parts[i].node : request->nodes[i];
        memspan_status_t status;

        size   = (size > request->size_bytes - done) ? request->size_bytes - done : size;
        status = msp_topology_bind(base + done, size, &node, 1, false, strict);
        if (status != MEMSPAN_OK) {
            return status;
        }
        done += size;
    }
    return MEMSPAN_OK;
}

memspan_status_t msp_pages_bind(const memspan_request_t *request, void *base, int *node_p)
{
    bool strict     = (request->flags & MEMSPAN_REQUEST_STRICT) != 0;
    bool interleave = (request->spread == MEMSPAN_SPREAD_INTERLEAVED);
    int here        = -1;
    size_t i;

    if ((request->node_count == 0) && (request->part_count == 0)) {
        return MEMSPAN_OK;
    }
    if ((request->spread == MEMSPAN_SPREAD_PARTS) || (request->spread == MEMSPAN_SPREAD_BLOCKED)) {
        return bind_slices(request, base, strict);
    }
    if (request->spread == MEMSPAN_SPREAD_NEAREST) {
        here = msp_numa_nearest(msp_numa_node_here(), request->nodes, request->node_count);
    } else if (((request->spread == MEMSPAN_SPREAD_ANY) && !strict) || (request->node_count == 1)) {
        here = request->nodes[0];
    }
    for (i = 0; (here >= 0) && (i < request->node_count); i++) {
        if (request->nodes[i] == here) {
            *node_p = here;
            return msp_topology_bind(base, request->size_bytes, &here, 1, false, strict);
        }
    }
    return msp_topology_bind(base, request->size_bytes, request->nodes, request->node_count,
                             interleave, strict);
}

memspan_status_t msp_pages_take(const memspan_services_t *services, const char *backend,
                                const memspan_request_t *request, memspan_block_t *pages_p)
{
    bool strict  = (request->flags & MEMSPAN_REQUEST_STRICT) != 0;
    size_t small = msp_page_size();
    size_t page  = (request->page_size_bytes > small) ? request->page_size_bytes : small;
    size_t align = (request->align_bytes > page) ? request->align_bytes : page;
    memspan_status_t bound;
    memspan_block_t given = {.page_size_bytes = page, .flags = MEMSPAN_BLOCK_ZEROED, .node = -1};

    if (!msp_is_power_of_two(page)) {
        return services->fail(MEMSPAN_ERR_INVALID, backend, "", 0, "", NULL,
                              "a page of %zu bytes is no power of two", page);
    }
    given.size_bytes = msp_round_up(request->size_bytes, page);
    given.address    = map(given.size_bytes, align, page);
    if (given.address == NULL) {
        int error = errno;
        return services->fail(MEMSPAN_ERR_NO_MEMORY, backend, "mmap", error, strerror(error),
                              (page > small) ? "reserve huge pages: vm.nr_hugepages" : NULL,
                              "no %zu bytes of host pages of %zu", given.size_bytes, page);
    }
    bound = msp_pages_bind(request, given.address, &given.node);
    if ((bound != MEMSPAN_OK) && strict) {
        msp_pages_give_back(given.address, given.size_bytes);
        return bound;
    }
    if (bound != MEMSPAN_OK) {
        given.node = -1;
        services->log(MEMSPAN_LOG_WARN, backend, "%zu bytes are not on the nodes asked for",
                      given.size_bytes);
    }
    *pages_p = given;
    return MEMSPAN_OK;
}

void msp_pages_advise(const memspan_services_t *services, const memspan_request_t *request,
                      void *address, size_t size_bytes)
{
    const uintptr_t huge = (uintptr_t)2 << 20;
    uintptr_t first      = ((uintptr_t)address + huge - 1) & ~(huge - 1);
    uintptr_t end        = ((uintptr_t)address + size_bytes) & ~(huge - 1);

    if ((first < end) && (request->page_size_bytes == 0) &&
        ((request->flags & MEMSPAN_REQUEST_SPARSE) == 0) &&
        (strcmp(services->option("MEMSPAN_HUGE_PAGES"), "off") != 0)) {
        madvise((void *)first, end - first, MADV_HUGEPAGE);
    }
}

/* A step of Knuth's linear congruential generator: the upper half is well mixed. */
static uint32_t draw(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*seed >> 32);
}

/* How many pages are in memory of [start, start + pages): of the first 4096 of them where any is.
 * -1: it is not mapped. */
static long count_resident(const char *start, size_t pages)
{
    enum { AT_ONCE = 4096 };
    unsigned char resident[AT_ONCE];
    long count      = 0;
    int saved_errno = errno;
    size_t at;
    size_t i;

    for (at = 0; (at < pages) && (count == 0); at += AT_ONCE) {
        size_t some = (pages - at < AT_ONCE) ? pages - at : AT_ONCE;

        if (mincore((void *)(uintptr_t)(start + at * msp_page_size()), some * msp_page_size(),
                    resident) != 0) {
            errno = saved_errno;
            return -1;
        }
        for (i = 0; i < some; i++) {
            count += resident[i] & 1;
        }
    }
    return count;
}

int msp_pages_touched(const void *address, size_t size_bytes)
{
    enum { WINDOWS = 16, WINDOW_PAGES = 128 };
    static _Atomic uint64_t calls;
    uint64_t seed     = atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
    const char *start = address;
    size_t pages      = size_bytes / msp_page_size();
    size_t stride     = (pages / WINDOWS > WINDOW_PAGES) ? pages / WINDOWS : WINDOW_PAGES;
    size_t seen       = 0;
    size_t touched    = 0;
    size_t at;

    for (at = 0; at < pages; at += stride) {
        size_t room   = (pages - at < stride) ? pages - at : stride;
        size_t count  = (room < WINDOW_PAGES) ? room : WINDOW_PAGES;
        size_t first  = at + draw(&seed) % (room - count + 1);
        long resident = count_resident(start + first * msp_page_size(), count);

        if (resident < 0) {
            return 0;
        }
        touched += (size_t)resident;
        seen += count;
    }
    if (touched == 0) {
        return (count_resident(start, pages) > 0) ? 1 : 0;
    }
    return 1 + (int)(touched * 99 / seen);
}

void msp_pages_keep_small(void *address, size_t size_bytes)
{
    (void)madvise(address, size_bytes, MADV_NOHUGEPAGE);
}

void msp_pages_allow_huge(void *address, size_t size_bytes)
{
    (void)madvise(address, size_bytes, MADV_HUGEPAGE);
}

void msp_pages_give_back(void *address, size_t size_bytes)
{
    munmap(address, size_bytes);
}

int msp_pages_lock(const void *address, size_t size_bytes)
{
    return (int)syscall(SYS_mlock, address, size_bytes);
}

void msp_pages_unlock(const void *address, size_t size_bytes)
{
    (void)syscall(SYS_munlock, address, size_bytes);
}
