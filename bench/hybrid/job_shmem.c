/* SPDX-License-Identifier: BSD-3-Clause */
/* job_shmem.c: the PEs of OpenSHMEM, of both its forms. */

#include "bench/hybrid/job.h"
#include <shmem.h>

int job_pe;
int job_count;

void job_start(void)
{
    int provided;

    (void)shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    job_pe    = shmem_my_pe();
    job_count = shmem_n_pes();
}

void job_end(void)
{
    shmem_finalize();
}

void job_barrier(void)
{
    shmem_barrier_all();
}

double job_sum(double value)
{
    static double one;
    static double all;

    one = value;
    shmem_double_sum_reduce(SHMEM_TEAM_WORLD, &all, &one, 1);
    return all;
}

double job_max(double value)
{
    static double one;
    static double all;

    one = value;
    shmem_double_max_reduce(SHMEM_TEAM_WORLD, &all, &one, 1);
    return all;
}
