/* SPDX-License-Identifier: BSD-3-Clause */
/* What is asked for, what is given, and that the difference is said. */

#include "conform.h"
#include <stdio.h>
#include <string.h>

static memspan_trait_t access_trait(memspan_trait_value_t value)
{
    return (memspan_trait_t){MEMSPAN_TRAIT_MEMORY_ACCESS, value};
}

/* Whether every device of the space is promised at least @p coherence of resource @p index. */
static bool keeps(memspan_space_h space, size_t index, memspan_coherence_t coherence)
{
    memspan_reach_t host   = {0};
    memspan_reach_t device = {0};

    CHECK_OK(memspan_space_reach(space, index, MEMSPAN_HOST, &host));
    CHECK_OK(memspan_space_reach(space, index, conform_device()->number, &device));
    return (host.coherence >= coherence) && (device.coherence >= coherence);
}

/* The first of the kinds that the shared space has with that promise, or NONE. */
static memspan_kind_t first_there(memspan_space_h space, memspan_coherence_t coherence,
                                  const memspan_kind_t *ladder, int count)
{
    for (int i = 0; i < count; i++) {
        for (size_t r = 0; r < memspan_space_resource_count(space); r++) {
            memspan_resource_info_t info = {.struct_size = sizeof(info)};

            CHECK_OK(memspan_space_resource(space, r, &info));
            if ((info.kind == ladder[i]) && keeps(space, r, coherence)) {
                return ladder[i];
            }
        }
    }
    return MEMSPAN_KIND_NONE;
}

/* How strong a promise a kind makes to several users at once. */
static int strength(memspan_kind_t kind)
{
    static const int strengths[MEMSPAN_KIND_COUNT] = {
        [MEMSPAN_KIND_MANAGED]     = 1,
        [MEMSPAN_KIND_COHERENT]    = 2,
        [MEMSPAN_KIND_HOST_PINNED] = 2,
        [MEMSPAN_KIND_HOST]        = 2,
    };

    return strengths[kind];
}

static memspan_space_h shared_or_skip(void)
{
    memspan_space_h space = MEMSPAN_SPACE_NULL;

    if (conform_is_host()) {
        conform_skip("the host shares memory with itself");
    }
    if (!conform_shared_space(&space)) {
        conform_skip("no memory that host and device share: %s", memspan_error_text());
    }
    return space;
}

static void check_access(memspan_space_h space, memspan_trait_value_t value, memspan_kind_t asked,
                         memspan_kind_t expected)
{
    memspan_trait_t trait         = access_trait(value);
    memspan_allocator_info_t plan = {.struct_size = sizeof(plan)};
    memspan_status_t status       = memspan_allocator_plan(space, &trait, 1, &plan);

    if (expected == MEMSPAN_KIND_NONE) {
        CHECK(status != MEMSPAN_OK);
        CHECK(memspan_error_last()->message[0] != '\0');
        return;
    }
    CHECK_OK(status);
    CHECK(plan.kind_asked == asked);
    CHECK(strength(plan.kind_given) >= strength(asked), "%s given for %s",
          memspan_kind_name(plan.kind_given), memspan_kind_name(asked));
    CHECK(plan.why[0] != '\0' && (memchr(plan.why, 0, sizeof(plan.why)) != NULL));
    if ((conform_device()->info.kinds_without_gain & (1u << expected)) == 0) {
        CHECK(plan.kind_given == expected, "%s given, %s expected: %s",
              memspan_kind_name(plan.kind_given), memspan_kind_name(expected), plan.why);
    }
    if (plan.kind_given != asked) {
        CHECK(plan.exact == 0, "%s for %s is not exact", memspan_kind_name(plan.kind_given),
              memspan_kind_name(asked));
        CHECK(strstr(plan.why, memspan_kind_name(plan.kind_given)) != NULL, "why: %s", plan.why);
    }
}

