/* SPDX-License-Identifier: BSD-3-Clause */
/* Whose device numbers count, where the OpenMP runtime has no devices and this library has two. */

#include <criterion/criterion.h>
#include <limits.h>
#include <memspan/memspan.h>
#include <memspan/omp.h>
#include <stdlib.h>
#include <string.h>

int fake_runtime_calls(const char *name);
int __tgt_get_num_devices(void);
int __tgt_get_mem_resources(int count, const int *devices, int host, uintptr_t space,
                            int *resources);
void *__tgt_omp_alloc(size_t size, uintptr_t allocator);
void __tgt_omp_free(void *pointer, uintptr_t allocator);

static void pretend(const char *chosen)
{
    setenv("MEMSPAN_BACKEND_PATH", FAKES, 1);
    setenv("MEMSPAN_BACKENDS", "fakea", 1);
    setenv("FAKEA_DEVICES", "discrete,discrete", 1);
    if (chosen != NULL) {
        setenv("MEMSPAN_DEVICES", chosen, 1);
    }
}

static omp_allocator_handle_t prefer(int device)
{
    omp_alloctrait_t traits[] = {{omp_atk_preferred_location, (omp_uintptr_t)device}};
    int devices[]             = {0, -1};
    omp_memspace_handle_t *s  = omp_get_target_memspace(2, devices, omp_default_mem_space);

    cr_assert(s != NULL, "%s", memspan_error_text());
    return omp_init_allocator(*s, 1, traits);
}

/* Without MEMSPAN_DEVICES the numbers are the runtime's, which has its host alone, whatever this
 * library finds. */
Test(runtime, its_host_is_0)
{
    int zero[]                   = {0};
    int both[]                   = {-1, 0};
    omp_memspace_handle_t *space = NULL;
    omp_allocator_handle_t a;
    void *p;

    pretend(NULL);
    cr_expect_eq(omp_get_num_devices(), 0);
    cr_expect_eq(omp_get_initial_device(), 0);
    cr_expect_eq(memspan_device_count(), 2);
    space = omp_get_target_memspace(1, zero, omp_default_mem_space);
    cr_assert(space != NULL, "%s", memspan_error_text());
    cr_expect_eq(*space, omp_get_devices_all_memspace(omp_default_mem_space));
    cr_expect_eq(omp_get_target_memspace(2, both, omp_default_mem_space), space);
    cr_expect_eq(omp_get_devices_memspace(1, zero, omp_default_mem_space), *space);
    cr_expect_eq(omp_get_device_memspace(0, omp_default_mem_space), *space);
    cr_expect_eq(omp_get_device_and_host_memspace(0, omp_default_mem_space), *space);
    cr_expect_eq(omp_get_device_and_host_allocator(0, omp_default_mem_space),
                 omp_default_mem_alloc);
    a = prefer(0);
    cr_assert_neq(a, omp_null_allocator, "%s", memspan_error_text());
    p = omp_alloc(1000, a);
    cr_expect(p != NULL, "%s", memspan_error_text());
    omp_free(p, a);
    /* Of the devices that the program can count there are none. */
    cr_expect_eq(omp_get_devices_all_allocator(omp_default_mem_space), omp_default_mem_alloc);
    p = omp_alloc(10, omp_target_shared_mem_alloc);
    cr_expect(p != NULL);
    omp_free(p, omp_null_allocator);
    cr_expect_eq(__tgt_get_num_devices(), 0);
}

/* What this library alone has is refused by name, with the setting that numbers it. */
Test(runtime, others_have_no_number)
{
    const int one[]       = {1};
    const int beyond[]    = {9};
    const int own[]       = {0};
    memspan_space_h space = MEMSPAN_SPACE_NULL;

    pretend(NULL);
    cr_expect_eq(omp_get_devices_memspace(1, one, omp_default_mem_space), omp_null_mem_space);
    cr_expect_eq(memspan_error_last()->status, MEMSPAN_ERR_NOT_FOUND);
    cr_expect(strstr(memspan_error_text(), "fakea1") != NULL, "%s", memspan_error_text());
    cr_expect(strstr(memspan_error_text(), "MEMSPAN_DEVICES=fakea:1") != NULL, "%s",
              memspan_error_text());
    cr_expect_eq(omp_get_uid_from_device(1), NULL);
    cr_expect(strstr(memspan_error_text(), "MEMSPAN_DEVICES=fakea:1") != NULL, "%s",
              memspan_error_text());
    cr_expect_eq(omp_target_alloc(8, 1), NULL);
    cr_expect_eq(prefer(1), omp_null_allocator);
    cr_expect_eq(omp_get_devices_memspace(1, beyond, omp_default_mem_space), omp_null_mem_space);
    cr_expect(strstr(memspan_error_text(), "MEMSPAN_DEVICES") != NULL, "%s", memspan_error_text());
    cr_expect_eq(memspan_space_get(own, 1, MEMSPAN_SPACE_NULL, &space), MEMSPAN_OK, "%s",
                 memspan_error_text());
}

