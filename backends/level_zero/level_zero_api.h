/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BACKENDS_LEVEL_ZERO_API_H
#define MEMSPAN_BACKENDS_LEVEL_ZERO_API_H

/* What we use of Level Zero, declared here so that no development package is needed to build.
 * tests/unit/level_zero_api.c compares it with <level_zero/ze_api.h> where there is one.
 *
 * Every structure opens with its number and a chain: a driver may ignore one without, or crash. */

#include <stddef.h>
#include <stdint.h>

/* Handles: the tags are the driver's, so that these are its own types. */
typedef struct _ze_driver_handle_t *lz_driver_h;
typedef struct _ze_device_handle_t *lz_device_h;
typedef struct _ze_context_handle_t *lz_context_h;
typedef struct _ze_command_list_handle_t *lz_list_h;
typedef struct _ze_event_pool_handle_t *lz_event_pool_h;
typedef struct _ze_event_handle_t *lz_event_h;
typedef struct _ze_module_handle_t *lz_module_h;
typedef struct _ze_module_build_log_handle_t *lz_build_log_h;
typedef struct _ze_kernel_handle_t *lz_kernel_h;
typedef struct _zes_mem_handle_t *lz_sysman_memory_h;

/* X(our name, the header's name, member, member, ...): the layouts, compared one by one. */
#define LZ_STRUCT_MAP(X)                                                                           \
    X(driver_properties, ze_driver_properties_t, uuid, driverVersion)                              \
    X(ipc_properties, ze_driver_ipc_properties_t, flags, flags)                                    \
    X(extension, ze_driver_extension_properties_t, name, version)                                  \
    X(device_properties, ze_device_properties_t, uuid, name)                                       \
    X(compute_properties, ze_device_compute_properties_t, maxTotalGroupSize, maxGroupCountX)       \
    X(module_properties, ze_device_module_properties_t, flags, maxArgumentsSize)                   \
    X(memory_properties, ze_device_memory_properties_t, totalSize, name)                           \
    X(access_properties, ze_device_memory_access_properties_t, hostAllocCapabilities,              \
      sharedSystemAllocCapabilities)                                                               \
    X(external_properties, ze_device_external_memory_properties_t, memoryAllocationImportTypes,    \
      memoryAllocationExportTypes)                                                                 \
    X(queue_group, ze_command_queue_group_properties_t, maxMemoryFillPatternSize, numQueues)       \
    X(p2p_properties, ze_device_p2p_properties_t, flags, flags)                                    \
    X(pci_properties, ze_pci_ext_properties_t, address, maxSpeed)                                  \
    X(context_desc, ze_context_desc_t, flags, flags)                                               \
    X(queue_desc, ze_command_queue_desc_t, ordinal, priority)                                      \
    X(event_pool_desc, ze_event_pool_desc_t, flags, count)                                         \
    X(event_desc, ze_event_desc_t, index, wait)                                                    \
    X(device_alloc_desc, ze_device_mem_alloc_desc_t, flags, ordinal)                               \
    X(host_alloc_desc, ze_host_mem_alloc_desc_t, flags, flags)                                     \
    X(relaxed_desc, ze_relaxed_allocation_limits_exp_desc_t, flags, flags)                         \
    X(export_desc, ze_external_memory_export_desc_t, flags, flags)                                 \
    X(export_fd, ze_external_memory_export_fd_t, flags, fd)                                        \
    X(alloc_properties, ze_memory_allocation_properties_t, type, pageSize)                         \
    X(ipc_handle, ze_ipc_mem_handle_t, data, data)                                                 \
    X(module_desc, ze_module_desc_t, inputSize, pConstants)                                        \
    X(kernel_desc, ze_kernel_desc_t, flags, pKernelName)                                           \
    X(group_count, ze_group_count_t, groupCountX, groupCountZ)                                     \
    X(sysman_properties, zes_device_properties_t, core, driverVersion)                             \
    X(sysman_memory_properties, zes_mem_properties_t, type, numChannels)                           \
    X(sysman_memory, zes_mem_state_t, health, size)

