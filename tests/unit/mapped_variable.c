/* SPDX-License-Identifier: BSD-3-Clause */
/* mapped_variable.c: the mapped variables by address, held to a plain array. */

#include "core/omp/mapped.h"
#include <criterion/criterion.h>
#include <stdlib.h>

enum { SLOTS = 600, SLOT_BYTES = 64, DEVICES = 2, OFTEN = 30000, MANY = 100000 };

#define FIRST ((uintptr_t)0x10000)

static struct msp_omp_variable *expected[DEVICES][SLOTS];

static uintptr_t address_of(int slot)
{
    return FIRST + (uintptr_t)slot * SLOT_BYTES;
}

static struct msp_omp_variable *add(int device, int slot)
{
    struct msp_omp_variable v = {.device     = device,
                                 .base       = address_of(slot) - SLOT_BYTES / 4,
                                 .begin      = address_of(slot),
                                 .size_bytes = SLOT_BYTES / 2};

    return msp_omp_variable_add(&v);
}

static void check_slot(int device, int slot)
{
    struct msp_omp_variable *v = expected[device][slot];
    const char *begin          = (const char *)address_of(slot);

    cr_assert_eq(msp_omp_variable_find(device, begin, SLOT_BYTES / 2), v);
    cr_assert_eq(msp_omp_variable_find(device, begin + 1, SLOT_BYTES / 2 - 1), v);
    cr_assert_null(msp_omp_variable_find(device, begin + 1, SLOT_BYTES / 2));
    cr_assert_null(msp_omp_variable_find(device, begin + SLOT_BYTES / 2, 1));
    cr_assert_eq(msp_omp_variable_find_empty(device, begin - 1), v); /* from the base on */
    cr_assert_null(msp_omp_variable_find_empty(device, begin + SLOT_BYTES / 2));
    cr_assert_eq(msp_omp_variable_overlaps(device, begin - 1, 2), v != NULL);
}

Test(mapped_variable, finds_what_a_plain_array_has)
{
    int i;

    srand(1);
    for (i = 0; i < OFTEN; i++) {
        int device                  = rand() % DEVICES;
        int slot                    = rand() % SLOTS;
        struct msp_omp_variable **v = &expected[device][slot];

        if (*v == NULL) {
            *v = add(device, slot);
            cr_assert_not_null(*v);
        } else {
            msp_omp_variable_remove(*v);
            *v = NULL;
        }
        check_slot(device, slot);
        check_slot(rand() % DEVICES, rand() % SLOTS);
    }
    for (i = 0; i < DEVICES * SLOTS; i++) {
        check_slot(i / SLOTS, i % SLOTS);
    }
    for (i = 0; i < DEVICES; i++) {
        struct msp_omp_variable *v;
        while ((v = msp_omp_variable_of(i)) != NULL) {
            cr_assert_eq(v->device, i);
            msp_omp_variable_remove(v);
        }
    }
}

/* Minutes, were the time of a call proportional to their number. */
Test(mapped_variable, there_are_many_in_ascending_order)
{
    int round;
    int i;

    for (round = 0; round < 3; round++) {
        for (i = 0; i < MANY; i++) {
            cr_assert_not_null(add(0, i));
        }
        for (i = 0; i < MANY; i++) {
            msp_omp_variable_remove(
                msp_omp_variable_find(0, (const char *)address_of(i), SLOT_BYTES / 2));
        }
    }
    cr_assert_null(msp_omp_variable_of(0));
}
