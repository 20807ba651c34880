/* SPDX-License-Identifier: BSD-3-Clause */
/* fft_mpi.c: the all-to-all exchange; messages from and to device memory. */
#include "bench/hybrid/job.h"
#include <mpi.h>

void fft_exchange(char *receive, char *send, size_t block_bytes)
{
    int doubles = (int)(block_bytes / sizeof(double));

#pragma omp target data use_device_ptr(receive, send)
    (void)MPI_Alltoall(send, doubles, MPI_DOUBLE, receive, doubles, MPI_DOUBLE, MPI_COMM_WORLD);
}
