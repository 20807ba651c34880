/* SPDX-License-Identifier: BSD-3-Clause */
/* names_file.c: a second file with regions, which opens nothing. */

#define SHMEMX_DEVICE_NAMES
#include "tests/shmem/device/names.h"
#include <shmemx_device.h>

int names_twice(void)
{
    int twice = 0;

#pragma omp target map(from : twice)
    {
        twice = 2 * shmem_my_pe();
    }
    return twice;
}
