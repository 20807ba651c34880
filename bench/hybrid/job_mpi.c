/* SPDX-License-Identifier: BSD-3-Clause */
/* job_mpi.c: the processes of MPI. */

#include "bench/hybrid/job.h"
#include <mpi.h>
#include <stdlib.h>

int job_pe;
int job_count;

void job_start(void)
{
    (void)MPI_Init(NULL, NULL);
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &job_pe);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &job_count);
}

void job_end(void)
{
    (void)MPI_Finalize();
}

void job_barrier(void)
{
    (void)MPI_Barrier(MPI_COMM_WORLD);
}

double job_sum(double value)
{
    double all;

    (void)MPI_Allreduce(&value, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

double job_max(double value)
{
    double all;

    (void)MPI_Allreduce(&value, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

void *job_array(size_t size_bytes)
{
    char *array = malloc(size_bytes);

    if (array == NULL) {
        fprintf(stderr, "no memory of %zu bytes\n", size_bytes);
        exit(1);
    }
#pragma omp target enter data map(alloc : array [0:size_bytes])
    return array;
}

void job_array_free(void *array)
{
    char *bytes = array;

#pragma omp target exit data map(delete : bytes [0:0])
    free(array);
}
