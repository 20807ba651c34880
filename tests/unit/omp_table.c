/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/omp/openmp.h"
#include <criterion/criterion.h>
#include <pthread.h>

Test(omp_table, put_get_take)
{
    static struct msp_omp_table table = MSP_OMP_TABLE_INIT; /* never ends, as the library's */
    uintptr_t value                   = 99;

    cr_expect_not(msp_omp_table_get(&table, 4096, &value));
    cr_expect(msp_omp_table_put(&table, 4096, 7));
    cr_expect(msp_omp_table_put(&table, 4096, 8));
    cr_expect(msp_omp_table_get(&table, 4096, &value));
    cr_expect_eq(value, 8);
    cr_expect(msp_omp_table_take(&table, 4096, &value));
    cr_expect_not(msp_omp_table_take(&table, 4096, &value));
    cr_expect_not(msp_omp_table_get(&table, 4096, &value));
}

Test(omp_table, many_come_and_go)
{
    static struct msp_omp_table table = MSP_OMP_TABLE_INIT; /* never ends, as the library's */
    uintptr_t value;
    uintptr_t i;

    for (i = 0; i < 20000; i++) {
        cr_assert(msp_omp_table_put(&table, 4096 + 16 * i, i));
        if (i >= 100) { /* a window of 100 live keys moves through the table */
            cr_assert(msp_omp_table_take(&table, 4096 + 16 * (i - 100), &value));
            cr_assert_eq(value, i - 100);
        }
    }
    for (i = 19900; i < 20000; i++) {
        cr_expect(msp_omp_table_get(&table, 4096 + 16 * i, &value));
    }
    cr_expect_leq(table.capacity, 1024, "removed keys are dropped, not kept: %zu", table.capacity);
}

enum { THREADS = 4, KEYS = 2000 };
static struct msp_omp_table shared = MSP_OMP_TABLE_INIT;
static _Atomic(int) taken;

static void *take_all(void *unused)
{
    uintptr_t value;
    uintptr_t i;

    for (i = 0; i < KEYS; i++) {
        taken += msp_omp_table_take(&shared, 8192 + 64 * i, &value) ? 1 : 0;
    }
    return unused;
}

Test(omp_table, of_several_takers_one_gets_it)
{
    pthread_t threads[THREADS];
    uintptr_t i;
    int t;

    for (i = 0; i < KEYS; i++) {
        msp_omp_table_put(&shared, 8192 + 64 * i, i);
    }
    for (t = 0; t < THREADS; t++) {
        pthread_create(&threads[t], NULL, take_all, NULL);
    }
    for (t = 0; t < THREADS; t++) {
        pthread_join(threads[t], NULL);
    }
    cr_expect_eq(taken, KEYS);
}
