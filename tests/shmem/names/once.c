/* SPDX-License-Identifier: BSD-3-Clause */
/* once.c: what the typed routines do that other tests do not reach: every operation of every type,
 * once, by its name without a type, on each PE's neighbour. */

#include "tests/shmem/check.h"
#include <shmemx.h>
#include <string.h>

/* X(NAME, TYPE): the types of atomic operations, by their names. */
#define AMO_TYPES(X)                                                                               \
    X(int, int)                                                                                    \
    X(long, long)                                                                                  \
    X(longlong, long long)                                                                         \
    X(uint, unsigned int)                                                                          \
    X(ulong, unsigned long)                                                                        \
    X(ulonglong, unsigned long long)                                                               \
    X(int32, int32_t)                                                                              \
    X(int64, int64_t)                                                                              \
    X(uint32, uint32_t)                                                                            \
    X(uint64, uint64_t)                                                                            \
    X(size, size_t)                                                                                \
    X(ptrdiff, ptrdiff_t)
#define BITS_TYPES(X)                                                                              \
    X(uint, unsigned int)                                                                          \
    X(ulong, unsigned long)                                                                        \
    X(ulonglong, unsigned long long)                                                               \
    X(int32, int32_t)                                                                              \
    X(int64, int64_t)                                                                              \
    X(uint32, uint32_t)                                                                            \
    X(uint64, uint64_t)
#define FLOAT_TYPES(X) X(float, float) X(double, double)
#define RMA_TYPES(X)                                                                               \
    X(longdouble, long double)                                                                     \
    X(char, char)                                                                                  \
    X(schar, signed char)                                                                          \
    X(short, short)                                                                                \
    X(uchar, unsigned char)                                                                        \
    X(ushort, unsigned short)                                                                      \
    X(int8, int8_t)                                                                                \
    X(int16, int16_t)                                                                              \
    X(uint8, uint8_t)                                                                              \
    X(uint16, uint16_t)                                                                            \
    FLOAT_TYPES(X)                                                                                 \
    AMO_TYPES(X)

static int next; /* whose memory is written */
static int previous;
static shmem_ctx_t ctx;

/* Two operations on one word are in no order without it. */
static void complete(void)
{
    shmem_ctx_quiet(ctx);
    shmem_quiet();
}

static void synchronise(void)
{
    complete();
    shmem_barrier_all();
}

/* ---- put and get ---- */

