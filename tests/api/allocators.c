/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocators: bad traits, conflicts, stale and forged handles, structures of wrong size. */

#include "api.h"

TestSuite(allocators, .fini = in_order);

static const memspan_allocator_h forged[] = {
    (memspan_allocator_h)9,
    (memspan_allocator_h)1000,
    (memspan_allocator_h)UINTPTR_MAX,
    (memspan_allocator_h)0x4d53410000000000,
    (memspan_allocator_h)0x4d534100ffffffff,
    (memspan_allocator_h)0x4d53000000000001,
    (memspan_allocator_h)0x7fffdeadbeef,
};
enum { FORGED = sizeof(forged) / sizeof(forged[0]) };

/* create and plan refuse the same traits for the same reason. */
static void check_traits(const memspan_trait_t *traits, size_t count, memspan_status_t wanted,
                         const char *word)
{
    memspan_allocator_info_t info = {.struct_size = sizeof(info)};
    memspan_allocator_h made      = MEMSPAN_ALLOCATOR_NULL;

    REFUSED(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, traits, count, &made), wanted, word);
    cr_expect_eq(made, MEMSPAN_ALLOCATOR_NULL);
    REFUSED(memspan_allocator_plan(MEMSPAN_SPACE_DEFAULT, traits, count, &info), wanted, word);
    REFUSED(memspan_allocator_derive(MEMSPAN_ALLOCATOR_DEFAULT, traits, count, &made), wanted,
            word);
    cr_expect_eq(made, MEMSPAN_ALLOCATOR_NULL);
}

static void check_trait(memspan_trait_key_t key, uintptr_t value, const char *word)
{
    memspan_trait_t trait = {key, value};

    check_traits(&trait, 1, MEMSPAN_ERR_INVALID, word);
    REFUSED_NULL(memspan_alloc_with(MEMSPAN_ALLOCATOR_DEFAULT, 16, &trait, 1), MEMSPAN_ERR_INVALID,
                 word);
}

Test(allocators, unknown_keys)
{
    static const unsigned keys[] = {0, 17, 18, 1000, 0x4d00, 0x4d07, 0x7fffffff, 0xffffffff};

    for (int i = 0; i < 8; i++) {
        check_trait((memspan_trait_key_t)keys[i], 1, "key");
        check_trait((memspan_trait_key_t)keys[i], MEMSPAN_VALUE_DEFAULT, "key");
    }
}

Test(allocators, unknown_values)
{
    static const memspan_trait_key_t keys[] = {
        MEMSPAN_TRAIT_SYNC_HINT,    MEMSPAN_TRAIT_ACCESS,        MEMSPAN_TRAIT_FALLBACK,
        MEMSPAN_TRAIT_PINNED,       MEMSPAN_TRAIT_PARTITION,     MEMSPAN_TRAIT_TARGET_ACCESS,
        MEMSPAN_TRAIT_ATOMIC_SCOPE, MEMSPAN_TRAIT_MEMORY_ACCESS, MEMSPAN_TRAIT_GUARANTEE};
    static const uintptr_t values[] = {2, 24, 999, 0x4d05, UINTPTR_MAX - 1, (uintptr_t)1 << 40};

    for (int k = 0; k < 9; k++) {
        for (int v = 0; v < 6; v++) {
            check_trait(keys[k], values[v], memspan_trait_key_text(keys[k]));
        }
    }
    /* A word of another trait. */
    check_trait(MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NEAREST, "nearest");
    check_trait(MEMSPAN_TRAIT_SYNC_HINT, MEMSPAN_VALUE_NULL_FB, "null_fb");
}

Test(allocators, alignments_that_are_none)
{
    static const size_t aligns[] = {0, 3, 48, 100, SIZE_MAX - 1, ((size_t)1 << 63) + 1};

    for (int i = 0; i < 6; i++) {
        check_trait(MEMSPAN_TRAIT_ALIGNMENT, aligns[i], "alignment");
    }
    check_trait(MEMSPAN_TRAIT_PAGE_SIZE, 3, "page_size");
    check_trait(MEMSPAN_TRAIT_PAGE_SIZE, 0, "page_size");
    check_trait(MEMSPAN_TRAIT_PART_SIZE, 0, "part_size");
}

