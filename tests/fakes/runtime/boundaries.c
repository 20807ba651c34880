/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of arguments at the bounds of OpenMP's routines: zero, one, the last that fits, the first
 * that does not, overflow, wrong devices, wrong handles; and what must be given back. */

#include <criterion/criterion.h>
#include <memspan/memspan.h>
#include <memspan/omp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int fake_runtime_calls(const char *name);

enum { SIZE = 1000, NO_DEVICE = 77 };

/* The runtime's devices, or this library's. */
static void pretend(const char *theirs, const char *ours)
{
    setenv("MEMSPAN_BACKEND_PATH", FAKES, 1);
    setenv("MEMSPAN_BACKENDS", (ours == NULL) ? "" : "fakea", 1);
    setenv("FAKEA_DEVICES", "discrete,discrete,discrete", 1);
    if (theirs != NULL) {
        setenv("FAKE_RUNTIME_DEVICES", theirs, 1);
    }
    if (ours != NULL) {
        setenv("MEMSPAN_DEVICES", ours, 1);
    }
}

static char *mapped_pages(size_t open_pages)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *p     = mmap(NULL, (open_pages + 1) * page, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    cr_assert_neq(p, MAP_FAILED);
    cr_assert_eq(mprotect(p + open_pages * page, page, PROT_NONE), 0);
    return p;
}

/* ---- sizes and alignments ---- */

Test(boundaries, sizes)
{
    static const struct {
        size_t count;
        size_t size;
        bool served;
    } rows[] = {
        {0, 1, false},        {1, 0, false},        {1, 1, true},
        {1, 8192, true},      {1, 8193, true},      {2, SIZE_MAX / 2 + 1, false},
        {1, SIZE_MAX, false}, {SIZE_MAX, 1, false}, {SIZE_MAX / 8 + 2, 8, false},
    };
    size_t i;

    pretend(NULL, NULL);
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char *p = omp_calloc(rows[i].count, rows[i].size, omp_default_mem_alloc);

        cr_expect_eq(p != NULL, rows[i].served, "row %zu", i);
        if (p != NULL) {
            cr_expect((p[0] == 0) && (p[rows[i].count * rows[i].size - 1] == 0), "row %zu", i);
        }
        omp_free(p, omp_null_allocator);
        if (rows[i].count == 1) {
            p = omp_alloc(rows[i].size, omp_default_mem_alloc);
            cr_expect_eq(p != NULL, rows[i].served, "row %zu", i);
            omp_free(p, omp_null_allocator);
        }
    }
    cr_expect_eq(memspan_check(), MEMSPAN_OK);
}

Test(boundaries, alignments)
{
    static const struct {
        size_t align;
        bool served;
    } rows[] = {
        {0, false},  {1, true},  {2, true},        {3, false},        {16, true},
        {24, false}, {64, true}, {1u << 20, true}, {SIZE_MAX, false}, {(SIZE_MAX >> 1) + 1, false}};
    size_t i;

    pretend(NULL, NULL);
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        void *p = omp_aligned_alloc(rows[i].align, SIZE, omp_default_mem_alloc);
        void *q = omp_aligned_calloc(rows[i].align, 10, SIZE, omp_default_mem_alloc);

        cr_expect_eq(p != NULL, rows[i].served, "%zu", rows[i].align);
        cr_expect_eq(q != NULL, rows[i].served, "%zu", rows[i].align);
        cr_expect((p == NULL) || ((uintptr_t)p % rows[i].align == 0));
        cr_expect((q == NULL) || ((uintptr_t)q % rows[i].align == 0));
        omp_free(p, omp_null_allocator);
        omp_free(q, omp_null_allocator);
    }
    cr_expect_eq(memspan_check(), MEMSPAN_OK);
}

/* ---- realloc between this library and the runtime ---- */

static void *theirs(void)
{
    static uintptr_t record[7] = {0, 8}; /* as libgomp's: space, alignment */

    return memcpy(malloc(sizeof(record)), record, sizeof(record));
}

