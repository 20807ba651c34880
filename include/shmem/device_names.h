/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_DEVICE_NAMES_H
#define MEMSPAN_SHMEM_DEVICE_NAMES_H

/** @file device_names.h
 * OpenSHMEM's own names in target regions. Included by <shmemx_device.h> where SHMEMX_DEVICE_NAMES
 * is defined.
 *
 * The code of a device calls variants of the routines, which pass the device's view on. The code of
 * the host, regions that fall back to it included, calls the library. Compilers that generate no
 * code for a device, or have no variants with definitions (OpenMP 5.1), call the library alone. */

#include <shmemx.h>
#include <shmemx_device.h>

#if defined(__CUDACC__) || defined(__HIP__)
#error "SHMEMX_DEVICE_NAMES is for target regions of OpenMP: kernels here pass the view"
#endif

#if defined(_OPENMP) && defined(__clang__)

/* ---- the view of the device that runs: one for each device and program ---- */

#pragma omp declare target
__attribute__((weak)) const shmemx_device_view_t *shmemx_device_used;
#pragma omp end declare target

static inline __attribute__((unused)) void shmemx_device_use(int device,
                                                             const shmemx_device_view_t *view)
{
    shmemx_device_used = view;
    if (device >= 0) {
#pragma omp target update to(shmemx_device_used) device(device)
    }
}

static inline __attribute__((unused)) int shmemx_device_open_names(int device,
                                                                   shmemx_device_handle_t *view)
{
    int status = shmemx_device_open(device, view);

    if (status == 0) {
        shmemx_device_use(device, *view);
    }
    return status;
}

#define shmemx_device_open shmemx_device_open_names

/* ---- the routines ---- */

#define SHMEMX_DEVICE_NAMED static inline __attribute__((unused))

#pragma omp begin declare variant match(device = {kind(nohost)})
MEMSPAN_BEGIN_DECLS

SHMEMX_DEVICE_NAMED int shmem_my_pe(void)
{
    return shmemx_device_my_pe(shmemx_device_used);
}
SHMEMX_DEVICE_NAMED int shmem_n_pes(void)
{
    return shmemx_device_n_pes(shmemx_device_used);
}
SHMEMX_DEVICE_NAMED void *shmem_ptr(const void *dest, int pe)
{
    return shmemx_device_ptr(shmemx_device_used, dest, pe);
}
SHMEMX_DEVICE_NAMED void shmem_fence(void)
{
    (void)shmemx_device_fence(shmemx_device_used);
}
SHMEMX_DEVICE_NAMED void shmem_quiet(void)
{
    (void)shmemx_device_quiet(shmemx_device_used);
}
SHMEMX_DEVICE_NAMED void shmem_barrier_all(void)
{
    (void)shmemx_device_barrier_all(shmemx_device_used);
}
SHMEMX_DEVICE_NAMED void shmem_sync_all(void)
{
    (void)shmemx_device_barrier_all(shmemx_device_used);
}

/* A put has read its source when it returns, and a get has its data: those of _nbi as well. */
#define SHMEMX_DEVICE_NAMED_MEM(SUFFIX)                                                            \
    SHMEMX_DEVICE_NAMED void shmem_putmem##SUFFIX(void *dest, const void *source, size_t nelems,   \
                                                  int pe)                                          \
    {                                                                                              \
        shmemx_device_putmem(shmemx_device_used, dest, source, nelems, pe);                        \
    }                                                                                              \
    SHMEMX_DEVICE_NAMED void shmem_getmem##SUFFIX(void *dest, const void *source, size_t nelems,   \
                                                  int pe)                                          \
    {                                                                                              \
        shmemx_device_getmem(shmemx_device_used, dest, source, nelems, pe);                        \
    }                                                                                              \
    SHMEMX_DEVICE_NAMED void shmem_putmem_signal##SUFFIX(void *dest, const void *source,           \
                                                         size_t nelems, uint64_t *sig_addr,        \
                                                         uint64_t signal, int sig_op, int pe)      \
    {                                                                                              \
        shmemx_device_put_signal(shmemx_device_used, dest, source, nelems, sig_addr, signal,       \
                                 sig_op, pe);                                                      \
    }
SHMEMX_DEVICE_NAMED_MEM()
SHMEMX_DEVICE_NAMED_MEM(_nbi)

