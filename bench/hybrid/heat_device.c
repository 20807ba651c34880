/* SPDX-License-Identifier: BSD-3-Clause */
/* heat_device.c: the six faces of a step, sent and awaited by the threads of kernels. */
#include "bench/hybrid/job_view.h"

static uint64_t arrived[HEAT_FACES]; /* steps */

void heat_send(const struct heat_halo *halo, size_t step)
{
    shmemx_device_handle_t view = job_view();
    struct heat_halo all        = *halo;
    uint64_t *signals           = arrived;
    double *send                = halo->send;
    double *receive             = halo->receive[step % 2];

#pragma omp target data use_device_ptr(send, receive)
#pragma omp target parallel for is_device_ptr(send, receive, signals) firstprivate(view, all)
    for (size_t f = 0; f < HEAT_FACES; f++) {
        shmemx_device_put_signal(view, receive + (f ^ 1) * all.face_count,
                                 send + f * all.face_count, all.counts[f] * sizeof(double),
                                 &signals[f ^ 1], step + 1, SHMEMX_DEVICE_SIGNAL_IS_SET,
                                 all.neighbours[f]);
    }
}

void heat_receive(const struct heat_halo *halo, size_t step)
{
    shmemx_device_handle_t view = job_view();
    uint64_t *signals           = arrived;

    (void)halo;
#pragma omp target is_device_ptr(signals) firstprivate(view)
    for (size_t f = 0; f < HEAT_FACES; f++) {
        (void)shmemx_device_signal_wait_until(view, &signals[f], SHMEMX_DEVICE_CMP_GE, step + 1);
    }
}
