/* SPDX-License-Identifier: BSD-3-Clause */
/* device_only.c: memory that only a device has to reach, moved by explicit copies.
 *
 * The program keeps to the rule that the host does not touch it, as it must on a device whose
 * memory is its own. */

#include "check.h"

enum { N = 50000 };

static omp_allocator_handle_t allocator_of(int device)
{
    omp_alloctrait_t traits[]    = {{omp_atk_preferred_location, (omp_uintptr_t)device},
                                    {omp_atk_alignment, 4096}};
    omp_memspace_handle_t *space = omp_get_target_memspace(1, &device, omp_default_mem_space);

    CHECK(space != NULL);
    return omp_init_allocator(*space, 2, traits);
}

static void check_values(const double *values, double factor)
{
    int i;

    for (i = 0; i < N; i++) {
        CHECK(values[i] == factor * i);
    }
}

int main(void)
{
    double *here = malloc(N * sizeof(*here));
    omp_allocator_handle_t allocators[2];
    double *there[2];
    int host = omp_get_initial_device();
    int i;

    check_devices(2);
    CHECK(here != NULL);
    for (i = 0; i < 2; i++) {
        allocators[i] = allocator_of(i);
        CHECK(allocators[i] != omp_null_allocator);
        there[i] = omp_alloc(N * sizeof(double), allocators[i]);
        CHECK((there[i] != NULL) && (((uintptr_t)there[i] & 4095) == 0));
        check_memory(there[i], MEMSPAN_KIND_DEVICE, i);
    }
    for (i = 0; i < N; i++) {
        here[i] = i;
    }
    CHECK(omp_target_memcpy(there[0], here, N * sizeof(double), 0, 0, 0, host) == 0);
    double *first = there[0];
#pragma omp target teams distribute parallel for device(0) is_device_ptr(first)
    for (int k = 0; k < N; k++) {
        first[k] *= 2;
    }
    /* Device to device, by the OpenMP call and by ours. */
    CHECK(omp_target_memcpy(there[1], there[0], N * sizeof(double), 0, 0, 1, 0) == 0);
    CHECK(omp_target_memcpy(here, there[1], N * sizeof(double), 0, 0, host, 1) == 0);
    check_values(here, 2);

    CHECK(memspan_fill(there[1], 0, N * sizeof(double)) == MEMSPAN_OK);
    CHECK(memspan_copy(here, there[1], N * sizeof(double)) == MEMSPAN_OK);
    check_values(here, 0);
    double *second = there[1];
#pragma omp target device(1) is_device_ptr(second)
    for (int k = 0; k < N; k++) {
        second[k] = 5.0 * k;
    }
    CHECK(memspan_copy(there[0], there[1], N * sizeof(double)) == MEMSPAN_OK);
    CHECK(memspan_copy(here, there[0], N * sizeof(double)) == MEMSPAN_OK);
    check_values(here, 5);

    for (i = 0; i < 2; i++) {
        omp_free(there[i], allocators[i]);
        omp_destroy_allocator(allocators[i]);
    }
    free(here);
    check_end();
    printf("device only: %d values through two devices and back\n", N);
    return 0;
}
