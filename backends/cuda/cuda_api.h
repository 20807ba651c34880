/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BACKENDS_CUDA_API_H
#define MEMSPAN_BACKENDS_CUDA_API_H

/* The part of the CUDA driver API that we use, declared here so that no toolkit is needed to build.
 * tests/unit/cuda_api.c compares it with <cuda.h> where there is one.
 *
 * Names are those for dlsym(), version suffix included: without it, dlsym("cuMemAlloc") gives the
 * entry of 2007, which writes 32 bits. */

#include <stddef.h>
#include <stdint.h>

/* A test that has included <cuda.h> compiles the table of calls with that header's own types. */
#ifndef MEMSPAN_CUDA_HEADER_TYPES
typedef int cuda_result_t;
typedef int cuda_device_t;
typedef int cuda_device_attribute_t;
typedef int cuda_pointer_attribute_t;
typedef int cuda_range_attribute_t;
typedef int cuda_advice_t;
typedef int cuda_jit_option_t;
typedef int cuda_handle_type_t;
typedef int cuda_range_handle_type_t;
typedef int cuda_granularity_t;
typedef int cuda_capture_mode_t;
typedef int cuda_capture_status_t;
typedef struct CUctx_st *cuda_context_t;
typedef struct CUstream_st *cuda_stream_t;
typedef struct CUevent_st *cuda_event_t;
typedef struct CUmod_st *cuda_module_t;
typedef struct CUfunc_st *cuda_function_t;
typedef unsigned long long cuda_address_t;
typedef unsigned long long cuda_handle_t;
typedef struct cuda_uuid cuda_uuid_t;
typedef struct cuda_location cuda_location_t;
typedef struct cuda_properties cuda_properties_t;
typedef struct cuda_access cuda_access_t;
typedef struct cuda_ipc_handle cuda_ipc_handle_t;
typedef struct cuda_rectangle cuda_rectangle_t;
#else
typedef CUresult cuda_result_t;
typedef CUdevice cuda_device_t;
typedef CUdevice_attribute cuda_device_attribute_t;
typedef CUpointer_attribute cuda_pointer_attribute_t;
typedef CUmem_range_attribute cuda_range_attribute_t;
typedef CUmem_advise cuda_advice_t;
typedef CUjit_option cuda_jit_option_t;
typedef CUmemAllocationHandleType cuda_handle_type_t;
typedef CUmemRangeHandleType cuda_range_handle_type_t;
typedef CUmemAllocationGranularity_flags cuda_granularity_t;
typedef CUstreamCaptureMode cuda_capture_mode_t;
typedef CUstreamCaptureStatus cuda_capture_status_t;
typedef CUcontext cuda_context_t;
typedef CUstream cuda_stream_t;
typedef CUevent cuda_event_t;
typedef CUmodule cuda_module_t;
typedef CUfunction cuda_function_t;
typedef CUdeviceptr cuda_address_t;
typedef CUmemGenericAllocationHandle cuda_handle_t;
typedef CUuuid cuda_uuid_t;
typedef CUmemLocation cuda_location_t;
typedef CUmemAllocationProp cuda_properties_t;
typedef CUmemAccessDesc cuda_access_t;
typedef CUipcMemHandle cuda_ipc_handle_t;
typedef CUDA_MEMCPY2D cuda_rectangle_t;
#endif

struct cuda_uuid { /* CUuuid */
    char bytes[16];
};

struct cuda_location { /* CUmemLocation */
    int type;
    int id;
};

struct cuda_properties { /* CUmemAllocationProp */
    int type;
    int requested_handle_types;
    struct cuda_location location;
    void *windows_only;
    struct {
        unsigned char compression;
        unsigned char rdma_capable;
        unsigned short usage;
        unsigned char reserved[4];
    } flags;
};

struct cuda_access { /* CUmemAccessDesc */
    struct cuda_location location;
    int flags;
};

struct cuda_side { /* one side of CUDA_MEMCPY2D */
    size_t x_bytes;
    size_t y;
    int type; /* CUDA_MEMORYTYPE_UNIFIED: the address identifies its owner */
    void *host;
    cuda_address_t address;
    void *array;
    size_t pitch_bytes;
};

struct cuda_rectangle { /* CUDA_MEMCPY2D */
    struct cuda_side from;
    struct cuda_side to;
    size_t width_bytes;
    size_t height;
};

