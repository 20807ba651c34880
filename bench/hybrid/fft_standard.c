/* SPDX-License-Identifier: BSD-3-Clause */
/* fft_standard.c: the all-to-all exchange.
 * OpenSHMEM reaches host memory alone, copies on both sides. */
#include "bench/hybrid/job.h"
#include <shmem.h>

void fft_exchange(char *receive, char *send, size_t block_bytes)
{
    size_t all_bytes = block_bytes * (size_t)job_count;

#pragma omp target update from(send [0:all_bytes])
    shmem_alltoallmem(SHMEM_TEAM_WORLD, receive, send, block_bytes);
#pragma omp target update to(receive [0:all_bytes])
}
