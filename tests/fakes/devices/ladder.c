/* SPDX-License-Identifier: BSD-3-Clause */
/* The ladder: what is given for what is asked, on machines that this one is not. */

#include "machine.h"
#include <criterion/criterion.h>
#include <string.h>

static memspan_allocator_info_t describe(memspan_allocator_h a)
{
    memspan_allocator_info_t info = {.struct_size = sizeof(info)};

    cr_assert_eq(memspan_allocator_describe(a, &info), MEMSPAN_OK, "%s", memspan_error_text());
    return info;
}

static memspan_allocator_info_t give(const int *devices, size_t count, const char *traits)
{
    memspan_allocator_h a = MEMSPAN_ALLOCATOR_NULL;
    memspan_status_t s    = machine_allocator(devices, count, traits, &a);

    cr_assert_eq(s, MEMSPAN_OK, "%s", memspan_error_text());
    return describe(a);
}

static void expect_refused(const int *devices, size_t count, const char *traits,
                           memspan_status_t status, const char *words)
{
    memspan_allocator_h a = MEMSPAN_ALLOCATOR_NULL;

    cr_expect_eq(machine_allocator(devices, count, traits, &a), status, "%s: %s", traits,
                 memspan_error_text());
    cr_expect_eq(a, MEMSPAN_ALLOCATOR_NULL, "written on failure");
    cr_expect(strstr(memspan_error_text(), words) != NULL, "no \"%s\" in: %s", words,
              memspan_error_text());
}

Test(ladder, every_kind_as_asked_where_it_is_offered)
{
    memspan_allocator_info_t info;

    machine_pretend("discrete", NULL);
    info = give(DEVICES(0), "");
    cr_expect_eq(info.kind_given, MEMSPAN_KIND_DEVICE);
    cr_expect_eq(info.resident_device, 0);
    cr_expect(info.exact);
    info = give(DEVICES(0, MEMSPAN_HOST), "");
    cr_expect_eq(info.kind_asked, MEMSPAN_KIND_COHERENT);
    cr_expect_eq(info.kind_given, MEMSPAN_KIND_COHERENT);
    info = give(DEVICES(MEMSPAN_HOST, 0), "memory_access=managed");
    cr_expect_eq(info.kind_given, MEMSPAN_KIND_MANAGED);
    cr_expect(info.migratable);
    info = give(DEVICES(MEMSPAN_HOST, 0), "pinned=true,preferred_location=host");
    cr_expect_eq(info.kind_given, MEMSPAN_KIND_HOST_PINNED);
    cr_expect_not(info.migratable);
}

Test(ladder, managed_goes_up_and_says_so)
{
    memspan_allocator_info_t info;

    machine_pretend("unified", NULL);
    info = give(DEVICES(MEMSPAN_HOST, 0), "memory_access=managed");
    cr_expect_eq(info.kind_asked, MEMSPAN_KIND_MANAGED);
    cr_expect_eq(info.kind_given, MEMSPAN_KIND_COHERENT);
    cr_expect_not(info.exact);
    cr_expect(strstr(info.why, "nothing would move") != NULL, "%s", info.why);
    info = give(DEVICES(MEMSPAN_HOST, 0), "memory_access=managed,guarantee=required");
    cr_expect_eq(info.kind_given, MEMSPAN_KIND_MANAGED, "required: the very kind, gain or not");
    cr_expect(info.exact);
}

Test(ladder, coherent_never_goes_down_to_managed)
{
    machine_pretend("managed", NULL);
    expect_refused(DEVICES(MEMSPAN_HOST, 0), "memory_access=coherent", MEMSPAN_ERR_UNREACHABLE,
                   "memory_access=managed");
    cr_expect_eq(give(DEVICES(MEMSPAN_HOST, 0), "memory_access=managed").kind_given,
                 MEMSPAN_KIND_MANAGED);
}

Test(ladder, pinned_never_migrates)
{
    memspan_allocator_info_t info;

    machine_pretend("discrete,managed", NULL);
    info = give(DEVICES(MEMSPAN_HOST, 0), "memory_access=managed,pinned=true");
    cr_expect_eq(info.kind_given, MEMSPAN_KIND_COHERENT);
    cr_expect_not(info.migratable);
    expect_refused(DEVICES(MEMSPAN_HOST, 1), "memory_access=managed,pinned=true",
                   MEMSPAN_ERR_UNREACHABLE, "pinned");
    expect_refused(DEVICES(MEMSPAN_HOST, 0), "memory_access=managed,pinned=true,guarantee=required",
                   MEMSPAN_ERR_CONFLICT, "pinned");
}

Test(ladder, required_refuses_every_step)
{
    machine_pretend("managed,discrete", NULL);
    expect_refused(DEVICES(1), "guarantee=required,preferred_location=host",
                   MEMSPAN_ERR_NOT_GUARANTEED, "preferred_location");
}

