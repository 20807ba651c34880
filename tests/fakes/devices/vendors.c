/* SPDX-License-Identifier: BSD-3-Clause */
/* Devices of two vendors in one list: host pages that both drivers see at one address, or nothing.
 */

#include "machine.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

Test(vendors, imported_host_pages_serve_both)
{
    memspan_allocator_info_t info = {.struct_size = sizeof(info)};
    memspan_reach_t reach;
    memspan_allocator_h a;
    char *block;

    machine_pretend("import", "import");
    cr_assert_eq(machine_allocator(DEVICES(0, 1, MEMSPAN_HOST), "", &a), MEMSPAN_OK, "%s",
                 memspan_error_text());
    cr_assert_eq(memspan_allocator_describe(a, &info), MEMSPAN_OK);
    cr_expect_eq(info.kind_given, MEMSPAN_KIND_HOST_PINNED);
    cr_expect(strstr(info.why, "imported") != NULL, "%s", info.why);
    block = memspan_alloc(a, 100000);
    cr_assert(block != NULL, "%s", memspan_error_text());
    memset(block, 7, 100000);
    cr_expect_eq(memspan_pointer_reach(block, 1, &reach), MEMSPAN_OK);
    cr_expect_eq(reach.access, MEMSPAN_ACCESS_REMOTE);
    memspan_free(block);
    machine_expect_clean();
}

Test(vendors, another_address_is_refused)
{
    memspan_allocator_h a;

    machine_pretend("import", "elsewhere");
    cr_assert_eq(machine_allocator(DEVICES(0, 1, MEMSPAN_HOST), "", &a), MEMSPAN_OK);
    cr_expect(memspan_alloc(a, 4096) == NULL);
    cr_expect_eq(memspan_error_last()->status, MEMSPAN_ERR_UNREACHABLE);
    cr_expect(strstr(memspan_error_text(), "fakeb0 sees host pages at another address") != NULL,
              "%s", memspan_error_text());
    machine_expect_clean();
}

Test(vendors, no_import_no_space)
{
    memspan_space_h space = MEMSPAN_SPACE_NULL;

    machine_pretend("discrete", "import");
    cr_expect_eq(memspan_space_get(DEVICES(0, 1), MEMSPAN_SPACE_NULL, &space),
                 MEMSPAN_ERR_UNREACHABLE);
    cr_expect(strstr(memspan_error_text(), "fakeb0") != NULL, "%s", memspan_error_text());
    cr_expect_eq(space, MEMSPAN_SPACE_NULL);
}

/* No two windows look alike. */
static char pattern(size_t i)
{
    return (char)((i * 2654435761u) >> 24);
}

Test(vendors, copies_between_them_go_through_the_host)
{
    enum { BYTES = 9 << 20 }; /* more than two windows */
    memspan_allocator_h a;
    memspan_allocator_h b;
    char *host;
    char *x;
    char *y;
    size_t i;

    machine_pretend("discrete", "discrete");
    cr_assert_eq(machine_allocator(DEVICES(0), "", &a), MEMSPAN_OK);
    cr_assert_eq(machine_allocator(DEVICES(1), "", &b), MEMSPAN_OK);
    host = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, BYTES);
    x    = memspan_alloc(a, BYTES);
    y    = memspan_alloc(b, BYTES);
    cr_assert((host != NULL) && (x != NULL) && (y != NULL), "%s", memspan_error_text());
    for (i = 0; i < BYTES; i++) {
        host[i] = pattern(i);
    }
    cr_assert_eq(memspan_copy(x, host, BYTES), MEMSPAN_OK);
    cr_assert_eq(memspan_copy(y + 1, x + 3, BYTES - 3), MEMSPAN_OK, "%s", memspan_error_text());
    memset(host, 0, BYTES);
    cr_assert_eq(memspan_copy(host, y + 1, BYTES - 3), MEMSPAN_OK);
    for (i = 0; i < BYTES - 3; i++) {
        cr_assert_eq(host[i], pattern(i + 3), "byte %zu", i);
    }
    memspan_free(host);
    memspan_free(x);
    memspan_free(y);
    machine_expect_clean();
}

Test(vendors, devices_are_numbered_as_listed)
{
    memspan_device_info_t info = {.struct_size = sizeof(info)};

    machine_pretend("discrete,managed", "unified");
    setenv("MEMSPAN_DEVICES", "fakeb:0,fakea:1", 1);
    cr_assert_eq(memspan_device_count(), 2);
    cr_assert_eq(memspan_device_describe(0, &info), MEMSPAN_OK);
    cr_expect_str_eq(info.backend, "fakeb");
    cr_assert_eq(memspan_device_describe(1, &info), MEMSPAN_OK);
    cr_expect_str_eq(info.name, "pretended managed device");
    cr_expect_eq(memspan_host_device(), 2);
    cr_expect_eq(memspan_device_describe(3, &info), MEMSPAN_ERR_NOT_FOUND);
}