/* An alignment that no address has is a request that fails, never a crash. */
Test(allocators, a_huge_alignment)
{
    for (int bit = 40; bit < 64; bit++) {
        memspan_trait_t traits[] = {{MEMSPAN_TRAIT_ALIGNMENT, (uintptr_t)1 << bit},
                                    {MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB}};
        memspan_allocator_h made = MEMSPAN_ALLOCATOR_NULL;
        void *block;

        if (memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, traits, 2, &made) != MEMSPAN_OK) {
            cr_expect(says("alignment"), "%s", memspan_error_text());
            continue;
        }
        block = memspan_alloc(made, 10);
        cr_expect((block == NULL) || ((uintptr_t)block % ((uintptr_t)1 << bit) == 0));
        cr_expect((block != NULL) || (memspan_error_last()->message[0] != '\0'));
        DONE(memspan_free(block));
        DONE(memspan_allocator_destroy(made));
    }
}

Test(allocators, sizes_and_numbers_out_of_range)
{
    check_trait(MEMSPAN_TRAIT_POOL_SIZE, 0, "pool_size");
    check_trait(MEMSPAN_TRAIT_PREFERRED_PLACE, (uintptr_t)-2, "preferred_place");
    check_trait(MEMSPAN_TRAIT_PREFERRED_PLACE, 100000, "preferred_place");
    check_trait(MEMSPAN_TRAIT_PREFERRED_LOCATION, (uintptr_t)-2, "preferred_location");
    check_trait(MEMSPAN_TRAIT_PREFERRED_LOCATION, (uintptr_t)1 << 40, "preferred_location");
    check_trait(MEMSPAN_TRAIT_PREFERRED_DEVICE, (uintptr_t)-5, "preferred_device");
    check_trait(MEMSPAN_TRAIT_PARTITIONER, 12345, "partitioner");
    check_trait(MEMSPAN_TRAIT_PARTITIONER, 0, "partitioner");
}

Test(allocators, devices_that_are_not_there)
{
    static const memspan_trait_key_t keys[] = {
        MEMSPAN_TRAIT_PREFERRED_LOCATION, MEMSPAN_TRAIT_PREFERRED_DEVICE, MEMSPAN_TRAIT_PIN_DEVICE};

    for (int i = 0; i < 3; i++) {
        memspan_trait_t trait         = {keys[i], NO_DEVICE};
        memspan_allocator_info_t info = {.struct_size = sizeof(info)};
        memspan_status_t status = memspan_allocator_plan(MEMSPAN_SPACE_DEFAULT, &trait, 1, &info);

        cr_expect((status == MEMSPAN_ERR_NOT_FOUND) || (status == MEMSPAN_ERR_INVALID),
                  "%s: %s, %s", memspan_trait_key_text(keys[i]), memspan_status_name(status),
                  (status == MEMSPAN_OK) ? info.why : memspan_error_text());
        cr_expect((status == MEMSPAN_OK) || says("12345"), "%s", memspan_error_text());
    }
}

Test(allocators, a_key_given_twice)
{
    memspan_trait_t same[]  = {{MEMSPAN_TRAIT_ALIGNMENT, 64}, {MEMSPAN_TRAIT_ALIGNMENT, 64}};
    memspan_trait_t other[] = {{MEMSPAN_TRAIT_PINNED, MEMSPAN_VALUE_FALSE},
                               {MEMSPAN_TRAIT_ALIGNMENT, 64},
                               {MEMSPAN_TRAIT_PINNED, MEMSPAN_VALUE_TRUE}};

    check_traits(same, 2, MEMSPAN_ERR_INVALID, "alignment");
    check_traits(other, 3, MEMSPAN_ERR_INVALID, "pinned");
}

Test(allocators, traits_that_contradict)
{
    memspan_trait_t place[]  = {{MEMSPAN_TRAIT_PREFERRED_PLACE, 0},
                                {MEMSPAN_TRAIT_PARTITION, MEMSPAN_VALUE_INTERLEAVED}};
    memspan_trait_t moves[]  = {{MEMSPAN_TRAIT_PINNED, MEMSPAN_VALUE_TRUE},
                                {MEMSPAN_TRAIT_MEMORY_ACCESS, MEMSPAN_VALUE_MANAGED},
                                {MEMSPAN_TRAIT_GUARANTEE, MEMSPAN_VALUE_REQUIRED}};
    memspan_trait_t device[] = {{MEMSPAN_TRAIT_PREFERRED_LOCATION, 0},
                                {MEMSPAN_TRAIT_PREFERRED_DEVICE, 1}};
    memspan_trait_t pin[]    = {{MEMSPAN_TRAIT_PIN_DEVICE, 0},
                                {MEMSPAN_TRAIT_PINNED, MEMSPAN_VALUE_FALSE}};

    check_traits(place, 2, MEMSPAN_ERR_CONFLICT, "preferred_place");
    check_traits(place, 2, MEMSPAN_ERR_CONFLICT, "partition");
    check_traits(moves, 3, MEMSPAN_ERR_CONFLICT, "pinned");
    check_traits(moves, 3, MEMSPAN_ERR_CONFLICT, "memory_access");
    check_traits(device, 2, MEMSPAN_ERR_CONFLICT, "preferred_location");
    check_traits(pin, 2, MEMSPAN_ERR_CONFLICT, "pin_device");
}

