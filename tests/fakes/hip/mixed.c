/* SPDX-License-Identifier: BSD-3-Clause */
/* mixed.c: one list over devices of NVIDIA and AMD, or of two other backends (MIXED=A,B). Host
 * pages are imported into both drivers at one address, and there is no such memory where one of
 * them sees it elsewhere (MIXED_REFUSED). */

#include <criterion/criterion.h>
#include <memspan/memspan.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 1000 };

static void check_devices(void)
{
    const char *expected = (getenv("MIXED") != NULL) ? getenv("MIXED") : "cuda,hip";
    memspan_device_info_t info[2];
    char found[sizeof(info[0].backend) * 2 + 1];

    for (int i = 0; i < 2; i++) {
        info[i] = (memspan_device_info_t){.struct_size = sizeof(info[i])};
        cr_assert_eq(memspan_device_describe(i, &info[i]), MEMSPAN_OK, "%s", memspan_error_text());
    }
    snprintf(found, sizeof(found), "%s,%s", info[0].backend, info[1].backend);
    cr_assert_str_eq(found, expected);
}

static void run(int device, memspan_kernel_t kernel, double a, void *x, void *y, void *z)
{
    memspan_kernel_call_t call = {.struct_size = sizeof(call),
                                  .kernel      = kernel,
                                  .count       = COUNT,
                                  .a           = a,
                                  .x           = x,
                                  .y           = y,
                                  .z           = z};

    cr_assert_eq(memspan_kernel_launch(device, &call), MEMSPAN_OK, "%s", memspan_error_text());
    cr_assert_eq(memspan_device_synchronize(device), MEMSPAN_OK, "%s", memspan_error_text());
}

static void share(memspan_space_h space)
{
    memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;
    double *z;

    cr_assert_eq(memspan_allocator_create(space, NULL, 0, &allocator), MEMSPAN_OK, "%s",
                 memspan_error_text());
    z = memspan_alloc(allocator, 2 * COUNT * sizeof(*z));
    cr_assert_not_null(z, "%s", memspan_error_text());
    cr_assert_eq(memspan_pointer_kind(z), MEMSPAN_KIND_HOST_PINNED);
    /* One device's numbers, then the other's, then the host's; all by the same address. */
    run(0, MEMSPAN_KERNEL_FILL, 2, NULL, NULL, z);
    run(1, MEMSPAN_KERNEL_FILL, 5, NULL, NULL, z + COUNT);
    run(1, MEMSPAN_KERNEL_DAXPY, 10, z, z, z + COUNT);
    for (int i = 0; i < COUNT; i++) {
        cr_assert_eq(z[COUNT + i], 5 + 10 * 2 + 2);
        z[i] = 1;
    }
    run(0, MEMSPAN_KERNEL_SUM, 0, z, NULL, z + COUNT);
    cr_assert_eq(z[COUNT], COUNT);
    cr_assert_eq(memspan_free(z), MEMSPAN_OK);
    cr_assert_eq(memspan_allocator_destroy(allocator), MEMSPAN_OK);
}

Test(hip_mixed, devices_of_two_vendors, .timeout = 60)
{
    int list[]            = {0, 1, MEMSPAN_HOST};
    memspan_space_h space = MEMSPAN_SPACE_NULL;
    memspan_status_t status;

    check_devices();
    status = memspan_space_get(list, 3, MEMSPAN_SPACE_NULL, &space);
    if (getenv("MIXED_REFUSED") != NULL) {
        cr_assert_eq(status, MEMSPAN_ERR_UNREACHABLE);
        cr_assert_not_null(strstr(memspan_error_text(), "is not reached by"), "%s",
                           memspan_error_text());
        return;
    }
    cr_assert_eq(status, MEMSPAN_OK, "%s", memspan_error_text());
    share(space);
}