#define RMA_TEST(NAME, TYPE)                                                                       \
    static void rma_##NAME(void)                                                                   \
    {                                                                                              \
        static TYPE to[12];                                                                        \
        static TYPE from[12];                                                                      \
        TYPE back[12] = {0};                                                                       \
        int i;                                                                                     \
                                                                                                   \
        for (i = 0; i < 12; i++) {                                                                 \
            from[i] = (TYPE)(i + 1 + shmem_my_pe());                                               \
        }                                                                                          \
        synchronise();                                                                             \
        shmem_##NAME##_put(to, from, 3, next);                                                     \
        shmem_ctx_##NAME##_put_nbi(ctx, to + 3, from + 3, 2, next);                                \
        shmem_##NAME##_p(to + 5, from[5], next);                                                   \
        shmem_ctx_##NAME##_p(ctx, to + 6, from[6], next);                                          \
        shmem_##NAME##_iput(to + 7, from + 8, 2, 1, 2, next); /* to 7, 9: from 8, 9 */             \
        shmem_##NAME##_ibput(to + 10, from + 10, 1, 1, 1, 2, next);                                \
        synchronise();                                                                             \
        for (i = 0; i < 7; i++) {                                                                  \
            CHECK(to[i] == (TYPE)(i + 1 + previous), #NAME ": element %d", i);                     \
        }                                                                                          \
        CHECK((to[7] == (TYPE)(9 + previous)) && (to[9] == (TYPE)(10 + previous)),                 \
              #NAME ": iput");                                                                     \
        CHECK(to[8] == (TYPE)0, #NAME ": iput wrote between");                                     \
        CHECK((to[10] == (TYPE)(11 + previous)) && (to[11] == (TYPE)(12 + previous)),              \
              #NAME ": ibput");                                                                    \
        shmem_##NAME##_get(back, from, 3, next);                                                   \
        shmem_ctx_##NAME##_get_nbi(ctx, back + 3, from + 3, 2, next);                              \
        shmem_ctx_quiet(ctx);                                                                      \
        back[5] = shmem_##NAME##_g(from + 5, next);                                                \
        back[6] = shmem_ctx_##NAME##_g(ctx, from + 6, next);                                       \
        shmem_##NAME##_iget(back + 7, from + 7, 1, 2, 2, next); /* 7, 8: from 7, 9 */              \
        shmem_##NAME##_ibget(back + 9, from + 9, 3, 3, 3, 1, next);                                \
        for (i = 0; i < 8; i++) {                                                                  \
            CHECK(back[i] == (TYPE)(i + 1 + next), #NAME ": got element %d", i);                   \
        }                                                                                          \
        CHECK(back[8] == (TYPE)(10 + next), #NAME ": iget");                                       \
        CHECK(back[11] == (TYPE)(12 + next), #NAME ": ibget");                                     \
    }
RMA_TYPES(RMA_TEST)

#define SIZE_TEST(BITS)                                                                            \
    static void size_##BITS(void)                                                                  \
    {                                                                                              \
        static _Alignas(16) unsigned char to[4 * (BITS) / 8];                                      \
        static _Alignas(16) unsigned char from[4 * (BITS) / 8];                                    \
        const size_t width = (BITS) / 8;                                                           \
                                                                                                   \
        memset(from, 1 + shmem_my_pe(), sizeof from);                                              \
        synchronise();                                                                             \
        shmem_put##BITS(to, from, 1, next);                                                        \
        shmem_put##BITS##_nbi(to + width, from, 1, next);                                          \
        shmem_ctx_iput##BITS(ctx, to + (2 * width), from, 1, 2, 2, next);                          \
        synchronise();                                                                             \
        CHECK((to[0] == 1 + previous) && (memcmp(to, to + 1, sizeof to - 1) == 0), "put" #BITS);   \
        memset(to, 0, sizeof to);                                                                  \
        shmem_get##BITS(to, from, 2, next);                                                        \
        shmem_ctx_iget##BITS(ctx, to + (2 * width), from, 1, 1, 2, next);                          \
        CHECK((to[0] == 1 + next) && (memcmp(to, to + 1, sizeof to - 1) == 0), "get" #BITS);       \
        synchronise();                                                                             \
    }
SIZE_TEST(8)
SIZE_TEST(16)
SIZE_TEST(32)
SIZE_TEST(64)
SIZE_TEST(128)

/* ---- atomics ---- */

#define ATOMIC_TEST(NAME, TYPE)                                                                    \
    static void atomic_##NAME(void)                                                                \
    {                                                                                              \
        static TYPE word;                                                                          \
        TYPE old = 0;                                                                              \
                                                                                                   \
        synchronise();                                                                             \
        shmem_##NAME##_atomic_set(&word, 10, next);                                                \
        complete();                                                                                \
        CHECK(shmem_##NAME##_atomic_fetch(&word, next) == 10, #NAME);                              \
        CHECK(shmem_##NAME##_atomic_swap(&word, 20, next) == 10, #NAME);                           \
        CHECK(shmem_##NAME##_atomic_compare_swap(&word, 21, 1, next) == 20, #NAME);                \
        CHECK(shmem_##NAME##_atomic_compare_swap(&word, 20, 30, next) == 20, #NAME);               \
        CHECK(shmem_ctx_##NAME##_atomic_fetch_inc(ctx, &word, next) == 30, #NAME);                 \
        shmem_##NAME##_atomic_inc(&word, next);                                                    \
        complete();                                                                                \
        CHECK(shmem_##NAME##_atomic_fetch_add(&word, 8, next) == 32, #NAME);                       \
        shmem_ctx_##NAME##_atomic_add(ctx, &word, (TYPE)-39, next);                                \
        complete();                                                                                \
        shmem_##NAME##_atomic_fetch_add_nbi(&old, &word, 1, next);                                 \
        shmem_quiet();                                                                             \
        CHECK(old == 1, #NAME);                                                                    \
        shmem_##NAME##_atomic_compare_swap_nbi(&old, &word, 2, 3, next);                           \
        complete();                                                                                \
        shmem_##NAME##_atomic_fetch_inc_nbi(&old, &word, next);                                    \
        complete();                                                                                \
        shmem_##NAME##_atomic_swap_nbi(&old, &word, 7, next);                                      \
        shmem_quiet();                                                                             \
        CHECK(old == 4, #NAME);                                                                    \
        shmem_##NAME##_atomic_fetch_nbi(&old, &word, next);                                        \
        shmem_quiet();                                                                             \
        CHECK(old == 7, #NAME);                                                                    \
        synchronise();                                                                             \
        CHECK(shmem_##NAME##_test(&word, SHMEM_CMP_EQ, 7) == 1, #NAME);                            \
        shmem_##NAME##_wait_until(&word, SHMEM_CMP_GE, 7);                                         \
    }
AMO_TYPES(ATOMIC_TEST)

#define FLOAT_TEST(NAME, TYPE)                                                                     \
    static void atomic_##NAME(void)                                                                \
    {                                                                                              \
        static TYPE word;                                                                          \
        TYPE old = 0;                                                                              \
                                                                                                   \
        synchronise();                                                                             \
        shmem_##NAME##_atomic_set(&word, (TYPE)1.5, next);                                         \
        complete();                                                                                \
        CHECK(shmem_##NAME##_atomic_fetch(&word, next) == (TYPE)1.5, #NAME);                       \
        CHECK(shmem_ctx_##NAME##_atomic_swap(ctx, &word, (TYPE)-2.25, next) == (TYPE)1.5, #NAME);  \
        shmem_##NAME##_atomic_fetch_nbi(&old, &word, next);                                        \
        shmem_quiet();                                                                             \
        CHECK(old == (TYPE)-2.25, #NAME);                                                          \
        synchronise();                                                                             \
    }
FLOAT_TYPES(FLOAT_TEST)

#define BITS_TEST(NAME, TYPE)                                                                      \
    static void bits_##NAME(void)                                                                  \
    {                                                                                              \
        static TYPE word;                                                                          \
        TYPE old = 0;                                                                              \
                                                                                                   \
        synchronise();                                                                             \
        shmem_##NAME##_atomic_set(&word, 12, next);                                                \
        complete();                                                                                \
        CHECK(shmem_##NAME##_atomic_fetch_and(&word, 10, next) == 12, #NAME);                      \
        CHECK(shmem_##NAME##_atomic_fetch_or(&word, 3, next) == 8, #NAME);                         \
        CHECK(shmem_##NAME##_atomic_fetch_xor(&word, 1, next) == 11, #NAME);                       \
        shmem_##NAME##_atomic_and(&word, 2, next);                                                 \
        complete();                                                                                \
        shmem_ctx_##NAME##_atomic_or(ctx, &word, 5, next);                                         \
        complete();                                                                                \
        shmem_##NAME##_atomic_xor(&word, 6, next);                                                 \
        complete();                                                                                \
        shmem_##NAME##_atomic_fetch_and_nbi(&old, &word, 1, next);                                 \
        shmem_quiet();                                                                             \
        CHECK(old == 1, #NAME);                                                                    \
        synchronise();                                                                             \
    }
BITS_TYPES(BITS_TEST)

int main(void)
{
    shmem_init();
    CHECK(shmem_ctx_create(0, &ctx) == 0, "no context");
    next     = (shmem_my_pe() + 1) % shmem_n_pes();
    previous = (shmem_my_pe() + shmem_n_pes() - 1) % shmem_n_pes();
#define RUN_RMA(NAME, TYPE)    rma_##NAME();
#define RUN_ATOMIC(NAME, TYPE) atomic_##NAME();
#define RUN_BITS(NAME, TYPE)   bits_##NAME();
    RMA_TYPES(RUN_RMA)
    AMO_TYPES(RUN_ATOMIC)
    FLOAT_TYPES(RUN_ATOMIC)
    BITS_TYPES(RUN_BITS)
    size_8();
    size_16();
    size_32();
    size_64();
    size_128();
    shmem_ctx_destroy(ctx);
    shmem_finalize();
    return 0;
}