SHMEMX_DEVICE_NAMED void(shmem_signal_add)(uint64_t *sig_addr, uint64_t signal, int pe)
{
    (void)shmemx_device_atomic(shmemx_device_used, SHMEMX_DEVICE_ADD, sig_addr, sizeof *sig_addr,
                               signal, 0, pe);
}
SHMEMX_DEVICE_NAMED void(shmem_signal_set)(uint64_t *sig_addr, uint64_t signal, int pe)
{
    (void)shmemx_device_atomic(shmemx_device_used, SHMEMX_DEVICE_SET, sig_addr, sizeof *sig_addr,
                               signal, 0, pe);
}
SHMEMX_DEVICE_NAMED uint64_t shmem_signal_fetch(const uint64_t *sig_addr)
{
    uint64_t have = shmemx_device_look(shmemx_device_used, sig_addr, sizeof *sig_addr);

    SHMEMX_DEVICE_ORDER(__ATOMIC_ACQUIRE);
    return have;
}
SHMEMX_DEVICE_NAMED uint64_t shmem_signal_wait_until(uint64_t *sig_addr, int cmp,
                                                     uint64_t cmp_value)
{
    return shmemx_device_signal_wait_until(shmemx_device_used, sig_addr, cmp, cmp_value);
}

/* ---- puts and gets by type ---- */

#define SHMEMX_DEVICE_NAMED_BLOCK(NAME, TYPE, SUFFIX)                                              \
    SHMEMX_DEVICE_NAMED void shmem_##NAME##_put##SUFFIX(TYPE *dest, const TYPE *source,            \
                                                        size_t nelems, int pe)                     \
    {                                                                                              \
        shmemx_device_putmem(shmemx_device_used, dest, source, nelems * sizeof(TYPE), pe);         \
    }                                                                                              \
    SHMEMX_DEVICE_NAMED void shmem_##NAME##_get##SUFFIX(TYPE *dest, const TYPE *source,            \
                                                        size_t nelems, int pe)                     \
    {                                                                                              \
        shmemx_device_getmem(shmemx_device_used, dest, source, nelems * sizeof(TYPE), pe);         \
    }                                                                                              \
    SHMEMX_DEVICE_NAMED void shmem_##NAME##_put_signal##SUFFIX(                                    \
        TYPE *dest, const TYPE *source, size_t nelems, uint64_t *sig_addr, uint64_t signal,        \
        int sig_op, int pe)                                                                        \
    {                                                                                              \
        shmemx_device_put_signal(shmemx_device_used, dest, source, nelems * sizeof(TYPE),          \
                                 sig_addr, signal, sig_op, pe);                                    \
    }

#define SHMEMX_DEVICE_NAMED_RMA(NAME, TYPE)                                                        \
    SHMEMX_DEVICE_NAMED void shmem_##NAME##_p(TYPE *dest, TYPE value, int pe)                      \
    {                                                                                              \
        shmemx_device_##NAME##_p(shmemx_device_used, dest, value, pe);                             \
    }                                                                                              \
    SHMEMX_DEVICE_NAMED TYPE shmem_##NAME##_g(const TYPE *source, int pe)                          \
    {                                                                                              \
        return shmemx_device_##NAME##_g(shmemx_device_used, source, pe);                           \
    }                                                                                              \
    SHMEMX_DEVICE_NAMED_BLOCK(NAME, TYPE, )                                                        \
    SHMEMX_DEVICE_NAMED_BLOCK(NAME, TYPE, _nbi)

SHMEMX_DEVICE_AMO_TYPES(SHMEMX_DEVICE_NAMED_RMA)
SHMEMX_DEVICE_RMA_TYPES(SHMEMX_DEVICE_NAMED_RMA)

#define SHMEMX_DEVICE_NAMED_SIZE(BITS, OP, SUFFIX)                                                 \
    SHMEMX_DEVICE_NAMED void shmem_##OP##BITS##SUFFIX(void *dest, const void *source,              \
                                                      size_t nelems, int pe)                       \
    {                                                                                              \
        shmemx_device_##OP##mem(shmemx_device_used, dest, source, nelems *(BITS / 8), pe);         \
    }
MEMSPAN_SHMEM_RMA_SIZES(SHMEMX_DEVICE_NAMED_SIZE, put, )
MEMSPAN_SHMEM_RMA_SIZES(SHMEMX_DEVICE_NAMED_SIZE, put, _nbi)
MEMSPAN_SHMEM_RMA_SIZES(SHMEMX_DEVICE_NAMED_SIZE, get, )
MEMSPAN_SHMEM_RMA_SIZES(SHMEMX_DEVICE_NAMED_SIZE, get, _nbi)

/* ---- atomic operations, waits and tests ---- */

#define SHMEMX_DEVICE_NAMED_UPDATE(NAME, TYPE, OP, CODE)                                           \
    SHMEMX_DEVICE_NAMED void shmem_##NAME##_atomic_##OP(TYPE *dest, TYPE value, int pe)            \
    {                                                                                              \
        (void)shmemx_device_atomic(shmemx_device_used, (CODE), dest, sizeof(TYPE),                 \
                                   (uint64_t)value, 0, pe);                                        \
    }