/* A test that has included the driver's headers compiles the table of calls with their types. */
#ifndef MEMSPAN_LEVEL_ZERO_HEADER_TYPES
typedef uint32_t lz_result_t;
typedef uint32_t lz_version_t;
typedef uint32_t lz_advice_t;
typedef uint32_t lz_handle_type_t;
typedef struct _zes_driver_handle_t *lz_sysman_driver_h;
typedef struct _zes_device_handle_t *lz_sysman_device_h;
#define LZ_STRUCT(name, theirs, first, last) typedef struct lz_##name lz_##name##_t;
#else
typedef ze_result_t lz_result_t;
typedef ze_api_version_t lz_version_t;
typedef ze_memory_advice_t lz_advice_t;
typedef zel_handle_type_t lz_handle_type_t;
/* Newer headers have the core's handles here. */
typedef zes_driver_handle_t lz_sysman_driver_h;
typedef zes_device_handle_t lz_sysman_device_h;
#define LZ_STRUCT(name, theirs, first, last) typedef theirs lz_##name##_t;
#endif
LZ_STRUCT_MAP(LZ_STRUCT)
#undef LZ_STRUCT

/* What every structure opens with. */
struct lz_chain {
    uint32_t stype;
    const void *pNext;
};

struct lz_driver_properties {
    uint32_t stype;
    void *pNext;
    uint8_t uuid[16];
    uint32_t driverVersion;
};

struct lz_ipc_properties {
    uint32_t stype;
    void *pNext;
    uint32_t flags;
};

struct lz_extension {
    char name[256];
    uint32_t version;
};

struct lz_device_properties {
    uint32_t stype;
    void *pNext;
    uint32_t type;
    uint32_t vendorId;
    uint32_t deviceId;
    uint32_t flags;
    uint32_t subdeviceId;
    uint32_t coreClockRate;
    uint64_t maxMemAllocSize;
    uint32_t maxHardwareContexts;
    uint32_t maxCommandQueuePriority;
    uint32_t numThreadsPerEU;
    uint32_t physicalEUSimdWidth;
    uint32_t numEUsPerSubslice;
    uint32_t numSubslicesPerSlice;
    uint32_t numSlices;
    uint64_t timerResolution;
    uint32_t timestampValidBits;
    uint32_t kernelTimestampValidBits;
    uint8_t uuid[16];
    char name[256];
};

struct lz_compute_properties {
    uint32_t stype;
    void *pNext;
    uint32_t maxTotalGroupSize;
    uint32_t maxGroupSizeX;
    uint32_t maxGroupSizeY;
    uint32_t maxGroupSizeZ;
    uint32_t maxGroupCountX;
    uint32_t maxGroupCountY;
    uint32_t maxGroupCountZ;
    uint32_t maxSharedLocalMemory;
    uint32_t numSubGroupSizes;
    uint32_t subGroupSizes[8];
};

struct lz_module_properties {
    uint32_t stype;
    void *pNext;
    uint32_t spirvVersionSupported;
    uint32_t flags;
    uint32_t fp16flags;
    uint32_t fp32flags;
    uint32_t fp64flags;
    uint32_t maxArgumentsSize;
    uint32_t printfBufferSize;
    uint8_t nativeKernelSupported[16];
};

struct lz_memory_properties {
    uint32_t stype;
    void *pNext;
    uint32_t flags;
    uint32_t maxClockRate;
    uint32_t maxBusWidth;
    uint64_t totalSize;
    char name[256];
};

struct lz_access_properties {
    uint32_t stype;
    void *pNext;
    uint32_t hostAllocCapabilities;
    uint32_t deviceAllocCapabilities;
    uint32_t sharedSingleDeviceAllocCapabilities;
    uint32_t sharedCrossDeviceAllocCapabilities;
    uint32_t sharedSystemAllocCapabilities;
};

struct lz_external_properties {
    uint32_t stype;
    void *pNext;
    uint32_t memoryAllocationImportTypes;
    uint32_t memoryAllocationExportTypes;
    uint32_t imageImportTypes;
    uint32_t imageExportTypes;
};

