/* SPDX-License-Identifier: BSD-3-Clause */
/* generics.c: every name without a type, as a macro of C11 and as an overload of C++, calls the
 * routine of its argument's type, with the context where one is given. The routines here are this
 * program's own: they note who was called. */

#include <shmem.h>
#include <stdio.h>
#include <string.h>

static const char *called = "nothing";
static int wrong;

static void expect(const char *want)
{
#ifdef __cplusplus
    /* Of long, the routine itself has that name. */
    if (strcmp(want, "shmem_long_wait_until") == 0) {
        want = "shmem_wait_until";
    }
#endif
    if (strcmp(called, want) != 0) {
        printf("%s was called, not %s\n", called, want);
        wrong++;
    }
    called = "nothing";
}

/* Every C type once, by what it is called in names; written out here, because a macro of the header
 * cannot be used inside itself. */
#define AMO_BITS_TYPES(X, A)                                                                       \
    X(uint, unsigned int, A)                                                                       \
    X(ulong, unsigned long, A)                                                                     \
    X(ulonglong, unsigned long long, A)                                                            \
    X(int32, int, A)                                                                               \
    X(int64, long, A)
#define AMO_TYPES(X, A)                                                                            \
    X(int, int, A)                                                                                 \
    X(long, long, A)                                                                               \
    X(longlong, long long, A)                                                                      \
    X(uint, unsigned int, A)                                                                       \
    X(ulong, unsigned long, A)                                                                     \
    X(ulonglong, unsigned long long, A)
#define AMO_EXTENDED_TYPES(X, A) X(float, float, A) X(double, double, A) AMO_TYPES(X, A)
#define WAIT_TYPES(X, A)         X(short, short, A) X(ushort, unsigned short, A) AMO_TYPES(X, A)
#define REDUCE_BITS_TYPES(X, A)                                                                    \
    X(uchar, unsigned char, A)                                                                     \
    X(ushort, unsigned short, A)                                                                   \
    X(int8, signed char, A)                                                                        \
    X(int16, short, A)                                                                             \
    AMO_BITS_TYPES(X, A)
#define RMA_TYPES(X, A)                                                                            \
    X(longdouble, long double, A)                                                                  \
    X(char, char, A)                                                                               \
    X(schar, signed char, A)                                                                       \
    X(short, short, A)                                                                             \
    X(uchar, unsigned char, A)                                                                     \
    X(ushort, unsigned short, A)                                                                   \
    AMO_EXTENDED_TYPES(X, A)
#define REDUCE_SUM_TYPES(X, A)                                                                     \
    X(complexd, memspan_shmem_complexd, A)                                                         \
    X(complexf, memspan_shmem_complexf, A)                                                         \
    RMA_TYPES(X, A)

/* ---- the routines, each noting its name ---- */

#pragma GCC diagnostic ignored "-Wunused-parameter"

#ifdef __cplusplus
#define EXTERN extern "C"
#else
#define EXTERN
#endif
#define NOTE(RESULT, NAME, VALUE, ...)                                                             \
    EXTERN RESULT(NAME)(__VA_ARGS__)                                                               \
    {                                                                                              \
        called = #NAME;                                                                            \
        return VALUE;                                                                              \
    }
