/* SPDX-License-Identifier: BSD-3-Clause */
/* describe.c: what the devices are, asked once when the backend is opened. What a driver does not
 * answer is taken for absent, and logged. */

#include "backends/gpu/request.h"
#include "backends/level_zero/level_zero.h"
#include "core/base/option.h"
#include "core/base/platform.h"
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
    const struct lz_state *state      = device->state;
    memspan_device_info_t *info       = &device->info;
    lz_device_properties_t properties = {.stype = LZ_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    lz_result_t code = state->ze.zeDeviceGetProperties(device->handle, &properties);

    if (code != ZE_RESULT_SUCCESS) {
        return lz_error(state, "zeDeviceGetProperties", code,
                        "Level Zero device %d does not tell what it is", device->ordinal);
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
    device->facts.integrated      = (properties.flags & LZ_DEVICE_PROPERTY_FLAG_INTEGRATED) != 0;
    device->facts.alloc_max_bytes = properties.maxMemAllocSize;
    return MEMSPAN_OK;
}

static void fill_bus(struct lz_device *device)
{
    memspan_device_info_t *info = &device->info;
    lz_pci_properties_t pci     = {.stype = LZ_STRUCTURE_TYPE_PCI_EXT_PROPERTIES};
    lz_result_t code;

    info->numa_node = -1;
    if (!device->driver->tells_bus || (device->state->ze.zeDevicePciGetPropertiesExt == NULL)) {
        return;
    }
    code = device->state->ze.zeDevicePciGetPropertiesExt(device->handle, &pci);
    if (code != ZE_RESULT_SUCCESS) {
        lz_log_failure(device->state, "zeDevicePciGetPropertiesExt", code, "place of a device");
        return;
    }
    snprintf(info->pci_address, sizeof(info->pci_address), "%04x:%02x:%02x.%x",
             pci.address.domain & 0xffffu, pci.address.bus & 0xffu, pci.address.device & 0x1fu,
             pci.address.function & 0x7u);
    gpu_fill_numa_node(info);
}

/* All of its memories together. */
static memspan_status_t sum_memories(const struct lz_device *device, uint64_t *total_p)
{
    const struct lz_state *state = device->state;
    uint32_t count               = 0;
    uint64_t total               = 0;
    lz_memory_properties_t *all  = NULL;
    lz_result_t code = state->ze.zeDeviceGetMemoryProperties(device->handle, &count, NULL);
    uint32_t i;

    if ((code == ZE_RESULT_SUCCESS) && (count > 0)) {
        all = calloc(count, sizeof(*all));
        if (all == NULL) {
            return lz_refuse(state, MEMSPAN_ERR_NO_MEMORY, NULL, "no host memory for a list");
        }
        for (i = 0; i < count; i++) {
            all[i].stype = LZ_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES;
        }
        code = state->ze.zeDeviceGetMemoryProperties(device->handle, &count, all);
    }
    if (code != ZE_RESULT_SUCCESS) {
        lz_log_failure(state, "zeDeviceGetMemoryProperties", code, "capacity of a device");
        count = 0;
    }
    for (i = 0; i < count; i++) {
        total += all[i].totalSize;
    }
    free(all);
    *total_p = total;
    return MEMSPAN_OK;
}

static memspan_status_t fill_sizes(struct lz_device *device)
{
    memspan_device_info_t *info = &device->info;
    uint64_t total              = 0;
    memspan_status_t status     = sum_memories(device, &total);

    if (status != MEMSPAN_OK) {
        return status;
    }
    info->capacity_bytes = (total == 0) ? MEMSPAN_UNKNOWN : total;
    snprintf(info->capacity_source, sizeof(info->capacity_source), "%s",
             (total == 0) ? "" : "driver");
    if (device->facts.alloc_max_bytes == 0) {
        device->facts.alloc_max_bytes = info->capacity_bytes;
    }
    info->alloc_max_bytes =
        device->driver->relaxed ? info->capacity_bytes : device->facts.alloc_max_bytes;
    info->free_bytes      = MEMSPAN_UNKNOWN;
    info->page_size_bytes = msp_page_size();
    return MEMSPAN_OK;
}

/* What the user says of pinned host memory, where there is any: drivers report less than the
 * hardware does. */
static uint32_t claimed(const struct lz_state *state, uint32_t reported)
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
    const struct lz_state *state  = device->state;
    struct lz_facts *f            = &device->facts;
    lz_access_properties_t access = {.stype = LZ_STRUCTURE_TYPE_DEVICE_MEMORY_ACCESS_PROPERTIES};
    lz_external_properties_t extern_memory = {
        .stype = LZ_STRUCTURE_TYPE_DEVICE_EXTERNAL_MEMORY_PROPERTIES};
    lz_result_t code = state->ze.zeDeviceGetMemoryAccessProperties(device->handle, &access);

    if (code == ZE_RESULT_SUCCESS) {
        f->host_access =
            access.hostAllocCapabilities | claimed(state, access.hostAllocCapabilities);
        f->host_claimed  = (f->host_access != access.hostAllocCapabilities);
        f->device_access = access.deviceAllocCapabilities;
        f->shared_access = access.sharedSingleDeviceAllocCapabilities;
        f->cross_access  = access.sharedCrossDeviceAllocCapabilities;
        f->system_access = access.sharedSystemAllocCapabilities;
    } else {
        lz_log_failure(state, "zeDeviceGetMemoryAccessProperties", code, "memory of a device");
    }
    code = state->ze.zeDeviceGetExternalMemoryProperties(device->handle, &extern_memory);
    if (code != ZE_RESULT_SUCCESS) {
        lz_log_failure(state, "zeDeviceGetExternalMemoryProperties", code, "exports of a device");
        return;
    }
    f->dmabuf =
        (extern_memory.memoryAllocationExportTypes & LZ_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF) != 0;
}

