/* SPDX-License-Identifier: BSD-3-Clause */
/* What backends/cuda/cuda_api.h declares, against the header of CUDA: numbers, layouts, and the
 * form of every call. A row whose arguments differ does not compile. */

#if __has_include(<cuda.h>)
/* With this the header keeps names as the library exports them, old versions included. */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#define MEMSPAN_CUDA_HEADER_TYPES
#define HAVE_HEADER 1
#else
#define HAVE_HEADER 0
#endif

#include "backends/cuda/cuda_api.h"
#include <criterion/criterion.h>
#include <stddef.h>

#if HAVE_HEADER

Test(cuda_api, numbers)
{
#define CHECK(name, value)                                                                         \
    cr_assert_eq((long long)(value), (long long)CU_##name, "CU_" #name " is %lld",                 \
                 (long long)CU_##name);
    CUDA_CONSTANT_MAP(CHECK)
#undef CHECK
#define CHECK(name, value) cr_assert_eq((value), (int)(name), #name " is %d", (int)(name));
    CUDA_STATUS_MAP(CHECK)
#undef CHECK
    cr_assert_eq(CUDA_DEVICE_CPU, (int)CU_DEVICE_CPU);
}

Test(cuda_api, layouts)
{
    cr_assert_eq(sizeof(struct cuda_uuid), sizeof(CUuuid));
    cr_assert_eq(sizeof(struct cuda_location), sizeof(CUmemLocation));
    cr_assert_eq(offsetof(struct cuda_location, id), offsetof(CUmemLocation, id));
    cr_assert_eq(sizeof(struct cuda_properties), sizeof(CUmemAllocationProp));
    cr_assert_eq(offsetof(struct cuda_properties, requested_handle_types),
                 offsetof(CUmemAllocationProp, requestedHandleTypes));
    cr_assert_eq(offsetof(struct cuda_properties, location),
                 offsetof(CUmemAllocationProp, location));
    cr_assert_eq(offsetof(struct cuda_properties, flags.rdma_capable),
                 offsetof(CUmemAllocationProp, allocFlags.gpuDirectRDMACapable));
    cr_assert_eq(sizeof(struct cuda_access), sizeof(CUmemAccessDesc));
    cr_assert_eq(offsetof(struct cuda_access, flags), offsetof(CUmemAccessDesc, flags));
    cr_assert_eq(sizeof(struct cuda_ipc_handle), sizeof(CUipcMemHandle));
    cr_assert_eq(sizeof(struct cuda_rectangle), sizeof(CUDA_MEMCPY2D));
    cr_assert_eq(offsetof(struct cuda_rectangle, from.address), offsetof(CUDA_MEMCPY2D, srcDevice));
    cr_assert_eq(offsetof(struct cuda_rectangle, to.pitch_bytes),
                 offsetof(CUDA_MEMCPY2D, dstPitch));
    cr_assert_eq(offsetof(struct cuda_rectangle, height), offsetof(CUDA_MEMCPY2D, Height));
    cr_assert_eq(sizeof(int), sizeof(CUresult));
    cr_assert_eq(sizeof(int), sizeof(CUdevice_attribute));
    cr_assert_eq(sizeof(int), sizeof(CUmemAllocationHandleType));
    cr_assert_eq(sizeof(unsigned long long), sizeof(CUmemGenericAllocationHandle));
    cr_assert_eq(sizeof(unsigned long long), sizeof(CUdeviceptr));
}

/* cuDeviceGetUuid_v2 and some others are the header's only under their plain names: those are
 * compared by the name that the header has. */
Test(cuda_api, calls)
{
#define CHECK(name, older, optional, arguments)                                                    \
    _Static_assert(__builtin_types_compatible_p(__typeof__(&(name)),                               \
                                                __typeof__(((struct cuda_calls *)NULL)->name)),    \
                   "the form of " #name " differs");
    CUDA_CALL_MAP(CHECK)
#undef CHECK
}

#else

Test(cuda_api, header)
{
    cr_skip_test("no <cuda.h> to compare with");
}

#endif
