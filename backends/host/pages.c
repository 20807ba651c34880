/* SPDX-License-Identifier: BSD-3-Clause */
/* pages.c: address ranges from mmap().
 *
 * An alignment above the page is had by mapping that much more and giving back both ends, so that a
 * block is exactly one mapping and munmap(address, size) is all that freeing takes. */

#include "backends/host/host.h"
#include "core/base/file.h"
#include "core/base/platform.h"
#include "core/base/text.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MAP_HUGE_SHIFT
#define MAP_HUGE_SHIFT 26
#endif

static uint64_t read_pool(size_t page_size_bytes, const char *name)
{
    char path[96];
    uint64_t count;

    snprintf(path, sizeof(path), "/sys/kernel/mm/hugepages/hugepages-%zukB/%s",
             page_size_bytes >> 10, name);
    return msp_file_number(path, &count) ? count : UINT64_MAX;
}

bool host_pages_reserved(size_t size_bytes, size_t page_size_bytes)
{
    uint64_t available = read_pool(page_size_bytes, "free_hugepages");
    uint64_t taken     = read_pool(page_size_bytes, "resv_hugepages");

    return (available != UINT64_MAX) && (taken != UINT64_MAX) && (available > taken) &&
           (available - taken >= (size_bytes + page_size_bytes - 1) / page_size_bytes);
}

static memspan_status_t refuse_huge(const struct host *host, size_t size_bytes,
                                    size_t page_size_bytes, int error)
{
    uint64_t total     = read_pool(page_size_bytes, "nr_hugepages");
    uint64_t available = read_pool(page_size_bytes, "free_hugepages");
    size_t wanted      = size_bytes / page_size_bytes;
    char page[32];
    char hint[160];

    msp_text_from_size(page, sizeof(page), page_size_bytes);
    if (total == UINT64_MAX) {
        return host->services->fail(MEMSPAN_ERR_UNSUPPORTED, "host", "mmap", error,
                                    strerrordesc_np(error),
                                    "/sys/kernel/mm/hugepages lists the sizes that there are",
                                    "this machine has no pages of %s", page);
    }
    snprintf(hint, sizeof(hint),
             "reserve them: echo %" PRIu64
             " > /sys/kernel/mm/hugepages/hugepages-%zukB/nr_hugepages",
             total - available + wanted, page_size_bytes >> 10);
    return host->services->fail(
        MEMSPAN_ERR_NO_MEMORY, "host", "mmap", error, strerrordesc_np(error), hint,
        "%zu huge pages of %s wanted; %llu are reserved on this machine, %llu of them free", wanted,
        page, (unsigned long long)total, (unsigned long long)available);
}

const char *host_limits_hint(int error)
{
    return (error == EAGAIN)
               ? "after mlockall() every page counts as locked: raise the limit (ulimit -l)"
               : "limits that count: ulimit -v, vm.overcommit_memory and vm.max_map_count";
}

static memspan_status_t refuse_plain(const struct host *host, size_t size_bytes, int error)
{
    char size[32];

    return host->services->fail(MEMSPAN_ERR_NO_MEMORY, "host", "mmap", error,
                                strerrordesc_np(error), host_limits_hint(error),
                                "no address range of %s",
                                msp_text_from_size(size, sizeof(size), size_bytes));
}

/* Gives back the parts of a mapping outside [aligned, aligned + size). */
static void *trim(char *mapping, size_t mapped_bytes, size_t size_bytes, size_t align_bytes)
{
    char *aligned = (char *)msp_round_up((uintptr_t)mapping, align_bytes);
    size_t before = (size_t)(aligned - mapping);
    size_t after  = mapped_bytes - before - size_bytes;

    if (before > 0) {
        munmap(mapping, before);
    }
    if (after > 0) {
        munmap(aligned + size_bytes, after);
    }
    return aligned;
}

static void *map(size_t size_bytes, int flags)
{
    return mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
}

/* @p slack_bytes: how much more makes sure that an aligned part is among it. The kernel aligns
 * large mappings by itself, and only there a first try without slack is worth its call. */
static void *map_aligned(size_t size_bytes, size_t align_bytes, size_t slack_bytes, int flags)
{
    void *mapping;

    if ((slack_bytes == 0) || (size_bytes >= HOST_HUGE_PAGE_BYTES)) {
        mapping = map(size_bytes, flags);
        if ((mapping == MAP_FAILED) || ((uintptr_t)mapping % align_bytes == 0)) {
            return mapping;
        }
        munmap(mapping, size_bytes);
    }
    mapping = map(size_bytes + slack_bytes, flags);
    return (mapping == MAP_FAILED)
               ? mapping
               : trim(mapping, size_bytes + slack_bytes, size_bytes, align_bytes);
}

memspan_status_t host_pages_map(const struct host *host, size_t size_bytes, size_t align_bytes,
                                size_t page_size_bytes, void **address_p, size_t *size_p)
{
    bool huge         = (page_size_bytes > msp_page_size());
    size_t page_bytes = huge ? page_size_bytes : msp_page_size();
    size_t size       = msp_round_up(size_bytes, page_bytes);
    size_t slack      = (align_bytes > page_bytes) ? align_bytes - page_bytes : 0;
    int flags         = MAP_PRIVATE | MAP_ANONYMOUS;
    void *mapping;

    if ((size == 0) || (size > SIZE_MAX - slack)) {
        return refuse_plain(host, size_bytes, ENOMEM);
    }
    if (huge) {
        flags |= MAP_HUGETLB | (__builtin_ctzl(page_bytes) << MAP_HUGE_SHIFT);
    }
    mapping = map_aligned(size, align_bytes, slack, flags);
    if (mapping == MAP_FAILED) {
        return huge ? refuse_huge(host, size, page_bytes, errno) : refuse_plain(host, size, errno);
    }
    *address_p = mapping;
    *size_p    = size;
    return MEMSPAN_OK;
}
