/* SPDX-License-Identifier: BSD-3-Clause */
/* Traits, derived allocators, traits of one allocation, statistics. */

#include "conform.h"
#include <stdio.h>
#include <string.h>

static void pinned_stays(void)
{
    memspan_trait_t pinned        = {MEMSPAN_TRAIT_PINNED, MEMSPAN_VALUE_TRUE};
    memspan_space_h space         = MEMSPAN_SPACE_NULL;
    memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;
    memspan_allocator_info_t info = {.struct_size = sizeof(info)};
    memspan_pointer_info_t block  = {.struct_size = sizeof(block)};
    memspan_status_t status;
    void *pointer;

    if (!conform_shared_space(&space)) {
        space = conform_own_space();
    }
    status = memspan_allocator_create(space, &pinned, 1, &allocator);
    if (status != MEMSPAN_OK) {
        CHECK((status == MEMSPAN_ERR_LIMIT) || (status == MEMSPAN_ERR_UNREACHABLE) ||
                  (status == MEMSPAN_ERR_NOT_GUARANTEED),
              "%s", memspan_status_name(status));
        /* Unless told otherwise, a space's memory is for all its members at once. */
        CHECK((status == MEMSPAN_ERR_LIMIT) || !conform_offers(MEMSPAN_KIND_HOST_PINNED) ||
              !conform_promises(MEMSPAN_KIND_HOST_PINNED, MEMSPAN_COHERENCE_CONCURRENT));
        return;
    }
    CHECK_OK(memspan_allocator_describe(allocator, &info));
    CHECK((info.pinned == 1) && (info.migratable == 0), "%s", info.why);
    pointer = memspan_alloc(allocator, 10000);
    if (pointer == NULL) {
        CHECK(memspan_error_last()->status == MEMSPAN_ERR_LIMIT);
        CHECK_OK(memspan_allocator_destroy(allocator));
        conform_skip("the locked-memory limit: %s", memspan_error_text());
    }
    CHECK_OK(memspan_pointer_describe(pointer, &block));
    CHECK((block.pinned == 1) || (block.fallback == 1), "%s", block.why);
    CHECK(block.migratable == 0);
    CHECK_OK(memspan_free(pointer));
    CHECK_OK(memspan_allocator_destroy(allocator));
}

static void derived_allocators_differ_only_where_told(void)
{
    struct conform_memory m;

    for (int k = 0; conform_kind(k, &m); k++) {
        memspan_trait_t change       = {MEMSPAN_TRAIT_ALIGNMENT, 1024};
        memspan_trait_t back         = {MEMSPAN_TRAIT_ALIGNMENT, MEMSPAN_VALUE_DEFAULT};
        memspan_allocator_h derived  = MEMSPAN_ALLOCATOR_NULL;
        memspan_allocator_h again    = MEMSPAN_ALLOCATOR_NULL;
        memspan_allocator_info_t was = {.struct_size = sizeof(was)};
        memspan_allocator_info_t is  = {.struct_size = sizeof(is)};
        void *block;

        CHECK_OK(memspan_allocator_derive(m.allocator, &change, 1, &derived));
        CHECK_OK(memspan_allocator_derive(derived, &back, 1, &again));
        CHECK((derived != m.allocator) && (again != derived));
        CHECK_OK(memspan_allocator_describe(m.allocator, &was));
        CHECK_OK(memspan_allocator_describe(derived, &is));
        CHECK((is.align_bytes >= 1024) && (is.kind_given == was.kind_given) &&
              (is.kind_asked == was.kind_asked) && (is.space == was.space) &&
              (is.fallback == was.fallback) && (is.home == was.home));
        CHECK_OK(memspan_allocator_describe(again, &is));
        CHECK(is.align_bytes == was.align_bytes);
        block = memspan_alloc(derived, 40);
        CHECK((block != NULL) && ((uintptr_t)block % 1024 == 0));
        CHECK(conform_stats(derived).live_bytes == 40);
        CHECK(conform_stats(m.allocator).live_bytes == 0, "statistics of its own");
        CHECK_OK(memspan_free(block));
        CHECK_OK(memspan_allocator_destroy(derived));
        CHECK_OK(memspan_allocator_destroy(again));
        conform_done(&m);
    }
}

static void derive_with_nothing_is_a_copy(void)
{
    memspan_trait_t trait        = {MEMSPAN_TRAIT_POOL_SIZE, 100000};
    memspan_allocator_h base     = conform_allocator(conform_own_space(), &trait, 1);
    memspan_allocator_h copy     = MEMSPAN_ALLOCATOR_NULL;
    memspan_allocator_info_t was = {.struct_size = sizeof(was)};
    memspan_allocator_info_t is  = {.struct_size = sizeof(is)};
    void *in_base                = memspan_alloc(base, 90000);
    void *in_copy;

    CHECK(in_base != NULL);
    CHECK_OK(memspan_allocator_derive(base, NULL, 0, &copy));
    CHECK_OK(memspan_allocator_describe(base, &was));
    CHECK_OK(memspan_allocator_describe(copy, &is));
    CHECK((is.pool_size_bytes == 100000) && (was.pool_size_bytes == 100000));
    in_copy = memspan_alloc(copy, 90000);
    CHECK(in_copy != NULL, "a pool_size of its own");
    CHECK_OK(memspan_free(in_base));
    CHECK_OK(memspan_free(in_copy));
    CHECK_OK(memspan_allocator_destroy(base));
    CHECK_OK(memspan_allocator_destroy(copy));
}

