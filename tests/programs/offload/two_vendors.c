/* SPDX-License-Identifier: BSD-3-Clause */
/* two_vendors.c: one address for a device of the OpenMP runtime, an OpenCL device and the host.
 *
 * No vendor's runtime can make such memory. A target region, an OpenCL kernel and the host take
 * turns on one array. Run with MEMSPAN_DEVICES=opencl:0; skipped where there is no such device. */

#include "check.h"
#include <string.h>

enum { N = 20000, TURNS = 5 };

/* The first device that is the library's alone, or -2. */
static int opencl_device(void)
{
    int i;

    for (i = 0; i < memspan_device_count(); i++) {
        memspan_device_info_t info = {.struct_size = sizeof(info)};
        int device;

        CHECK(memspan_device_at(i, &device) == MEMSPAN_OK);
        CHECK(memspan_device_describe(device, &info) == MEMSPAN_OK);
        if (strcmp(info.backend, "opencl") == 0) {
            return device;
        }
    }
    return -2;
}

/* z[i] += x[i] + y[i], by OpenCL. */
static void add_by_opencl(int device, double *x, double *y, double *z)
{
    memspan_kernel_call_t call = {.struct_size = sizeof(call),
                                  .kernel      = MEMSPAN_KERNEL_DAXPY,
                                  .count       = N,
                                  .a           = 1.0,
                                  .x           = x,
                                  .y           = y,
                                  .z           = z};

    CHECK(memspan_kernel_launch(device, &call) == MEMSPAN_OK);
    CHECK(memspan_device_synchronize(device) == MEMSPAN_OK);
}

int main(void)
{
    int devices[3]           = {0, opencl_device(), MEMSPAN_HOST};
    omp_alloctrait_t trait[] = {{omp_atk_memory_access, omp_atv_managed}};
    omp_memspace_handle_t *space;
    omp_allocator_handle_t allocator;
    double *x;
    double *y;
    double *z;
    int turn;
    int i;

    if (devices[1] < 0) {
        printf("skipped: no OpenCL device has a number here\n");
        return 77;
    }
    check_devices(1);
    CHECK(devices[1] > omp_get_num_devices());
    space = omp_get_target_memspace(3, devices, omp_default_mem_space);
    CHECK(space != NULL);
    allocator = omp_init_allocator(*space, 1, trait);
    CHECK(allocator != omp_null_allocator);
    x = omp_alloc(N * sizeof(*x), allocator);
    y = omp_alloc(N * sizeof(*y), allocator);
    z = omp_alloc(N * sizeof(*z), allocator);
    CHECK((x != NULL) && (y != NULL) && (z != NULL));
    for (i = 0; i < N; i++) {
        x[i] = i;
        y[i] = 1;
        z[i] = 0;
    }
    for (turn = 0; turn < TURNS; turn++) {
        add_by_opencl(devices[1], x, y, z);
#pragma omp target
        for (int k = 0; k < N; k++) {
            z[k] *= 2;
        }
        for (i = 0; i < N; i++) {
            z[i] += 1;
        }
    }
    /* t -> 2 (t + i + 1) + 1, five times from 0: 62 (i + 1) + 31 */
    for (i = 0; i < N; i++) {
        CHECK(z[i] == 62.0 * (i + 1) + 31);
    }
    omp_free(z, allocator);
    omp_free(y, allocator);
    omp_free(x, allocator);
    omp_destroy_allocator(allocator);
    check_end();
    printf("two vendors: an OpenMP device, an OpenCL device and the host on one array\n");
    return 0;
}
