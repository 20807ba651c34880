/* SPDX-License-Identifier: BSD-3-Clause */
/* The grammar of OMP_ALLOCATOR. */

#include "core/omp/openmp.h"
#include <criterion/criterion.h>
#include <memspan/status.h>
#include <string.h>

static struct msp_omp_request parse(const char *text)
{
    struct msp_omp_request request = {.allocator = 4711};

    cr_assert_eq(msp_omp_request_parse(text, &request), MEMSPAN_OK, "%s: %s", text,
                 memspan_error_text());
    return request;
}

Test(omp_environment, allocators_by_name)
{
    cr_expect_eq(parse("omp_default_mem_alloc").allocator, 1);
    cr_expect_eq(parse("omp_thread_mem_alloc").allocator, 8);
    cr_expect_eq(parse(" OMP_HIGH_BW_MEM_ALLOC\t").allocator, 4);
    cr_expect_eq(parse("llvm_omp_target_device_mem_alloc").allocator, 102);
    cr_expect_eq(parse("omp_target_shared_mem_alloc").allocator, 101);
    cr_expect_eq(parse("ompx_gnu_pinned_mem_alloc").allocator, 200);
}

Test(omp_environment, a_bare_space_is_its_predefined_allocator)
{
    cr_expect_eq(parse("omp_default_mem_space").allocator, 1);
    cr_expect_eq(parse("omp_large_cap_mem_space").allocator, 2);
    cr_expect_eq(parse("omp_low_lat_mem_space").allocator, 5);
    cr_expect_eq(parse("llvm_omp_target_host_mem_space").allocator, 100);
    cr_expect_eq(parse("ompx_gnu_managed_mem_space").allocator, 201);
}

Test(omp_environment, a_space_with_traits)
{
    struct msp_omp_request request =
        parse("omp_high_bw_mem_space : pinned=true , alignment = 64,fallback=allocator_fb, "
              "fb_data=omp_low_lat_mem_alloc,pool_size=1g");

    cr_expect_eq(request.allocator, 0);
    cr_expect_eq(request.space, 3);
    cr_assert_eq(request.trait_count, 5);
    cr_expect_eq(request.traits[0].key, MEMSPAN_TRAIT_PINNED);
    cr_expect_eq(request.traits[0].value, MEMSPAN_VALUE_TRUE);
    cr_expect_eq(request.traits[1].value, 64);
    cr_expect_eq(request.traits[2].value, MEMSPAN_VALUE_ALLOCATOR_FB);
    cr_expect_eq(request.traits[3].key, MEMSPAN_TRAIT_FB_DATA);
    cr_expect_eq(request.traits[3].value, 5);
    cr_expect_eq(request.traits[4].value, (uintptr_t)1 << 30);
}

Test(omp_environment, refused_with_the_word_at_fault)
{
    static const struct {
        const char *text;
        const char *said;
    } cases[] = {
        {"", "no allocator"},
        {"1", "\"1\""},
        {"omp_null_allocator", "omp_null_allocator"},
        {"omp_high_bw_mem_spaec", "perhaps omp_high_bw_mem_space?"},
        {"omp_default_mem_alloc:alignment=8", "omp_default_mem_alloc"},
        {"omp_default_mem_space:", "trait=value"},
        {"omp_default_mem_space:pinned", "\"pinned\""},
        {"omp_default_mem_space:pinned=true,", "trait=value"},
        {"omp_default_mem_space:,pinned=true", "trait=value"},
        {"omp_default_mem_space:pinnde=true", "pinnde"},
        {"omp_default_mem_space:pinned=perhaps", "perhaps"},
        {"omp_default_mem_space:fb_data=7", "\"7\""},
        {"omp_default_mem_space:fb_data=", "fb_data"},
    };
    struct msp_omp_request request = {.allocator = 4711};
    size_t i;

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cr_expect_eq(msp_omp_request_parse(cases[i].text, &request), MEMSPAN_ERR_INVALID, "%s",
                     cases[i].text);
        cr_expect(strstr(memspan_error_text(), cases[i].said) != NULL, "%s: %s", cases[i].text,
                  memspan_error_text());
    }
    cr_expect_eq(request.allocator, 4711, "an output was written on failure");
}

Test(omp_environment, too_much)
{
    struct msp_omp_request request;
    char text[2000] = "omp_default_mem_space:";
    int i;

    for (i = 0; i < 40; i++) {
        strcat(text, "part_size=1,");
    }
    strcat(text, "part_size=1");
    cr_expect_eq(msp_omp_request_parse(text, &request), MEMSPAN_ERR_INVALID);
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    cr_expect_eq(msp_omp_request_parse(text, &request), MEMSPAN_ERR_INVALID);
}
