/* SPDX-License-Identifier: BSD-3-Clause */
/* network.c: what this PE has used of the network between hosts. */

#include "shmem/api/check.h"
#include "shmem/network/facts.h"
#include <shmemx.h>
#include <string.h>

int shmemx_network_info(shmemx_network_info_t *info)
{
    shmemx_network_info_t all = {.struct_size = sizeof all};

    msp_job_require(__func__);
    if ((info == NULL) || (info->struct_size < offsetof(shmemx_network_info_t, peer_count))) {
        return (int)memspan_error(MEMSPAN_ERR_INVALID,
                                  "%s: info is NULL or its struct_size is not set", __func__);
    }
    msp_network_measure(&all);
    all.struct_size = info->struct_size;
    memcpy(info, &all, (info->struct_size < sizeof all) ? info->struct_size : sizeof all);
    return 0;
}
