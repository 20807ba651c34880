/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/hybrid/random.h"
#include <shmem.h>

void random_update(uint64_t *table, uint64_t number, size_t count, bool atomic)
{
#pragma omp target data use_device_ptr(table)
    for (size_t i = 0; i < count; i++, number = random_next(number)) {
        uint64_t *word = table + random_word(number);
        int pe         = random_pe(number);

        if (atomic) {
            shmem_uint64_atomic_xor(word, number, pe);
        } else {
            shmem_uint64_p(word, shmem_uint64_g(word, pe) ^ number, pe);
        }
    }
}
