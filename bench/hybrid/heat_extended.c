/* SPDX-License-Identifier: BSD-3-Clause */
/* heat_extended.c: the six faces of a step; device memory is symmetric, and on the wire. */
#include "bench/hybrid/job.h"
#include <shmem.h>

static uint64_t arrived[HEAT_FACES]; /* steps */

void heat_send(const struct heat_halo *halo, size_t step)
{
    double *send    = halo->send;
    double *receive = halo->receive[step % 2];

#pragma omp target data use_device_ptr(send, receive)
    for (size_t f = 0; f < HEAT_FACES; f++) {
        shmem_putmem_signal_nbi(receive + (f ^ 1) * halo->face_count, send + f * halo->face_count,
                                halo->counts[f] * sizeof(double), &arrived[f ^ 1], step + 1,
                                SHMEM_SIGNAL_SET, halo->neighbours[f]);
    }
}

void heat_receive(const struct heat_halo *halo, size_t step)
{
    (void)halo;
    for (size_t f = 0; f < HEAT_FACES; f++) {
        shmem_signal_wait_until(&arrived[f], SHMEM_CMP_GE, step + 1);
    }
    shmem_quiet();
}