/* Not a byte before or after the smaller of the two is touched. */
Test(boundaries, realloc_of_blocks_that_end_at_a_closed_page)
{
    static const size_t sizes[][2] = {{1, 1},    {1, 5000}, {100, 5000},
                                      {100, 50}, {100, 1},  {4096, 4097}};
    void *runtimes                 = theirs();
    size_t i;
    size_t k;

    pretend(NULL, NULL);
    setenv("FAKE_RUNTIME_EDGE", "1", 1);
    for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        size_t kept = (sizes[i][0] < sizes[i][1]) ? sizes[i][0] : sizes[i][1];
        char *p     = omp_alloc(sizes[i][0], (omp_allocator_handle_t)runtimes);

        cr_assert(p != NULL, "%s", memspan_error_text());
        memset(p, 42, sizes[i][0]);
        p = omp_realloc(p, sizes[i][1], omp_default_mem_alloc, omp_null_allocator);
        cr_assert(p != NULL, "%s", memspan_error_text());
        for (k = 0; k < kept; k++) {
            cr_assert_eq(p[k], 42, "byte %zu of row %zu", k, i);
        }
        p = omp_realloc(p, kept, (omp_allocator_handle_t)runtimes, omp_null_allocator);
        cr_assert(p != NULL, "%s", memspan_error_text());
        for (k = 0; k < kept; k++) {
            cr_assert_eq(p[k], 42, "byte %zu of row %zu", k, i);
        }
        omp_free(p, omp_null_allocator);
    }
    cr_expect_eq(fake_runtime_calls("omp_alloc"), fake_runtime_calls("omp_free"));
    cr_expect_eq(memspan_check(), MEMSPAN_OK);
    free(runtimes);
}

/* A block stays what and where it is when there is no such allocator, or no such size. */
Test(boundaries, realloc_refused)
{
    omp_allocator_handle_t gone = omp_init_allocator(omp_default_mem_space, 0, NULL);
    char *p                     = omp_alloc(SIZE, omp_default_mem_alloc);
    void *runtimes              = theirs();
    volatile size_t most        = SIZE_MAX; /* what a compiler would warn of */
    memspan_pointer_info_t info = {.struct_size = sizeof(info)};

    pretend(NULL, NULL);
    omp_destroy_allocator(gone);
    p[SIZE - 1] = 42;
    cr_expect_null(omp_realloc(p, 10, gone, omp_null_allocator));
    cr_expect_null(omp_realloc(p, 10, (omp_allocator_handle_t)777, omp_null_allocator));
    cr_expect_null(omp_realloc(p, most, omp_default_mem_alloc, omp_null_allocator));
    cr_expect_null(omp_realloc(p + 8, 10, omp_default_mem_alloc, omp_null_allocator));
    cr_expect_null(omp_realloc(p + 8, 10, (omp_allocator_handle_t)runtimes, omp_null_allocator));
    cr_expect_eq(fake_runtime_calls("omp_alloc"), 0);
    cr_assert_eq(memspan_pointer_describe(p, &info), MEMSPAN_OK);
    cr_expect_eq(info.size_bytes, SIZE);
    cr_expect_eq(p[SIZE - 1], 42);
    cr_expect_null(omp_realloc(p, 0, omp_default_mem_alloc, omp_null_allocator));
    cr_expect_neq(memspan_pointer_describe(p, &info), MEMSPAN_OK);
    free(runtimes);
}

/* ---- omp_target_is_accessible() ---- */

struct access_row {
    size_t offset;
    size_t size;
    bool yes;
};

static void check_access(const char *p, const struct access_row *rows, size_t count, int device)
{
    size_t i;

    for (i = 0; i < count; i++) {
        cr_expect_eq(omp_target_is_accessible(p + rows[i].offset, rows[i].size, device) != 0,
                     rows[i].yes, "%zu bytes at %zu", rows[i].size, rows[i].offset);
    }
}

