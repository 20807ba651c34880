/* SPDX-License-Identifier: BSD-3-Clause */
/* describe.c: the facts about a device of the OpenMP runtime, and the devices that reach its
 * memory.
 *
 * The runtime reports little: the number of devices, and in newer versions an identifier. All else
 * is reported as unknown. Only a device whose memory was seen to be the host's (probe.c) is
 * promised more than the calls' own meaning. */

#include "backends/openmp/openmp.h"
#include "core/base/capability.h"
#include "core/base/platform.h"
#include <stdio.h>
#include <string.h>

#define KIND_BIT(kind) (1u << MEMSPAN_KIND_##kind)

unsigned openmp_kinds(const struct openmp *openmp, int ordinal)
{
    unsigned kinds = KIND_BIT(DEVICE);

    if (openmp->is_host[ordinal]) {
        return kinds | KIND_BIT(HOST_PINNED) | KIND_BIT(MANAGED) | KIND_BIT(COHERENT);
    }
    kinds |= (openmp->calls.alloc_host != NULL) ? KIND_BIT(HOST_PINNED) : 0;
    kinds |= (openmp->calls.alloc_shared != NULL) ? KIND_BIT(MANAGED) : 0;
    return kinds;
}

static void note(memspan_device_info_t *info, memspan_kind_t kind, const char *text)
{
    snprintf(info->kind_note[kind], sizeof(info->kind_note[kind]), "%s", text);
}

/* A device that runs on the host's processors. */
static void note_host_device(const struct openmp *openmp, memspan_device_info_t *info)
{
    bool llvm = openmp->calls.alloc_host != NULL;

    note(info, MEMSPAN_KIND_HOST_PINNED,
         llvm ? "llvm_omp_target_alloc_host, pages locked by mlock"
              : "omp_target_alloc, pages locked by mlock");
    note(info, MEMSPAN_KIND_MANAGED,
         (openmp->calls.alloc_shared != NULL)
             ? "llvm_omp_target_alloc_shared: host memory, nothing has to move"
             : "omp_target_alloc: host memory, nothing has to move");
    note(info, MEMSPAN_KIND_COHERENT,
         llvm ? "llvm_omp_target_alloc_host: the device was seen to use host memory"
              : "omp_target_alloc: the device was seen to use host memory");
    note(info, MEMSPAN_KIND_DEVICE, "omp_target_alloc: host memory, seen when it was probed");
    info->kinds_without_gain = KIND_BIT(MANAGED);
    info->page_size_bytes    = msp_page_size();
}

static void note_device(const struct openmp *openmp, memspan_device_info_t *info)
{
    static const char no_llvm[] = "not offered: this OpenMP runtime has only omp_target_alloc";

    note(info, MEMSPAN_KIND_HOST_PINNED,
         (openmp->calls.alloc_host != NULL) ? "llvm_omp_target_alloc_host" : no_llvm);
    note(info, MEMSPAN_KIND_MANAGED,
         (openmp->calls.alloc_shared != NULL) ? "llvm_omp_target_alloc_shared" : no_llvm);
    note(info, MEMSPAN_KIND_COHERENT,
         "not offered: the OpenMP runtime does not say whether host and device may work at once");
    note(info, MEMSPAN_KIND_DEVICE, "omp_target_alloc");
}

/* OpenMP has no query for any of this: the facts follow from the presence of a call, or from the
 * probe of the device. */
static void describe_capabilities(const struct openmp *openmp, int ordinal,
                                  memspan_device_info_t *info)
{
    static const unsigned of_host[] = {MEMSPAN_CAN_ACCESS_CONCURRENT, MEMSPAN_CAN_ACCESS_PAGEABLE,
                                       MEMSPAN_CAN_HOST_ATOMICS, MEMSPAN_CAN_UNIFIED_PHYSICAL};
    static const unsigned never[]   = {MEMSPAN_CAN_PREFETCH, MEMSPAN_CAN_IPC, MEMSPAN_CAN_DMABUF};
    bool is_host                    = openmp->is_host[ordinal];
    bool alloc_host                 = openmp->calls.alloc_host != NULL;
    bool lock                       = openmp->calls.lock != NULL;
    const char *seen = is_host ? "probe: its memory was seen to be this process's own"
                               : "OpenMP does not tell, and its memory is not this process's";
    size_t i;

    for (i = 0; i < sizeof(of_host) / sizeof(of_host[0]); i++) {
        msp_capability_set(info, of_host[i], is_host, "%s", seen);
    }
    for (i = 0; i < sizeof(never) / sizeof(never[0]); i++) {
        msp_capability_set(info, never[i], false, "OpenMP has no call for it");
    }
    msp_capability_set(info, MEMSPAN_CAN_RDMA, false, "OpenMP has no call for it%s",
                       is_host ? "; a network registers its memory as the host's" : "");
    if (is_host) {
        msp_capability_set(info, MEMSPAN_CAN_SHARE_ADDRESSES, true, "%s", seen);
        msp_capability_set(info, MEMSPAN_CAN_IMPORT, true, "%s", seen);
    } else {
        msp_capability_set(info, MEMSPAN_CAN_SHARE_ADDRESSES, alloc_host,
                           "llvm_omp_target_alloc_host %s", alloc_host ? "there" : "missing");
        msp_capability_set(info, MEMSPAN_CAN_IMPORT, lock, "llvm_omp_target_lock_mem %s",
                           lock ? "there" : "missing");
    }
    msp_capability_set(info, MEMSPAN_CAN_KERNELS, false,
                       "in an OpenMP program kernels are its target regions");
}

