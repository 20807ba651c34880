/* SPDX-License-Identifier: BSD-3-Clause */
/* combine.c: z[i] = x[i] OPERATION y[i] for every element and operation, in a device process: it
 * calls nothing. Integers wrap, as they do on devices: they are worked on without a sign where the
 * result has the same bits. */

#include "backends/emu/ring.h"
#include <memspan/transfer.h>

#define EACH(expression)                                                                           \
    for (i = from; i < to; i++) {                                                                  \
        z[i] = (expression);                                                                       \
    }                                                                                              \
    return 1

#define COMBINE_INTEGERS(name, type)                                                               \
    static int name(const struct emu_command *k, memspan_operation_t operation, uint64_t from,     \
                    uint64_t to)                                                                   \
    {                                                                                              \
        const type *x = (const type *)(uintptr_t)k->x;                                             \
        const type *y = (const type *)(uintptr_t)k->y;                                             \
        type *z       = (type *)(uintptr_t)k->z;                                                   \
        uint64_t i;                                                                                \
                                                                                                   \
        switch (operation) {                                                                       \
        case MEMSPAN_OPERATION_SUM:                                                                \
            EACH((type)((uint64_t)x[i] + (uint64_t)y[i]));                                         \
        case MEMSPAN_OPERATION_PROD:                                                               \
            EACH((type)((uint64_t)x[i] * (uint64_t)y[i]));                                         \
        case MEMSPAN_OPERATION_MIN:                                                                \
            EACH((y[i] < x[i]) ? y[i] : x[i]);                                                     \
        case MEMSPAN_OPERATION_MAX:                                                                \
            EACH((y[i] > x[i]) ? y[i] : x[i]);                                                     \
        case MEMSPAN_OPERATION_AND:                                                                \
            EACH((type)(x[i] & y[i]));                                                             \
        case MEMSPAN_OPERATION_OR:                                                                 \
            EACH((type)(x[i] | y[i]));                                                             \
        case MEMSPAN_OPERATION_XOR:                                                                \
            EACH((type)(x[i] ^ y[i]));                                                             \
        default:                                                                                   \
            return 0;                                                                              \
        }                                                                                          \
    }

#define COMBINE_REALS(name, type)                                                                  \
    static int name(const struct emu_command *k, memspan_operation_t operation, uint64_t from,     \
                    uint64_t to)                                                                   \
    {                                                                                              \
        const type *x = (const type *)(uintptr_t)k->x;                                             \
        const type *y = (const type *)(uintptr_t)k->y;                                             \
        type *z       = (type *)(uintptr_t)k->z;                                                   \
        uint64_t i;                                                                                \
                                                                                                   \
        switch (operation) {                                                                       \
        case MEMSPAN_OPERATION_SUM:                                                                \
            EACH(x[i] + y[i]);                                                                     \
        case MEMSPAN_OPERATION_PROD:                                                               \
            EACH(x[i] * y[i]);                                                                     \
        case MEMSPAN_OPERATION_MIN:                                                                \
            EACH((y[i] < x[i]) ? y[i] : x[i]);                                                     \
        case MEMSPAN_OPERATION_MAX:                                                                \
            EACH((y[i] > x[i]) ? y[i] : x[i]);                                                     \
        default:                                                                                   \
            return 0;                                                                              \
        }                                                                                          \
    }

/* Real and imaginary parts follow each other; z may be x or y. */
#define COMBINE_COMPLEX(name, type)                                                                \
    static int name(const struct emu_command *k, memspan_operation_t operation, uint64_t from,     \
                    uint64_t to)                                                                   \
    {                                                                                              \
        const type *x = (const type *)(uintptr_t)k->x;                                             \
        const type *y = (const type *)(uintptr_t)k->y;                                             \
        type *z       = (type *)(uintptr_t)k->z;                                                   \
        int product   = (operation == MEMSPAN_OPERATION_PROD);                                     \
        uint64_t i;                                                                                \
                                                                                                   \
        if (!product && (operation != MEMSPAN_OPERATION_SUM)) {                                    \
            return 0;                                                                              \
        }                                                                                          \
        for (i = 2 * from; i < 2 * to; i += 2) {                                                   \
            type real      = product ? x[i] * y[i] - x[i + 1] * y[i + 1] : x[i] + y[i];            \
            type imaginary = product ? x[i] * y[i + 1] + x[i + 1] * y[i] : x[i + 1] + y[i + 1];    \
            z[i]           = real;                                                                 \
            z[i + 1]       = imaginary;                                                            \
        }                                                                                          \
        return 1;                                                                                  \
    }

COMBINE_INTEGERS(combine_s8, int8_t)
COMBINE_INTEGERS(combine_u8, uint8_t)
COMBINE_INTEGERS(combine_s16, int16_t)
COMBINE_INTEGERS(combine_u16, uint16_t)
COMBINE_INTEGERS(combine_s32, int32_t)
COMBINE_INTEGERS(combine_u32, uint32_t)
COMBINE_INTEGERS(combine_s64, int64_t)
COMBINE_INTEGERS(combine_u64, uint64_t)
COMBINE_REALS(combine_f32, float)
COMBINE_REALS(combine_f64, double)
COMBINE_COMPLEX(combine_c32, float)
COMBINE_COMPLEX(combine_c64, double)

int emu_combine(const struct emu_command *k, uint64_t from, uint64_t to)
{
    unsigned which                = k->kernel - (unsigned)MEMSPAN_KERNEL_COMBINE_FIRST;
    memspan_operation_t operation = (memspan_operation_t)(which >> 8);

    switch (which & 0xff) {
    case MEMSPAN_ELEMENT_S8:
        return combine_s8(k, operation, from, to);
    case MEMSPAN_ELEMENT_U8:
        return combine_u8(k, operation, from, to);
    case MEMSPAN_ELEMENT_S16:
        return combine_s16(k, operation, from, to);
    case MEMSPAN_ELEMENT_U16:
        return combine_u16(k, operation, from, to);
    case MEMSPAN_ELEMENT_S32:
        return combine_s32(k, operation, from, to);
    case MEMSPAN_ELEMENT_U32:
        return combine_u32(k, operation, from, to);
    case MEMSPAN_ELEMENT_S64:
        return combine_s64(k, operation, from, to);
    case MEMSPAN_ELEMENT_U64:
        return combine_u64(k, operation, from, to);
    case MEMSPAN_ELEMENT_F32:
        return combine_f32(k, operation, from, to);
    case MEMSPAN_ELEMENT_F64:
        return combine_f64(k, operation, from, to);
    case MEMSPAN_ELEMENT_C32:
        return combine_c32(k, operation, from, to);
    case MEMSPAN_ELEMENT_C64:
        return combine_c64(k, operation, from, to);
    default:
        return 0;
    }
}
