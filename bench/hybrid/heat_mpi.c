/* SPDX-License-Identifier: BSD-3-Clause */
/* heat_mpi.c: the six faces of a step; messages from and to device memory. */
#include "bench/hybrid/job.h"
#include <mpi.h>

static MPI_Request requests[2 * HEAT_FACES];

/* A face's tag is its number where it is received. */
void heat_send(const struct heat_halo *halo, size_t step)
{
    double *send    = halo->send;
    double *receive = halo->receive[step % 2];

#pragma omp target data use_device_ptr(send, receive)
    for (int f = 0; f < HEAT_FACES; f++) {
        size_t at = (size_t)f * halo->face_count;

        (void)MPI_Irecv(receive + at, (int)halo->counts[f], MPI_DOUBLE, halo->neighbours[f], f,
                        MPI_COMM_WORLD, &requests[f]);
        (void)MPI_Isend(send + at, (int)halo->counts[f], MPI_DOUBLE, halo->neighbours[f], f ^ 1,
                        MPI_COMM_WORLD, &requests[HEAT_FACES + f]);
    }
}

void heat_receive(const struct heat_halo *halo, size_t step)
{
    (void)halo;
    (void)step;
    (void)MPI_Waitall(2 * HEAT_FACES, requests, MPI_STATUSES_IGNORE);
}