#define NOTE_TWINS(RESULT, NAME, VALUE, ...)                                                       \
    NOTE(RESULT, shmem_##NAME, VALUE, __VA_ARGS__)                                                 \
    NOTE(RESULT, shmem_ctx_##NAME, VALUE, shmem_ctx_t context, __VA_ARGS__)

#define COPY(NAME, TYPE, OP)                                                                       \
    NOTE_TWINS(void, NAME##_##OP, , TYPE *a, const TYPE *b, size_t c, int d)
#define STRIDED(NAME, TYPE, OP)                                                                    \
    NOTE_TWINS(void, NAME##_##OP, , TYPE *a, const TYPE *b, ptrdiff_t c, ptrdiff_t d, size_t e,    \
               int f)
#define BLOCKS(NAME, TYPE, OP)                                                                     \
    NOTE_TWINS(void, NAME##_##OP, , TYPE *a, const TYPE *b, ptrdiff_t c, ptrdiff_t d, size_t e,    \
               size_t f, int g)
#define P(NAME, TYPE, OP) NOTE_TWINS(void, NAME##_##OP, , TYPE *a, TYPE b, int c)
#define G(NAME, TYPE, OP) NOTE_TWINS(TYPE, NAME##_##OP, (TYPE)0, const TYPE *a, int b)
#define SIGNAL(NAME, TYPE, OP)                                                                     \
    NOTE_TWINS(void, NAME##_##OP, , TYPE *a, const TYPE *b, size_t c, uint64_t *d, uint64_t e,     \
               int f, int g)
#define SWAP(NAME, TYPE, OP) NOTE_TWINS(TYPE, NAME##_##OP, (TYPE)0, TYPE *a, TYPE b, int c)
#define COMPARE(NAME, TYPE, OP)                                                                    \
    NOTE_TWINS(TYPE, NAME##_##OP, (TYPE)0, TYPE *a, TYPE b, TYPE c, int d)
#define INC(NAME, TYPE, OP)     NOTE_TWINS(void, NAME##_##OP, , TYPE *a, int b)
#define FINC(NAME, TYPE, OP)    NOTE_TWINS(TYPE, NAME##_##OP, (TYPE)0, TYPE *a, int b)
#define FETCH_N(NAME, TYPE, OP) NOTE_TWINS(void, NAME##_##OP, , TYPE *a, const TYPE *b, int c)
#define SWAP_N(NAME, TYPE, OP)  NOTE_TWINS(void, NAME##_##OP, , TYPE *a, TYPE *b, TYPE c, int d)
#define COMPARE_N(NAME, TYPE, OP)                                                                  \
    NOTE_TWINS(void, NAME##_##OP, , TYPE *a, TYPE *b, TYPE c, TYPE d, int e)
#define INC_N(NAME, TYPE, OP) NOTE_TWINS(void, NAME##_##OP, , TYPE *a, TYPE *b, int c)
#define BROADCAST(NAME, TYPE, OP)                                                                  \
    NOTE(int, shmem_##NAME##_##OP, 0, shmem_team_t a, TYPE *b, const TYPE *c, size_t d, int e)
#define TEAM(NAME, TYPE, OP)                                                                       \
    NOTE(int, shmem_##NAME##_##OP, 0, shmem_team_t a, TYPE *b, const TYPE *c, size_t d)
#define ALLTOALLS(NAME, TYPE, OP)                                                                  \
    NOTE(int, shmem_##NAME##_##OP, 0, shmem_team_t a, TYPE *b, const TYPE *c, ptrdiff_t d,         \
         ptrdiff_t e, size_t f)
#define WAIT(NAME, TYPE, OP) NOTE(void, shmem_##NAME##_##OP, , TYPE *a, int b, TYPE c)
#define TEST(NAME, TYPE, OP) NOTE(int, shmem_##NAME##_##OP, 0, TYPE *a, int b, TYPE c)
#define MANY(RESULT, NAME, TYPE, OP, VALUE)                                                        \
    NOTE(RESULT, shmem_##NAME##_##OP, VALUE, TYPE *a, size_t b, const int *c, int d, TYPE e)       \
    NOTE(RESULT, shmem_##NAME##_##OP##_vector, VALUE, TYPE *a, size_t b, const int *c, int d,      \
         const TYPE *e)
#define WAIT_ALL(NAME, TYPE, OP) MANY(void, NAME, TYPE, OP, )
#define TEST_ALL(NAME, TYPE, OP) MANY(int, NAME, TYPE, OP, 0)
#define ANY(NAME, TYPE, OP)      MANY(size_t, NAME, TYPE, OP, 0)
#define SOME(NAME, TYPE, OP)                                                                       \
    NOTE(size_t, shmem_##NAME##_##OP, 0, TYPE *a, size_t b, size_t *c, const int *d, int e,        \
         TYPE f)                                                                                   \
    NOTE(size_t, shmem_##NAME##_##OP##_vector, 0, TYPE *a, size_t b, size_t *c, const int *d,      \
         int e, const TYPE *f)

/* X(list of types, shape, operation): everything that has a name without a type. */
#define RMA(X)                                                                                     \
    X(RMA, COPY, put)                                                                              \
    X(RMA, COPY, get)                                                                              \
    X(RMA, COPY, put_nbi)                                                                          \
    X(RMA, COPY, get_nbi)                                                                          \
    X(RMA, STRIDED, iput)                                                                          \
    X(RMA, STRIDED, iget)                                                                          \
    X(RMA, BLOCKS, ibput)                                                                          \
    X(RMA, BLOCKS, ibget)                                                                          \
    X(RMA, P, p)                                                                                   \
    X(RMA, G, g)                                                                                   \
    X(RMA, SIGNAL, put_signal)                                                                     \
    X(RMA, SIGNAL, put_signal_nbi)
#define AMO(X)                                                                                     \
    X(AMO_EXTENDED, G, atomic_fetch)                                                               \
    X(AMO_EXTENDED, P, atomic_set)                                                                 \
    X(AMO_EXTENDED, SWAP, atomic_swap)                                                             \
    X(AMO, COMPARE, atomic_compare_swap)                                                           \
    X(AMO, FINC, atomic_fetch_inc)                                                                 \
    X(AMO, INC, atomic_inc)                                                                        \
    X(AMO, SWAP, atomic_fetch_add)                                                                 \
    X(AMO, P, atomic_add)                                                                          \
    X(AMO_BITS, SWAP, atomic_fetch_and)                                                            \
    X(AMO_BITS, P, atomic_and)                                                                     \
    X(AMO_BITS, SWAP, atomic_fetch_or)                                                             \
    X(AMO_BITS, P, atomic_or)                                                                      \
    X(AMO_BITS, SWAP, atomic_fetch_xor)                                                            \
    X(AMO_BITS, P, atomic_xor)                                                                     \
    X(AMO_EXTENDED, FETCH_N, atomic_fetch_nbi)                                                     \
    X(AMO_EXTENDED, SWAP_N, atomic_swap_nbi)                                                       \
    X(AMO, COMPARE_N, atomic_compare_swap_nbi)                                                     \
    X(AMO, INC_N, atomic_fetch_inc_nbi)                                                            \
    X(AMO, SWAP_N, atomic_fetch_add_nbi)                                                           \
    X(AMO_BITS, SWAP_N, atomic_fetch_and_nbi)                                                      \
    X(AMO_BITS, SWAP_N, atomic_fetch_or_nbi)                                                       \
    X(AMO_BITS, SWAP_N, atomic_fetch_xor_nbi)
#define COLLECTIVE(X)                                                                              \
    X(RMA, BROADCAST, broadcast)                                                                   \
    X(RMA, TEAM, collect)                                                                          \
    X(RMA, TEAM, fcollect)                                                                         \
    X(RMA, TEAM, alltoall)                                                                         \
    X(RMA, ALLTOALLS, alltoalls)                                                                   \
    X(REDUCE_BITS, TEAM, and_reduce)                                                               \
    X(REDUCE_BITS, TEAM, or_reduce)                                                                \
    X(REDUCE_BITS, TEAM, xor_reduce)                                                               \
    X(RMA, TEAM, max_reduce)                                                                       \
    X(RMA, TEAM, min_reduce)                                                                       \
    X(REDUCE_SUM, TEAM, sum_reduce)                                                                \
    X(REDUCE_SUM, TEAM, prod_reduce)                                                               \
    X(REDUCE_SUM, TEAM, sum_inscan)                                                                \
    X(REDUCE_SUM, TEAM, sum_exscan)
#define LOCAL(X)                                                                                   \
    X(WAIT, WAIT, wait_until)                                                                      \
    X(WAIT, TEST, test)                                                                            \
    X(WAIT, WAIT_ALL, wait_until_all)                                                              \
    X(WAIT, ANY, wait_until_any)                                                                   \
    X(WAIT, SOME, wait_until_some)                                                                 \
    X(WAIT, TEST_ALL, test_all)                                                                    \
    X(WAIT, ANY, test_any)                                                                         \
    X(WAIT, SOME, test_some)
#define DEFINE(LIST, SHAPE, OP) LIST##_TYPES(SHAPE, OP)
RMA(DEFINE)
AMO(DEFINE)
COLLECTIVE(DEFINE)
LOCAL(DEFINE)

/* By the names before 1.4, which C++ has not. */
#ifndef __cplusplus
#define OLD_TYPES(X, A)          X(int, int, A) X(long, long, A) X(longlong, long long, A)
#define OLD_EXTENDED_TYPES(X, A) X(float, float, A) X(double, double, A) OLD_TYPES(X, A)
#define OLD_G(NAME, TYPE, OP)    NOTE(TYPE, shmem_##NAME##_##OP, 0, const TYPE *a, int b)
#define OLD_P(NAME, TYPE, OP)    NOTE(void, shmem_##NAME##_##OP, , TYPE *a, TYPE b, int c)
#define OLD_SWAP(NAME, TYPE, OP) NOTE(TYPE, shmem_##NAME##_##OP, 0, TYPE *a, TYPE b, int c)
#define OLD_COMPARE(NAME, TYPE, OP)                                                                \
    NOTE(TYPE, shmem_##NAME##_##OP, 0, TYPE *a, TYPE b, TYPE c, int d)
#define OLD_INC(NAME, TYPE, OP)  NOTE(void, shmem_##NAME##_##OP, , TYPE *a, int b)
#define OLD_FINC(NAME, TYPE, OP) NOTE(TYPE, shmem_##NAME##_##OP, 0, TYPE *a, int b)
#define OLD(X)                                                                                     \
    X(OLD_EXTENDED, OLD_G, fetch)                                                                  \
    X(OLD_EXTENDED, OLD_P, set)                                                                    \
    X(OLD_EXTENDED, OLD_SWAP, swap)                                                                \
    X(OLD, OLD_COMPARE, cswap)                                                                     \
    X(OLD, OLD_FINC, finc)                                                                         \
    X(OLD, OLD_INC, inc)                                                                           \
    X(OLD, OLD_SWAP, fadd)                                                                         \
    X(OLD, OLD_P, add)
OLD(DEFINE)
#endif

NOTE_TWINS(void, signal_add, , uint64_t *a, uint64_t b, int c)
NOTE_TWINS(void, signal_set, , uint64_t *a, uint64_t b, int c)
NOTE(void, shmem_sync, , int a, int b, int c, long *d)
NOTE(int, shmem_team_sync, 0, shmem_team_t a)
#ifdef __cplusplus
NOTE(void, shmem_wait_until, , long *a, int b, long c)
#endif

/* ---- the calls ---- */

static const shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;
static uint64_t sig;
static size_t places[1];

#define CALL(OP, NAME, ...)                                                                        \
    shmem_##OP(__VA_ARGS__);                                                                       \
    expect("shmem_" NAME "_" #OP);
#define CALL_TWINS(OP, NAME, ...)                                                                  \
    CALL(OP, NAME, __VA_ARGS__)                                                                    \
    shmem_##OP(ctx, __VA_ARGS__);                                                                  \
    expect("shmem_ctx_" NAME "_" #OP);

#define CALL_COPY(OP, NAME, x)    CALL_TWINS(OP, NAME, &x, &x, 1, 0)
#define CALL_STRIDED(OP, NAME, x) CALL_TWINS(OP, NAME, &x, &x, 1, 1, 1, 0)
#define CALL_BLOCKS(OP, NAME, x)  CALL_TWINS(OP, NAME, &x, &x, 1, 1, 1, 1, 0)
#define CALL_P(OP, NAME, x)       CALL_TWINS(OP, NAME, &x, 1, 0)
#define CALL_G(OP, NAME, x)                                                                        \
    CALL_TWINS(OP, NAME, &x, 0)                                                                    \
    CALL_TWINS(OP, NAME, &x##_const, 0)
#define CALL_SIGNAL(OP, NAME, x)    CALL_TWINS(OP, NAME, &x, &x, 1, &sig, 1, SHMEM_SIGNAL_SET, 0)
#define CALL_SWAP(OP, NAME, x)      CALL_TWINS(OP, NAME, &x, 1, 0)
#define CALL_COMPARE(OP, NAME, x)   CALL_TWINS(OP, NAME, &x, 1, 2, 0)
#define CALL_INC(OP, NAME, x)       CALL_TWINS(OP, NAME, &x, 0)
#define CALL_FINC(OP, NAME, x)      CALL_TWINS(OP, NAME, &x, 0)
#define CALL_FETCH_N(OP, NAME, x)   CALL_TWINS(OP, NAME, &x, &x, 0)
#define CALL_SWAP_N(OP, NAME, x)    CALL_TWINS(OP, NAME, &x, &x, 1, 0)
#define CALL_COMPARE_N(OP, NAME, x) CALL_TWINS(OP, NAME, &x, &x, 1, 2, 0)
#define CALL_INC_N(OP, NAME, x)     CALL_TWINS(OP, NAME, &x, &x, 0)
#define CALL_BROADCAST(OP, NAME, x) CALL(OP, NAME, SHMEM_TEAM_WORLD, &x, &x, 1, 0)
#define CALL_TEAM(OP, NAME, x)      CALL(OP, NAME, SHMEM_TEAM_WORLD, &x, &x, 1)
#define CALL_ALLTOALLS(OP, NAME, x) CALL(OP, NAME, SHMEM_TEAM_WORLD, &x, &x, 1, 1, 1)
#define CALL_WAIT(OP, NAME, x)      CALL(OP, NAME, &x, SHMEM_CMP_EQ, 1)
#define CALL_TEST(OP, NAME, x)      CALL(OP, NAME, &x, SHMEM_CMP_EQ, 1)
#define CALL_WAIT_ALL(OP, NAME, x)                                                                 \
    CALL(OP, NAME, &x, 1, NULL, SHMEM_CMP_EQ, 1)                                                   \
    CALL(OP##_vector, NAME, &x, 1, NULL, SHMEM_CMP_EQ, &x)
#define CALL_TEST_ALL(OP, NAME, x) CALL_WAIT_ALL(OP, NAME, x)
#define CALL_ANY(OP, NAME, x)      CALL_WAIT_ALL(OP, NAME, x)
#define CALL_SOME(OP, NAME, x)                                                                     \
    CALL(OP, NAME, &x, 1, places, NULL, SHMEM_CMP_EQ, 1)                                           \
    CALL(OP##_vector, NAME, &x, 1, places, NULL, SHMEM_CMP_EQ, &x)

#define CALL_OLD_G(OP, NAME, x)                                                                    \
    CALL(OP, NAME, &x, 0)                                                                          \
    CALL(OP, NAME, &x##_const, 0)
#define CALL_OLD_P(OP, NAME, x)       CALL(OP, NAME, &x, 1, 0)
#define CALL_OLD_SWAP(OP, NAME, x)    CALL(OP, NAME, &x, 1, 0)
#define CALL_OLD_COMPARE(OP, NAME, x) CALL(OP, NAME, &x, 1, 2, 0)
#define CALL_OLD_INC(OP, NAME, x)     CALL(OP, NAME, &x, 0)
#define CALL_OLD_FINC(OP, NAME, x)    CALL(OP, NAME, &x, 0)

/* One function an operation. A type's name, its variable, and the tuple of shape and operation. */
#define UNPACK(...)             __VA_ARGS__
#define APPLY_(NAME, SHAPE, OP) CALL_##SHAPE(OP, NAME, x)
#define APPLY(...)              APPLY_(__VA_ARGS__)
#define CALL_TYPE(NAME, TYPE, A)                                                                   \
    {                                                                                              \
        static TYPE x;                                                                             \
        static const TYPE x_const = 0;                                                             \
                                                                                                   \
        (void)x_const;                                                                             \
        APPLY(#NAME, UNPACK A)                                                                     \
    }
#define CALLER(LIST, SHAPE, OP)                                                                    \
    static void call_##OP(void)                                                                    \
    {                                                                                              \
        LIST##_TYPES(CALL_TYPE, (SHAPE, OP))                                                       \
    }
RMA(CALLER)
AMO(CALLER)
COLLECTIVE(CALLER)
LOCAL(CALLER)
#ifndef __cplusplus
OLD(CALLER)
#endif

#ifdef __cplusplus /* volatile words, of which the macros of C warn */
static void call_volatile(void)
{
    static volatile long flag;
    static volatile int flags[2];
    size_t indices[2];

    (void)shmem_test(&flag, SHMEM_CMP_EQ, 0);
    expect("shmem_long_test");
    shmem_wait_until(flags, SHMEM_CMP_EQ, 0);
    expect("shmem_int_wait_until");
    (void)shmem_test_any(flags, 2, NULL, SHMEM_CMP_EQ, 0);
    expect("shmem_int_test_any");
    (void)shmem_wait_until_some(flags, 2, indices, NULL, SHMEM_CMP_EQ, 0);
    expect("shmem_int_wait_until_some");
}
#endif

/* Types that are other types by another name, arrays, and names that are routines themselves. */
static void call_others(void)
{
    static int64_t wide;
    static size_t size;
    static ptrdiff_t difference;
    static long words[4];
    static long sync_words[SHMEM_SYNC_SIZE];

    shmem_p(&wide, 1, 0);
    expect("shmem_long_p");
    shmem_atomic_add(&size, 1, 0);
    expect("shmem_ulong_atomic_add");
    (void)shmem_g(&difference, 0);
    expect("shmem_long_g");
    shmem_put(words, words + 2, 2, 0);
    expect("shmem_long_put");
    shmem_sync(0, 0, 1, sync_words);
    expect("shmem_sync");
    (void)shmem_sync(SHMEM_TEAM_WORLD);
    expect("shmem_team_sync");
    shmem_signal_add(&sig, 1, 0);
    expect("shmem_signal_add");
    shmem_signal_add(ctx, &sig, 1, 0);
    expect("shmem_ctx_signal_add");
    shmem_signal_set(&sig, 1, 0);
    expect("shmem_signal_set");
    shmem_signal_set(ctx, &sig, 1, 0);
    expect("shmem_ctx_signal_set");
    shmem_p(&words[0], shmem_g(&words[1], 0), 0);
    expect("shmem_long_p");
}

int main(void)
{
#define CALL_IT(LIST, SHAPE, OP) call_##OP();
    RMA(CALL_IT)
    AMO(CALL_IT)
    COLLECTIVE(CALL_IT)
    LOCAL(CALL_IT)
#ifndef __cplusplus
    OLD(CALL_IT)
#endif
#ifdef __cplusplus
    call_volatile();
#endif
    call_others();
    return (wrong == 0) ? 0 : 1;
}