Test(boundaries, accessible)
{
    static const struct access_row block[] = {
        {0, 0, true},        {0, 1, true},         {0, SIZE, true},      {0, SIZE + 1, false},
        {1, SIZE - 1, true}, {1, SIZE, false},     {500, 500, true},     {500, 501, false},
        {SIZE - 1, 1, true}, {SIZE - 1, 2, false}, {0, SIZE_MAX, false}, {16, SIZE_MAX - 8, false},
    };
    size_t page                     = (size_t)sysconf(_SC_PAGESIZE);
    const struct access_row pages[] = {
        {0, 1, true},     {0, page, true},     {0, page + 1, false},
        {1, page, false}, {page - 1, 1, true}, {page - 1, 0, true},
        {page, 1, false}, {page, 0, false},    {0, SIZE_MAX, false},
    };
    char *p;

    pretend(NULL, NULL);
    p = omp_alloc(SIZE, omp_default_mem_alloc);
    check_access(p, block, sizeof(block) / sizeof(block[0]), omp_get_initial_device());
    check_access(mapped_pages(1), pages, sizeof(pages) / sizeof(pages[0]),
                 omp_get_initial_device());
    cr_expect_not(omp_target_is_accessible(NULL, 1, omp_get_initial_device()));
    cr_expect_not(omp_target_is_accessible(p, 1, NO_DEVICE));
    cr_expect_not(omp_target_is_accessible(p, 1, -7));
    omp_free(p, omp_null_allocator);
}

/* ---- copies ---- */

/* Device 0 is the runtime's, whose host is 1; device 2 is known to this library alone. */
Test(boundaries, copies_between_the_runtime_and_a_device_it_lacks)
{
    char here[16] = "the runtime's";
    char *p;

    pretend("1", "fakea:0,fakea:1,fakea:2");
    cr_assert_eq(omp_get_num_devices(), 1);
    cr_assert_eq(memspan_device_count(), 3);
    p = omp_alloc(16, omp_default_mem_alloc);
    cr_expect_eq(omp_target_memcpy(p, here, 16, 0, 0, 1, 0), 0); /* both the runtime's */
    cr_expect_eq(fake_runtime_calls("omp_target_memcpy"), 1);
    p[0] = 0;
    cr_expect_neq(omp_target_memcpy(p, here, 16, 0, 0, 2, 0), 0);
    cr_expect_neq(omp_target_memcpy(here, p, 16, 0, 0, 0, 2), 0);
    cr_expect_neq(omp_target_memcpy(p, here, 16, 0, 0, NO_DEVICE, 0), 0);
    cr_expect_neq(omp_target_memcpy(p, here, 16, 0, 0, -7, 0), 0);
    cr_expect_eq(fake_runtime_calls("omp_target_memcpy"), 1);
    cr_expect_eq(p[0], 0);
    cr_expect_eq(here[0], 't');
    omp_free(p, omp_null_allocator);
}

Test(boundaries, copies)
{
    static const struct {
        size_t size;
        size_t to;
        size_t from;
        bool done;
    } rows[] = {
        {0, 0, 0, true},          {1, 0, 0, true},         {16, 0, 0, true},
        {1, 15, 15, true},        {8, 8, 0, true},         {1, SIZE_MAX, 0, false},
        {1, 0, SIZE_MAX, false},  {SIZE_MAX, 0, 0, false}, {SIZE_MAX, 16, 0, false},
        {SIZE_MAX, 0, 16, false},
    };
    char from[16] = "0123456789abcde";
    char to[16];
    size_t i;
    int host;

    pretend(NULL, "fakea:0,fakea:1");
    host = omp_get_initial_device();
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        memset(to, '-', sizeof(to));
        cr_expect_eq(
            omp_target_memcpy(to, from, rows[i].size, rows[i].to, rows[i].from, host, host) == 0,
            rows[i].done, "row %zu", i);
        if (rows[i].done && (rows[i].size > 0)) {
            cr_expect_eq(memcmp(to + rows[i].to, from + rows[i].from, rows[i].size), 0);
        } else {
            cr_expect_eq(to[0], '-', "row %zu", i);
        }
    }
    cr_expect_neq(omp_target_memcpy(NULL, from, 1, 0, 0, host, host), 0);
    cr_expect_neq(omp_target_memcpy(to, NULL, 1, 0, 0, host, host), 0);
}

