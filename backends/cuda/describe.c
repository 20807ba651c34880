/* SPDX-License-Identifier: BSD-3-Clause */
/* describe.c: what the devices are, asked once when the backend is opened. No question here makes a
 * context. How much memory is free can only be asked within one, so it is known once somebody uses
 * the device. */

#include "backends/cuda/cuda.h"
#include "core/base/driver.h"
#include "core/base/platform.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An attribute that the driver does not know is read as 0: what it stands for is not there. */
static int attribute(const struct cuda_device *device, int which)
{
    int value          = 0;
    cuda_result_t code = device->state->cu.cuDeviceGetAttribute(&value, which, device->id);

    if (code == CUDA_SUCCESS) {
        return value;
    }
    if (code != CUDA_ERROR_INVALID_VALUE) {
        char what[48];
        snprintf(what, sizeof(what), "attribute %d of device %d", which, device->ordinal);
        cuda_log_failure(device->state, "cuDeviceGetAttribute", code, what);
    }
    return 0;
}

static bool has(const struct cuda_device *device, int which)
{
    return attribute(device, which) > 0;
}

static void fill_facts(struct cuda_device *device)
{
    const struct cuda_calls *cu = &device->state->cu;
    struct cuda_facts *f        = &device->facts;

    f->capability = 10 * attribute(device, CUDA_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
                    attribute(device, CUDA_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    f->multiprocessors    = attribute(device, CUDA_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    f->unified_addressing = has(device, CUDA_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING);
    f->integrated         = has(device, CUDA_DEVICE_ATTRIBUTE_INTEGRATED);
    f->managed            = (cu->cuMemAllocManaged != NULL) && f->unified_addressing &&
                 has(device, CUDA_DEVICE_ATTRIBUTE_MANAGED_MEMORY);
    f->concurrent = f->managed && has(device, CUDA_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS);
    f->pageable   = has(device, CUDA_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS);
    f->host_page_tables =
        f->pageable &&
        has(device, CUDA_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES);
    f->host_atomics = has(device, CUDA_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED);
    f->registers =
        f->unified_addressing && has(device, CUDA_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED);
    f->same_address =
        f->registers && has(device, CUDA_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM);
    f->vmm = (cu->cuMemCreate != NULL) && (cu->cuMemGetAllocationGranularity != NULL) &&
             (cu->cuMemRelease != NULL) && (cu->cuMemAddressReserve != NULL) &&
             (cu->cuMemAddressFree != NULL) && (cu->cuMemMap != NULL) && (cu->cuMemUnmap != NULL) &&
             (cu->cuMemSetAccess != NULL) &&
             has(device, CUDA_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED);
    if (f->vmm && (cu->cuMemExportToShareableHandle != NULL) &&
        (cu->cuMemImportFromShareableHandle != NULL)) {
        f->makes_fd =
            has(device, CUDA_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED);
        /* Where no other process can fetch a descriptor, cuIpcGetMemHandle() is of more use, which
         * integrated devices lack. */
        f->shares_fd     = f->makes_fd && (f->integrated || msp_driver_offers_fds());
        f->shares_fabric = has(device, CUDA_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED);
    }
    f->rdma = has(device, CUDA_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED);
    f->rdma_vmm =
        f->vmm && has(device, CUDA_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED);
    f->dmabuf = (cu->cuMemGetHandleForAddressRange != NULL) &&
                has(device, CUDA_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED);
    f->node =
        (attribute(device, CUDA_DEVICE_ATTRIBUTE_NUMA_CONFIG) == CUDA_DEVICE_NUMA_CONFIG_NUMA_NODE)
            ? attribute(device, CUDA_DEVICE_ATTRIBUTE_NUMA_ID)
            : -1;
}

/* "535.54.03" from the first line of the kernel module's file, "" where it is not there. */
static void read_module_version(char *version, size_t size)
{
    char line[256] = "";
    FILE *file     = fopen("/proc/driver/nvidia/version", "re");
    char *word;
    char *rest = NULL;

    version[0] = '\0';
    if (file == NULL) {
        return;
    }
    if (fgets(line, sizeof(line), file) == NULL) {
        line[0] = '\0';
    }
    fclose(file);
    for (word = strtok_r(line, " \t\n", &rest); word != NULL;
         word = strtok_r(NULL, " \t\n", &rest)) {
        if ((word[0] >= '0') && (word[0] <= '9') && (strchr(word, '.') != NULL)) {
            snprintf(version, size, "%s", word);
            return;
        }
    }
}

static void fill_names(struct cuda_device *device)
{
    memspan_device_info_t *info    = &device->info;
    const struct cuda_state *state = device->state;
    char module[32];
    cuda_result_t code = state->cu.cuDeviceGetName(info->name, (int)sizeof(info->name), device->id);

    if (code != CUDA_SUCCESS) {
        cuda_log_failure(state, "cuDeviceGetName", code, "name of a device");
        snprintf(info->name, sizeof(info->name), "CUDA device %d", device->ordinal);
    }
    info->name[sizeof(info->name) - 1] = '\0';
    read_module_version(module, sizeof(module));
    snprintf(info->vendor, sizeof(info->vendor), "NVIDIA Corporation");
    snprintf(info->driver, sizeof(info->driver), "CUDA %d.%d%s%s", state->version / 1000,
             (state->version % 1000) / 10, (module[0] == '\0') ? "" : ", driver ", module);
}

/* In the form of other backends, so that the same device is recognised in all. */
static void fill_uid(struct cuda_device *device)
{
    memspan_device_info_t *info = &device->info;
    cuda_result_t code          = CUDA_ERROR_NOT_SUPPORTED;
    cuda_uuid_t uuid;
    size_t used = 0;
    int i;

    if (device->state->cu.cuDeviceGetUuid_v2 != NULL) {
        code = device->state->cu.cuDeviceGetUuid_v2(&uuid, device->id);
    }
    if (code != CUDA_SUCCESS) {
        cuda_log_failure(device->state, "cuDeviceGetUuid", code, "identity of a device");
        snprintf(info->uid, sizeof(info->uid), "cuda:%.40s:%d", info->name, device->ordinal);
        return;
    }
    for (i = 0; i < (int)sizeof(uuid.bytes); i++) {
        bool dash = (i == 4) || (i == 6) || (i == 8) || (i == 10);
        used += (size_t)snprintf(info->uid + used, sizeof(info->uid) - used, "%s%02x",
                                 dash ? "-" : "", (unsigned char)uuid.bytes[i]);
    }
}

static void fill_bus(struct cuda_device *device)
{
    memspan_device_info_t *info = &device->info;

    snprintf(info->pci_address, sizeof(info->pci_address), "%04x:%02x:%02x.0",
             (unsigned)attribute(device, CUDA_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID) & 0xffffu,
             (unsigned)attribute(device, CUDA_DEVICE_ATTRIBUTE_PCI_BUS_ID) & 0xffu,
             (unsigned)attribute(device, CUDA_DEVICE_ATTRIBUTE_PCI_DEVICE_ID) & 0xffu);
    info->numa_node = msp_driver_node_at(info->pci_address);
}

static void fill_sizes(struct cuda_device *device)
{
    memspan_device_info_t *info = &device->info;
    size_t total                = 0;
    cuda_result_t code          = device->state->cu.cuDeviceTotalMem_v2(&total, device->id);

    if (code != CUDA_SUCCESS) {
        cuda_log_failure(device->state, "cuDeviceTotalMem", code, "capacity of a device");
        total = 0;
    }
    info->capacity_bytes = (total == 0) ? MEMSPAN_UNKNOWN : total;
    snprintf(info->capacity_source, sizeof(info->capacity_source), "%s",
             (total == 0) ? "" : "driver");
    info->alloc_max_bytes = info->capacity_bytes;
    info->free_bytes      = MEMSPAN_UNKNOWN;
    info->page_size_bytes = msp_page_size();
}

static void fill_peers(struct cuda_state *state, int from)
{
    int home;

    for (home = 0; home < state->device_count; home++) {
        int can            = 0;
        cuda_result_t code = CUDA_SUCCESS;
        if ((home == from) || (state->cu.cuDeviceCanAccessPeer == NULL) ||
            (state->cu.cuCtxEnablePeerAccess == NULL)) {
            continue;
        }
        code =
            state->cu.cuDeviceCanAccessPeer(&can, state->devices[from].id, state->devices[home].id);
        if (code != CUDA_SUCCESS) {
            cuda_log_failure(state, "cuDeviceCanAccessPeer", code, "reach between devices");
            can = 0;
        }
        atomic_init(&state->peers[from * state->device_count + home],
                    (can != 0) ? CUDA_PEER_MAY : CUDA_PEER_NO);
    }
}

static memspan_status_t fill_device(struct cuda_device *device)
{
    cuda_result_t code = device->state->cu.cuDeviceGet(&device->id, device->ordinal);

    if (code != CUDA_SUCCESS) {
        return cuda_error(device->state, "cuDeviceGet", code, "CUDA device %d cannot be had",
                          device->ordinal);
    }
    device->info.struct_size = sizeof(device->info);
    device->info.ordinal     = device->ordinal;
    fill_names(device);
    fill_uid(device);
    fill_bus(device);
    fill_sizes(device);
    fill_facts(device);
    cuda_device_fill_kinds(device);
    device->state->services->log(MEMSPAN_LOG_INFO, CUDA_NAME,
                                 "device %d: %s, compute capability %d.%d, %s", device->ordinal,
                                 device->info.name, device->facts.capability / 10,
                                 device->facts.capability % 10, device->info.driver);
    return MEMSPAN_OK;
}

memspan_status_t cuda_devices_find(struct cuda_state *state)
{
    int count          = 0;
    cuda_result_t code = state->cu.cuDeviceGetCount(&count);
    memspan_status_t status;
    int i;

    if (code != CUDA_SUCCESS) {
        return cuda_error(state, "cuDeviceGetCount", code, "no CUDA device");
    }
    if (count <= 0) {
        return cuda_error(state, "cuDeviceGetCount", CUDA_ERROR_NO_DEVICE,
                          "the CUDA driver shows no device");
    }
    state->devices = calloc((size_t)count, sizeof(*state->devices));
    state->peers   = calloc((size_t)count * (size_t)count, sizeof(*state->peers));
    if ((state->devices == NULL) || (state->peers == NULL)) {
        return cuda_refuse(state, MEMSPAN_ERR_NO_MEMORY, NULL, "no host memory for devices");
    }
    state->device_count = count;
    for (i = 0; i < count; i++) {
        state->devices[i].state   = state;
        state->devices[i].ordinal = i;
        pthread_mutex_init(&state->devices[i].lock, NULL);
    }
    for (i = 0; i < count; i++) {
        status = fill_device(&state->devices[i]);
        if (status != MEMSPAN_OK) {
            return status;
        }
    }
    for (i = 0; i < count; i++) {
        fill_peers(state, i);
    }
    return MEMSPAN_OK;
}

static uint64_t free_bytes(void *state, struct cuda_device *device)
{
    struct cuda_device *entered;
    size_t available = 0;
    size_t total     = 0;
    cuda_result_t code;
    int before;

    if (device->facts.integrated) {
        return msp_driver_host_available();
    }
    if (!cuda_context_is_active(device)) {
        return MEMSPAN_UNKNOWN;
    }
    if (cuda_enter(state, device->ordinal, &entered, &before) != MEMSPAN_OK) {
        cuda_log_last(device->state, "free memory of a device");
        return MEMSPAN_UNKNOWN;
    }
    code = device->state->cu.cuMemGetInfo_v2(&available, &total);
    if (code != CUDA_SUCCESS) {
        cuda_log_failure(device->state, "cuMemGetInfo", code, "free memory of a device");
    }
    cuda_leave(device, before);
    return (code == CUDA_SUCCESS) ? available : MEMSPAN_UNKNOWN;
}

memspan_status_t cuda_device_describe(void *state, int ordinal, memspan_device_info_t *info_p)
{
    struct cuda_device *device;
    memspan_status_t status = cuda_device_get(state, ordinal, &device);

    if (status != MEMSPAN_OK) {
        return status;
    }
    msp_driver_describe(&device->info, free_bytes(state, device), info_p);
    return MEMSPAN_OK;
}
