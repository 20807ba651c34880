/* SPDX-License-Identifier: BSD-3-Clause */
/* What backends/opencl/opencl_api.h declares, against the header of OpenCL. Types: a typedef of the
 * same name for another type does not compile. */

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#if __has_include(<CL/cl.h>)
#include <CL/cl.h>
#include <CL/cl_ext.h>
#define HAVE_HEADER 1
#else
#define HAVE_HEADER 0
#endif

#include "backends/opencl/opencl_api.h"
#include <criterion/criterion.h>
#include <stddef.h>

#if HAVE_HEADER

Test(opencl_api, constants)
{
#define CHECK(name, value)                                                                         \
    cr_assert_eq((long long)(value), (long long)CL_##name, "CL_" #name " is %lld",                 \
                 (long long)CL_##name);
    OPENCL_CONSTANT_MAP(CHECK)
    OPENCL_STATUS_MAP(CHECK)
    CHECK(DEVICE_TYPE_ALL, OPENCL_DEVICE_TYPE_ALL)
#undef CHECK
}

Test(opencl_api, prototypes)
{
#define CHECK(name, optional, result, arguments)                                                   \
    cr_assert(__builtin_types_compatible_p(__typeof__(&(name)),                                    \
                                           __typeof__(((struct opencl_calls *)NULL)->name)),       \
              "the prototype of " #name " differs");
    OPENCL_CALL_MAP(CHECK)
#undef CHECK
}

Test(opencl_api, bus)
{
    cr_assert_eq(sizeof(struct opencl_pci_bus_info), sizeof(cl_device_pci_bus_info_khr));
    cr_assert_eq(offsetof(struct opencl_pci_bus_info, function),
                 offsetof(cl_device_pci_bus_info_khr, pci_function));
}

#else

Test(opencl_api, header)
{
    cr_skip_test("no <CL/cl.h> to compare with");
}

#endif