static void managed_goes_up_the_ladder(void)
{
    static const memspan_kind_t ladder[] = {MEMSPAN_KIND_MANAGED, MEMSPAN_KIND_COHERENT,
                                            MEMSPAN_KIND_HOST_PINNED, MEMSPAN_KIND_HOST};
    memspan_space_h space                = shared_or_skip();

    check_access(space, MEMSPAN_VALUE_MANAGED, MEMSPAN_KIND_MANAGED,
                 first_there(space, MEMSPAN_COHERENCE_SYNC, ladder, 4));
}

static void coherent_never_becomes_managed(void)
{
    static const memspan_kind_t ladder[] = {MEMSPAN_KIND_COHERENT, MEMSPAN_KIND_HOST_PINNED,
                                            MEMSPAN_KIND_HOST};
    memspan_space_h space                = shared_or_skip();

    check_access(space, MEMSPAN_VALUE_COHERENT, MEMSPAN_KIND_COHERENT,
                 first_there(space, MEMSPAN_COHERENCE_CONCURRENT, ladder, 3));
}

static void one_rung_at_a_time(void)
{
    static const memspan_kind_t rungs[] = {MEMSPAN_KIND_COHERENT, MEMSPAN_KIND_HOST_PINNED};
    memspan_space_h space               = shared_or_skip();
    memspan_resource_info_t info        = {.struct_size = sizeof(info)};

    for (int k = 0; k < 2; k++) {
        for (size_t r = 0; r < memspan_space_resource_count(space); r++) {
            memspan_trait_t trait          = access_trait(MEMSPAN_VALUE_MANAGED);
            memspan_space_h part           = MEMSPAN_SPACE_NULL;
            memspan_allocator_info_t given = {.struct_size = sizeof(given)};
            memspan_allocator_h allocator;
            int index = (int)r;
            void *block;

            CHECK_OK(memspan_space_resource(space, r, &info));
            if (info.kind != rungs[k]) {
                continue;
            }
            CHECK_OK(memspan_space_get_sub(space, &index, 1, &part));
            allocator = conform_allocator(part, &trait, 1);
            CHECK_OK(memspan_allocator_describe(allocator, &given));
            CHECK((given.kind_asked == MEMSPAN_KIND_MANAGED) && (given.kind_given == rungs[k]) &&
                  (given.exact == 0));
            CHECK(given.serves == 1, "a stronger kind keeps what managed memory promises");
            CHECK(strstr(given.why, "managed") != NULL, "why: %s", given.why);
            block = memspan_alloc(allocator, 100);
            CHECK(block != NULL);
            CHECK_OK(memspan_free(block));
            CHECK_OK(memspan_allocator_destroy(allocator));
        }
    }
}

/* guarantee=required: exactly what was asked, or nothing. */
static void check_required(memspan_trait_value_t value, memspan_kind_t asked)
{
    memspan_trait_t traits[]      = {access_trait(value),
                                     {MEMSPAN_TRAIT_GUARANTEE, MEMSPAN_VALUE_REQUIRED}};
    memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;
    memspan_allocator_info_t info = {.struct_size = sizeof(info)};
    memspan_space_h space         = shared_or_skip();
    memspan_status_t status       = memspan_allocator_create(space, traits, 2, &allocator);

    if (status == MEMSPAN_OK) {
        CHECK_OK(memspan_allocator_describe(allocator, &info));
        CHECK((info.exact == 1) && (info.kind_given == asked), "%s", info.why);
        CHECK_OK(memspan_allocator_destroy(allocator));
        return;
    }
    CHECK(allocator == MEMSPAN_ALLOCATOR_NULL, "outputs are written on success only");
    CHECK((status == MEMSPAN_ERR_NOT_GUARANTEED) || (status == MEMSPAN_ERR_UNREACHABLE), "%s",
          memspan_status_name(status));
    CHECK(memspan_error_last()->status == status);
    CHECK_STATUS(memspan_allocator_plan(space, traits, 2, &info), status);
    CHECK(!conform_offers(asked) || (asked == MEMSPAN_KIND_COHERENT),
          "%s is offered but cannot be required: %s", memspan_kind_name(asked),
          memspan_error_text());
}

