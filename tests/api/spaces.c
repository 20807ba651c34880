/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory spaces: bad lists, forged handles, and that equal requests are one handle. */

#include "api.h"
#include <stdlib.h>

TestSuite(spaces, .fini = in_order);

static const memspan_space_h forged[] = {
    (memspan_space_h)5,
    (memspan_space_h)98,
    (memspan_space_h)100000,
    (memspan_space_h)UINTPTR_MAX,
    (memspan_space_h)0x4d53530000000fff,
    (memspan_space_h)0x4d53530000ffffff,
    (memspan_space_h)0x7fffffffffff,
};
enum { FORGED = sizeof(forged) / sizeof(forged[0]) };

Test(spaces, bad_lists)
{
    int host              = MEMSPAN_HOST;
    int none[]            = {MEMSPAN_HOST, NO_DEVICE};
    int negative[]        = {-7};
    memspan_space_h space = MEMSPAN_SPACE_CONST;

    REFUSED(memspan_space_get(NULL, 1, MEMSPAN_SPACE_NULL, &space), MEMSPAN_ERR_INVALID, "NULL");
    REFUSED(memspan_space_get(&host, 0, MEMSPAN_SPACE_NULL, &space), MEMSPAN_ERR_INVALID, "empty");
    REFUSED(memspan_space_get(&host, 1, MEMSPAN_SPACE_NULL, NULL), MEMSPAN_ERR_INVALID, "NULL");
    REFUSED(memspan_space_get(none, 2, MEMSPAN_SPACE_NULL, &space), MEMSPAN_ERR_NOT_FOUND, "12345");
    REFUSED(memspan_space_get(negative, 1, MEMSPAN_SPACE_NULL, &space), MEMSPAN_ERR_NOT_FOUND,
            "-7");
    cr_expect_eq(space, MEMSPAN_SPACE_CONST, "outputs are written on success only");
}

Test(spaces, forged_handles)
{
    int host                     = MEMSPAN_HOST;
    int first                    = 0;
    memspan_space_h space        = MEMSPAN_SPACE_NULL;
    memspan_space_info_t info    = {.struct_size = sizeof(info)};
    memspan_resource_info_t res  = {.struct_size = sizeof(res)};
    memspan_allocator_info_t all = {.struct_size = sizeof(all)};
    memspan_reach_t reach        = {0};
    memspan_allocator_h made     = MEMSPAN_ALLOCATOR_NULL;

    for (size_t i = 0; i < FORGED; i++) {
        REFUSED(memspan_space_get(&host, 1, forged[i], &space), MEMSPAN_ERR_INVALID, "space");
        REFUSED(memspan_space_describe(forged[i], &info), MEMSPAN_ERR_NOT_FOUND, "space");
        REFUSED(memspan_space_resource(forged[i], 0, &res), MEMSPAN_ERR_NOT_FOUND, "space");
        REFUSED(memspan_space_reach(forged[i], 0, MEMSPAN_HOST, &reach), MEMSPAN_ERR_NOT_FOUND,
                "space");
        memspan_error_clear();
        cr_expect_eq(memspan_space_resource_count(forged[i]), 0);
        cr_expect_neq(memspan_error_last()->status, MEMSPAN_OK);
        cr_expect_eq(memspan_space_page_size(forged[i]), 0);
        cr_expect_neq(memspan_space_get_sub(forged[i], &first, 1, &space), MEMSPAN_OK);
        cr_expect_neq(memspan_allocator_create(forged[i], NULL, 0, &made), MEMSPAN_OK);
        cr_expect_neq(memspan_allocator_plan(forged[i], NULL, 0, &all), MEMSPAN_OK);
    }
    cr_expect_eq(made, MEMSPAN_ALLOCATOR_NULL);
}

Test(spaces, bad_parts)
{
    int parts[]           = {0, 0};
    int beyond            = 1000;
    int negative          = -1;
    memspan_space_h space = MEMSPAN_SPACE_NULL;

    REFUSED(memspan_space_get_sub(MEMSPAN_SPACE_DEFAULT, NULL, 1, &space), MEMSPAN_ERR_INVALID,
            "resource");
    REFUSED(memspan_space_get_sub(MEMSPAN_SPACE_DEFAULT, parts, 0, &space), MEMSPAN_ERR_INVALID,
            "");
    REFUSED(memspan_space_get_sub(MEMSPAN_SPACE_DEFAULT, parts, 2, &space), MEMSPAN_ERR_INVALID,
            "");
    REFUSED(memspan_space_get_sub(MEMSPAN_SPACE_DEFAULT, &beyond, 1, &space), MEMSPAN_ERR_INVALID,
            "1000");
    REFUSED(memspan_space_get_sub(MEMSPAN_SPACE_DEFAULT, &negative, 1, &space), MEMSPAN_ERR_INVALID,
            "-1");
    REFUSED(memspan_space_get_sub(MEMSPAN_SPACE_DEFAULT, parts, 1, NULL), MEMSPAN_ERR_INVALID, "");
    cr_expect_neq(memspan_space_get_sub(MEMSPAN_SPACE_DEFAULT, parts, SIZE_MAX, &space), MEMSPAN_OK,
                  "a count that no list can have");
}

