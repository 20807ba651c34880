/* SPDX-License-Identifier: BSD-3-Clause */
/* What a new trait must have: an effect on the plan or a reason for none, and OpenMP's name. */

#include "core/trait.h"
#include "core/device/space.h"
#include "core/plan.h"
#include "core/topology/topology.h"
#include <criterion/criterion.h>
#include <limits.h>
#include <memspan/omp.h>
#include <string.h>

/* The plan of plain host memory holds with each of these too: */
static const memspan_trait_key_t exempt[] = {
    MEMSPAN_TRAIT_ALIGNMENT,     MEMSPAN_TRAIT_POOL_SIZE, /* the engine keeps them */
    MEMSPAN_TRAIT_FALLBACK,      MEMSPAN_TRAIT_FB_DATA,
    MEMSPAN_TRAIT_SYNC_HINT,     MEMSPAN_TRAIT_ACCESS, /* host memory has them all */
    MEMSPAN_TRAIT_ATOMIC_SCOPE,  MEMSPAN_TRAIT_MEMORY_ACCESS,
    MEMSPAN_TRAIT_GUARANTEE,     MEMSPAN_TRAIT_DEVICE_ACCESS, /* of target memory spaces */
    MEMSPAN_TRAIT_TARGET_ACCESS, MEMSPAN_TRAIT_PART_SIZE,     /* details of partition */
    MEMSPAN_TRAIT_PARTITIONER,   MEMSPAN_TRAIT_PARTITIONER_ARG,
    MEMSPAN_TRAIT_PIN_DEVICE, /* it sets pinned, which counts */
};

static bool is_exempt(memspan_trait_key_t key)
{
    for (size_t i = 0; i < sizeof(exempt) / sizeof(exempt[0]); i++) {
        if (exempt[i] == key) {
            return true;
        }
    }
    return false;
}

static int other_word(int word, const int *words)
{
    return (words[0] != word) ? words[0] : words[1];
}

#define OTHER_WORD(initial, ...)      other_word((initial), (const int[]){__VA_ARGS__})
#define OTHER_BOOL(initial, ...)      !(initial)
#define OTHER_SIZE(initial, ...)      4096
#define OTHER_POWER(initial, ...)     4096
#define OTHER_DEVICE(initial, ...)    0
#define OTHER_PLACE(initial, ...)     0
#define OTHER_HANDLE(initial, ...)    1
#define OTHER_ALLOCATOR(initial, ...) (memspan_allocator_h)1

Test(trait, none_is_ignored_in_the_plan)
{
    const struct msp_space space = {.hint = MSP_HINT_DEFAULT};
    struct msp_traits traits;

    if (!msp_topology_is_plain()) {
        cr_skip_test("this machine has nodes of memory that a plan chooses among");
    }
    msp_traits_default(&traits, false);
    cr_assert(msp_plan_is_plain(&space, &traits));
#define UNPACK(...) __VA_ARGS__
#define FLIP(key, member, form, initial, plain, words)                                             \
    msp_traits_default(&traits, false);                                                            \
    traits.member = OTHER_##form(initial, UNPACK words);                                           \
    cr_expect_eq(msp_plan_is_plain(&space, &traits), is_exempt(MEMSPAN_TRAIT_##key), #key);
    MSP_TRAIT_TABLE(FLIP)
#undef FLIP
}

/* Signed numbers in an unsigned word, with sign extension or without. */
Test(trait, numbers_at_their_bounds)
{
    enum { REFUSED = INT_MIN };
    static const struct {
        uintptr_t word;
        int device; /* what it means, or REFUSED */
        int place;
    } rows[] = {
        {0, 0, 0},
        {INT_MAX, INT_MAX, INT_MAX},
        {(uintptr_t)INT_MAX + 1, REFUSED, REFUSED},
        {UINT_MAX - 1, REFUSED, REFUSED}, /* -2 */
        {UINT_MAX, MEMSPAN_HOST, REFUSED},
        {(uintptr_t)UINT_MAX + 1, REFUSED, REFUSED},
        {INTPTR_MAX, REFUSED, REFUSED},
        {(uintptr_t)INTPTR_MAX + 1, REFUSED, REFUSED},
        {UINTPTR_MAX - 1, REFUSED, REFUSED},
        {UINTPTR_MAX, MEMSPAN_HOST, MSP_NO_PLACE}, /* of a place: the default */
    };

    for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
        bool is_place         = (i % 2 != 0);
        int means             = is_place ? rows[i / 2].place : rows[i / 2].device;
        memspan_trait_t trait = {is_place ? MEMSPAN_TRAIT_PREFERRED_PLACE
                                          : MEMSPAN_TRAIT_PREFERRED_LOCATION,
                                 rows[i / 2].word};
        memspan_status_t status;
        struct msp_traits traits;

        msp_traits_default(&traits, false);
        status = msp_traits_apply(&traits, false, &trait, 1);
        cr_expect_eq(status, (means == REFUSED) ? MEMSPAN_ERR_INVALID : MEMSPAN_OK, "0x%llx",
                     (unsigned long long)trait.value);
        cr_expect((means == REFUSED) ||
                      ((is_place ? traits.preferred_place : traits.preferred_location) == means),
                  "0x%llx", (unsigned long long)trait.value);
    }
}

Test(trait, each_has_the_name_of_openmp)
{
    static const struct {
        const char *text;
        int number;
    } names[] = {
#define NAME(name) {#name, (int)omp_atk_##name}
        NAME(sync_hint),        NAME(alignment),     NAME(access),
        NAME(pool_size),        NAME(fallback),      NAME(fb_data),
        NAME(pinned),           NAME(partition),     NAME(pin_device),
        NAME(preferred_device), NAME(device_access), NAME(target_access),
        NAME(atomic_scope),     NAME(part_size),     NAME(partitioner),
        NAME(partitioner_arg),  NAME(memory_access), NAME(preferred_location),
        NAME(preferred_place),  NAME(guarantee),     NAME(page_size),
        NAME(shareable),
#undef NAME
    };
    size_t rows = 0;

#define COUNT(name, number, text, form) rows++;
    MEMSPAN_TRAIT_KEY_MAP(COUNT)
#undef COUNT
    cr_expect_eq(rows, sizeof(names) / sizeof(names[0]));
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *text = memspan_trait_key_text((memspan_trait_key_t)names[i].number);

        cr_expect(text != NULL && strcmp(text, names[i].text) == 0, "%s", names[i].text);
    }
}
