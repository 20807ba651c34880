/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BACKENDS_OPENCL_API_H
#define MEMSPAN_BACKENDS_OPENCL_API_H

/* The part of OpenCL that we use, declared here so that no OpenCL header is needed to build: the
 * types, the constants and the calls, each as a list. tests/unit/opencl_api.c compares all of it
 * with <CL/cl.h> where there is one; types carry OpenCL's names because C11 allows a typedef to be
 * repeated, constants carry a prefix of their own because OpenCL's are macros. */

#include <stddef.h>
#include <stdint.h>

typedef int32_t cl_int;
typedef uint32_t cl_uint;
typedef uint64_t cl_ulong;
typedef cl_uint cl_bool;
typedef cl_ulong cl_bitfield;
typedef struct _cl_platform_id *cl_platform_id;
typedef struct _cl_device_id *cl_device_id;
typedef struct _cl_context *cl_context;
typedef struct _cl_command_queue *cl_command_queue;
typedef struct _cl_mem *cl_mem;
typedef struct _cl_program *cl_program;
typedef struct _cl_kernel *cl_kernel;
typedef struct _cl_event *cl_event;

/* X(name without CL_, value). Khronos "OpenCL 3.0" registry; extensions: cl_khr_icd,
 * cl_khr_device_uuid, cl_khr_pci_bus_info. */
#define OPENCL_CONSTANT_MAP(X)                                                                     \
    X(PLATFORM_VERSION, 0x0901)                                                                    \
    X(PLATFORM_NAME, 0x0902)                                                                       \
    X(DEVICE_TYPE, 0x1000)                                                                         \
    X(DEVICE_MAX_WORK_GROUP_SIZE, 0x1004)                                                          \
    X(DEVICE_ADDRESS_BITS, 0x100D)                                                                 \
    X(DEVICE_MAX_MEM_ALLOC_SIZE, 0x1010)                                                           \
    X(DEVICE_GLOBAL_MEM_SIZE, 0x101F)                                                              \
    X(DEVICE_AVAILABLE, 0x1027)                                                                    \
    X(DEVICE_COMPILER_AVAILABLE, 0x1028)                                                           \
    X(DEVICE_NAME, 0x102B)                                                                         \
    X(DEVICE_VENDOR, 0x102C)                                                                       \
    X(DRIVER_VERSION, 0x102D)                                                                      \
    X(DEVICE_VERSION, 0x102F)                                                                      \
    X(DEVICE_EXTENSIONS, 0x1030)                                                                   \
    X(DEVICE_DOUBLE_FP_CONFIG, 0x1032)                                                             \
    X(DEVICE_HOST_UNIFIED_MEMORY, 0x1035)                                                          \
    X(DEVICE_SVM_CAPABILITIES, 0x1053)                                                             \
    X(DEVICE_UUID_KHR, 0x106A)                                                                     \
    X(DEVICE_PCI_BUS_INFO_KHR, 0x410F)                                                             \
    X(DEVICE_TYPE_CPU, 2)                                                                          \
    X(DEVICE_SVM_COARSE_GRAIN_BUFFER, 1)                                                           \
    X(DEVICE_SVM_FINE_GRAIN_BUFFER, 2)                                                             \
    X(DEVICE_SVM_FINE_GRAIN_SYSTEM, 4)                                                             \
    X(DEVICE_SVM_ATOMICS, 8)                                                                       \
    X(MEM_READ_WRITE, 1)                                                                           \
    X(MEM_USE_HOST_PTR, 8)                                                                         \
    X(MEM_SVM_FINE_GRAIN_BUFFER, 1024)                                                             \
    X(MEM_SVM_ATOMICS, 2048)                                                                       \
    X(MAP_READ, 1)                                                                                 \
    X(MAP_WRITE, 2)                                                                                \
    X(MIGRATE_MEM_OBJECT_HOST, 1)                                                                  \
    X(CONTEXT_DEVICES, 0x1081)                                                                     \
    X(QUEUE_CONTEXT, 0x1090)                                                                       \
    X(QUEUE_DEVICE, 0x1091)                                                                        \
    X(QUEUE_PROPERTIES, 0x1093)                                                                    \
    X(EVENT_COMMAND_EXECUTION_STATUS, 0x11D3)                                                      \
    X(COMPLETE, 0)                                                                                 \
    X(PROGRAM_BUILD_LOG, 0x1183)                                                                   \
    X(KERNEL_EXEC_INFO_SVM_PTRS, 0x11B6)                                                           \
    X(KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM, 0x11B7)                                              \
    X(UUID_SIZE_KHR, 16)

enum opencl_constant {
#define OPENCL_CONSTANT(name, value) OPENCL_##name = (value),
    OPENCL_CONSTANT_MAP(OPENCL_CONSTANT)
#undef OPENCL_CONSTANT
};

#define OPENCL_DEVICE_TYPE_ALL UINT32_C(0xFFFFFFFF) /* no int, so not in the list */

