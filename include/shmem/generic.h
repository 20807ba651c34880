/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_GENERIC_H
#define MEMSPAN_SHMEM_GENERIC_H

#include <shmem/types.h>

/** @file generic.h
 * One name for all types, in C11: shmem_put(dest, source, nelems, pe) is shmem_int_put(...) when
 * dest is an int *, and shmem_put(ctx, dest, ...) is shmem_ctx_int_put(ctx, dest, ...).
 *
 * A macro selects by the type of its first argument, or of the one after the context or team. An
 * argument of any type that the routine is not for does not compile: the error names
 * memspan_shmem_no_routine_for_that_type.
 *
 * Where a routine has the macro's name too (shmem_sync, shmem_wait_until, shmem_signal_add,
 * shmem_signal_set), &shmem_sync is its address, and (shmem_sync)(...) a call without the macro.
 *
 * Source: OpenSHMEM 1.6, the C11 synopsis of every routine. */

/* --------------------------------------------------------------------------------- selecting */

#define MEMSPAN_SHMEM_FIRST_(a, ...)     a
#define MEMSPAN_SHMEM_SECOND_(a, b, ...) b
#define MEMSPAN_SHMEM_FIRST(...)         (MEMSPAN_SHMEM_FIRST_(__VA_ARGS__, 0, 0))
#define MEMSPAN_SHMEM_SECOND(...)        (MEMSPAN_SHMEM_SECOND_(__VA_ARGS__, 0, 0))

/* Not a function: a call of it does not compile. */
#define MEMSPAN_SHMEM_NONE                                                                         \
    default:                                                                                       \
        (struct memspan_shmem_no_routine_for_that_type *)0

#define MEMSPAN_SHMEM_CASE(NAME, TYPE, OP)     TYPE * : shmem_##NAME##_##OP,
#define MEMSPAN_SHMEM_CASE_CTX(NAME, TYPE, OP) TYPE * : shmem_ctx_##NAME##_##OP,
#define MEMSPAN_SHMEM_CASE_CONST(NAME, TYPE, OP)                                                   \
    TYPE * : shmem_##NAME##_##OP, const TYPE * : shmem_##NAME##_##OP,
#define MEMSPAN_SHMEM_CASE_CTX_CONST(NAME, TYPE, OP)                                               \
    TYPE * : shmem_ctx_##NAME##_##OP, const TYPE * : shmem_ctx_##NAME##_##OP,
/* Programs of the time of 1.3 wait for volatile words. */
#define MEMSPAN_SHMEM_CASE_VOLATILE(NAME, TYPE, OP)                                                \
    TYPE * : shmem_##NAME##_##OP, volatile TYPE * : shmem_##NAME##_##OP,

/* By the argument after the context, if there is one; the same where that may be const; by the
 * first; by the first, which may be volatile; by the one after the team. LIST: one of those above.
 */
#define MEMSPAN_SHMEM_BY(LIST, CASE, CASE_CTX, OP, ...)                                            \
    _Generic(MEMSPAN_SHMEM_FIRST(__VA_ARGS__), shmem_ctx_t                                         \
             : _Generic(MEMSPAN_SHMEM_SECOND(__VA_ARGS__), LIST(CASE_CTX, OP) MEMSPAN_SHMEM_NONE), \
               LIST(CASE, OP) MEMSPAN_SHMEM_NONE)(__VA_ARGS__)
#define MEMSPAN_SHMEM_ON(LIST, OP, ...)                                                            \
    MEMSPAN_SHMEM_BY(MEMSPAN_SHMEM_##LIST##_BASE, MEMSPAN_SHMEM_CASE, MEMSPAN_SHMEM_CASE_CTX, OP,  \
                     __VA_ARGS__)
#define MEMSPAN_SHMEM_FROM(LIST, OP, ...)                                                          \
    MEMSPAN_SHMEM_BY(MEMSPAN_SHMEM_##LIST##_BASE, MEMSPAN_SHMEM_CASE_CONST,                        \
                     MEMSPAN_SHMEM_CASE_CTX_CONST, OP, __VA_ARGS__)