static void one_allocation_with_traits_of_its_own(void)
{
    struct conform_memory m;

    for (int k = 0; conform_kind(k, &m); k++) {
        memspan_trait_t align    = {MEMSPAN_TRAIT_ALIGNMENT, 2048};
        memspan_trait_t twice[2] = {align, align};
        void *block              = memspan_alloc_with(m.allocator, 100, &align, 1);
        void *plain              = memspan_alloc_with(m.allocator, 100, NULL, 0);

        CHECK((block != NULL) && (plain != NULL));
        CHECK((uintptr_t)block % 2048 == 0);
        conform_write(&m, block, 100, 2);
        CHECK_BYTES(conform_holds(&m, block, 100, 2));
        CHECK(conform_stats(m.allocator).live_bytes == 200);
        CHECK(memspan_alloc_with(m.allocator, 100, twice, 2) == NULL, "a key given twice");
        CHECK(memspan_error_last()->status == MEMSPAN_ERR_INVALID);
        CHECK(memspan_alloc_with(m.allocator, 0, &align, 1) == NULL);
        CHECK_OK(memspan_free(block));
        CHECK_OK(memspan_free(plain));
        conform_done(&m);
    }
}

static void statistics_add_up(void)
{
    struct conform_memory m;

    for (int k = 0; conform_kind(k, &m); k++) {
        memspan_allocator_stats_t before = conform_stats(MEMSPAN_ALLOCATOR_NULL);
        memspan_allocator_stats_t s;
        void *a = memspan_alloc(m.allocator, 1000);
        void *b = memspan_alloc(m.allocator, 500);

        CHECK((a != NULL) && (b != NULL));
        s = conform_stats(m.allocator);
        CHECK((s.live_bytes == 1500) && (s.live_count == 2) && (s.peak_bytes == 1500) &&
              (s.allocated_count == 2) && (s.freed_count == 0) && (s.failed_count == 0));
        CHECK(s.charged_bytes > 1500, "a little overhead is charged");
        CHECK(s.charged_bytes <= 1500 + 2 * 64);
        CHECK(s.held_bytes >= s.live_bytes);
        CHECK_OK(memspan_free(a));
        s = conform_stats(m.allocator);
        CHECK((s.live_bytes == 500) && (s.live_count == 1) && (s.peak_bytes == 1500) &&
              (s.freed_count == 1));
        CHECK(memspan_alloc(m.allocator, SIZE_MAX / 2) == NULL);
        CHECK(conform_stats(m.allocator).failed_count == 1);
        CHECK_OK(memspan_free(b));
        s = conform_stats(m.allocator);
        CHECK((s.live_bytes == 0) && (s.live_count == 0) && (s.charged_bytes == 0) &&
              (s.allocated_count == 2) && (s.freed_count == 2));
        s = conform_stats(MEMSPAN_ALLOCATOR_NULL);
        CHECK((s.allocated_count == before.allocated_count + 2) &&
              (s.freed_count == before.freed_count + 2));
        conform_done(&m);
        s = conform_stats(MEMSPAN_ALLOCATOR_NULL);
        CHECK(s.allocated_count == before.allocated_count + 2, "those destroyed included");
    }
}

static void allocators_come_and_go(void)
{
    memspan_allocator_h seen[50];

    for (int i = 0; i < 2000; i++) {
        memspan_allocator_h allocator = conform_allocator(conform_own_space(), NULL, 0);

        CHECK((uintptr_t)allocator > 1024, "handles up to 1024 are predefined");
        seen[i % 50] = allocator;
        CHECK_OK(memspan_allocator_destroy(allocator));
    }
    for (int i = 0; i < 50; i++) {
        memspan_allocator_info_t info = {.struct_size = sizeof(info)};

        CHECK(memspan_allocator_describe(seen[i], &info) != MEMSPAN_OK, "a stale handle is known");
        CHECK(memspan_alloc(seen[i], 16) == NULL);
        CHECK(memspan_allocator_destroy(seen[i]) != MEMSPAN_OK);
    }
}

const struct conform_case conform_allocator_cases[] = {
    {"pinned_stays", pinned_stays},
    {"derived_allocators_differ_only_where_told", derived_allocators_differ_only_where_told},
    {"derive_with_nothing_is_a_copy", derive_with_nothing_is_a_copy},
    {"one_allocation_with_traits_of_its_own", one_allocation_with_traits_of_its_own},
    {"statistics_add_up", statistics_add_up},
    {"allocators_come_and_go", allocators_come_and_go},
    {NULL, NULL},
};
