/* SPDX-License-Identifier: BSD-3-Clause */
/* heat_standard.c: the six faces of a step.
 * OpenSHMEM reaches host memory alone, copies on both sides. */
#include "bench/hybrid/job.h"
#include <shmem.h>

static uint64_t arrived[HEAT_FACES]; /* steps */

void heat_send(const struct heat_halo *halo, size_t step)
{
    double *send    = halo->send;
    double *receive = halo->receive[step % 2];
    size_t count    = HEAT_FACES * halo->face_count;

#pragma omp target update from(send [0:count])
    for (size_t f = 0; f < HEAT_FACES; f++) {
        shmem_putmem_signal_nbi(receive + (f ^ 1) * halo->face_count, send + f * halo->face_count,
                                halo->counts[f] * sizeof(double), &arrived[f ^ 1], step + 1,
                                SHMEM_SIGNAL_SET, halo->neighbours[f]);
    }
}

void heat_receive(const struct heat_halo *halo, size_t step)
{
    double *receive = halo->receive[step % 2];
    size_t count    = HEAT_FACES * halo->face_count;

    for (size_t f = 0; f < HEAT_FACES; f++) {
        shmem_signal_wait_until(&arrived[f], SHMEM_CMP_GE, step + 1);
    }
#pragma omp target update to(receive [0:count])
    shmem_quiet();
}
