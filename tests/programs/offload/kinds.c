/* SPDX-License-Identifier: BSD-3-Clause */
/* kinds.c: memory of every kind that device 0 offers, written by a target region and read back, and
 * the names of the resources, for machines whose devices are of a GPU's driver. */

#include "check.h"

enum { N = 100000 };

static void use(const char *asked, size_t count, int *devices, int trait_count,
                omp_alloctrait_t *traits)
{
    static double copy[N];
    memspan_pointer_info_t info  = {.struct_size = sizeof(info)};
    omp_memspace_handle_t *space = omp_get_target_memspace(count, devices, omp_default_mem_space);
    omp_allocator_handle_t allocator = omp_null_allocator;
    double *x;
    int i;

    CHECK(space != NULL);
    allocator = omp_init_allocator(*space, trait_count, traits);
    CHECK(allocator != omp_null_allocator);
    x = omp_alloc(N * sizeof(*x), allocator);
    CHECK(x != NULL);
#pragma omp target teams distribute parallel for is_device_ptr(x) device(0)
    for (i = 0; i < N; i++) {
        x[i] = 3.0 * i;
    }
    CHECK(omp_target_memcpy(copy, x, sizeof(copy), 0, 0, omp_get_initial_device(), 0) == 0);
    for (i = 0; i < N; i++) {
        CHECK(copy[i] == 3.0 * i);
    }
    CHECK(memspan_pointer_describe(x, &info) == MEMSPAN_OK);
    CHECK(info.home == 0);
    printf("%s: %s memory of device 0: %s\n", asked, memspan_kind_name(info.kind_given), info.why);
    omp_free(x, allocator);
    omp_destroy_allocator(allocator);
}

int main(void)
{
    int devices[]               = {0, -1};
    omp_alloctrait_t managed[]  = {{omp_atk_memory_access, omp_atv_managed}};
    omp_alloctrait_t coherent[] = {{omp_atk_memory_access, omp_atv_coherent}};
    omp_alloctrait_t pinned[]   = {{omp_atk_pinned, omp_atv_true}};
    memspan_device_info_t info  = {.struct_size = sizeof(info)};
    const unsigned with_host    = (1u << MEMSPAN_KIND_MANAGED) | (1u << MEMSPAN_KIND_COHERENT) |
                               (1u << MEMSPAN_KIND_HOST_PINNED);

    check_devices(1);
    CHECK(memspan_device_describe(0, &info) == MEMSPAN_OK);
    printf("device 0 is %s:%d, %s\n", info.backend, info.ordinal, info.name);
    use("device", 1, devices, 0, NULL);
    if ((info.kinds & with_host) != 0) {
        use("managed", 2, devices, 1, managed);
        use("coherent", 2, devices, 1, coherent);
        use("pinned", 2, devices, 1, pinned);
    }
    check_end();
    return 0;
}
