/* SPDX-License-Identifier: BSD-3-Clause */
/* describe.c: the host as a device. A dozen small files are read, and no topology. */

#include "backends/host/host.h"
#include "core/base/capability.h"
#include "core/base/platform.h"
#include "core/base/process.h"
#include "core/base/text.h"
#include "core/topology/pages.h"
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>

static void describe_system(memspan_device_info_t *info)
{
    struct utsname system;

    host_processor_describe(info);
    info->name[strcspn(info->name, "\n")]     = '\0';
    info->vendor[strcspn(info->vendor, "\n")] = '\0';
    if (uname(&system) != 0) {
        return;
    }
    snprintf(info->driver, sizeof(info->driver), "%.32s %.60s", system.sysname, system.release);
    if (info->name[0] == '\0') {
        snprintf(info->name, sizeof(info->name), "%.64s", system.machine);
    }
}

static void describe_memory(memspan_device_info_t *info)
{
    struct msp_memory_limits limits;
    struct rlimit space;

    msp_memory_limits_read(&limits);
    info->capacity_bytes  = limits.capacity_bytes;
    info->free_bytes      = limits.free_bytes;
    info->alloc_max_bytes = limits.capacity_bytes;
    snprintf(info->capacity_source, sizeof(info->capacity_source), "%s", limits.source);
    if ((getrlimit(RLIMIT_AS, &space) == 0) && (space.rlim_cur != RLIM_INFINITY) &&
        (space.rlim_cur < info->alloc_max_bytes)) {
        info->alloc_max_bytes = space.rlim_cur;
    }
}

static void describe_kinds(memspan_device_info_t *info)
{
    const size_t note_size = sizeof(info->kind_note[0]);
    struct msp_lock_limits lock;
    char limit[32];
    char locked[32];

    info->kinds            = 1u << MEMSPAN_KIND_HOST;
    info->kinds_migratable = 1u << MEMSPAN_KIND_HOST; /* by the kernel: nodes, swap */
    snprintf(info->kind_note[MEMSPAN_KIND_HOST], note_size, "pages from mmap");
    snprintf(info->kind_note[MEMSPAN_KIND_MANAGED], note_size,
             "a device's kind: the host alone needs nothing to move");
    snprintf(info->kind_note[MEMSPAN_KIND_COHERENT], note_size,
             "a device's kind: host memory is coherent among processors anyway");
    snprintf(info->kind_note[MEMSPAN_KIND_DEVICE], note_size,
             "a device's kind: the host's own memory is its host memory");

    msp_lock_limits_read(&lock);
    msp_text_from_size(limit, sizeof(limit), lock.limit_bytes);
    msp_text_from_size(locked, sizeof(locked), lock.locked_bytes);
    if (lock.limit_bytes == 0) {
        snprintf(info->kind_note[MEMSPAN_KIND_HOST_PINNED], note_size,
                 "not offered: this process may lock no memory (RLIMIT_MEMLOCK is 0)");
        return;
    }
    info->kinds |= 1u << MEMSPAN_KIND_HOST_PINNED;
    if (lock.limit_bytes == UINT64_MAX) {
        snprintf(info->kind_note[MEMSPAN_KIND_HOST_PINNED], note_size,
                 "pages locked by mlock; no limit for this process, %s locked now", locked);
    } else {
        snprintf(info->kind_note[MEMSPAN_KIND_HOST_PINNED], note_size,
                 "pages locked by mlock; at most %s (RLIMIT_MEMLOCK), %s locked now", limit,
                 locked);
    }
}

/* Facts that follow from its being the host, and those without a call on Linux. */
static void describe_capabilities(memspan_device_info_t *info)
{
    static const char itself[] = "it is the host";

    msp_capability_set(info, MEMSPAN_CAN_SHARE_ADDRESSES, true, "%s", itself);
    msp_capability_set(info, MEMSPAN_CAN_ACCESS_CONCURRENT, true, "%s", itself);
    msp_capability_set(info, MEMSPAN_CAN_ACCESS_PAGEABLE, true, "%s", itself);
    msp_capability_set(info, MEMSPAN_CAN_HOST_ATOMICS, true, "%s", itself);
    msp_capability_set(info, MEMSPAN_CAN_IMPORT, false, "its pages are imported by others");
    msp_capability_set(info, MEMSPAN_CAN_PREFETCH, false,
                       "nothing of it moves but by the kernel's own choice");
    msp_capability_set(info, MEMSPAN_CAN_IPC, false,
                       "private pages of mmap; memory of the symmetric heap is a memfd");
    msp_capability_set(info, MEMSPAN_CAN_DMABUF, false,
                       "host pages are no dma-buf; a network library registers them as they "
                       "are");
    msp_capability_set(info, MEMSPAN_CAN_RDMA, false,
                       "not asked of here: a network library registers plain host pages");
    msp_capability_set(info, MEMSPAN_CAN_KERNELS, true,
                       "functions of the library, in the calling thread");
    msp_capability_set(info, MEMSPAN_CAN_UNIFIED_PHYSICAL, true, "%s", itself);
}

memspan_status_t host_describe(void *state, int ordinal, memspan_device_info_t *info_p)
{
    const struct host *host = state;
    /* Members that the library fills are left as they are. */
    memspan_device_info_t info;

    if ((info_p == NULL) || ((ordinal != 0) && (ordinal != MEMSPAN_HOST))) {
        return host->services->fail(MEMSPAN_ERR_INVALID, "host", "", 0, "", NULL,
                                    "the host has no device %d, or info_p is NULL", ordinal);
    }
    info = (memspan_device_info_t){
        .struct_size     = info_p->struct_size,
        .number          = info_p->number,
        .ordinal         = 0,
        .uid             = "HOST",
        .numa_node       = -1,
        .page_size_bytes = msp_page_size(),
    };
    memcpy(info.backend, info_p->backend, sizeof(info.backend));
    describe_system(&info);
    describe_memory(&info);
    describe_kinds(&info);
    describe_capabilities(&info);
    *info_p = info;
    return MEMSPAN_OK;
}
