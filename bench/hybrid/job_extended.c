/* SPDX-License-Identifier: BSD-3-Clause */
/* job_extended.c: arrays whose memory on the device is symmetric, of the partition for OpenMP's
 * device. In host memory they are names; nothing is stored there but by target update. */

#define SHMEMX_PARTITION_NAMES
#include "bench/hybrid/job.h"
#include <memspan/omp.h>
#include <shmemx.h>
#include <stdlib.h>

void *job_array(size_t size_bytes)
{
    static bool is_set;
    char *array = malloc(size_bytes);

    is_set = is_set || (__tgt_set_shmem_allocator(shmem_partition_malloc, shmem_partition_free,
                                                  omp_get_default_device()) == 0);
    if (!is_set || (memspan_map_symmetric(array, size_bytes) != MEMSPAN_OK)) {
        fprintf(stderr, "no symmetric memory of %zu bytes on the device\n", size_bytes);
        exit(1);
    }
#pragma omp target enter data map(alloc : array [0:size_bytes])
    job_barrier();
    return array;
}

void job_array_free(void *array)
{
    char *bytes = array;

    job_barrier();
#pragma omp target exit data map(delete : bytes [0:0])
    (void)memspan_map_symmetric(array, 0);
    free(array);
}
