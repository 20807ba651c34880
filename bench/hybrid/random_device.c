/* SPDX-License-Identifier: BSD-3-Clause */
/* random_device.c: the threads of one kernel update words of all PEs, by atomic operations or by a
 * get and a put, without the host. Words that come soon are prefetched where the device maps them.
 */

#include "bench/hybrid/job_view.h"
#include <omp.h>

enum { AHEAD = 16 /* numbers */, PES_MAX = 64 /* whose words are prefetched */ };

#pragma omp begin declare target
static uint64_t step_number(uint64_t number, size_t *word_p, int *pe_p, uint64_t pes)
{
    *word_p = (size_t)(number & (((uint64_t)1 << RANDOM_TABLE_BITS) - 1));
    *pe_p   = (int)((number >> RANDOM_TABLE_BITS) & (pes - 1));
    return (number << 1) ^ (((number >> 63) != 0) ? 7 : 0);
}
#pragma omp end declare target

void random_update(uint64_t *table, uint64_t number, size_t count, bool atomic)
{
    shmemx_device_handle_t view = job_view();

#pragma omp target data use_device_ptr(table)
#pragma omp target parallel is_device_ptr(table) firstprivate(view)
    {
        size_t next    = (size_t)omp_get_thread_num();
        uint64_t mine  = number; /* each thread steps through the whole sequence */
        uint64_t ahead = number;
        uint64_t pes   = (uint64_t)shmemx_device_n_pes(view);
        const uint64_t *tables[PES_MAX];
        size_t word;
        int pe;

        for (pe = 0; pe < PES_MAX; pe++) {
            tables[pe] = shmemx_device_ptr(view, table, pe);
        }
        for (size_t i = 0; i < count + AHEAD; i++) {
            uint64_t value = mine;

            ahead = step_number(ahead, &word, &pe, pes);
            if ((pe < PES_MAX) && (tables[pe] != NULL)) {
                __builtin_prefetch(tables[pe] + word, 1);
            }
            if (i < AHEAD) {
                continue;
            }
            mine = step_number(mine, &word, &pe, pes);
            if (i - AHEAD != next) {
                continue;
            }
            next += (size_t)omp_get_num_threads();
            if (atomic) {
                shmemx_device_uint64_atomic_xor(view, table + word, value, pe);
            } else {
                value ^= shmemx_device_uint64_g(view, table + word, pe);
                shmemx_device_uint64_p(view, table + word, value, pe);
            }
        }
        (void)shmemx_device_quiet(view);
    }
}