/* Answers. X(name without CL_, number). */
#define OPENCL_STATUS_MAP(X)                                                                       \
    X(SUCCESS, 0)                                                                                  \
    X(DEVICE_NOT_FOUND, -1)                                                                        \
    X(DEVICE_NOT_AVAILABLE, -2)                                                                    \
    X(COMPILER_NOT_AVAILABLE, -3)                                                                  \
    X(MEM_OBJECT_ALLOCATION_FAILURE, -4)                                                           \
    X(OUT_OF_RESOURCES, -5)                                                                        \
    X(OUT_OF_HOST_MEMORY, -6)                                                                      \
    X(PROFILING_INFO_NOT_AVAILABLE, -7)                                                            \
    X(MEM_COPY_OVERLAP, -8)                                                                        \
    X(BUILD_PROGRAM_FAILURE, -11)                                                                  \
    X(MAP_FAILURE, -12)                                                                            \
    X(MISALIGNED_SUB_BUFFER_OFFSET, -13)                                                           \
    X(EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, -14)                                              \
    X(COMPILE_PROGRAM_FAILURE, -15)                                                                \
    X(LINKER_NOT_AVAILABLE, -16)                                                                   \
    X(LINK_PROGRAM_FAILURE, -17)                                                                   \
    X(DEVICE_PARTITION_FAILED, -18)                                                                \
    X(KERNEL_ARG_INFO_NOT_AVAILABLE, -19)                                                          \
    X(INVALID_VALUE, -30)                                                                          \
    X(INVALID_DEVICE_TYPE, -31)                                                                    \
    X(INVALID_PLATFORM, -32)                                                                       \
    X(INVALID_DEVICE, -33)                                                                         \
    X(INVALID_CONTEXT, -34)                                                                        \
    X(INVALID_QUEUE_PROPERTIES, -35)                                                               \
    X(INVALID_COMMAND_QUEUE, -36)                                                                  \
    X(INVALID_HOST_PTR, -37)                                                                       \
    X(INVALID_MEM_OBJECT, -38)                                                                     \
    X(INVALID_BINARY, -42)                                                                         \
    X(INVALID_BUILD_OPTIONS, -43)                                                                  \
    X(INVALID_PROGRAM, -44)                                                                        \
    X(INVALID_PROGRAM_EXECUTABLE, -45)                                                             \
    X(INVALID_KERNEL_NAME, -46)                                                                    \
    X(INVALID_KERNEL_DEFINITION, -47)                                                              \
    X(INVALID_KERNEL, -48)                                                                         \
    X(INVALID_ARG_INDEX, -49)                                                                      \
    X(INVALID_ARG_VALUE, -50)                                                                      \
    X(INVALID_ARG_SIZE, -51)                                                                       \
    X(INVALID_KERNEL_ARGS, -52)                                                                    \
    X(INVALID_WORK_DIMENSION, -53)                                                                 \
    X(INVALID_WORK_GROUP_SIZE, -54)                                                                \
    X(INVALID_WORK_ITEM_SIZE, -55)                                                                 \
    X(INVALID_GLOBAL_OFFSET, -56)                                                                  \
    X(INVALID_EVENT_WAIT_LIST, -57)                                                                \
    X(INVALID_EVENT, -58)                                                                          \
    X(INVALID_OPERATION, -59)                                                                      \
    X(INVALID_BUFFER_SIZE, -61)                                                                    \
    X(INVALID_GLOBAL_WORK_SIZE, -63)                                                               \
    X(INVALID_PROPERTY, -64)                                                                       \
    X(INVALID_COMPILER_OPTIONS, -66)                                                               \
    X(MAX_SIZE_RESTRICTION_EXCEEDED, -72)                                                          \
    X(PLATFORM_NOT_FOUND_KHR, -1001)

enum opencl_status {
#define OPENCL_STATUS(name, value) OPENCL_##name = (value),
    OPENCL_STATUS_MAP(OPENCL_STATUS)
#undef OPENCL_STATUS
};

struct opencl_pci_bus_info { /* cl_device_pci_bus_info_khr */
    cl_uint domain;
    cl_uint bus;
    cl_uint device;
    cl_uint function;
};

/* X(call, optional, result, arguments). Optional: newer than the oldest loader that we can use, or
 * needed only for memory that such a loader cannot have. */
