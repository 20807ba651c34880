/* SPDX-License-Identifier: BSD-3-Clause */
/* The names that <memspan/omp.h> adds, called from an OpenMP program on the host: the proposal's
 * space and traits, OpenMP 6.0's spaces, resources and partitioners, device-memory routines that
 * the runtime lacks, vendors' names. Needs the library; says each thing that is wrong. */
#define MEMSPAN_OMP_PAPER_NAMES
#include <memspan/memspan.h>
#include <memspan/omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("wrong (line %d): %s; last error: %s\n", __LINE__, #condition,                  \
                   memspan_error_text());                                                          \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

static omp_alloctrait_t paper_traits[] = {
    {memory_access, managed}, {preferred_place, 0}, {omp_atk_alignment, 256}};

static void proposal(void)
{
    int host[]                   = {-1, omp_get_initial_device()};
    int unknown[]                = {12345};
    int negative[]               = {-7};
    omp_memspace_handle_t *space = omp_get_target_memspace(1, host, omp_default_mem_space);
    omp_allocator_handle_t a;
    void *p;

    CHECK(space != NULL);
    if (space == NULL) {
        return;
    }
    CHECK(space == omp_get_target_memspace(1, host, omp_default_mem_space));
    a = omp_init_allocator(*space, 3, paper_traits);
    CHECK(a != omp_null_allocator);
    p = omp_alloc(1000, a);
    CHECK((p != NULL) && ((uintptr_t)p % 256 == 0));
    omp_free(p, a);
    omp_destroy_allocator(a);

    CHECK(omp_get_target_memspace(0, host, omp_default_mem_space) == NULL);
    CHECK(omp_get_target_memspace(-1, host, omp_default_mem_space) == NULL);
    CHECK(omp_get_target_memspace(1, NULL, omp_default_mem_space) == NULL);
    CHECK(omp_get_target_memspace(1, unknown, omp_default_mem_space) == NULL);
    CHECK(strstr(memspan_error_text(), "12345") != NULL);
    CHECK(omp_get_target_memspace(1, negative, omp_default_mem_space) == NULL);
    CHECK(omp_get_target_memspace(1, host, (omp_memspace_handle_t)777777) == NULL);
}

static void bad_traits(void)
{
    omp_alloctrait_t unknown_key[] = {{(omp_alloctrait_key_t)77, 1}};
    omp_alloctrait_t bad_value[]   = {{omp_atk_fallback, 99}};
    omp_alloctrait_t odd[]         = {{omp_atk_alignment, 48}};
    omp_alloctrait_t twice[]       = {{omp_atk_alignment, 64}, {omp_atk_alignment, 128}};
    omp_alloctrait_t defaults[]    = {{omp_atk_alignment, (omp_uintptr_t)-1},
                                      {omp_atk_fallback, (omp_uintptr_t)-1},
                                      {omp_atk_access, (omp_uintptr_t)-1}};
    omp_alloctrait_t all_of_60[]   = {{omp_atk_target_access, omp_atv_multiple},
                                      {omp_atk_atomic_scope, omp_atv_device},
                                      {omp_atk_part_size, 4096},
                                      {omp_atk_access, omp_atv_memspace}};
    omp_alloctrait_t foreign_fb[]  = {{omp_atk_fallback, omp_atv_allocator_fb},
                                      {omp_atk_fb_data, (omp_uintptr_t)&failures}};
    omp_allocator_handle_t a;

    CHECK(omp_init_allocator(omp_default_mem_space, 1, unknown_key) == omp_null_allocator);
    CHECK(omp_init_allocator(omp_default_mem_space, 1, bad_value) == omp_null_allocator);
    CHECK(omp_init_allocator(omp_default_mem_space, 1, odd) == omp_null_allocator);
    CHECK(omp_init_allocator(omp_default_mem_space, 2, twice) == omp_null_allocator);
    CHECK(omp_init_allocator(omp_default_mem_space, 2, foreign_fb) == omp_null_allocator);
    CHECK(omp_init_allocator(omp_default_mem_space, -1, odd) == omp_null_allocator);
    CHECK(omp_init_allocator(omp_default_mem_space, 2, NULL) == omp_null_allocator);
    CHECK(omp_init_allocator(omp_default_mem_space, 1 << 30, odd) == omp_null_allocator);
    a = omp_init_allocator(omp_default_mem_space, 3, defaults);
    CHECK(a != omp_null_allocator);
    omp_destroy_allocator(a);
    a = omp_init_allocator(omp_default_mem_space, 4, all_of_60);
    CHECK(a != omp_null_allocator);
    omp_destroy_allocator(a);
    a = omp_init_allocator(omp_null_mem_space, 0, NULL);
    CHECK(a != omp_null_allocator);
    omp_destroy_allocator(a);
}

