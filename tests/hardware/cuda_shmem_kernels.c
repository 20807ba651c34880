/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_shmem_kernels.c: kernels of cuda_shmem.c, by Clang for NVPTX or by nvcc. */

#include <shmemx_device.h>

#ifdef __CUDACC__
#define KERNEL extern "C" __global__ void
#define INLINE static __device__
#else
#define KERNEL __attribute__((nvptx_kernel)) void
#define INLINE static inline
#endif

#define REGISTER(NAME)                                                                             \
    ({                                                                                             \
        uint32_t value_;                                                                           \
        __asm__ volatile("mov.u32 %0, %%" NAME ";" : "=r"(value_));                                \
        value_;                                                                                    \
    })

/* To Clang assembly is no barrier of threads: it would copy it into both branches of a condition.
 */
INLINE void synchronize(void)
{
    __syncthreads();
}

INLINE uint64_t now_ns(void)
{
    uint64_t value;

    __asm__ volatile("mov.u64 %0, %%globaltimer;" : "=l"(value)::"memory");
    return value;
}

INLINE void barrier(const shmemx_device_view_t *view, uint32_t rank)
{
    synchronize();
    if (rank == 0) {
        (void)shmemx_device_barrier_all(view);
    }
    synchronize();
}

INLINE void mistake(uint64_t *errors)
{
    (void)shmemx_device_add_uint64_t(errors, 1);
}

INLINE char byte_of(int pe, size_t at)
{
    return (char)(((size_t)pe * 131) + (at * 7) + (at >> 8));
}

/* One block of each PE; words: 1,024 and more; bytes and source: size_bytes; signals: 2. */
KERNEL exchange(const shmemx_device_view_t *view, long *words, char *bytes, char *source,
                uint64_t *signals, size_t size_bytes, uint32_t *arrived, uint64_t *errors)
{
    uint32_t rank  = REGISTER("tid.x");
    uint32_t size  = REGISTER("ntid.x");
    int mine       = shmemx_device_my_pe(view);
    int next       = (mine + 1) % shmemx_device_n_pes(view);
    int previous   = (mine + shmemx_device_n_pes(view) - 1) % shmemx_device_n_pes(view);
    long threads   = (long)size * shmemx_device_n_pes(view);
    uint64_t round = 1;
    size_t i;

    shmemx_device_long_p(view, &words[rank], (mine * 10000L) + (long)rank, next);
    (void)shmemx_device_quiet(view);
    barrier(view, rank);
    if (words[rank] != (previous * 10000L) + (long)rank) {
        mistake(errors);
    }
    if (shmemx_device_long_g(view, &words[rank], next) != (mine * 10000L) + (long)rank) {
        mistake(errors);
    }
    barrier(view, rank);
    /* Every thread of every PE counts at PE 0. */
    (void)shmemx_device_long_atomic_fetch_add(view, &words[size], 3, 0);
    shmemx_device_long_atomic_inc(view, &words[size + 1], 0);
    shmemx_device_int_atomic_add(view, (int *)(void *)&words[size + 2], 1, 0);
    (void)shmemx_device_quiet(view);
    barrier(view, rank);
    if ((rank == 0) && ((shmemx_device_long_atomic_fetch(view, &words[size], 0) != 3 * threads) ||
                        (shmemx_device_long_g(view, &words[size + 1], 0) != threads) ||
                        (shmemx_device_long_g(view, &words[size + 2], 0) != threads))) {
        mistake(errors);
    }
    for (; round <= 3; round++) {
        for (i = rank; i < size_bytes; i += size) {
            source[i] = byte_of(mine + (int)round, i);
        }
        synchronize();
        shmemx_device_put_signal_group(view, bytes, source, size_bytes, &signals[0], 1,
                                       SHMEMX_DEVICE_SIGNAL_IS_ADD, next, rank, size, arrived);
        (void)shmemx_device_signal_wait_until(view, &signals[0], SHMEMX_DEVICE_CMP_GE, round);
        synchronize();
        for (i = rank; i < size_bytes; i += size) {
            if (bytes[i] != byte_of(previous + (int)round, i)) {
                mistake(errors);
            }
        }
        barrier(view, rank);
    }
    shmemx_device_getmem_group(view, bytes, source, size_bytes, next, rank, size);
    synchronize();
    for (i = rank; i < size_bytes; i += size) {
        if (bytes[i] != byte_of(next + 3, i)) {
            mistake(errors);
        }
    }
    barrier(view, rank);
}

/* One thread; times[]: ns a put, a get, an atomic addition, a fetching one, a put with its quiet.
 */
KERNEL latency(const shmemx_device_view_t *view, long *words, int pe, uint32_t count,
               uint64_t *times)
{
    uint64_t from;
    uint64_t sum = 0;
    uint32_t i;

    from = now_ns();
    for (i = 0; i < count; i++) {
        shmemx_device_long_p(view, &words[i % 64], (long)i, pe);
    }
    (void)shmemx_device_quiet(view);
    times[0] = (now_ns() - from) / count;
    from     = now_ns();
    for (i = 0; i < count; i++) {
        sum += (uint64_t)shmemx_device_long_g(view, &words[i % 64], pe);
    }
    times[1] = (now_ns() - from) / count;
    from     = now_ns();
    for (i = 0; i < count; i++) {
        shmemx_device_long_atomic_add(view, &words[i % 64], 1, pe);
    }
    (void)shmemx_device_quiet(view);
    times[2] = (now_ns() - from) / count;
    from     = now_ns();
    for (i = 0; i < count; i++) {
        sum += (uint64_t)shmemx_device_long_atomic_fetch_add(view, &words[i % 64], 1, pe);
    }
    times[3] = (now_ns() - from) / count;
    from     = now_ns();
    for (i = 0; i < count; i++) {
        shmemx_device_long_p(view, &words[i % 64], (long)i, pe);
        (void)shmemx_device_quiet(view);
    }
    times[4] = (now_ns() - from) / count;
    times[5] = sum;
}

/* All threads: one block of memory. */
KERNEL put_all(const shmemx_device_view_t *view, char *dest, const char *source, size_t size_bytes,
               int pe)
{
    uint32_t size = REGISTER("ntid.x");

    shmemx_device_putmem_group(view, dest, source, size_bytes, pe,
                               (REGISTER("ctaid.x") * size) + REGISTER("tid.x"),
                               REGISTER("nctaid.x") * size);
}

/* All threads: exclusive or with words of random PEs, count times each; word_count: a power of two.
 */
KERNEL random_access(const shmemx_device_view_t *view, uint64_t *words, uint64_t word_count,
                     uint32_t count)
{
    uint64_t thread = (REGISTER("ctaid.x") * REGISTER("ntid.x")) + REGISTER("tid.x");
    uint64_t state  = (thread + 1) * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t i;

    for (i = 0; i < count; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        shmemx_device_uint64_atomic_xor(view, &words[state & (word_count - 1)], state,
                                        (int)((state >> 40) % (uint64_t)(uint32_t)view->n_pes));
    }
    (void)shmemx_device_quiet(view);
}