#define OPENCL_CALL_MAP(X)                                                                         \
    X(clGetPlatformIDs, 0, cl_int, (cl_uint, cl_platform_id *, cl_uint *))                         \
    X(clGetPlatformInfo, 0, cl_int, (cl_platform_id, cl_uint, size_t, void *, size_t *))           \
    X(clGetDeviceIDs, 0, cl_int,                                                                   \
      (cl_platform_id, cl_bitfield, cl_uint, cl_device_id *, cl_uint *))                           \
    X(clGetDeviceInfo, 0, cl_int, (cl_device_id, cl_uint, size_t, void *, size_t *))               \
    X(clCreateContext, 0, cl_context,                                                              \
      (const intptr_t *, cl_uint, const cl_device_id *,                                            \
       void (*)(const char *, const void *, size_t, void *), void *, cl_int *))                    \
    X(clRetainContext, 0, cl_int, (cl_context))                                                    \
    X(clGetContextInfo, 0, cl_int, (cl_context, cl_uint, size_t, void *, size_t *))                \
    X(clReleaseContext, 0, cl_int, (cl_context))                                                   \
    X(clCreateCommandQueue, 0, cl_command_queue,                                                   \
      (cl_context, cl_device_id, cl_bitfield, cl_int *))                                           \
    X(clCreateCommandQueueWithProperties, 1, cl_command_queue,                                     \
      (cl_context, cl_device_id, const cl_ulong *, cl_int *))                                      \
    X(clRetainCommandQueue, 0, cl_int, (cl_command_queue))                                         \
    X(clGetCommandQueueInfo, 0, cl_int, (cl_command_queue, cl_uint, size_t, void *, size_t *))     \
    X(clReleaseCommandQueue, 0, cl_int, (cl_command_queue))                                        \
    X(clFlush, 0, cl_int, (cl_command_queue))                                                      \
    X(clFinish, 0, cl_int, (cl_command_queue))                                                     \
    X(clCreateUserEvent, 1, cl_event, (cl_context, cl_int *))                                      \
    X(clSetUserEventStatus, 1, cl_int, (cl_event, cl_int))                                         \
    X(clReleaseEvent, 0, cl_int, (cl_event))                                                       \
    X(clGetEventInfo, 0, cl_int, (cl_event, cl_uint, size_t, void *, size_t *))                    \
    X(clEnqueueMarker, 0, cl_int, (cl_command_queue, cl_event *))                                  \
    X(clEnqueueMarkerWithWaitList, 1, cl_int,                                                      \
      (cl_command_queue, cl_uint, const cl_event *, cl_event *))                                   \
    X(clEnqueueBarrierWithWaitList, 1, cl_int,                                                     \
      (cl_command_queue, cl_uint, const cl_event *, cl_event *))                                   \
    X(clCreateBuffer, 0, cl_mem, (cl_context, cl_bitfield, size_t, void *, cl_int *))              \
    X(clReleaseMemObject, 0, cl_int, (cl_mem))                                                     \
    X(clEnqueueReadBuffer, 0, cl_int,                                                              \
      (cl_command_queue, cl_mem, cl_bool, size_t, size_t, void *, cl_uint, const cl_event *,       \
       cl_event *))                                                                                \
    X(clSVMAlloc, 1, void *, (cl_context, cl_bitfield, size_t, cl_uint))                           \
    X(clSVMFree, 1, void, (cl_context, void *))                                                    \
    X(clEnqueueSVMMap, 1, cl_int,                                                                  \
      (cl_command_queue, cl_bool, cl_bitfield, void *, size_t, cl_uint, const cl_event *,          \
       cl_event *))                                                                                \
    X(clEnqueueSVMUnmap, 1, cl_int,                                                                \
      (cl_command_queue, void *, cl_uint, const cl_event *, cl_event *))                           \
    X(clEnqueueSVMMemcpy, 1, cl_int,                                                               \
      (cl_command_queue, cl_bool, void *, const void *, size_t, cl_uint, const cl_event *,         \
       cl_event *))                                                                                \
    X(clEnqueueSVMMemFill, 1, cl_int,                                                              \
      (cl_command_queue, void *, const void *, size_t, size_t, cl_uint, const cl_event *,          \
       cl_event *))                                                                                \
    X(clEnqueueSVMMigrateMem, 1, cl_int,                                                           \
      (cl_command_queue, cl_uint, const void **, const size_t *, cl_bitfield, cl_uint,             \
       const cl_event *, cl_event *))                                                              \
    X(clCreateProgramWithSource, 0, cl_program,                                                    \
      (cl_context, cl_uint, const char **, const size_t *, cl_int *))                              \
    X(clReleaseProgram, 0, cl_int, (cl_program))                                                   \
    X(clBuildProgram, 0, cl_int,                                                                   \
      (cl_program, cl_uint, const cl_device_id *, const char *, void (*)(cl_program, void *),      \
       void *))                                                                                    \
    X(clGetProgramBuildInfo, 0, cl_int,                                                            \
      (cl_program, cl_device_id, cl_uint, size_t, void *, size_t *))                               \
    X(clCreateKernel, 0, cl_kernel, (cl_program, const char *, cl_int *))                          \
    X(clReleaseKernel, 0, cl_int, (cl_kernel))                                                     \
    X(clSetKernelArg, 0, cl_int, (cl_kernel, cl_uint, size_t, const void *))                       \
    X(clSetKernelArgSVMPointer, 1, cl_int, (cl_kernel, cl_uint, const void *))                     \
    X(clSetKernelExecInfo, 1, cl_int, (cl_kernel, cl_uint, size_t, const void *))                  \
    X(clEnqueueNDRangeKernel, 0, cl_int,                                                           \
      (cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *, const size_t *,       \
       cl_uint, const cl_event *, cl_event *))

/* The calls, filled from the ICD loader. */
struct opencl_calls {
#define OPENCL_CALL(name, optional, result, arguments) result(*name) arguments;
    OPENCL_CALL_MAP(OPENCL_CALL)
#undef OPENCL_CALL
};

#endif /* MEMSPAN_BACKENDS_OPENCL_API_H */
