/* SPDX-License-Identifier: BSD-3-Clause */
/* processor_other.c: the machine's name where processors have none of their own (aarch64). */

#include "backends/host/host.h"
#include "core/base/file.h"
#include <stdio.h>

void host_processor_describe(memspan_device_info_t *info)
{
    msp_file_read("/sys/firmware/devicetree/base/model", info->name, sizeof(info->name));
    if (info->name[0] == '\0') {
        msp_file_read("/sys/class/dmi/id/product_name", info->name, sizeof(info->name));
    }
    msp_file_read("/sys/class/dmi/id/sys_vendor", info->vendor, sizeof(info->vendor));
}
