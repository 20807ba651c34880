/* SPDX-License-Identifier: BSD-3-Clause */
/* mixed.c: one list over devices of several vendors (MIXED=A,B[,C]: their backends). It is served
 * by host pages that every driver confirms at one address. Where one sees them elsewhere, there is
 * no such space (MIXED_REFUSED=1), or no such memory if that shows late (MIXED_REFUSED=BACKEND). */

#include <criterion/criterion.h>
#include <memspan/memspan.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 1000, DEVICES_MAX = 3 };

/* The list, with the host; how many devices. */
static int list_devices(int list[DEVICES_MAX + 1])
{
    const char *names = (getenv("MIXED") != NULL) ? getenv("MIXED") : "cuda,hip";
    int count         = 0;

    for (; names[0] != '\0'; count++) {
        memspan_device_info_t info = {.struct_size = sizeof(info)};
        size_t length              = strcspn(names, ",");

        if (memspan_device_describe(count, &info) != MEMSPAN_OK) {
            cr_assert(strncmp(names, "opencl", length) == 0, "%s", memspan_error_text());
            cr_skip_test("there is no OpenCL");
        }
        cr_assert_eq(strncmp(info.backend, names, length), 0, "%d: %s", count, info.backend);
        list[count] = count;
        names += length + (names[length] == ',');
    }
    list[count] = MEMSPAN_HOST;
    return count;
}

static void run(int device, memspan_kernel_t kernel, double a, void *x, void *z)
{
    memspan_kernel_call_t call = {.struct_size = sizeof(call),
                                  .kernel      = kernel,
                                  .count       = COUNT,
                                  .a           = a,
                                  .x           = x,
                                  .y           = x,
                                  .z           = z};

    cr_assert_eq(memspan_kernel_launch(device, &call), MEMSPAN_OK, "%s", memspan_error_text());
    cr_assert_eq(memspan_device_synchronize(device), MEMSPAN_OK, "%s", memspan_error_text());
}

/* Each device's numbers, then those of all by each, then the host's; all by the same address. */
static void share(double *z, int devices)
{
    double wanted = 0;

    for (int d = 0; d < devices; d++) {
        run(d, MEMSPAN_KERNEL_FILL, 2 + d, NULL, z + d * COUNT);
        run(d, MEMSPAN_KERNEL_FILL, 0, NULL, z + devices * COUNT);
    }
    for (int d = 0; d < devices; d++) {
        for (int other = 0; other < devices; other++) {
            run(d, MEMSPAN_KERNEL_DAXPY, 9, z + other * COUNT, z + devices * COUNT);
            wanted += 10 * (2 + other);
        }
    }
    for (int i = 0; i < COUNT; i++) {
        cr_assert_eq(z[devices * COUNT + i], wanted);
        z[i] = 1;
    }
    for (int d = 0; d < devices; d++) {
        run(d, MEMSPAN_KERNEL_SUM, 0, z, z + COUNT);
        cr_assert_eq(z[COUNT], COUNT);
    }
}

Test(mixed, one_address_for_all_vendors, .timeout = 60)
{
    const char *refused           = getenv("MIXED_REFUSED");
    memspan_trait_t null_fb       = {MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB};
    memspan_space_h space         = MEMSPAN_SPACE_NULL;
    memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;
    int list[DEVICES_MAX + 1];
    int devices             = list_devices(list);
    memspan_status_t status = memspan_space_get(list, devices + 1, MEMSPAN_SPACE_NULL, &space);
    double *z;

    if ((refused != NULL) && (refused[0] == '1')) {
        cr_assert_eq(status, MEMSPAN_ERR_UNREACHABLE);
        cr_assert_not_null(strstr(memspan_error_text(), "is not reached by"), "%s",
                           memspan_error_text());
        return;
    }
    cr_assert_eq(status, MEMSPAN_OK, "%s", memspan_error_text());
    cr_assert_eq(memspan_allocator_create(space, &null_fb, 1, &allocator), MEMSPAN_OK, "%s",
                 memspan_error_text());
    z = memspan_alloc(allocator, (1 + devices) * COUNT * sizeof(*z));
    if (refused != NULL) {
        cr_assert_null(z);
        cr_assert_not_null(strstr(memspan_error_text(), "sees host pages at"), "%s",
                           memspan_error_text());
        cr_assert_str_eq(memspan_error_last()->backend, refused);
    } else {
        cr_assert_not_null(z, "%s", memspan_error_text());
        cr_assert_eq(memspan_pointer_kind(z), MEMSPAN_KIND_HOST_PINNED);
        share(z, devices);
        cr_assert_eq(memspan_free(z), MEMSPAN_OK);
    }
    cr_assert_eq(memspan_allocator_destroy(allocator), MEMSPAN_OK);
}
