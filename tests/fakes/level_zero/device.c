/* SPDX-License-Identifier: BSD-3-Clause */
/* device.c: drivers, devices and what they answer about themselves. */

#include "fake.h"
#include <stdio.h>
#include <string.h>

struct fake fake;

/* ---- the front ---- */

static void place_devices(void)
{
    int d;
    int i;
    int t;

    for (d = 0; d < FAKE_DRIVERS_MAX; d++) {
        fake.drivers[d].index = d;
        for (i = 0; i < FAKE_GPUS_MAX; i++) {
            int number         = (d * FAKE_GPUS_MAX + i) * (1 + FAKE_TILES_MAX);
            fake.devices[d][i] = (struct _ze_device_handle_t){&fake.drivers[d], NULL, i, number};
            for (t = 0; t < FAKE_TILES_MAX; t++) {
                fake.tiles[d][i][t] = (struct _ze_device_handle_t){
                    &fake.drivers[d], &fake.devices[d][i], t, number + 1 + t};
            }
        }
    }
}

static uintptr_t high_bits(void)
{
    char addresses[8];

    fake_text("ADDRESSES", "low", addresses, sizeof(addresses));
    if (strcmp(addresses, "pvc") == 0) {
        return (uintptr_t)0xff << 56;
    }
    return (strcmp(addresses, "dg2") == 0) ? (uintptr_t)0x1ffff << 47 : 0;
}

static void read_more(void)
{
    char access[64];

    fake.driver_count = (int)fake_number("DRIVERS", 1);
    fake.tile_count   = (int)fake_number("TILES", 0);
    fake.limit        = (size_t)fake_number("LIMIT", (long)gpu.capacity / 2);
    fake.flags        = (uint32_t)fake_number("FLAGS", 0);
    fake.type         = (uint32_t)fake_number("TYPE", ZE_DEVICE_TYPE_GPU);
    fake.high         = high_bits();
    fake_text("IMPORT", "intel", fake.import, sizeof(fake.import));
    fake_text("IPC", "plain", fake.ipc, sizeof(fake.ipc));
    fake_text("ACCESS", "f,3,3,1,0", access, sizeof(access));
    sscanf(access, "%x,%x,%x,%x,%x", &fake.access[0], &fake.access[1], &fake.access[2],
           &fake.access[3], &fake.access[4]);
    place_devices();
}

/* Once for a process: current loaders ask for it no second time. */
static bool initialised;

static int force(void)
{
    if (!initialised && (strcmp(gpu.call, "zeInit") != 0)) {
        return ZE_RESULT_ERROR_UNINITIALIZED;
    }
    return gpu.lost ? ZE_RESULT_ERROR_DEVICE_LOST : ZE_RESULT_SUCCESS;
}

const struct fake_front fake_front = {
    .prefix = "FAKE_ZE_", .fail_code = ZE_RESULT_ERROR_UNKNOWN, .read = read_more, .force = force};

void fake_check_type(uint32_t found, uint32_t wanted, const char *where)
{
    if (found != wanted) {
        fake_broken("%s: structure type %#x, not %#x", where, found, wanted);
    }
}

ze_device_handle_t fake_device(int number)
{
    int whole = number / (1 + FAKE_TILES_MAX);
    int tile  = number % (1 + FAKE_TILES_MAX) - 1;
    int d     = whole / FAKE_GPUS_MAX;
    int i     = whole % FAKE_GPUS_MAX;

    if (number < 0) {
        return NULL;
    }
    return (tile < 0) ? &fake.devices[d][i] : &fake.tiles[d][i][tile];
}

/* ---- drivers ---- */

static ze_result_t ze_init(ze_init_flags_t flags)
{
    BEGIN("zeInit");
    fake_hang();
    initialised = true;
    return fake_leave(ZE_RESULT_SUCCESS);
}

/* The count is asked for with 0, and is never exceeded. True: there is something to write. */
static bool wants_items(uint32_t *count, uint32_t there)
{
    if (*count == 0) {
        *count = there;
        return false;
    }
    *count = (*count > there) ? there : *count;
    return true;
}