Test(allocators, fallbacks_that_lead_nowhere)
{
    memspan_trait_t none[] = {{MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_ALLOCATOR_FB}};
    memspan_trait_t null[] = {{MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_ALLOCATOR_FB},
                              {MEMSPAN_TRAIT_FB_DATA, 0}};

    check_traits(none, 1, MEMSPAN_ERR_INVALID, "fb_data");
    check_traits(null, 2, MEMSPAN_ERR_INVALID, "fb_data");
    for (size_t i = 0; i < FORGED; i++) {
        null[1].value = (uintptr_t)forged[i];
        check_traits(null, 2, MEMSPAN_ERR_INVALID, "fb_data");
    }
}

/* A fallback that is destroyed later: the request fails, nothing else. */
Test(allocators, a_fallback_that_is_gone)
{
    memspan_trait_t traits[]   = {{MEMSPAN_TRAIT_POOL_SIZE, 64},
                                  {MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_ALLOCATOR_FB},
                                  {MEMSPAN_TRAIT_FB_DATA, 0}};
    memspan_allocator_h second = MEMSPAN_ALLOCATOR_NULL;
    memspan_allocator_h first  = MEMSPAN_ALLOCATOR_NULL;

    DONE(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, NULL, 0, &second));
    traits[2].value = (uintptr_t)second;
    DONE(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, traits, 3, &first));
    DONE(memspan_allocator_destroy(second));
    cr_expect_eq(memspan_alloc(first, 1000), NULL);
    DONE(memspan_allocator_destroy(first));
}

Test(allocators, null_and_empty_arrays)
{
    memspan_allocator_info_t info = {.struct_size = sizeof(info)};
    memspan_trait_t trait         = {MEMSPAN_TRAIT_ALIGNMENT, 64};
    memspan_allocator_h made      = MEMSPAN_ALLOCATOR_NULL;

    check_traits(NULL, 1, MEMSPAN_ERR_INVALID, "NULL");
    check_traits(NULL, SIZE_MAX, MEMSPAN_ERR_INVALID, "");
    check_traits(&trait, SIZE_MAX, MEMSPAN_ERR_INVALID, "traits");
    REFUSED_NULL(memspan_alloc_with(MEMSPAN_ALLOCATOR_DEFAULT, 16, NULL, 1), MEMSPAN_ERR_INVALID,
                 "NULL");
    REFUSED(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, NULL, 0, NULL), MEMSPAN_ERR_INVALID,
            "NULL");
    REFUSED(memspan_allocator_derive(MEMSPAN_ALLOCATOR_DEFAULT, NULL, 0, NULL), MEMSPAN_ERR_INVALID,
            "NULL");
    REFUSED(memspan_allocator_plan(MEMSPAN_SPACE_DEFAULT, NULL, 0, NULL), MEMSPAN_ERR_INVALID, "");
    DONE(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, &trait, 0, &made));
    DONE(memspan_allocator_destroy(made));
    DONE(memspan_allocator_create(MEMSPAN_SPACE_NULL, NULL, 0, &made));
    DONE(memspan_allocator_describe(made, &info));
    cr_expect_eq(info.space, MEMSPAN_SPACE_DEFAULT);
    DONE(memspan_allocator_destroy(made));
}

