/* SPDX-License-Identifier: BSD-3-Clause */
/* z = x OPERATION y for every operation and element. Few backends have these kernels; one that has
 * the first of them has all that exist. */

#include "conform.h"
#include <stdlib.h>

enum { COUNT = 1003, ELEMENT_BYTES_MAX = 16, ROOM = COUNT * ELEMENT_BYTES_MAX };

/* X(element, type) of what is one number. */
#define NUMBERS(X)                                                                                 \
    X(S8, int8_t)                                                                                  \
    X(U8, uint8_t)                                                                                 \
    X(S16, int16_t)                                                                                \
    X(U16, uint16_t)                                                                               \
    X(S32, int32_t)                                                                                \
    X(U32, uint32_t)                                                                               \
    X(S64, int64_t)                                                                                \
    X(U64, uint64_t)                                                                               \
    X(F32, float)                                                                                  \
    X(F64, double)

static long long load(memspan_element_t element, const void *at, size_t i)
{
#define LOAD(name, type)                                                                           \
    case MEMSPAN_ELEMENT_##name:                                                                   \
        return (long long)((const type *)at)[i];
    switch (element) {
        NUMBERS(LOAD)
    default:
        abort();
    }
#undef LOAD
}

static void store(memspan_element_t element, void *at, size_t i, long long value)
{
#define STORE(name, type)                                                                          \
    case MEMSPAN_ELEMENT_##name:                                                                   \
        ((type *)at)[i] = (type)value;                                                             \
        break;
    switch (element) {
        NUMBERS(STORE)
    default:
        abort();
    }
#undef STORE
}

/* Small numbers of both signs, which every element holds, or wraps. */
static long long number(size_t i, unsigned seed)
{
    return (long long)(conform_byte(seed, i) % 101) - 50;
}

static bool is_less(memspan_element_t element, long long x, long long y)
{
    return (element == MEMSPAN_ELEMENT_U64) ? (unsigned long long)x < (unsigned long long)y : x < y;
}

static long long combine(memspan_operation_t operation, memspan_element_t element, long long x,
                         long long y)
{
    switch (operation) {
    case MEMSPAN_OPERATION_SUM:
        return x + y;
    case MEMSPAN_OPERATION_PROD:
        return (long long)((unsigned long long)x * (unsigned long long)y);
    case MEMSPAN_OPERATION_MIN:
        return is_less(element, x, y) ? x : y;
    case MEMSPAN_OPERATION_MAX:
        return is_less(element, x, y) ? y : x;
    case MEMSPAN_OPERATION_AND:
        return x & y;
    case MEMSPAN_OPERATION_OR:
        return x | y;
    default:
        return x ^ y;
    }
}

static bool exists(memspan_operation_t operation, memspan_element_t element)
{
    if (element >= MEMSPAN_ELEMENT_C32) {
        return operation <= MEMSPAN_OPERATION_PROD;
    }
    return (element <= MEMSPAN_ELEMENT_U64) || (operation <= MEMSPAN_OPERATION_MAX);
}

static struct {
    char x[ROOM];
    char y[ROOM];
    char z[ROOM];
} host;

/* Real and imaginary parts are numbers of their own. */
static memspan_element_t part_of(memspan_element_t element)
{
    return (element < MEMSPAN_ELEMENT_C32)
               ? element
               : ((element == MEMSPAN_ELEMENT_C32) ? MEMSPAN_ELEMENT_F32 : MEMSPAN_ELEMENT_F64);
}

static void check_complex(memspan_operation_t operation, memspan_element_t element, size_t i)
{
    memspan_element_t part = part_of(element);
    long long x[2]         = {load(part, host.x, 2 * i), load(part, host.x, 2 * i + 1)};
    long long y[2]         = {load(part, host.y, 2 * i), load(part, host.y, 2 * i + 1)};
    bool adds              = (operation == MEMSPAN_OPERATION_SUM);
    long long real         = adds ? x[0] + y[0] : x[0] * y[0] - x[1] * y[1];
    long long imaginary    = adds ? x[1] + y[1] : x[0] * y[1] + x[1] * y[0];

    CHECK_BYTES((load(part, host.z, 2 * i) == real) && (load(part, host.z, 2 * i + 1) == imaginary),
                "operation %d of element %d at %zu", (int)operation, (int)element, i);
}

static void check_number(memspan_operation_t operation, memspan_element_t element, size_t i)
{
    long long wanted;

    store(element, host.x, i,
          combine(operation, element, load(element, host.x, i), load(element, host.y, i)));
    wanted = load(element, host.x, i);
    CHECK_BYTES(load(element, host.z, i) == wanted,
                "operation %d of element %d at %zu: %lld, not %lld", (int)operation, (int)element,
                i, load(element, host.z, i), wanted);
}

static void check_results(memspan_operation_t operation, memspan_element_t element)
{
    size_t i;

    for (i = 0; i < COUNT; i++) {
        if (element >= MEMSPAN_ELEMENT_C32) {
            check_complex(operation, element, i);
        } else {
            check_number(operation, element, i);
        }
    }
}

static void check_kernel(const struct conform_memory *m, char *at, memspan_operation_t operation,
                         memspan_element_t element)
{
    size_t parts           = (element < MEMSPAN_ELEMENT_C32) ? 1 : 2;
    memspan_kernel_t which = MEMSPAN_KERNEL_COMBINE(operation, element);
    size_t i;

    for (i = 0; i < COUNT * parts; i++) {
        store(part_of(element), host.x, i, number(i, 1));
        store(part_of(element), host.y, i, number(i, 2));
    }
    CHECK_OK(memspan_copy(at, host.x, ROOM));
    CHECK_OK(memspan_copy(at + ROOM, host.y, ROOM));
    if (!exists(operation, element)) {
        CHECK_STATUS(conform_launch(which, COUNT, 0, at, at + ROOM, at), MEMSPAN_ERR_UNSUPPORTED);
        return;
    }
    CHECK_OK(conform_launch(which, COUNT, 0, at, at + ROOM, at)); /* z may be x */
    conform_read(m, host.z, at, ROOM);
    check_results(operation, element);
}

static void elements_are_combined(void)
{
    const memspan_kernel_t first =
        MEMSPAN_KERNEL_COMBINE(MEMSPAN_OPERATION_SUM, MEMSPAN_ELEMENT_S8);
    struct conform_memory m;

    if (!conform_can(MEMSPAN_CAN_KERNELS)) {
        conform_skip("the device has no kernels");
    }
    for (int k = 0; conform_kind(k, &m); k++) {
        char *at = memspan_calloc(m.allocator, 2, ROOM);

        CHECK(at != NULL);
        if (conform_device_touches(&m) &&
            (conform_launch(first, COUNT, 0, at, at, at) == MEMSPAN_OK)) {
            CHECK_STATUS(conform_launch(first, ROOM + 1, 0, at, at, at + ROOM),
                         MEMSPAN_ERR_INVALID);
            for (int e = 0; e < MEMSPAN_ELEMENT_COUNT; e++) {
                for (int o = 0; o < MEMSPAN_OPERATION_COUNT; o++) {
                    check_kernel(&m, at, (memspan_operation_t)o, (memspan_element_t)e);
                }
            }
        }
        CHECK_OK(memspan_free(at));
        conform_done(&m);
    }
}

const struct conform_case conform_combine_cases[] = {
    {"elements_are_combined", elements_are_combined},
    {NULL, NULL},
};
