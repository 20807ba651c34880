/* SPDX-License-Identifier: BSD-3-Clause */
/* import.c: pages of the program's own in a driver. */

#include "core/base/platform.h"
#include <criterion/criterion.h>
#include <memspan/memspan.h>
#include <sys/mman.h>

/* The first device whose driver takes pages; -1: none here. *reaches_p: it reaches others, too. */
static int find_importer(bool *reaches_p)
{
    int i;

    for (i = 0; i < memspan_device_count(); i++) {
        memspan_device_info_t info = {.struct_size = sizeof info};
        int number;

        if ((memspan_device_at(i, &number) == MEMSPAN_OK) &&
            (memspan_device_describe(number, &info) == MEMSPAN_OK) &&
            ((info.capabilities & MEMSPAN_CAN_IMPORT) != 0)) {
            *reaches_p = (info.capabilities & MEMSPAN_CAN_ACCESS_PAGEABLE) != 0;
            return number;
        }
    }
    return -1;
}

static double *map_pages(size_t size)
{
    void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    cr_assert_neq(pages, MAP_FAILED);
    return pages;
}

Test(import, what_is_refused)
{
    size_t size   = msp_page_size();
    double *pages = map_pages(size);
    int nowhere   = 12345;
    int device    = MEMSPAN_HOST;

    cr_assert_eq(memspan_import(NULL, size, &device, 1), MEMSPAN_ERR_INVALID);
    cr_assert_eq(memspan_import(pages, 0, &device, 1), MEMSPAN_ERR_INVALID);
    cr_assert_eq(memspan_import(pages, size - 1, &device, 1), MEMSPAN_ERR_INVALID);
    cr_assert_eq(memspan_import(pages + 1, size, &device, 1), MEMSPAN_ERR_INVALID);
    cr_assert_eq(memspan_import(pages, size, NULL, 1), MEMSPAN_ERR_INVALID);
    cr_assert_eq(memspan_import(pages, size, &device, 0), MEMSPAN_ERR_INVALID);
    cr_assert_eq(memspan_import(pages, size, &nowhere, 1), MEMSPAN_ERR_NOT_FOUND);
    cr_assert_eq(memspan_import_release(pages), MEMSPAN_ERR_NOT_FOUND);
    cr_assert_eq(memspan_import_release(NULL), MEMSPAN_ERR_NOT_FOUND);
    munmap(pages, size);
}

Test(import, a_kernel_works_on_them)
{
    size_t size                = 4 * msp_page_size();
    double *pages              = map_pages(size);
    bool reaches_all           = false;
    int device                 = find_importer(&reaches_all);
    memspan_kernel_call_t call = {.struct_size = sizeof call,
                                  .kernel      = MEMSPAN_KERNEL_FILL,
                                  .count       = size / sizeof(double),
                                  .a           = 7.5,
                                  .z           = pages};
    size_t i;

    if (device < 0) {
        cr_skip("no device imports pages");
    }
    cr_assert_eq(memspan_import(pages, size, &device, 1), MEMSPAN_OK, "%s", memspan_error_text());
    cr_assert_eq(memspan_import(pages, size, &device, 1), MEMSPAN_ERR_CONFLICT);
    cr_assert_eq(memspan_kernel_launch(device, &call), MEMSPAN_OK, "%s", memspan_error_text());
    cr_assert_eq(memspan_device_synchronize(device), MEMSPAN_OK, "%s", memspan_error_text());
    for (i = 0; i < size / sizeof(double); i++) {
        cr_assert_eq(pages[i], 7.5, "element %zu is %g", i, pages[i]);
    }
    cr_assert_eq(memspan_import_release(pages), MEMSPAN_OK);
    cr_assert_eq(memspan_import_release(pages), MEMSPAN_ERR_NOT_FOUND);
    cr_assert_eq(memspan_kernel_launch(device, &call),
                 reaches_all ? MEMSPAN_OK : MEMSPAN_ERR_INVALID, "pages that were released");
    cr_assert_eq(memspan_device_synchronize(device), MEMSPAN_OK, "%s", memspan_error_text());
    munmap(pages, size);
}
