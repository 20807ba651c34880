/* SPDX-License-Identifier: BSD-3-Clause */
/* describe.c: what the devices are, asked once when the backend is opened. What a driver does not
 * answer is taken for absent, and logged. */

#include "backends/gpu/common.h"
#include "backends/level_zero/level_zero.h"
#include "core/base/option.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *vendor_of(uint32_t vendor)
{
    switch (vendor) {
    case 0x8086:
        return "Intel Corporation";
    case 0x1002:
        return "Advanced Micro Devices, Inc.";
    case 0x10de:
        return "NVIDIA Corporation";
    default:
        return "";
    }
}

static memspan_status_t fill_names(struct lz_device *device)
{
    const struct gpu_state *state     = device->gpu.state;
    memspan_device_info_t *info       = &device->gpu.info;
    lz_device_properties_t properties = {.stype = LZ_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    lz_result_t code = lz_calls(state)->zeDeviceGetProperties(device->handle, &properties);

    if (code != ZE_RESULT_SUCCESS) {
        return gpu_error(state, LZ_ANSWER("zeDeviceGetProperties", code),
                         "Level Zero device %d does not tell what it is", device->gpu.ordinal);
    }
    snprintf(info->name, sizeof(info->name), "%.*s", (int)sizeof(info->name) - 1, properties.name);
    snprintf(info->vendor, sizeof(info->vendor), "%s", vendor_of(properties.vendorId));
    snprintf(info->driver, sizeof(info->driver), "Level Zero %u.%u, driver %u",
             (unsigned)device->driver->version >> 16, (unsigned)device->driver->version & 0xffffu,
             device->driver->build);
    memcpy(device->uuid, properties.uuid, sizeof(device->uuid));
    if (!gpu_write_uid(device->uuid, info->uid, sizeof(info->uid))) {
        snprintf(info->uid, sizeof(info->uid), "level_zero:%.40s:%d", info->name, info->ordinal);
    }
    device->gpu.facts.integrated  = (properties.flags & LZ_DEVICE_PROPERTY_FLAG_INTEGRATED) != 0;
    device->facts.alloc_max_bytes = properties.maxMemAllocSize;
    return MEMSPAN_OK;
}

static void fill_bus(struct lz_device *device)
{
    memspan_device_info_t *info = &device->gpu.info;
    lz_pci_properties_t pci     = {.stype = LZ_STRUCTURE_TYPE_PCI_EXT_PROPERTIES};
    lz_result_t code;

    info->numa_node = -1;
    if (!device->driver->tells_bus || (LZ(device)->zeDevicePciGetPropertiesExt == NULL)) {
        return;
    }
    code = LZ(device)->zeDevicePciGetPropertiesExt(device->handle, &pci);
    if (!gpu_log_failure(device->gpu.state, LZ_ANSWER("zeDevicePciGetPropertiesExt", code),
                         "place of a device")) {
        return;
    }
    snprintf(info->pci_address, sizeof(info->pci_address), "%04x:%02x:%02x.%x",
             pci.address.domain & 0xffffu, pci.address.bus & 0xffu, pci.address.device & 0x1fu,
             pci.address.function & 0x7u);
    gpu_fill_numa_node(info);
}

gpu_result_t lz_total(const struct gpu_device *device, size_t *bytes_p)
{
    const struct lz_calls *ze   = lz_calls(device->state);
    lz_device_h handle          = lz_state(device->state)->found[device->ordinal].handle;
    lz_memory_properties_t *all = NULL;
    uint32_t count              = 0;
    uint64_t total              = 0;
    lz_result_t code            = ze->zeDeviceGetMemoryProperties(handle, &count, NULL);
    uint32_t i;

    if ((code == ZE_RESULT_SUCCESS) && (count > 0)) {
        all = calloc(count, sizeof(*all));
        if (all == NULL) {
            (void)gpu_refuse(device->state, MEMSPAN_ERR_NO_MEMORY, NULL,
                             "no host memory for a list");
            return (gpu_result_t){"", GPU_RECORDED};
        }
        for (i = 0; i < count; i++) {
            all[i].stype = LZ_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES;
        }
        code = ze->zeDeviceGetMemoryProperties(handle, &count, all);
    }
    for (i = 0; i < count; i++) {
        total += (code == ZE_RESULT_SUCCESS) ? all[i].totalSize : 0;
    }
    free(all);
    *bytes_p = total;
    return LZ_ANSWER("zeDeviceGetMemoryProperties", code);
}

/* What the user says of pinned host memory, where there is any: drivers report less than the
 * hardware does. */
static uint32_t claimed(const struct gpu_state *state, uint32_t reported)
{
    static const uint32_t by_choice[] = {0, LZ_MEMORY_ACCESS_CAP_FLAG_CONCURRENT,
                                         LZ_MEMORY_ACCESS_CAP_FLAG_ATOMIC |
                                             LZ_MEMORY_ACCESS_CAP_FLAG_CONCURRENT |
                                             LZ_MEMORY_ACCESS_CAP_FLAG_CONCURRENT_ATOMIC};

    return ((reported & LZ_MEMORY_ACCESS_CAP_FLAG_RW) == 0)
               ? 0
               : by_choice[state->services->option_number("MEMSPAN_LEVEL_ZERO_PINNED")];
}

static void fill_access(struct lz_device *device)
{
    const struct gpu_state *state = device->gpu.state;
    struct lz_facts *f            = &device->facts;
    lz_access_properties_t access = {.stype = LZ_STRUCTURE_TYPE_DEVICE_MEMORY_ACCESS_PROPERTIES};
    lz_external_properties_t extern_memory = {
        .stype = LZ_STRUCTURE_TYPE_DEVICE_EXTERNAL_MEMORY_PROPERTIES};
    lz_result_t code = lz_calls(state)->zeDeviceGetMemoryAccessProperties(device->handle, &access);

    if (gpu_log_failure(state, LZ_ANSWER("zeDeviceGetMemoryAccessProperties", code),
                        "memory of a device")) {
        f->host_access =
            access.hostAllocCapabilities | claimed(state, access.hostAllocCapabilities);
        f->host_claimed  = (f->host_access != access.hostAllocCapabilities);
        f->device_access = access.deviceAllocCapabilities;
        f->shared_access = access.sharedSingleDeviceAllocCapabilities;
        f->cross_access  = access.sharedCrossDeviceAllocCapabilities;
        f->system_access = access.sharedSystemAllocCapabilities;
    }
    code = lz_calls(state)->zeDeviceGetExternalMemoryProperties(device->handle, &extern_memory);
    if (!gpu_log_failure(state, LZ_ANSWER("zeDeviceGetExternalMemoryProperties", code),
                         "exports of a device")) {
        return;
    }
    f->dmabuf =
        (extern_memory.memoryAllocationExportTypes & LZ_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF) != 0;
}

static void fill_compute(struct lz_device *device)
{
    const struct gpu_state *state = device->gpu.state;
    struct lz_facts *f            = &device->facts;
    lz_module_properties_t m      = {.stype = LZ_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES};
    lz_compute_properties_t c     = {.stype = LZ_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES};
    lz_result_t code = lz_calls(state)->zeDeviceGetModuleProperties(device->handle, &m);

    f->fp64 = gpu_log_failure(state, LZ_ANSWER("zeDeviceGetModuleProperties", code),
                              "kernels of a device") &&
              ((m.flags & LZ_DEVICE_MODULE_FLAG_FP64) != 0);
    code = lz_calls(state)->zeDeviceGetComputeProperties(device->handle, &c);
    if (!gpu_log_failure(state, LZ_ANSWER("zeDeviceGetComputeProperties", code),
                         "kernels of a device")) {
        return;
    }
    f->group_size_max =
        (c.maxTotalGroupSize < c.maxGroupSizeX) ? c.maxTotalGroupSize : c.maxGroupSizeX;
    f->group_count_max = c.maxGroupCountX;
}

/* Queues are made where kernels run: such a group copies as well. */
static memspan_status_t find_queue_group(struct lz_device *device)
{
    const struct gpu_state *state = device->gpu.state;
    uint32_t count                = 0;
    lz_queue_group_t *all         = NULL;
    lz_result_t code =
        lz_calls(state)->zeDeviceGetCommandQueueGroupProperties(device->handle, &count, NULL);
    bool found = false;
    uint32_t i;

    if ((code == ZE_RESULT_SUCCESS) && (count > 0)) {
        all = calloc(count, sizeof(*all));
        if (all == NULL) {
            return gpu_refuse(state, MEMSPAN_ERR_NO_MEMORY, NULL, "no host memory for a list");
        }
        for (i = 0; i < count; i++) {
            all[i].stype = LZ_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES;
        }
        code = lz_calls(state)->zeDeviceGetCommandQueueGroupProperties(device->handle, &count, all);
    }
    for (i = 0; (code == ZE_RESULT_SUCCESS) && !found && (i < count); i++) {
        found = (all[i].flags & LZ_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE) != 0;
        device->facts.queue_group = found ? i : 0;
    }
    free(all);
    if (code != ZE_RESULT_SUCCESS) {
        return gpu_error(state, LZ_ANSWER("zeDeviceGetCommandQueueGroupProperties", code),
                         "%s does not tell its queues", device->gpu.info.name);
    }
    return found ? MEMSPAN_OK
                 : gpu_refuse(state, MEMSPAN_ERR_DRIVER, NULL, "%s has no queue for kernels",
                              device->gpu.info.name);
}

memspan_status_t lz_fill(struct gpu_device *gpu)
{
    const struct lz_found *found = &lz_state(gpu->state)->found[gpu->ordinal];
    struct lz_device *device     = lz_device(gpu);
    memspan_status_t status;

    device->driver = found->driver;
    device->handle = found->handle;
    status         = fill_names(device);
    if (status == MEMSPAN_OK) {
        status = find_queue_group(device);
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    if (device->facts.alloc_max_bytes == 0) {
        device->facts.alloc_max_bytes = gpu->info.capacity_bytes;
    }
    if (!device->driver->relaxed) {
        gpu->info.alloc_max_bytes = device->facts.alloc_max_bytes;
    }
    gpu->facts.unified_addressing = true;
    gpu->facts.dmabuf             = true; /* lz_dmabuf() refuses in its own words */
    fill_bus(device);
    fill_access(device);
    gpu->group                 = (int)(device->driver - lz_state(gpu->state)->drivers);
    gpu->facts.registers       = (device->driver->import_method != LZ_IMPORT_NO);
    gpu->facts.needs_no_import = (device->facts.system_access & LZ_MEMORY_ACCESS_CAP_FLAG_RW) != 0;
    /* Pinned memory as well may be one side's at a time. */
    gpu->facts.managed = true;
    gpu->facts.concurrent =
        (device->facts.shared_access & LZ_MEMORY_ACCESS_CAP_FLAG_CONCURRENT) != 0;
    fill_compute(device);
    return MEMSPAN_OK;
}
