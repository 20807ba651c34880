/* SPDX-License-Identifier: BSD-3-Clause */
/* Plug-ins that are refused, by name and with the reason; the rest of the library does not mind.
 * MEMSPAN_BACKEND_PATH names the folder of bad ones, then the good one. */

#include <criterion/criterion.h>
#include <memspan/memspan.h>
#include <stdlib.h>
#include <string.h>

static memspan_backend_info_t find_backend(const char *name, const char *origin)
{
    memspan_backend_info_t info = {.struct_size = sizeof(info)};

    for (int i = 0; i < memspan_backend_count(); i++) {
        cr_assert_eq(memspan_backend_describe(i, &info), MEMSPAN_OK);
        if ((strcmp(info.name, name) == 0) && (strstr(info.origin, origin) != NULL)) {
            return info;
        }
    }
    cr_assert_fail("no backend %s from %s", name, origin);
    return info;
}

static void check_refused(const char *name, const char *origin, memspan_status_t status,
                          const char *words)
{
    memspan_backend_info_t info = find_backend(name, origin);

    cr_expect_eq(info.on, 0, "%s is on", name);
    cr_expect_eq(info.status, status, "%s: %s: %s", name, memspan_status_name(info.status),
                 info.reason);
    cr_expect_neq(strstr(info.reason, words), NULL, "%s: \"%s\" does not say \"%s\"", name,
                  info.reason, words);
    cr_expect_eq(info.device_count, 0);
}

Test(plugin, another_contract_version)
{
    check_refused("other_version", "other_version.so", MEMSPAN_ERR_ABI, "99");
}

Test(plugin, no_entry)
{
    check_refused("no_entry", "no_entry.so", MEMSPAN_ERR_ABI, "memspan_backend_entry");
}

Test(plugin, no_table)
{
    check_refused("null_table", "null_table.so", MEMSPAN_ERR_ABI, "NULL");
}

Test(plugin, a_required_member_is_missing)
{
    check_refused("no_alloc", "no_alloc.so", MEMSPAN_ERR_ABI, "alloc");
}

Test(plugin, half_a_group)
{
    check_refused("half_group", "half_group.so", MEMSPAN_ERR_ABI, "fill");
}

/* Of the members that a table may end before. */
Test(plugin, half_a_late_group)
{
    check_refused("late_group", "late_group.so", MEMSPAN_ERR_ABI,
                  "host_close is NULL, and others of the group host are set");
}

Test(plugin, no_shared_object)
{
    check_refused("no_object", "no_object.so", MEMSPAN_ERR_ABI, "no_object.so");
}

Test(plugin, a_name_that_is_taken)
{
    check_refused("clash", "clash.so", MEMSPAN_ERR_CONFLICT, "opencl");
}

Test(plugin, a_name_that_is_none)
{
    check_refused("wrong_name", "wrong_name.so", MEMSPAN_ERR_ABI, "name");
}

Test(plugin, a_driver_that_is_too_old)
{
    memspan_backend_info_t info = find_backend("broken", "broken.so");

    check_refused("broken", "broken.so", MEMSPAN_ERR_OFF, "too old");
    cr_expect_neq(strstr(info.reason, "version 0.9"), NULL, "the driver's words: %s", info.reason);
    cr_expect_neq(strstr(info.hint, "update the box driver"), NULL, "hint: %s", info.hint);
}

/* Only that it is off: it gave no reason, and no other error's text may replace it. */
Test(plugin, a_driver_that_fails_without_a_word)
{
    cr_assert_neq(memspan_device_synchronize(4321), MEMSPAN_OK);
    cr_assert_neq(memspan_free((void *)64), MEMSPAN_OK);
    check_refused("silent", "silent.so", MEMSPAN_ERR_DRIVER, "");
    cr_expect_eq(strstr(find_backend("silent", "silent.so").reason, "4321"), NULL);
    cr_expect_eq(memspan_error_last()->status, MEMSPAN_ERR_NOT_FOUND, "the caller's record stays");
}

Test(plugin, a_driver_without_devices)
{
    check_refused("empty", "empty.so", MEMSPAN_ERR_OFF, "no devices");
}

Test(plugin, the_good_one_and_the_host_work)
{
    memspan_backend_info_t info = find_backend("example", "example.so");
    void *block                 = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, 100);

    cr_assert_eq(info.on, 1, "%s", info.reason);
    cr_assert_eq(info.device_count, 1);
    cr_assert_neq(block, NULL);
    cr_assert_eq(memspan_free(block), MEMSPAN_OK);
    cr_assert_eq(memspan_check(), MEMSPAN_OK);
}

Test(plugin, the_opencl_that_is_built_in_stays)
{
    memspan_backend_info_t info = find_backend("opencl", "built in");

    cr_assert_str_eq(info.origin, "built in");
}

/* ---- options of a plug-in ---- */

static memspan_option_info_t find_option(const char *name)
{
    memspan_option_info_t found = {.struct_size = sizeof(found)};
    memspan_option_info_t info  = {.struct_size = sizeof(info)};
    int count                   = 0;

    for (int i = 0; i < memspan_option_count(); i++) {
        cr_assert_eq(memspan_option_describe(i, &info), MEMSPAN_OK);
        if (strcmp(info.name, name) == 0) {
            found = info;
            count++;
        }
    }
    cr_assert_eq(count, 1, "%d options %s", count, name);
    return found;
}

Test(plugin, an_option_of_its_own)
{
    memspan_device_info_t info = {.struct_size = sizeof(info)};
    memspan_option_info_t option;

    setenv("MEMSPAN_EXAMPLE_CAPACITY", "1m", 1);
    setenv("MEMSPAN_DEVICES", "example:0", 1);
    cr_assert_eq(memspan_device_describe(0, &info), MEMSPAN_OK, "%s", memspan_error_text());
    cr_expect_eq(info.capacity_bytes, 1u << 20);
    option = find_option("MEMSPAN_EXAMPLE_CAPACITY");
    cr_expect_str_eq(option.source, "environment");
    cr_expect_str_eq(option.value, "1m");
    cr_expect_str_eq(option.fallback, "256m");
    cr_expect_eq(memspan_option_problem_count(), 0, "%s", memspan_option_problem(0));
}

Test(plugin, an_option_that_is_not_its_own_is_left_out)
{
    cr_expect_str_eq(find_option("MEMSPAN_LOG").fallback, "warn");
}

Test(plugin, a_misspelt_option)
{
    setenv("MEMSPAN_EXAMPLE_CAPACITI", "1m", 1);
    cr_assert_eq(memspan_option_problem_count(), 1);
    cr_expect_not_null(strstr(memspan_option_problem(0), "perhaps MEMSPAN_EXAMPLE_CAPACITY"), "%s",
                       memspan_option_problem(0));
}

Test(plugin, a_malformed_option)
{
    setenv("MEMSPAN_EXAMPLE_CAPACITY", "plenty", 1);
    cr_expect_str_eq(find_option("MEMSPAN_EXAMPLE_CAPACITY").source, "refused");
    cr_expect_eq(memspan_option_problem_count(), 1);
}
