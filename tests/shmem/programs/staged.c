/* SPDX-License-Identifier: BSD-3-Clause */
/* staged.c: listing 1 of the same paper, which needs nothing of its extensions: host memory of
 * the symmetric heap is mapped, and each exchange copies from the device before it and to the
 * device after it. */

#include "tests/shmem/check.h"
#include <omp.h>

enum { M = 50000, N = 3000 };

static long psync[SHMEM_REDUCE_SYNC_SIZE];
static float pwork[N / 2 + 1 + SHMEM_REDUCE_MIN_WRKDATA_SIZE];

static void put_to_next(float *x, uint64_t *signal)
{
#pragma omp target update from(x [M:M])
    shmem_float_put_signal(x, x + M, M, signal, 1, SHMEM_SIGNAL_SET,
                           (shmem_my_pe() + 1) % shmem_n_pes());
    shmem_signal_wait_until(signal, SHMEM_CMP_EQ, 1);
#pragma omp target update to(x [0:M])
}

static void reduce(float *u, float *v)
{
    int me = shmem_my_pe();

#pragma omp target teams distribute parallel for
    for (int i = 0; i < N; i++) {
        v[i] = (float)(me + i);
    }
#pragma omp target update from(v [0:N])
    shmem_barrier_all();
    shmem_float_sum_to_all(u, v, N, 0, 0, shmem_n_pes(), pwork, psync);
#pragma omp target update to(u [0:N])
#pragma omp target teams distribute parallel for
    for (int i = 0; i < N; i++) {
        u[i] *= 2;
    }
}

int main(void)
{
    int count;
    int from;
    float *x;
    float *u;
    float *v;
    uint64_t *signal;

    shmem_init();
    count  = shmem_n_pes();
    from   = (shmem_my_pe() + count - 1) % count;
    x      = shmem_malloc(2 * M * sizeof(*x));
    u      = shmem_malloc(N * sizeof(*u));
    v      = shmem_malloc(N * sizeof(*v));
    signal = shmem_calloc(1, sizeof(*signal));
    for (size_t i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++) {
        psync[i] = SHMEM_SYNC_VALUE;
    }
    for (int i = 0; i < M; i++) {
        x[M + i] = (float)(shmem_my_pe() * M + i);
    }
#pragma omp target data map(tofrom : x [0:2 * M]) map(from : u [0:N], v [0:N])
    {
        put_to_next(x, signal);
        reduce(u, v);
    }
    for (int i = 0; i < M; i++) {
        CHECK(x[i] == (float)(from * M + i), "%d: %g", i, x[i]);
    }
    for (int i = 0; i < N; i++) {
        CHECK(u[i] == (float)(count * (count - 1) + 2 * count * i), "%d: %g", i, u[i]);
    }
    shmem_finalize();
    return 0;
}
