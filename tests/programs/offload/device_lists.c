/* SPDX-License-Identifier: BSD-3-Clause */
/* device_lists.c: one memory for several devices and the host.
 *
 * Each device writes its share through the same address and reads what the others wrote; lists in
 * any order, with repetitions, name the same space; threads use several devices at once. */

#include "check.h"

enum { SHARE = 1000, THREADS = 4, ROUNDS = 5 };

static void visit_all(int *values, const int *devices, int count)
{
    int i;

    for (i = 0; i < count * SHARE; i++) {
        values[i] = 0;
    }
    for (i = 0; i < count; i++) {
        int number = devices[i];
#pragma omp target device(number) firstprivate(i)
        for (int k = 0; k < SHARE; k++) {
            /* what the device before left, and one more */
            values[i * SHARE + k] = ((i > 0) ? values[(i - 1) * SHARE + k] : 0) + 1;
        }
    }
    for (i = 0; i < count * SHARE; i++) {
        CHECK(values[i] == i / SHARE + 1);
    }
}

static void use_list(int *devices, int count)
{
    omp_memspace_handle_t *space = omp_get_target_memspace(count, devices, omp_default_mem_space);
    omp_alloctrait_t trait       = {omp_atk_memory_access, omp_atv_coherent};
    omp_allocator_handle_t allocator;
    int *values;
    int i;

    CHECK(space != NULL);
    allocator = omp_init_allocator(*space, 1, &trait);
    CHECK(allocator != omp_null_allocator);
    values = omp_alloc((size_t)count * SHARE * sizeof(int), allocator);
    CHECK(values != NULL);
    for (i = 0; i < count; i++) {
        memspan_reach_t reach;
        CHECK(memspan_pointer_reach(values, devices[i], &reach) == MEMSPAN_OK);
        CHECK(reach.access >= MEMSPAN_ACCESS_FAULT);
    }
    visit_all(values, devices, count);
    omp_free(values, allocator);
    omp_destroy_allocator(allocator);
}

/* The same devices in any order are the same space; others are another. */
static void compare_lists(void)
{
    int host                     = omp_get_initial_device();
    int straight[]               = {0, 1, -1};
    int mixed[]                  = {host, 1, 0, 1};
    int fewer[]                  = {0, host};
    omp_memspace_handle_t *one   = omp_get_target_memspace(3, straight, omp_default_mem_space);
    omp_memspace_handle_t *two   = omp_get_target_memspace(4, mixed, omp_default_mem_space);
    omp_memspace_handle_t *three = omp_get_target_memspace(2, fewer, omp_default_mem_space);

    CHECK((one != NULL) && (two != NULL) && (three != NULL));
    CHECK(*one == *two);
    CHECK(*one != *three);
    CHECK(omp_get_devices_and_host_memspace(2, straight, omp_default_mem_space) == *one);
}

static void use_from_threads(void)
{
    int failed = 0;

#pragma omp parallel num_threads(THREADS) reduction(+ : failed)
    {
        int device    = omp_get_thread_num() % 2;
        int devices[] = {device, omp_get_initial_device()};
        int round;

        for (round = 0; round < ROUNDS; round++) {
            omp_memspace_handle_t *space =
                omp_get_target_memspace(2, devices, omp_default_mem_space);
            omp_allocator_handle_t allocator =
                (space != NULL) ? omp_init_allocator(*space, 0, NULL) : omp_null_allocator;
            long *word = omp_alloc(sizeof(*word), allocator);

            *word = round;
#pragma omp target device(device)
            *word += 10;
            failed += (*word != round + 10);
            omp_free(word, allocator);
            omp_destroy_allocator(allocator);
        }
    }
    CHECK(failed == 0);
}

int main(void)
{
    int count = omp_get_num_devices();
    int all[8];
    int i;

    check_devices(2);
    use_list((int[]){0, 1, omp_get_initial_device()}, 3);
    use_list((int[]){1, 0, -1}, 3);
    for (i = 0; (i < count) && (i < 7); i++) {
        all[i] = i;
    }
    all[i] = omp_get_initial_device();
    use_list(all, i + 1);
    compare_lists();
    use_from_threads();
    check_end();
    printf("device lists: %d devices and the host share one address\n", i);
    return 0;
}