static ze_result_t driver_get(uint32_t *count, ze_driver_handle_t *drivers)
{
    uint32_t i;

    BEGIN("zeDriverGet");
    if (wants_items(count, (uint32_t)fake.driver_count)) {
        for (i = 0; i < *count; i++) {
            drivers[i] = &fake.drivers[i];
        }
    }
    return fake_leave(ZE_RESULT_SUCCESS);
}

static ze_result_t driver_version(ze_driver_handle_t driver, ze_api_version_t *version)
{
    BEGIN("zeDriverGetApiVersion");
    *version = ZE_API_VERSION_1_3;
    return fake_leave(ZE_RESULT_SUCCESS);
}

static ze_result_t driver_properties(ze_driver_handle_t driver, ze_driver_properties_t *p)
{
    BEGIN("zeDriverGetProperties");
    fake_check_type(p->stype, ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES, "zeDriverGetProperties");
    memset(p->uuid.id, 0x11 + driver->index, sizeof(p->uuid.id));
    p->driverVersion = 4711;
    return fake_leave(ZE_RESULT_SUCCESS);
}

static ze_result_t driver_ipc(ze_driver_handle_t driver, ze_driver_ipc_properties_t *p)
{
    BEGIN("zeDriverGetIpcProperties");
    fake_check_type(p->stype, ZE_STRUCTURE_TYPE_DRIVER_IPC_PROPERTIES, "zeDriverGetIpcProperties");
    p->flags = fake_lacks("ipc") ? 0 : ZE_IPC_PROPERTY_FLAG_MEMORY;
    return fake_leave(ZE_RESULT_SUCCESS);
}

static ze_result_t driver_extensions(ze_driver_handle_t driver, uint32_t *count,
                                     ze_driver_extension_properties_t *all)
{
    const char *names[3];
    uint32_t there = 0;
    uint32_t i;

    BEGIN("zeDriverGetExtensionProperties");
    if (!fake_lacks("relaxed")) {
        names[there++] = ZE_RELAXED_ALLOCATION_LIMITS_EXP_NAME;
    }
    if (!fake_lacks("bus")) {
        names[there++] = ZE_PCI_PROPERTIES_EXT_NAME;
    }
    if (strcmp(fake.import, "memmap") == 0) {
        names[there++] = "ZE_extension_external_memmap_sysmem";
    }
    if (wants_items(count, there)) {
        for (i = 0; i < *count; i++) {
            snprintf(all[i].name, sizeof(all[i].name), "%s", names[i]);
            all[i].version = ZE_MAKE_VERSION(1, 0);
        }
    }
    return fake_leave(ZE_RESULT_SUCCESS);
}