static void fill_compute(struct lz_device *device)
{
    const struct lz_state *state = device->state;
    struct lz_facts *f           = &device->facts;
    lz_module_properties_t m     = {.stype = LZ_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES};
    lz_compute_properties_t c    = {.stype = LZ_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES};
    lz_result_t code             = state->ze.zeDeviceGetModuleProperties(device->handle, &m);

    if (code != ZE_RESULT_SUCCESS) {
        lz_log_failure(state, "zeDeviceGetModuleProperties", code, "kernels of a device");
    }
    f->fp64 = (code == ZE_RESULT_SUCCESS) && ((m.flags & LZ_DEVICE_MODULE_FLAG_FP64) != 0);
    code    = state->ze.zeDeviceGetComputeProperties(device->handle, &c);
    if (code != ZE_RESULT_SUCCESS) {
        lz_log_failure(state, "zeDeviceGetComputeProperties", code, "kernels of a device");
        return;
    }
    f->group_size_max =
        (c.maxTotalGroupSize < c.maxGroupSizeX) ? c.maxTotalGroupSize : c.maxGroupSizeX;
    f->group_count_max = c.maxGroupCountX;
}

/* Queues are made where kernels run: such a group copies as well. */
static memspan_status_t find_queue_group(struct lz_device *device)
{
    const struct lz_state *state = device->state;
    uint32_t count               = 0;
    lz_queue_group_t *all        = NULL;
    const char *call             = "zeDeviceGetCommandQueueGroupProperties";
    lz_result_t code =
        state->ze.zeDeviceGetCommandQueueGroupProperties(device->handle, &count, NULL);
    bool found = false;
    uint32_t i;

    if ((code == ZE_RESULT_SUCCESS) && (count > 0)) {
        all = calloc(count, sizeof(*all));
        if (all == NULL) {
            return lz_refuse(state, MEMSPAN_ERR_NO_MEMORY, NULL, "no host memory for a list");
        }
        for (i = 0; i < count; i++) {
            all[i].stype = LZ_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES;
        }
        code = state->ze.zeDeviceGetCommandQueueGroupProperties(device->handle, &count, all);
    }
    for (i = 0; (code == ZE_RESULT_SUCCESS) && !found && (i < count); i++) {
        found = (all[i].flags & LZ_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE) != 0;
        device->facts.queue_group = found ? i : 0;
    }
    free(all);
    if (code != ZE_RESULT_SUCCESS) {
        return lz_error(state, call, code, "%s does not tell its queues", device->info.name);
    }
    return found ? MEMSPAN_OK
                 : lz_refuse(state, MEMSPAN_ERR_DRIVER, NULL, "%s has no queue for kernels",
                             device->info.name);
}

memspan_status_t lz_device_fill(struct lz_device *device)
{
    memspan_status_t status;

    device->info.struct_size = sizeof(device->info);
    device->info.ordinal     = device->ordinal;
    status                   = fill_names(device);
    if (status == MEMSPAN_OK) {
        status = fill_sizes(device);
    }
    if (status == MEMSPAN_OK) {
        status = find_queue_group(device);
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    fill_bus(device);
    fill_access(device);
    fill_compute(device);
    lz_device_fill_kinds(device);
    device->state->services->log(MEMSPAN_LOG_INFO, LZ_NAME, "device %d: %s, %s", device->ordinal,
                                 device->info.name, device->info.driver);
    return MEMSPAN_OK;
}

memspan_status_t lz_device_describe(void *state, int ordinal, memspan_device_info_t *info_p)
{
    struct lz_device *device;
    memspan_status_t status = lz_device_get(state, ordinal, &device);

    if (status != MEMSPAN_OK) {
        return status;
    }
    gpu_describe_device(&device->info, lz_sysman_free(device), info_p);
    return MEMSPAN_OK;
}