static void check_dead(memspan_allocator_h handle)
{
    memspan_allocator_info_t info   = {.struct_size = sizeof(info)};
    memspan_allocator_stats_t stats = {.struct_size = sizeof(stats)};
    memspan_allocator_h made        = MEMSPAN_ALLOCATOR_NULL;
    memspan_reach_t reach           = {0};
    memspan_trait_t trait           = {MEMSPAN_TRAIT_ALIGNMENT, 64};

    cr_expect_neq(memspan_allocator_describe(handle, &info), MEMSPAN_OK);
    cr_expect_neq(memspan_error_last()->status, MEMSPAN_OK);
    cr_expect(says("allocator"), "%s", memspan_error_text());
    cr_expect_neq(memspan_allocator_get_stats(handle, &stats), MEMSPAN_OK);
    cr_expect_neq(memspan_allocator_reach(handle, MEMSPAN_HOST, &reach), MEMSPAN_OK);
    cr_expect_neq(memspan_allocator_derive(handle, NULL, 0, &made), MEMSPAN_OK);
    cr_expect_neq(memspan_allocator_destroy(handle), MEMSPAN_OK);
    memspan_error_clear();
    cr_expect_eq(memspan_alloc(handle, 16), NULL);
    cr_expect_neq(memspan_error_last()->status, MEMSPAN_OK);
    cr_expect_eq(memspan_aligned_alloc(handle, 64, 16), NULL);
    cr_expect_eq(memspan_calloc(handle, 4, 4), NULL);
    cr_expect_eq(memspan_alloc_with(handle, 16, &trait, 1), NULL);
    cr_expect_eq(memspan_realloc(handle, NULL, 16), NULL);
}

Test(allocators, forged_handles)
{
    for (size_t i = 0; i < FORGED; i++) {
        check_dead(forged[i]);
    }
}

Test(allocators, freed_handles)
{
    memspan_allocator_h handles[40];
    memspan_allocator_h fresh = MEMSPAN_ALLOCATOR_NULL;

    for (int i = 0; i < 40; i++) {
        DONE(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, NULL, 0, &handles[i]));
    }
    for (int i = 0; i < 40; i++) {
        DONE(memspan_allocator_destroy(handles[i]));
    }
    DONE(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, NULL, 0, &fresh));
    for (int i = 0; i < 40; i++) {
        cr_expect_neq(handles[i], fresh, "a handle was used again");
        check_dead(handles[i]);
    }
    DONE(memspan_allocator_destroy(fresh));
}

Test(allocators, predefined_ones_stay)
{
    for (uintptr_t handle = 0; handle <= 8; handle++) {
        memspan_allocator_info_t info = {.struct_size = sizeof(info)};
        void *block;

        DONE(memspan_allocator_destroy((memspan_allocator_h)handle));
        block = memspan_alloc((memspan_allocator_h)handle, 100);
        cr_expect_neq(block, NULL, "allocator %zu: %s", (size_t)handle, memspan_error_text());
        DONE(memspan_free(block));
        DONE(memspan_allocator_describe((memspan_allocator_h)handle, &info));
        cr_expect_neq(info.why[0], '\0');
    }
}

Test(allocators, nowhere_to_write)
{
    memspan_allocator_info_t info   = {0};
    memspan_allocator_stats_t stats = {0};
    memspan_reach_t reach           = {0};

    REFUSED(memspan_allocator_describe(MEMSPAN_ALLOCATOR_DEFAULT, NULL), MEMSPAN_ERR_INVALID,
            "NULL");
    REFUSED(memspan_allocator_get_stats(MEMSPAN_ALLOCATOR_DEFAULT, NULL), MEMSPAN_ERR_INVALID, "");
    REFUSED(memspan_allocator_get_stats(MEMSPAN_ALLOCATOR_NULL, NULL), MEMSPAN_ERR_INVALID, "");
    REFUSED(memspan_allocator_reach(MEMSPAN_ALLOCATOR_DEFAULT, MEMSPAN_HOST, NULL),
            MEMSPAN_ERR_INVALID, "NULL");
    REFUSED(memspan_allocator_reach(MEMSPAN_ALLOCATOR_DEFAULT, NO_DEVICE, &reach),
            MEMSPAN_ERR_NOT_FOUND, "12345");
    REFUSED(memspan_allocator_describe(MEMSPAN_ALLOCATOR_DEFAULT, &info), MEMSPAN_ERR_INVALID,
            "struct_size");
    REFUSED(memspan_allocator_plan(MEMSPAN_SPACE_DEFAULT, NULL, 0, &info), MEMSPAN_ERR_INVALID,
            "struct_size");
    REFUSED(memspan_allocator_get_stats(MEMSPAN_ALLOCATOR_DEFAULT, &stats), MEMSPAN_ERR_INVALID,
            "struct_size");
    REFUSED(memspan_stats_print(-1), MEMSPAN_ERR_INVALID, "");
    REFUSED(memspan_stats_print(9999), MEMSPAN_ERR_INVALID, "");
}
