/* SPDX-License-Identifier: BSD-3-Clause */
/* What backends/hip/hip_api.h declares, against the headers of HIP: numbers, layouts, and the form
 * of every call. A row whose arguments differ does not compile. */

#if __has_include(<hip/hip_runtime_api.h>) && __has_include(<hip/hiprtc.h>)
#define __HIP_PLATFORM_AMD__ 1
#define __HIP_PLATFORM_HCC__ 1
/* Names of an older HIP, which the header still has. */
#define HIP_SUCCESS               THEIR_SUCCESS
#define HIP_ERROR_INVALID_VALUE   THEIR_INVALID_VALUE
#define HIP_ERROR_NOT_INITIALIZED THEIR_NOT_INITIALIZED
#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>
#undef HIP_SUCCESS
#undef HIP_ERROR_INVALID_VALUE
#undef HIP_ERROR_NOT_INITIALIZED
#define MEMSPAN_HIP_HEADER_TYPES
#define HAVE_HEADER 1
#else
#define HAVE_HEADER 0
#endif

#include "backends/hip/hip_api.h"
#include <criterion/criterion.h>
#include <stddef.h>

#if HAVE_HEADER

Test(hip_api, numbers)
{
#define CHECK(name, theirs, value)                                                                 \
    cr_assert_eq((unsigned)(value), (unsigned)(theirs), #theirs " is %u", (unsigned)(theirs));
    HIP_STATUS_MAP(CHECK)
    HIP_CONSTANT_MAP(CHECK)
#undef CHECK
    cr_assert_eq(hipMemoryTypeHost, (HIP_VERSION_MAJOR >= 6) ? HIP_TYPE_HOST_6 : HIP_TYPE_HOST_5);
    cr_assert_eq(hipMemoryTypeDevice,
                 (HIP_VERSION_MAJOR >= 6) ? HIP_TYPE_DEVICE_6 : HIP_TYPE_DEVICE_5);
    cr_assert_eq(hipIpcMemLazyEnablePeerAccess,
                 (HIP_VERSION_MAJOR >= 6) ? HIP_IPC_LAZY_6 : HIP_IPC_LAZY_5);
}

Test(hip_api, layouts)
{
    cr_assert_eq(sizeof(struct hip_uuid), sizeof(hipUUID));
    cr_assert_eq(sizeof(struct hip_ipc_handle), sizeof(hipIpcMemHandle_t));
    cr_assert_eq(sizeof(struct hip_pointer_attributes), sizeof(hipPointerAttribute_t));
    cr_assert_eq(offsetof(struct hip_pointer_attributes, device),
                 offsetof(hipPointerAttribute_t, device));
    cr_assert_eq(offsetof(struct hip_pointer_attributes, device_pointer),
                 offsetof(hipPointerAttribute_t, devicePointer));
    cr_assert_eq(offsetof(struct hip_pointer_attributes, is_managed),
                 offsetof(hipPointerAttribute_t, isManaged));
    cr_assert_eq(sizeof(int), sizeof(hipError_t));
    cr_assert_eq(sizeof(int), sizeof(hiprtcResult));
    cr_assert_eq(sizeof(int), sizeof(hipDeviceAttribute_t));
    cr_assert_eq(sizeof(int), sizeof(hipMemcpyKind));
    cr_assert_eq(sizeof(int), sizeof(hipMemoryAdvise));
}

/* Newer than the header. */
#if HIP_VERSION_MAJOR < 7
hipError_t hipMemGetHandleForAddressRange(void *, void *, size_t, int, unsigned long long);
#endif

Test(hip_api, calls)
{
#define CHECK(name, optional, result, arguments)                                                   \
    _Static_assert(__builtin_types_compatible_p(__typeof__(&(name)),                               \
                                                __typeof__(((struct hip_calls *)NULL)->name)),     \
                   "the form of " #name " differs");
    HIP_CALL_MAP(CHECK)
#undef CHECK
#define CHECK(name, optional, result, arguments)                                                   \
    _Static_assert(                                                                                \
        __builtin_types_compatible_p(__typeof__(&(name)),                                          \
                                     __typeof__(((struct hip_compiler_calls *)NULL)->name)),       \
        "the form of " #name " differs");
    HIP_COMPILER_MAP(CHECK)
#undef CHECK
}

#else

Test(hip_api, header)
{
    cr_skip_test("no <hip/hip_runtime_api.h> to compare with");
}

#endif
