/* SPDX-License-Identifier: BSD-3-Clause */
/* device.c: views of the job for kernels. */

#include "shmem/device/device.h"
#include "shmem/api/check.h"
#include <shmemx.h>
#include <stdio.h>
#include <string.h>

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

static void fill_plan(const struct msp_device_reach *reach, shmemx_device_info_t *all)
{
    bool is_apart = (reach->way == MSP_DEVICE_APART);

    snprintf(all->name, sizeof all->name, "%s", reach->name);
    snprintf(all->why, sizeof all->why, "%s", reach->why);
    if (all->is_available) {
        snprintf(all->own, sizeof all->own, "%s", is_apart ? "partitions" : "load/store");
        snprintf(all->peers, sizeof all->peers, "%s", is_apart ? "request" : "load/store");
        snprintf(all->others, sizeof all->others, "request");
    }
}

int shmemx_device_plan(int index, shmemx_device_info_t *info)
{
    shmemx_device_info_t all = {.device = MEMSPAN_HOST};
    struct msp_device_reach reach;
    memspan_status_t status = MEMSPAN_OK;

    if ((info == NULL) || (info->struct_size < offsetof(shmemx_device_info_t, is_available))) {
        return (int)msp_refuse(MEMSPAN_ERR_INVALID,
                               "%s: info is NULL or its struct_size is not set", __func__);
    }
    if (index != 0) {
        status = memspan_device_at(index - 1, &all.device);
    }
    if (status == MEMSPAN_OK) {
        status           = msp_device_reach_find(all.device, &reach);
        all.is_available = (status == MEMSPAN_OK);
        status           = (status == MEMSPAN_ERR_UNSUPPORTED) ? MEMSPAN_OK : status;
    }
    if (status == MEMSPAN_OK) {
        fill_plan(&reach, &all);
        all.struct_size = info->struct_size;
        memcpy(info, &all, (info->struct_size < sizeof all) ? info->struct_size : sizeof all);
    }
    return (int)status;
}
