/* SPDX-License-Identifier: BSD-3-Clause */
#include "backends/gpu/common.h"
#include <stdio.h>

static const char *const basics[GPU_KERNELS] = {
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

/* Logic is for integers, order for all but complex numbers. */
static bool fits(int operation, int element)
{
    if ((operation >= MEMSPAN_OPERATION_COUNT) || (element >= MEMSPAN_ELEMENT_COUNT)) {
        return false;
    }
    if (element <= MEMSPAN_ELEMENT_U64) {
        return true;
    }
    return operation <=
           ((element >= MEMSPAN_ELEMENT_C32) ? MEMSPAN_OPERATION_PROD : MEMSPAN_OPERATION_MAX);
}

int gpu_kernel_find(memspan_kernel_t kernel, char name[48])
{
    int which     = (int)kernel - MEMSPAN_KERNEL_COMBINE_FIRST;
    int operation = which >> 8;
    int element   = which & 0xff;

    if (((int)kernel >= 0) && ((int)kernel < GPU_KERNELS)) {
        snprintf(name, 48, "memspan_%s", basics[kernel]);
        return (int)kernel;
    }
    if ((which < 0) || !fits(operation, element)) {
        return -1;
    }
    snprintf(name, 48, "memspan_%s_%s", operations[operation], elements[element]);
    return GPU_KERNELS + operation * MEMSPAN_ELEMENT_COUNT + element;
}

bool gpu_kernel_combines(int place, int *operation_p, int *element_p)
{
    *operation_p = (place - GPU_KERNELS) / MEMSPAN_ELEMENT_COUNT;
    *element_p   = (place - GPU_KERNELS) % MEMSPAN_ELEMENT_COUNT;
    return place >= GPU_KERNELS;
}
