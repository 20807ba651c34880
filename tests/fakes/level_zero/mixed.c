/* SPDX-License-Identifier: BSD-3-Clause */
/* mixed.c: one list of devices of three vendors' drivers: CUDA's and Level Zero's pretended ones,
 * and OpenCL. It is served by host pages that every driver confirms at one address, and refused
 * where one of them sees them elsewhere. */

#include <criterion/criterion.h>
#include <memspan/memspan.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 1000 };

static const int devices[] = {MEMSPAN_HOST, 0, 1, 2};

static memspan_allocator_h make_allocator(void)
{
    memspan_trait_t traits[]      = {{MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB}};
    memspan_space_h space         = MEMSPAN_SPACE_NULL;
    memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;

    if (memspan_device_count() != 3) {
        cr_skip_test("not all three drivers are here: %d devices", memspan_device_count());
    }
    cr_assert_eq(memspan_space_get(devices, 4, MEMSPAN_SPACE_NULL, &space), MEMSPAN_OK, "%s",
                 memspan_error_text());
    cr_assert_eq(memspan_allocator_create(space, traits, 1, &allocator), MEMSPAN_OK, "%s",
                 memspan_error_text());
    return allocator;
}

static bool is_lying(void)
{
    return getenv("FAKE_ZE_LIES") != NULL;
}

Test(mixed, one_address_for_all_vendors, .timeout = 60)
{
    memspan_allocator_h allocator;
    double *z;
    int device;

    if (is_lying()) {
        cr_skip_test("a driver lies");
    }
    allocator = make_allocator();
    z         = memspan_alloc(allocator, COUNT * sizeof(*z));
    cr_assert_not_null(z, "%s", memspan_error_text());
    for (int i = 0; i < COUNT; i++) {
        z[i] = i;
    }
    for (device = 0; device < 3; device++) {
        memspan_kernel_call_t call = {.struct_size = sizeof(call),
                                      .kernel      = MEMSPAN_KERNEL_DAXPY,
                                      .count       = COUNT,
                                      .a           = 0,
                                      .x           = z,
                                      .y           = z,
                                      .z           = z};
        cr_assert_eq(memspan_kernel_launch(device, &call), MEMSPAN_OK, "%d: %s", device,
                     memspan_error_text());
        cr_assert_eq(memspan_device_synchronize(device), MEMSPAN_OK, "%d: %s", device,
                     memspan_error_text());
    }
    for (int i = 0; i < COUNT; i++) {
        cr_assert_eq(z[i], 8.0 * i, "%d: %g", i, z[i]); /* doubled by each */
    }
    cr_assert_eq(memspan_free(z), MEMSPAN_OK);
    cr_assert_eq(memspan_allocator_destroy(allocator), MEMSPAN_OK);
}

Test(mixed, a_driver_that_sees_another_address_is_refused, .timeout = 60)
{
    memspan_allocator_h allocator;

    if (!is_lying()) {
        cr_skip_test("no driver lies");
    }
    allocator = make_allocator();
    cr_assert_null(memspan_alloc(allocator, COUNT));
    cr_assert_not_null(strstr(memspan_error_text(), "sees host pages at"), "%s",
                       memspan_error_text());
    cr_assert_str_eq(memspan_error_last()->backend, "level_zero");
    cr_assert_eq(memspan_allocator_destroy(allocator), MEMSPAN_OK);
}