struct lz_queue_group {
    uint32_t stype;
    void *pNext;
    uint32_t flags;
    size_t maxMemoryFillPatternSize;
    uint32_t numQueues;
};

struct lz_p2p_properties {
    uint32_t stype;
    void *pNext;
    uint32_t flags;
};

struct lz_pci_properties {
    uint32_t stype;
    void *pNext;
    struct {
        uint32_t domain;
        uint32_t bus;
        uint32_t device;
        uint32_t function;
    } address;
    struct {
        int32_t genVersion;
        int32_t width;
        int64_t maxBandwidth;
    } maxSpeed;
};

struct lz_context_desc {
    uint32_t stype;
    const void *pNext;
    uint32_t flags;
};

struct lz_queue_desc {
    uint32_t stype;
    const void *pNext;
    uint32_t ordinal;
    uint32_t index;
    uint32_t flags;
    uint32_t mode;
    uint32_t priority;
};

struct lz_event_pool_desc {
    uint32_t stype;
    const void *pNext;
    uint32_t flags;
    uint32_t count;
};

struct lz_event_desc {
    uint32_t stype;
    const void *pNext;
    uint32_t index;
    uint32_t signal;
    uint32_t wait;
};

struct lz_device_alloc_desc {
    uint32_t stype;
    const void *pNext;
    uint32_t flags;
    uint32_t ordinal;
};

struct lz_host_alloc_desc {
    uint32_t stype;
    const void *pNext;
    uint32_t flags;
};

struct lz_relaxed_desc {
    uint32_t stype;
    const void *pNext;
    uint32_t flags;
};

/* ze_external_memmap_sysmem_ext_desc_t, newer than Debian 12's header. */
struct lz_memmap_desc {
    uint32_t stype;
    const void *pNext;
    void *pSystemMemory;
    uint64_t size;
};

struct lz_export_desc {
    uint32_t stype;
    const void *pNext;
    uint32_t flags;
};

struct lz_export_fd {
    uint32_t stype;
    const void *pNext;
    uint32_t flags;
    int fd;
};

struct lz_alloc_properties {
    uint32_t stype;
    void *pNext;
    uint32_t type;
    uint64_t id;
    uint64_t pageSize;
};

struct lz_ipc_handle {
    char data[64];
};

struct lz_module_desc {
    uint32_t stype;
    const void *pNext;
    uint32_t format;
    size_t inputSize;
    const uint8_t *pInputModule;
    const char *pBuildFlags;
    const void *pConstants;
};

struct lz_kernel_desc {
    uint32_t stype;
    const void *pNext;
    uint32_t flags;
    const char *pKernelName;
};

struct lz_group_count {
    uint32_t groupCountX;
    uint32_t groupCountY;
    uint32_t groupCountZ;
};

struct lz_sysman_properties {
    uint32_t stype;
    void *pNext;
    struct lz_device_properties core;
    uint32_t numSubdevices;
    char serialNumber[64];
    char boardNumber[64];
    char brandName[64];
    char modelName[64];
    char vendorName[64];
    char driverVersion[64];
};

struct lz_sysman_memory_properties {
    uint32_t stype;
    void *pNext;
    uint32_t type;
    uint8_t onSubdevice;
    uint32_t subdeviceId;
    uint32_t location;
    uint64_t physicalSize;
    int32_t busWidth;
    int32_t numChannels;
};

struct lz_sysman_memory {
    uint32_t stype;
    const void *pNext;
    uint32_t health;
    uint64_t free;
    uint64_t size;
};

