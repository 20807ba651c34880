/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BACKENDS_HIP_API_H
#define MEMSPAN_BACKENDS_HIP_API_H

/* The parts of the HIP runtime, of hiprtc and of HSA that we use, declared here so that no ROCm is
 * needed to build. tests/unit/hip_api.c compares it with the headers where there are some.
 *
 * hipDeviceProp_t is not used: its layout changed under the same function name. Attributes are
 * queried one by one. */

#include <stddef.h>
#include <stdint.h>

/* A test that has included the headers compiles the tables of calls with their own types. */
#ifndef MEMSPAN_HIP_HEADER_TYPES
typedef int hip_result_t;
typedef int hip_compiler_result_t;
typedef int hip_device_t;
typedef int hip_attribute_t;
typedef int hip_p2p_attribute_t;
typedef int hip_range_attribute_t;
typedef int hip_range_handle_t;
typedef int hip_advice_t;
typedef int hip_copy_kind_t;
typedef int hip_capture_mode_t;
typedef int hip_capture_status_t;
typedef struct ihipStream_t *hip_stream_t;
typedef struct ihipEvent_t *hip_event_t;
typedef struct ihipModule_t *hip_module_t;
typedef struct ihipModuleSymbol_t *hip_function_t;
typedef struct _hiprtcProgram *hip_program_t;
typedef struct hip_uuid hip_uuid_t;
typedef struct hip_ipc_handle hip_ipc_handle_t;
typedef struct hip_pointer_attributes hip_pointer_attributes_t;
#else
typedef hipError_t hip_result_t;
typedef hiprtcResult hip_compiler_result_t;
typedef hipDevice_t hip_device_t;
typedef hipDeviceAttribute_t hip_attribute_t;
typedef hipDeviceP2PAttr hip_p2p_attribute_t;
typedef hipMemRangeAttribute hip_range_attribute_t;
#if HIP_VERSION_MAJOR >= 7
typedef hipMemRangeHandleType hip_range_handle_t;
#else
typedef int hip_range_handle_t;
#endif
typedef hipMemoryAdvise hip_advice_t;
typedef hipMemcpyKind hip_copy_kind_t;
typedef hipStreamCaptureMode hip_capture_mode_t;
typedef hipStreamCaptureStatus hip_capture_status_t;
typedef hipStream_t hip_stream_t;
typedef hipEvent_t hip_event_t;
typedef hipModule_t hip_module_t;
typedef hipFunction_t hip_function_t;
typedef hiprtcProgram hip_program_t;
typedef hipUUID hip_uuid_t;
typedef hipIpcMemHandle_t hip_ipc_handle_t;
typedef hipPointerAttribute_t hip_pointer_attributes_t;
#endif

struct hip_uuid { /* hipUUID */
    char bytes[16];
};

struct hip_ipc_handle { /* hipIpcMemHandle_t */
    char reserved[64];
};

/* hipPointerAttribute_t. The numbers of the first member differ between ROCm 5 and 6. */
struct hip_pointer_attributes {
    int type;
    int device;
    void *device_pointer;
    void *host_pointer;
    int is_managed;
    unsigned allocation_flags;
};

enum {
    HIP_TYPE_HOST_5   = 0,
    HIP_TYPE_DEVICE_5 = 1,
    /* From 6 on 0 is memory that HIP did not allocate. */
    HIP_TYPE_HOST_6   = 1,
    HIP_TYPE_DEVICE_6 = 2,
    /* hipIpcMemLazyEnablePeerAccess, the one flag that hipIpcOpenMemHandle() takes. */
    HIP_IPC_LAZY_5 = 0,
    HIP_IPC_LAZY_6 = 1,
    HIP_VERSION_6  = 60000000 /* of hipRuntimeGetVersion() */
};

