/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BACKENDS_GPU_KERNEL_NAME_H
#define MEMSPAN_BACKENDS_GPU_KERNEL_NAME_H

/* The built-in kernels of GPUs, and the names of their functions. */

#include <memspan/transfer.h>
#include <stdbool.h>

enum {
    GPU_KERNELS      = MEMSPAN_KERNEL_ADD_ATOMIC + 1, /* those that combine nothing come first */
    GPU_KERNEL_COUNT = GPU_KERNELS + MEMSPAN_OPERATION_COUNT * MEMSPAN_ELEMENT_COUNT
};

/* The place of a kernel among GPU_KERNEL_COUNT, and the name of its function ("memspan_sum_f64");
 * -1: there is none. */
int gpu_kernel_find(memspan_kernel_t kernel, char name[48]);

/* Operation and element of a combining kernel, by its place; false: it is none. */
bool gpu_kernel_combines(int place, int *operation_p, int *element_p);

#endif /* MEMSPAN_BACKENDS_GPU_KERNEL_NAME_H */