/* X(name without the prefix, value): each is LZ_name here and ZE_name in the driver's header. */
#define LZ_CONSTANT_MAP(X)                                                                         \
    X(STRUCTURE_TYPE_DRIVER_PROPERTIES, 0x1)                                                       \
    X(STRUCTURE_TYPE_DRIVER_IPC_PROPERTIES, 0x2)                                                   \
    X(STRUCTURE_TYPE_DEVICE_PROPERTIES, 0x3)                                                       \
    X(STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES, 0x4)                                               \
    X(STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES, 0x5)                                                \
    X(STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES, 0x6)                                          \
    X(STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES, 0x7)                                                \
    X(STRUCTURE_TYPE_DEVICE_MEMORY_ACCESS_PROPERTIES, 0x8)                                         \
    X(STRUCTURE_TYPE_DEVICE_P2P_PROPERTIES, 0xb)                                                   \
    X(STRUCTURE_TYPE_DEVICE_EXTERNAL_MEMORY_PROPERTIES, 0xc)                                       \
    X(STRUCTURE_TYPE_CONTEXT_DESC, 0xd)                                                            \
    X(STRUCTURE_TYPE_COMMAND_QUEUE_DESC, 0xe)                                                      \
    X(STRUCTURE_TYPE_EVENT_POOL_DESC, 0x10)                                                        \
    X(STRUCTURE_TYPE_EVENT_DESC, 0x11)                                                             \
    X(STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, 0x15)                                                  \
    X(STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, 0x16)                                                    \
    X(STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES, 0x17)                                           \
    X(STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC, 0x18)                                            \
    X(STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD, 0x1a)                                              \
    X(STRUCTURE_TYPE_MODULE_DESC, 0x1b)                                                            \
    X(STRUCTURE_TYPE_KERNEL_DESC, 0x1d)                                                            \
    X(STRUCTURE_TYPE_PCI_EXT_PROPERTIES, 0x10008)                                                  \
    X(STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXP_DESC, 0x20001)                                  \
    X(INIT_FLAG_GPU_ONLY, 1)                                                                       \
    X(IPC_PROPERTY_FLAG_MEMORY, 1)                                                                 \
    X(DEVICE_TYPE_GPU, 1)                                                                          \
    X(DEVICE_PROPERTY_FLAG_INTEGRATED, 1)                                                          \
    X(DEVICE_MODULE_FLAG_FP64, 2)                                                                  \
    X(COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE, 1)                                                \
    X(MEMORY_ACCESS_CAP_FLAG_RW, 1)                                                                \
    X(MEMORY_ACCESS_CAP_FLAG_ATOMIC, 2)                                                            \
    X(MEMORY_ACCESS_CAP_FLAG_CONCURRENT, 4)                                                        \
    X(MEMORY_ACCESS_CAP_FLAG_CONCURRENT_ATOMIC, 8)                                                 \
    X(DEVICE_P2P_PROPERTY_FLAG_ATOMICS, 2)                                                         \
    X(COMMAND_QUEUE_MODE_ASYNCHRONOUS, 2)                                                          \
    X(COMMAND_QUEUE_PRIORITY_NORMAL, 0)                                                            \
    X(EVENT_POOL_FLAG_HOST_VISIBLE, 1)                                                             \
    X(EVENT_SCOPE_FLAG_HOST, 4)                                                                    \
    X(DEVICE_MEM_ALLOC_FLAG_BIAS_INITIAL_PLACEMENT, 4)                                             \
    X(HOST_MEM_ALLOC_FLAG_BIAS_INITIAL_PLACEMENT, 8)                                               \
    X(MEMORY_TYPE_UNKNOWN, 0)                                                                      \
    X(MEMORY_TYPE_HOST, 1)                                                                         \
    X(MEMORY_TYPE_DEVICE, 2)                                                                       \
    X(MEMORY_TYPE_SHARED, 3)                                                                       \
    X(MEMORY_ADVICE_SET_PREFERRED_LOCATION, 2)                                                     \
    X(EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF, 2)                                                        \
    X(RELAXED_ALLOCATION_LIMITS_EXP_FLAG_MAX_SIZE, 1)                                              \
    X(MODULE_FORMAT_IL_SPIRV, 0)                                                                   \
    X(KERNEL_INDIRECT_ACCESS_FLAG_HOST, 1)                                                         \
    X(KERNEL_INDIRECT_ACCESS_FLAG_DEVICE, 2)                                                       \
    X(KERNEL_INDIRECT_ACCESS_FLAG_SHARED, 4)