#define MEMSPAN_SHMEM_OLD(LIST, CASE, OP, ...)                                                     \
    _Generic(MEMSPAN_SHMEM_FIRST(__VA_ARGS__),                                                     \
             MEMSPAN_SHMEM_OLD_##LIST##_TYPES(CASE, OP) MEMSPAN_SHMEM_NONE)(__VA_ARGS__)
#define MEMSPAN_SHMEM_LOCAL(LIST, OP, ...)                                                         \
    _Generic(MEMSPAN_SHMEM_FIRST(__VA_ARGS__),                                                     \
             MEMSPAN_SHMEM_##LIST##_BASE(MEMSPAN_SHMEM_CASE_VOLATILE, OP)                          \
                 MEMSPAN_SHMEM_NONE)(__VA_ARGS__)
#define MEMSPAN_SHMEM_TEAM(LIST, OP, ...)                                                          \
    _Generic(MEMSPAN_SHMEM_SECOND(__VA_ARGS__),                                                    \
             MEMSPAN_SHMEM_##LIST##_BASE(MEMSPAN_SHMEM_CASE, OP) MEMSPAN_SHMEM_NONE)(__VA_ARGS__)
/* Where there is only the question whether the first argument is a handle. */
#define MEMSPAN_SHMEM_HANDLE(HANDLE, WITH, WITHOUT, ...)                                           \
    _Generic(MEMSPAN_SHMEM_FIRST(__VA_ARGS__), HANDLE : WITH, default : WITHOUT)(__VA_ARGS__)

/* ---------------------------------------------------------------------------------- put and get */

#define shmem_put(...)            MEMSPAN_SHMEM_ON(RMA, put, __VA_ARGS__)
#define shmem_get(...)            MEMSPAN_SHMEM_ON(RMA, get, __VA_ARGS__)
#define shmem_put_nbi(...)        MEMSPAN_SHMEM_ON(RMA, put_nbi, __VA_ARGS__)
#define shmem_get_nbi(...)        MEMSPAN_SHMEM_ON(RMA, get_nbi, __VA_ARGS__)
#define shmem_iput(...)           MEMSPAN_SHMEM_ON(RMA, iput, __VA_ARGS__)
#define shmem_iget(...)           MEMSPAN_SHMEM_ON(RMA, iget, __VA_ARGS__)
#define shmem_ibput(...)          MEMSPAN_SHMEM_ON(RMA, ibput, __VA_ARGS__)
#define shmem_ibget(...)          MEMSPAN_SHMEM_ON(RMA, ibget, __VA_ARGS__)
#define shmem_p(...)              MEMSPAN_SHMEM_ON(RMA, p, __VA_ARGS__)
#define shmem_g(...)              MEMSPAN_SHMEM_FROM(RMA, g, __VA_ARGS__)
#define shmem_put_signal(...)     MEMSPAN_SHMEM_ON(RMA, put_signal, __VA_ARGS__)
#define shmem_put_signal_nbi(...) MEMSPAN_SHMEM_ON(RMA, put_signal_nbi, __VA_ARGS__)
#define shmem_signal_add(...)                                                                      \
    MEMSPAN_SHMEM_HANDLE(shmem_ctx_t, shmem_ctx_signal_add, shmem_signal_add, __VA_ARGS__)
#define shmem_signal_set(...)                                                                      \
    MEMSPAN_SHMEM_HANDLE(shmem_ctx_t, shmem_ctx_signal_set, shmem_signal_set, __VA_ARGS__)

/* -------------------------------------------------------------------------------------- atomics */

#define shmem_atomic_fetch(...)        MEMSPAN_SHMEM_FROM(AMO_EXTENDED, atomic_fetch, __VA_ARGS__)
#define shmem_atomic_set(...)          MEMSPAN_SHMEM_ON(AMO_EXTENDED, atomic_set, __VA_ARGS__)
#define shmem_atomic_swap(...)         MEMSPAN_SHMEM_ON(AMO_EXTENDED, atomic_swap, __VA_ARGS__)
#define shmem_atomic_fetch_nbi(...)    MEMSPAN_SHMEM_ON(AMO_EXTENDED, atomic_fetch_nbi, __VA_ARGS__)
#define shmem_atomic_swap_nbi(...)     MEMSPAN_SHMEM_ON(AMO_EXTENDED, atomic_swap_nbi, __VA_ARGS__)
#define shmem_atomic_compare_swap(...) MEMSPAN_SHMEM_ON(AMO, atomic_compare_swap, __VA_ARGS__)
#define shmem_atomic_fetch_inc(...)    MEMSPAN_SHMEM_ON(AMO, atomic_fetch_inc, __VA_ARGS__)
#define shmem_atomic_inc(...)          MEMSPAN_SHMEM_ON(AMO, atomic_inc, __VA_ARGS__)
#define shmem_atomic_fetch_add(...)    MEMSPAN_SHMEM_ON(AMO, atomic_fetch_add, __VA_ARGS__)
#define shmem_atomic_add(...)          MEMSPAN_SHMEM_ON(AMO, atomic_add, __VA_ARGS__)
#define shmem_atomic_compare_swap_nbi(...)                                                         \
    MEMSPAN_SHMEM_ON(AMO, atomic_compare_swap_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_inc_nbi(...) MEMSPAN_SHMEM_ON(AMO, atomic_fetch_inc_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_add_nbi(...) MEMSPAN_SHMEM_ON(AMO, atomic_fetch_add_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_and(...)     MEMSPAN_SHMEM_ON(AMO_BITS, atomic_fetch_and, __VA_ARGS__)
#define shmem_atomic_and(...)           MEMSPAN_SHMEM_ON(AMO_BITS, atomic_and, __VA_ARGS__)
#define shmem_atomic_fetch_or(...)      MEMSPAN_SHMEM_ON(AMO_BITS, atomic_fetch_or, __VA_ARGS__)
#define shmem_atomic_or(...)            MEMSPAN_SHMEM_ON(AMO_BITS, atomic_or, __VA_ARGS__)
#define shmem_atomic_fetch_xor(...)     MEMSPAN_SHMEM_ON(AMO_BITS, atomic_fetch_xor, __VA_ARGS__)
#define shmem_atomic_xor(...)           MEMSPAN_SHMEM_ON(AMO_BITS, atomic_xor, __VA_ARGS__)
#define shmem_atomic_fetch_and_nbi(...)                                                            \
    MEMSPAN_SHMEM_ON(AMO_BITS, atomic_fetch_and_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_or_nbi(...) MEMSPAN_SHMEM_ON(AMO_BITS, atomic_fetch_or_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_xor_nbi(...)                                                            \
    MEMSPAN_SHMEM_ON(AMO_BITS, atomic_fetch_xor_nbi, __VA_ARGS__)

/* By the names before 1.4. */
#define shmem_fetch(...)                                                                           \
    MEMSPAN_SHMEM_OLD(AMO_EXTENDED, MEMSPAN_SHMEM_CASE_CONST, fetch, __VA_ARGS__)
#define shmem_set(...)   MEMSPAN_SHMEM_OLD(AMO_EXTENDED, MEMSPAN_SHMEM_CASE, set, __VA_ARGS__)
#define shmem_swap(...)  MEMSPAN_SHMEM_OLD(AMO_EXTENDED, MEMSPAN_SHMEM_CASE, swap, __VA_ARGS__)
#define shmem_cswap(...) MEMSPAN_SHMEM_OLD(AMO, MEMSPAN_SHMEM_CASE, cswap, __VA_ARGS__)
#define shmem_finc(...)  MEMSPAN_SHMEM_OLD(AMO, MEMSPAN_SHMEM_CASE, finc, __VA_ARGS__)
#define shmem_inc(...)   MEMSPAN_SHMEM_OLD(AMO, MEMSPAN_SHMEM_CASE, inc, __VA_ARGS__)
#define shmem_fadd(...)  MEMSPAN_SHMEM_OLD(AMO, MEMSPAN_SHMEM_CASE, fadd, __VA_ARGS__)
#define shmem_add(...)   MEMSPAN_SHMEM_OLD(AMO, MEMSPAN_SHMEM_CASE, add, __VA_ARGS__)

/* ------------------------------------------------------------------------- collectives of teams */

#define shmem_sync(...)        MEMSPAN_SHMEM_HANDLE(shmem_team_t, shmem_team_sync, shmem_sync, __VA_ARGS__)
#define shmem_broadcast(...)   MEMSPAN_SHMEM_TEAM(RMA, broadcast, __VA_ARGS__)
#define shmem_collect(...)     MEMSPAN_SHMEM_TEAM(RMA, collect, __VA_ARGS__)
#define shmem_fcollect(...)    MEMSPAN_SHMEM_TEAM(RMA, fcollect, __VA_ARGS__)
#define shmem_alltoall(...)    MEMSPAN_SHMEM_TEAM(RMA, alltoall, __VA_ARGS__)
#define shmem_alltoalls(...)   MEMSPAN_SHMEM_TEAM(RMA, alltoalls, __VA_ARGS__)
#define shmem_and_reduce(...)  MEMSPAN_SHMEM_TEAM(REDUCE_BITS, and_reduce, __VA_ARGS__)
#define shmem_or_reduce(...)   MEMSPAN_SHMEM_TEAM(REDUCE_BITS, or_reduce, __VA_ARGS__)
#define shmem_xor_reduce(...)  MEMSPAN_SHMEM_TEAM(REDUCE_BITS, xor_reduce, __VA_ARGS__)
#define shmem_max_reduce(...)  MEMSPAN_SHMEM_TEAM(RMA, max_reduce, __VA_ARGS__)
#define shmem_min_reduce(...)  MEMSPAN_SHMEM_TEAM(RMA, min_reduce, __VA_ARGS__)
#define shmem_sum_reduce(...)  MEMSPAN_SHMEM_TEAM(REDUCE_SUM, sum_reduce, __VA_ARGS__)
#define shmem_prod_reduce(...) MEMSPAN_SHMEM_TEAM(REDUCE_SUM, prod_reduce, __VA_ARGS__)
#define shmem_sum_inscan(...)  MEMSPAN_SHMEM_TEAM(REDUCE_SUM, sum_inscan, __VA_ARGS__)
#define shmem_sum_exscan(...)  MEMSPAN_SHMEM_TEAM(REDUCE_SUM, sum_exscan, __VA_ARGS__)

/* ------------------------------------------------------------------------------ waits and tests */

#define shmem_wait_until(...)     MEMSPAN_SHMEM_LOCAL(WAIT, wait_until, __VA_ARGS__)
#define shmem_test(...)           MEMSPAN_SHMEM_LOCAL(WAIT, test, __VA_ARGS__)
#define shmem_wait_until_all(...) MEMSPAN_SHMEM_LOCAL(WAIT, wait_until_all, __VA_ARGS__)
#define shmem_wait_until_all_vector(...)                                                           \
    MEMSPAN_SHMEM_LOCAL(WAIT, wait_until_all_vector, __VA_ARGS__)
#define shmem_wait_until_any(...) MEMSPAN_SHMEM_LOCAL(WAIT, wait_until_any, __VA_ARGS__)
#define shmem_wait_until_any_vector(...)                                                           \
    MEMSPAN_SHMEM_LOCAL(WAIT, wait_until_any_vector, __VA_ARGS__)
#define shmem_wait_until_some(...) MEMSPAN_SHMEM_LOCAL(WAIT, wait_until_some, __VA_ARGS__)
#define shmem_wait_until_some_vector(...)                                                          \
    MEMSPAN_SHMEM_LOCAL(WAIT, wait_until_some_vector, __VA_ARGS__)
#define shmem_test_all(...)         MEMSPAN_SHMEM_LOCAL(WAIT, test_all, __VA_ARGS__)
#define shmem_test_all_vector(...)  MEMSPAN_SHMEM_LOCAL(WAIT, test_all_vector, __VA_ARGS__)
#define shmem_test_any(...)         MEMSPAN_SHMEM_LOCAL(WAIT, test_any, __VA_ARGS__)
#define shmem_test_any_vector(...)  MEMSPAN_SHMEM_LOCAL(WAIT, test_any_vector, __VA_ARGS__)
#define shmem_test_some(...)        MEMSPAN_SHMEM_LOCAL(WAIT, test_some, __VA_ARGS__)
#define shmem_test_some_vector(...) MEMSPAN_SHMEM_LOCAL(WAIT, test_some_vector, __VA_ARGS__)

#endif /* MEMSPAN_SHMEM_GENERIC_H */
