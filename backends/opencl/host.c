/* SPDX-License-Identifier: BSD-3-Clause */
/* host.c: device memory that the host and its network may use while kernels run.
 *
 * OpenCL lets the host load and store fine-grain SVM at any time. Coarse-grain SVM is the host's
 * from clEnqueueSVMMap() to clEnqueueSVMUnmap() alone, and no kernel may use it meanwhile
 * (OpenCL 3.0, 5.6 "Shared Virtual Memory"): a network that reaches it at any time would need it
 * mapped for ever. */

#include "backends/opencl/opencl.h"
#include <stdint.h>

memspan_status_t opencl_host_open(void *state, int ordinal, const void *address, size_t size_bytes,
                                  void **host_p)
{
    struct opencl_device *device;
    const struct opencl_block *block;
    bool is_coarse;
    memspan_status_t status = opencl_enter(state, ordinal, &device);

    (void)size_bytes;
    if (status != MEMSPAN_OK) {
        return status;
    }
    pthread_mutex_lock(&device->platform->lock);
    block     = opencl_block_find(device->platform, address);
    is_coarse = (block == NULL) || block->coarse;
    pthread_mutex_unlock(&device->platform->lock);
    if (is_coarse) {
        return opencl_refuse(device->platform->state, MEMSPAN_ERR_UNSUPPORTED,
                             "fine-grain SVM is the host's at any time",
                             "coarse-grain SVM is the host's only while it is mapped "
                             "(clEnqueueSVMMap), and kernels may not use it meanwhile");
    }
    *host_p = (void *)(uintptr_t)address;
    return MEMSPAN_OK;
}

memspan_status_t opencl_host_close(void *state, int ordinal, const void *address, size_t size_bytes)
{
    struct opencl_device *device;

    (void)address;
    (void)size_bytes;
    return opencl_enter(state, ordinal, &device);
}
