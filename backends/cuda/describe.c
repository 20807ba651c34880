/* SPDX-License-Identifier: BSD-3-Clause */
/* describe.c: the devices' properties, read once when the backend is opened. No question here makes
 * a context. The free memory can only be queried within one, so it is known once the device is
 * used. */

#include "backends/cuda/cuda.h"
#include "backends/gpu/common.h"
#include <stdio.h>
#include <string.h>

static void fill_facts(struct gpu_device *device)
{
    const struct cuda_calls *cu = cuda_calls(device->state);
    struct gpu_facts *f         = &device->facts;

    f->multiprocessors    = gpu_attribute(device, CUDA_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0);
    f->unified_addressing = gpu_has(device, CUDA_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING);
    f->integrated         = gpu_has(device, CUDA_DEVICE_ATTRIBUTE_INTEGRATED);
    f->managed            = (cu->cuMemAllocManaged != NULL) && f->unified_addressing &&
                 gpu_has(device, CUDA_DEVICE_ATTRIBUTE_MANAGED_MEMORY);
    f->concurrent = f->managed && gpu_has(device, CUDA_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS);
    f->pageable   = gpu_has(device, CUDA_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS);
    f->host_page_tables =
        f->pageable &&
        gpu_has(device, CUDA_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES);
    f->host_atomics = gpu_has(device, CUDA_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED);
    f->registers =
        f->unified_addressing && gpu_has(device, CUDA_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED);
    f->same_address =
        f->registers &&
        gpu_has(device, CUDA_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM);
    f->needs_no_import = f->host_page_tables;
    /* The attribute by which the driver's documentation has IPC tested; drivers before 12.0 lack
     * it. */
    f->ipc = (cu->cuIpcGetMemHandle != NULL) && (cu->cuIpcOpenMemHandle_v2 != NULL) &&
             (cu->cuIpcCloseMemHandle != NULL) && !f->integrated &&
             (gpu_attribute(device, CUDA_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED, 1) > 0);
    f->dmabuf = (cu->cuMemGetHandleForAddressRange != NULL) &&
                gpu_has(device, CUDA_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED);
    f->node = (gpu_attribute(device, CUDA_DEVICE_ATTRIBUTE_NUMA_CONFIG, 0) ==
               CUDA_DEVICE_NUMA_CONFIG_NUMA_NODE)
                  ? gpu_attribute(device, CUDA_DEVICE_ATTRIBUTE_NUMA_ID, 0)
                  : -1;
}

static void fill_own_facts(struct gpu_device *device)
{
    const struct cuda_calls *cu = cuda_calls(device->state);
    struct cuda_facts *f        = &cuda_device(device)->facts;

    f->capability = 10 * gpu_attribute(device, CUDA_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0) +
                    gpu_attribute(device, CUDA_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0);
    f->vmm = (cu->cuMemCreate != NULL) && (cu->cuMemGetAllocationGranularity != NULL) &&
             (cu->cuMemRelease != NULL) && (cu->cuMemAddressReserve != NULL) &&
             (cu->cuMemAddressFree != NULL) && (cu->cuMemMap != NULL) && (cu->cuMemUnmap != NULL) &&
             (cu->cuMemSetAccess != NULL) &&
             gpu_has(device, CUDA_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED);
    if (f->vmm && (cu->cuMemExportToShareableHandle != NULL) &&
        (cu->cuMemImportFromShareableHandle != NULL)) {
        f->makes_fd =
            gpu_has(device, CUDA_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED);
        /* Where no other process can fetch a descriptor, cuIpcGetMemHandle() is of more use, which
         * integrated devices lack. */
        f->shares_fd     = f->makes_fd && (device->facts.integrated || gpu_offers_fds());
        f->shares_fabric = gpu_has(device, CUDA_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED);
    }
    f->rdma = gpu_has(device, CUDA_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED);
    f->rdma_vmm =
        f->vmm && gpu_has(device, CUDA_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED);
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

static void fill_names(struct gpu_device *device)
{
    memspan_device_info_t *info   = &device->info;
    const struct gpu_state *state = device->state;
    cuda_result_t code =
        cuda_calls(state)->cuDeviceGetName(info->name, (int)sizeof(info->name), device->id);
    char module[32];

    if (!gpu_log_failure(state, CUDA_ANSWER("cuDeviceGetName", code), "name of a device")) {
        snprintf(info->name, sizeof(info->name), "CUDA device %d", device->ordinal);
    }
    info->name[sizeof(info->name) - 1] = '\0';
    read_module_version(module, sizeof(module));
    snprintf(info->vendor, sizeof(info->vendor), "NVIDIA Corporation");
    snprintf(info->driver, sizeof(info->driver), "CUDA %d.%d%s%s", state->version / 1000,
             (state->version % 1000) / 10, (module[0] == '\0') ? "" : ", driver ", module);
}

static void fill_uid(struct gpu_device *device)
{
    const struct cuda_calls *cu = cuda_calls(device->state);
    memspan_device_info_t *info = &device->info;
    gpu_result_t answer         = {"cuDeviceGetUuid", CUDA_ERROR_NOT_SUPPORTED};
    cuda_uuid_t uuid;

    if (cu->cuDeviceGetUuid_v2 != NULL) {
        answer.code = cu->cuDeviceGetUuid_v2(&uuid, device->id);
    }
    if (!gpu_log_lack(device->state, answer, "identity of a device") ||
        !gpu_write_uid(uuid.bytes, info->uid, sizeof(info->uid))) {
        snprintf(info->uid, sizeof(info->uid), "cuda:%.40s:%d", info->name, device->ordinal);
    }
}

static void fill_bus(struct gpu_device *device)
{
    memspan_device_info_t *info = &device->info;

    snprintf(info->pci_address, sizeof(info->pci_address), "%04x:%02x:%02x.0",
             (unsigned)gpu_attribute(device, CUDA_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, 0) & 0xffffu,
             (unsigned)gpu_attribute(device, CUDA_DEVICE_ATTRIBUTE_PCI_BUS_ID, 0) & 0xffu,
             (unsigned)gpu_attribute(device, CUDA_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, 0) & 0xffu);
    gpu_fill_numa_node(info);
}

memspan_status_t cuda_fill(struct gpu_device *device)
{
    cuda_result_t code = cuda_calls(device->state)->cuDeviceGet(&device->id, device->ordinal);

    if (code != CUDA_SUCCESS) {
        return gpu_error(device->state, CUDA_ANSWER("cuDeviceGet", code),
                         "CUDA device %d is not available", device->ordinal);
    }
    fill_names(device);
    fill_uid(device);
    fill_bus(device);
    fill_facts(device);
    fill_own_facts(device);
    return MEMSPAN_OK;
}