Test(ours, numbers_are_answered_and_taken)
{
    int all[] = {0, 1, 2};
    omp_memspace_handle_t *s;
    omp_allocator_handle_t a;

    pretend("fakea:1,fakea:0");
    cr_expect_eq(omp_get_num_devices(), 2);
    cr_expect_eq(omp_get_initial_device(), 2);
    cr_expect_eq(__tgt_get_num_devices(), 2);
    s = omp_get_target_memspace(3, all, omp_default_mem_space);
    cr_expect(s != NULL, "2 is the host: %s", memspan_error_text());
    s = omp_get_target_memspace(2, all + 1, omp_default_mem_space);
    cr_assert(s != NULL, "%s", memspan_error_text());
    cr_expect_eq(*s, omp_get_device_and_host_memspace(1, omp_default_mem_space));
    a = omp_get_device_and_host_allocator(1, omp_default_mem_space);
    cr_assert_neq(a, omp_null_allocator, "%s", memspan_error_text());
    cr_expect_eq(a, omp_get_device_and_host_allocator(1, omp_default_mem_space));
    omp_destroy_allocator(a); /* tolerated: all callers share it */
    omp_free(omp_alloc(100, a), a);
    cr_expect_eq(strcmp(omp_get_uid_from_device(2), "HOST"), 0);
    cr_expect_eq(omp_get_device_from_uid(omp_get_uid_from_device(1)), 1);
}

/* The forms that gfortran calls, with every argument by reference. */
#define FORTRAN(returns, name, ...) returns omp_##name##_(__VA_ARGS__)
#define SPACE                       omp_memspace_handle_t
#define ALLOCATOR                   omp_allocator_handle_t
FORTRAN(SPACE, get_devices_memspace, const int *, const int *, const SPACE *);
FORTRAN(SPACE, get_device_memspace, const int *, const SPACE *);
FORTRAN(SPACE, get_devices_and_host_memspace, const int *, const int *, const SPACE *);
FORTRAN(SPACE, get_device_and_host_memspace, const int *, const SPACE *);
FORTRAN(SPACE, get_devices_all_memspace, const SPACE *);
FORTRAN(SPACE, get_submemspace, const SPACE *, const int *, const int *);
FORTRAN(ALLOCATOR, get_devices_allocator, const int *, const int *, const SPACE *);
FORTRAN(ALLOCATOR, get_device_allocator, const int *, const SPACE *);
FORTRAN(ALLOCATOR, get_devices_and_host_allocator, const int *, const int *, const SPACE *);
FORTRAN(ALLOCATOR, get_device_and_host_allocator, const int *, const SPACE *);
FORTRAN(ALLOCATOR, get_devices_all_allocator, const SPACE *);
FORTRAN(ALLOCATOR, init_allocator_8, const SPACE *, const int64_t *, const omp_alloctrait_t *);
FORTRAN(int, get_memspace_num_resources, const SPACE *);
FORTRAN(int, get_num_devices, void);

