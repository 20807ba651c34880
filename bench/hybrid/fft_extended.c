/* SPDX-License-Identifier: BSD-3-Clause */
/* fft_extended.c: the all-to-all exchange; device memory is symmetric, and on the wire. */
#include "bench/hybrid/job.h"
#include <shmem.h>

void fft_exchange(char *receive, char *send, size_t block_bytes)
{
#pragma omp target data use_device_ptr(receive, send)
    shmem_alltoallmem(SHMEM_TEAM_WORLD, receive, send, block_bytes);
}
