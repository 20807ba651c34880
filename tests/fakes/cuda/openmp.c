/* SPDX-License-Identifier: BSD-3-Clause */
/* openmp.c: devices of an OpenMP runtime that works on the CUDA driver, through the library's own
 * interface. The CUDA backend serves them, in the primary context, whatever the runtime's is: a
 * kernel reaches memory of another context of its device. Each test is a process of its own, with a
 * runtime that is there before the library counts devices. */

#include "backends/cuda/cuda_api.h"
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <memspan/memspan.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES = 2, COUNT = 1000, BYTES = COUNT * sizeof(double) };

static struct {
    unsigned (*calls)(const char *name);
    const char *(*violation)(void);
} driver;

static struct {
    int (*region)(double *x, size_t elements, double value, int device);
    int (*live)(void);
    void (*end)(void);
} runtime;

static void *symbol(void *object, const char *name)
{
    void *address = (object == NULL) ? NULL : dlsym(object, name);

    cr_assert_not_null(address, "%s", dlerror());
    return address;
}

/* The driver, and the runtime over it, whose context is its own or the primary one. */
static void pretend(const char *context)
{
    void *object = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

    *(void **)&driver.calls     = symbol(object, "fake_gpu_calls");
    *(void **)&driver.violation = symbol(object, "fake_gpu_violation");
    setenv("FAKE_OPENMP_CONTEXT", context, 1);
    object                    = dlopen(FAKE_OPENMP, RTLD_NOW | RTLD_GLOBAL);
    *(void **)&runtime.region = symbol(object, "fake_openmp_region");
    *(void **)&runtime.live   = symbol(object, "fake_live_blocks");
    *(void **)&runtime.end    = symbol(object, "fake_openmp_end");
}

static memspan_device_info_t describe(int device)
{
    memspan_device_info_t info = {.struct_size = sizeof(info)};

    cr_assert_eq(memspan_device_describe(device, &info), MEMSPAN_OK, "%s", memspan_error_text());
    return info;
}

static bool has_kind(int device, memspan_kind_t kind)
{
    return (describe(device).kinds & (1u << kind)) != 0;
}

/* Memory of @p space. */
static char *take_by(memspan_space_h space, const char *traits, memspan_kind_t kind)
{
    memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;
    memspan_trait_t list[4];
    size_t count;
    char *memory;

    cr_assert_eq(memspan_trait_parse(traits, list, 4, &count), MEMSPAN_OK);
    cr_assert_eq(memspan_allocator_create(space, list, count, &allocator), MEMSPAN_OK, "%s",
                 memspan_error_text());
    memory = memspan_alloc(allocator, BYTES);
    cr_assert_not_null(memory, "%s", memspan_error_text());
    cr_assert_eq(memspan_pointer_kind(memory), kind);
    return memory;
}

/* Device memory of @p device. */
static double *take(int device)
{
    memspan_space_h space = MEMSPAN_SPACE_NULL;

    cr_assert_eq(memspan_space_get(&device, 1, MEMSPAN_SPACE_NULL, &space), MEMSPAN_OK, "%s",
                 memspan_error_text());
    return (double *)take_by(space, "", MEMSPAN_KIND_DEVICE);
}

/* Of the device 0 and the host. */
static char *take_for_both(const char *traits, memspan_kind_t kind)
{
    const int both[]      = {0, MEMSPAN_HOST};
    memspan_space_h space = MEMSPAN_SPACE_NULL;

    cr_assert_eq(memspan_space_get(both, 2, MEMSPAN_SPACE_NULL, &space), MEMSPAN_OK, "%s",
                 memspan_error_text());
    return take_by(space, traits, kind);
}

static void expect_clean(void)
{
    cr_assert_eq(runtime.live(), 0, "a block of the runtime is left");
    cr_assert_str_empty(driver.violation(), "%s", driver.violation());
}

static void expect_values(const double *x, double value)
{
    double copy[COUNT] = {0};
    int i;

    cr_assert_eq(memspan_copy(copy, x, BYTES), MEMSPAN_OK, "%s", memspan_error_text());
    for (i = 0; i < COUNT; i++) {
        cr_assert_eq(copy[i], value, "element %d is %g", i, copy[i]);
    }
}

/* The library's kernels, and target regions, on memory that the library has taken. */
static void work(int device, double *x)
{
    const memspan_kernel_call_t fill = {.struct_size = sizeof(fill),
                                        .kernel      = MEMSPAN_KERNEL_FILL,
                                        .count       = COUNT,
                                        .a           = 3.0,
                                        .z           = x};

    cr_assert_eq(memspan_fill(x, 0, BYTES), MEMSPAN_OK, "%s", memspan_error_text());
    expect_values(x, 0.0);
    cr_assert_eq(memspan_kernel_launch(device, &fill), MEMSPAN_OK, "%s", memspan_error_text());
    expect_values(x, 3.0);
    cr_assert_eq(runtime.region(x, COUNT, 4.0, device), CUDA_SUCCESS, "no region reaches it");
    expect_values(x, 4.0);
}

TestSuite(cuda_openmp, .timeout = 20);

/* ---- whose the devices are ---- */

Test(cuda_openmp, the_backend_of_the_driver_serves_the_devices)
{
    int device;

    pretend("own");
    cr_assert_eq(memspan_device_count(), DEVICES);
    cr_assert_eq(memspan_host_device(), DEVICES);
    for (device = 0; device < DEVICES; device++) {
        memspan_device_info_t info = describe(device);

        cr_expect_str_eq(info.backend, "cuda");
        cr_expect_eq(info.number, device);
        cr_expect_eq(info.ordinal, device);
        cr_expect(has_kind(device, MEMSPAN_KIND_DEVICE));
        cr_expect(has_kind(device, MEMSPAN_KIND_MANAGED));
        cr_expect(has_kind(device, MEMSPAN_KIND_HOST_PINNED));
    }
    expect_clean();
}

