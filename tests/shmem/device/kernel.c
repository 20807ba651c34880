/* SPDX-License-Identifier: BSD-3-Clause */
/* kernel.c: every operation of the header in one function, for each processor and language. */

#include <shmemx_device.h>

#ifdef __CUDACC__
#define KERNEL __host__ __device__
#else
#define KERNEL
#endif

#ifdef __cplusplus
extern "C"
#endif
    KERNEL long
    kernel(const shmemx_device_view_t *view, long *words, int *halves, uint64_t *signals,
           uint32_t *arrived, uint32_t rank, uint32_t size, int pe);

KERNEL long kernel(const shmemx_device_view_t *view, long *words, int *halves, uint64_t *signals,
                   uint32_t *arrived, uint32_t rank, uint32_t size, int pe)
{
    long sum = 0;

    shmemx_device_long_p(view, &words[0], 1, pe);
    shmemx_device_double_p(view, (double *)(void *)&words[1], 1.5, pe);
    shmemx_device_short_p(view, (short *)(void *)&words[2], 1, pe);
    sum += shmemx_device_long_g(view, &words[0], pe);
    shmemx_device_putmem(view, words, words + 8, 77, pe);
    shmemx_device_getmem(view, words + 8, words, 77, pe);
    shmemx_device_putmem_group(view, words, words + 8, 4096, pe, rank, size);
    shmemx_device_getmem_group(view, words + 8, words, 4096, pe, rank, size);
    shmemx_device_put_signal(view, words, words + 8, 8, &signals[0], 1, SHMEMX_DEVICE_SIGNAL_IS_ADD,
                             pe);
    shmemx_device_put_signal_group(view, words, words + 8, 8, &signals[0], 1,
                                   SHMEMX_DEVICE_SIGNAL_IS_SET, pe, rank, size, arrived);
    sum += shmemx_device_long_atomic_fetch(view, &words[0], pe);
    shmemx_device_long_atomic_set(view, &words[0], 5, pe);
    sum += shmemx_device_long_atomic_swap(view, &words[0], 5, pe);
    sum += shmemx_device_long_atomic_compare_swap(view, &words[0], 5, 6, pe);
    sum += shmemx_device_long_atomic_fetch_inc(view, &words[0], pe);
    shmemx_device_long_atomic_xor(view, &words[0], 6, pe);
    shmemx_device_int_atomic_inc(view, &halves[0], pe);
    sum += shmemx_device_int_atomic_fetch_add(view, &halves[0], 2, pe);
    sum += shmemx_device_int_atomic_compare_swap(view, &halves[0], 5, 6, pe);
    sum += shmemx_device_int_wait_until(view, &halves[1], SHMEMX_DEVICE_CMP_EQ, 1);
    sum += (long)shmemx_device_signal_wait_until(view, &signals[1], SHMEMX_DEVICE_CMP_GE, 1);
    sum += shmemx_device_fence(view) + shmemx_device_quiet(view) + shmemx_device_barrier_all(view);
    sum += shmemx_device_my_pe(view) + shmemx_device_n_pes(view);
    sum += (shmemx_device_ptr(view, words, pe) != NULL) ? 1 : 0;
    return sum;
}
