/* SPDX-License-Identifier: BSD-3-Clause */
/* OMP_ALLOCATOR. The first argument says what its effect must be:
 *   same     the default allocator is omp_default_mem_alloc
 *   ALIGN    another allocator, whose memory is aligned to that many bytes; seen by teams, nested
 *            teams and tasks, until it is set to omp_default_mem_alloc on purpose, which then holds
 *            for the next teams too
 *   HANDLE   "=4": exactly that predefined handle */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static void check(int ok, const char *what)
{
    if (!ok) {
        printf("wrong: %s\n", what);
#pragma omp atomic
        failures++;
    }
}

static int default_aligned(uintptr_t boundary)
{
    void *p[16];
    int good = 1;
    int i;

    for (i = 0; i < 16; i++) {
        p[i] = omp_alloc(24, omp_null_allocator);
        good = good && (p[i] != NULL) && ((uintptr_t)p[i] % boundary == 0);
    }
    for (i = 0; i < 16; i++) {
        omp_free(p[i], omp_null_allocator);
    }
    return good;
}

static void check_everywhere(omp_allocator_handle_t expected, uintptr_t boundary)
{
    omp_set_max_active_levels(2);
    check(omp_get_default_allocator() == expected, "primary thread");
#pragma omp parallel num_threads(3)
    {
        check(omp_get_default_allocator() == expected, "team");
        check(default_aligned(boundary), "team's memory");
#pragma omp parallel num_threads(2)
        check(omp_get_default_allocator() == expected, "nested team");
#pragma omp task
        check(omp_get_default_allocator() == expected, "task");
#pragma omp taskwait
    }
}

int main(int argc, char **argv)
{
    const char *wanted             = (argc > 1) ? argv[1] : "same";
    omp_allocator_handle_t initial = omp_get_default_allocator();
    uintptr_t boundary             = (uintptr_t)atoi(wanted);

    if (strcmp(wanted, "same") == 0) {
        check(initial == omp_default_mem_alloc, "the initial value");
        boundary = 1;
    } else if (wanted[0] == '=') {
        check((uintptr_t)initial == (uintptr_t)atoi(wanted + 1), "the initial handle");
        boundary = 1;
    } else {
        check(initial != omp_default_mem_alloc, "the initial value is not the variable's");
    }
    check_everywhere(initial, boundary);
    omp_set_default_allocator(omp_default_mem_alloc);
    check_everywhere(omp_default_mem_alloc, 1);
    omp_set_default_allocator(initial);
    check_everywhere(initial, boundary);
    printf("%s\n", failures ? "failed" : "right");
    return failures != 0;
}