Test(spaces, bad_queries)
{
    memspan_resource_info_t res = {.struct_size = sizeof(res)};
    memspan_space_info_t info   = {0};
    memspan_reach_t reach       = {0};
    size_t count                = memspan_space_resource_count(MEMSPAN_SPACE_DEFAULT);

    cr_assert_gt(count, 0);
    cr_expect_neq(memspan_space_resource(MEMSPAN_SPACE_DEFAULT, count, &res), MEMSPAN_OK);
    cr_expect_neq(memspan_space_resource(MEMSPAN_SPACE_DEFAULT, SIZE_MAX, &res), MEMSPAN_OK);
    cr_expect_neq(memspan_space_reach(MEMSPAN_SPACE_DEFAULT, count, MEMSPAN_HOST, &reach),
                  MEMSPAN_OK);
    REFUSED(memspan_space_reach(MEMSPAN_SPACE_DEFAULT, 0, NO_DEVICE, &reach), MEMSPAN_ERR_NOT_FOUND,
            "12345");
    REFUSED(memspan_space_reach(MEMSPAN_SPACE_DEFAULT, 0, MEMSPAN_HOST, NULL), MEMSPAN_ERR_INVALID,
            "NULL");
    REFUSED(memspan_space_resource(MEMSPAN_SPACE_DEFAULT, 0, NULL), MEMSPAN_ERR_INVALID, "");
    REFUSED(memspan_space_describe(MEMSPAN_SPACE_DEFAULT, NULL), MEMSPAN_ERR_INVALID, "");
    REFUSED(memspan_space_describe(MEMSPAN_SPACE_DEFAULT, &info), MEMSPAN_ERR_INVALID,
            "struct_size");
    res.struct_size = 0;
    REFUSED(memspan_space_resource(MEMSPAN_SPACE_DEFAULT, 0, &res), MEMSPAN_ERR_INVALID,
            "struct_size");
}

Test(spaces, the_host_alone_is_the_predefined_space)
{
    static const memspan_space_h bases[] = {MEMSPAN_SPACE_DEFAULT, MEMSPAN_SPACE_LARGE_CAP,
                                            MEMSPAN_SPACE_CONST, MEMSPAN_SPACE_HIGH_BW,
                                            MEMSPAN_SPACE_LOW_LAT};
    int list[]                           = {MEMSPAN_HOST, MEMSPAN_HOST, memspan_host_device()};

    for (int i = 0; i < 5; i++) {
        memspan_space_h space = MEMSPAN_SPACE_NULL;

        for (size_t n = 1; n <= 3; n++) {
            DONE(memspan_space_get(list, n, bases[i], &space));
            cr_expect_eq(space, bases[i]);
        }
    }
}

Test(spaces, null_is_the_default)
{
    memspan_space_info_t a = {.struct_size = sizeof(a)};
    memspan_space_info_t b = {.struct_size = sizeof(b)};

    DONE(memspan_space_describe(MEMSPAN_SPACE_NULL, &a));
    DONE(memspan_space_describe(MEMSPAN_SPACE_DEFAULT, &b));
    cr_expect_str_eq(a.name, b.name);
    cr_expect_eq(a.base, MEMSPAN_SPACE_DEFAULT);
    cr_expect_eq(b.base, MEMSPAN_SPACE_DEFAULT);
}

static const memspan_trait_t required = {MEMSPAN_TRAIT_GUARANTEE, MEMSPAN_VALUE_REQUIRED};

/* One tier of memory: every other space takes what the default one takes, and says so. */
Test(spaces, an_alias_serves_a_hint_and_no_guarantee)
{
    memspan_space_info_t space   = {.struct_size = sizeof(space)};
    memspan_allocator_info_t all = {.struct_size = sizeof(all)};
    int second                   = 1;

    setenv("HWLOC_SYNTHETIC", "pack:2 [numa(memory=1GB)] core:2 pu:1", 1);
    for (uintptr_t i = 1; i <= 4; i++) {
        memspan_space_h hint = (memspan_space_h)i;
        memspan_space_h part = MEMSPAN_SPACE_NULL;

        DONE(memspan_space_describe(hint, &space));
        cr_expect_eq(space.alias, 1, "%s", space.name);
        DONE(memspan_allocator_plan(hint, NULL, 0, &all));
        cr_expect((all.exact == 0) && (all.serves == 1), "%s: %s", space.name, all.why);
        REFUSED(memspan_allocator_plan(hint, &required, 1, &all), MEMSPAN_ERR_NOT_GUARANTEED,
                "alias of default");
        DONE(memspan_space_get_sub(hint, &second, 1, &part));
        REFUSED(memspan_allocator_plan(part, &required, 1, &all), MEMSPAN_ERR_NOT_GUARANTEED,
                "guarantee=required");
    }
    DONE(memspan_space_describe(MEMSPAN_SPACE_DEFAULT, &space));
    cr_expect_eq(space.alias, 0);
    DONE(memspan_allocator_plan(MEMSPAN_SPACE_DEFAULT, &required, 1, &all));
    cr_expect_eq(all.exact, 1, "%s", all.why);
}

