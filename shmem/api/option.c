/* SPDX-License-Identifier: BSD-3-Clause */
/* option.c: OpenSHMEM's variables, described without a job. */

#include "shmem/option.h"
#include <shmemx.h>
#include <string.h>

int shmemx_option_describe(int index, memspan_option_info_t *info)
{
    memspan_option_info_t all;
    memspan_status_t status;

    if ((info == NULL) || (info->struct_size < offsetof(memspan_option_info_t, form))) {
        return (int)memspan_error(
            MEMSPAN_ERR_INVALID,
            "shmemx_option_describe: info is NULL or its struct_size is not set");
    }
    status = msp_shmem_option_describe(index, &all);
    if (status == MEMSPAN_OK) {
        all.struct_size = info->struct_size;
        memcpy(info, &all, (info->struct_size < sizeof all) ? info->struct_size : sizeof all);
    }
    return (int)status;
}
