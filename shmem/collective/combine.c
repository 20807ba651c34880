/* SPDX-License-Identifier: BSD-3-Clause */
/* combine.c: the loops. They are built for vector instructions (CMakeLists.txt). */

#include "shmem/collective/combine.h"
#include <complex.h>

/* X(type, C type) of numbers that can be added, of those with an order, and of whole ones. Sums and
 * products of signed ones wrap around, as those of unsigned ones do. */
#define WHOLE(X)                                                                                   \
    X(S8, uint8_t)                                                                                 \
    X(U8, uint8_t)                                                                                 \
    X(S16, uint16_t)                                                                               \
    X(U16, uint16_t)                                                                               \
    X(S32, uint32_t)                                                                               \
    X(U32, uint32_t)                                                                               \
    X(S64, uint64_t)                                                                               \
    X(U64, uint64_t)
#define REAL(X)                                                                                    \
    X(F32, float)                                                                                  \
    X(F64, double)                                                                                 \
    X(F80, long double)
#define COMPLEX(X)                                                                                 \
    X(C32, float _Complex)                                                                         \
    X(C64, double _Complex)
#define ORDERED(X)                                                                                 \
    X(S8, int8_t)                                                                                  \
    X(U8, uint8_t)                                                                                 \
    X(S16, int16_t)                                                                                \
    X(U16, uint16_t)                                                                               \
    X(S32, int32_t)                                                                                \
    X(U32, uint32_t)                                                                               \
    X(S64, int64_t)                                                                                \
    X(U64, uint64_t)                                                                               \
    REAL(X)

/* Element by element: where to is x or y itself, nothing is carried from one to the next. */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed" /* long doubles have no vectors */
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

#define LOOP(name, c_type, expression)                                                             \
    static void name(void *to, const void *x, const void *y, size_t count)                         \
    {                                                                                              \
        c_type *t       = to;                                                                      \
        const c_type *a = x;                                                                       \
        const c_type *b = y;                                                                       \
        size_t i;                                                                                  \
                                                                                                   \
        INDEPENDENT                                                                                \
        for (i = 0; i < count; i++) {                                                              \
            t[i] = (c_type)(expression);                                                           \
        }                                                                                          \
    }

/* A product of two 16-bit numbers is one of (signed) ints that may overflow. */
#define SUM_LOOP(type, c_type)   LOOP(sum_##type, c_type, a[i] + b[i])
#define PROD_LOOP(type, c_type)  LOOP(prod_##type, c_type, a[i] * b[i])
#define WHOLE_PROD(type, c_type) LOOP(prod_##type, c_type, (uint64_t)a[i] * b[i])
#define MIN_LOOP(type, c_type)   LOOP(min_##type, c_type, (b[i] < a[i]) ? b[i] : a[i])
#define MAX_LOOP(type, c_type)   LOOP(max_##type, c_type, (b[i] > a[i]) ? b[i] : a[i])
#define AND_LOOP(type, c_type)   LOOP(and_##type, c_type, a[i] & b[i])
#define OR_LOOP(type, c_type)    LOOP(or_##type, c_type, a[i] | b[i])
#define XOR_LOOP(type, c_type)   LOOP(xor_##type, c_type, a[i] ^ b[i])

/* clang-format off */
WHOLE(SUM_LOOP) REAL(SUM_LOOP) COMPLEX(SUM_LOOP)
WHOLE(WHOLE_PROD) REAL(PROD_LOOP) COMPLEX(PROD_LOOP)
ORDERED(MIN_LOOP)
ORDERED(MAX_LOOP)
WHOLE(AND_LOOP)
WHOLE(OR_LOOP)
WHOLE(XOR_LOOP)
/* clang-format on */

#define ROW(operation, name, type) [operation][MSP_NUMBER_##type] = name##_##type,
#define SUM_ROW(type, c_type)      ROW(MSP_REDUCE_SUM, sum, type)
#define PROD_ROW(type, c_type)     ROW(MSP_REDUCE_PROD, prod, type)
#define MIN_ROW(type, c_type)      ROW(MSP_REDUCE_MIN, min, type)
#define MAX_ROW(type, c_type)      ROW(MSP_REDUCE_MAX, max, type)
#define AND_ROW(type, c_type)      ROW(MSP_REDUCE_AND, and, type)
#define OR_ROW(type, c_type)       ROW(MSP_REDUCE_OR, or, type)
#define XOR_ROW(type, c_type)      ROW(MSP_REDUCE_XOR, xor, type)

    /* clang-format off */
static const msp_combine_t table[MSP_REDUCE_COUNT][MSP_NUMBER_COUNT] = {
    WHOLE(SUM_ROW) REAL(SUM_ROW) COMPLEX(SUM_ROW)
    WHOLE(PROD_ROW) REAL(PROD_ROW) COMPLEX(PROD_ROW)
    ORDERED(MIN_ROW)
    ORDERED(MAX_ROW)
    WHOLE(AND_ROW)
    WHOLE(OR_ROW)
    WHOLE(XOR_ROW)
};
/* clang-format on */

msp_combine_t msp_combine_of(enum msp_reduction operation, enum msp_number type)
{
    return table[operation][type];
}

size_t msp_number_bytes(enum msp_number type)
{
#define BYTES(number, c_type) [MSP_NUMBER_##number] = sizeof(c_type),
    static const size_t bytes[MSP_NUMBER_COUNT]     = {WHOLE(BYTES) REAL(BYTES) COMPLEX(BYTES)};
#undef BYTES

    return bytes[type];
}
