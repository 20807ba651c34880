/* SPDX-License-Identifier: BSD-3-Clause */
/* capability.c: a device's capabilities with their sources, and the modes that decide which memory
 * it reaches. A note names the driver's attribute and its value, the call that it lacks, or the
 * kernel's file.
 *
 * There is no attribute for XNACK itself: a device reaches pageable memory where XNACK is on (or
 * where it uses the host's page tables), and which devices can have it follows from their
 * generation. */

#include "core/base/capability.h"
#include "backends/hip/hip.h"
#include <stdio.h>
#include <unistd.h>

/* The kernel's interface for network cards from before dma-buf. */
#define PEER_MEMORY "/sys/kernel/mm/memory_peers/amdkfd/version"

static void fill_access(struct gpu_device *device)
{
    const struct gpu_facts *f   = &device->facts;
    memspan_device_info_t *info = &device->info;
    bool coarse                 = hip_managed_is_coarse(device);
    bool prefetches             = hip_calls(device->state)->hipMemPrefetchAsync != NULL;
    char words[64];

    hip_xnack_words(device, words, sizeof(words));
    msp_capability_set(info, MEMSPAN_CAN_SHARE_ADDRESSES, f->unified_addressing,
                       "UnifiedAddressing %d", f->unified_addressing);
    msp_capability_set(info, MEMSPAN_CAN_ACCESS_CONCURRENT, f->concurrent && !coarse,
                       "ManagedMemory %d, ConcurrentManagedAccess %d%s", f->managed, f->concurrent,
                       coarse ? "; advised coarse-grained (MEMSPAN_HIP_GRAIN=fine)" : "");
    msp_capability_set(info, MEMSPAN_CAN_ACCESS_PAGEABLE, f->pageable,
                       "PageableMemoryAccess %d: %s", f->pageable, words);
    msp_capability_set(info, MEMSPAN_CAN_HOST_ATOMICS, f->host_atomics,
                       "HostNativeAtomicSupported %d", f->host_atomics);
    msp_capability_set(info, MEMSPAN_CAN_IMPORT, f->same_address || f->pageable,
                       "a page registered at open %s; PageableMemoryAccess %d",
                       f->same_address ? "kept its address" : "did not keep its address",
                       f->pageable);
    msp_capability_set(info, MEMSPAN_CAN_PREFETCH, f->concurrent && prefetches,
                       prefetches ? "ConcurrentManagedAccess %d"
                                  : "the driver has no hipMemPrefetchAsync "
                                    "(ConcurrentManagedAccess %d)",
                       f->concurrent);
    msp_capability_set(info, MEMSPAN_CAN_UNIFIED_PHYSICAL, f->integrated || f->host_page_tables,
                       "Integrated %d, PageableMemoryAccessUsesHostPageTables %d", f->integrated,
                       f->host_page_tables);
}

static void fill_sharing(struct gpu_device *device)
{
    const struct hip_state *state = hip_state(device->state);
    memspan_device_info_t *info   = &device->info;
    bool dmabuf                   = device->facts.dmabuf;
    bool peer_memory              = access(PEER_MEMORY, F_OK) == 0;
    bool ipc                      = device->facts.ipc;
    bool has_ipc                  = hip_has_ipc(device->state);

    msp_capability_set(info, MEMSPAN_CAN_IPC, ipc,
                       "the driver %s hipIpcGetMemHandle%s; the other process must see the device",
                       has_ipc ? "has" : "lacks",
                       (has_ipc && !ipc) ? ", which answers that it is not supported" : "");
    msp_capability_set(info, MEMSPAN_CAN_DMABUF, dmabuf,
                       (state->hsa.hsa_system_get_info != NULL)
                           ? "HSA_AMD_SYSTEM_INFO_DMABUF_SUPPORTED %d"
                           : "no libhsa-runtime64; hipMemGetHandleForAddressRange %d",
                       dmabuf);
    msp_capability_set(info, MEMSPAN_CAN_RDMA, dmabuf || peer_memory, "dma-buf %s; %s %s",
                       dmabuf ? "yes" : "no", PEER_MEMORY, peer_memory ? "there" : "absent");
    msp_capability_set(info, MEMSPAN_CAN_KERNELS, hip_has_kernels(device->state),
                       state->has_compiler ? "libhiprtc compiles them" : "there is no libhiprtc");
}