static void describe_names(const struct openmp *openmp, int ordinal, memspan_device_info_t *info)
{
    const char *uid = (openmp->calls.uid != NULL) ? openmp->calls.uid(ordinal) : NULL;

    snprintf(info->name, sizeof(info->name), "OpenMP device %d%s", ordinal,
             openmp->is_host[ordinal] ? " (on the host's processors)" : "");
    snprintf(info->driver, sizeof(info->driver), "%s", openmp->runtime);
    if ((uid != NULL) && (uid[0] != '\0')) {
        snprintf(info->uid, sizeof(info->uid), "%s", uid);
    } else {
        snprintf(info->uid, sizeof(info->uid), "openmp:%d", ordinal);
    }
}

memspan_status_t openmp_describe(void *state, int ordinal, memspan_device_info_t *info_p)
{
    const struct openmp *openmp = state;
    memspan_device_info_t info;
    memspan_status_t status = openmp_check_ordinal(openmp, ordinal);

    if ((status != MEMSPAN_OK) || (info_p == NULL)) {
        return (status != MEMSPAN_OK)
                   ? status
                   : openmp->services->fail(MEMSPAN_ERR_INVALID, "openmp", "", 0, "", NULL,
                                            "device %d: info_p is NULL", ordinal);
    }
    /* Members that the library fills are left as they are. */
    info = (memspan_device_info_t){
        .struct_size     = info_p->struct_size,
        .number          = info_p->number,
        .ordinal         = ordinal,
        .numa_node       = -1,
        .capacity_bytes  = MEMSPAN_UNKNOWN,
        .free_bytes      = MEMSPAN_UNKNOWN,
        .alloc_max_bytes = MEMSPAN_UNKNOWN,
        .page_size_bytes = MEMSPAN_UNKNOWN,
        .capacity_source = "OpenMP does not tell",
        .kinds           = openmp_kinds(openmp, ordinal),
    };
    memcpy(info.backend, info_p->backend, sizeof(info.backend));
    describe_names(openmp, ordinal, &info);
    note(&info, MEMSPAN_KIND_HOST, "the host's kind: the host's backend serves it");
    if (openmp->is_host[ordinal]) {
        note_host_device(openmp, &info);
    } else {
        note_device(openmp, &info);
    }
    describe_capabilities(openmp, ordinal, &info);
    *info_p = info;
    return MEMSPAN_OK;
}

/* The host's own memory, or memory of a device that is the host; @p from is a device of its own. */
static memspan_reach_t reach_host_memory(const struct openmp *openmp)
{
    return (memspan_reach_t){(openmp->calls.lock != NULL) ? MEMSPAN_ACCESS_REGISTER
                                                          : MEMSPAN_ACCESS_COPY,
                             MEMSPAN_COHERENCE_NONE};
}

memspan_reach_t openmp_reach(void *state, int home, memspan_kind_t kind, int from)
{
    static const memspan_reach_t nothing = {MEMSPAN_ACCESS_NONE, MEMSPAN_COHERENCE_NONE};
    static const memspan_reach_t all     = {MEMSPAN_ACCESS_LOCAL, MEMSPAN_COHERENCE_ATOMIC};
    static const memspan_reach_t copies  = {MEMSPAN_ACCESS_COPY, MEMSPAN_COHERENCE_NONE};
    const struct openmp *openmp          = state;
    bool offered;

    if ((home < MEMSPAN_HOST) || (home >= openmp->count) || (from < MEMSPAN_HOST) ||
        (from >= openmp->count) || (kind <= MEMSPAN_KIND_NONE) || (kind >= MEMSPAN_KIND_COUNT)) {
        return nothing;
    }
    offered = (home == MEMSPAN_HOST)
                  ? (kind == MEMSPAN_KIND_HOST) || (kind == MEMSPAN_KIND_HOST_PINNED)
                  : (openmp_kinds(openmp, home) & (1u << kind)) != 0;
    if (!offered) {
        return nothing;
    }
    /* A device on the host's processors reaches the host's memory, as the host does. */
    from = ((from != MEMSPAN_HOST) && openmp->is_host[from]) ? MEMSPAN_HOST : from;
    if ((home == MEMSPAN_HOST) || openmp->is_host[home]) {
        return (from == MEMSPAN_HOST) ? all : reach_host_memory(openmp);
    }
    if (kind == MEMSPAN_KIND_DEVICE) {
        return (from == home) ? all : copies;
    }
    if ((from != home) && (from != MEMSPAN_HOST)) {
        return copies; /* llvm_omp_target_alloc_*(size, device) promises that one device */
    }
    if (kind == MEMSPAN_KIND_MANAGED) {
        return (memspan_reach_t){MEMSPAN_ACCESS_FAULT, MEMSPAN_COHERENCE_SYNC};
    }
    return (memspan_reach_t){(from == home) ? MEMSPAN_ACCESS_REMOTE : MEMSPAN_ACCESS_LOCAL,
                             MEMSPAN_COHERENCE_CONCURRENT};
}

void openmp_reach_source(void *state, int home, memspan_kind_t kind, int from, char *text,
                         size_t size)
{
    const struct openmp *openmp = state;

    text[0] = '\0';
    if ((home < MEMSPAN_HOST) || (home >= openmp->count) || (from >= openmp->count)) {
        return;
    }
    if (from == home) {
        snprintf(text, size, "its own");
    } else if ((home != MEMSPAN_HOST) && openmp->is_host[home]) {
        snprintf(text, size, "probe: its memory was seen to be this process's own");
    } else {
        snprintf(text, size, "%s",
                 (kind == MEMSPAN_KIND_DEVICE) ? "omp_target_memcpy; OpenMP tells no more"
                                               : "what the calls of OpenMP promise");
    }
}