static ze_result_t driver_function(ze_driver_handle_t driver, const char *name, void **address)
{
    BEGIN("zeDriverGetExtensionFunctionAddress");
    if (strcmp(fake.import, "intel") != 0) {
        return fake_leave(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    }
    return fake_leave(fake_find_function(name, address));
}

/* ---- devices ---- */

static ze_result_t device_get(ze_driver_handle_t driver, uint32_t *count, ze_device_handle_t *all)
{
    uint32_t i;

    BEGIN("zeDeviceGet");
    if (wants_items(count, (uint32_t)gpu.device_count)) {
        for (i = 0; i < *count; i++) {
            all[i] = &fake.devices[driver->index][i];
        }
    }
    return fake_leave(ZE_RESULT_SUCCESS);
}

static ze_result_t device_tiles(ze_device_handle_t device, uint32_t *count, ze_device_handle_t *all)
{
    uint32_t i;

    BEGIN("zeDeviceGetSubDevices");
    if (wants_items(count, (device->parent == NULL) ? (uint32_t)fake.tile_count : 0)) {
        for (i = 0; i < *count; i++) {
            all[i] = &fake.tiles[device->driver->index][device->index][i];
        }
    }
    return fake_leave(ZE_RESULT_SUCCESS);
}

static ze_result_t device_properties(ze_device_handle_t device, ze_device_properties_t *p)
{
    bool tile = device->parent != NULL;

    BEGIN("zeDeviceGetProperties");
    fake_check_type(p->stype, ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES, "zeDeviceGetProperties");
    p->type            = (ze_device_type_t)fake.type;
    p->vendorId        = 0x8086;
    p->deviceId        = 0x0bd5;
    p->flags           = fake.flags | (tile ? (uint32_t)ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE : 0u);
    p->subdeviceId     = tile ? (uint32_t)device->index : 0;
    p->maxMemAllocSize = fake.limit;
    memset(p->uuid.id, 0x6b, sizeof(p->uuid.id));
    p->uuid.id[13] = (uint8_t)device->driver->index;
    p->uuid.id[14] = (uint8_t)(tile ? device->parent->index : device->index);
    p->uuid.id[15] = (uint8_t)(tile ? 1 + device->index : 0);
    snprintf(p->name, sizeof(p->name), "Pretended GPU %d", p->uuid.id[14]);
    return fake_leave(ZE_RESULT_SUCCESS);
}

static ze_result_t device_compute(ze_device_handle_t device, ze_device_compute_properties_t *p)
{
    BEGIN("zeDeviceGetComputeProperties");
    fake_check_type(p->stype, ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES,
                    "zeDeviceGetComputeProperties");
    p->maxTotalGroupSize = 96;
    p->maxGroupSizeX = p->maxGroupSizeY = p->maxGroupSizeZ = 96;
    p->maxGroupCountX = p->maxGroupCountY = p->maxGroupCountZ = 64;
    return fake_leave(ZE_RESULT_SUCCESS);
}

static ze_result_t device_module(ze_device_handle_t device, ze_device_module_properties_t *p)
{
    BEGIN("zeDeviceGetModuleProperties");
    fake_check_type(p->stype, ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES,
                    "zeDeviceGetModuleProperties");
    p->spirvVersionSupported = ZE_MAKE_VERSION(1, 0);
    p->flags                 = fake_lacks("fp64") ? 0 : ZE_DEVICE_MODULE_FLAG_FP64;
    p->maxArgumentsSize      = 2048;
    return fake_leave(ZE_RESULT_SUCCESS);
}

static ze_result_t device_memory(ze_device_handle_t device, uint32_t *count,
                                 ze_device_memory_properties_t *all)
{
    BEGIN("zeDeviceGetMemoryProperties");
    if (wants_items(count, 1)) {
        fake_check_type(all[0].stype, ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES,
                        "zeDeviceGetMemoryProperties");
        all[0].totalSize = gpu.capacity;
    }
    return fake_leave(ZE_RESULT_SUCCESS);
}

static ze_result_t device_access(ze_device_handle_t device, ze_device_memory_access_properties_t *p)
{
    BEGIN("zeDeviceGetMemoryAccessProperties");
    fake_check_type(p->stype, ZE_STRUCTURE_TYPE_DEVICE_MEMORY_ACCESS_PROPERTIES,
                    "zeDeviceGetMemoryAccessProperties");
    p->hostAllocCapabilities               = fake.access[FAKE_HOST_ACCESS];
    p->deviceAllocCapabilities             = fake.access[FAKE_DEVICE_ACCESS];
    p->sharedSingleDeviceAllocCapabilities = fake.access[FAKE_SINGLE_ACCESS];
    p->sharedCrossDeviceAllocCapabilities  = fake.access[FAKE_CROSS_ACCESS];
    p->sharedSystemAllocCapabilities       = fake.access[FAKE_SYSTEM_ACCESS];
    return fake_leave(ZE_RESULT_SUCCESS);
}

static ze_result_t device_external(ze_device_handle_t device,
                                   ze_device_external_memory_properties_t *p)
{
    BEGIN("zeDeviceGetExternalMemoryProperties");
    fake_check_type(p->stype, ZE_STRUCTURE_TYPE_DEVICE_EXTERNAL_MEMORY_PROPERTIES,
                    "zeDeviceGetExternalMemoryProperties");
    p->memoryAllocationExportTypes =
        fake_lacks("dmabuf") ? 0 : ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF;
    return fake_leave(ZE_RESULT_SUCCESS);
}

/* The first group only copies. */
static ze_result_t device_queues(ze_device_handle_t device, uint32_t *count,
                                 ze_command_queue_group_properties_t *all)
{
    uint32_t i;

    BEGIN("zeDeviceGetCommandQueueGroupProperties");
    if (wants_items(count, 2)) {
        for (i = 0; i < *count; i++) {
            fake_check_type(all[i].stype, ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES,
                            "zeDeviceGetCommandQueueGroupProperties");
            all[i].flags = ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY |
                           ((i == 1) ? ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE : 0u);
            all[i].numQueues                = 1;
            all[i].maxMemoryFillPatternSize = 16;
        }
    }
    return fake_leave(ZE_RESULT_SUCCESS);
}

bool fake_peers(ze_device_handle_t from, ze_device_handle_t home)
{
    return (from == home) || ((from->driver == home->driver) && !fake_lacks("peers"));
}

static ze_result_t device_can_peer(ze_device_handle_t device, ze_device_handle_t peer,
                                   ze_bool_t *value)
{
    BEGIN("zeDeviceCanAccessPeer");
    *value = fake_peers(device, peer) ? 1 : 0;
    return fake_leave(ZE_RESULT_SUCCESS);
}

static ze_result_t device_p2p(ze_device_handle_t device, ze_device_handle_t peer,
                              ze_device_p2p_properties_t *p)
{
    BEGIN("zeDeviceGetP2PProperties");
    fake_check_type(p->stype, ZE_STRUCTURE_TYPE_DEVICE_P2P_PROPERTIES, "zeDeviceGetP2PProperties");
    p->flags = fake_peers(device, peer)
                   ? ZE_DEVICE_P2P_PROPERTY_FLAG_ACCESS |
                         (fake_lacks("p2patomics") ? 0u : ZE_DEVICE_P2P_PROPERTY_FLAG_ATOMICS)
                   : 0u;
    return fake_leave(ZE_RESULT_SUCCESS);
}

static ze_result_t device_bus(ze_device_handle_t device, ze_pci_ext_properties_t *p)
{
    BEGIN("zeDevicePciGetPropertiesExt");
    fake_check_type(p->stype, ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES, "zeDevicePciGetPropertiesExt");
    p->address.domain = 0;
    p->address.bus = 0x81 + (uint32_t)((device->parent != NULL) ? device->parent : device)->index;
    p->address.device   = 0;
    p->address.function = 0;
    return fake_leave(ZE_RESULT_SUCCESS);
}

void fake_fill_global(ze_global_dditable_t *table)
{
    table->pfnInit = ze_init;
}

void fake_fill_driver(ze_driver_dditable_t *table)
{
    table->pfnGet                         = driver_get;
    table->pfnGetApiVersion               = driver_version;
    table->pfnGetProperties               = driver_properties;
    table->pfnGetIpcProperties            = driver_ipc;
    table->pfnGetExtensionProperties      = driver_extensions;
    table->pfnGetExtensionFunctionAddress = driver_function;
}

void fake_fill_device(ze_device_dditable_t *table)
{
    table->pfnGet                            = device_get;
    table->pfnGetSubDevices                  = device_tiles;
    table->pfnGetProperties                  = device_properties;
    table->pfnGetComputeProperties           = device_compute;
    table->pfnGetModuleProperties            = device_module;
    table->pfnGetMemoryProperties            = device_memory;
    table->pfnGetMemoryAccessProperties      = device_access;
    table->pfnGetExternalMemoryProperties    = device_external;
    table->pfnGetCommandQueueGroupProperties = device_queues;
    table->pfnCanAccessPeer                  = device_can_peer;
    table->pfnGetP2PProperties               = device_p2p;
    table->pfnPciGetPropertiesExt            = device_bus;
}