/* Only facts of the generation are reported: an unknown device may be one that can. */
static const char *xnack_remedy(const struct gpu_device *device)
{
    const struct gpu_facts *f = &device->facts;
    unsigned target           = hip_device(device)->facts.target;

    if (f->pageable) {
        return "";
    }
    if ((target != 0) && (target / 10000 != 9)) {
        return "it cannot be turned on: only GPUs of generation 9 (gfx90a, gfx94x) have it";
    }
    if (!f->managed) {
        return "it takes a kernel whose amdgpu has HMM (CONFIG_HSA_AMD_SVM), then HSA_XNACK=1";
    }
    return "HSA_XNACK=1 before the program starts; code must be compiled for xnack+ or for any; "
           "gfx906 and gfx908 also take the kernel's amdgpu.noretry=0";
}

static void fill_modes(struct gpu_device *device)
{
    const struct gpu_facts *f   = &device->facts;
    memspan_device_info_t *info = &device->info;
    bool fine                   = hip_device(device)->facts.fine_grain;
    bool all_coarse             = hip_state(device->state)->coarse;
    bool coarse                 = hip_managed_is_coarse(device);
    char source[112];
    char words[64];

    hip_xnack_words(device, words, sizeof(words));
    snprintf(source, sizeof(source), "PageableMemoryAccess %d: %s", f->pageable, words);
    msp_mode_set(info, "XNACK", f->pageable && !f->host_page_tables, source,
                 f->host_page_tables ? "not needed: the device uses the host's page tables"
                                     : xnack_remedy(device));
    msp_mode_set(info, "fine-grained device memory", fine && !all_coarse,
                 !fine ? "IsLargeBar 0, or no hipExtMallocWithFlags"
                       : (all_coarse ? "large BAR; MEMSPAN_HIP_GRAIN=coarse"
                                     : "large BAR; MEMSPAN_HIP_GRAIN=fine"),
                 !fine ? "large BAR (Resizable BAR, above-4G decoding) is set in the firmware"
                       : (all_coarse ? "MEMSPAN_HIP_GRAIN=fine" : ""));
    msp_mode_set(info, "concurrent managed access", f->concurrent && !coarse,
                 !f->concurrent ? "ConcurrentManagedAccess 0"
                                : (coarse ? "advised coarse-grained by MEMSPAN_HIP_GRAIN=coarse"
                                          : "ConcurrentManagedAccess 1"),
                 !f->concurrent ? "it takes Linux's HMM in the kernel's amdgpu"
                                : (coarse ? "MEMSPAN_HIP_GRAIN=fine" : ""));
}

void hip_fill_capabilities(struct gpu_device *device)
{
    fill_access(device);
    fill_sharing(device);
    fill_modes(device);
}

void hip_peer_source(const struct gpu_device *from, const struct gpu_device *home, char *text,
                     size_t size)
{
    const struct hip_state *state = hip_state(home->state);
    enum gpu_peer peer            = gpu_peer_get(&state->gpu, from->ordinal, home->ordinal);
    int at                        = from->ordinal * state->gpu.device_count + home->ordinal;

    if (!hip_has_peers(&state->gpu)) {
        snprintf(text, size, "the driver has no hipDeviceCanAccessPeer");
    } else if (peer == GPU_PEER_BROKEN) {
        snprintf(text, size, "hipDeviceEnablePeerAccess failed, after hipDeviceCanAccessPeer 1");
    } else {
        snprintf(text, size, "hipDeviceCanAccessPeer %d, NativeAtomicSupported %d",
                 peer != GPU_PEER_NO, (state->peer_atomics != NULL) && state->peer_atomics[at]);
    }
}
