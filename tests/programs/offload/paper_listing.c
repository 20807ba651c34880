/* SPDX-License-Identifier: BSD-3-Clause */
/* paper_listing.c: the proposal's use of its interface, with the proposal's names, and its daxpy.
 *
 * Memory for {device 0, host} is filled by the host, used by target regions without a map clause,
 * and read by the host. What an unmodified compiler does with a pointer that is mapped nowhere is
 * what the proposal needs: the pointer arrives as it is. */

#define MEMSPAN_OMP_PAPER_NAMES
#include "check.h"

enum { N = 100000, REPETITIONS = 10 };

static void omp_daxpy(int n, double a, double *x, double *y, double *z)
{
#pragma omp target teams distribute parallel for simd firstprivate(n, a)
    for (int i = 0; i < n; i++) {
        z[i] += a * x[i] + y[i];
    }
}

static void omp_daxpy_device_pointers(int n, double a, double *x, double *y, double *z)
{
#pragma omp target teams distribute parallel for firstprivate(n, a) is_device_ptr(x, y, z)
    for (int i = 0; i < n; i++) {
        z[i] += a * x[i] + y[i];
    }
}

int main(void)
{
    int devices[]             = {0, omp_get_initial_device()};
    omp_alloctrait_t traits[] = {{.key = memory_access, .value = managed},
                                 {.key = preferred_location, .value = 0},
                                 {.key = preferred_place, .value = 0}};
    omp_memspace_handle_t *space;
    omp_allocator_handle_t allocator;
    double *x;
    double *y;
    double *z;
    int i;

    check_devices(1);
    space = omp_get_target_memspace(2, devices, omp_default_mem_space);
    CHECK(space != NULL);
    allocator = omp_init_allocator(*space, 3, traits);
    CHECK(allocator != omp_null_allocator);

    x = omp_alloc(N * sizeof(*x), allocator);
    y = omp_alloc(N * sizeof(*y), allocator);
    z = omp_alloc(N * sizeof(*z), allocator);
    CHECK((x != NULL) && (y != NULL) && (z != NULL));
    for (i = 0; i < N; i++) {
        x[i] = i;
        y[i] = 2.0 * i;
        z[i] = 1.0;
    }
    for (i = 0; i < REPETITIONS; i++) {
        omp_daxpy(N, 3.0, x, y, z);
        omp_daxpy_device_pointers(N, 3.0, x, y, z);
    }
    for (i = 0; i < N; i++) {
        CHECK(z[i] == 1.0 + 2 * REPETITIONS * (3.0 * i + 2.0 * i));
    }
    omp_free(z, allocator);
    omp_free(y, allocator);
    omp_free(x, allocator);
    omp_destroy_allocator(allocator);
    check_end();
    printf("the proposal's listing: %d values right after %d target regions\n", N, 2 * REPETITIONS);
    return 0;
}
