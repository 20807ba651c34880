/* SPDX-License-Identifier: BSD-3-Clause */
/* space.c: device memory of a space over two devices, through the library's own interface. */

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <memspan/memspan.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

/* What the log says of an allocator for the device 0 and the host. */
static const char *logged(const char *traits)
{
    static char text[4096];
    const int both[]              = {0, MEMSPAN_HOST};
    memspan_space_h space         = MEMSPAN_SPACE_NULL;
    memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;
    memspan_trait_t list[4];
    size_t length;
    size_t trait_count;
    int saved = dup(STDERR_FILENO);
    int file  = memfd_create("log", 0);

    cr_assert_eq(memspan_space_get(both, 2, MEMSPAN_SPACE_NULL, &space), MEMSPAN_OK);
    cr_assert_eq(memspan_trait_parse(traits, list, 4, &trait_count), MEMSPAN_OK);
    cr_assert((saved >= 0) && (file >= 0) && (dup2(file, STDERR_FILENO) >= 0));
    (void)memspan_allocator_create(space, list, trait_count, &allocator);
    cr_assert(dup2(saved, STDERR_FILENO) >= 0);
    length       = (size_t)pread(file, text, sizeof(text) - 1, 0);
    text[length] = '\0';
    close(file);
    close(saved);
    cr_assert_neq(allocator, MEMSPAN_ALLOCATOR_NULL, "%s", memspan_error_text());
    return text;
}

/* The host has no atomics on this device's memory. Pinned memory promises none. */
Test(cuda_space, less_than_a_trait_requests_is_a_warning)
{
    cr_expect_str_empty(logged("pinned=true"));
    cr_expect_str_empty(logged(""));
    cr_expect_str_empty(logged("memory_access=managed"));
    cr_expect_not_null(strstr(logged("memory_access=coherent"), "are not promised"));
    cr_expect_not_null(strstr(logged("memory_access=coherent,pinned=true"), "are not promised"));
    cr_expect_not_null(
        strstr(logged("memory_access=managed,preferred_location=1"), "cannot be followed"));
}