struct cuda_ipc_handle { /* CUipcMemHandle, and CUmemFabricHandle has the same form */
    char reserved[64];
};

/* X(name without the prefix, value): each is CUDA_name here and CU_name in the driver's header. */
#define CUDA_CONSTANT_MAP(X)                                                                       \
    X(MEMORYTYPE_UNIFIED, 4)                                                                       \
    X(DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 16)                                                   \
    X(DEVICE_ATTRIBUTE_INTEGRATED, 18)                                                             \
    X(DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 19)                                                    \
    X(DEVICE_ATTRIBUTE_PCI_BUS_ID, 33)                                                             \
    X(DEVICE_ATTRIBUTE_PCI_DEVICE_ID, 34)                                                          \
    X(DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 41)                                                     \
    X(DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, 50)                                                          \
    X(DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 75)                                               \
    X(DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 76)                                               \
    X(DEVICE_ATTRIBUTE_MANAGED_MEMORY, 83)                                                         \
    X(DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED, 86)                                           \
    X(DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, 88)                                                 \
    X(DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, 89)                                              \
    X(DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 91)                                \
    X(DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, 99)                                                \
    X(DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES, 100)                          \
    X(DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 102)                                   \
    X(DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, 103)                           \
    X(DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED, 110)                               \
    X(DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED, 116)                                             \
    X(DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED, 124)                                                     \
    X(DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED, 125)                                                   \
    X(DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED, 128)                                          \
    X(DEVICE_ATTRIBUTE_NUMA_CONFIG, 130)                                                           \
    X(DEVICE_ATTRIBUTE_NUMA_ID, 131)                                                               \
    X(DEVICE_ATTRIBUTE_HOST_NUMA_ID, 134)                                                          \
    X(DEVICE_NUMA_CONFIG_NUMA_NODE, 1)                                                             \
    X(POINTER_ATTRIBUTE_MEMORY_TYPE, 2)                                                            \
    X(POINTER_ATTRIBUTE_SYNC_MEMOPS, 6)                                                            \
    X(CTX_SYNC_MEMOPS, 0x80)                                                                       \
    X(MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE, 1)                                                 \
    X(POINTER_ATTRIBUTE_IS_MANAGED, 8)                                                             \
    X(POINTER_ATTRIBUTE_DEVICE_ORDINAL, 9)                                                         \
    X(POINTER_ATTRIBUTE_RANGE_START_ADDR, 11)                                                      \
    X(POINTER_ATTRIBUTE_RANGE_SIZE, 12)                                                            \
    X(MEMORYTYPE_HOST, 1)                                                                          \
    X(MEMORYTYPE_DEVICE, 2)                                                                        \
    X(MEM_ATTACH_GLOBAL, 1)                                                                        \
    X(MEM_ATTACH_SINGLE, 4)                                                                        \
    X(MEMHOSTALLOC_PORTABLE, 1)                                                                    \
    X(MEMHOSTALLOC_DEVICEMAP, 2)                                                                   \
    X(MEMHOSTREGISTER_PORTABLE, 1)                                                                 \
    X(MEMHOSTREGISTER_DEVICEMAP, 2)                                                                \
    X(STREAM_NON_BLOCKING, 1)                                                                      \
    X(STREAM_CAPTURE_MODE_RELAXED, 2)                                                              \
    X(STREAM_CAPTURE_STATUS_NONE, 0)                                                               \
    X(STREAM_WAIT_VALUE_GEQ, 0)                                                                    \
    X(EVENT_DISABLE_TIMING, 2)                                                                     \
    X(MEM_ADVISE_SET_PREFERRED_LOCATION, 3)                                                        \
    X(MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, 4)                                               \
    X(MEM_LOCATION_TYPE_DEVICE, 1)                                                                 \
    X(MEM_LOCATION_TYPE_HOST, 2)                                                                   \
    X(MEM_ALLOCATION_TYPE_PINNED, 1)                                                               \
    X(MEM_ALLOC_GRANULARITY_RECOMMENDED, 1)                                                        \
    X(MEM_ACCESS_FLAGS_PROT_READWRITE, 3)                                                          \
    X(MEM_HANDLE_TYPE_NONE, 0)                                                                     \
    X(MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 1)                                                    \
    X(MEM_HANDLE_TYPE_FABRIC, 8)                                                                   \
    X(MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 1)                                                         \
    X(IPC_MEM_LAZY_ENABLE_PEER_ACCESS, 1)                                                          \
    X(JIT_ERROR_LOG_BUFFER, 5)                                                                     \
    X(JIT_ERROR_LOG_BUFFER_SIZE_BYTES, 6)

