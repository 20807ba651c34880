/* SPDX-License-Identifier: BSD-3-Clause */
/* capability.c: what a device can do, who says so, and which modes decide what memory it reaches.
 * A note names the driver's property and its bits: 1 may be used, 2 with the device's atomics, 4 by
 * host and device at once, 8 with atomics between them. */

#include "core/base/capability.h"
#include "backends/gpu/common.h"
#include "backends/level_zero/level_zero.h"
#include <stdio.h>

enum {
    USABLE  = LZ_MEMORY_ACCESS_CAP_FLAG_RW,
    AT_ONCE = LZ_MEMORY_ACCESS_CAP_FLAG_CONCURRENT,
    ATOMICS = LZ_MEMORY_ACCESS_CAP_FLAG_CONCURRENT_ATOMIC
};

static void fill_access(struct gpu_device *device)
{
    const struct lz_facts *f    = &lz_device(device)->facts;
    memspan_device_info_t *info = &device->info;
    bool atomics =
        ((f->host_access & (USABLE | AT_ONCE | ATOMICS)) == (USABLE | AT_ONCE | ATOMICS));

    msp_capability_set(info, MEMSPAN_CAN_SHARE_ADDRESSES, true,
                       "Level Zero: an address is the same in host and devices");
    msp_capability_set(info, MEMSPAN_CAN_ACCESS_CONCURRENT, (f->shared_access & AT_ONCE) != 0,
                       "sharedSingleDeviceAllocCapabilities %#x", f->shared_access);
    msp_capability_set(info, MEMSPAN_CAN_ACCESS_PAGEABLE, (f->system_access & USABLE) != 0,
                       "sharedSystemAllocCapabilities %#x", f->system_access);
    msp_capability_set(info, MEMSPAN_CAN_HOST_ATOMICS, atomics, "hostAllocCapabilities %#x%s",
                       f->host_access, f->host_claimed ? " by MEMSPAN_LEVEL_ZERO_PINNED" : "");
    msp_capability_set(info, MEMSPAN_CAN_IMPORT,
                       device->facts.registers || device->facts.needs_no_import, "%s",
                       lz_import_source(device));
    msp_capability_set(info, MEMSPAN_CAN_PREFETCH, (f->shared_access & USABLE) != 0,
                       "sharedSingleDeviceAllocCapabilities %#x", f->shared_access);
    msp_capability_set(info, MEMSPAN_CAN_UNIFIED_PHYSICAL, device->facts.integrated,
                       "ZE_DEVICE_PROPERTY_FLAG_INTEGRATED %d", device->facts.integrated);
}

static void fill_sharing(struct gpu_device *device)
{
    const struct lz_facts *f    = &lz_device(device)->facts;
    memspan_device_info_t *info = &device->info;
    bool fetched                = gpu_offers_fds();
    bool ipc = lz_device(device)->driver->shares && ((f->device_access & USABLE) != 0) && fetched;

    msp_capability_set(info, MEMSPAN_CAN_IPC, ipc,
                       "ZE_IPC_PROPERTY_FLAG_MEMORY %d, deviceAllocCapabilities %#x%s; "
                       "the other process must see the device",
                       lz_device(device)->driver->shares, f->device_access,
                       fetched ? "" : ", pidfd_getfd is forbidden");
    msp_capability_set(info, MEMSPAN_CAN_DMABUF, f->dmabuf,
                       "memoryAllocationExportTypes: DMA_BUF %d", f->dmabuf);
    msp_capability_set(info, MEMSPAN_CAN_RDMA, false,
                       "Level Zero has no property for it; a network library takes the dma-buf "
                       "(DMA_BUF %d)",
                       f->dmabuf);
    msp_capability_set(info, MEMSPAN_CAN_KERNELS, f->fp64, "ZE_DEVICE_MODULE_FLAG_FP64 %d%s",
                       f->fp64, f->fp64 ? "" : ": kernels without double precision run");
}

static void fill_modes(struct gpu_device *device)
{
    const struct lz_facts *f    = &lz_device(device)->facts;
    memspan_device_info_t *info = &device->info;
    bool system                 = (f->system_access & USABLE) != 0;
    bool at_once                = (f->shared_access & AT_ONCE) != 0;
    char source[112];

    snprintf(source, sizeof(source), "sharedSystemAllocCapabilities %#x: malloc memory is %s",
             f->system_access, system ? "the device's as well" : "the host's alone");
    msp_mode_set(info, "unified shared memory", system, source,
                 system ? ""
                        : "it takes the kernel's xe driver with CONFIG_DRM_XE_GPUSVM and a "
                          "device that faults; Intel's runtime also takes NEOReadDebugKeys=1 "
                          "EnableSharedSystemUsmSupport=1");
    snprintf(source, sizeof(source), "sharedSingleDeviceAllocCapabilities %#x: %s",
             f->shared_access,
             at_once ? "host and device may use shared memory at once"
                     : "one side at a time, synchronised");
    msp_mode_set(info, "concurrent shared memory", at_once, source,
                 at_once ? "" : "it cannot be turned on: the device does not fault on pages");
}

void lz_fill_capabilities(struct gpu_device *device)
{
    fill_access(device);
    fill_sharing(device);
    fill_modes(device);
}

void lz_peer_source(const struct gpu_device *from, const struct gpu_device *home, char *text,
                    size_t size)
{
    if (lz_device(from)->driver != lz_device(home)->driver) {
        snprintf(text, size, "two drivers of Level Zero share nothing");
        return;
    }
    snprintf(text, size, "zeDeviceCanAccessPeer %d, ZE_DEVICE_P2P_PROPERTY_FLAG_ATOMICS %d",
             gpu_peer_can(home->state, from->ordinal, home->ordinal), lz_peer_atomics(from, home));
}