enum {
#define LZ_CONSTANT(name, value) LZ_##name = (value),
    LZ_CONSTANT_MAP(LZ_CONSTANT)
#undef LZ_CONSTANT
    /* Not in Debian 12's headers, or named otherwise there. */
    LZ_STRUCTURE_TYPE_EXTERNAL_MEMMAP_SYSMEM_EXT_DESC = 0x20037,
    LZ_MEMORY_TYPE_HOST_IMPORTED                      = 4,
    LZ_SYSMAN_STRUCTURE_TYPE_DEVICE_PROPERTIES        = 0x1,
    LZ_SYSMAN_STRUCTURE_TYPE_MEM_PROPERTIES           = 0xb,
    LZ_SYSMAN_STRUCTURE_TYPE_MEM_STATE                = 0x1e,
    LZ_HANDLE_DRIVER                                  = 0 /* ZEL_HANDLE_DRIVER */
};

/* X(name, value): the answers, by the driver's own names: it has no call that tells them. */
#define LZ_RESULT_MAP(X)                                                                           \
    X(ZE_RESULT_SUCCESS, 0)                                                                        \
    X(ZE_RESULT_NOT_READY, 1)                                                                      \
    X(ZE_RESULT_ERROR_DEVICE_LOST, 0x70000001)                                                     \
    X(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, 0x70000002)                                              \
    X(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, 0x70000003)                                            \
    X(ZE_RESULT_ERROR_MODULE_BUILD_FAILURE, 0x70000004)                                            \
    X(ZE_RESULT_ERROR_MODULE_LINK_FAILURE, 0x70000005)                                             \
    X(ZE_RESULT_ERROR_DEVICE_REQUIRES_RESET, 0x70000006)                                           \
    X(ZE_RESULT_ERROR_DEVICE_IN_LOW_POWER_STATE, 0x70000007)                                       \
    X(ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS, 0x70010000)                                        \
    X(ZE_RESULT_ERROR_NOT_AVAILABLE, 0x70010001)                                                   \
    X(ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE, 0x70020000)                                          \
    X(ZE_RESULT_ERROR_UNINITIALIZED, 0x78000001)                                                   \
    X(ZE_RESULT_ERROR_UNSUPPORTED_VERSION, 0x78000002)                                             \
    X(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, 0x78000003)                                             \
    X(ZE_RESULT_ERROR_INVALID_ARGUMENT, 0x78000004)                                                \
    X(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, 0x78000005)                                             \
    X(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, 0x78000006)                                            \
    X(ZE_RESULT_ERROR_INVALID_NULL_POINTER, 0x78000007)                                            \
    X(ZE_RESULT_ERROR_INVALID_SIZE, 0x78000008)                                                    \
    X(ZE_RESULT_ERROR_UNSUPPORTED_SIZE, 0x78000009)                                                \
    X(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT, 0x7800000a)                                           \
    X(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT, 0x7800000b)                                  \
    X(ZE_RESULT_ERROR_INVALID_ENUMERATION, 0x7800000c)                                             \
    X(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION, 0x7800000d)                                         \
    X(ZE_RESULT_ERROR_INVALID_NATIVE_BINARY, 0x7800000f)                                           \
    X(ZE_RESULT_ERROR_INVALID_KERNEL_NAME, 0x78000011)                                             \
    X(ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION, 0x78000013)                                    \
    X(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX, 0x78000015)                                   \
    X(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE, 0x78000016)                                    \
    X(ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE, 0x78000019)                                       \
    X(ZE_RESULT_ERROR_OVERLAPPING_REGIONS, 0x7800001a)                                             \
    X(ZE_RESULT_ERROR_UNKNOWN, 0x7ffffffe)

#ifndef MEMSPAN_LEVEL_ZERO_HEADER_TYPES
enum {
#define LZ_RESULT(name, value) name = (value),
    LZ_RESULT_MAP(LZ_RESULT)
#undef LZ_RESULT
};
#endif

