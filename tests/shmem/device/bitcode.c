/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcode.c: kernels of GPUs that know no header of Memspan, only the names in its bitcode. */

#if defined(__AMDGCN__)
#define KERNEL __attribute__((amdgpu_kernel))
#elif __clang_major__ >= 21
#define KERNEL __attribute__((device_kernel))
#else
#define KERNEL __attribute__((nvptx_kernel))
#endif

struct view;
typedef __UINT64_TYPE__ word;

int shmemx_device_my_pe(const struct view *);
int shmemx_device_n_pes(const struct view *);
void shmemx_device_put_signal(const struct view *, void *, const void *, __SIZE_TYPE__, word *,
                              word, int, int);
word shmemx_device_signal_wait_until(const struct view *, const word *, int, word);
long shmemx_device_long_atomic_fetch_add(const struct view *, long *, long, int);
void shmemx_device_double_p(const struct view *, double *, double, int);
int shmemx_device_quiet(const struct view *);
int shmemx_device_barrier_all(const struct view *);

KERNEL void halo(const struct view *view, double *cells, word *signals, int count)
{
    int next = (shmemx_device_my_pe(view) + 1) % shmemx_device_n_pes(view);

    shmemx_device_put_signal(view, &cells[0], &cells[count], sizeof *cells, &signals[0], 1, 0,
                             next);
    (void)shmemx_device_signal_wait_until(view, &signals[0], 4, 1);
}

KERNEL void count(const struct view *view, long *counter, double *last)
{
    long old = shmemx_device_long_atomic_fetch_add(view, counter, 1, 0);

    shmemx_device_double_p(view, last, (double)old, 0);
    (void)shmemx_device_quiet(view);
}

KERNEL void barrier(const struct view *view)
{
    (void)shmemx_device_barrier_all(view);
}
