/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory devices of trees that are made here, as the kernel's buses show them. */

#include "core/topology/memory_device.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[] = "/tmp/memspan-devices-XXXXXX";

static void make_root(void)
{
    cr_assert_not_null(mkdtemp(root));
}

static void remove_root(void)
{
    char command[128];

    snprintf(command, sizeof(command), "rm -r %s", root);
    cr_expect_eq(system(command), 0);
}

TestSuite(memory_device, .init = make_root, .fini = remove_root);

/* The path below the root, whose folders are made. */
static const char *at(const char *path)
{
    static char text[PATH_MAX];
    char *slash;

    snprintf(text, sizeof(text), "%s/%s", root, path);
    for (slash = strchr(text + sizeof(root), '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        cr_assert((mkdir(text, 0755) == 0) || (errno == EEXIST), "%s", text);
        *slash = '/';
    }
    return text;
}

static void put(const char *path, const char *line)
{
    FILE *file = fopen(at(path), "w");

    cr_assert_not_null(file);
    fprintf(file, "%s\n", line);
    fclose(file);
}

static void put_link(const char *path, const char *target)
{
    cr_assert_eq(symlink(target, at(path)), 0);
}

static int count(void)
{
    memspan_memory_device_info_t info;

    return msp_memory_device_scan(root, -1, &info);
}

static memspan_memory_device_info_t device(const char *name)
{
    memspan_memory_device_info_t info = {.name = ""};
    int i;

    for (i = 0; i < count(); i++) {
        cr_assert_eq(msp_memory_device_scan(root, i, &info), count());
        if (strcmp(info.name, name) == 0) {
            return info;
        }
    }
    cr_assert_fail("no %s", name);
    return info;
}

static void is(const char *name, bool usable, const char *mode, const char *words)
{
    memspan_memory_device_info_t info = device(name);

    cr_expect_eq(info.usable, usable, "%s: %s", name, info.why);
    cr_expect_str_eq(info.mode, mode, "%s", name);
    cr_expect_not_null(strstr(info.why, words), "%s: %s", name, info.why);
}

#define DAX  "sys/bus/dax/devices/"
#define ND   "sys/bus/nd/devices/"
#define CXL  "sys/bus/cxl/devices/"
#define DISK "sys/class/block/"

static void put_dax(const char *name, const char *driver, const char *node)
{
    char path[128];

    snprintf(path, sizeof(path), DAX "%s/size", name);
    put(path, "4294967296");
    snprintf(path, sizeof(path), DAX "%s/align", name);
    put(path, "2097152");
    snprintf(path, sizeof(path), DAX "%s/target_node", name);
    put(path, node);
    snprintf(path, sizeof(path), DAX "%s/numa_node", name);
    put(path, "0");
    if (driver[0] != '\0') {
        char target[64];

        snprintf(path, sizeof(path), DAX "%s/driver", name);
        snprintf(target, sizeof(target), "../../../../bus/dax/drivers/%s", driver);
        put_link(path, target);
    }
}

Test(memory_device, nothing)
{
    cr_assert_eq(count(), 0);
}

Test(memory_device, dax_by_its_driver)
{
    memspan_memory_device_info_t info;

    put("sys/devices/system/node/has_memory", "0,2");
    put_dax("dax0.0", "device_dax", "3");
    put_dax("dax1.0", "kmem", "2");
    put_dax("dax2.0", "kmem", "4");
    put_dax("dax10.0", "", "5");
    put(DAX "dax11.0/size", "0"); /* a seed */
    put("dev/dax0.0", "");
    cr_assert_eq(count(), 4);
    is("dax0.0", true, "devdax", "multiples of 2 MiB");
    is("dax1.0", true, "system-ram", "it is NUMA node 2");
    is("dax2.0", false, "system-ram", "daxctl online-memory dax2.0");
    is("dax10.0", false, "", "no driver is bound to it");
    info = device("dax0.0");
    cr_expect_eq(info.kind, MEMSPAN_MEMORY_DEVICE_DAX);
    cr_expect_str_eq(info.path, "/dev/dax0.0");
    cr_expect_eq(info.capacity_bytes, UINT64_C(4) << 30);
    cr_expect_eq(info.align_bytes, 2u << 20);
    cr_expect_eq(info.numa_node, 0);
    cr_expect_eq(info.target_node, 3);
    cr_expect_eq(info.persistent, 0);
    /* Numbers in names are compared as numbers. */
    msp_memory_device_scan(root, 3, &info);
    cr_expect_str_eq(info.name, "dax10.0");
}

Test(memory_device, dax_that_cannot_be_mapped)
{
    put_dax("dax0.0", "device_dax", "3");
    put_dax("dax1.0", "device_dax", "3");
    put(DAX "dax1.0/size", "4294967297");
    is("dax0.0", false, "devdax", "No such file");
    is("dax1.0", false, "devdax", "no multiple of its alignment");
    put("dev/dax0.0", "");
    is("dax0.0", true, "devdax", "");
    cr_assert((chmod(at("dev/dax0.0"), 0400) == 0) && (chmod(root, 0755) == 0));
    /* Root may open all. */
    cr_assert(((geteuid() != 0) || (seteuid(65534) == 0)));
    is("dax0.0", false, "devdax", "Permission denied");
    cr_assert((getuid() != 0) || (seteuid(0) == 0));
}

Test(memory_device, persistent_by_its_parent)
{
    put("sys/devices/ndbus0/region0/dax0.1/dax0.0/size", "2097152");
    at(DAX "x");
    put_link(DAX "dax0.0", "../../../devices/ndbus0/region0/dax0.1/dax0.0");
    cr_expect_eq(device("dax0.0").persistent, 1);
}

Test(memory_device, nvdimms)
{
    memspan_memory_device_info_t info;

    put(ND "ndbus0/provider", "ACPI.NFIT");
    put(ND "region0/size", "17179869184");
    put(ND "region0/available_size", "8589934592");
    put(ND "region0/align", "16777216");
    put(ND "region1/size", "17179869184");
    put(ND "region1/available_size", "0");
    put(ND "region2/size", "17179869184");
    put(ND "region10/size", "4096");
    put(ND "region10/available_size", "4096"); /* its namespace has no label */
    put(ND "namespace10.0/size", "4096");
    put(ND "namespace10.0/mode", "raw");
    put(ND "region2/read_only", "1");
    put(ND "namespace0.0/size", "4294967296");
    put(ND "namespace0.0/mode", "dax");
    put(ND "namespace0.0/holder", "dax0.1");
    put(ND "namespace0.1/size", "4294967296");
    put(ND "namespace0.1/mode", "safe");
    put(ND "namespace0.2/size", "0");
    put(ND "namespace0.2/mode", "raw");
    put(ND "namespace1.0/size", "17179869184");
    put(ND "namespace1.0/mode", "raw");
    put(ND "namespace1.1/size", "1");
    put(ND "namespace1.1/mode", "memory");
    cr_assert_eq(count(), 9);
    is("region10", true, "", "its namespaces have all of it");
    is("region0", false, "", "8 GiB of it is in no namespace");
    is("region1", true, "", "its namespaces have all of it");
    is("region2", false, "", "read-only");
    is("namespace0.0", true, "devdax", "dax0.1 has it");
    is("namespace0.1", false, "sector", "no program maps mode sector");
    is("namespace1.0", false, "raw", "no program maps mode raw");
    is("namespace1.1", true, "fsdax", "its device has it");
    info = device("region0");
    cr_expect_eq(info.kind, MEMSPAN_MEMORY_DEVICE_REGION);
    cr_expect_eq(info.align_bytes, 16u << 20);
    cr_expect_eq(info.persistent, 1);
}

Test(memory_device, block_devices)
{
    memspan_memory_device_info_t info;

    put(DISK "sda/size", "1000");
    put(DISK "sda/queue/dax", "0");
    put(DISK "pmem0/size", "8388608");
    put(DISK "pmem0/queue/dax", "1");
    put(DISK "pmem0/ro", "0");
    put(DISK "pmem0/device/numa_node", "1");
    put(DISK "pmem0p1/partition", "1");
    put(DISK "pmem0p1/size", "1000");
    put(DISK "pmem1s/size", "8388608");
    put(DISK "pmem1s/queue/dax", "0");
    put(DISK "pmem3/size", "8");
    put(DISK "pmem3/queue/dax", "0");
    put(DISK "pmem2/size", "8");
    put(DISK "pmem2/queue/dax", "1");
    put(DISK "pmem2/ro", "1");
    cr_assert_eq(count(), 4);
    is("pmem0", false, "fsdax", "not mounted");
    is("pmem3", false, "raw", "has no DAX");
    is("pmem1s", false, "sector", "has no DAX");
    is("pmem2", false, "fsdax", "read-only");
    put("proc/self/mounts", "/dev/pmem0 /mnt ext4 rw,relatime 0 0");
    is("pmem0", false, "fsdax", "/mnt is mounted without dax");
    put("proc/self/mounts", "/dev/pmem0 /mnt xfs rw,dax=never,relatime 0 0");
    is("pmem0", false, "fsdax", "without dax");
    put("proc/self/mounts",
        "/dev/pmem00 /no ext4 rw,dax 0 0\n/dev/pmem0 /mnt ext4 rw,dax=always 0 0");
    is("pmem0", true, "fsdax", "the files at /mnt");
    info = device("pmem0");
    cr_expect_eq(info.capacity_bytes, UINT64_C(4) << 30);
    cr_expect_eq(info.numa_node, 1);
    cr_expect_str_eq(info.path, "/dev/pmem0");
}

Test(memory_device, cxl)
{
    memspan_memory_device_info_t info;

    put(CXL "mem0/ram/size", "0x40000000");
    put(CXL "mem0/pmem/size", "0x0");
    put(CXL "mem0/numa_node", "0");
    put(CXL "decoder0.0/size", "0x40000000");
    cr_assert_eq(count(), 1);
    is("mem0", false, "ram", "cxl create-region -m mem0 -t ram");
    info = device("mem0");
    cr_expect_eq(info.capacity_bytes, UINT64_C(1) << 30);
    cr_expect_eq(info.persistent, 0);
    put(CXL "region0/size", "0x40000000");
    put(CXL "region0/mode", "ram");
    put(CXL "region0/commit", "0");
    cr_assert_eq(count(), 1);
    is("region0", false, "ram", "not committed");
    put(CXL "region0/commit", "1");
    is("region0", false, "ram", "no driver");
    put_link(CXL "region0/driver", "../../drivers/cxl_region");
    is("region0", true, "ram", "a DAX device stands for it");
    cr_expect_eq(device("region0").kind, MEMSPAN_MEMORY_DEVICE_CXL_REGION);
}
