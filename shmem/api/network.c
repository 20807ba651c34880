/* SPDX-License-Identifier: BSD-3-Clause */
/* network.c: this PE's use of the network between hosts, and a job's choice of transports. */

#include "shmem/network/network.h"
#include "shmem/api/check.h"
#include "shmem/transport/choice.h"
#include <shmemx.h>
#include <string.h>

static int refuse_info(const char *call)
{
    return (int)msp_refuse(MEMSPAN_ERR_INVALID, "%s: info is NULL or its struct_size is not set",
                           call);
}

int shmemx_network_info(shmemx_network_info_t *info)
{
    shmemx_network_info_t all = {.struct_size = sizeof all};

    msp_job_require(__func__);
    if ((info == NULL) || (info->struct_size < offsetof(shmemx_network_info_t, peer_count))) {
        return refuse_info(__func__);
    }
    msp_network_measure(&all);
    all.struct_size = info->struct_size;
    memcpy(info, &all, (info->struct_size < sizeof all) ? info->struct_size : sizeof all);
    return 0;
}

int shmemx_transport_plan(int index, shmemx_transport_info_t *info)
{
    shmemx_transport_info_t all;
    memspan_status_t status;

    if ((info == NULL) || (info->struct_size < offsetof(shmemx_transport_info_t, is_available))) {
        return refuse_info(__func__);
    }
    status = msp_transport_preview(index, &all);
    if (status == MEMSPAN_OK) {
        all.struct_size = info->struct_size;
        memcpy(info, &all, (info->struct_size < sizeof all) ? info->struct_size : sizeof all);
    }
    return (int)status;
}
