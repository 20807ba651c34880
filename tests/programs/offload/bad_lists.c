/* SPDX-License-Identifier: BSD-3-Clause */
/* bad_lists.c: lists and traits that cannot be answered give null and a message that names the
 * fault; the process goes on, and what is right afterwards works. */

#include "check.h"
#include <limits.h>
#include <string.h>

static void refuse(int count, int *devices, omp_memspace_handle_t base, const char *word)
{
    memspan_error_clear();
    if (omp_get_target_memspace(count, devices, base) != NULL) {
        fprintf(stderr, "a list that cannot be satisfied was (expected: \"%s\")\n", word);
        exit(1);
    }
    if (strstr(memspan_error_text(), word) == NULL) {
        fprintf(stderr, "\"%s\" does not say \"%s\"\n", memspan_error_text(), word);
        exit(1);
    }
}

static void refuse_lists(void)
{
    int count   = omp_get_num_devices();
    int good[]  = {0, -1};
    int past[]  = {0, count + 1};
    int below[] = {-2, 0};
    int far[]   = {INT_MAX};
    int deep[]  = {INT_MIN};
    char number[16];

    refuse(2, NULL, omp_default_mem_space, "NULL");
    refuse(0, good, omp_default_mem_space, "0");
    refuse(-1, good, omp_default_mem_space, "-1");
    refuse(INT_MIN, good, omp_default_mem_space, "-2147483648");
    snprintf(number, sizeof(number), "%d", count + 1);
    refuse(2, past, omp_default_mem_space, number);
    refuse(2, below, omp_default_mem_space, "-2");
    refuse(1, far, omp_default_mem_space, "2147483647");
    refuse(1, deep, omp_default_mem_space, "-2147483648");
    refuse(2, good, (omp_memspace_handle_t)12345678, "bc614e");
}

static void refuse_traits(omp_memspace_handle_t space)
{
    omp_alloctrait_t bad[] = {{omp_atk_memory_access, 77},
                              {omp_atk_preferred_location, 99},
                              {omp_atk_alignment, 48},
                              {(omp_alloctrait_key_t)4711, 1}};
    size_t i;

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        memspan_error_clear();
        if (omp_init_allocator(space, 1, &bad[i]) != omp_null_allocator) {
            fprintf(stderr, "trait %zu of the bad ones was accepted\n", i);
            exit(1);
        }
        CHECK(memspan_error_last()->status != MEMSPAN_OK);
        CHECK(memspan_error_last()->message[0] != '\0');
    }
}

int main(void)
{
    int devices[] = {0, -1};
    omp_memspace_handle_t *space;
    omp_allocator_handle_t allocator;
    char *memory;

    check_devices(1);
    refuse_lists();
    space = omp_get_target_memspace(2, devices, omp_default_mem_space);
    CHECK(space != NULL);
    refuse_traits(*space);

    /* Fallback of a target space is null_fb: too much is NULL, and the process lives. */
    allocator = omp_init_allocator(*space, 0, NULL);
    CHECK(allocator != omp_null_allocator);
    CHECK(omp_alloc((size_t)1 << 60, allocator) == NULL);
    CHECK(omp_alloc(SIZE_MAX, allocator) == NULL);
    CHECK(omp_calloc(SIZE_MAX / 2, 3, allocator) == NULL);
    CHECK(omp_alloc(0, allocator) == NULL);
    memory = omp_alloc(100, allocator);
    CHECK(memory != NULL);
    omp_free(memory, allocator);
    omp_free(memory, allocator);     /* twice */
    omp_free(&allocator, allocator); /* never ours */
    omp_destroy_allocator(allocator);
    omp_destroy_allocator(allocator);
    check_end();
    printf("bad lists: refused, each with its reason\n");
    return 0;
}
