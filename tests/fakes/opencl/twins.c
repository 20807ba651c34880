/* SPDX-License-Identifier: BSD-3-Clause */
/* twins.c: hardware that two backends find, by the addresses of PCI: the pretended CUDA driver has
 * 41:00.0 and 42:00.0, each platform of the pretended OpenCL 41:00.0, 41:01.0 and so on. Each test
 * is a process of its own. */

#include <criterion/criterion.h>
#include <memspan/memspan.h>
#include <stdlib.h>

struct expected {
    const char *backend;
    int ordinal;
    const char *pci_address;
};

static void pretend(const char *backends, const char *devices)
{
    setenv("MEMSPAN_BACKENDS", backends, 1);
    setenv("MEMSPAN_DEVICES", devices, 1);
}

static void expect(const struct expected *expected, int count)
{
    int i;

    cr_assert_eq(memspan_device_count(), count, "%d devices", memspan_device_count());
    for (i = 0; i < count; i++) {
        memspan_device_info_t info = {.struct_size = sizeof(info)};

        cr_assert_eq(memspan_device_describe(i, &info), MEMSPAN_OK, "%s", memspan_error_text());
        cr_expect_str_eq(info.backend, expected[i].backend);
        cr_expect_eq(info.ordinal, expected[i].ordinal);
        cr_expect_str_eq(info.pci_address, expected[i].pci_address);
    }
}

Test(twins, hardware_of_two_backends_is_the_earlier_ones)
{
    static const struct expected devices[] = {
        {"cuda", 0, "0000:41:00.0"}, {"cuda", 1, "0000:42:00.0"}, {"opencl", 1, "0000:41:01.0"}};

    setenv("FAKE_OPENCL_DEVICES", "2", 1);
    pretend("cuda,opencl", "");
    expect(devices, 3);
}

Test(twins, devices_that_are_named_are_numbered)
{
    static const struct expected devices[] = {{"opencl", 0, "0000:41:00.0"},
                                              {"cuda", 0, "0000:41:00.0"}};

    pretend("cuda,opencl", "opencl:0,cuda:0");
    expect(devices, 2);
}

/* As parts of a card are. */
Test(twins, one_backend_has_two_devices_of_one_address)
{
    static const struct expected devices[] = {{"opencl", 0, "0000:41:00.0"},
                                              {"opencl", 1, "0000:41:00.0"}};

    setenv("FAKE_OPENCL_PLATFORMS", "2", 1);
    pretend("opencl", "");
    expect(devices, 2);
}

/* Zeros are no address. */
Test(twins, devices_without_an_address_are_no_twins)
{
    static const struct expected devices[] = {{"cuda", 0, ""}, {"opencl", 0, ""}};

    setenv("FAKE_CUDA_DEVICES", "1", 1);
    setenv("FAKE_CUDA_ATTRIBUTES", "33=0", 1);
    setenv("FAKE_OPENCL_LACKS", "identity", 1);
    pretend("cuda,opencl", "");
    expect(devices, 2);
}
