/* SPDX-License-Identifier: BSD-3-Clause */
/* device.c: views of the job for kernels. */

#include "shmem/device/device.h"
#include "shmem/api/check.h"
#include <shmemx.h>

int shmemx_device_open(int device, shmemx_device_handle_t *view)
{
    msp_job_require(__func__);
    msp_require_result(__func__, "view", view);
    return (int)msp_device_open(device, view);
}

int shmemx_device_close(shmemx_device_handle_t view)
{
    msp_job_require(__func__);
    return (int)msp_device_close(view);
}
