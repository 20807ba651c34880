/* SPDX-License-Identifier: BSD-3-Clause */
/* job_extended.c: arrays whose memory on the device is symmetric, of the partition for OpenMP's
 * device. Their host addresses are names; nothing is stored there but by target update. */

#include "bench/hybrid/job.h"
#include <omp.h>
#include <shmemx.h>
#include <stdlib.h>

enum { PARTITION = 2 };

void *job_array(size_t size_bytes)
{
    void *array  = malloc(size_bytes);
    void *device = shmemx_partition_align(64, size_bytes, PARTITION);

    if ((array == NULL) || (device == NULL) ||
        (omp_target_associate_ptr(array, device, size_bytes, 0, omp_get_default_device()) != 0)) {
        fprintf(stderr, "no symmetric memory of %zu bytes on the device\n", size_bytes);
        exit(1);
    }
    return array;
}

void job_array_free(void *array)
{
    void *device = omp_get_mapped_ptr(array, omp_get_default_device());

    (void)omp_target_disassociate_ptr(array, omp_get_default_device());
    shmemx_partition_free(device);
    free(array);
}
