/* SPDX-License-Identifier: BSD-3-Clause */
/* space.c: device memory of a space over two devices, through the library's own interface. */

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <memspan/memspan.h>

static unsigned count(const char *call)
{
    void *driver                    = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    unsigned (*calls)(const char *) = NULL;

    cr_assert_not_null(driver, "%s", dlerror());
    *(void **)&calls = dlsym(driver, "fake_gpu_calls");
    cr_assert_not_null(calls);
    return calls(call);
}

/* Device memory of the first device, of a space that names them all. */
static void *take(const int *devices, size_t device_count, memspan_allocator_h *allocator_p)
{
    memspan_space_h space = MEMSPAN_SPACE_NULL;
    size_t count_of       = 0;
    size_t index;
    int picked = -1;
    void *memory;

    cr_assert_eq(memspan_space_get(devices, device_count, MEMSPAN_SPACE_NULL, &space), MEMSPAN_OK,
                 "%s", memspan_error_text());
    count_of = memspan_space_resource_count(space);
    for (index = 0; (index < count_of) && (picked < 0); index++) {
        memspan_resource_info_t info = {.struct_size = sizeof(info)};
        cr_assert_eq(memspan_space_resource(space, index, &info), MEMSPAN_OK);
        picked = ((info.kind == MEMSPAN_KIND_DEVICE) && (info.home == 0)) ? (int)index : -1;
    }
    cr_assert_geq(picked, 0, "no device memory");
    cr_assert_eq(memspan_space_get_sub(space, &picked, 1, &space), MEMSPAN_OK, "%s",
                 memspan_error_text());
    cr_assert_eq(memspan_allocator_create(space, NULL, 0, allocator_p), MEMSPAN_OK, "%s",
                 memspan_error_text());
    memory = memspan_alloc(*allocator_p, 1 << 20);
    cr_assert_not_null(memory, "%s", memspan_error_text());
    cr_assert_eq(memspan_pointer_kind(memory), MEMSPAN_KIND_DEVICE);
    return memory;
}

/* A program may wake the second device by other means, and its kernels reach the memory then. */
Test(cuda_space, all_its_devices_have_access_when_memory_is_taken)
{
    static const int both[] = {0, 1};
    memspan_allocator_h one = MEMSPAN_ALLOCATOR_NULL;
    memspan_allocator_h two = MEMSPAN_ALLOCATOR_NULL;
    void *first             = take(both, 1, &one);
    void *second;

    cr_assert_eq(count("cuDevicePrimaryCtxRetain"), 1u, "a device that is not named is not woken");
    second = take(both, 2, &two);
    cr_assert_eq(count("cuDevicePrimaryCtxRetain"), 2u);
    cr_assert_geq(count("cuCtxEnablePeerAccess"), 1u);
    cr_assert_eq(memspan_free(first), MEMSPAN_OK);
    cr_assert_eq(memspan_free(second), MEMSPAN_OK);
    cr_assert_eq(memspan_allocator_destroy(one), MEMSPAN_OK);
    cr_assert_eq(memspan_allocator_destroy(two), MEMSPAN_OK);
}