/* X(name here, name in the header, value) */
#define HIP_STATUS_MAP(X)                                                                          \
    X(HIP_SUCCESS, hipSuccess, 0)                                                                  \
    X(HIP_ERROR_INVALID_VALUE, hipErrorInvalidValue, 1)                                            \
    X(HIP_ERROR_OUT_OF_MEMORY, hipErrorOutOfMemory, 2)                                             \
    X(HIP_ERROR_NOT_INITIALIZED, hipErrorNotInitialized, 3)                                        \
    X(HIP_ERROR_DEINITIALIZED, hipErrorDeinitialized, 4)                                           \
    X(HIP_ERROR_INVALID_DEVICE_POINTER, hipErrorInvalidDevicePointer, 17)                          \
    X(HIP_ERROR_INSUFFICIENT_DRIVER, hipErrorInsufficientDriver, 35)                               \
    X(HIP_ERROR_NO_DEVICE, hipErrorNoDevice, 100)                                                  \
    X(HIP_ERROR_INVALID_DEVICE, hipErrorInvalidDevice, 101)                                        \
    X(HIP_ERROR_INVALID_CONTEXT, hipErrorInvalidContext, 201)                                      \
    X(HIP_ERROR_NO_BINARY_FOR_GPU, hipErrorNoBinaryForGpu, 209)                                    \
    X(HIP_ERROR_INVALID_HANDLE, hipErrorInvalidHandle, 400)                                        \
    X(HIP_ERROR_NOT_FOUND, hipErrorNotFound, 500)                                                  \
    X(HIP_ERROR_NOT_READY, hipErrorNotReady, 600)                                                  \
    X(HIP_ERROR_ILLEGAL_ADDRESS, hipErrorIllegalAddress, 700)                                      \
    X(HIP_ERROR_PEER_ACCESS_ALREADY_ENABLED, hipErrorPeerAccessAlreadyEnabled, 704)                \
    X(HIP_ERROR_HOST_MEMORY_ALREADY_REGISTERED, hipErrorHostMemoryAlreadyRegistered, 712)          \
    X(HIP_ERROR_HOST_MEMORY_NOT_REGISTERED, hipErrorHostMemoryNotRegistered, 713)                  \
    X(HIP_ERROR_LAUNCH_FAILURE, hipErrorLaunchFailure, 719)                                        \
    X(HIP_ERROR_NOT_SUPPORTED, hipErrorNotSupported, 801)                                          \
    X(HIP_ERROR_CAPTURE_UNSUPPORTED, hipErrorStreamCaptureUnsupported, 900)                        \
    X(HIP_ERROR_CAPTURE_WRONG_THREAD, hipErrorStreamCaptureWrongThread, 908)                       \
    X(HIP_ERROR_UNKNOWN, hipErrorUnknown, 999)

#define HIP_CONSTANT_MAP(X)                                                                        \
    X(HIP_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, hipDeviceAttributeConcurrentManagedAccess, 9)       \
    X(HIP_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED, hipDeviceAttributeHostNativeAtomicSupported, 15) \
    X(HIP_ATTRIBUTE_INTEGRATED, hipDeviceAttributeIntegrated, 16)                                  \
    X(HIP_ATTRIBUTE_MANAGED_MEMORY, hipDeviceAttributeManagedMemory, 24)                           \
    X(HIP_ATTRIBUTE_MULTIPROCESSOR_COUNT, hipDeviceAttributeMultiprocessorCount, 63)               \
    X(HIP_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, hipDeviceAttributePageableMemoryAccess, 65)            \
    X(HIP_ATTRIBUTE_HOST_PAGE_TABLES, hipDeviceAttributePageableMemoryAccessUsesHostPageTables,    \
      66)                                                                                          \
    X(HIP_ATTRIBUTE_UNIFIED_ADDRESSING, hipDeviceAttributeUnifiedAddressing, 85)                   \
    X(HIP_ATTRIBUTE_IS_LARGE_BAR, hipDeviceAttributeIsLargeBar, 10011)                             \
    X(HIP_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE, hipDeviceAttributeCanUseStreamWaitValue, 10013)     \
    X(HIP_ATTRIBUTE_FINE_GRAIN_SUPPORT, hipDeviceAttributeFineGrainSupport, 10016)                 \
    X(HIP_P2P_NATIVE_ATOMIC_SUPPORTED, hipDevP2PAttrNativeAtomicSupported, 2)                      \
    X(HIP_ADVISE_SET_PREFERRED_LOCATION, hipMemAdviseSetPreferredLocation, 3)                      \
    X(HIP_ADVISE_SET_COARSE_GRAIN, hipMemAdviseSetCoarseGrain, 100)                                \
    X(HIP_RANGE_LAST_PREFETCH_LOCATION, hipMemRangeAttributeLastPrefetchLocation, 4)               \
    X(HIP_CPU_DEVICE, hipCpuDeviceId, -1)                                                          \
    X(HIP_HOST_MALLOC_PORTABLE, hipHostMallocPortable, 1)                                          \
    X(HIP_HOST_MALLOC_MAPPED, hipHostMallocMapped, 2)                                              \
    X(HIP_HOST_MALLOC_COHERENT, hipHostMallocCoherent, 0x40000000)                                 \
    X(HIP_HOST_REGISTER_PORTABLE, hipHostRegisterPortable, 1)                                      \
    X(HIP_HOST_REGISTER_MAPPED, hipHostRegisterMapped, 2)                                          \
    X(HIP_DEVICE_MALLOC_FINE_GRAINED, hipDeviceMallocFinegrained, 1)                               \
    X(HIP_MEM_ATTACH_GLOBAL, hipMemAttachGlobal, 1)                                                \
    X(HIP_MEM_ATTACH_SINGLE, hipMemAttachSingle, 4)                                                \
    X(HIP_MEMCPY_DEFAULT, hipMemcpyDefault, 4)                                                     \
    X(HIP_STREAM_NON_BLOCKING, hipStreamNonBlocking, 1)                                            \
    X(HIP_CAPTURE_RELAXED, hipStreamCaptureModeRelaxed, 2)                                         \
    X(HIP_CAPTURE_STATUS_NONE, hipStreamCaptureStatusNone, 0)                                      \
    X(HIP_STREAM_WAIT_VALUE_GTE, hipStreamWaitValueGte, 0)                                         \
    X(HIP_EVENT_DISABLE_TIMING, hipEventDisableTiming, 2)

