/* SPDX-License-Identifier: BSD-3-Clause */
/* job_standard.c: arrays with a symmetric copy in host memory. */

#include "bench/hybrid/job.h"
#include <shmem.h>
#include <stdlib.h>

void *job_array(size_t size_bytes)
{
    char *array = shmem_align(64, size_bytes);

    if (array == NULL) {
        fprintf(stderr, "no symmetric memory of %zu bytes\n", size_bytes);
        exit(1);
    }
#pragma omp target enter data map(alloc : array [0:size_bytes])
    return array;
}

void job_array_free(void *array)
{
    char *bytes = array;

#pragma omp target exit data map(delete : bytes [0:0])
    shmem_free(array);
}