Test(ladder, location_chooses_the_home)
{
    memspan_allocator_info_t info;

    machine_pretend("discrete,discrete", NULL);
    info = give(DEVICES(0, 1, MEMSPAN_HOST), "memory_access=managed,preferred_location=1");
    cr_expect_eq(info.home, 1);
    cr_expect_eq(info.resident_device, 1);
    cr_expect(info.exact, "%s", info.why);
    info = give(DEVICES(1, 0, MEMSPAN_HOST), "memory_access=managed,preferred_location=host");
    cr_expect_eq(info.home, 0);
    cr_expect_eq(info.resident_device, MEMSPAN_HOST);
}

Test(ladder, two_devices_share_no_device_memory)
{
    memspan_allocator_info_t info;

    machine_pretend("discrete,discrete", NULL);
    info = give(DEVICES(0, 1), "");
    cr_expect_eq(info.kind_given, MEMSPAN_KIND_COHERENT);
}

Test(ladder, unreachable_names_who_is_not_reached)
{
    memspan_space_h space = MEMSPAN_SPACE_NULL;

    machine_pretend("discrete,managed", NULL);
    /* managed memory reaches both, so only coherent is refused */
    cr_expect_eq(memspan_space_get(DEVICES(0, 1), MEMSPAN_SPACE_NULL, &space), MEMSPAN_OK, "%s",
                 memspan_error_text());
    expect_refused(DEVICES(0, 1, MEMSPAN_HOST), "", MEMSPAN_ERR_UNREACHABLE, "coherent");
}

Test(ladder, default_fallback_of_a_target_space_is_null)
{
    memspan_allocator_info_t info;

    machine_pretend("discrete", NULL);
    info = give(DEVICES(0), "");
    cr_expect_eq(info.fallback, MEMSPAN_ALLOCATOR_NULL);
    cr_expect_not(info.aborts);
}

Test(ladder, a_target_space_takes_no_thread_scoped_access)
{
    machine_pretend("discrete", NULL);
    expect_refused(DEVICES(0), "access=thread", MEMSPAN_ERR_INVALID, "access");
    expect_refused(DEVICES(0), "access=pteam", MEMSPAN_ERR_INVALID, "access");
    cr_expect_eq(give(DEVICES(0), "access=all").kind_given, MEMSPAN_KIND_DEVICE);
}

Test(ladder, plan_is_what_an_allocation_then_has)
{
    static const char *const traits[] = {"", "memory_access=managed", "pinned=true",
                                         "memory_access=coherent"};
    memspan_pointer_info_t p          = {.struct_size = sizeof(p)};
    memspan_allocator_h a;
    size_t i;

    machine_pretend("discrete", NULL);
    for (i = 0; i < sizeof(traits) / sizeof(traits[0]); i++) {
        memspan_allocator_info_t info;
        void *block;

        cr_assert_eq(machine_allocator(DEVICES(0, MEMSPAN_HOST), traits[i], &a), MEMSPAN_OK);
        info  = describe(a);
        block = memspan_alloc(a, 1000);
        cr_assert(block != NULL, "%s", memspan_error_text());
        cr_assert_eq(memspan_pointer_describe((char *)block + 999, &p), MEMSPAN_OK);
        cr_expect_eq(p.kind_given, info.kind_given);
        cr_expect_eq(p.kind_asked, info.kind_asked);
        cr_expect_eq(p.base, block);
        cr_expect_eq(p.size_bytes, 1000);
        cr_expect_eq(p.migratable, info.migratable);
        cr_expect_eq(memspan_free(block), MEMSPAN_OK);
        cr_expect_eq(memspan_allocator_destroy(a), MEMSPAN_OK);
    }
    machine_expect_clean();
}

Test(ladder, a_trait_that_is_not_honoured_is_said)
{
    memspan_allocator_info_t info;

    machine_pretend("discrete", NULL);
    info = give(DEVICES(MEMSPAN_HOST), "preferred_location=0");
    cr_expect_eq(info.kind_given, MEMSPAN_KIND_HOST);
    cr_expect_not(info.exact);
    cr_expect(strstr(info.why, "preferred_location") != NULL, "%s", info.why);
}

Test(ladder, one_resource_of_a_space_is_what_it_is)
{
    memspan_allocator_info_t info = {.struct_size = sizeof(info)};
    memspan_resource_info_t r     = {.struct_size = sizeof(r)};
    memspan_space_h whole;
    int i;

    machine_pretend("discrete", NULL);
    cr_assert_eq(memspan_space_get(DEVICES(0, MEMSPAN_HOST), MEMSPAN_SPACE_NULL, &whole),
                 MEMSPAN_OK);
    cr_assert_gt(memspan_space_resource_count(whole), 1);
    for (i = 0; i < (int)memspan_space_resource_count(whole); i++) {
        memspan_space_h part;

        cr_assert_eq(memspan_space_get_sub(whole, &i, 1, &part), MEMSPAN_OK);
        cr_assert_eq(memspan_space_resource(part, 0, &r), MEMSPAN_OK);
        cr_assert_eq(memspan_allocator_plan(part, NULL, 0, &info), MEMSPAN_OK, "%s: %s", r.name,
                     memspan_error_text());
        cr_expect_eq(info.kind_given, r.kind);
        cr_expect(info.exact, "%s: %s", r.name, info.why);
    }
}