enum {
#define HIP_ENUM(name, theirs, value) name = (value),
    HIP_STATUS_MAP(HIP_ENUM) HIP_CONSTANT_MAP(HIP_ENUM)
#undef HIP_ENUM
        HIP_RANGE_HANDLE_DMA_BUF_FD = 1 /* hipMemRangeHandleTypeDmaBufFd, newer than most headers */
};

/* X(name, optional, result, arguments) */
#define HIP_CALL_MAP(X)                                                                            \
    X(hipInit, 0, hip_result_t, (unsigned))                                                        \
    X(hipRuntimeGetVersion, 0, hip_result_t, (int *))                                              \
    X(hipGetErrorName, 1, const char *, (hip_result_t))                                            \
    X(hipGetErrorString, 1, const char *, (hip_result_t))                                          \
    X(hipGetLastError, 1, hip_result_t, (void))                                                    \
    X(hipGetDeviceCount, 0, hip_result_t, (int *))                                                 \
    X(hipGetDevice, 0, hip_result_t, (int *))                                                      \
    X(hipSetDevice, 0, hip_result_t, (int))                                                        \
    X(hipDeviceGet, 0, hip_result_t, (hip_device_t *, int))                                        \
    X(hipDeviceGetName, 0, hip_result_t, (char *, int, hip_device_t))                              \
    X(hipDeviceGetUuid, 1, hip_result_t, (hip_uuid_t *, hip_device_t))                             \
    X(hipDeviceTotalMem, 0, hip_result_t, (size_t *, hip_device_t))                                \
    X(hipDeviceGetAttribute, 0, hip_result_t, (int *, hip_attribute_t, int))                       \
    X(hipDeviceGetPCIBusId, 1, hip_result_t, (char *, int, int))                                   \
    X(hipDeviceSynchronize, 0, hip_result_t, (void))                                               \
    X(hipDeviceCanAccessPeer, 1, hip_result_t, (int *, int, int))                                  \
    X(hipDeviceEnablePeerAccess, 1, hip_result_t, (int, unsigned))                                 \
    X(hipDeviceGetP2PAttribute, 1, hip_result_t, (int *, hip_p2p_attribute_t, int, int))           \
    X(hipMemGetInfo, 0, hip_result_t, (size_t *, size_t *))                                        \
    X(hipMalloc, 0, hip_result_t, (void **, size_t))                                               \
    X(hipExtMallocWithFlags, 1, hip_result_t, (void **, size_t, unsigned))                         \
    X(hipFree, 0, hip_result_t, (void *))                                                          \
    X(hipHostMalloc, 0, hip_result_t, (void **, size_t, unsigned))                                 \
    X(hipHostFree, 0, hip_result_t, (void *))                                                      \
    X(hipHostRegister, 1, hip_result_t, (void *, size_t, unsigned))                                \
    X(hipHostUnregister, 1, hip_result_t, (void *))                                                \
    X(hipHostGetDevicePointer, 1, hip_result_t, (void **, void *, unsigned))                       \
    X(hipMallocManaged, 1, hip_result_t, (void **, size_t, unsigned))                              \
    X(hipMemAdvise, 1, hip_result_t, (const void *, size_t, hip_advice_t, int))                    \
    X(hipMemPrefetchAsync, 1, hip_result_t, (const void *, size_t, int, hip_stream_t))             \
    X(hipMemRangeGetAttribute, 1, hip_result_t,                                                    \
      (void *, size_t, hip_range_attribute_t, const void *, size_t))                               \
    X(hipPointerGetAttributes, 0, hip_result_t, (hip_pointer_attributes_t *, const void *))        \
    X(hipMemGetAddressRange, 1, hip_result_t, (void **, size_t *, void *))                         \
    X(hipMemcpyAsync, 0, hip_result_t,                                                             \
      (void *, const void *, size_t, hip_copy_kind_t, hip_stream_t))                               \
    X(hipMemcpy2DAsync, 0, hip_result_t,                                                           \
      (void *, size_t, const void *, size_t, size_t, size_t, hip_copy_kind_t, hip_stream_t))       \
    X(hipMemsetAsync, 0, hip_result_t, (void *, int, size_t, hip_stream_t))                        \
    X(hipStreamCreateWithFlags, 0, hip_result_t, (hip_stream_t *, unsigned))                       \
    X(hipStreamDestroy, 0, hip_result_t, (hip_stream_t))                                           \
    X(hipStreamSynchronize, 0, hip_result_t, (hip_stream_t))                                       \
    X(hipStreamGetDevice, 1, hip_result_t, (hip_stream_t, hip_device_t *))                         \
    X(hipStreamIsCapturing, 1, hip_result_t, (hip_stream_t, hip_capture_status_t *))               \
    X(hipStreamAttachMemAsync, 1, hip_result_t, (hip_stream_t, void *, size_t, unsigned))          \
    X(hipStreamWaitEvent, 0, hip_result_t, (hip_stream_t, hip_event_t, unsigned))                  \
    X(hipStreamWaitValue64, 1, hip_result_t, (hip_stream_t, void *, uint64_t, unsigned, uint64_t)) \
    X(hipEventCreateWithFlags, 0, hip_result_t, (hip_event_t *, unsigned))                         \
    X(hipEventDestroy, 0, hip_result_t, (hip_event_t))                                             \
    X(hipEventRecord, 0, hip_result_t, (hip_event_t, hip_stream_t))                                \
    X(hipEventQuery, 0, hip_result_t, (hip_event_t))                                               \
    X(hipThreadExchangeStreamCaptureMode, 1, hip_result_t, (hip_capture_mode_t *))                 \
    X(hipModuleLoadData, 1, hip_result_t, (hip_module_t *, const void *))                          \
    X(hipModuleUnload, 1, hip_result_t, (hip_module_t))                                            \
    X(hipModuleGetFunction, 1, hip_result_t, (hip_function_t *, hip_module_t, const char *))       \
    X(hipModuleLaunchKernel, 1, hip_result_t,                                                      \
      (hip_function_t, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,       \
       hip_stream_t, void **, void **))                                                            \
    X(hipIpcGetMemHandle, 1, hip_result_t, (hip_ipc_handle_t *, void *))                           \
    X(hipIpcOpenMemHandle, 1, hip_result_t, (void **, hip_ipc_handle_t, unsigned))                 \
    X(hipIpcCloseMemHandle, 1, hip_result_t, (void *))                                             \
    X(hipMemGetHandleForAddressRange, 1, hip_result_t,                                             \
      (void *, void *, size_t, hip_range_handle_t, unsigned long long))

