/* SPDX-License-Identifier: BSD-3-Clause */
/* move_mpi.c: transfers alone: half a round trip, all-to-all, broadcast, reduction.
 * Messages from and to device memory. */
#include "bench/hybrid/job.h"
#include <mpi.h>

static void send(const char *source, size_t size_bytes)
{
    (void)MPI_Send(source, (int)size_bytes, MPI_BYTE, 1 - job_pe, 0, MPI_COMM_WORLD);
}

static void receive(char *dest, size_t size_bytes)
{
    (void)MPI_Recv(dest, (int)size_bytes, MPI_BYTE, 1 - job_pe, 0, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
}

void move_ping_pong(char *dest, char *source, size_t size_bytes, size_t count)
{
#pragma omp target data use_device_ptr(dest, source)
    for (size_t i = 0; (i < count) && (job_pe < 2); i++) {
        if (job_pe == 0) {
            send(source, size_bytes);
        }
        receive(dest, size_bytes);
        if (job_pe == 1) {
            send(source, size_bytes);
        }
    }
}

void move_blocks(char *dest, char *source, size_t size_bytes, size_t count)
{
#pragma omp target data use_device_ptr(dest, source)
    for (size_t i = 0; i < count; i++) {
        (void)MPI_Alltoall(source, (int)size_bytes, MPI_BYTE, dest, (int)size_bytes, MPI_BYTE,
                           MPI_COMM_WORLD);
    }
}

void move_to_all(char *dest, char *source, size_t size_bytes, size_t count)
{
#pragma omp target data use_device_ptr(dest, source)
    for (size_t i = 0; i < count; i++) {
        int root = (int)(i % (size_t)job_count);

        (void)MPI_Bcast((job_pe == root) ? source : dest, (int)size_bytes, MPI_BYTE, root,
                        MPI_COMM_WORLD);
    }
}

void move_combined(char *dest, char *source, size_t size_bytes, size_t count)
{
#pragma omp target data use_device_ptr(dest, source)
    for (size_t i = 0; i < count; i++) {
        (void)MPI_Allreduce(source, dest, (int)(size_bytes / sizeof(uint64_t)), MPI_UINT64_T,
                            MPI_BXOR, MPI_COMM_WORLD);
    }
}