enum cuda_constant {
#define CUDA_CONSTANT(name, value) CUDA_##name = (value),
    CUDA_CONSTANT_MAP(CUDA_CONSTANT)
#undef CUDA_CONSTANT
};

/* Where a call takes a device number, the host has this one (CU_DEVICE_CPU). */
#define CUDA_DEVICE_CPU (-1)

/* X(name, value): the answers that we treat apart; all others have the driver's words. */
#define CUDA_STATUS_MAP(X)                                                                         \
    X(CUDA_SUCCESS, 0)                                                                             \
    X(CUDA_ERROR_INVALID_VALUE, 1)                                                                 \
    X(CUDA_ERROR_OUT_OF_MEMORY, 2)                                                                 \
    X(CUDA_ERROR_NOT_INITIALIZED, 3)                                                               \
    X(CUDA_ERROR_DEINITIALIZED, 4)                                                                 \
    X(CUDA_ERROR_STUB_LIBRARY, 34)                                                                 \
    X(CUDA_ERROR_DEVICE_UNAVAILABLE, 46)                                                           \
    X(CUDA_ERROR_NO_DEVICE, 100)                                                                   \
    X(CUDA_ERROR_INVALID_DEVICE, 101)                                                              \
    X(CUDA_ERROR_INVALID_CONTEXT, 201)                                                             \
    X(CUDA_ERROR_ECC_UNCORRECTABLE, 214)                                                           \
    X(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, 217)                                                     \
    X(CUDA_ERROR_INVALID_PTX, 218)                                                                 \
    X(CUDA_ERROR_NVLINK_UNCORRECTABLE, 220)                                                        \
    X(CUDA_ERROR_INVALID_HANDLE, 400)                                                              \
    X(CUDA_ERROR_NOT_FOUND, 500)                                                                   \
    X(CUDA_ERROR_NOT_READY, 600)                                                                   \
    X(CUDA_ERROR_ILLEGAL_ADDRESS, 700)                                                             \
    X(CUDA_ERROR_LAUNCH_TIMEOUT, 702)                                                              \
    X(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, 704)                                                 \
    X(CUDA_ERROR_CONTEXT_IS_DESTROYED, 709)                                                        \
    X(CUDA_ERROR_ASSERT, 710)                                                                      \
    X(CUDA_ERROR_TOO_MANY_PEERS, 711)                                                              \
    X(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, 712)                                              \
    X(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, 713)                                                  \
    X(CUDA_ERROR_HARDWARE_STACK_ERROR, 714)                                                        \
    X(CUDA_ERROR_LAUNCH_FAILED, 719)                                                               \
    X(CUDA_ERROR_NOT_PERMITTED, 800)                                                               \
    X(CUDA_ERROR_NOT_SUPPORTED, 801)                                                               \
    X(CUDA_ERROR_SYSTEM_NOT_READY, 802)                                                            \
    X(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, 803)                                                      \
    X(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, 900)                                                  \
    X(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, 901)                                                  \
    X(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, 908)                                                 \
    X(CUDA_ERROR_UNKNOWN, 999)

#ifndef MEMSPAN_CUDA_HEADER_TYPES
enum cuda_status {
#define CUDA_STATUS(name, value) name = (value),
    CUDA_STATUS_MAP(CUDA_STATUS)
#undef CUDA_STATUS
};
#endif

/* X(name, older name of the same form or NULL, optional, arguments). All answer a cuda_result_t.
 * Optional: a driver without it can do less. Two versions with different forms are two rows. */