/* By the runtime alone there is no memory for both. */
Test(cuda_openmp, a_space_of_device_and_host_has_memory)
{
    static const struct {
        const char *traits;
        memspan_kind_t kind;
    } kinds[] = {{"memory_access=managed", MEMSPAN_KIND_MANAGED},
                 {"pinned=true", MEMSPAN_KIND_HOST_PINNED}};
    char *memory;
    int i;

    pretend("own");
    for (i = 0; i < 2; i++) {
        memory = take_for_both(kinds[i].traits, kinds[i].kind);
        memset(memory, 1, BYTES);
        cr_assert_eq(memspan_free(memory), MEMSPAN_OK);
    }
    expect_clean();
}

Test(cuda_openmp, a_driver_that_does_not_know_the_memory_leaves_it_to_the_runtime)
{
    double copy[COUNT];
    double *memory;

    pretend("own");
    setenv("FAKE_CUDA_FAIL_CALL", "cuPointerGetAttributes", 1);
    cr_assert_eq(memspan_host_device(), DEVICES);
    cr_expect_str_eq(describe(0).backend, "openmp");
    cr_assert_eq(runtime.live(), 0);
    memory = take(0);
    cr_assert_gt(runtime.live(), 0);
    cr_assert_eq(memspan_fill(memory, 7, BYTES), MEMSPAN_OK, "%s", memspan_error_text());
    cr_assert_eq(memspan_copy(copy, memory, BYTES), MEMSPAN_OK, "%s", memspan_error_text());
    cr_assert_eq(((char *)copy)[BYTES - 1], 7);
    cr_assert_eq(memspan_free(memory), MEMSPAN_OK);
    cr_assert_eq(driver.calls("cuDevicePrimaryCtxRetain"), 0u);
}

/* ---- MEMSPAN_DEVICES ---- */

Test(cuda_openmp, names_of_the_runtimes_devices_add_nothing)
{
    pretend("own");
    setenv("MEMSPAN_DEVICES", "cuda:0,openmp:0,openmp:1,cuda:1", 1);
    cr_assert_eq(memspan_device_count(), DEVICES, "%s", memspan_error_text());
    cr_assert_eq(memspan_host_device(), DEVICES);
    cr_expect_str_eq(describe(0).backend, "cuda");
    expect_clean();
}

Test(cuda_openmp, a_device_that_only_the_driver_has_follows_the_host)
{
    memspan_device_info_t info;

    pretend("own");
    setenv("FAKE_OPENMP_DEVICES", "1", 1);
    setenv("MEMSPAN_DEVICES", "cuda:0,cuda:1", 1);
    cr_assert_eq(memspan_device_count(), 2, "%s", memspan_error_text());
    cr_assert_eq(memspan_host_device(), 1);
    info = describe(2);
    cr_expect_str_eq(info.backend, "cuda");
    cr_expect_eq(info.ordinal, 1);
    expect_clean();
}

static void expect_refused(const char *devices, const char *words)
{
    memspan_device_info_t info = {.struct_size = sizeof(info)};

    pretend("own");
    setenv("FAKE_OPENMP_DEVICES", "1", 1);
    setenv("MEMSPAN_DEVICES", devices, 1);
    cr_assert_neq(memspan_device_describe(0, &info), MEMSPAN_OK);
    cr_assert_not_null(strstr(memspan_error_text(), words), "%s", memspan_error_text());
    expect_clean();
}

Test(cuda_openmp, an_unknown_device_of_the_runtime_is_refused)
{
    expect_refused("openmp:9", "there is no openmp:9");
}

Test(cuda_openmp, a_device_of_our_own_is_not_named_twice)
{
    expect_refused("cuda:1,cuda:1", "cuda:1 is there twice");
}

/* ---- contexts ---- */

static void work_on_each(const char *context, unsigned retained)
{
    double *memory;
    int device;

    pretend(context);
    for (device = 0; device < DEVICES; device++) {
        memory = take(device);
        work(device, memory);
        cr_assert_eq(memspan_free(memory), MEMSPAN_OK);
    }
    cr_assert_eq(driver.calls("cuDevicePrimaryCtxRetain"), retained);
    expect_clean();
}

Test(cuda_openmp, regions_in_a_context_of_the_runtimes_own_reach_memory)
{
    work_on_each("own", DEVICES);
}

Test(cuda_openmp, regions_in_the_primary_context_reach_memory)
{
    work_on_each("primary", 2 * DEVICES); /* the runtime and the library, each once */
}

/* libgomp destroys its contexts while the process ends; other threads work on. */
static void outlive(const char *context)
{
    double *device;
    char *managed;
    char *pinned;

    pretend(context);
    device  = take(0);
    managed = take_for_both("memory_access=managed", MEMSPAN_KIND_MANAGED);
    pinned  = take_for_both("pinned=true", MEMSPAN_KIND_HOST_PINNED);
    work(0, device);
    runtime.end();
    expect_values(device, 4.0);
    memset(managed, 1, BYTES);
    memset(pinned, 1, BYTES);
    cr_expect_eq(memspan_free(device), MEMSPAN_OK, "%s", memspan_error_text());
    cr_expect_eq(memspan_free(managed), MEMSPAN_OK, "%s", memspan_error_text());
    cr_expect_eq(memspan_free(pinned), MEMSPAN_OK, "%s", memspan_error_text());
    memspan_trim();
    expect_clean();
}

Test(cuda_openmp, memory_outlives_the_runtimes_own_context)
{
    outlive("own");
}

Test(cuda_openmp, memory_outlives_the_runtimes_hold_on_the_primary_context)
{
    outlive("primary");
}
