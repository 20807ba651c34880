/* SPDX-License-Identifier: BSD-3-Clause */
/* random_extended.c: gets and puts of 1024 words at a time, the most that HPCC allows to be held
 * back. */

#include "bench/hybrid/job.h"
#include <shmem.h>

enum { ROUND = 1024 };

static void update_atomic(uint64_t *table, uint64_t number, size_t count)
{
    for (; count > 0; count--, number = random_next(number)) {
        shmem_uint64_atomic_xor(table + random_word(number), number, random_pe(number));
    }
}

/* Returns the number after them. */
static uint64_t update_round(uint64_t *table, uint64_t number, size_t count)
{
    static uint64_t words[ROUND];
    uint64_t next = number;

    for (size_t i = 0; i < count; i++, next = random_next(next)) {
        shmem_uint64_get_nbi(&words[i], table + random_word(next), 1, random_pe(next));
    }
    shmem_quiet();
    for (size_t i = 0; i < count; i++, number = random_next(number)) {
        words[i] ^= number;
        shmem_uint64_put_nbi(table + random_word(number), &words[i], 1, random_pe(number));
    }
    shmem_quiet();
    return number;
}

void random_update(uint64_t *table, uint64_t number, size_t count, bool atomic)
{
#pragma omp target data use_device_ptr(table)
    if (atomic) {
        update_atomic(table, number, count);
    } else {
        for (size_t done = 0; done < count; done += ROUND) {
            number = update_round(table, number, (count - done < ROUND) ? count - done : ROUND);
        }
    }
}
