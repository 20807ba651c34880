/* SPDX-License-Identifier: BSD-3-Clause */
/* kernels.c: what the backend's kernels do, by their names, on the fake's own view of memory. */

#include "fake.h"
#include <complex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUM_THREADS = 256 };

struct arrays {
    size_t count;
    uint64_t a;
    void *x;
    void *y;
    void *z;
};

static double number(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

static void run_daxpy(const struct arrays *v)
{
    const double *x = v->x;
    const double *y = v->y;
    double *z       = v->z;
    size_t i;

    for (i = 0; i < v->count; i++) {
        z[i] += number(v->a) * x[i] + y[i];
    }
}

static void run_fill(const struct arrays *v)
{
    double *z = v->z;
    size_t i;

    for (i = 0; i < v->count; i++) {
        z[i] = number(v->a);
    }
}

/* Elements are dealt out to threads one by one; a block's sum goes to z[block]. */
static cuda_result_t run_sum(const struct CUctx_st *context, const struct fake_command *c)
{
    size_t count    = c->arguments[0];
    const double *x = fake_reach(context, c->arguments[2], count * sizeof(double));
    double *z       = fake_reach(context, c->arguments[4], c->blocks * sizeof(double));
    size_t i;

    if (((x == NULL) && (count > 0)) || (z == NULL)) {
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    }
    if (c->threads != SUM_THREADS) {
        fake_broken("the sum is written for blocks of %d threads, not %u", SUM_THREADS, c->threads);
    }
    memset(z, 0, c->blocks * sizeof(double));
    for (i = 0; i < count; i++) {
        z[(i / c->threads) % c->blocks] += x[i];
    }
    return CUDA_SUCCESS;
}

static cuda_result_t run_chase(const struct CUctx_st *context, const struct fake_command *c)
{
    uint64_t at = c->arguments[2];
    uint64_t *z = fake_reach(context, c->arguments[4], sizeof(*z));
    uint64_t i;

    for (i = 0; i < c->arguments[0]; i++) {
        const uint64_t *link = fake_reach(context, at, sizeof(*link));
        if (link == NULL) {
            return CUDA_ERROR_ILLEGAL_ADDRESS;
        }
        at = *link;
    }
    if (z == NULL) {
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    }
    *z = at;
    return CUDA_SUCCESS;
}

static cuda_result_t run_add_atomic(const struct CUctx_st *context, const struct fake_command *c)
{
    uint32_t *z = fake_reach(context, c->arguments[4], sizeof(*z));
    uint64_t i;

    if (z == NULL) {
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    }
    for (i = 0; i < c->arguments[0]; i++) {
        __atomic_fetch_add(z, (uint32_t)c->arguments[1], __ATOMIC_RELAXED);
    }
    return CUDA_SUCCESS;
}

/* ---- z[i] = x[i] OP y[i] ---- */

#define COMBINE(type, suffix, operation, expression)                                               \
    if (strcmp(name, #operation "_" #suffix) == 0) {                                               \
        const type *x = v->x;                                                                      \
        const type *y = v->y;                                                                      \
        type *z       = v->z;                                                                      \
        size_t i;                                                                                  \
        for (i = 0; i < v->count; i++) {                                                           \
            z[i] = (type)(expression);                                                             \
        }                                                                                          \
        return true;                                                                               \
    }
#define COMBINE_ARITHMETIC(type, suffix)                                                           \
    COMBINE(type, suffix, sum, x[i] + y[i])                                                        \
    COMBINE(type, suffix, prod, x[i] * y[i])
#define COMBINE_ORDERED(type, suffix)                                                              \
    COMBINE(type, suffix, min, (x[i] < y[i]) ? x[i] : y[i])                                        \
    COMBINE(type, suffix, max, (x[i] > y[i]) ? x[i] : y[i])
#define COMBINE_LOGIC(type, suffix)                                                                \
    COMBINE(type, suffix, and, x[i] & y[i])                                                        \
    COMBINE(type, suffix, or, x[i] | y[i])                                                         \
    COMBINE(type, suffix, xor, x[i] ^ y[i])
/* Signed products are formed as the device forms them: they wrap. */
#define COMBINE_INTEGERS(bits)                                                                     \
    COMBINE(uint##bits##_t, s##bits, sum, x[i] + y[i])                                             \
    COMBINE(uint##bits##_t, s##bits, prod, (uint64_t)x[i] * y[i])                                  \
    COMBINE_ORDERED(int##bits##_t, s##bits)                                                        \
    COMBINE_LOGIC(int##bits##_t, s##bits)                                                          \
    COMBINE(uint##bits##_t, u##bits, sum, x[i] + y[i])                                             \
    COMBINE(uint##bits##_t, u##bits, prod, (uint64_t)x[i] * y[i])                                  \
    COMBINE_ORDERED(uint##bits##_t, u##bits)                                                       \
    COMBINE_LOGIC(uint##bits##_t, u##bits)

static bool combine_integers(const char *name, const struct arrays *v)
{
    COMBINE_INTEGERS(8)
    COMBINE_INTEGERS(16)
    COMBINE_INTEGERS(32)
    COMBINE_INTEGERS(64)
    return false;
}

static bool combine(const char *name, const struct arrays *v)
{
    COMBINE_ARITHMETIC(float, f32)
    COMBINE_ORDERED(float, f32)
    COMBINE_ARITHMETIC(double, f64)
    COMBINE_ORDERED(double, f64)
    COMBINE_ARITHMETIC(float complex, c32)
    COMBINE_ARITHMETIC(double complex, c64)
    return combine_integers(name, v);
}

static size_t element_bytes(const char *name)
{
    const char *suffix = strrchr(name, '_');
    size_t bits        = strtoul(suffix + 2, NULL, 10);

    return ((suffix[1] == 'c') ? 2 : 1) * bits / 8;
}

static const char prefix[] = "memspan_";

bool fake_knows_kernel(const char *name)
{
    static const char *const names[] = {"daxpy", "fill", "sum", "chase", "add_atomic"};
    struct arrays none               = {0};
    size_t i;

    if (strncmp(name, prefix, strlen(prefix)) != 0) {
        return false;
    }
    name += strlen(prefix);
    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return combine(name, &none);
}

static cuda_result_t run_arrays(const struct CUctx_st *context, const struct fake_command *c,
                                const char *name)
{
    bool fill       = strcmp(name, "fill") == 0;
    bool own        = fill || (strcmp(name, "daxpy") == 0);
    size_t size     = (own ? sizeof(double) : element_bytes(name)) * c->arguments[0];
    struct arrays v = {.count = c->arguments[0],
                       .a     = c->arguments[1],
                       .x     = fill ? NULL : fake_reach(context, c->arguments[2], size),
                       .y     = fill ? NULL : fake_reach(context, c->arguments[3], size),
                       .z     = fake_reach(context, c->arguments[4], size)};

    if ((v.z == NULL) || (!fill && ((v.x == NULL) || (v.y == NULL)))) {
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    }
    if (fill) {
        run_fill(&v);
    } else if (own) {
        run_daxpy(&v);
    } else if (!combine(name, &v)) {
        return CUDA_ERROR_LAUNCH_FAILED;
    }
    return CUDA_SUCCESS;
}

cuda_result_t fake_kernel(struct CUctx_st *context, struct fake_command *c)
{
    const char *name = c->function->name + strlen(prefix);

    if (strcmp(name, "sum") == 0) {
        return run_sum(context, c);
    }
    if (strcmp(name, "chase") == 0) {
        return run_chase(context, c);
    }
    if (strcmp(name, "add_atomic") == 0) {
        return run_add_atomic(context, c);
    }
    return (c->arguments[0] == 0) ? CUDA_SUCCESS : run_arrays(context, c, name);
}
