/* SPDX-License-Identifier: BSD-3-Clause */
/* mapped_named.c: with the runtime before libmemspan (LD_PRELOAD), which sees no map clauses then,
 * as with GCC's: a variable has memory of an allocator from its naming on. */

#include "check.h"

enum { N = 100 };

static void *memory;

static void *take(size_t size_bytes)
{
    CHECK(memory == NULL);
    memory = omp_target_alloc(size_bytes, 0);
    return memory;
}

static void give(void *pointer)
{
    CHECK(pointer == memory);
    omp_target_free(pointer, 0);
    memory = NULL;
}

static void use(int *values)
{
    int *there = NULL;

    for (int i = 0; i < N; i++) {
        values[i] = i;
    }
#pragma omp target update to(values [0:N])
#pragma omp target data use_device_ptr(values)
    there = values;
    CHECK(there == memory);
#pragma omp target map(tofrom : values [0:N])
    values[3] = -3;
    CHECK(values[3] == 3); /* it is present */
#pragma omp target update from(values [0:N])
    CHECK((values[3] == -3) && (values[4] == 4));
}

int main(void)
{
    static int values[N];
    static int others[N];

    check_devices(1);
    CHECK(__tgt_set_device_allocator(0, take, give) == 0);
#pragma omp target map(tofrom : others)
    others[0] = 1;
    CHECK((others[0] == 1) && (memory == NULL));
    for (int i = 0; i < 2; i++) {
        CHECK(memspan_map_symmetric(values, sizeof(values)) == MEMSPAN_OK);
        CHECK(memory != NULL);
        CHECK(memspan_map_symmetric(values, sizeof(values)) == MEMSPAN_OK);
        CHECK(memspan_map_symmetric(values, sizeof(values) / 2) == MEMSPAN_ERR_INVALID);
        CHECK(memspan_map_symmetric(values + 1, sizeof(*values)) == MEMSPAN_OK);
        CHECK(memspan_map_symmetric(values + 1, 0) == MEMSPAN_OK);
        use(values);
        CHECK(memspan_map_symmetric(values, 0) == MEMSPAN_OK);
        CHECK((memory == NULL) && !omp_target_is_present(values, 0));
    }
#pragma omp target data map(to : others [N - 2:2])
    CHECK(memspan_map_symmetric(others, sizeof(others)) == MEMSPAN_ERR_NO_MEMORY);
    CHECK(memspan_map_symmetric(others, 0) == MEMSPAN_ERR_NOT_FOUND);
    CHECK(memspan_map_symmetric(values, sizeof(values)) == MEMSPAN_OK);
    CHECK(__tgt_reset_device_allocator(0) == 0);
    CHECK((memory == NULL) && !omp_target_is_present(values, 0));
    return 0;
}
