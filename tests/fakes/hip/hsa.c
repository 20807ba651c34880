/* SPDX-License-Identifier: BSD-3-Clause */
/* hsa.c: the part of a pretended HSA runtime that HIP 5 and 6 have no call for: dma-buf. */

#include "fake.h"
#include <stdbool.h>

#ifdef FAKE_HIP_FOREIGN /* that no HIP has started */
#undef START
#define START(name) return 0x100b /* HSA_STATUS_ERROR_NOT_INITIALIZED */
#endif

hip_result_t hsa_system_get_info(int which, void *value)
{
    START("hsa_system_get_info");
    if (which != HIP_HSA_INFO_DMABUF_SUPPORTED) {
        return fake_hip_leave(HIP_ERROR_INVALID_VALUE);
    }
    *(bool *)value = true;
    return fake_hip_leave(HIP_SUCCESS);
}

hip_result_t hsa_amd_portable_export_dmabuf(const void *address, size_t size, int *fd_p,
                                            uint64_t *offset_p)
{
    START("hsa_amd_portable_export_dmabuf");
    *fd_p = fake_hip_export((uintptr_t)address, size, offset_p);
    return fake_hip_leave((*fd_p < 0) ? 0x1001 : HIP_SUCCESS);
}

hip_result_t hsa_status_string(hip_result_t code, const char **words)
{
    *words = "HSA_STATUS_ERROR_INVALID_ARGUMENT: one of the arguments is invalid";
    return HIP_SUCCESS;
}
