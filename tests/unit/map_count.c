/* SPDX-License-Identifier: BSD-3-Clause */
/* map_count.c: maps of variables that are there are only counted; anything else changes nothing. */

#include "core/omp/mapped.h"
#include <criterion/criterion.h>

enum { DEVICE = 3, ENTRIES = 3, BYTES = 256 };

static char memory[4 * BYTES];
static void *begins[ENTRIES];
static int64_t sizes[ENTRIES];
static int64_t types[ENTRIES];
static void *mappers[ENTRIES];
static struct msp_omp_variable *variables[2];

static const int64_t plain = MSP_MAP_TO | MSP_MAP_FROM | MSP_MAP_PARAMETER;

static struct msp_omp_data entries(int32_t count)
{
    return (struct msp_omp_data){.number  = DEVICE,
                                 .count   = count,
                                 .bases   = begins,
                                 .begins  = begins,
                                 .sizes   = sizes,
                                 .types   = types,
                                 .mappers = mappers};
}

static void set(int i, void *begin, int64_t size_bytes, int64_t type)
{
    begins[i]  = begin;
    sizes[i]   = size_bytes;
    types[i]   = type;
    mappers[i] = NULL;
}

/* Two variables with one reference each, and an entry for each; the last is of the first again. */
static void prepare(void)
{
    for (int i = 0; i < 2; i++) {
        struct msp_omp_variable v = {.device     = DEVICE,
                                     .base       = (uintptr_t)memory + 2 * BYTES * (uintptr_t)i,
                                     .begin      = (uintptr_t)memory + 2 * BYTES * (uintptr_t)i,
                                     .size_bytes = BYTES,
                                     .count      = 1};

        variables[i] = msp_omp_variable_add(&v);
        cr_assert(variables[i] != NULL);
        set(i, (void *)v.begin, BYTES, plain);
    }
    set(2, memory + 10, 0, plain);
}

static void expect_counts(size_t first, size_t second)
{
    cr_expect_eq(variables[0]->count, first, "%zu", variables[0]->count);
    cr_expect_eq(variables[1]->count, second, "%zu", variables[1]->count);
}

Test(map_count, counts_what_is_there, .init = prepare)
{
    struct msp_omp_data d = entries(3);

    cr_expect(msp_omp_map_count(&d, true, 0, 0));
    expect_counts(3, 2);
    cr_expect(msp_omp_map_count(&d, false, 0, 0));
    expect_counts(1, 1);
}

Test(map_count, leaves_the_last_reference, .init = prepare)
{
    struct msp_omp_data d = entries(2);

    cr_expect_not(msp_omp_map_count(&d, false, 0, 0));
    expect_counts(1, 1);
    variables[0]->count = 2;
    cr_expect_not(msp_omp_map_count(&d, false, 0, 0), "the second would end");
    expect_counts(2, 1);
    variables[1]->count      = 0;
    variables[1]->hold_count = 5;
    cr_expect_not(msp_omp_map_count(&d, false, 0, 0), "it has none to take");
    expect_counts(2, 0);
    variables[1]->count = 1;
    cr_expect(msp_omp_map_count(&d, false, 0, 0), "the other kind keeps it");
    expect_counts(1, 0);
}

Test(map_count, leaves_what_is_not_there, .init = prepare)
{
    struct msp_omp_data d = entries(2);

    sizes[1] = BYTES + 1;
    cr_expect_not(msp_omp_map_count(&d, true, 0, 0), "longer than the variable");
    set(1, memory + BYTES, BYTES, plain);
    cr_expect_not(msp_omp_map_count(&d, true, 0, 0), "between them");
    sizes[1] = 0;
    cr_expect_not(msp_omp_map_count(&d, true, 0, 0), "no bytes at the end of one");
    set(1, memory + 2 * BYTES, BYTES, plain);
    d.number = DEVICE + 1;
    cr_expect_not(msp_omp_map_count(&d, true, 0, 0), "another device");
    expect_counts(1, 1);
}

Test(map_count, leaves_maps_that_say_more, .init = prepare)
{
    static const int64_t more[] = {
        MSP_MAP_ALWAYS, MSP_MAP_DELETE, MSP_MAP_POINTEE, 0x40 /* the address is returned */,
        MSP_MAP_HOLD,   MSP_MAP_ATTACH, MSP_MAP_PRIVATE, INT64_C(1) << MSP_MEMBER_SHIFT};
    struct msp_omp_data d = entries(2);

    for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++) {
        types[1] = plain | more[i];
        cr_expect_not(msp_omp_map_count(&d, true, 0, 0), "%#llx", (unsigned long long)more[i]);
    }
    types[1]   = plain;
    mappers[1] = memory;
    cr_expect_not(msp_omp_map_count(&d, true, 0, 0), "a mapper");
    expect_counts(1, 1);
}

/* As for regions: what is always copied, and values that are no maps. */
Test(map_count, allows_and_ignores, .init = prepare)
{
    struct msp_omp_data d = entries(2);

    types[0] |= MSP_MAP_ALWAYS;
    set(1, memory + BYTES, 4, MSP_MAP_PARAMETER | MSP_MAP_LITERAL);
    cr_expect_not(msp_omp_map_count(&d, true, MSP_MAP_ALWAYS, 0));
    expect_counts(1, 1);
    cr_expect(msp_omp_map_count(&d, true, MSP_MAP_ALWAYS, MSP_MAP_NO_DATA));
    expect_counts(2, 1);
    cr_expect(msp_omp_map_count(&d, false, MSP_MAP_ALWAYS, MSP_MAP_NO_DATA));
    expect_counts(1, 1);
}