/* X(name, optional, arguments). Optional: a loader without it can do less. */
#define LZ_CALL_MAP(X)                                                                             \
    X(zeInit, 0, (uint32_t))                                                                       \
    X(zeDriverGet, 0, (uint32_t *, lz_driver_h *))                                                 \
    X(zeDriverGetApiVersion, 0, (lz_driver_h, lz_version_t *))                                     \
    X(zeDriverGetProperties, 0, (lz_driver_h, lz_driver_properties_t *))                           \
    X(zeDriverGetIpcProperties, 0, (lz_driver_h, lz_ipc_properties_t *))                           \
    X(zeDriverGetExtensionProperties, 0, (lz_driver_h, uint32_t *, lz_extension_t *))              \
    X(zeDriverGetExtensionFunctionAddress, 1, (lz_driver_h, const char *, void **))                \
    X(zeDeviceGet, 0, (lz_driver_h, uint32_t *, lz_device_h *))                                    \
    X(zeDeviceGetSubDevices, 0, (lz_device_h, uint32_t *, lz_device_h *))                          \
    X(zeDeviceGetProperties, 0, (lz_device_h, lz_device_properties_t *))                           \
    X(zeDeviceGetComputeProperties, 0, (lz_device_h, lz_compute_properties_t *))                   \
    X(zeDeviceGetModuleProperties, 0, (lz_device_h, lz_module_properties_t *))                     \
    X(zeDeviceGetMemoryProperties, 0, (lz_device_h, uint32_t *, lz_memory_properties_t *))         \
    X(zeDeviceGetMemoryAccessProperties, 0, (lz_device_h, lz_access_properties_t *))               \
    X(zeDeviceGetExternalMemoryProperties, 0, (lz_device_h, lz_external_properties_t *))           \
    X(zeDeviceGetCommandQueueGroupProperties, 0, (lz_device_h, uint32_t *, lz_queue_group_t *))    \
    X(zeDeviceCanAccessPeer, 0, (lz_device_h, lz_device_h, uint8_t *))                             \
    X(zeDeviceGetP2PProperties, 0, (lz_device_h, lz_device_h, lz_p2p_properties_t *))              \
    X(zeDevicePciGetPropertiesExt, 1, (lz_device_h, lz_pci_properties_t *))                        \
    X(zeContextCreate, 0, (lz_driver_h, const lz_context_desc_t *, lz_context_h *))                \
    X(zeContextDestroy, 0, (lz_context_h))                                                         \
    X(zeCommandListCreateImmediate, 0,                                                             \
      (lz_context_h, lz_device_h, const lz_queue_desc_t *, lz_list_h *))                           \
    X(zeCommandListDestroy, 0, (lz_list_h))                                                        \
    X(zeCommandListAppendBarrier, 0, (lz_list_h, lz_event_h, uint32_t, lz_event_h *))              \
    X(zeCommandListAppendMemoryCopy, 0,                                                            \
      (lz_list_h, void *, const void *, size_t, lz_event_h, uint32_t, lz_event_h *))               \
    X(zeCommandListAppendMemoryFill, 0,                                                            \
      (lz_list_h, void *, const void *, size_t, size_t, lz_event_h, uint32_t, lz_event_h *))       \
    X(zeCommandListAppendMemoryPrefetch, 0, (lz_list_h, const void *, size_t))                     \
    X(zeCommandListAppendMemAdvise, 0,                                                             \
      (lz_list_h, lz_device_h, const void *, size_t, lz_advice_t))                                 \
    X(zeCommandListAppendLaunchKernel, 0,                                                          \
      (lz_list_h, lz_kernel_h, const lz_group_count_t *, lz_event_h, uint32_t, lz_event_h *))      \
    X(zeEventPoolCreate, 0,                                                                        \
      (lz_context_h, const lz_event_pool_desc_t *, uint32_t, lz_device_h *, lz_event_pool_h *))    \
    X(zeEventPoolDestroy, 0, (lz_event_pool_h))                                                    \
    X(zeEventCreate, 0, (lz_event_pool_h, const lz_event_desc_t *, lz_event_h *))                  \
    X(zeEventDestroy, 0, (lz_event_h))                                                             \
    X(zeEventHostSynchronize, 0, (lz_event_h, uint64_t))                                           \
    X(zeEventHostReset, 0, (lz_event_h))                                                           \
    X(zeEventQueryStatus, 0, (lz_event_h))                                                         \
    X(zeMemAllocDevice, 0,                                                                         \
      (lz_context_h, const lz_device_alloc_desc_t *, size_t, size_t, lz_device_h, void **))        \
    X(zeMemAllocHost, 0, (lz_context_h, const lz_host_alloc_desc_t *, size_t, size_t, void **))    \
    X(zeMemAllocShared, 0,                                                                         \
      (lz_context_h, const lz_device_alloc_desc_t *, const lz_host_alloc_desc_t *, size_t, size_t, \
       lz_device_h, void **))                                                                      \
    X(zeMemFree, 0, (lz_context_h, void *))                                                        \
    X(zeMemGetAllocProperties, 0,                                                                  \
      (lz_context_h, const void *, lz_alloc_properties_t *, lz_device_h *))                        \
    X(zeMemGetAddressRange, 0, (lz_context_h, const void *, void **, size_t *))                    \
    X(zeMemGetIpcHandle, 1, (lz_context_h, const void *, lz_ipc_handle_t *))                       \
    X(zeMemOpenIpcHandle, 1, (lz_context_h, lz_device_h, lz_ipc_handle_t, uint32_t, void **))      \
    X(zeMemCloseIpcHandle, 1, (lz_context_h, const void *))                                        \
    X(zeModuleCreate, 0,                                                                           \
      (lz_context_h, lz_device_h, const lz_module_desc_t *, lz_module_h *, lz_build_log_h *))      \
    X(zeModuleDestroy, 0, (lz_module_h))                                                           \
    X(zeModuleBuildLogGetString, 0, (lz_build_log_h, size_t *, char *))                            \
    X(zeModuleBuildLogDestroy, 0, (lz_build_log_h))                                                \
    X(zeKernelCreate, 0, (lz_module_h, const lz_kernel_desc_t *, lz_kernel_h *))                   \
    X(zeKernelDestroy, 0, (lz_kernel_h))                                                           \
    X(zeKernelSetGroupSize, 0, (lz_kernel_h, uint32_t, uint32_t, uint32_t))                        \
    X(zeKernelSetArgumentValue, 0, (lz_kernel_h, uint32_t, size_t, const void *))                  \
    X(zeKernelSetIndirectAccess, 0, (lz_kernel_h, uint32_t))                                       \
    X(zelLoaderTranslateHandle, 1, (lz_handle_type_t, void *, void **))