static void spaces_of_60(void)
{
    int devices[]           = {-1};
    omp_memspace_handle_t s = omp_get_devices_and_host_memspace(1, devices, omp_default_mem_space);
    int count               = omp_get_memspace_num_resources(s);
    int *all                = (int *)calloc((size_t)count + 1, sizeof(int));
    int i;

    CHECK(s != omp_null_mem_space);
    CHECK(s == omp_get_devices_and_host_memspace(1, devices, omp_default_mem_space));
    CHECK(s == omp_get_device_memspace(-1, omp_default_mem_space));
    CHECK(omp_get_device_and_host_memspace(omp_initial_device, omp_high_bw_mem_space) != s);
    CHECK(omp_get_devices_all_memspace(omp_default_mem_space) != omp_null_mem_space);
    CHECK(count >= 1);
    CHECK(omp_get_memspace_pagesize(s) >= 4096);
    for (i = 0; i < count; i++) {
        all[i] = i;
    }
    CHECK(omp_get_submemspace(s, count, all) == s);
    CHECK(omp_get_submemspace(omp_default_mem_space, count, all) == omp_default_mem_space);
    CHECK(omp_get_submemspace(s, 1, all) != omp_null_mem_space);
    all[0] = count;
    CHECK(omp_get_submemspace(s, 1, all) == omp_null_mem_space);
    CHECK(omp_get_submemspace(s, 0, all) == omp_null_mem_space);
    CHECK(omp_get_submemspace(s, 1, NULL) == omp_null_mem_space);
    free(all);
}

static void allocators_of_60(void)
{
    omp_memspace_handle_t bw = omp_high_bw_mem_space;
    omp_allocator_handle_t a = omp_get_device_allocator(-1, omp_default_mem_space);
    void *p                  = omp_alloc(100, a);

    CHECK(a == omp_default_mem_alloc);
    CHECK(p != NULL);
    omp_free(p, a);
    omp_destroy_allocator(a);
    CHECK(omp_get_device_allocator(-1, bw) == omp_high_bw_mem_alloc);
    CHECK(omp_get_devices_and_host_allocator(0, NULL, omp_default_mem_space) == a);
    CHECK(omp_get_device_and_host_allocator(-1, omp_default_mem_space) == a);
    CHECK(omp_get_devices_all_allocator(omp_default_mem_space) != omp_null_allocator);
    CHECK(omp_get_device_allocator(4321, omp_default_mem_space) == omp_null_allocator);
}

static int computed;
static int released;

static void halves(omp_memspace_handle_t space, size_t size, omp_alloctrait_val_t argument,
                   omp_mempartition_t *partition)
{
    size_t page  = omp_get_memspace_pagesize(space);
    size_t first = size / 2 / page * page;

    computed++;
    CHECK(argument == 17);
    if (first == 0) {
        omp_init_mempartition(partition, 1, &computed);
        CHECK(omp_mempartition_set_part(partition, 0, 0, size) == 0);
        return;
    }
    omp_init_mempartition(partition, 2, &computed);
    CHECK(omp_mempartition_get_user_data(partition) == &computed);
    CHECK(omp_mempartition_set_part(partition, 0, 0, first + 1) == -1);
    CHECK(omp_mempartition_set_part(partition, 0, 9999, first) == -1);
    CHECK(omp_mempartition_set_part(partition, 2, 0, first) == -1);
    CHECK(omp_mempartition_set_part(partition, 0, 0, first) == 0);
    CHECK(omp_mempartition_set_part(partition, 1, 0, size - first) == 0);
}

