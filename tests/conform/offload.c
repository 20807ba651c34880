/* SPDX-License-Identifier: BSD-3-Clause */
/* offload.c: the built-in kernels as target regions, for the devices of an OpenMP offload runtime:
 * the program's own regions are what runs there. Nothing is mapped; every address is used as it is.
 */

#include "conform.h"

static void run_daxpy(int device, size_t count, double a, const double *x, const double *y,
                      double *z)
{
#pragma omp target teams distribute parallel for device(device) is_device_ptr(x, y, z)
    for (size_t i = 0; i < count; i++) {
        z[i] += a * x[i] + y[i];
    }
}

static void run_fill(int device, size_t count, double a, double *z)
{
#pragma omp target teams distribute parallel for device(device) is_device_ptr(z)
    for (size_t i = 0; i < count; i++) {
        z[i] = a;
    }
}

static void run_sum(int device, size_t count, const double *x, double *z)
{
#pragma omp target device(device) is_device_ptr(x, z)
    {
        double sum = 0.0;

        for (size_t i = 0; i < count; i++) {
            sum += x[i];
        }
        z[0] = sum;
    }
}

static void run_chase(int device, size_t count, const void *x, const void **z)
{
#pragma omp target device(device) is_device_ptr(x, z)
    {
        const void *at = x;

        for (size_t i = 0; i < count; i++) {
            at = *(const void *const *)at;
        }
        z[0] = at;
    }
}

static void run_add_atomic(int device, size_t count, unsigned amount, unsigned *z)
{
#pragma omp target parallel for device(device) is_device_ptr(z)
    for (size_t i = 0; i < count; i++) {
#pragma omp atomic
        z[0] += amount;
    }
}

static memspan_status_t run(int device, const memspan_kernel_call_t *call)
{
    switch (call->kernel) {
    case MEMSPAN_KERNEL_DAXPY:
        run_daxpy(device, call->count, call->a, call->x, call->y, call->z);
        return MEMSPAN_OK;
    case MEMSPAN_KERNEL_FILL:
        run_fill(device, call->count, call->a, call->z);
        return MEMSPAN_OK;
    case MEMSPAN_KERNEL_SUM:
        run_sum(device, call->count, call->x, call->z);
        return MEMSPAN_OK;
    case MEMSPAN_KERNEL_CHASE:
        run_chase(device, call->count, call->x, call->z);
        return MEMSPAN_OK;
    case MEMSPAN_KERNEL_ADD_ATOMIC:
        run_add_atomic(device, call->count, (unsigned)(long)call->a, call->z);
        return MEMSPAN_OK;
    default:
        break;
    }
    return MEMSPAN_ERR_UNSUPPORTED;
}

conform_kernels_t *const conform_own_kernels = run;
