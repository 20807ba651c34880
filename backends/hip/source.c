/* SPDX-License-Identifier: BSD-3-Clause */
/* source.c: the built-in kernels, one text in HIP's language, which is compiled on the machine it
 * runs on. It uses nothing but the language: no header, no other spelling for other versions.
 * -DMEMSPAN_COMBINE compiles the half with the combining kernels, else the other. */

#include "backends/hip/hip.h"
#include <stdio.h>
#include <string.h>

const char hip_kernel_source[] =
    "typedef unsigned long long count_t;\n"
    "#define KERNEL extern \"C\" __global__ __launch_bounds__(256) void\n"
    /* Every thread takes every so manieth element. */
    "#define FIRST ((count_t)blockIdx.x * blockDim.x + threadIdx.x)\n"
    "#define STEP ((count_t)gridDim.x * blockDim.x)\n"
    "#define EACH(i, n) for (count_t i = FIRST; i < (n); i += STEP)\n"
    "#ifndef MEMSPAN_COMBINE\n"
    "KERNEL memspan_daxpy(count_t n, double a, const double *x, const double *y, double *z)\n"
    "{\n"
    "    EACH(i, n) z[i] += a * x[i] + y[i];\n"
    "}\n"
    "KERNEL memspan_fill(count_t n, double a, const double *x, const double *y, double *z)\n"
    "{\n"
    "    EACH(i, n) z[i] = a;\n"
    "}\n"
    /* A sum for each block of 256 threads, halving: z[block]. A second launch sums the sums. */
    "KERNEL memspan_sum(count_t n, double a, const double *x, const double *y, double *z)\n"
    "{\n"
    "    __shared__ double part[256];\n"
    "    double sum = 0;\n"
    "    EACH(i, n) sum += x[i];\n"
    "    part[threadIdx.x] = sum;\n"
    "    __syncthreads();\n"
    "    for (unsigned half = 128; half > 0; half /= 2) {\n"
    "        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];\n"
    "        __syncthreads();\n"
    "    }\n"
    "    if (threadIdx.x == 0) z[blockIdx.x] = part[0];\n"
    "}\n"
    "KERNEL memspan_chase(count_t n, double a, void *x, const double *y, void **z)\n"
    "{\n"
    "    void *at = x;\n"
    "    if (FIRST == 0) {\n"
    "        for (count_t i = 0; i < n; i++) at = *(void *volatile *)at;\n"
    "        *z = at;\n"
    "    }\n"
    "}\n"
    "KERNEL memspan_add_atomic(count_t n, count_t a, const double *x, const double *y, int *z)\n"
    "{\n"
    "    EACH(i, n) __hip_atomic_fetch_add(z, (int)a, __ATOMIC_RELAXED,\n"
    "                                      __HIP_MEMORY_SCOPE_SYSTEM);\n"
    "}\n"
    "#else\n"
    "#define COMBINE(name, T, W, op)\\\n"
    "KERNEL memspan_##name(count_t n, double a, const T *x, const T *y, T *z)\\\n"
    "{\\\n"
    "    EACH(i, n) { W p = (W)x[i], q = (W)y[i]; z[i] = (T)(op); }\\\n"
    "}\n"
    /* Signed sums and products are formed without sign, where they wrap. */
    "#define INTEGERS(bits, S, U)\\\n"
    "COMBINE(sum_s##bits, S, count_t, p + q) COMBINE(sum_u##bits, U, count_t, p + q)\\\n"
    "COMBINE(prod_s##bits, S, count_t, p * q) COMBINE(prod_u##bits, U, count_t, p * q)\\\n"
    "ORDERED(s##bits, S) ORDERED(u##bits, U)\\\n"
    "COMBINE(and_s##bits, S, S, p & q) COMBINE(and_u##bits, U, U, p & q)\\\n"
    "COMBINE(or_s##bits, S, S, p | q) COMBINE(or_u##bits, U, U, p | q)\\\n"
    "COMBINE(xor_s##bits, S, S, p ^ q) COMBINE(xor_u##bits, U, U, p ^ q)\n"
    "#define ORDERED(suffix, T)\\\n"
    "COMBINE(min_##suffix, T, T, p < q ? p : q) COMBINE(max_##suffix, T, T, p > q ? p : q)\n"
    "#define FLOATS(bits, T)\\\n"
    "COMBINE(sum_f##bits, T, T, p + q) COMBINE(prod_f##bits, T, T, p * q) ORDERED(f##bits, T)\\\n"
    "struct c##bits { T re, im; };\\\n"
    "KERNEL memspan_sum_c##bits(count_t n, double a, const c##bits *x, const c##bits *y, c##bits "
    "*z)\\\n"
    "{\\\n"
    "    EACH(i, n) { c##bits p = x[i], q = y[i]; z[i].re = p.re + q.re; z[i].im = p.im + q.im; "
    "}\\\n"
    "}\\\n"
    "KERNEL memspan_prod_c##bits(count_t n, double a, const c##bits *x, const c##bits *y, c##bits "
    "*z)\\\n"
    "{\\\n"
    "    EACH(i, n) {\\\n"
    "        c##bits p = x[i], q = y[i];\\\n"
    "        z[i].re = p.re * q.re - p.im * q.im;\\\n"
    "        z[i].im = p.re * q.im + p.im * q.re;\\\n"
    "    }\\\n"
    "}\n"
    "INTEGERS(8, signed char, unsigned char)\n"
    "INTEGERS(16, short, unsigned short)\n"
    "INTEGERS(32, int, unsigned)\n"
    "INTEGERS(64, long long, unsigned long long)\n"
    "FLOATS(32, float)\n"
    "FLOATS(64, double)\n"
    "#endif\n";