#define CUDA_CALL_MAP(X)                                                                           \
    X(cuInit, NULL, 0, (unsigned))                                                                 \
    X(cuDriverGetVersion, NULL, 0, (int *))                                                        \
    X(cuGetErrorName, NULL, 1, (cuda_result_t, const char **))                                     \
    X(cuGetErrorString, NULL, 1, (cuda_result_t, const char **))                                   \
    X(cuDeviceGetCount, NULL, 0, (int *))                                                          \
    X(cuDeviceGet, NULL, 0, (cuda_device_t *, int))                                                \
    X(cuDeviceGetName, NULL, 0, (char *, int, cuda_device_t))                                      \
    X(cuDeviceGetUuid_v2, "cuDeviceGetUuid", 1, (cuda_uuid_t *, cuda_device_t))                    \
    X(cuDeviceTotalMem_v2, NULL, 0, (size_t *, cuda_device_t))                                     \
    X(cuDeviceGetAttribute, NULL, 0, (int *, cuda_device_attribute_t, cuda_device_t))              \
    X(cuDeviceCanAccessPeer, NULL, 1, (int *, cuda_device_t, cuda_device_t))                       \
    X(cuDevicePrimaryCtxRetain, NULL, 0, (cuda_context_t *, cuda_device_t))                        \
    X(cuDevicePrimaryCtxRelease_v2, "cuDevicePrimaryCtxRelease", 0, (cuda_device_t))               \
    X(cuDevicePrimaryCtxGetState, NULL, 0, (cuda_device_t, unsigned *, int *))                     \
    X(cuCtxPushCurrent_v2, NULL, 0, (cuda_context_t))                                              \
    X(cuCtxPopCurrent_v2, NULL, 0, (cuda_context_t *))                                             \
    X(cuCtxGetCurrent, NULL, 1, (cuda_context_t *))                                                \
    X(cuCtxSynchronize, NULL, 0, (void))                                                           \
    X(cuCtxEnablePeerAccess, NULL, 1, (cuda_context_t, unsigned))                                  \
    X(cuCtxGetId, NULL, 1, (cuda_context_t, unsigned long long *))                                 \
    X(cuCtxGetFlags, NULL, 1, (unsigned *))                                                        \
    X(cuCtxSetFlags, NULL, 1, (unsigned))                                                          \
    X(cuThreadExchangeStreamCaptureMode, NULL, 1, (cuda_capture_mode_t *))                         \
    X(cuMemGetInfo_v2, NULL, 0, (size_t *, size_t *))                                              \
    X(cuMemAlloc_v2, NULL, 0, (cuda_address_t *, size_t))                                          \
    X(cuMemFree_v2, NULL, 0, (cuda_address_t))                                                     \
    X(cuMemHostAlloc, NULL, 0, (void **, size_t, unsigned))                                        \
    X(cuMemFreeHost, NULL, 0, (void *))                                                            \
    X(cuMemHostGetDevicePointer_v2, NULL, 0, (cuda_address_t *, void *, unsigned))                 \
    X(cuMemHostRegister_v2, NULL, 0, (void *, size_t, unsigned))                                   \
    X(cuMemHostUnregister, NULL, 0, (void *))                                                      \
    X(cuMemAllocManaged, NULL, 1, (cuda_address_t *, size_t, unsigned))                            \
    X(cuMemAdvise_v2, NULL, 1, (cuda_address_t, size_t, cuda_advice_t, cuda_location_t))           \
    X(cuMemAdvise, NULL, 1, (cuda_address_t, size_t, cuda_advice_t, cuda_device_t))                \
    X(cuMemPrefetchAsync_v2, NULL, 1,                                                              \
      (cuda_address_t, size_t, cuda_location_t, unsigned, cuda_stream_t))                          \
    X(cuMemPrefetchAsync, NULL, 1, (cuda_address_t, size_t, cuda_device_t, cuda_stream_t))         \
    X(cuMemRangeGetAttribute, NULL, 1,                                                             \
      (void *, size_t, cuda_range_attribute_t, cuda_address_t, size_t))                            \
    X(cuPointerGetAttributes, NULL, 0,                                                             \
      (unsigned, cuda_pointer_attribute_t *, void **, cuda_address_t))                             \
    X(cuPointerSetAttribute, NULL, 1, (const void *, cuda_pointer_attribute_t, cuda_address_t))    \
    X(cuMemcpyAsync, NULL, 0, (cuda_address_t, cuda_address_t, size_t, cuda_stream_t))             \
    X(cuMemcpy2DAsync_v2, NULL, 0, (const cuda_rectangle_t *, cuda_stream_t))                      \
    X(cuMemsetD8Async, NULL, 0, (cuda_address_t, unsigned char, size_t, cuda_stream_t))            \
    X(cuMemsetD32Async, NULL, 0, (cuda_address_t, unsigned, size_t, cuda_stream_t))                \
    X(cuStreamCreate, NULL, 0, (cuda_stream_t *, unsigned))                                        \
    X(cuStreamDestroy_v2, NULL, 0, (cuda_stream_t))                                                \
    X(cuStreamSynchronize, NULL, 0, (cuda_stream_t))                                               \
    X(cuStreamGetCtx, NULL, 1, (cuda_stream_t, cuda_context_t *))                                  \
    X(cuStreamIsCapturing, NULL, 1, (cuda_stream_t, cuda_capture_status_t *))                      \
    X(cuStreamAttachMemAsync, NULL, 1, (cuda_stream_t, cuda_address_t, size_t, unsigned))          \
    X(cuStreamWaitEvent, NULL, 0, (cuda_stream_t, cuda_event_t, unsigned))                         \
    X(cuStreamWaitValue32_v2, NULL, 1, (cuda_stream_t, cuda_address_t, uint32_t, unsigned))        \
    X(cuEventCreate, NULL, 0, (cuda_event_t *, unsigned))                                          \
    X(cuEventDestroy_v2, NULL, 0, (cuda_event_t))                                                  \
    X(cuEventRecord, NULL, 0, (cuda_event_t, cuda_stream_t))                                       \
    X(cuEventQuery, NULL, 0, (cuda_event_t))                                                       \
    X(cuModuleLoadDataEx, NULL, 1,                                                                 \
      (cuda_module_t *, const void *, unsigned, cuda_jit_option_t *, void **))                     \
    X(cuModuleUnload, NULL, 1, (cuda_module_t))                                                    \
    X(cuModuleGetFunction, NULL, 1, (cuda_function_t *, cuda_module_t, const char *))              \
    X(cuLaunchKernel, NULL, 1,                                                                     \
      (cuda_function_t, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,      \
       cuda_stream_t, void **, void **))                                                           \
    X(cuIpcGetMemHandle, NULL, 1, (cuda_ipc_handle_t *, cuda_address_t))                           \
    X(cuIpcOpenMemHandle_v2, NULL, 1, (cuda_address_t *, cuda_ipc_handle_t, unsigned))             \
    X(cuIpcCloseMemHandle, NULL, 1, (cuda_address_t))                                              \
    X(cuMemGetAllocationGranularity, NULL, 1,                                                      \
      (size_t *, const cuda_properties_t *, cuda_granularity_t))                                   \
    X(cuMemCreate, NULL, 1,                                                                        \
      (cuda_handle_t *, size_t, const cuda_properties_t *, unsigned long long))                    \
    X(cuMemRelease, NULL, 1, (cuda_handle_t))                                                      \
    X(cuMemAddressReserve, NULL, 1,                                                                \
      (cuda_address_t *, size_t, size_t, cuda_address_t, unsigned long long))                      \
    X(cuMemAddressFree, NULL, 1, (cuda_address_t, size_t))                                         \
    X(cuMemMap, NULL, 1, (cuda_address_t, size_t, size_t, cuda_handle_t, unsigned long long))      \
    X(cuMemUnmap, NULL, 1, (cuda_address_t, size_t))                                               \
    X(cuMemSetAccess, NULL, 1, (cuda_address_t, size_t, const cuda_access_t *, size_t))            \
    X(cuMemExportToShareableHandle, NULL, 1,                                                       \
      (void *, cuda_handle_t, cuda_handle_type_t, unsigned long long))                             \
    X(cuMemImportFromShareableHandle, NULL, 1, (cuda_handle_t *, void *, cuda_handle_type_t))      \
    X(cuMemGetHandleForAddressRange, NULL, 1,                                                      \
      (void *, cuda_address_t, size_t, cuda_range_handle_type_t, unsigned long long))

/* The calls, filled from the driver. */
struct cuda_calls {
#define CUDA_CALL(name, older, optional, arguments) cuda_result_t(*name) arguments;
    CUDA_CALL_MAP(CUDA_CALL)
#undef CUDA_CALL
};

#endif /* MEMSPAN_BACKENDS_CUDA_API_H */
