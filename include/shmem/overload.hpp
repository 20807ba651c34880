/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_OVERLOAD_HPP
#define MEMSPAN_SHMEM_OVERLOAD_HPP

#include <shmem/routines.h>

/** @file overload.hpp
 * One name for all types, in C++: shmem_put(dest, source, nelems, pe) for every type of the
 * standard's lists, with or without a context before. An extension: the standard has such names in
 * C11 alone. Complex numbers are the compiler's (double _Complex); a std::complex<double> * is
 * cast.
 *
 * Every overload is one call of the typed routine, which is what profiling tools see.
 *
 * Programs put extern "C" around <shmem.h>: overloads have C++ linkage even there. */

extern "C++" {

/* RESULT shmem_OP(parameters) and, with a context, the same: each calls its typed twin. */
#define MEMSPAN_SHMEM_OVERLOAD(RESULT, OP, TYPED, PARAMETERS, ...)                                 \
    inline RESULT shmem_##OP PARAMETERS                                                            \
    {                                                                                              \
        return shmem_##TYPED(__VA_ARGS__);                                                         \
    }
#define MEMSPAN_SHMEM_OVERLOAD_COPY(NAME, TYPE, OP)                                                \
    MEMSPAN_SHMEM_OVERLOAD(void, OP, NAME##_##OP,                                                  \
                           (TYPE * dest, const TYPE *source, size_t nelems, int pe), dest, source, \
                           nelems, pe)                                                             \
    MEMSPAN_SHMEM_OVERLOAD(                                                                        \
        void, OP, ctx_##NAME##_##OP,                                                               \
        (shmem_ctx_t ctx, TYPE * dest, const TYPE *source, size_t nelems, int pe), ctx, dest,      \
        source, nelems, pe)
#define MEMSPAN_SHMEM_OVERLOAD_STRIDED(NAME, TYPE, OP)                                             \
    MEMSPAN_SHMEM_OVERLOAD(                                                                        \
        void, OP, NAME##_##OP,                                                                     \
        (TYPE * dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe),    \
        dest, source, dst, sst, nelems, pe)                                                        \
    MEMSPAN_SHMEM_OVERLOAD(void, OP, ctx_##NAME##_##OP,                                            \
                           (shmem_ctx_t ctx, TYPE * dest, const TYPE *source, ptrdiff_t dst,       \
                            ptrdiff_t sst, size_t nelems, int pe),                                 \
                           ctx, dest, source, dst, sst, nelems, pe)
#define MEMSPAN_SHMEM_OVERLOAD_BLOCKS(NAME, TYPE, OP)                                              \
    MEMSPAN_SHMEM_OVERLOAD(void, OP, NAME##_##OP,                                                  \
                           (TYPE * dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst,         \
                            size_t bsize, size_t nblocks, int pe),                                 \
                           dest, source, dst, sst, bsize, nblocks, pe)                             \
    MEMSPAN_SHMEM_OVERLOAD(void, OP, ctx_##NAME##_##OP,                                            \
                           (shmem_ctx_t ctx, TYPE * dest, const TYPE *source, ptrdiff_t dst,       \
                            ptrdiff_t sst, size_t bsize, size_t nblocks, int pe),                  \
                           ctx, dest, source, dst, sst, bsize, nblocks, pe)
#define MEMSPAN_SHMEM_OVERLOAD_P(NAME, TYPE, OP)                                                   \
    MEMSPAN_SHMEM_OVERLOAD(void, OP, NAME##_##OP, (TYPE * dest, TYPE value, int pe), dest, value,  \
                           pe)                                                                     \
    MEMSPAN_SHMEM_OVERLOAD(void, OP, ctx_##NAME##_##OP,                                            \
                           (shmem_ctx_t ctx, TYPE * dest, TYPE value, int pe), ctx, dest, value,   \
                           pe)
#define MEMSPAN_SHMEM_OVERLOAD_G(NAME, TYPE, OP)                                                   \
    MEMSPAN_SHMEM_OVERLOAD(TYPE, OP, NAME##_##OP, (const TYPE *source, int pe), source, pe)        \
    MEMSPAN_SHMEM_OVERLOAD(TYPE, OP, ctx_##NAME##_##OP,                                            \
                           (shmem_ctx_t ctx, const TYPE *source, int pe), ctx, source, pe)
#define MEMSPAN_SHMEM_OVERLOAD_PUT_SIGNAL(NAME, TYPE, OP)                                          \
    MEMSPAN_SHMEM_OVERLOAD(void, OP, NAME##_##OP,                                                  \
                           (TYPE * dest, const TYPE *source, size_t nelems, uint64_t *sig_addr,    \
                            uint64_t signal, int sig_op, int pe),                                  \
                           dest, source, nelems, sig_addr, signal, sig_op, pe)                     \
    MEMSPAN_SHMEM_OVERLOAD(void, OP, ctx_##NAME##_##OP,                                            \
                           (shmem_ctx_t ctx, TYPE * dest, const TYPE *source, size_t nelems,       \
                            uint64_t *sig_addr, uint64_t signal, int sig_op, int pe),              \
                           ctx, dest, source, nelems, sig_addr, signal, sig_op, pe)
#define MEMSPAN_SHMEM_OVERLOAD_AMO_FETCH(NAME, TYPE, OP)                                           \
    MEMSPAN_SHMEM_OVERLOAD(TYPE, atomic_##OP, NAME##_atomic_##OP, (const TYPE *source, int pe),    \
                           source, pe)                                                             \
    MEMSPAN_SHMEM_OVERLOAD(TYPE, atomic_##OP, ctx_##NAME##_atomic_##OP,                            \
                           (shmem_ctx_t ctx, const TYPE *source, int pe), ctx, source, pe)
#define MEMSPAN_SHMEM_OVERLOAD_AMO_UPDATE(NAME, TYPE, OP)                                          \
    MEMSPAN_SHMEM_OVERLOAD(void, atomic_##OP, NAME##_atomic_##OP,                                  \
                           (TYPE * dest, TYPE value, int pe), dest, value, pe)                     \
    MEMSPAN_SHMEM_OVERLOAD(void, atomic_##OP, ctx_##NAME##_atomic_##OP,                            \
                           (shmem_ctx_t ctx, TYPE * dest, TYPE value, int pe), ctx, dest, value,   \
                           pe)
#define MEMSPAN_SHMEM_OVERLOAD_AMO_SWAP(NAME, TYPE, OP)                                            \
    MEMSPAN_SHMEM_OVERLOAD(TYPE, atomic_##OP, NAME##_atomic_##OP,                                  \
                           (TYPE * dest, TYPE value, int pe), dest, value, pe)                     \
    MEMSPAN_SHMEM_OVERLOAD(TYPE, atomic_##OP, ctx_##NAME##_atomic_##OP,                            \
                           (shmem_ctx_t ctx, TYPE * dest, TYPE value, int pe), ctx, dest, value,   \
                           pe)
#define MEMSPAN_SHMEM_OVERLOAD_AMO_COMPARE(NAME, TYPE, OP)                                         \
    MEMSPAN_SHMEM_OVERLOAD(TYPE, atomic_##OP, NAME##_atomic_##OP,                                  \
                           (TYPE * dest, TYPE cond, TYPE value, int pe), dest, cond, value, pe)    \
    MEMSPAN_SHMEM_OVERLOAD(TYPE, atomic_##OP, ctx_##NAME##_atomic_##OP,                            \
                           (shmem_ctx_t ctx, TYPE * dest, TYPE cond, TYPE value, int pe), ctx,     \
                           dest, cond, value, pe)
#define MEMSPAN_SHMEM_OVERLOAD_AMO_INC(NAME, TYPE, OP)                                             \
    MEMSPAN_SHMEM_OVERLOAD(void, atomic_##OP, NAME##_atomic_##OP, (TYPE * dest, int pe), dest, pe) \
    MEMSPAN_SHMEM_OVERLOAD(void, atomic_##OP, ctx_##NAME##_atomic_##OP,                            \
                           (shmem_ctx_t ctx, TYPE * dest, int pe), ctx, dest, pe)
#define MEMSPAN_SHMEM_OVERLOAD_AMO_FETCH_INC(NAME, TYPE, OP)                                       \
    MEMSPAN_SHMEM_OVERLOAD(TYPE, atomic_##OP, NAME##_atomic_##OP, (TYPE * dest, int pe), dest, pe) \
    MEMSPAN_SHMEM_OVERLOAD(TYPE, atomic_##OP, ctx_##NAME##_atomic_##OP,                            \
                           (shmem_ctx_t ctx, TYPE * dest, int pe), ctx, dest, pe)
#define MEMSPAN_SHMEM_OVERLOAD_AMO_FETCH_NBI(NAME, TYPE, OP)                                       \
    MEMSPAN_SHMEM_OVERLOAD(void, atomic_##OP, NAME##_atomic_##OP,                                  \
                           (TYPE * fetch, const TYPE *source, int pe), fetch, source, pe)          \
    MEMSPAN_SHMEM_OVERLOAD(void, atomic_##OP, ctx_##NAME##_atomic_##OP,                            \
                           (shmem_ctx_t ctx, TYPE * fetch, const TYPE *source, int pe), ctx,       \
                           fetch, source, pe)
#define MEMSPAN_SHMEM_OVERLOAD_AMO_SWAP_NBI(NAME, TYPE, OP)                                        \
    MEMSPAN_SHMEM_OVERLOAD(void, atomic_##OP, NAME##_atomic_##OP,                                  \
                           (TYPE * fetch, TYPE * dest, TYPE value, int pe), fetch, dest, value,    \
                           pe)                                                                     \
    MEMSPAN_SHMEM_OVERLOAD(void, atomic_##OP, ctx_##NAME##_atomic_##OP,                            \
                           (shmem_ctx_t ctx, TYPE * fetch, TYPE * dest, TYPE value, int pe), ctx,  \
                           fetch, dest, value, pe)
#define MEMSPAN_SHMEM_OVERLOAD_AMO_COMPARE_NBI(NAME, TYPE, OP)                                     \
    MEMSPAN_SHMEM_OVERLOAD(void, atomic_##OP, NAME##_atomic_##OP,                                  \
                           (TYPE * fetch, TYPE * dest, TYPE cond, TYPE value, int pe), fetch,      \
                           dest, cond, value, pe)                                                  \
    MEMSPAN_SHMEM_OVERLOAD(                                                                        \
        void, atomic_##OP, ctx_##NAME##_atomic_##OP,                                               \
        (shmem_ctx_t ctx, TYPE * fetch, TYPE * dest, TYPE cond, TYPE value, int pe), ctx, fetch,   \
        dest, cond, value, pe)
#define MEMSPAN_SHMEM_OVERLOAD_AMO_INC_NBI(NAME, TYPE, OP)                                         \
    MEMSPAN_SHMEM_OVERLOAD(void, atomic_##OP, NAME##_atomic_##OP,                                  \
                           (TYPE * fetch, TYPE * dest, int pe), fetch, dest, pe)                   \
    MEMSPAN_SHMEM_OVERLOAD(void, atomic_##OP, ctx_##NAME##_atomic_##OP,                            \
                           (shmem_ctx_t ctx, TYPE * fetch, TYPE * dest, int pe), ctx, fetch, dest, \
                           pe)
#define MEMSPAN_SHMEM_OVERLOAD_BROADCAST(NAME, TYPE, OP)                                           \
    MEMSPAN_SHMEM_OVERLOAD(                                                                        \
        int, OP, NAME##_##OP,                                                                      \
        (shmem_team_t team, TYPE * dest, const TYPE *source, size_t nelems, int PE_root), team,    \
        dest, source, nelems, PE_root)
#define MEMSPAN_SHMEM_OVERLOAD_COLLECTIVE(NAME, TYPE, OP)                                          \
    MEMSPAN_SHMEM_OVERLOAD(int, OP, NAME##_##OP,                                                   \
                           (shmem_team_t team, TYPE * dest, const TYPE *source, size_t nelems),    \
                           team, dest, source, nelems)
#define MEMSPAN_SHMEM_OVERLOAD_ALLTOALLS(NAME, TYPE, OP)                                           \
    MEMSPAN_SHMEM_OVERLOAD(int, OP, NAME##_##OP,                                                   \
                           (shmem_team_t team, TYPE * dest, const TYPE *source, ptrdiff_t dst,     \
                            ptrdiff_t sst, size_t nelems),                                         \
                           team, dest, source, dst, sst, nelems)
/* The words may be volatile, as with the C11 macros: programs of the time of 1.3. */
#define MEMSPAN_SHMEM_OVERLOAD_VALUE(RESULT, NAME, TYPE, OP)                                       \
    MEMSPAN_SHMEM_OVERLOAD(RESULT, OP, NAME##_##OP, (TYPE * ivar, int cmp, TYPE cmp_value), ivar,  \
                           cmp, cmp_value)                                                         \
    MEMSPAN_SHMEM_OVERLOAD_VOLATILE(RESULT, NAME, TYPE, OP)
#define MEMSPAN_SHMEM_OVERLOAD_VOLATILE(RESULT, NAME, TYPE, OP)                                    \
    MEMSPAN_SHMEM_OVERLOAD(RESULT, OP, NAME##_##OP,                                                \
                           (volatile TYPE * ivar, int cmp, TYPE cmp_value),                        \
                           const_cast<TYPE *>(ivar), cmp, cmp_value)
#define MEMSPAN_SHMEM_OVERLOAD_WAIT(NAME, TYPE, OP)                                                \
    MEMSPAN_SHMEM_OVERLOAD_VALUE(void, NAME, TYPE, OP)
#define MEMSPAN_SHMEM_OVERLOAD_TEST(NAME, TYPE, OP)                                                \
    MEMSPAN_SHMEM_OVERLOAD_VALUE(int, NAME, TYPE, OP)
#define MEMSPAN_SHMEM_OVERLOAD_MULTIPLE_OF(RESULT, NAME, WORDS, TYPE, OP)                          \
    MEMSPAN_SHMEM_OVERLOAD(                                                                        \
        RESULT, OP, NAME##_##OP,                                                                   \
        (WORDS * ivars, size_t nelems, const int *status, int cmp, TYPE cmp_value),                \
        const_cast<TYPE *>(ivars), nelems, status, cmp, cmp_value)                                 \
    MEMSPAN_SHMEM_OVERLOAD(                                                                        \
        RESULT, OP##_vector, NAME##_##OP##_vector,                                                 \
        (WORDS * ivars, size_t nelems, const int *status, int cmp, const TYPE *cmp_values),        \
        const_cast<TYPE *>(ivars), nelems, status, cmp, cmp_values)
#define MEMSPAN_SHMEM_OVERLOAD_MULTIPLE(RESULT, NAME, TYPE, OP)                                    \
    MEMSPAN_SHMEM_OVERLOAD_MULTIPLE_OF(RESULT, NAME, TYPE, TYPE, OP)                               \
    MEMSPAN_SHMEM_OVERLOAD_MULTIPLE_OF(RESULT, NAME, volatile TYPE, TYPE, OP)
#define MEMSPAN_SHMEM_OVERLOAD_WAIT_ALL(NAME, TYPE, OP)                                            \
    MEMSPAN_SHMEM_OVERLOAD_MULTIPLE(void, NAME, TYPE, OP)
#define MEMSPAN_SHMEM_OVERLOAD_TEST_ALL(NAME, TYPE, OP)                                            \
    MEMSPAN_SHMEM_OVERLOAD_MULTIPLE(int, NAME, TYPE, OP)
#define MEMSPAN_SHMEM_OVERLOAD_ANY(NAME, TYPE, OP)                                                 \
    MEMSPAN_SHMEM_OVERLOAD_MULTIPLE(size_t, NAME, TYPE, OP)
#define MEMSPAN_SHMEM_OVERLOAD_SOME_OF(NAME, WORDS, TYPE, OP)                                      \
    MEMSPAN_SHMEM_OVERLOAD(size_t, OP, NAME##_##OP,                                                \
                           (WORDS * ivars, size_t nelems, size_t * indices, const int *status,     \
                            int cmp, TYPE cmp_value),                                              \
                           const_cast<TYPE *>(ivars), nelems, indices, status, cmp, cmp_value)     \
    MEMSPAN_SHMEM_OVERLOAD(size_t, OP##_vector, NAME##_##OP##_vector,                              \
                           (WORDS * ivars, size_t nelems, size_t * indices, const int *status,     \
                            int cmp, const TYPE *cmp_values),                                      \
                           const_cast<TYPE *>(ivars), nelems, indices, status, cmp, cmp_values)
#define MEMSPAN_SHMEM_OVERLOAD_SOME(NAME, TYPE, OP)                                                \
    MEMSPAN_SHMEM_OVERLOAD_SOME_OF(NAME, TYPE, TYPE, OP)                                           \
    MEMSPAN_SHMEM_OVERLOAD_SOME_OF(NAME, volatile TYPE, TYPE, OP)

MEMSPAN_SHMEM_RMA_BASE(MEMSPAN_SHMEM_OVERLOAD_COPY, put)
MEMSPAN_SHMEM_RMA_BASE(MEMSPAN_SHMEM_OVERLOAD_COPY, get)
MEMSPAN_SHMEM_RMA_BASE(MEMSPAN_SHMEM_OVERLOAD_COPY, put_nbi)
MEMSPAN_SHMEM_RMA_BASE(MEMSPAN_SHMEM_OVERLOAD_COPY, get_nbi)
MEMSPAN_SHMEM_RMA_BASE(MEMSPAN_SHMEM_OVERLOAD_STRIDED, iput)
MEMSPAN_SHMEM_RMA_BASE(MEMSPAN_SHMEM_OVERLOAD_STRIDED, iget)
MEMSPAN_SHMEM_RMA_BASE(MEMSPAN_SHMEM_OVERLOAD_BLOCKS, ibput)
MEMSPAN_SHMEM_RMA_BASE(MEMSPAN_SHMEM_OVERLOAD_BLOCKS, ibget)
MEMSPAN_SHMEM_RMA_BASE(MEMSPAN_SHMEM_OVERLOAD_P, p)
MEMSPAN_SHMEM_RMA_BASE(MEMSPAN_SHMEM_OVERLOAD_G, g)
MEMSPAN_SHMEM_RMA_BASE(MEMSPAN_SHMEM_OVERLOAD_PUT_SIGNAL, put_signal)
MEMSPAN_SHMEM_RMA_BASE(MEMSPAN_SHMEM_OVERLOAD_PUT_SIGNAL, put_signal_nbi)

MEMSPAN_SHMEM_AMO_EXTENDED_BASE(MEMSPAN_SHMEM_OVERLOAD_AMO_FETCH, fetch)
MEMSPAN_SHMEM_AMO_EXTENDED_BASE(MEMSPAN_SHMEM_OVERLOAD_AMO_UPDATE, set)
MEMSPAN_SHMEM_AMO_EXTENDED_BASE(MEMSPAN_SHMEM_OVERLOAD_AMO_SWAP, swap)
MEMSPAN_SHMEM_AMO_BASE(MEMSPAN_SHMEM_OVERLOAD_AMO_COMPARE, compare_swap)
MEMSPAN_SHMEM_AMO_BASE(MEMSPAN_SHMEM_OVERLOAD_AMO_FETCH_INC, fetch_inc)
MEMSPAN_SHMEM_AMO_BASE(MEMSPAN_SHMEM_OVERLOAD_AMO_INC, inc)
MEMSPAN_SHMEM_AMO_BASE(MEMSPAN_SHMEM_OVERLOAD_AMO_SWAP, fetch_add)
MEMSPAN_SHMEM_AMO_BASE(MEMSPAN_SHMEM_OVERLOAD_AMO_UPDATE, add)
MEMSPAN_SHMEM_AMO_BITS_BASE(MEMSPAN_SHMEM_OVERLOAD_AMO_SWAP, fetch_and)
MEMSPAN_SHMEM_AMO_BITS_BASE(MEMSPAN_SHMEM_OVERLOAD_AMO_SWAP, fetch_or)
MEMSPAN_SHMEM_AMO_BITS_BASE(MEMSPAN_SHMEM_OVERLOAD_AMO_SWAP, fetch_xor)
MEMSPAN_SHMEM_AMO_BITS_BASE(MEMSPAN_SHMEM_OVERLOAD_AMO_UPDATE, and)
MEMSPAN_SHMEM_AMO_BITS_BASE(MEMSPAN_SHMEM_OVERLOAD_AMO_UPDATE, or)
MEMSPAN_SHMEM_AMO_BITS_BASE(MEMSPAN_SHMEM_OVERLOAD_AMO_UPDATE, xor)
MEMSPAN_SHMEM_AMO_EXTENDED_BASE(MEMSPAN_SHMEM_OVERLOAD_AMO_FETCH_NBI, fetch_nbi)
MEMSPAN_SHMEM_AMO_EXTENDED_BASE(MEMSPAN_SHMEM_OVERLOAD_AMO_SWAP_NBI, swap_nbi)
MEMSPAN_SHMEM_AMO_BASE(MEMSPAN_SHMEM_OVERLOAD_AMO_COMPARE_NBI, compare_swap_nbi)
MEMSPAN_SHMEM_AMO_BASE(MEMSPAN_SHMEM_OVERLOAD_AMO_INC_NBI, fetch_inc_nbi)
MEMSPAN_SHMEM_AMO_BASE(MEMSPAN_SHMEM_OVERLOAD_AMO_SWAP_NBI, fetch_add_nbi)
MEMSPAN_SHMEM_AMO_BITS_BASE(MEMSPAN_SHMEM_OVERLOAD_AMO_SWAP_NBI, fetch_and_nbi)
MEMSPAN_SHMEM_AMO_BITS_BASE(MEMSPAN_SHMEM_OVERLOAD_AMO_SWAP_NBI, fetch_or_nbi)
MEMSPAN_SHMEM_AMO_BITS_BASE(MEMSPAN_SHMEM_OVERLOAD_AMO_SWAP_NBI, fetch_xor_nbi)

MEMSPAN_SHMEM_RMA_BASE(MEMSPAN_SHMEM_OVERLOAD_BROADCAST, broadcast)
MEMSPAN_SHMEM_RMA_BASE(MEMSPAN_SHMEM_OVERLOAD_COLLECTIVE, collect)
MEMSPAN_SHMEM_RMA_BASE(MEMSPAN_SHMEM_OVERLOAD_COLLECTIVE, fcollect)
MEMSPAN_SHMEM_RMA_BASE(MEMSPAN_SHMEM_OVERLOAD_COLLECTIVE, alltoall)
MEMSPAN_SHMEM_RMA_BASE(MEMSPAN_SHMEM_OVERLOAD_ALLTOALLS, alltoalls)
MEMSPAN_SHMEM_REDUCE_BITS_BASE(MEMSPAN_SHMEM_OVERLOAD_COLLECTIVE, and_reduce)
MEMSPAN_SHMEM_REDUCE_BITS_BASE(MEMSPAN_SHMEM_OVERLOAD_COLLECTIVE, or_reduce)
MEMSPAN_SHMEM_REDUCE_BITS_BASE(MEMSPAN_SHMEM_OVERLOAD_COLLECTIVE, xor_reduce)
MEMSPAN_SHMEM_RMA_BASE(MEMSPAN_SHMEM_OVERLOAD_COLLECTIVE, max_reduce)
MEMSPAN_SHMEM_RMA_BASE(MEMSPAN_SHMEM_OVERLOAD_COLLECTIVE, min_reduce)
MEMSPAN_SHMEM_REDUCE_SUM_BASE(MEMSPAN_SHMEM_OVERLOAD_COLLECTIVE, sum_reduce)
MEMSPAN_SHMEM_REDUCE_SUM_BASE(MEMSPAN_SHMEM_OVERLOAD_COLLECTIVE, prod_reduce)
MEMSPAN_SHMEM_REDUCE_SUM_BASE(MEMSPAN_SHMEM_OVERLOAD_COLLECTIVE, sum_inscan)
MEMSPAN_SHMEM_REDUCE_SUM_BASE(MEMSPAN_SHMEM_OVERLOAD_COLLECTIVE, sum_exscan)

/* Of long, the routine itself has that name. */
MEMSPAN_SHMEM_OVERLOAD_VOLATILE(void, long, long, wait_until)
MEMSPAN_SHMEM_OLD_WAIT_TYPES(MEMSPAN_SHMEM_OVERLOAD_WAIT, wait_until)
MEMSPAN_SHMEM_OVERLOAD_WAIT(int, int, wait_until)
MEMSPAN_SHMEM_OVERLOAD_WAIT(longlong, long long, wait_until)
MEMSPAN_SHMEM_OVERLOAD_WAIT(uint, unsigned int, wait_until)
MEMSPAN_SHMEM_OVERLOAD_WAIT(ulong, unsigned long, wait_until)
MEMSPAN_SHMEM_OVERLOAD_WAIT(ulonglong, unsigned long long, wait_until)
MEMSPAN_SHMEM_WAIT_BASE(MEMSPAN_SHMEM_OVERLOAD_TEST, test)
MEMSPAN_SHMEM_WAIT_BASE(MEMSPAN_SHMEM_OVERLOAD_WAIT_ALL, wait_until_all)
MEMSPAN_SHMEM_WAIT_BASE(MEMSPAN_SHMEM_OVERLOAD_ANY, wait_until_any)
MEMSPAN_SHMEM_WAIT_BASE(MEMSPAN_SHMEM_OVERLOAD_SOME, wait_until_some)
MEMSPAN_SHMEM_WAIT_BASE(MEMSPAN_SHMEM_OVERLOAD_TEST_ALL, test_all)
MEMSPAN_SHMEM_WAIT_BASE(MEMSPAN_SHMEM_OVERLOAD_ANY, test_any)
MEMSPAN_SHMEM_WAIT_BASE(MEMSPAN_SHMEM_OVERLOAD_SOME, test_some)

MEMSPAN_SHMEM_OVERLOAD(int, sync, team_sync, (shmem_team_t team), team)
MEMSPAN_SHMEM_OVERLOAD(void, signal_add, ctx_signal_add,
                       (shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe), ctx,
                       sig_addr, signal, pe)
MEMSPAN_SHMEM_OVERLOAD(void, signal_set, ctx_signal_set,
                       (shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe), ctx,
                       sig_addr, signal, pe)

} /* extern "C++" */

#endif /* MEMSPAN_SHMEM_OVERLOAD_HPP */
