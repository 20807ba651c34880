/* SPDX-License-Identifier: BSD-3-Clause */
/* Malformed environment values, each variable: reported with its name, counted as unset, and an
 * error only for the calls that depend on it. Each test is a process that has not used the library
 * yet, so a variable may still be set. */

#include "api.h"
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

TestSuite(environment, .fini = in_order);

/* What the log says is the same sentence; it is not what is tested here. */
static void set(const char *name, const char *value)
{
    cr_assert_eq(setenv(name, value, 1), 0);
}

static memspan_option_info_t find_option(const char *name)
{
    memspan_option_info_t info = {.struct_size = sizeof(info)};

    for (int i = 0; i < memspan_option_count(); i++) {
        DONE(memspan_option_describe(i, &info));
        if (strcmp(info.name, name) == 0) {
            return info;
        }
    }
    cr_assert_fail("no option %s", name);
    return info;
}

static bool is_a_problem(const char *word)
{
    for (int i = 0; i < memspan_option_problem_count(); i++) {
        if (strstr(memspan_option_problem(i), word) != NULL) {
            return true;
        }
    }
    return false;
}

static void check_host_works(void)
{
    void *block = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, 100);

    cr_assert_neq(block, NULL, "%s", memspan_error_text());
    DONE(memspan_free(block));
}

static void check_refused(const char *name, const char *value)
{
    memspan_option_info_t info = find_option(name);

    cr_expect_str_eq(info.source, "refused", "%s=%s: %s", name, value, info.source);
    cr_expect_str_eq(info.value, info.fallback, "%s=%s", name, value);
    cr_expect_neq(strstr(info.problem, name), NULL, "%s", info.problem);
    cr_expect_neq(strstr(info.problem, value), NULL, "%s", info.problem);
    cr_expect(is_a_problem(name), "%s=%s is in no list", name, value);
}

static void check_malformed(const char *name, const char *value)
{
    set(name, value);
    check_host_works();
    (void)memspan_device_count();
    check_refused(name, value);
}

Test(environment, every_option_is_described)
{
    memspan_option_info_t info = {.struct_size = sizeof(info)};

    cr_assert_gt(memspan_option_count(), 8);
    for (int i = 0; i < memspan_option_count(); i++) {
        DONE(memspan_option_describe(i, &info));
        cr_expect_neq(info.name[0], '\0');
        cr_expect_neq(info.form[0], '\0', "%s", info.name);
        cr_expect_neq(info.help[0], '\0', "%s", info.name);
        cr_expect_neq(info.value, NULL);
        cr_expect_str_eq(info.source, "default", "%s", info.name);
        cr_expect_str_eq(info.value, info.fallback, "%s", info.name);
        cr_expect_str_empty(info.problem);
    }
    cr_expect_eq(memspan_option_problem_count(), 0);
}

Test(environment, an_unknown_name)
{
    set("MEMSPAN_DEVICE", "opencl:0");
    set("MEMSPAN_ENTIRELY_DIFFERENT", "1");
    check_host_works();
    cr_expect_eq(memspan_option_problem_count(), 2);
    cr_expect(is_a_problem("MEMSPAN_DEVICE "), "%s", memspan_option_problem(0));
    cr_expect(is_a_problem("MEMSPAN_DEVICES"), "the nearest that exists");
    cr_expect(is_a_problem("MEMSPAN_ENTIRELY_DIFFERENT"));
}

Test(environment, empty_is_unset)
{
    set("MEMSPAN_LOG", "");
    set("MEMSPAN_CHUNK_SIZE", "");
    set("MEMSPAN_DEVICES", "");
    check_host_works();
    cr_expect_eq(memspan_option_problem_count(), 0);
    cr_expect_str_eq(find_option("MEMSPAN_LOG").source, "default");
}

Test(environment, a_good_value)
{
    set("MEMSPAN_CHUNK_SIZE", "0.5MiB");
    set("MEMSPAN_FALLBACK", "quiet");
    check_host_works();
    cr_expect_str_eq(find_option("MEMSPAN_CHUNK_SIZE").source, "environment");
    cr_expect_str_eq(find_option("MEMSPAN_CHUNK_SIZE").value, "0.5MiB");
    cr_expect_eq(memspan_option_problem_count(), 0);
}

Test(environment, log)
{
    check_malformed("MEMSPAN_LOG", "loud");
}

Test(environment, log_two_words)
{
    check_malformed("MEMSPAN_LOG", "error|warn");
}

Test(environment, stats)
{
    check_malformed("MEMSPAN_STATS", "yes");
}

Test(environment, fallback)
{
    check_malformed("MEMSPAN_FALLBACK", "stric");
}

Test(environment, huge_pages)
{
    check_malformed("MEMSPAN_HUGE_PAGES", "always");
}

Test(environment, chunk_size_no_number)
{
    check_malformed("MEMSPAN_CHUNK_SIZE", "big");
}

Test(environment, chunk_size_no_power)
{
    check_malformed("MEMSPAN_CHUNK_SIZE", "3m");
}

Test(environment, chunk_size_no_power_by_a_byte)
{
    check_malformed("MEMSPAN_CHUNK_SIZE", "64.0001k"); /* rounded up */
}

Test(environment, chunk_size_two_points)
{
    check_malformed("MEMSPAN_CHUNK_SIZE", "0.5.0m");
}

Test(environment, chunk_size_zero)
{
    check_malformed("MEMSPAN_CHUNK_SIZE", "0");
}

Test(environment, chunk_size_overflow)
{
    check_malformed("MEMSPAN_CHUNK_SIZE", "99999999999999999999g");
}

Test(environment, chunk_size_negative)
{
    check_malformed("MEMSPAN_CHUNK_SIZE", "-4096");
}