static void too_little(omp_memspace_handle_t space, size_t size, omp_alloctrait_val_t argument,
                       omp_mempartition_t *partition)
{
    (void)argument;
    omp_init_mempartition(partition, 1, NULL);
    omp_mempartition_set_part(partition, 0, 0, size - omp_get_memspace_pagesize(space));
}

static void release(omp_mempartition_t *partition)
{
    released++;
    CHECK(omp_mempartition_get_user_data(partition) == &computed);
    omp_destroy_mempartition(partition);
}

static omp_allocator_handle_t partitioned(omp_uintptr_t partitioner)
{
    omp_alloctrait_t traits[] = {{omp_atk_partition, omp_atv_partitioner},
                                 {omp_atk_partitioner, partitioner},
                                 {omp_atk_partitioner_arg, 17},
                                 {omp_atk_fallback, omp_atv_null_fb}};

    return omp_init_allocator(omp_default_mem_space, 4, traits);
}

static void partitioners_with(omp_mempartitioner_lifetime_t lifetime, int expected_computed)
{
    omp_mempartitioner_t partitioner;
    omp_allocator_handle_t a;
    omp_allocator_handle_t b;
    void *p[4];
    int i;

    computed = released = 0;
    omp_init_mempartitioner(&partitioner, lifetime, halves, release);
    a = partitioned(partitioner);                 /* by value */
    b = partitioned((omp_uintptr_t)&partitioner); /* by address */
    CHECK((a != omp_null_allocator) && (b != omp_null_allocator));
    for (i = 0; i < 4; i++) {
        p[i] = omp_alloc(100000, (i % 2) ? a : b);
        CHECK(p[i] != NULL);
        if (p[i] != NULL) {
            memset(p[i], i, 100000);
        }
    }
    CHECK(computed == expected_computed);
    for (i = 0; i < 4; i++) {
        omp_free(p[i], omp_null_allocator);
    }
    omp_destroy_allocator(a);
    omp_destroy_allocator(b);
    omp_destroy_mempartitioner(&partitioner);
    CHECK(released == computed);
    CHECK(partitioned(partitioner) == omp_null_allocator);
}

static void partitioners(void)
{
    omp_mempartitioner_t bad;
    omp_allocator_handle_t a;

    partitioners_with(omp_static_mempartition, 1);
    partitioners_with(omp_allocator_mempartition, 2);
    partitioners_with(omp_dynamic_mempartition, 4);
    omp_init_mempartitioner(&bad, omp_dynamic_mempartition, too_little, NULL);
    a = partitioned(bad);
    CHECK(omp_alloc(100000, a) == NULL);
    omp_destroy_allocator(a);
    omp_destroy_mempartitioner(&bad);
    CHECK(partitioned((omp_uintptr_t)&failures) == omp_null_allocator);
}