Test(spaces, an_alias_is_refused_where_fallbacks_are)
{
    memspan_allocator_info_t all = {.struct_size = sizeof(all)};
    memspan_allocator_h made     = MEMSPAN_ALLOCATOR_NULL;

    setenv("HWLOC_SYNTHETIC", "pack:1 [numa(memory=1GB)] core:2 pu:1", 1);
    setenv("MEMSPAN_FALLBACK", "strict", 1);
    REFUSED(memspan_allocator_plan(MEMSPAN_SPACE_HIGH_BW, NULL, 0, &all),
            MEMSPAN_ERR_NOT_GUARANTEED, "MEMSPAN_FALLBACK=strict");
    REFUSED(memspan_allocator_create(MEMSPAN_SPACE_LOW_LAT, NULL, 0, &made),
            MEMSPAN_ERR_NOT_GUARANTEED, "alias of default");
    DONE(memspan_allocator_plan(MEMSPAN_SPACE_DEFAULT, NULL, 0, &all));
}

/* The larger of two nodes is memory of its own: exact, also where it is required. */
Test(spaces, a_tier_is_guaranteed)
{
    memspan_space_info_t space   = {.struct_size = sizeof(space)};
    memspan_allocator_info_t all = {.struct_size = sizeof(all)};

    setenv("HWLOC_SYNTHETIC", "pack:1 [numa(memory=1GB)] [numa(memory=4GB)] core:2 pu:1", 1);
    DONE(memspan_space_describe(MEMSPAN_SPACE_LARGE_CAP, &space));
    cr_expect_eq(space.alias, 0, "%s", space.note);
    DONE(memspan_allocator_plan(MEMSPAN_SPACE_LARGE_CAP, &required, 1, &all));
    cr_expect_eq(all.exact, 1, "%s", all.why);
}

Test(spaces, all_parts_in_order_are_the_whole)
{
    for (uintptr_t base = 1; base <= 5; base++) {
        memspan_space_h whole = (memspan_space_h)((base == 5) ? 99 : base);
        size_t count          = memspan_space_resource_count(whole);
        int *parts            = calloc(count + 1, sizeof(*parts));
        memspan_space_h sub   = MEMSPAN_SPACE_NULL;

        cr_assert((count > 0) && (parts != NULL));
        for (size_t i = 0; i < count; i++) {
            parts[i] = (int)i;
        }
        DONE(memspan_space_get_sub(whole, parts, count, &sub));
        cr_expect_eq(sub, whole);
        free(parts);
    }
}

/* The same request, however it is written, is the same handle; others are others. */
Test(spaces, interned)
{
    int devices[2]        = {-1, -1};
    int turned[]          = {0, MEMSPAN_HOST, 0, 0, MEMSPAN_HOST};
    memspan_space_h space = MEMSPAN_SPACE_NULL;
    memspan_space_h again = MEMSPAN_SPACE_NULL;

    if (memspan_device_count() == 0) {
        cr_skip("there is no device");
    }
    DONE(memspan_device_at(0, &devices[1]));
    turned[0] = turned[2] = turned[3] = devices[1];
    if (memspan_space_get(devices, 2, MEMSPAN_SPACE_NULL, &space) != MEMSPAN_OK) {
        cr_skip("host and device share no memory");
    }
    for (size_t n = 2; n <= 5; n++) {
        DONE(memspan_space_get(turned, n, MEMSPAN_SPACE_DEFAULT, &again));
        cr_expect_eq(space, again, "%zu entries", n);
    }
    DONE(memspan_space_get(devices, 2, space, &again)); /* its own hint */
    cr_expect_eq(space, again);
    DONE(memspan_space_get(&devices[1], 1, MEMSPAN_SPACE_NULL, &again));
    cr_expect_neq(space, again);
    cr_expect_gt((uintptr_t)space, 1024, "handles up to 1024 are predefined");
}

Test(spaces, unsatisfiable_lists_say_which)
{
    int devices[64];
    int count             = memspan_device_count();
    memspan_space_h space = MEMSPAN_SPACE_NULL;

    if ((count < 2) || (count > 64)) {
        cr_skip("it takes two devices");
    }
    for (int i = 0; i < count; i++) {
        DONE(memspan_device_at(i, &devices[i]));
    }
    if (memspan_space_get(devices, (size_t)count, MEMSPAN_SPACE_NULL, &space) == MEMSPAN_OK) {
        return;
    }
    cr_expect_eq(memspan_error_last()->status, MEMSPAN_ERR_UNREACHABLE);
    cr_expect_eq(space, MEMSPAN_SPACE_NULL);
}
