/* SPDX-License-Identifier: BSD-3-Clause */
/* random_device.c: the threads of one kernel update words of all PEs, by atomic operations or by a
 * get and a put, without the host. */

#include "bench/hybrid/job.h"
#include <omp.h>
#include <shmemx.h>
#include <shmemx_device.h>
#include <stdlib.h>

static shmemx_device_handle_t view_of_job(void)
{
    static shmemx_device_handle_t view;

    if ((view == NULL) && (shmemx_device_open(omp_get_default_device(), &view) != 0)) {
        fprintf(stderr, "no view for the device: %s\n", memspan_error_text());
        exit(1);
    }
    return view;
}

void random_update(uint64_t *table, uint64_t number, size_t count, bool atomic)
{
    shmemx_device_handle_t view = view_of_job();
    uint64_t pes                = (uint64_t)job_count - 1;

#pragma omp target data use_device_ptr(table)
#pragma omp target parallel is_device_ptr(table) firstprivate(view)
    {
        size_t thread     = (size_t)omp_get_thread_num();
        size_t threads    = (size_t)omp_get_num_threads();
        uint64_t mine     = number; /* each thread steps through the whole sequence */
        const uint64_t in = ((uint64_t)1 << RANDOM_TABLE_BITS) - 1;

        for (size_t i = 0; i < count; i++, mine = (mine << 1) ^ (((mine >> 63) != 0) ? 7 : 0)) {
            uint64_t *word = table + (mine & in);
            int pe         = (int)((mine >> RANDOM_TABLE_BITS) & pes);

            if (i % threads != thread) {
                continue;
            }
            if (atomic) {
                shmemx_device_uint64_atomic_xor(view, word, mine, pe);
            } else {
                shmemx_device_uint64_p(view, word, shmemx_device_uint64_g(view, word, pe) ^ mine,
                                       pe);
            }
        }
        (void)shmemx_device_quiet(view);
    }
}