#define SAME(fortran, c)                                                                           \
    do {                                                                                           \
        cr_expect((c) != 0, #c ": %s", memspan_error_text());                                      \
        cr_expect_eq(fortran, c);                                                                  \
    } while (0)

Test(ours, fortrans_forms_answer_as_cs)
{
    const SPACE bases[]      = {omp_default_mem_space, omp_large_cap_mem_space};
    const int devices[]      = {1, 0};
    const int both           = 2;
    const int64_t counts[]   = {-1, (int64_t)INT_MAX + 1, 1};
    omp_alloctrait_t trait[] = {{omp_atk_alignment, 4096}};
    ALLOCATOR a;

    pretend("fakea:0,fakea:1");
    SAME(omp_get_num_devices_(), omp_get_num_devices());
    for (int i = 0; i < 2; i++) {
        const SPACE *s   = &bases[i];
        const int *d     = &devices[i];
        const SPACE some = omp_get_devices_and_host_memspace(2, devices, *s);

        SAME(omp_get_devices_memspace_(&both, devices, s),
             omp_get_devices_memspace(2, devices, *s));
        SAME(omp_get_device_memspace_(d, s), omp_get_device_memspace(*d, *s));
        SAME(omp_get_devices_and_host_memspace_(&both, devices, s), some);
        SAME(omp_get_device_and_host_memspace_(d, s), omp_get_device_and_host_memspace(*d, *s));
        SAME(omp_get_devices_all_memspace_(s), omp_get_devices_all_memspace(*s));
        SAME(omp_get_devices_allocator_(&both, devices, s),
             omp_get_devices_allocator(2, devices, *s));
        SAME(omp_get_device_allocator_(d, s), omp_get_device_allocator(*d, *s));
        SAME(omp_get_devices_and_host_allocator_(&both, devices, s),
             omp_get_devices_and_host_allocator(2, devices, *s));
        SAME(omp_get_device_and_host_allocator_(d, s), omp_get_device_and_host_allocator(*d, *s));
        SAME(omp_get_devices_all_allocator_(s), omp_get_devices_all_allocator(*s));
        SAME(omp_get_memspace_num_resources_(&some), omp_get_memspace_num_resources(some));
        SAME(omp_get_submemspace_(&some, &devices[0], &devices[i]),
             omp_get_submemspace(some, 1, &devices[i]));
    }
    for (int i = 0; i < 3; i++) { /* a count of 64 bits */
        a = omp_init_allocator_8_(&bases[0], &counts[i], trait);
        cr_expect_eq(a != omp_null_allocator, i == 2, "%s", memspan_error_text());
    }
    cr_expect_eq((uintptr_t)omp_alloc(1, a) % 4096, 0);
}

Test(ours, device_routines_are_served)
{
    char text[64]   = "device memory";
    char back[64]   = "";
    size_t whole[2] = {2, 4};
    size_t none[2]  = {0, 0};
    size_t sizes[2] = {4, 8};
    char *p;

    pretend("fakea:0,fakea:1");
    p = (char *)omp_target_alloc(64, 0);
    cr_assert(p != NULL, "%s", memspan_error_text());
    cr_expect_eq(omp_target_memcpy(p, text, 64, 0, 0, 0, 2), 0, "%s", memspan_error_text());
    cr_expect_eq(omp_target_memcpy(back, p, 10, 0, 3, -1, 0), 0, "%s", memspan_error_text());
    cr_expect_eq(strcmp(back, "ice memory"), 0, "%s", back);
    cr_expect_eq(omp_target_memset(p, 'x', 64, 0), p);
    cr_expect_eq(fake_runtime_calls("GOMP_taskwait"), 0);
    cr_expect_eq(omp_target_memcpy_async(back, p, 4, 0, 0, 2, 0, 1, NULL), 0);
    cr_expect_eq(fake_runtime_calls("GOMP_taskwait"), 1);
    cr_expect_eq(omp_target_memcpy_async(back, p, 4, 0, 0, 2, 0, 0, NULL), 0);
    cr_expect_eq(fake_runtime_calls("GOMP_taskwait"), 1, "nothing to wait for");
    cr_expect_eq(memcmp(back, "xxxmemory", 3), 0, "%s", back);
    cr_expect_eq(omp_target_memset_async(p + 4, 'y', 4, 0, 1, NULL), p + 4);
    cr_expect_eq(fake_runtime_calls("GOMP_taskwait"), 2);
    cr_expect_eq(omp_target_memcpy(back, p, 9, 0, 0, 2, 0), 0, "%s", memspan_error_text());
    cr_expect_eq(memcmp(back, "xxxxyyyyx", 9), 0, "%s", back);
    cr_expect_eq(omp_target_memcpy_rect(back, p, 1, 2, whole, none, none, sizes, sizes, 2, 0), 0);
    cr_expect_eq(omp_target_is_accessible(p, 64, 0), 1);
    cr_expect_eq(omp_target_is_accessible(p, 65, 0), 0);
    cr_expect_eq(omp_target_is_accessible(p, 64, 2), 0, "the host cannot touch it");
    cr_expect_eq(omp_target_is_accessible(text, 64, 2), 1);
    cr_expect_eq(omp_get_mapped_ptr(p, 0), p);
    cr_expect_eq(omp_get_mapped_ptr(text, 0), NULL);
    cr_expect_neq(omp_target_memcpy(p, text, 1, SIZE_MAX, 0, 0, 2), 0);
    cr_expect_neq(omp_target_memcpy(p, NULL, 1, 0, 0, 0, 2), 0);
    cr_expect_neq(omp_target_memcpy(p, text, 1, 0, 0, 3, 2), 0);
    omp_target_free(p, 0);
}

Test(ours, vendors_kinds)
{
    memspan_pointer_info_t info = {.struct_size = sizeof(info)};
    void *p;

    pretend("fakea:0,fakea:1");
    p = llvm_omp_target_alloc_shared(100, 1);
    cr_assert_eq(memspan_pointer_describe(p, &info), MEMSPAN_OK, "%s", memspan_error_text());
    cr_expect_eq(info.kind_given, MEMSPAN_KIND_MANAGED);
    llvm_omp_target_free_shared(p, 1);
    p = omp_alloc(100, omp_target_device_mem_alloc);
    cr_assert_eq(memspan_pointer_describe(p, &info), MEMSPAN_OK, "%s", memspan_error_text());
    cr_expect_eq(info.kind_given, MEMSPAN_KIND_DEVICE);
    omp_free(p, omp_null_allocator);
    p = omp_alloc(100, ompx_gnu_managed_mem_alloc);
    cr_assert_eq(memspan_pointer_describe(p, &info), MEMSPAN_OK, "%s", memspan_error_text());
    cr_expect_eq(info.kind_given, MEMSPAN_KIND_MANAGED);
    omp_free(p, omp_null_allocator);
}

Test(ours, offload_library)
{
    int devices[] = {0};
    int ids[8]    = {-1, -1, -1, -1, -1, -1, -1, -1};
    int other_ids[8];
    int count;
    int foreign = 0;
    void *p;

    pretend("fakea:0");
    count = __tgt_get_mem_resources(1, devices, 1, 99, NULL);
    cr_assert((count > 0) && (count <= 8), "%d: %s", count, memspan_error_text());
    cr_expect_eq(__tgt_get_mem_resources(1, devices, 1, 99, ids), count);
    cr_expect_geq(ids[0], 0);
    __tgt_get_mem_resources(1, devices, 1, 0, other_ids);
    cr_expect_arr_eq(ids, other_ids, (size_t)count * sizeof(int));
    /* With a handle that is the runtime's own. */
    p = __tgt_omp_alloc(100, (uintptr_t)&foreign);
    cr_expect(p != NULL, "%s", memspan_error_text());
    cr_expect_eq(omp_target_is_accessible(p, 100, 0), 1);
    __tgt_omp_free(p, (uintptr_t)&foreign);
    devices[0] = 77;
    cr_expect_eq(__tgt_get_mem_resources(1, devices, 0, 99, NULL), 0);
}

Test(theirs, what_the_runtime_lacks_is_made_of_what_it_has)
{
    enum { BYTES = (2 << 20) + 5 };
    char *p    = (char *)calloc(1, BYTES);
    char *from = (char *)calloc(1, BYTES);

    setenv("MEMSPAN_BACKENDS", "host", 1);
    setenv("FAKE_RUNTIME_DEVICES", "2", 1);
    cr_expect_eq(omp_get_num_devices(), 2);
    cr_expect_eq(omp_get_initial_device(), 2);
    cr_expect_eq(omp_target_memset(p, 'x', BYTES, 1), p);
    cr_expect_eq(fake_runtime_calls("omp_target_memcpy"), 3);
    cr_expect((p[0] == 'x') && (p[BYTES - 1] == 'x') && (p[1 << 20] == 'x'));
    cr_expect_eq(omp_target_memcpy_async(p, from, 100, 5, 0, 1, -1, 3, NULL), 0);
    cr_expect_eq(fake_runtime_calls("omp_target_memcpy"), 4);
    cr_expect_eq(fake_runtime_calls("GOMP_taskwait"), 1);
    cr_expect((p[4] == 'x') && (p[5] == 0) && (p[104] == 0) && (p[105] == 'x'));
    /* Numbers of no device never reach it. */
    cr_expect_neq(omp_target_memcpy(p, from, 1, 0, 0, 3, 2), 0);
    cr_expect_neq(omp_target_memcpy(p, from, 1, 0, 0, -2, 2), 0);
    cr_expect_eq(omp_target_memset(p, 'y', 1, 3), p);
    cr_expect_eq(p[0], 'x');
    cr_expect_eq(fake_runtime_calls("omp_target_memcpy"), 4);
    free(from);
    free(p);
}