static void device_routines(void)
{
    static double from[6][8];
    double to[4][5];
    size_t volume[]      = {2, 3};
    size_t to_offset[]   = {1, 2};
    size_t from_offset[] = {3, 4};
    size_t to_size[]     = {4, 5};
    size_t from_size[]   = {6, 8};
    size_t too_much[]    = {4, 3};
    int here             = omp_get_initial_device();
    char *p              = (char *)omp_target_alloc(100, here);
    char text[16]        = "0123456789";
    int i;

    for (i = 0; i < 48; i++) {
        from[i / 8][i % 8] = i;
    }
    memset(to, 0, sizeof(to));
    CHECK(p != NULL);
    CHECK(omp_target_memset(p, 'x', 100, here) == p);
    CHECK((p[0] == 'x') && (p[99] == 'x'));
    CHECK(omp_target_memcpy(p, text, 4, 10, 2, here, here) == 0);
    CHECK((memcmp(p + 10, "2345", 4) == 0) && (p[14] == 'x'));
    CHECK(omp_target_memcpy_async(p, text, 4, 20, 2, here, here, 0, NULL) == 0);
#pragma omp taskwait
    CHECK(memcmp(p + 20, "2345", 4) == 0);
    CHECK(omp_target_memcpy_rect(to, from, sizeof(double), 2, volume, to_offset, from_offset,
                                 to_size, from_size, here, here) == 0);
    CHECK((to[1][2] == 28) && (to[2][4] == 38) && (to[0][0] == 0) && (to[3][4] == 0));
    memset(to, 0, sizeof(to));
    CHECK(omp_target_memcpy_rect_async(to, from, sizeof(double), 2, volume, to_offset, from_offset,
                                       to_size, from_size, here, here, 0, NULL) == 0);
#pragma omp taskwait
    CHECK((to[1][2] == 28) && (to[2][4] == 38));
    CHECK(omp_target_memcpy_rect_async(to, from, sizeof(double), 33, too_much, to_offset,
                                       from_offset, to_size, from_size, here, 999, 0, NULL) != 0);
    CHECK(omp_target_memcpy_rect(NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, here, here) >= 3);
    CHECK(omp_target_is_present(p, here) != 0);
    CHECK(omp_target_is_accessible(p, 100, here) != 0);
    CHECK(omp_target_is_accessible((void *)16, 100, here) == 0);
    CHECK(omp_target_is_accessible(NULL, 100, here) == 0);
    CHECK(omp_target_is_accessible(p, 100, 999) == 0);
    CHECK(omp_get_mapped_ptr(p, here) == p);
    CHECK(omp_get_mapped_ptr(p, -1) == p);
    CHECK(omp_get_mapped_ptr(p, 999) == NULL);
    CHECK(omp_target_associate_ptr(p, p, 100, 0, 999) != 0);
    omp_target_free(p, here);
    omp_target_free(NULL, here);
    CHECK(omp_target_alloc(100, 999) == NULL);
    CHECK(omp_target_alloc(0, here) == NULL);
}

static void identity(void)
{
    const char *uid = omp_get_uid_from_device(omp_get_initial_device());

    CHECK((uid != NULL) && (omp_get_device_from_uid(uid) == omp_get_initial_device()));
    CHECK(omp_get_device_from_uid("no such device") == omp_invalid_device);
    CHECK(omp_get_uid_from_device(12345) == NULL);
}

static void vendors(void)
{
    omp_allocator_handle_t handles[] = {llvm_omp_target_host_mem_alloc,
                                        llvm_omp_target_shared_mem_alloc, omp_target_host_mem_alloc,
                                        ompx_gnu_managed_mem_alloc};
    int here                         = omp_get_initial_device();
    int i;
    void *p;

    for (i = 0; i < 4; i++) {
        p = omp_alloc(64, handles[i]);
        CHECK(p != NULL);
        omp_free(p, handles[i]);
        omp_destroy_allocator(handles[i]);
    }
    CHECK(omp_alloc(64, (omp_allocator_handle_t)150) == NULL);
    p = llvm_omp_target_alloc_shared(64, here);
    CHECK(p != NULL);
    llvm_omp_target_free_shared(p, here);
    p = llvm_omp_target_alloc_host(64, here);
    CHECK(p != NULL);
    llvm_omp_target_free_host(p, here);
}

int main(void)
{
    proposal();
    bad_traits();
    spaces_of_60();
    allocators_of_60();
    partitioners();
    device_routines();
    identity();
    vendors();
    printf("%s\n", failures ? "failed" : "right");
    return failures != 0;
}