#define SHMEMX_DEVICE_NAMED_FETCH(NAME, TYPE, OP, CODE)                                            \
    SHMEMX_DEVICE_NAMED TYPE shmem_##NAME##_atomic_##OP(TYPE *dest, TYPE value, int pe)            \
    {                                                                                              \
        return (TYPE)shmemx_device_atomic(shmemx_device_used, SHMEMX_DEVICE_REPLYING(CODE), dest,  \
                                          sizeof(TYPE), (uint64_t)value, 0, pe);                   \
    }
#define SHMEMX_DEVICE_NAMED_BOTH(NAME, TYPE, OP, CODE)                                             \
    SHMEMX_DEVICE_NAMED_UPDATE(NAME, TYPE, OP, CODE)                                               \
    SHMEMX_DEVICE_NAMED_FETCH(NAME, TYPE, fetch_##OP, CODE)

#define SHMEMX_DEVICE_NAMED_AMO(NAME, TYPE)                                                        \
    SHMEMX_DEVICE_NAMED TYPE shmem_##NAME##_atomic_fetch(const TYPE *source, int pe)               \
    {                                                                                              \
        return shmemx_device_##NAME##_atomic_fetch(shmemx_device_used, source, pe);                \
    }                                                                                              \
    SHMEMX_DEVICE_NAMED TYPE shmem_##NAME##_atomic_compare_swap(TYPE *dest, TYPE cond, TYPE value, \
                                                                int pe)                            \
    {                                                                                              \
        return shmemx_device_##NAME##_atomic_compare_swap(shmemx_device_used, dest, cond, value,   \
                                                          pe);                                     \
    }                                                                                              \
    SHMEMX_DEVICE_NAMED TYPE shmem_##NAME##_atomic_fetch_inc(TYPE *dest, int pe)                   \
    {                                                                                              \
        return shmemx_device_##NAME##_atomic_fetch_inc(shmemx_device_used, dest, pe);              \
    }                                                                                              \
    SHMEMX_DEVICE_NAMED void shmem_##NAME##_atomic_inc(TYPE *dest, int pe)                         \
    {                                                                                              \
        shmemx_device_##NAME##_atomic_inc(shmemx_device_used, dest, pe);                           \
    }                                                                                              \
    SHMEMX_DEVICE_NAMED_UPDATE(NAME, TYPE, set, SHMEMX_DEVICE_SET)                                 \
    SHMEMX_DEVICE_NAMED_FETCH(NAME, TYPE, swap, SHMEMX_DEVICE_SWAP)                                \
    SHMEMX_DEVICE_NAMED_BOTH(NAME, TYPE, add, SHMEMX_DEVICE_ADD)                                   \
    SHMEMX_DEVICE_NAMED void shmem_##NAME##_wait_until(TYPE *ivar, int cmp, TYPE cmp_value)        \
    {                                                                                              \
        (void)shmemx_device_##NAME##_wait_until(shmemx_device_used, ivar, cmp, cmp_value);         \
    }                                                                                              \
    SHMEMX_DEVICE_NAMED int shmem_##NAME##_test(TYPE *ivar, int cmp, TYPE cmp_value)               \
    {                                                                                              \
        TYPE have = (TYPE)shmemx_device_look(shmemx_device_used, ivar, sizeof(TYPE));              \
                                                                                                   \
        SHMEMX_DEVICE_ORDER(__ATOMIC_ACQUIRE);                                                     \
        return SHMEMX_DEVICE_COMPARE(have, cmp, cmp_value);                                        \
    }
SHMEMX_DEVICE_AMO_TYPES(SHMEMX_DEVICE_NAMED_AMO)
SHMEMX_DEVICE_NAMED void(shmem_wait_until)(long *ivar, int cmp, long cmp_value)
{
    (void)shmemx_device_long_wait_until(shmemx_device_used, ivar, cmp, cmp_value);
}

#define SHMEMX_DEVICE_NAMED_BITS(NAME, TYPE, UNUSED)                                               \
    SHMEMX_DEVICE_NAMED_BOTH(NAME, TYPE, and, SHMEMX_DEVICE_AND)                                   \
    SHMEMX_DEVICE_NAMED_BOTH(NAME, TYPE, or, SHMEMX_DEVICE_OR)                                     \
    SHMEMX_DEVICE_NAMED_BOTH(NAME, TYPE, xor, SHMEMX_DEVICE_XOR)
MEMSPAN_SHMEM_AMO_BITS_TYPES(SHMEMX_DEVICE_NAMED_BITS, )

MEMSPAN_END_DECLS
#if defined(__cplusplus)
/* Once more: the overloads, now of the routines above. */
#undef MEMSPAN_SHMEM_OVERLOAD_HPP
#include <shmem/overload.hpp>
#endif
#pragma omp end declare variant

#endif /* _OPENMP && __clang__ */

#endif /* MEMSPAN_SHMEM_DEVICE_NAMES_H */