/* ---- partitioners ---- */

static int computed;
static int released;

static void compute(omp_memspace_handle_t space, size_t size, omp_alloctrait_val_t argument,
                    omp_mempartition_t *partition)
{
    memspan_resource_info_t info = {.struct_size = sizeof(info)};
    size_t page                  = omp_get_memspace_pagesize(space);

    (void)argument;
    computed++;
    cr_assert_eq(memspan_space_resource((memspan_space_h)space, 0, &info), MEMSPAN_OK);
    omp_init_mempartition(partition, 2, NULL);
    cr_expect_eq(omp_mempartition_set_part(partition, 0, 0, 0), -1);
    cr_expect_eq(omp_mempartition_set_part(partition, 0, -1, page), -1);
    cr_expect_eq(omp_mempartition_set_part(partition, 0, 0, page + 1), -1);
    cr_expect_eq(omp_mempartition_set_part(partition, SIZE_MAX, 0, page), -1);
    if (info.capacity_bytes != MEMSPAN_UNKNOWN) {
        size_t most = info.capacity_bytes / page * page;

        cr_expect_eq(omp_mempartition_set_part(partition, 0, 0, most), 0);
        cr_expect_eq(omp_mempartition_set_part(partition, 0, 0, most + page), -1);
        cr_expect_eq(omp_mempartition_set_part(partition, 1, 0, info.capacity_bytes + 1), -1);
    }
    cr_expect_eq(omp_mempartition_set_part(partition, 0, 0, page), 0);
    cr_expect_eq(omp_mempartition_set_part(partition, 1, 0, size - page), 0);
}

static void release(omp_mempartition_t *partition)
{
    released++;
    omp_destroy_mempartition(partition);
}

/* As gfortran calls them. */
void omp_init_mempartitioner_(omp_mempartitioner_t *partitioner, const int *lifetime,
                              void (*compute)(omp_memspace_handle_t, size_t, omp_alloctrait_val_t,
                                              omp_mempartition_t *),
                              void (*release)(omp_mempartition_t *));
void omp_destroy_mempartitioner_(const omp_mempartitioner_t *partitioner);

static omp_allocator_handle_t partitioned(omp_mempartitioner_t partitioner)
{
    omp_alloctrait_t traits[] = {{omp_atk_partition, omp_atv_partitioner},
                                 {omp_atk_partitioner, partitioner},
                                 {omp_atk_fallback, omp_atv_null_fb}};

    return omp_init_allocator(omp_default_mem_space, 3, traits);
}

/* What an allocator's partitioner keeps for it ends with it, and no other's does. */
Test(boundaries, partitions_end_with_their_allocator)
{
    const int lifetime = omp_allocator_mempartition;
    omp_mempartitioner_t partitioner;
    omp_allocator_handle_t kept;
    int i;

    pretend(NULL, NULL);
    omp_init_mempartitioner(&partitioner, omp_allocator_mempartition, compute, release);
    kept = partitioned(partitioner);
    cr_assert_neq(kept, omp_null_allocator, "%s", memspan_error_text());
    omp_free(omp_alloc(100000, kept), omp_null_allocator);
    for (i = 1; i <= 10; i++) {
        omp_allocator_handle_t a = partitioned(partitioner);
        void *p                  = omp_alloc(100000, a);

        cr_assert_not_null(p, "%s", memspan_error_text());
        cr_expect_eq(computed, 1 + i);
        cr_expect_eq(released, i - 1);
        omp_free(p, omp_null_allocator);
        omp_destroy_allocator(a);
        cr_expect_eq(released, i);
    }
    omp_free(omp_alloc(100000, kept), omp_null_allocator);
    cr_expect_eq(computed, 11);
    omp_destroy_allocator(kept);
    cr_expect_eq(released, 11);
    omp_destroy_mempartitioner(&partitioner);
    cr_expect_eq(released, 11);
    omp_init_mempartitioner_(&partitioner, &lifetime, compute, release);
    kept = partitioned(partitioner);
    for (i = 0; i < 2; i++) {
        omp_free(omp_alloc(100000, kept), omp_null_allocator);
    }
    cr_expect_eq(computed, 12);
    omp_destroy_allocator(kept);
    cr_expect_eq(released, 12);
    omp_destroy_mempartitioner_(&partitioner);
    cr_expect_eq(partitioned(partitioner), omp_null_allocator);
}

