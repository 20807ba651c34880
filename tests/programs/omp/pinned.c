/* SPDX-License-Identifier: BSD-3-Clause */
/* A pinned block locks its own pages and no more: the limit on locked memory is small. */
#include <memspan/omp.h>
#include <stdio.h>

static long locked_kib(void)
{
    FILE *status = fopen("/proc/self/status", "r");
    char line[128];
    long kib = -1;

    while ((status != NULL) && (fgets(line, sizeof(line), status) != NULL)) {
        (void)sscanf(line, "VmLck: %ld", &kib);
    }
    if (status != NULL) {
        fclose(status);
    }
    return kib;
}

static int failures;

static void check(long at_most_kib, long at_least_kib, const char *what)
{
    long kib = locked_kib();

    if ((kib > at_most_kib) || (kib < at_least_kib)) {
        printf("%s: %ld KiB are locked, not %ld to %ld\n", what, kib, at_least_kib, at_most_kib);
        failures++;
    }
}

int main(void)
{
    omp_alloctrait_t traits[]     = {{omp_atk_pinned, omp_atv_true},
                                     {omp_atk_fallback, omp_atv_null_fb}};
    omp_allocator_handle_t pinned = omp_init_allocator(omp_default_mem_space, 2, traits);
    void *blocks[100];
    void *p;
    int i;

    p = omp_alloc(4000, pinned);
    if (p == NULL) {
        printf("nothing can be locked\n");
        return 77;
    }
    check(4, 4, "4000 bytes");
    p = omp_realloc(p, 8000, pinned, pinned);
    check(12, 8, "8000 bytes after 4000");
    omp_free(p, pinned);
    check(0, 0, "nothing");
    for (i = 0; i < 100; i++) {
        blocks[i] = omp_alloc(100, pinned);
    }
    check(44, 12, "100 blocks of 100 bytes");
    for (i = 0; i < 100; i++) {
        omp_free(blocks[i], pinned);
    }
    p = omp_alloc(100000, pinned);
    check(100, 100, "100000 bytes");
    omp_free(p, pinned);
    omp_destroy_allocator(pinned);
    return (failures == 0) ? 0 : 1;
}