static void required_is_exact_or_refused(void)
{
    check_required(MEMSPAN_VALUE_MANAGED, MEMSPAN_KIND_MANAGED);
    check_required(MEMSPAN_VALUE_COHERENT, MEMSPAN_KIND_COHERENT);
}

static void required_on_a_weaker_part_is_refused(void)
{
    memspan_space_h space        = shared_or_skip();
    memspan_resource_info_t info = {.struct_size = sizeof(info)};

    for (size_t r = 0; r < memspan_space_resource_count(space); r++) {
        memspan_trait_t traits[]      = {access_trait(MEMSPAN_VALUE_MANAGED),
                                         {MEMSPAN_TRAIT_GUARANTEE, MEMSPAN_VALUE_REQUIRED}};
        memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;
        memspan_space_h part          = MEMSPAN_SPACE_NULL;
        int index                     = (int)r;

        CHECK_OK(memspan_space_resource(space, r, &info));
        CHECK_OK(memspan_space_get_sub(space, &index, 1, &part));
        if (info.kind == MEMSPAN_KIND_MANAGED) {
            traits[0] = access_trait(MEMSPAN_VALUE_COHERENT);
            CHECK(memspan_allocator_create(part, traits, 1, &allocator) != MEMSPAN_OK,
                  "managed memory never serves a coherent request");
            continue;
        }
        CHECK_STATUS(memspan_allocator_create(part, traits, 2, &allocator),
                     (info.kind == MEMSPAN_KIND_DEVICE) ? MEMSPAN_ERR_UNREACHABLE
                                                        : MEMSPAN_ERR_NOT_GUARANTEED);
        CHECK(memspan_error_last()->message[0] != '\0');
    }
}

static void device_memory_is_the_devices(void)
{
    memspan_allocator_info_t info = {.struct_size = sizeof(info)};
    memspan_allocator_h allocator = conform_allocator(conform_own_space(), NULL, 0);

    CHECK_OK(memspan_allocator_describe(allocator, &info));
    if (!conform_is_host() && conform_offers(MEMSPAN_KIND_DEVICE) &&
        ((conform_device()->info.kinds_without_gain & (1u << MEMSPAN_KIND_DEVICE)) == 0)) {
        CHECK((info.kind_asked == MEMSPAN_KIND_DEVICE) &&
                  (info.kind_given == MEMSPAN_KIND_DEVICE) && (info.exact == 1),
              "%s", info.why);
        CHECK(info.resident_device == conform_device()->number);
        CHECK(info.fallback == MEMSPAN_ALLOCATOR_NULL, "target spaces fail with null");
    }
    CHECK(info.home == conform_device()->number || info.kind_given == MEMSPAN_KIND_HOST ||
          info.kind_given == MEMSPAN_KIND_HOST_PINNED);
    CHECK_OK(memspan_allocator_destroy(allocator));
}

