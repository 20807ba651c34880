/* SPDX-License-Identifier: BSD-3-Clause */
/* A runtime that starts with a default allocator which only it knows, as newer libgomp does when it
 * has read OMP_ALLOCATOR. */

#include <criterion/criterion.h>
#include <memspan/memspan.h>
#include <memspan/omp.h>
#include <stdlib.h>
#include <string.h>

int fake_runtime_calls(const char *name);

/* What a compiler would see through. */
__attribute__((noinline)) static void free_anything(uintptr_t address)
{
    void *volatile unseen = (void *)address;

    omp_free(unseen, omp_null_allocator);
}

static void pretend(const char *text)
{
    setenv("MEMSPAN_BACKENDS", "", 1);
    setenv("FAKE_RUNTIME_RECORD", "1", 1);
    if (text != NULL) {
        setenv("OMP_ALLOCATOR", text, 1);
    }
}

Test(initial, ours_stands_for_the_runtimes)
{
    omp_allocator_handle_t a;
    void *p;

    pretend("omp_low_lat_mem_space:alignment=1024");
    a = omp_get_default_allocator();
    p = omp_alloc(10, omp_null_allocator);
    cr_expect_neq(a, omp_default_mem_alloc);
    cr_expect_eq((uintptr_t)p % 1024, 0);
    cr_expect_eq(fake_runtime_calls("omp_alloc"), 0);
    omp_free(p, omp_null_allocator);
    omp_set_default_allocator(omp_default_mem_alloc);
    cr_expect_eq(omp_get_default_allocator(), omp_default_mem_alloc);
    omp_set_default_allocator(a);
    cr_expect_eq(omp_get_default_allocator(), a);
}

Test(initial, set_before_it_was_ever_asked)
{
    pretend("omp_high_bw_mem_alloc");
    omp_set_default_allocator(omp_default_mem_alloc);
    cr_expect_eq(omp_get_default_allocator(), omp_default_mem_alloc);
    omp_set_default_allocator(omp_null_allocator);
    cr_expect_eq(omp_get_default_allocator(), omp_default_mem_alloc);
}

static omp_allocator_handle_t fast(size_t count)
{
    const omp_alloctrait_t traits[] = {{omp_atk_guarantee, omp_atv_required}};

    return omp_init_allocator(omp_high_bw_mem_space, (int)count, traits);
}

/* A machine of one tier. */
Test(alias, serves_a_hint_and_no_guarantee)
{
    omp_allocator_handle_t hint;

    setenv("HWLOC_SYNTHETIC", "pu:2", 1);
    hint = fast(0);
    cr_expect_neq(hint, omp_null_allocator, "%s", memspan_error_text());
    cr_expect_eq(fast(1), omp_null_allocator);
    cr_expect_eq(memspan_error_last()->status, MEMSPAN_ERR_NOT_GUARANTEED);
}

Test(alias, off_as_in_the_runtimes)
{
    void *p;

    setenv("HWLOC_SYNTHETIC", "pu:2", 1);
    setenv("MEMSPAN_OMP_ALIAS", "off", 1);
    cr_expect_eq(fast(0), omp_null_allocator);
    cr_expect(strstr(memspan_error_text(), "MEMSPAN_OMP_ALIAS") != NULL, "%s",
              memspan_error_text());
    cr_expect_neq(omp_init_allocator(omp_default_mem_space, 0, NULL), omp_null_allocator);
    p = omp_alloc(100, omp_high_bw_mem_alloc);
    cr_expect(p != NULL, "%s", memspan_error_text());
    omp_free(p, omp_high_bw_mem_alloc);
}

Test(foreign, handles_go_to_the_runtime_and_blocks_go_back)
{
    struct {
        uintptr_t space;
        uintptr_t alignment;
        uintptr_t rest[5];
    } *theirs = calloc(1, sizeof(*theirs));
    uintptr_t freed;
    char *p;

    pretend(NULL);
    theirs->alignment = 8;
    p                 = (char *)omp_alloc(100, (omp_allocator_handle_t)theirs);
    cr_assert(p != NULL, "%s", memspan_error_text());
    cr_expect_eq(fake_runtime_calls("omp_alloc"), 1);
    p[0] = 42;
    p    = (char *)omp_realloc(p, 5000, omp_default_mem_alloc, omp_null_allocator);
    cr_assert(p != NULL, "%s", memspan_error_text());
    cr_expect_eq(p[0], 42);
    cr_expect_eq(fake_runtime_calls("omp_free"), 1);
    p = (char *)omp_realloc(p, 200, (omp_allocator_handle_t)theirs, omp_null_allocator);
    cr_assert(p != NULL, "%s", memspan_error_text());
    cr_expect_eq(p[0], 42);
    cr_expect_eq(fake_runtime_calls("omp_alloc"), 2);
    freed = (uintptr_t)p;
    omp_free(p, omp_null_allocator);
    cr_expect_eq(fake_runtime_calls("omp_free"), 2);
    free_anything(freed); /* once was enough */
    cr_expect_eq(fake_runtime_calls("omp_free"), 2);
    free(theirs);
}

Test(foreign, rubbish_is_unowned)
{
    int rubbish[16] = {0};

    pretend(NULL);
    cr_expect(omp_alloc(100, (omp_allocator_handle_t)rubbish) == NULL);
    cr_expect(omp_alloc(100, (omp_allocator_handle_t)0x10000) == NULL);
    cr_expect(omp_alloc(100, (omp_allocator_handle_t)UINTPTR_MAX) == NULL);
    cr_expect(omp_alloc(100, (omp_allocator_handle_t)99) == NULL);
    free_anything((uintptr_t)(rubbish + 4));
    free_anything(0x10000);
    free_anything(1);
    omp_destroy_allocator((omp_allocator_handle_t)rubbish);
    cr_expect_eq(fake_runtime_calls("omp_alloc"), 0);
    cr_expect_eq(fake_runtime_calls("omp_free"), 0);
}
