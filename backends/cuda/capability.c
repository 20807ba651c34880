/* SPDX-License-Identifier: BSD-3-Clause */
/* capability.c: a device's capabilities with their sources, and the modes that decide which memory
 * it reaches. A note names the driver's attribute and its value, or the call that the driver lacks.
 */

#include "core/base/capability.h"
#include "backends/cuda/cuda.h"
#include <stdio.h>

static void fill_access(struct gpu_device *device)
{
    const struct gpu_facts *f   = &device->facts;
    const struct cuda_calls *cu = cuda_calls(device->state);
    memspan_device_info_t *info = &device->info;
    bool prefetches = (cu->cuMemPrefetchAsync_v2 != NULL) || (cu->cuMemPrefetchAsync != NULL);

    msp_capability_set(info, MEMSPAN_CAN_SHARE_ADDRESSES, f->unified_addressing,
                       "UNIFIED_ADDRESSING %d", f->unified_addressing);
    if (f->managed) {
        msp_capability_set(info, MEMSPAN_CAN_ACCESS_CONCURRENT, f->concurrent,
                           "CONCURRENT_MANAGED_ACCESS %d", f->concurrent);
    } else {
        msp_capability_set(info, MEMSPAN_CAN_ACCESS_CONCURRENT, false,
                           "no managed memory (MANAGED_MEMORY 0, or no cuMemAllocManaged)");
    }
    msp_capability_set(info, MEMSPAN_CAN_ACCESS_PAGEABLE, f->pageable, "PAGEABLE_MEMORY_ACCESS %d",
                       f->pageable);
    msp_capability_set(info, MEMSPAN_CAN_HOST_ATOMICS, f->host_atomics,
                       "HOST_NATIVE_ATOMIC_SUPPORTED %d", f->host_atomics);
    msp_capability_set(info, MEMSPAN_CAN_IMPORT, f->same_address || f->host_page_tables,
                       "HOST_REGISTER_SUPPORTED %d, CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM "
                       "%d, ...USES_HOST_PAGE_TABLES %d",
                       f->registers, f->same_address, f->host_page_tables);
    msp_capability_set(info, MEMSPAN_CAN_PREFETCH, f->concurrent && prefetches,
                       prefetches ? "CONCURRENT_MANAGED_ACCESS %d"
                                  : "the driver has no cuMemPrefetchAsync "
                                    "(CONCURRENT_MANAGED_ACCESS %d)",
                       f->concurrent);
}

static void fill_sharing(struct gpu_device *device)
{
    const struct cuda_facts *f  = &cuda_device(device)->facts;
    const struct cuda_calls *cu = cuda_calls(device->state);
    memspan_device_info_t *info = &device->info;
    bool dmabuf                 = device->facts.dmabuf;
    bool legacy                 = device->facts.ipc;

    msp_capability_set(info, MEMSPAN_CAN_IPC, legacy || f->shares_fd || f->shares_fabric,
                       "cuIpcGetMemHandle %s; HANDLE_TYPE_POSIX_FILE_DESCRIPTOR %d%s, FABRIC "
                       "%d",
                       legacy ? "there"
                              : (device->facts.integrated ? "not for integrated memory"
                                                          : "missing, or IPC_EVENT_SUPPORTED 0"),
                       f->makes_fd, (f->makes_fd && !f->shares_fd) ? " (no right to fetch)" : "",
                       f->shares_fabric);
    msp_capability_set(info, MEMSPAN_CAN_DMABUF, dmabuf,
                       (cu->cuMemGetHandleForAddressRange == NULL)
                           ? "the driver has no cuMemGetHandleForAddressRange (%d)"
                           : "DMA_BUF_SUPPORTED %d",
                       dmabuf);
    msp_capability_set(info, MEMSPAN_CAN_RDMA, f->rdma,
                       "GPU_DIRECT_RDMA_SUPPORTED %d, GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED %d",
                       f->rdma, f->rdma_vmm);
}

/* The driver, the kernel and the hardware decide whether a device reaches plain host memory, and
 * whether both sides may use managed memory at once; no call at run time answers that. */
static void fill_modes(struct gpu_device *device)
{
    const struct gpu_facts *f   = &device->facts;
    memspan_device_info_t *info = &device->info;

    msp_mode_set(
        info, "pageable memory access", f->pageable,
        f->pageable ? (f->host_page_tables ? "PAGEABLE_MEMORY_ACCESS 1: malloc memory is reached "
                                             "through the host's page tables"
                                           : "PAGEABLE_MEMORY_ACCESS 1: malloc memory moves to the "
                                             "device by faults (Linux HMM)")
                    : "PAGEABLE_MEMORY_ACCESS 0: a kernel that touches malloc memory fails",
        f->pageable ? ""
                    : "HMM takes Linux 6.1.24 or later with CONFIG_HMM_MIRROR, NVIDIA's open "
                      "kernel modules from 535 on with uvm_disable_hmm=0, and a GPU from Turing "
                      "on; else Grace");
    msp_mode_set(info, "coherent page tables", f->host_page_tables,
                 f->host_page_tables
                     ? "PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES 1"
                     : "PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES 0: no address translation "
                       "shared with the processor",
                 f->host_page_tables
                     ? ""
                     : "it cannot be turned on: hardware with NVLink-C2C (Grace) has it");
    msp_mode_set(
        info, "concurrent managed access", f->concurrent,
        f->concurrent ? "CONCURRENT_MANAGED_ACCESS 1: host and device may use managed memory at "
                        "once"
                      : "CONCURRENT_MANAGED_ACCESS 0: no host access to managed memory while a "
                        "kernel runs",
        f->concurrent ? ""
                      : "it takes a GPU from Pascal on under Linux itself, not under WSL or in a "
                        "virtual GPU without unified memory");
}

void cuda_fill_capabilities(struct gpu_device *device)
{
    memspan_device_info_t *info = &device->info;
    int capability              = cuda_device(device)->facts.capability;

    fill_access(device);
    fill_sharing(device);
    msp_capability_set(info, MEMSPAN_CAN_KERNELS, cuda_has_kernels(device),
                       "the driver compiles PTX from compute capability 5.0 on; this is %d.%d",
                       capability / 10, capability % 10);
    msp_capability_set(info, MEMSPAN_CAN_UNIFIED_PHYSICAL, device->facts.integrated,
                       "INTEGRATED %d", device->facts.integrated);
    fill_modes(device);
}

void cuda_peer_source(const struct gpu_device *from, const struct gpu_device *home, char *text,
                      size_t size)
{
    enum gpu_peer peer = gpu_peer_get(home->state, from->ordinal, home->ordinal);

    if (!cuda_has_peers(home->state)) {
        snprintf(text, size, "the driver has no cuDeviceCanAccessPeer");
    } else if (peer == GPU_PEER_BROKEN) {
        snprintf(text, size, "cuCtxEnablePeerAccess failed, after cuDeviceCanAccessPeer 1");
    } else {
        snprintf(text, size, "cuDeviceCanAccessPeer %d", peer != GPU_PEER_NO);
    }
}
