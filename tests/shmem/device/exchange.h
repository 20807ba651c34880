/* SPDX-License-Identifier: BSD-3-Clause */
/* exchange.h: kernels in the language that C and OpenCL C have in common. exchange.c includes it
 * into target regions, and has PoCL compile it as it is. Addresses are arguments as numbers, which
 * PoCL's processors take. */

#include <shmemx_device.h>

enum { BYTES = 20000, ERRORS = 7 };

#define VIEW ((const shmemx_device_view_t *)view)

/* One item on each PE: from all PEs to the next ones. */
KERNEL void exchange(uint64_t view, uint64_t heap, uint64_t partition, uint64_t bytes)
{
    long *words = (long *)partition;
    long *host  = (long *)heap;
    char *to    = (char *)bytes;
    char *from  = to + BYTES;
    int me      = shmemx_device_my_pe(VIEW);
    int all     = shmemx_device_n_pes(VIEW);
    int next = (me + 1) % all, previous = (me + all - 1) % all;
    void *own   = (VIEW->is_apart != 0) ? (void *)0 : (void *)host;
    long errors = 0;

    for (int i = 0; i < BYTES; i++) {
        from[i] = (char)(me * 131 + i * 7);
    }
    shmemx_device_long_p(VIEW, &words[0], 2000 + me, next);
    shmemx_device_fence(VIEW);
    shmemx_device_put_signal(VIEW, to, from, BYTES, (uint64_t *)&words[1], 5,
                             SHMEMX_DEVICE_SIGNAL_IS_SET, next);
    shmemx_device_long_p(VIEW, &host[0], 1000 + me, next);
    shmemx_device_signal_wait_until(VIEW, (uint64_t *)&words[1], SHMEMX_DEVICE_CMP_EQ, 5);
    errors += (words[0] == 2000 + previous) ? 0 : 1;
    for (int i = 0; i < BYTES; i++) {
        errors += (to[i] == (char)(previous * 131 + i * 7)) ? 0 : 100;
    }
    shmemx_device_long_wait_until(VIEW, &host[0], SHMEMX_DEVICE_CMP_EQ, 1000 + previous);
    shmemx_device_barrier_all(VIEW);
    errors += (shmemx_device_long_g(VIEW, &host[0], next) == 1000 + me) ? 0 : 10000000;
    errors += (shmemx_device_ptr(VIEW, host, me) == own) ? 0 : 20000000;
    errors += (shmemx_device_ptr(VIEW, words, me) == (void *)words) ? 0 : 40000000;
    words[ERRORS] = errors;
}

/* Items of all PEs count on PE 0. */
KERNEL void count(uint64_t view, uint64_t heap, uint64_t partition, uint64_t bytes)
{
    long *words = (long *)partition;
    long old;

    (void)bytes;
    shmemx_device_long_atomic_add(VIEW, (long *)heap + 1, 3, 0);
    old = shmemx_device_long_atomic_fetch_inc(VIEW, &words[2], 0);
    shmemx_device_long_atomic_add(VIEW, &words[3], old, 0);
    shmemx_device_quiet(VIEW);
}
