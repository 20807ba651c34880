// SPDX-License-Identifier: BSD-3-Clause
// names.cc: OpenSHMEM's names in a region of C++, overloads among them. Compiled alone.

#define SHMEMX_DEVICE_NAMES
#include <shmemx_device.h>

long region(long *words, uint64_t *signal);

long region(long *words, uint64_t *signal)
{
    long sum = 0;

#pragma omp target map(tofrom : sum) is_device_ptr(words, signal)
    {
        sum = shmem_long_g(words, 0) + shmem_g(words, 0);
        shmem_p(words, sum, 1);
        shmem_put(words, words + 1, 4, 1);
        shmem_atomic_add(words, 3L, 0);
        sum += shmem_atomic_fetch_xor(signal, UINT64_C(3), 0) != 0;
        shmem_signal_set(signal, 4, 1);
        shmem_put64(words, words + 1, 4, 1);
        shmem_wait_until(words, SHMEM_CMP_EQ, 3L);
        shmem_quiet();
    }
    return sum;
}
