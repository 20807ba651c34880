/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_FAKES_ARITHMETIC_H
#define MEMSPAN_TESTS_FAKES_ARITHMETIC_H

/* What the built-in kernels do with arrays, by their names without "memspan_", for drivers that
 * only pretend to compile them. */

#include <complex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct fake_arrays {
    size_t count;
    double a;
    void *x;
    void *y;
    void *z;
};

#define FAKE_EACH(type, expression)                                                                \
    do {                                                                                           \
        const type *x = v->x;                                                                      \
        const type *y = v->y;                                                                      \
        type *z       = v->z;                                                                      \
        size_t i;                                                                                  \
        for (i = 0; i < v->count; i++) {                                                           \
            z[i] = (type)(expression);                                                             \
        }                                                                                          \
        (void)x;                                                                                   \
        (void)y;                                                                                   \
        return true;                                                                               \
    } while (0)
#define FAKE_COMBINE(type, suffix, operation, expression)                                          \
    if (strcmp(name, #operation "_" #suffix) == 0) {                                               \
        FAKE_EACH(type, expression);                                                               \
    }
#define FAKE_ARITHMETIC(type, suffix)                                                              \
    FAKE_COMBINE(type, suffix, sum, x[i] + y[i])                                                   \
    FAKE_COMBINE(type, suffix, prod, x[i] * y[i])
#define FAKE_ORDERED(type, suffix)                                                                 \
    FAKE_COMBINE(type, suffix, min, (x[i] < y[i]) ? x[i] : y[i])                                   \
    FAKE_COMBINE(type, suffix, max, (x[i] > y[i]) ? x[i] : y[i])
#define FAKE_LOGIC(type, suffix)                                                                   \
    FAKE_COMBINE(type, suffix, and, x[i] & y[i])                                                   \
    FAKE_COMBINE(type, suffix, or, x[i] | y[i])                                                    \
    FAKE_COMBINE(type, suffix, xor, x[i] ^ y[i])
/* Signed sums and products are formed as devices form them: they wrap. */
#define FAKE_INTEGERS(bits)                                                                        \
    FAKE_COMBINE(uint##bits##_t, s##bits, sum, (uint64_t)x[i] + y[i])                              \
    FAKE_COMBINE(uint##bits##_t, s##bits, prod, (uint64_t)x[i] * y[i])                             \
    FAKE_ORDERED(int##bits##_t, s##bits)                                                           \
    FAKE_LOGIC(int##bits##_t, s##bits)                                                             \
    FAKE_COMBINE(uint##bits##_t, u##bits, sum, (uint64_t)x[i] + y[i])                              \
    FAKE_COMBINE(uint##bits##_t, u##bits, prod, (uint64_t)x[i] * y[i])                             \
    FAKE_ORDERED(uint##bits##_t, u##bits)                                                          \
    FAKE_LOGIC(uint##bits##_t, u##bits)

static inline bool fake_run_integers(const char *name, const struct fake_arrays *v)
{
    FAKE_INTEGERS(8)
    FAKE_INTEGERS(16)
    FAKE_INTEGERS(32)
    FAKE_INTEGERS(64)
    return false;
}

/* Run a kernel over arrays; false: there is none of that name. */
static inline bool fake_run_arrays(const char *name, const struct fake_arrays *v)
{
    if (strcmp(name, "daxpy") == 0) {
        FAKE_EACH(double, z[i] + (v->a * x[i] + y[i]));
    }
    if (strcmp(name, "fill") == 0) {
        FAKE_EACH(double, v->a);
    }
    FAKE_ARITHMETIC(float, f32)
    FAKE_ORDERED(float, f32)
    FAKE_ARITHMETIC(double, f64)
    FAKE_ORDERED(double, f64)
    FAKE_ARITHMETIC(float complex, c32)
    FAKE_ARITHMETIC(double complex, c64)
    return fake_run_integers(name, v);
}

static inline bool fake_is_combining(const char *name)
{
    return (strcmp(name, "add_atomic") != 0) && (strchr(name, '_') != NULL);
}

/* Bytes of an element of such a kernel. */
static inline size_t fake_element_bytes(const char *name)
{
    const char *suffix = strrchr(name, '_');

    if (!fake_is_combining(name)) {
        return sizeof(double);
    }
    return ((suffix[1] == 'c') ? 2 : 1) * (size_t)strtoul(suffix + 2, NULL, 10) / 8;
}

#endif /* MEMSPAN_TESTS_FAKES_ARITHMETIC_H */