static void check_devices(const char *value)
{
    memspan_space_h space = MEMSPAN_SPACE_NULL;
    int device            = 0;

    set("MEMSPAN_DEVICES", value);
    check_host_works();
    cr_expect_eq(memspan_space_get(&device, 1, MEMSPAN_SPACE_NULL, &space), MEMSPAN_ERR_CONFIG,
                 "\"%s\": %s", value, memspan_error_text());
    cr_expect(says("MEMSPAN_DEVICES"), "%s", memspan_error_text());
    check_refused("MEMSPAN_DEVICES", value);
}

Test(environment, devices_without_a_number)
{
    check_devices("host:one");
}

Test(environment, devices_of_no_backend)
{
    check_devices("opencll:0");
}

Test(environment, devices_beyond_the_last)
{
    check_devices("host:0,opencl:999");
}

Test(environment, devices_negative)
{
    check_devices("opencl:-1");
}

Test(environment, devices_nothing_between_commas)
{
    check_devices(",,");
}

Test(environment, devices_twice)
{
    check_devices("opencl:0,opencl:0");
}

Test(environment, backends_of_no_name)
{
    memspan_space_h space = MEMSPAN_SPACE_NULL;
    int device            = 0;

    set("MEMSPAN_BACKENDS", "opencll");
    check_host_works();
    cr_expect_eq(memspan_space_get(&device, 1, MEMSPAN_SPACE_NULL, &space), MEMSPAN_ERR_CONFIG,
                 "%s", memspan_error_text());
    check_refused("MEMSPAN_BACKENDS", "opencll");
    cr_expect(is_a_problem("opencl?") || is_a_problem("perhaps opencl"));
}

Test(environment, backends_left_out)
{
    memspan_backend_info_t info = {.struct_size = sizeof(info)};

    set("MEMSPAN_BACKENDS", "host");
    check_host_works();
    cr_expect_eq(memspan_device_count(), 0);
    for (int i = 0; i < memspan_backend_count(); i++) {
        DONE(memspan_backend_describe(i, &info));
        cr_expect((info.on == 1) || (strstr(info.reason, "MEMSPAN_BACKENDS") != NULL), "%s: %s",
                  info.name, info.reason);
    }
}

Test(environment, the_host_cannot_be_left_out)
{
    set("MEMSPAN_BACKENDS", "^host");
    check_host_works();
}

Test(environment, backend_path_to_nowhere)
{
    memspan_backend_info_t info = {.struct_size = sizeof(info)};
    int last;

    set("MEMSPAN_BACKEND_PATH", "/nonexistent/backend.so:::/nonexistent/folder/");
    check_host_works();
    last = memspan_backend_count() - 1;
    DONE(memspan_backend_describe(last, &info));
    cr_expect_eq(info.on, 0);
    cr_expect_neq(strstr(info.reason, "/nonexistent"), NULL, "%s", info.reason);
}

Test(environment, opencl_svm)
{
    memspan_backend_info_t info = {.struct_size = sizeof(info)};

    set("MEMSPAN_OPENCL_SVM", "medium");
    check_host_works();
    for (int i = 0; i < memspan_backend_count(); i++) {
        DONE(memspan_backend_describe(i, &info));
        if ((strcmp(info.name, "opencl") == 0) && (info.status == MEMSPAN_ERR_OFF)) {
            cr_skip("no backend reads it: %s", info.reason);
        }
    }
    cr_expect(is_a_problem("MEMSPAN_OPENCL_SVM") || is_a_problem("medium"));
}

Test(environment, omp_places)
{
    memspan_trait_t trait         = {MEMSPAN_TRAIT_PREFERRED_PLACE, 0};
    memspan_allocator_info_t info = {.struct_size = sizeof(info)};

    set("OMP_PLACES", "{0:oops");
    check_host_works();
    cr_expect_eq(memspan_allocator_plan(MEMSPAN_SPACE_DEFAULT, &trait, 1, &info),
                 MEMSPAN_ERR_CONFIG, "%s", memspan_error_text());
    cr_expect(says("OMP_PLACES"), "%s", memspan_error_text());
}

Test(environment, values_that_are_too_long)
{
    static char longest[100000];

    memset(longest, 'x', sizeof(longest) - 1);
    set("MEMSPAN_LOG", longest);
    set("MEMSPAN_DEVICES", longest);
    set("MEMSPAN_BACKENDS", longest);
    set("MEMSPAN_BACKEND_PATH", longest);
    set("MEMSPAN_CHUNK_SIZE", longest);
    set("OMP_ALLOCATOR", longest);
    set("OMP_PLACES", longest);
    memcpy(longest, "MEMSPAN_", 8);
    set(longest, "1");
    check_host_works();
    (void)memspan_device_count();
    cr_expect_gt(memspan_option_problem_count(), 3);
}

Test(environment, more_problems_than_are_kept)
{
    char name[32];

    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof(name), "MEMSPAN_X%d", i);
        set(name, "1");
    }
    set("MEMSPAN_LOG", "loud");
    check_host_works();
    cr_expect_gt(memspan_option_problem_count(), 10);
    cr_expect_str_eq(find_option("MEMSPAN_LOG").source, "refused");
}

/* MEMSPAN_STATS=exit and memspan_stats_print() write one line for each allocator. */
Test(environment, statistics_are_printed)
{
    char text[4096] = "";
    int file        = memfd_create("stats", 0);
    void *block;
    ssize_t n;

    cr_assert_geq(file, 0);
    block = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, 4321);
    cr_assert_neq(block, NULL);
    DONE(memspan_stats_print(file));
    n = pread(file, text, sizeof(text) - 1, 0);
    cr_assert_gt(n, 0);
    cr_expect_neq(strstr(text, "4321"), NULL, "%s", text);
    DONE(memspan_free(block));
    close(file);
}