Test(boundaries, partitioner_arguments)
{
    const int lifetimes[]           = {0, 4, omp_static_mempartition, omp_static_mempartition};
    static const char *const said[] = {"omp_init_mempartitioner: lifetime has no such value",
                                       "omp_init_mempartitioner: lifetime has no such value",
                                       "omp_init_mempartitioner: compute_proc is NULL",
                                       "omp_init_mempartitioner: partitioner is NULL"};
    omp_mempartitioner_t p          = 5;

    pretend(NULL, NULL);
    for (int i = 0; i < 4; i++) {
        p = 5;
        omp_init_mempartitioner((i < 3) ? &p : NULL, lifetimes[i], (i != 2) ? compute : NULL, NULL);
        cr_expect_eq(p, (i < 3) ? 0 : 5);
        cr_expect_str_eq(memspan_error_text(), said[i]);
    }
    cr_expect_eq(partitioned(0), omp_null_allocator);
    cr_expect_eq(partitioned(12345), omp_null_allocator);
    omp_destroy_mempartitioner(&p);
    omp_destroy_mempartitioner(NULL);
    omp_destroy_mempartition(NULL);
    cr_expect_eq(omp_mempartition_set_part(NULL, 0, 0, 4096), -1);
    cr_expect_null(omp_mempartition_get_user_data(NULL));
}

/* ---- handles ---- */

Test(boundaries, handles)
{
    static const uintptr_t wrong[] = {9, 777, 1000, 1024, 0x4d500003, UINTPTR_MAX, UINTPTR_MAX - 7};
    omp_allocator_handle_t gone    = omp_init_allocator(omp_default_mem_space, 0, NULL);
    omp_alloctrait_t twice[]       = {{omp_atk_alignment, 64}, {omp_atk_alignment, 64}};
    omp_alloctrait_t many[64];
    size_t i;

    pretend(NULL, NULL);
    omp_destroy_allocator(gone);
    omp_destroy_allocator(gone);
    cr_expect_null(omp_alloc(SIZE, gone));
    for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        cr_expect_null(omp_alloc(SIZE, (omp_allocator_handle_t)wrong[i]), "%#zx", wrong[i]);
        omp_destroy_allocator((omp_allocator_handle_t)wrong[i]);
        cr_expect_eq(omp_init_allocator((omp_memspace_handle_t)wrong[i], 0, NULL),
                     omp_null_allocator, "%#zx", wrong[i]);
    }
    for (i = 0; i < 64; i++) {
        many[i] = (omp_alloctrait_t){omp_atk_alignment, 64};
    }
    cr_expect_eq(omp_init_allocator(omp_default_mem_space, -1, twice), omp_null_allocator);
    cr_expect_eq(omp_init_allocator(omp_default_mem_space, 1, NULL), omp_null_allocator);
    cr_expect_eq(omp_init_allocator(omp_default_mem_space, 64, many), omp_null_allocator);
    cr_expect_eq(fake_runtime_calls("omp_alloc"), 0);
    cr_expect_eq(memspan_check(), MEMSPAN_OK);
}