/* The compiler: a library of its own from ROCm 6 on, part of the runtime's before. */
#define HIP_COMPILER_MAP(X)                                                                        \
    X(hiprtcCreateProgram, 0, hip_compiler_result_t,                                               \
      (hip_program_t *, const char *, const char *, int, const char **, const char **))            \
    X(hiprtcCompileProgram, 0, hip_compiler_result_t, (hip_program_t, int, const char **))         \
    X(hiprtcGetProgramLogSize, 0, hip_compiler_result_t, (hip_program_t, size_t *))                \
    X(hiprtcGetProgramLog, 0, hip_compiler_result_t, (hip_program_t, char *))                      \
    X(hiprtcGetCodeSize, 0, hip_compiler_result_t, (hip_program_t, size_t *))                      \
    X(hiprtcGetCode, 0, hip_compiler_result_t, (hip_program_t, char *))                            \
    X(hiprtcDestroyProgram, 0, hip_compiler_result_t, (hip_program_t *))                           \
    X(hiprtcGetErrorString, 0, const char *, (hip_compiler_result_t))

/* The runtime below: only for dma-buf where HIP has no call for it. */
#define HIP_HSA_MAP(X)                                                                             \
    X(hsa_system_get_info, 0, hip_result_t, (int, void *))                                         \
    X(hsa_amd_portable_export_dmabuf, 0, hip_result_t, (const void *, size_t, int *, uint64_t *))  \
    X(hsa_status_string, 0, hip_result_t, (hip_result_t, const char **))

enum { HIP_HSA_INFO_DMABUF_SUPPORTED = 0x204 }; /* HSA_AMD_SYSTEM_INFO_DMABUF_SUPPORTED */

#define HIP_POINTER(name, optional, result, arguments) result(*name) arguments;
struct hip_calls {
    HIP_CALL_MAP(HIP_POINTER)
};
struct hip_compiler_calls {
    HIP_COMPILER_MAP(HIP_POINTER)
};
struct hip_hsa_calls {
    HIP_HSA_MAP(HIP_POINTER)
};
#undef HIP_POINTER

#endif /* MEMSPAN_BACKENDS_HIP_API_H */