static void check_plan_agrees(const memspan_trait_t *traits, size_t count, memspan_space_h space)
{
    memspan_allocator_info_t plan = {.struct_size = sizeof(plan)};
    memspan_allocator_info_t info = {.struct_size = sizeof(info)};
    memspan_pointer_info_t block  = {.struct_size = sizeof(block)};
    memspan_reach_t reach[4]      = {{0}};
    memspan_allocator_h allocator;
    void *pointer;

    CHECK_OK(memspan_allocator_plan(space, traits, count, &plan));
    allocator = conform_allocator(space, traits, count);
    CHECK_OK(memspan_allocator_describe(allocator, &info));
    CHECK((plan.kind_asked == info.kind_asked) && (plan.kind_given == info.kind_given) &&
          (plan.exact == info.exact) && (plan.serves == info.serves) && (plan.home == info.home) &&
          (plan.pinned == info.pinned) && (plan.migratable == info.migratable) &&
          (plan.resident_device == info.resident_device));
    CHECK((info.exact == 0) || (info.serves == 1), "what is exact serves");
    CHECK(strcmp(plan.why, info.why) == 0, "plan: %s; allocator: %s", plan.why, info.why);
    pointer = memspan_alloc(allocator, 5000);
    CHECK(pointer != NULL);
    CHECK_OK(memspan_pointer_describe(pointer, &block));
    CHECK((block.allocator == allocator) && (block.space == info.space) &&
          (block.base == pointer) && (block.size_bytes == 5000) && (block.fallback == 0));
    CHECK((block.kind_asked == info.kind_asked) && (block.kind_given == info.kind_given) &&
          (block.home == info.home));
    /* What the allocator promises, the block keeps; it may be better. */
    CHECK((block.pinned == 1) || (info.pinned == 0));
    CHECK((block.migratable == 0) || (info.migratable == 1));
    CHECK(block.why[0] != '\0');
    CHECK_OK(memspan_allocator_reach(allocator, MEMSPAN_HOST, &reach[0]));
    CHECK_OK(memspan_pointer_reach(pointer, MEMSPAN_HOST, &reach[1]));
    CHECK_OK(memspan_allocator_reach(allocator, conform_device()->number, &reach[2]));
    CHECK_OK(memspan_pointer_reach(pointer, conform_device()->number, &reach[3]));
    CHECK((reach[0].access == reach[1].access) && (reach[0].coherence == reach[1].coherence));
    CHECK((reach[2].access == reach[3].access) && (reach[2].coherence == reach[3].coherence));
    CHECK_OK(memspan_free(pointer));
    CHECK_OK(memspan_allocator_destroy(allocator));
}

static void plan_allocator_and_memory_agree(void)
{
    memspan_trait_t managed = access_trait(MEMSPAN_VALUE_MANAGED);
    memspan_trait_t big     = {MEMSPAN_TRAIT_ALIGNMENT, 4096};
    memspan_space_h shared  = MEMSPAN_SPACE_NULL;

    check_plan_agrees(NULL, 0, conform_own_space());
    check_plan_agrees(&big, 1, conform_own_space());
    if (!conform_is_host() && conform_shared_space(&shared)) {
        memspan_allocator_info_t plan = {.struct_size = sizeof(plan)};

        check_plan_agrees(&managed, 1, shared);
        if (memspan_allocator_plan(shared, NULL, 0, &plan) == MEMSPAN_OK) {
            check_plan_agrees(NULL, 0, shared);
        }
    }
}

/* An allocator says of its memory what the block says that it has given. */
static void allocator_and_block_agree_on_pinned(void)
{
    struct conform_memory m;

    for (int k = 0; conform_kind(k, &m); k++) {
        memspan_allocator_info_t info = {.struct_size = sizeof(info)};
        memspan_pointer_info_t block  = {.struct_size = sizeof(block)};
        void *pointer                 = memspan_alloc(m.allocator, 5000);

        CHECK(pointer != NULL);
        CHECK_OK(memspan_allocator_describe(m.allocator, &info));
        CHECK_OK(memspan_pointer_describe(pointer, &block));
        CHECK(info.pinned == block.pinned, "%s memory: allocator %d, block %d",
              memspan_kind_name(m.kind), (int)info.pinned, (int)block.pinned);
        CHECK_OK(memspan_free(pointer));
        conform_done(&m);
    }
}

const struct conform_case conform_ladder_cases[] = {
    {"managed_goes_up_the_ladder", managed_goes_up_the_ladder},
    {"coherent_never_becomes_managed", coherent_never_becomes_managed},
    {"one_rung_at_a_time", one_rung_at_a_time},
    {"required_is_exact_or_refused", required_is_exact_or_refused},
    {"required_on_a_weaker_part_is_refused", required_on_a_weaker_part_is_refused},
    {"device_memory_is_the_devices", device_memory_is_the_devices},
    {"plan_allocator_and_memory_agree", plan_allocator_and_memory_agree},
    {"allocator_and_block_agree_on_pinned", allocator_and_block_agree_on_pinned},
    {NULL, NULL},
};