/* Newer than Debian 12's headers: compared where the header has them. */
#define LZ_NEWER_CALL_MAP(X)                                                                       \
    X(zeCommandListIsImmediate, 1, (lz_list_h, uint8_t *))                                         \
    X(zeCommandListGetDeviceHandle, 1, (lz_list_h, lz_device_h *))                                 \
    X(zeMemPutIpcHandle, 1, (lz_context_h, lz_ipc_handle_t))                                       \
    X(zesInit, 1, (uint32_t))                                                                      \
    X(zesDriverGet, 1, (uint32_t *, lz_sysman_driver_h *))                                         \
    X(zesDeviceGet, 1, (lz_sysman_driver_h, uint32_t *, lz_sysman_device_h *))                     \
    X(zesDeviceGetProperties, 1, (lz_sysman_device_h, lz_sysman_properties_t *))                   \
    X(zesDeviceEnumMemoryModules, 1, (lz_sysman_device_h, uint32_t *, lz_sysman_memory_h *))       \
    X(zesMemoryGetProperties, 1, (lz_sysman_memory_h, lz_sysman_memory_properties_t *))            \
    X(zesMemoryGetState, 1, (lz_sysman_memory_h, lz_sysman_memory_t *))

/* The calls, filled from the loader. */
struct lz_calls {
#define LZ_CALL(name, optional, arguments) lz_result_t(*name) arguments;
    LZ_CALL_MAP(LZ_CALL)
    LZ_NEWER_CALL_MAP(LZ_CALL)
#undef LZ_CALL
};

#endif /* MEMSPAN_BACKENDS_LEVEL_ZERO_API_H */
