/* SPDX-License-Identifier: BSD-3-Clause */
/* What a new trait must have: an effect on the plan or a reason for none, and OpenMP's name. */

#include "core/trait.h"
#include "core/device/space.h"
#include "core/plan.h"
#include "core/topology/topology.h"
#include <criterion/criterion.h>
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
