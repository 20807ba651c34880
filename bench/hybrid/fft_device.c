/* SPDX-License-Identifier: BSD-3-Clause */
/* fft_device.c: the all-to-all exchange, by the threads of a kernel. */
#include "bench/hybrid/job_view.h"
#include <omp.h>

void fft_exchange(char *receive, char *send, size_t block_bytes)
{
    shmemx_device_handle_t view = job_view();

#pragma omp target data use_device_ptr(receive, send)
#pragma omp target parallel is_device_ptr(receive, send) firstprivate(view)
    {
        int me     = shmemx_device_my_pe(view);
        int pes    = shmemx_device_n_pes(view);
        int thread = omp_get_thread_num();

        for (int pe = (me + 1) % pes, i = 0; i < pes; i++, pe = (pe + 1) % pes) {
            shmemx_device_putmem_group(view, receive + (size_t)me * block_bytes,
                                       send + (size_t)pe * block_bytes, block_bytes, pe,
                                       (uint32_t)thread, (uint32_t)omp_get_num_threads());
        }
#pragma omp barrier
        if (thread == 0) {
            (void)shmemx_device_barrier_all(view);
        }
    }
}
