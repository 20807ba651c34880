/* SPDX-License-Identifier: BSD-3-Clause */
/* matrix_mpi.c: stripes to the next PE; messages from and to device memory. */
#include "bench/hybrid/job.h"
#include <mpi.h>

static MPI_Request requests[2];

void matrix_send(double *next, double *stripe, size_t count, bool is_first)
{
    int before = (job_pe + job_count - 1) % job_count;
    int after  = (job_pe + 1) % job_count;

    (void)is_first;
#pragma omp target data use_device_ptr(next, stripe)
    {
        (void)MPI_Irecv(next, (int)count, MPI_DOUBLE, after, 0, MPI_COMM_WORLD, &requests[0]);
        (void)MPI_Isend(stripe, (int)count, MPI_DOUBLE, before, 0, MPI_COMM_WORLD, &requests[1]);
    }
}

void matrix_receive(double *next, size_t count)
{
    (void)next;
    (void)count;
    (void)MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}
