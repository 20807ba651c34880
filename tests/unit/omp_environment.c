/* SPDX-License-Identifier: BSD-3-Clause */
/* The grammar of OMP_ALLOCATOR. */

#include "core/omp/openmp.h"
#include <criterion/criterion.h>
#include <memspan/status.h>
#include <stdio.h>
#include <string.h>

static struct msp_omp_request parse(const char *text)
{
    struct msp_omp_request request = {.allocator = 4711};

    cr_assert_eq(msp_omp_request_parse(text, &request), MEMSPAN_OK, "%s: %s", text,
                 memspan_error_text());
    return request;
}

/* The numbers of the compilers' headers. The space is asked for with a trait: a bare one is its
 * predefined allocator. omp_default_mem_space is 0 in some headers and 99 in others. */
Test(omp_environment, names)
{
    static const struct {
        const char *name;
        uintptr_t allocator;
        uintptr_t space; /* 0: there is none */
    } cases[] = {{"omp_default", 1, 99},
                 {"omp_large_cap", 2, 1},
                 {"omp_const", 3, 2},
                 {"omp_high_bw", 4, 3},
                 {"omp_low_lat", 5, 4},
                 {"omp_cgroup", 6, 0},
                 {"omp_pteam", 7, 0},
                 {"omp_thread", 8, 0},
                 {"llvm_omp_target_host", 100, 100},
                 {"llvm_omp_target_shared", 101, 101},
                 {"llvm_omp_target_device", 102, 102},
                 {"omp_target_host", 100, 100},
                 {"omp_target_shared", 101, 101},
                 {"omp_target_device", 102, 102},
                 {"ompx_gnu_pinned", 200, 0},
                 {"ompx_pinned", 200, 0},
                 {"ompx_gnu_managed", 201, 200}};
    char text[100];

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        snprintf(text, sizeof(text), "%s_mem_alloc", cases[i].name);
        cr_expect_eq(parse(text).allocator, cases[i].allocator, "%s", text);
        if (cases[i].space != 0) {
            snprintf(text, sizeof(text), "%s_mem_space:pinned=true", cases[i].name);
            cr_expect_eq(parse(text).space, cases[i].space, "%s", text);
            text[strlen(text) - strlen(":pinned=true")] = '\0';
            cr_expect_eq(parse(text).allocator, cases[i].allocator, "%s", text);
        }
    }
    cr_expect_eq(parse(" OMP_HIGH_BW_MEM_ALLOC\t").allocator, 4);
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
