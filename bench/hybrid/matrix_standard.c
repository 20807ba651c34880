/* SPDX-License-Identifier: BSD-3-Clause */
/* matrix_standard.c: the stripes go around in host memory; only the first is copied from the
 * device. */

#include "bench/hybrid/job.h"
#include <shmem.h>

static uint64_t arrived;

void matrix_send(double *next, double *stripe, size_t count, bool is_first)
{
    int pe = (job_pe + job_count - 1) % job_count;

    if (is_first) {
#pragma omp target update from(stripe [0:count])
    }
    shmem_putmem_signal_nbi(next, stripe, count * sizeof(double), &arrived, 1, SHMEM_SIGNAL_SET,
                            pe);
}

void matrix_receive(double *next, size_t count)
{
    shmem_signal_wait_until(&arrived, SHMEM_CMP_NE, 0);
    arrived = 0;
#pragma omp target update to(next [0:count])
    shmem_barrier_all();
}