static const char *const basics[HIP_KERNELS] = {
    [MEMSPAN_KERNEL_DAXPY]      = "daxpy",
    [MEMSPAN_KERNEL_FILL]       = "fill",
    [MEMSPAN_KERNEL_SUM]        = "sum",
    [MEMSPAN_KERNEL_CHASE]      = "chase",
    [MEMSPAN_KERNEL_ADD_ATOMIC] = "add_atomic",
};
static const char *const operations[MEMSPAN_OPERATION_COUNT] = {"sum", "prod", "min", "max",
                                                                "and", "or",   "xor"};
static const char *const elements[MEMSPAN_ELEMENT_COUNT]     = {
        "s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64", "f32", "f64", "c32", "c64"};

static bool fits(int operation, int element)
{
    if ((operation < 0) || (operation >= MEMSPAN_OPERATION_COUNT) || (element < 0) ||
        (element >= MEMSPAN_ELEMENT_COUNT)) {
        return false;
    }
    if (element <= MEMSPAN_ELEMENT_U64) {
        return true;
    }
    return operation <=
           ((element >= MEMSPAN_ELEMENT_C32) ? MEMSPAN_OPERATION_PROD : MEMSPAN_OPERATION_MAX);
}

bool hip_kernel_name(memspan_kernel_t kernel, char name[48], enum hip_part *part_p)
{
    int operation = ((int)kernel - MEMSPAN_KERNEL_COMBINE_FIRST) >> 8;
    int element   = ((int)kernel - MEMSPAN_KERNEL_COMBINE_FIRST) & 0xff;

    if (((int)kernel >= 0) && ((int)kernel < HIP_KERNELS)) {
        snprintf(name, 48, "memspan_%s", basics[kernel]);
        *part_p = HIP_PART_BASIC;
        return true;
    }
    if (((int)kernel < MEMSPAN_KERNEL_COMBINE_FIRST) ||
        ((int)kernel > MEMSPAN_KERNEL_COMBINE_LAST) || !fits(operation, element)) {
        return false;
    }
    snprintf(name, 48, "memspan_%s_%s", operations[operation], elements[element]);
    *part_p = HIP_PART_COMBINE;
    return true;
}
